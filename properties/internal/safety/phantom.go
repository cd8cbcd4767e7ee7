package safety

import (
	"github.com/durosim/durosim/internal/eventdata"
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/internal/record"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/sim/cluster"
)

// phantomChecker checks rule S21: an activity runs only if a committed event has scheduled it. Because activities run
// at least once, a schedule that has since been cancelled or completed still justifies a run, and so does a damaged
// one.
type phantomChecker struct {
	check.Base
	scheduled model.KindNo
}

func newPhantomChecker(m *check.Run) check.Checker {
	return &phantomChecker{Base: check.Base{Run: m}, scheduled: m.Model.Kinds.Add(eventdata.KindActivityScheduled)}
}

func (*phantomChecker) Records() check.Set[record.Kind] {
	return check.SetOf(record.ActivityStarted)
}

func (p *phantomChecker) Record(r *cluster.Record) {
	item := &r.Activity.Item
	no := p.Run.Model.Number(item.Instance)
	seen := "the execution does not exist"
	if no != 0 {
		if ex := p.Run.Model.Instance(no).Execution(item.ExecutionID); ex != nil {
			if ex.Deleted {
				return // a deletion does not stop activities that are already running
			}
			e := ex.Event(item.ID)
			switch {
			case e == nil:
				seen = "there is no such event"
			case e.Kind == p.scheduled || e.Kind == model.KindDamaged:
				return
			default:
				seen = "that event is " + p.Run.Model.Kinds.Name(e.Kind)
			}
		}
	}
	who := p.Run.Who(observe.Caller{Node: r.Node, Incarnation: r.Incarnation})
	p.Run.Safety("S21", r.Node, no, "%s runs activity %s as event %d of execution %d, but %s: expected a committed schedule",
		who, item.Name, item.ID, item.ExecutionID, seen)
}
