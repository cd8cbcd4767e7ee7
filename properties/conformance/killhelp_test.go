package conformance_test

import (
	"errors"
	"strings"

	"github.com/durosim/durosim/engine"
)

// errPlain is an error that is not a provider error.
var errPlain = errors.New("something went wrong")

func splitWords(text string) []string { return strings.Fields(text) }

func compareText(a, b string) int { return strings.Compare(a, b) }

// retryable makes a call's error retryable.
func retryable(c *call) {
	if c.err != nil {
		c.err = engine.Retryablef("call", "%s", c.err.Error())
	}
}

// overwriting pretends that appended events have replaced old ones with the same ids.
func overwriting(c *call) {
	if c.do(); c.err != nil && c.ack.LockToken != "" && len(c.ack.HistoryDelta) == 1 && c.ack.HistoryDelta[0].EventID == 1 {
		c.ack.HistoryDelta[0].EventID = 1001
		c.do()
	} else if c.err != nil && len(c.events) > 0 {
		events := []engine.Event{c.events[len(c.events)-1]}
		events[0].EventID = 1001
		c.err = c.inner.AppendWithExecution(c.ctx, c.instance, c.execution, events)
	}
}

// unmanaged is a provider that has no management surface.
type unmanaged struct{ engine.Provider }

func (unmanaged) Admin() engine.ProviderAdmin { return nil }
