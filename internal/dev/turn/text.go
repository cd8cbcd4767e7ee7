package turn

import (
	"fmt"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
)

// Text returns an error's text, which is also the output of an execution that ends with the error
// (docs/contract/runtime.md#r3.1). For poison, the contract's text is followed by the cause.
func Text(d engine.ErrorDetails) string {
	switch {
	case d.Infrastructure != nil:
		return fmt.Sprintf("infrastructure:%s: %s", d.Infrastructure.Operation, d.Infrastructure.Message)
	case d.Configuration != nil && d.Configuration.Message == nil:
		return "nondeterministic in " + d.Configuration.Resource
	case d.Configuration != nil:
		return "nondeterministic: " + *d.Configuration.Message
	case d.Poison != nil:
		return poisonText(d.Poison)
	case d.Application == nil:
		return ""
	case d.Application.Kind == eventdata.AppCancelled:
		return "canceled: " + d.Application.Reason
	case d.Application.Kind == eventdata.AppPanicked:
		return "orchestration panicked: " + d.Application.Message
	}
	return d.Application.Message
}

func poisonText(p *eventdata.PoisonError) string {
	t := &p.MessageType
	counts := fmt.Sprintf("%d attempts (max %d)", p.AttemptCount, p.MaxAttempts)
	text := fmt.Sprintf("poison: orchestration %s exceeded %s", t.Instance, counts)
	switch t.Kind {
	case eventdata.PoisonActivity:
		text = fmt.Sprintf("poison: activity %s#%d exceeded %s", t.ActivityName, t.ActivityID, counts)
	case eventdata.PoisonFailedDeserialization:
		text = fmt.Sprintf("poison: orchestration %s history deserialization failed after %s: %s", t.Instance, counts, t.Error)
	default: // an execution ended by a strategy need not have had too many attempts
		if p.AttemptCount <= p.MaxAttempts && (strings.HasPrefix(t.Cause, "swept: ") || strings.HasPrefix(t.Cause, "dead letter: ")) {
			text = fmt.Sprintf("poison: orchestration %s was given up at attempt %d", t.Instance, p.AttemptCount)
		}
	}
	if t.Cause != "" {
		text += ": " + t.Cause
	}
	return text
}

// text formats a text that may be missing, for messages.
func text(s *string) string {
	if s == nil {
		return "none"
	}
	return shown(*s)
}
