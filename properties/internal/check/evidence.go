package check

import (
	"fmt"
	"strings"

	"github.com/durosim/durosim/engine/deadletter"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/properties/internal/model"
)

// This file formats evidence. None of its code runs unless there is a violation.

// Who describes a caller.
func (m *Run) Who(c observe.Caller) string {
	name := m.NodeName(c.Node)
	switch {
	case c.Node == 0:
		if probes := m.World.Plan().Probes; c.Incarnation > 0 && int(c.Incarnation) <= len(probes) {
			return "probe " + probes[c.Incarnation-1].Name
		}
		if c.Incarnation == deadletter.Caller {
			return "the dead-letter policy"
		}
		return "a client"
	case name == "":
		return fmt.Sprintf("caller %d", c.Node)
	}
	if inc := m.Model.Incarnation(c); inc != nil {
		return fmt.Sprintf("%s (build %s, start %d)", name, inc.Build.Name(), c.Incarnation)
	}
	return fmt.Sprintf("%s (start %d)", name, c.Incarnation)
}

// Since says which step of the plan's schedule gave a node its present build and range, as ` since "widen C ..." at 25s`,
// or "" if none did.
func (m *Run) Since(node uint32) (text string) {
	for i := range m.World.Plan().Schedule {
		s := &m.World.Plan().Schedule[i]
		if s.Node == m.NodeName(node) && s.Verb.Starts() && m.World.StartMs()+s.At.Milliseconds() <= m.World.NowMs() {
			text = fmt.Sprintf(" since %q at %s", s.String(), pretty.Duration(s.At.Milliseconds()))
		}
	}
	return text
}

// At formats a store time relative to the start of the run.
func (m *Run) At(ms int64) string { return pretty.Duration(ms - m.World.StartMs()) }

// LockText describes a lock.
func (m *Run) LockText(l model.Lock) string {
	if l.Token == "" {
		return "no lock"
	}
	return fmt.Sprintf("token %s of %s, taken at %s, until %s", l.Token, m.Who(l.Holder), m.At(l.TakenMs), m.At(l.UntilMs))
}

// BatchText lists a batch's messages.
func (m *Run) BatchText(batch []observe.MessageNo) string {
	return strings.Join(pretty.Texts(batch, func(no observe.MessageNo) string { return model.ItemText(m.Model.Row(no)) }), ", ")
}
