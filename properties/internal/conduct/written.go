package conduct

import (
	"log/slog"
	"slices"
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

// judgeStructured judges a line's structured record.
func (k *checker) judgeStructured(n *nodeState, r *cluster.Record) {
	if !says(r.Log.Record(r.AtMs), r.Log, r.AtMs) {
		k.wrong(n, r.Log.Instance, "makes another structured record of its line %s", text(r.Log))
	}
}

// says reports whether a structured record has a line's time, level and text, followed by the line's instance, if any,
// and its fields.
func says(got slog.Record, l *machine.Log, atMs int64) bool {
	fields := make([]machine.Field, 0, 8)
	got.Attrs(func(a slog.Attr) bool {
		fields = append(fields, machine.Field{Name: a.Key, Value: a.Value.String()})
		return true
	})
	if l.Instance != "" {
		if len(fields) == 0 || fields[0] != field("instance", l.Instance) {
			return false
		}
		fields = fields[1:]
	}
	return got.Message == l.Text && got.Level == levels[l.Level] && got.Time.Equal(time.UnixMilli(atMs)) && slices.Equal(fields, l.Fields)
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
