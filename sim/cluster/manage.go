package cluster

import (
	"fmt"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/sim/plan"
)

// This file holds the actions of operators: they delete instances and prune executions, whatever the cluster does
// meanwhile. An operator's call is one instant. Its answer does not matter here: the properties judge its effect.

// manage deletes an instance with its tree, or prunes it.
func (c *clients) manage(id string, a *plan.Action) {
	c.changed = true
	admin := c.provider.Admin()
	var err error
	switch {
	case a.Verb == plan.ActionPrune:
		_, err = admin.PruneExecutions(c.ctx, id, engine.PruneOptions{})
	case a.Alone:
		_, err = admin.DeleteInstancesAtomic(c.ctx, []string{id}, a.Forced)
	default:
		_, err = admin.DeleteInstance(c.ctx, id, a.Forced)
	}
	_ = err // refused, or nothing to do
}

// sweep makes a probe's bulk call: delete all roots that have ended, or prune all executions neither current nor running.
func (pr *probes) sweep(s *probeState) {
	admin := s.provider.Admin()
	var err error
	switch s.plan.Sweep {
	case plan.SweepInstances:
		_, err = admin.DeleteInstanceBulk(pr.ctx, engine.InstanceFilter{})
	case plan.SweepExecutions:
		_, err = admin.PruneExecutionsBulk(pr.ctx, engine.InstanceFilter{}, engine.PruneOptions{})
	default:
		panic(fmt.Sprintf("cluster: probe %s: sweeps %q", s.plan.Name, s.plan.Sweep)) // Validate has refused it
	}
	_ = err
}
