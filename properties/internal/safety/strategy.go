package safety

import (
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/deadletter"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/sim/plan"
)

// strategyChecker checks rule S27: nodes treat work that they cannot run the way the plan's strategy says. Under
// bounce, such work is given back counted, with a growing delay; under stall, uncounted, and nobody ends it who cannot run
// it. A sweeper gives back the work that it inspects uncounted. The sweeper and the dead-letter policy end work only after
// it has been blocked for as long as the plan's patience, and name the cause; the dead-letter policy does not even take
// work that a recent fetch admits.
//
// Times are not judged if the node's clock is wrong, and otherwise only up to the difference of the clocks in calls.
type strategyChecker struct {
	check.Base
	strategy plan.Strategy
	afterMs  int64
	leastMs  int64   // afterMs, as different callers' times show it
	visible  []int64 // indexed by message number: when the message was to become visible when it was inserted
	fetches  []lastFetch
}

// lastFetch records when the last fetch with a given filter began. A fetch that finds nothing shows as well as another
// that some node takes such work.
type lastFetch struct {
	filter *engine.CapabilityFilter
	ms     int64
}

func newStrategyChecker(m *check.Run) check.Checker {
	k := &strategyChecker{Base: check.Base{Run: m}}
	if p := m.World.Plan(); !p.Strategy.Filters() {
		k.strategy, k.afterMs = p.Strategy, p.Patience.Or().After.Milliseconds()
		k.leastMs = k.afterMs - m.SkewMs()
		k.OnObserve, k.OnEnd = check.SetOf(observe.RowInserted), check.Ends{
			OK:      check.SetOf(observe.CallFetchOrchestrationItem, observe.CallAbandonOrchestrationItem, observe.CallAckOrchestrationItem),
			Nothing: check.SetOf(observe.CallFetchOrchestrationItem),
		}
	}
	return k
}

func (k *strategyChecker) Observe(o *observe.Observation) {
	for len(k.visible) <= int(o.Message) {
		k.visible = append(k.visible, 0)
	}
	k.visible[o.Message] = max(o.UntilMs, o.AtMs)
}

func (k *strategyChecker) Ended(c *model.Call, o *observe.Observation) {
	switch c.Kind {
	case observe.CallFetchOrchestrationItem:
		if c.Caller.Node != 0 {
			k.fetched(c.Request.Filter, c.BeganMs)
		} else if isLetters(c.Caller) && c.Instance != 0 {
			k.taken(c)
		}
	case observe.CallAbandonOrchestrationItem:
		k.givenBack(c)
	case observe.CallAckOrchestrationItem:
		k.ended(c, o.AtMs)
	}
}

func (k *strategyChecker) fetched(f *engine.CapabilityFilter, ms int64) {
	for i := range k.fetches {
		if k.fetches[i].filter == f {
			k.fetches[i].ms = max(k.fetches[i].ms, ms)
			return
		}
	}
	k.fetches = append(k.fetches, lastFetch{f, ms})
}

func isLetters(c observe.Caller) bool { return c.Node == 0 && c.Incarnation == deadletter.Caller }

// taken judges a fetch of the dead-letter policy that got work.
func (k *strategyChecker) taken(c *model.Call) {
	in := k.Run.Model.Instance(c.Instance)
	pin := in.Pin()
	for _, f := range k.fetches {
		if pin != nil && model.Admits(f.filter, pin) && c.BeganMs-f.ms < k.leastMs {
			k.Run.Safety("S27", 0, in.No, "%s takes %s (pin %s): a fetch came with filter %s, which admits it, at %s: expected none for %v",
				k.Run.Who(c.Caller), in.Name, model.PinText(pin), f.filter, k.Run.At(f.ms), time.Duration(k.afterMs)*time.Millisecond)
			return
		}
	}
}

// givenBack judges an abandon by a node that cannot run the work, or whose sweeper has only inspected it.
func (k *strategyChecker) givenBack(c *model.Call) {
	in := model.HeldBy(c)
	if in == nil || in.BatchToken != c.Request.Token || in.Note.Token != c.Request.Token {
		return
	}
	switch note := &in.Note; note.Decision {
	case machine.DecideLooked:
		if !c.Request.IgnoreAttempt {
			k.Run.Safety("S27", c.Caller.Node, in.No, "%s gives back %s, which its sweeper has looked at, as a delivery that counts: expected it to be uncounted, since no node tried to run it",
				k.Run.Who(c.Caller), in.Name)
		}
	case machine.DecideIncompatible:
		o := &k.Run.World.Node(c.Caller.Node).Options
		want := check.Backoff(note.Attempt, o.UnregisteredBackoffBase, o.UnregisteredBackoffMax)
		if k.strategy == plan.StrategyStall && (c.Request.Delay != check.Stalled || !c.Request.IgnoreAttempt) {
			k.Run.Safety("S27", c.Caller.Node, in.No, "%s stalls %s for %v, counted: %t; expected %v, uncounted, until a node takes it that can",
				k.Run.Who(c.Caller), in.Name, c.Request.Delay, !c.Request.IgnoreAttempt, check.Stalled)
		}
		if k.strategy == plan.StrategyBounce && (c.Request.Delay != want || c.Request.IgnoreAttempt) {
			k.Run.Safety("S27", c.Caller.Node, in.No, "%s bounces %s at attempt %d for %v, counted: %t; expected %v, which grows with the attempts, counted",
				k.Run.Who(c.Caller), in.Name, note.Attempt, c.Request.Delay, !c.Request.IgnoreAttempt, want)
		}
	}
}

// pinBefore returns the pin of the execution that was current before a call. If it has none, that is the version in its
// history, where the caller's own range excludes that; the dead-letter policy has no range.
func (k *strategyChecker) pinBefore(in *model.Instance, c *model.Call) *engine.Version {
	ex := in.Execution(max(in.Before(c.ID).CurrentID, engine.InitialExecutionID))
	if ex == nil {
		return nil
	}
	if c.Caller.Node != 0 && ex.Pin == nil && ex.Before(c.ID).Events > 0 {
		if v := k.Run.Model.Stamp(ex); !model.Admits(k.filter(c), v) {
			return v
		}
	}
	return ex.Pin
}

// filter returns the filter for the range in the options of the node that makes a call.
func (k *strategyChecker) filter(c *model.Call) *engine.CapabilityFilter {
	n := k.Run.World.Node(c.Caller.Node)
	return engine.FilterFor(model.RangeOf(&n.Options, n.Build))
}

// ended judges an ack with which a sweeper or the dead-letter policy ends an execution.
func (k *strategyChecker) ended(c *model.Call, nowMs int64) {
	in := model.HeldBy(c)
	if in == nil || c.Request.Ack == nil || c.Request.Ack.Metadata.Status != engine.StatusFailed {
		return
	}
	letters := isLetters(c.Caller)
	if !letters && (in.Note.Token != c.Request.Token || in.Note.Decision != machine.DecideSwept) {
		return
	}
	pin := k.pinBefore(in, c)
	report := func(format string, args ...any) {
		k.Run.Safety("S27", c.Caller.Node, in.No, "%s ends %s (pin %s) as blocked: "+format, append([]any{k.Run.Who(c.Caller), in.Name, model.PinText(pin)}, args...)...)
	}
	var oldest int64 = -1
	since := func(no observe.MessageNo) {
		if v := k.visible[no]; oldest < 0 || v < oldest {
			oldest = v
		}
	}
	for _, no := range in.Batch {
		since(no)
	}
	if !letters {
		for _, r := range in.Queue { // what the sweeper gave back is not yet due again, and as blocked
			since(r.No)
		}
	}
	if pin == nil {
		report("expected unpinned work to be left alone")
		return
	}
	if output := c.Request.Ack.Metadata.Output; output == nil || !strings.Contains(*output, pin.String()) {
		report("expected an error that names the pin")
	}
	switch {
	case letters:
	case model.Admits(k.filter(c), pin):
		report("the node replays that pin itself")
		return
	case k.Run.World.Node(c.Caller.Node).Clock != (plan.Clock{}):
		return
	}
	if oldest < 0 || nowMs-oldest < k.leastMs {
		report("its oldest message has been visible since %s: expected at least %v", k.Run.At(oldest), time.Duration(k.afterMs)*time.Millisecond)
	}
}
