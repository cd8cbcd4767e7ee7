package search

import (
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/call"
)

func (c *checker) execution(t *draws) uint64 { return t.id(1, 3) }

// append occasionally stores events directly, bypassing the queue. No other action does that.
func (c *checker) append(t *draws) {
	if !t.oneIn(4) {
		return
	}
	r := call.AppendWithExecution{Instance: c.instance(t), ExecutionID: c.execution(t)}
	events := t.between(1, 2)
	for range events {
		r.Events = append(r.Events, c.event(t, r.Instance, r.ExecutionID))
	}
	if a := c.do(t, r); a.Err == nil {
		for _, e := range r.Events {
			c.events = append(c.events, call.CorruptEvent{Instance: r.Instance, ExecutionID: r.ExecutionID, EventID: e.EventID})
		}
	}
}

// read makes one of the reads that nodes and clients make.
func (c *checker) read(t *draws) {
	in := c.instance(t)
	c.do(t, pick(t, []call.Call{
		call.Read{Instance: in}, call.ReadWithExecution{Instance: in, ExecutionID: c.execution(t)}, call.GetCustomStatus{Instance: in, LastSeen: t.id(0, 2)},
		call.GetKVValue{Instance: in, Key: pick(t, genKeys)}, call.GetKVAllValues{Instance: in}, call.GetInstanceStats{Instance: in},
	}))
}

// admin makes one of the calls that operators make.
func (c *checker) admin(t *draws) {
	in, execution := c.instance(t), c.execution(t)
	c.do(t, pick(t, []call.Call{
		call.ListInstances{}, call.ListInstancesByStatus{Status: pick(t, []engine.Status{engine.StatusRunning, engine.StatusCompleted, engine.StatusContinuedAsNew, "Strange"})},
		call.ListExecutions{Instance: in}, call.ReadHistoryWithExecutionID{Instance: in, ExecutionID: execution}, call.ReadHistory{Instance: in}, call.LatestExecutionID{Instance: in}, call.GetInstanceInfo{Instance: in},
		call.GetExecutionInfo{Instance: in, ExecutionID: execution}, call.GetSystemMetrics{}, call.GetQueueDepths{}, call.ListChildren{Instance: in}, call.GetParentID{Instance: in}, call.GetInstanceTree{Instance: in},
	}))
}

// remove makes a call that deletes or prunes.
func (c *checker) remove(t *draws) {
	if !t.oneIn(2) {
		return
	}
	in, force := c.instance(t), t.oneIn(2)
	filter := engine.InstanceFilter{CompletedBefore: c.cutoff(t), Limit: pick(t, []*uint64{nil, pointer(1), pointer(2)})}
	if t.oneIn(2) {
		filter.InstanceIDs = c.some(t)
	}
	options := engine.PruneOptions{KeepLast: pick(t, []*uint64{nil, pointer(0), pointer(1), pointer(2)}), CompletedBefore: c.cutoff(t)}
	c.do(t, pick(t, []call.Call{
		call.DeleteInstance{Instance: in, Force: force}, call.DeleteInstancesAtomic{Instances: c.some(t), Force: force}, call.DeleteInstanceBulk{Filter: filter}, call.PruneExecutions{Instance: in, Options: options},
		call.PruneExecutions{Instance: in}, call.PruneExecutionsBulk{Filter: filter, Options: options},
	}))
}

// some returns a list of instances, which may include unknown ids and repetitions.
func (c *checker) some(t *draws) []string {
	list := make([]string, t.between(0, 4))
	for i := range list {
		list[i] = pick(t, append(slices.Clone(genInstances), "ghost"))
	}
	return list
}

// cutoff returns a time near now, or nil.
func (c *checker) cutoff(t *draws) *uint64 {
	now := uint64(c.in.NowMs())
	return pick(t, []*uint64{nil, pointer(now), pointer(now + 1), pointer(now - 500)})
}

func pointer(n uint64) *uint64 { return &n }
