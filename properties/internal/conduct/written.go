package conduct

import (
	"log/slog"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/eventdata"
	"github.com/durosim/durosim/internal/machine"
	"github.com/durosim/durosim/sim/cluster"
)

// disagreements lists the kinds of disagreement between code and history, as lines about nondeterminism name them.
var disagreements = map[string]bool{ // never iterated over, so map order does not matter
	"completion kind mismatch": true, "no matching schedule": true, "corrupted history": true, "no emitted action": true,
	"schedule mismatch": true, "custom status mismatch": true, "key-value mismatch": true, "completion without schedule": true,
	"completion expected activity": true, "cancellation mismatch": true,
}

// levels maps levels to those of structured records.
var levels = map[machine.Level]slog.Level{ // never iterated over, so map order does not matter
	machine.LevelInfo: slog.LevelInfo, machine.LevelWarn: slog.LevelWarn, machine.LevelError: slog.LevelError,
}

// judgeStructured checks that a line's structured record has the line's time, level and text, followed by its instance,
// if any, and its fields.
func (k *checker) judgeStructured(n *nodeState, r *cluster.Record) {
	l := r.Log
	got := l.Record(r.AtMs)
	fields := l.Fields
	right, named := got.Message == l.Text && got.Level == levels[l.Level] && got.Time.Equal(time.UnixMilli(r.AtMs)), l.Instance == ""
	got.Attrs(func(a slog.Attr) bool {
		switch {
		case !named:
			named, right = true, right && a.Key == "instance" && a.Value.String() == l.Instance
		case len(fields) == 0:
			right = false
		default:
			right = right && a.Key == fields[0].Name && a.Value.String() == fields[0].Value
			fields = fields[1:]
		}
		return right
	})
	if !right || !named || len(fields) > 0 {
		k.wrong(n, l.Instance, "makes another structured record of its line %s", text(l))
	}
}

// leftBehind judges the line about a queue message that a continue-as-new does not carry over. The execution must have
// received such a message.
func (k *checker) leftBehind(n *nodeState, l *machine.Log) {
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
