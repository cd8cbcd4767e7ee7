package cluster

import (
	"github.com/durosim/durosim/internal/call"
	"github.com/durosim/durosim/internal/record"
)

// look has a probe read what the management surface tells of the store: the list of instances, and of each its history,
// its statistics and its keys. Each answer is handed over in a record; nothing else happens.
func (pr *probes) look(i int) {
	list := pr.read(i, call.ListInstances{})
	for _, id := range list.IDs {
		pr.read(i, call.ReadHistory{Instance: id})
		pr.read(i, call.GetInstanceStats{Instance: id})
		pr.read(i, call.GetKVAllValues{Instance: id})
	}
}

// read makes one call of a probe that looks, and hands over its answer.
func (pr *probes) read(i int, request call.Call) call.Answer {
	a := call.Perform(pr.ctx, pr.list[i].provider, request)
	pr.record(&Record{Kind: record.Looked, Incarnation: uint32(i + 1), Request: request, Looked: &a, Err: a.Err, StoreCall: pr.network.storeCall})
	return a
}
