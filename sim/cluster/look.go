package cluster

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/sim/record"
)

// look makes a probe read the store through the management surface: the totals, the lists of instances, and each
// instance's description, children, history, statistics, keys and custom status. It only records the answers.
func (pr *probes) look(i int) {
	list := pr.read(i, call.ListInstances{})
	for _, status := range []engine.Status{engine.StatusRunning, engine.StatusCompleted, engine.StatusFailed, engine.StatusContinuedAsNew} {
		pr.read(i, call.ListInstancesByStatus{Status: status})
	}
	pr.read(i, call.GetSystemMetrics{})
	for _, id := range list.IDs {
		pr.read(i, call.GetInstanceInfo{Instance: id})
		pr.read(i, call.ListChildren{Instance: id})
		pr.read(i, call.GetCustomStatus{Instance: id})
		pr.read(i, call.ReadHistory{Instance: id})
		pr.read(i, call.GetInstanceStats{Instance: id})
		pr.read(i, call.GetKVAllValues{Instance: id})
	}
}

// read makes one call for such a probe and records the answer.
func (pr *probes) read(i int, request call.Call) call.Answer {
	a := call.Perform(pr.ctx, pr.list[i].provider, request)
	pr.record(&Record{Kind: record.Looked, Incarnation: uint32(i + 1), Request: request, Looked: &a, Err: a.Err, StoreCall: pr.network.storeCall})
	return a
}
