package cluster

import (
	"github.com/durosim/durosim/internal/call"
	"github.com/durosim/durosim/internal/record"
)

// look makes a probe read the store through the management surface: the list of instances, and each instance's history,
// statistics and keys. It only records the answers.
func (pr *probes) look(i int) {
	list := pr.read(i, call.ListInstances{})
	for _, id := range list.IDs {
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
