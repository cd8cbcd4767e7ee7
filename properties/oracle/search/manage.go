package search

import (
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
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
		e := c.event(t, r.Instance, r.ExecutionID)
		if t.oneIn(2) && e.EventID > engine.InitialEventID {
			e.Data = pick(t, wholeEvents)
		}
		r.Events = append(r.Events, e)
	}
	if a := c.do(t, r); a.Err == nil {
		for _, e := range r.Events {
			c.events = append(c.events, call.CorruptEvent{Instance: r.Instance, ExecutionID: r.ExecutionID, EventID: e.EventID})
		}
		c.do(t, call.ReadWithExecution{Instance: r.Instance, ExecutionID: r.ExecutionID})
	}
}

// read makes one of the reads that nodes and clients make.
func (c *checker) read(t *draws) {
	in := c.instance(t)
	c.do(t, pick(t, []call.Call{
		call.Read{Instance: in}, call.ReadWithExecution{Instance: in, ExecutionID: c.execution(t)}, call.GetCustomStatus{Instance: in, LastSeen: t.id(0, 2)},
		call.GetKVValue{Instance: in, Key: pick(t, c.names.keys)}, call.GetKVAllValues{Instance: in}, call.GetInstanceStats{Instance: in},
	}))
}

// look reads what an ack to this execution may have changed, or must have left alone if it failed.
func (c *checker) look(t *draws, in string, execution uint64) {
	reads := []call.Call{
		call.ReadWithExecution{Instance: in, ExecutionID: execution}, call.GetCustomStatus{Instance: in}, call.GetCustomStatus{Instance: in},
		call.GetKVAllValues{Instance: in}, call.GetKVValue{Instance: in, Key: pick(t, c.names.keys)}, call.GetInstanceStats{Instance: in},
	}
	if c.in.Provider.Admin() != nil {
		reads = append(reads, call.GetInstanceInfo{Instance: in}, call.GetExecutionInfo{Instance: in, ExecutionID: execution}, call.GetParentID{Instance: in}, call.ListExecutions{Instance: in})
	}
	c.do(t, pick(t, reads))
	c.do(t, pick(t, reads))
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

// family makes a root, its child and its grandchild, unless there is other work, and then a call about all of
// them.
func (c *checker) family(t *draws) {
	parent := ""
	for _, in := range []string{"A", "B", pick(t, []string{"C", "D"})} {
		token, got, ok := c.begin(t, engine.StartItem{Instance: in, Orchestration: "Orch", Version: "1.0.0", ExecutionID: 1})
		if !ok || got != in {
			return
		}
		c.do(t, call.AckOrchestrationItem{LockToken: token, ExecutionID: 1, Metadata: engine.ExecutionMetadata{
			OrchestrationName: "Orch", OrchestrationVersion: "1.0.0", ParentInstanceID: parent,
			Status: pick(t, []engine.Status{engine.StatusCompleted, engine.StatusCompleted, engine.StatusFailed, engine.StatusContinuedAsNew, ""}),
		}})
		parent = in
	}
	c.do(t, pick(t, []call.Call{
		call.DeleteInstance{Instance: "A"}, call.DeleteInstance{Instance: "A", Force: true}, call.DeleteInstance{Instance: "B", Force: true}, call.DeleteInstanceBulk{},
		call.DeleteInstancesAtomic{Instances: []string{"A", "B"}, Force: true}, call.PruneExecutionsBulk{}, call.GetInstanceTree{Instance: "A"},
	}))
	c.admin(t)
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

// again deletes an instance and uses its id for another one, of which nothing of the first may be told.
func (c *checker) again(t *draws) {
	in := c.instance(t)
	c.do(t, call.DeleteInstance{Instance: in, Force: true})
	if token, got, ok := c.begin(t, c.message(t, in)); ok {
		r := c.turnOf(t, token, got)
		c.commitWith(t, got, r)
		c.look(t, got, r.ExecutionID)
	}
}

// some returns a list of instances, which may include unknown ids and repetitions.
func (c *checker) some(t *draws) []string {
	list := make([]string, t.between(0, 4))
	for i := range list {
		list[i] = pick(t, append(slices.Clone(c.names.instances), "ghost"))
	}
	return list
}

// cutoff returns a time near now, or nil.
func (c *checker) cutoff(t *draws) *uint64 {
	now := uint64(c.in.NowMs())
	return pick(t, []*uint64{nil, pointer(now), pointer(now + 1), pointer(now - min(now, 500))})
}

func pointer(n uint64) *uint64 { return &n }
