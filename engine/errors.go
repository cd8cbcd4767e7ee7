package engine

import (
	"errors"
	"fmt"
)

// ProviderError is how a provider reports that a call failed (docs/contract/provider.md#p8). Retryable says whether
// the same call may succeed later: storage busy, timeouts. Permanent errors are about the call itself: an unknown,
// expired or superseded token, a duplicate event, undecodable data, a refused deletion.
type ProviderError struct {
	Operation string
	Message   string
	Retryable bool
	// Err is the cause, if there is one.
	Err error
}

// Error is "operation: message".
func (e *ProviderError) Error() string { return e.Operation + ": " + e.Message }

// Unwrap returns the cause.
func (e *ProviderError) Unwrap() error { return e.Err }

// Is compares by class: a target without operation and message stands for every error of its retryability.
func (e *ProviderError) Is(target error) bool {
	t, ok := target.(*ProviderError)
	if !ok {
		return false
	}
	if t.Operation == "" && t.Message == "" {
		return t.Retryable == e.Retryable
	}
	return t.Operation == e.Operation && t.Message == e.Message && t.Retryable == e.Retryable
}

// The two classes of provider errors, for errors.Is.
var (
	ErrRetryable error = &ProviderError{Retryable: true}
	ErrPermanent error = &ProviderError{}
)

// ErrUnsupported is what a provider's method returns, or wraps, that the provider does not have (yet). Whoever checks the
// provider leaves out what needs it, and says so; a node takes it for a permanent error.
var ErrUnsupported error = &ProviderError{Operation: "call", Message: "not supported by this provider"}

// Retryablef makes a retryable provider error. The format may wrap a cause with %w.
func Retryablef(operation, format string, args ...any) *ProviderError {
	return newProviderError(operation, true, format, args)
}

// Permanentf makes a permanent provider error. The format may wrap a cause with %w.
func Permanentf(operation, format string, args ...any) *ProviderError {
	return newProviderError(operation, false, format, args)
}

func newProviderError(operation string, retryable bool, format string, args []any) *ProviderError {
	err := fmt.Errorf(format, args...)
	return &ProviderError{Operation: operation, Message: err.Error(), Retryable: retryable, Err: errors.Unwrap(err)}
}

// IsRetryable says whether a failed provider call may be made again. An error that is not a ProviderError is taken as
// retryable, as the contract takes anything unclassified; nil is not.
func IsRetryable(err error) bool {
	if err == nil {
		return false
	}
	var p *ProviderError
	if errors.As(err, &p) {
		return p.Retryable
	}
	return true
}

// ErrorDetails says why an execution, activity or child failed. Exactly one pointer is set (docs/contract/runtime.md#r3);
// JSON is externally tagged. The zero value means "no details".
type ErrorDetails struct {
	Infrastructure *InfrastructureError
	Configuration  *ConfigurationError
	Application    *ApplicationError
	Poison         *PoisonError
}

// InfrastructureError is a storage failure that ended the work.
type InfrastructureError struct {
	Operation string `json:"operation"`
	Message   string `json:"message"`
	Retryable bool   `json:"retryable"`
}

// ConfigurationError is a deployment mistake. The only kind is Nondeterminism.
type ConfigurationError struct {
	Kind     string  `json:"kind"`
	Resource string  `json:"resource"`
	Message  *string `json:"message"`
}

// KindNondeterminism is the only kind of a ConfigurationError.
const KindNondeterminism = "Nondeterminism"

// ApplicationError is a failure of user code, or a cancellation. It is the only variant that orchestration code sees.
type ApplicationError struct {
	Kind      ApplicationKind
	Message   string
	Retryable bool
	// Reason is the reason of a cancellation, for kind Cancelled only.
	Reason string
}

// ApplicationKind says which code failed.
type ApplicationKind string

// The kinds of application errors.
const (
	AppActivityFailed      ApplicationKind = "ActivityFailed"
	AppOrchestrationFailed ApplicationKind = "OrchestrationFailed"
	AppPanicked            ApplicationKind = "Panicked"
	AppCancelled           ApplicationKind = "Cancelled"
)

// PoisonError says that a message was delivered more often than allowed.
type PoisonError struct {
	AttemptCount uint32     `json:"attempt_count"`
	MaxAttempts  uint32     `json:"max_attempts"`
	MessageType  PoisonType `json:"message_type"`
	Message      string     `json:"message"`
}

// PoisonKind says what was poisoned.
type PoisonKind string

// What can be poisoned.
const (
	PoisonOrchestration         PoisonKind = "Orchestration"
	PoisonActivity              PoisonKind = "Activity"
	PoisonFailedDeserialization PoisonKind = "FailedDeserialization"
)

// PoisonType identifies the poisoned work. ActivityName and ActivityID are for activities, Error for an undecodable
// history. Cause is an extension of ours, omitted when empty: why the deliveries did not end in a commit (crashes, an
// incompatible pin with pin and range, a missing handler), docs/contract-decisions.md#row-1.
type PoisonType struct {
	Kind         PoisonKind
	Instance     string
	ExecutionID  uint64
	ActivityName string
	ActivityID   uint64
	Error        string
	Cause        string
}

// Category is infrastructure, configuration, application or poison; empty for no details.
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

// Retryable is the flag of an infrastructure or application error; the other variants are never retryable.
func (d ErrorDetails) Retryable() bool {
	switch {
	case d.Infrastructure != nil:
		return d.Infrastructure.Retryable
	case d.Application != nil:
		return d.Application.Retryable
	}
	return false
}

// IsZero says that there are no details.
func (d ErrorDetails) IsZero() bool { return d == ErrorDetails{} }

// Display is the text of docs/contract/runtime.md#r3.1. It is also the output of a failed execution.
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
		text = fmt.Sprintf("poison: orchestration %s exceeded %d attempts (max %d)", t.Instance, p.AttemptCount, p.MaxAttempts)
	}
	if t.Cause != "" {
		text += ": " + t.Cause
	}
	return text
}

// Nondeterminism makes the details of a nondeterminism error from the text after "nondeterministic: "
// (docs/contract/runtime.md#r3.3).
func Nondeterminism(message string) ErrorDetails {
	return ErrorDetails{Configuration: &ConfigurationError{Kind: KindNondeterminism, Message: &message}}
}

// Infrastructure makes details from a failed provider call.
func Infrastructure(err error) ErrorDetails {
	var p *ProviderError
	if errors.As(err, &p) {
		return ErrorDetails{Infrastructure: &InfrastructureError{Operation: p.Operation, Message: p.Message, Retryable: p.Retryable}}
	}
	return ErrorDetails{Infrastructure: &InfrastructureError{Operation: "unknown", Message: err.Error(), Retryable: true}}
}
