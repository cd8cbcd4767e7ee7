package selfcheck

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/machine"
)

// disagreements lists the kinds of disagreement between code and history, as lines about nondeterminism name them.
var disagreements = map[string]bool{ // never iterated over, so map order does not matter
	"completion kind mismatch": true, "no matching schedule": true, "corrupted history": true, "no emitted action": true,
	"schedule mismatch": true, "custom status mismatch": true, "key-value mismatch": true, "completion without schedule": true,
	"completion expected activity": true, "cancellation mismatch": true,
}

// leftBehind judges the line about a queue message that a continue-as-new does not carry over. The execution must have
// received such a message.
func (k *nodes) leftBehind(n *nodeState, l *machine.Log) {
	h := &n.slot(n.turned).held
	h.notCarried++
	if h.batch == nil || len(l.Fields) != 2 {
		return
	}
	is := func(name, data string) bool { return name == l.Fields[0].Value && data == l.Fields[1].Value }
	received := false
	carried := func(list []engine.CarriedEvent) {
		for _, c := range list {
			received = received || is(c.Name, c.Data)
		}
	}
	for _, m := range h.batch.Item.Messages {
		switch m := m.(type) {
		case engine.QueueMessageItem:
			received = received || is(m.Name, m.Data)
		case engine.ContinueAsNewItem:
			carried(m.CarryForwardEvents)
		}
	}
	for i := range h.batch.Item.History {
		switch d := h.batch.Item.History[i].Data.(type) {
		case eventdata.QueueEventDelivered:
			received = received || is(d.Name, d.Data)
		case eventdata.OrchestrationStarted:
			carried(d.CarryForwardEvents)
		}
	}
	if !received || l.Instance != h.instance {
		k.wrong(n, h.instance, "logs %s: expected a message that %s has received", text(l), h.instance)
	}
}
