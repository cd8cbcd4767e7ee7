package outcome

import (
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// target is what a client sends to, or what code waits for: an event, or a queue.
type target struct {
	name  string
	queue bool
}

func (t target) String() string {
	if t.queue {
		return fmt.Sprintf("queue %q", t.name)
	}
	return fmt.Sprintf("event %q", t.name)
}

// unawaited describes the plan's first message to an instance that no code in the run ever waits for, as a misspelt one
// is. It returns "" if there is none, or if that is not certain: code that was stopped might have waited later, and a
// wait in an execution that was pruned or deleted is not seen.
func (c *Checker) unawaited(p *plan.Instance, f *cluster.Fate) string {
	if p.Expect == plan.EndAny || f.End != cluster.EndedCompleted && p.Expect != plan.EndEternal {
		return ""
	}
	for _, a := range p.Actions {
		sent := target{a.Name, a.Verb == plan.ActionEnqueue}
		if a.Unawaited || a.Verb != plan.ActionRaise && !sent.queue || c.isAwaited(p.ID, sent) {
			continue
		}
		text := fmt.Sprintf("the plan says %q, and no code of the run ever waits for that", string(a.Verb)+" "+a.Name)
		var names []string
		c.findsWait(c.Run.Model.Number(p.ID), func(w target) bool {
			if !slices.Contains(names, w.String()) {
				names = append(names, w.String())
			}
			return false
		})
		if len(names) > 0 {
			text += "; it waited for " + strings.Join(names, ", ")
		}
		return text
	}
	return ""
}

// isAwaited reports whether code in the run waited for a target, or may have: it looks at the given instance first.
func (c *Checker) isAwaited(id string, t target) bool {
	if slices.Contains(c.awaited, t) {
		return true
	}
	is := func(w target) bool { return w == t }
	found := c.findsWait(c.Run.Model.Number(id), is)
	for no := 1; no <= c.Run.Model.InstanceCount() && !found; no++ {
		found = c.findsWait(observe.InstanceNo(no), is)
	}
	if found {
		c.awaited = append(c.awaited, t)
	}
	return found
}

// findsWait reports whether one of an instance's waits is the one that is sought, or may be: part of its history is gone.
func (c *Checker) findsWait(no observe.InstanceNo, sought func(target) bool) bool {
	m := c.Run.Model
	kinds := m.Kinds.SetOf(eventdata.KindExternalSubscribed, eventdata.KindExternalSubscribed2, eventdata.KindQueueSubscribed)
	unknown := model.MaskOf(model.KindDamaged) | model.MaskOf(model.KindForeign)
	for _, ex := range m.Instance(no).Executions {
		if ex.Deleted || ex.Kinds&unknown != 0 {
			return true
		}
		for i := range ex.Events {
			if !kinds.Has(ex.Events[i].Kind) {
				continue
			}
			t := target{}
			switch d := m.Data(&ex.Events[i]).(type) {
			case eventdata.ExternalSubscribed:
				t.name = d.Name
			case eventdata.ExternalSubscribed2:
				t.name = d.Name
			case eventdata.QueueSubscribed:
				t.name, t.queue = d.Name, true
			}
			if sought(t) {
				return true
			}
		}
	}
	return false
}
