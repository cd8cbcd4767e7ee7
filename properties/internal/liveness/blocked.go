package liveness

import (
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// blocked judges work that no live node admits, under strategies that do not let work wait (L13). Under bounce, such
// work ends as poison; under the other strategies, a sweeper or the dead-letter policy ends it.
func (c *obligations) blocked(in *model.Instance) {
	input := boundInput{others: c.ready - 1, lost: c.live.Instance(in.No).Lost}
	since := c.live.RecoveryMs
	for i := range c.live.Nodes {
		if n := &c.live.Nodes[i]; n.Live() {
			input.worstOf(&n.Options, n.Options.OrchestratorLockTimeout, n.Options.OrchestrationConcurrency)
			since = max(since, n.LiveSinceMs)
		}
	}
	strategy, patience := c.live.Plan.Strategy, c.live.Plan.Patience.Or()
	if input.slots == 0 && (strategy != plan.StrategyDeadletter || in.Pin() == nil) {
		return // no node fetches this work, and the dead-letter policy ends only pinned work
	}
	input.cadenceMs += c.lineMs()
	for _, r := range in.Queue {
		mine := c.live.Row(r.No)
		from := max(since, mine.FirstVisibleMs, mine.AgainMs)
		b := deliveryBound(input)
		if strategy == plan.StrategyBounce {
			input.backoffMs = mine.BackoffMs
			b = poisonBound(input)
		} else {
			b.add(2, patience.After.Milliseconds(), "patience, and once more if nodes get in each other's way")
			b.add(3, patience.Every.Milliseconds(), "pause between two looks")
		}
		if !c.overdue(mine, from, b) {
			continue
		}
		c.Run.Liveness("L13", 0, in.No,
			"message %d (%s) of %s, which no live node admits (pin %s), is still queued under strategy %s: visible since %s, bound %s, overdue by %s. Live nodes: %s",
			r.No, r.Kind, in.Name, model.PinText(in.Pin()), strategy, c.Run.At(from), b, pretty.Duration(c.now-from-b.ms), c.live.WhyNot(in))
	}
}

// notFreed reports work that was neither delivered nor deleted during rescue (L04).
func (c *obligations) notFreed(in *model.Instance) {
	if admitted, _ := c.live.Admitted(in); admitted || c.live.Phase != cluster.PhaseRescue || c.live.Contested(in) {
		return
	}
	for _, r := range in.Queue {
		mine := c.live.Row(r.No)
		if !mine.Stuck || mine.Reported || mine.FirstVisibleMs > c.now {
			continue
		}
		c.Run.Liveness("L04", 0, in.No,
			"message %d (%s) of %s is still queued: the last rescue began at %s, nothing has deleted the message, and no live node admits pin %s. Live nodes: %s",
			r.No, r.Kind, in.Name, c.Run.At(c.live.PhaseMs), model.PinText(in.Pin()), c.live.WhyNot(in))
	}
}
