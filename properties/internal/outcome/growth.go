package outcome

import (
	"fmt"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/sim/cluster"
)

// What grows with each execution has grown by growthStep bytes or more in the last growthSteps executions. A history of
// longHistory events in one execution is long, since each turn replays all of it.
const (
	growthStep  = 64
	growthSteps = 3
	longHistory = 500
)

// growth tells of histories, inputs and custom statuses that grow with each execution, or without a continue-as-new,
// before they meet a limit.
func (c *Checker) growth() {
	var begins, histories, inputs, statuses []int
	for _, in := range c.Run.Model.Instances[1:] {
		begins, histories, inputs, statuses = begins[:0], histories[:0], inputs[:0], statuses[:0]
		for _, ex := range in.Executions {
			if len(ex.Events) == 0 || ex.Deleted {
				continue
			}
			if len(ex.Events) > longHistory {
				c.grows(in, "history", "in one execution, without continue-as-new", fmt.Sprintf(": %s events in execution %d", pretty.Count(uint64(len(ex.Events))), ex.ID))
				break
			}
			begins = append(begins, len(ex.Events[0].Bytes))
			if ex.Terminals > 0 {
				histories = append(histories, c.historySize(ex))
			}
		}
		const each = "with each execution"
		if growing(histories) {
			c.grows(in, "history", each, curve(histories, 0))
		}
		if !growing(begins) {
			continue
		}
		for _, ex := range in.Executions {
			if e := ex.Event(1); e != nil && !ex.Deleted {
				d, _ := c.Run.Model.Data(e).(eventdata.OrchestrationStarted)
				inputs, statuses = append(inputs, len(d.Input)), append(statuses, 0)
				if d.InitialCustomStatus != nil {
					statuses[len(statuses)-1] = len(*d.InitialCustomStatus)
				}
			}
		}
		if growing(inputs) {
			c.grows(in, "input", each, curve(inputs, 0))
		}
		if growing(statuses) {
			c.grows(in, "custom status", each, curve(statuses, engine.MaxCustomStatusBytes))
		}
	}
}

// historySize is the size of an execution's history, in bytes, without its input, that of the next, and the custom status.
func (c *Checker) historySize(ex *model.Execution) (size int) {
	kinds := &c.Run.Model.Kinds
	others := kinds.Terminal | kinds.SetOf(eventdata.KindOrchestrationStarted, eventdata.KindCustomStatusUpdated)
	for i := range ex.Events {
		if e := &ex.Events[i]; !others.Has(e.Kind) {
			size += len(e.Bytes)
		}
	}
	return size
}

func (c *Checker) grows(in *model.Instance, what, how, detail string) {
	handler := c.handler(in.Latest())
	c.told.Remarks = append(c.told.Remarks, cluster.Remark{
		Kind: cluster.RemarkGrowth, About: fmt.Sprintf("the %s of %s grows %s", what, handler, how), Detail: detail, Instance: in.Name,
	})
}

// withdrawn tells of activities and children that code schedules in the turn in which it ends, which withdraws them.
func (c *Checker) withdrawn() {
	m := c.Run.Model
	requests := m.Kinds.SetOf(eventdata.KindActivityCancelRequested, eventdata.KindSubOrchestrationCancelRequested)
	cancelled := m.Kinds.SetOf(eventdata.KindOrchestrationCancelRequested)
	for _, in := range m.Instances[1:] {
		for _, ex := range in.Executions {
			if ex.Deleted || ex.Terminals == 0 || ex.Kinds&requests == 0 || ex.Kinds&cancelled != 0 {
				continue
			}
			if d, ok := m.Failure(ex); ok && (d.Application == nil || d.Application.Kind != eventdata.AppOrchestrationFailed) {
				continue // not the code's own end
			}
			for i := range ex.Events {
				e := &ex.Events[i]
				if !requests.Has(e.Kind) {
					continue
				}
				of, what := ex.Event(m.Decoded(e).SourceEventID), ""
				if of == nil || of.Call != e.Call || e.Call != ex.Events[len(ex.Events)-1].Call {
					continue
				}
				switch d := m.Data(of).(type) {
				case eventdata.ActivityScheduled:
					what = "activity " + d.Name
				case eventdata.SubOrchestrationScheduled:
					what = "child " + d.Name
				}
				c.told.Remarks = append(c.told.Remarks, cluster.Remark{Kind: cluster.RemarkWithdrawn, About: what + " of " + c.handler(ex), Instance: in.Name})
			}
		}
	}
}

// growing reports whether sizes have grown in each of the last steps.
func growing(sizes []int) bool {
	n := len(sizes)
	for i := range growthSteps {
		if n <= growthSteps || sizes[n-1-i] < sizes[n-2-i]+growthStep {
			return false
		}
	}
	return true
}

// curve shows the first sizes and the last and, if there is a limit, when it would be met.
func curve(sizes []int, limit int) string {
	n := len(sizes)
	first := pretty.Texts(sizes[:min(growthSteps, n-1)], kilobytes)
	text := fmt.Sprintf(": %s ... %s after %d executions", strings.Join(first, ", "), kilobytes(sizes[n-1]), n)
	if limit > 0 {
		step := sizes[n-1] - sizes[n-2]
		text += fmt.Sprintf("; the limit is %s, in about %d more", kilobytes(limit), (limit-sizes[n-1]+step-1)/step)
	}
	return text
}

func kilobytes(n int) string {
	if n < 1024 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%d.%d KB", n/1024, n%1024*10/1024)
}
