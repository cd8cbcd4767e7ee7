package properties

import (
	"fmt"
	"strings"

	"github.com/durosim/durosim/engine"
)

// This file puts evidence into words. Nothing here runs while all is well.

// who is a caller in words.
func (m *run) who(c engine.Caller) string {
	name := m.nodeName(c.Node)
	switch {
	case c.Node == 0:
		if p := m.w.Plan(); p != nil && c.Incarnation > 0 && int(c.Incarnation) <= len(p.Probes) {
			return "probe " + p.Probes[c.Incarnation-1].Name
		}
		return "a client"
	case name == "":
		return fmt.Sprintf("caller %d", c.Node)
	}
	if inc := m.store.incarnation(c); inc != nil {
		return fmt.Sprintf("%s (build %s, start %d)", name, inc.build.Name(), c.Incarnation)
	}
	return fmt.Sprintf("%s (start %d)", name, c.Incarnation)
}

// at is a store time in words: milliseconds since the start of the run.
func (m *run) at(ms int64) string { return fmt.Sprintf("t=%d ms", ms-m.w.StartMs()) }

// lockText is a lock in words.
func (m *run) lockText(l lockState) string {
	if l.token == "" {
		return "no lock"
	}
	return fmt.Sprintf("token %s of %s, taken at %s, until %s", l.token, m.who(l.holder), m.at(l.takenMs), m.at(l.untilMs))
}

func pinText(pin *engine.Version) string {
	if pin == nil {
		return "none"
	}
	return pin.String()
}

// itemText is a message in words.
func itemText(r *rowState) string {
	kind := r.kind
	if kind == "" {
		kind = "message of unknown kind"
	}
	if r.id != 0 {
		return fmt.Sprintf("%s %d/%d (message %d)", kind, r.execution, r.id, r.no)
	}
	return fmt.Sprintf("%s (message %d)", kind, r.no)
}

// batchText lists messages.
func (m *run) batchText(batch []engine.MessageNo) string {
	parts := make([]string, len(batch))
	for i, no := range batch {
		parts[i] = itemText(m.store.row(no))
	}
	return strings.Join(parts, ", ")
}

func samePin(a, b *engine.Version) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Compare(*b) == 0
}

// countText is the end of a sentence about a count.
func countText(was, seen, want uint32) string {
	return fmt.Sprintf(" with attempt count %d, and before the call it was %d: expected %d", seen, was, want)
}

// outcomeText is an outcome in words.
func outcomeText(o engine.Outcome) string {
	switch o {
	case engine.OutcomeOK:
		return "ok"
	case engine.OutcomeNothing:
		return "nothing"
	case engine.OutcomeRetryable:
		return "retryable error"
	case engine.OutcomePermanent:
		return "permanent error"
	}
	return "no outcome"
}
