package oracle

import (
	"slices"

	"pgregory.net/rapid"

	"github.com/durosim/durosim/engine"
)

func (c *checker) execution(t *rapid.T) uint64 { return rapid.Uint64Range(1, 3).Draw(t, "execution") }

// append stores events past the queue, seldom, since nothing else does.
func (c *checker) append(t *rapid.T) {
	if !oneIn(t, "really", 4) {
		t.Skip("seldom")
	}
	r := AppendWithExecution{Instance: c.instance(t), ExecutionID: c.execution(t)}
	var events int = rapid.IntRange(1, 2).Draw(t, "events")
	for range events {
		r.Events = append(r.Events, c.event(t, r.Instance, r.ExecutionID))
	}
	if a := c.do(t, r); a.Err == nil {
		for _, e := range r.Events {
			c.events = append(c.events, CorruptEvent{r.Instance, r.ExecutionID, e.EventID})
		}
	}
}

// read asks for something that a node or a client asks for.
func (c *checker) read(t *rapid.T) {
	in := c.instance(t)
	c.do(t, pick(t, "read", []Args{
		Read{in}, ReadWithExecution{in, c.execution(t)}, GetCustomStatus{in, rapid.Uint64Range(0, 2).Draw(t, "seen")},
		GetKVValue{in, pick(t, "key", genKeys)}, GetKVAllValues{in}, GetInstanceStats{in},
	}))
}

// admin asks for something that an operator asks for.
func (c *checker) admin(t *rapid.T) {
	in, execution := c.instance(t), c.execution(t)
	c.do(t, pick(t, "question", []Args{
		ListInstances{}, ListInstancesByStatus{pick(t, "status", []engine.Status{engine.StatusRunning, engine.StatusCompleted, engine.StatusContinuedAsNew, "Strange"})},
		ListExecutions{in}, ReadHistoryWithExecutionID{in, execution}, ReadHistory{in}, LatestExecutionID{in}, GetInstanceInfo{in},
		GetExecutionInfo{in, execution}, GetSystemMetrics{}, GetQueueDepths{}, ListChildren{in}, GetParentID{in}, GetInstanceTree{in},
	}))
}

// remove deletes or prunes.
func (c *checker) remove(t *rapid.T) {
	if !oneIn(t, "really", 2) {
		t.Skip("seldom")
	}
	in, force := c.instance(t), rapid.Bool().Draw(t, "force")
	filter := engine.InstanceFilter{CompletedBefore: c.cutoff(t), Limit: pick(t, "limit", []*uint64{nil, pointer(1), pointer(2)})}
	if rapid.Bool().Draw(t, "by id") {
		filter.InstanceIDs = c.some(t)
	}
	options := engine.PruneOptions{KeepLast: pick(t, "keep", []*uint64{nil, pointer(0), pointer(1), pointer(2)}), CompletedBefore: c.cutoff(t)}
	c.do(t, pick(t, "removal", []Args{
		DeleteInstance{in, force}, DeleteInstancesAtomic{c.some(t), force}, DeleteInstanceBulk{filter}, PruneExecutions{in, options},
		PruneExecutions{Instance: in}, PruneExecutionsBulk{filter, options},
	}))
}

// some is a list of instances, perhaps with strange ones and repetitions.
func (c *checker) some(t *rapid.T) []string {
	list := rapid.SliceOfN(rapid.SampledFrom(append(slices.Clone(genInstances), "ghost")), 0, 4).Draw(t, "instances")
	return append([]string{}, list...)
}

// cutoff is a time near now, or none.
func (c *checker) cutoff(t *rapid.T) *uint64 {
	now := uint64(c.in.NowMs())
	return pick(t, "completed before", []*uint64{nil, pointer(now), pointer(now + 1), pointer(now - 500)})
}

func pointer(n uint64) *uint64 { return &n }
