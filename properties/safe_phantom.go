package properties

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/sim/cluster"
)

// phantomChecker asks that an activity runs only because a committed event says so: S21. A schedule that was cancelled or
// completed meanwhile is one, since activities run at least once; one that was damaged counts, too.
type phantomChecker struct {
	base
	scheduled kindNo
}

func newPhantomChecker(m *run) checker {
	return &phantomChecker{base: base{m}, scheduled: m.store.kinds.add(engine.KindActivityScheduled)}
}

func (*phantomChecker) observes() []engine.ObservationKind { return nil }

func (*phantomChecker) records() []cluster.RecordKind {
	return []cluster.RecordKind{cluster.RecActivityStarted}
}

func (p *phantomChecker) record(r *cluster.Record) {
	item := &r.Activity.Item
	no := p.m.store.number(item.Instance)
	seen := "the execution is not there"
	if no != 0 {
		if ex := p.m.store.instance(no).execution(item.ExecutionID); ex != nil {
			if ex.deleted {
				return // a deletion does not stop what runs
			}
			e := ex.event(item.ID)
			switch {
			case e == nil:
				seen = "there is no such event"
			case e.kind == p.scheduled || e.kind == kindDamaged:
				return
			default:
				seen = "that event is " + p.m.store.kinds.name(e.kind)
			}
		}
	}
	who := p.m.who(engine.Caller{Node: r.Node, Incarnation: r.Incarnation})
	p.m.safety("S21", r.Node, no, "%s runs activity %s as event %d of execution %d, and %s: expected a committed schedule",
		who, item.Name, item.ID, item.ExecutionID, seen)
}
