package cluster

import (
	"fmt"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/record"
)

// This file implements the operators' actions: deleting instances and pruning executions while the cluster runs. An
// operator's call takes effect in a single instant. The properties check the effect; a refusal is only told.

// manage deletes an instance with its tree, or prunes it. The call may wait in the store first.
func (c *clients) manage(id string, a *plan.Action, key sim.Key) {
	if !c.draws(drawsSlowCommit, "", key) {
		c.managed(id, a)
		return
	}
	d := c.inside(key.Name(labelFault, "wait"), operatorWait)
	c.record(&Record{Kind: record.Fault, Fault: faults.SlowCommit, Instance: id, For: d})
	arrival := c.store.Arrive(observe.CallNone, "", nil, id)
	c.waiting = append(c.waiting, func() {
		c.store.Resume(arrival)
		c.managed(id, a)
		c.store.Resume(nil)
	})
	c.kernel.After(d, key.At(labelInside), event{kind: evManage, a: uint64(len(c.waiting) - 1)})
}

// operatorWait is the lock duration near which an operator's call may wait in the store.
const operatorWait = 5 * time.Second

// managed makes an operator's call.
func (c *clients) managed(id string, a *plan.Action) {
	c.changed = true
	admin := c.provider.Admin()
	how := "deletes " + id
	if a.Forced {
		how += " by force"
	}
	var err error
	switch {
	case a.Verb == plan.ActionPrune:
		how = "prunes " + id
		_, err = admin.PruneExecutions(c.ctx, id, engine.PruneOptions{})
	case a.Alone:
		how += ", without its tree"
		_, err = admin.DeleteInstancesAtomic(c.ctx, []string{id}, a.Forced)
	default:
		_, err = admin.DeleteInstance(c.ctx, id, a.Forced)
	}
	if err != nil {
		about := strings.ReplaceAll((&Fate{Instance: id, Cause: err.Error()}).Alike(), "INSTANCE", "ID")
		c.refused = append(c.refused, Remark{
			Kind: RemarkOperator, About: fmt.Sprintf("%s of %s: %s", a.Verb, c.plan.Instances[c.planned[id]].Orchestration, about),
			Detail: ", at " + pretty.Duration(c.nowMs()-c.startMs()), Instance: id,
		})
	}
	c.tellOperated("client "+how, err)
}

// tellOperated tells of a call that no node makes, and whether the store refuses it.
func (j *journal) tellOperated(text string, err error) {
	if j.narrator == nil {
		return
	}
	if err != nil {
		text += fmt.Sprintf(": the store refuses that: %v", err)
	}
	j.narrator.tell(0, true, "%s", text)
}

// sweep makes a probe's bulk call, which deletes all roots that have ended or prunes all executions that are neither
// current nor running.
func (pr *probes) sweep(s *probeState) {
	admin := s.provider.Admin()
	switch s.plan.Sweep {
	case plan.SweepInstances:
		_, err := admin.DeleteInstanceBulk(pr.ctx, engine.InstanceFilter{})
		pr.tellOperated("probe "+s.plan.Name+" deletes all trees that have ended", err)
	case plan.SweepExecutions:
		_, err := admin.PruneExecutionsBulk(pr.ctx, engine.InstanceFilter{}, engine.PruneOptions{})
		pr.tellOperated("probe "+s.plan.Name+" prunes all instances", err)
	default:
		panic(fmt.Sprintf("cluster: probe %s: sweeps %q", s.plan.Name, s.plan.Sweep)) // already rejected by Validate
	}
}
