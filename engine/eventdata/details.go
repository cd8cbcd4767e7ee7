package eventdata

import (
	"fmt"
	"strings"
)

// ErrorDetails describes the failure of an execution, activity or child. Exactly one pointer is set
// (docs/contract/runtime.md#r3). Its JSON form is externally tagged. The zero value means that there are no details.
type ErrorDetails struct {
	Infrastructure *InfrastructureError
	Configuration  *ConfigurationError
	Application    *ApplicationError
	Poison         *PoisonError
}

// InfrastructureError reports a storage failure that ended the work.
type InfrastructureError struct {
	Operation string `json:"operation"`
	Message   string `json:"message"`
	Retryable bool   `json:"retryable"`
}

// ConfigurationError reports a deployment mistake. Its only kind is Nondeterminism.
type ConfigurationError struct {
	Kind     string  `json:"kind"`
	Resource string  `json:"resource"`
	Message  *string `json:"message"`
}

// KindNondeterminism is the only kind of a ConfigurationError.
const KindNondeterminism = "Nondeterminism"

// ApplicationError reports a failure of user code or a cancellation. It is the only kind of error that orchestration
// code sees.
type ApplicationError struct {
	Kind      ApplicationKind
	Message   string
	Retryable bool
	// Reason is the reason for the cancellation. It is set only for kind Cancelled.
	Reason string
}

// ApplicationKind identifies the kind of code that failed, or a cancellation.
type ApplicationKind string

// The kinds of application errors.
const (
	AppActivityFailed      ApplicationKind = "ActivityFailed"
	AppOrchestrationFailed ApplicationKind = "OrchestrationFailed"
	AppPanicked            ApplicationKind = "Panicked"
	AppCancelled           ApplicationKind = "Cancelled"
)

// PoisonError reports that a message exceeded the maximum number of delivery attempts.
type PoisonError struct {
	AttemptCount uint32     `json:"attempt_count"`
	MaxAttempts  uint32     `json:"max_attempts"`
	MessageType  PoisonType `json:"message_type"`
	Message      string     `json:"message"`
}

// PoisonKind is the kind of poisoned work.
type PoisonKind string

// The kinds of work that can be poisoned.
const (
	PoisonOrchestration         PoisonKind = "Orchestration"
	PoisonActivity              PoisonKind = "Activity"
	PoisonFailedDeserialization PoisonKind = "FailedDeserialization"
)

// PoisonType identifies the poisoned work. ActivityName and ActivityID are set for an activity, and Error for an
// undecodable history. Cause, which is omitted if empty, is durosim's own extension. It explains why no delivery led to
// a commit: crashes, an incompatible pin (with the pin and the supported range), or a missing handler
// (docs/contract-decisions.md#row-1).
type PoisonType struct {
	Kind         PoisonKind
	Instance     string
	ExecutionID  uint64
	ActivityName string
	ActivityID   uint64
	Error        string
	Cause        string
}

// Swept and DeadLetter are the prefixes of the causes of work that a strategy ended, whatever its attempt count.
const (
	Swept      = "swept: "
	DeadLetter = "dead letter: "
)

// Category returns "infrastructure", "configuration", "application" or "poison", or "" if there are no details.
func (d ErrorDetails) Category() string {
	switch {
	case d.Infrastructure != nil:
		return "infrastructure"
	case d.Configuration != nil:
		return "configuration"
	case d.Application != nil:
		return "application"
	case d.Poison != nil:
		return "poison"
	}
	return ""
}

// Retryable returns the retryable flag of an infrastructure or application error. Other errors are not retryable.
func (d ErrorDetails) Retryable() bool {
	switch {
	case d.Infrastructure != nil:
		return d.Infrastructure.Retryable
	case d.Application != nil:
		return d.Application.Retryable
	}
	return false
}

// IsZero reports whether there are no details.
func (d ErrorDetails) IsZero() bool { return d == ErrorDetails{} }

// Display returns the text specified in docs/contract/runtime.md#r3.1, which is also the output of a failed execution.
func (d ErrorDetails) Display() string {
	switch {
	case d.Infrastructure != nil:
		return "infrastructure:" + d.Infrastructure.Operation + ": " + d.Infrastructure.Message
	case d.Configuration != nil:
		if d.Configuration.Message != nil {
			return "nondeterministic: " + *d.Configuration.Message
		}
		return "nondeterministic in " + d.Configuration.Resource
	case d.Application != nil:
		switch d.Application.Kind {
		case AppCancelled:
			return "canceled: " + d.Application.Reason
		case AppPanicked:
			return "orchestration panicked: " + d.Application.Message
		}
		return d.Application.Message
	case d.Poison != nil:
		return d.Poison.display()
	}
	return ""
}

func (p *PoisonError) display() string {
	t := p.MessageType
	var text string
	switch t.Kind {
	case PoisonActivity:
		text = fmt.Sprintf("poison: activity %s#%d exceeded %d attempts (max %d)", t.ActivityName, t.ActivityID, p.AttemptCount, p.MaxAttempts)
	case PoisonFailedDeserialization:
		text = fmt.Sprintf("poison: orchestration %s history deserialization failed after %d attempts (max %d): %s", t.Instance, p.AttemptCount, p.MaxAttempts, t.Error)
	default:
		if p.AttemptCount <= p.MaxAttempts && (strings.HasPrefix(t.Cause, Swept) || strings.HasPrefix(t.Cause, DeadLetter)) {
			return fmt.Sprintf("poison: orchestration %s was given up at attempt %d: %s", t.Instance, p.AttemptCount, t.Cause)
		}
		text = fmt.Sprintf("poison: orchestration %s exceeded %d attempts (max %d)", t.Instance, p.AttemptCount, p.MaxAttempts)
	}
	if t.Cause != "" {
		text += ": " + t.Cause
	}
	return text
}

// Nondeterminism returns the details for a nondeterminism error. message is the text that follows "nondeterministic: "
// (docs/contract/runtime.md#r3.3).
func Nondeterminism(message string) ErrorDetails {
	return ErrorDetails{Configuration: &ConfigurationError{Kind: KindNondeterminism, Message: &message}}
}
