package properties

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/sim/cluster"
)

// cancelChecker asks that a cancel ends its instance: L10. Once a node has consumed the cancel of an instance that it
// leaves running, nothing will end it any more, so that is overdue at once. How long a cancel may be on its way is for the
// obligations, which know the bound of the nodes that admit the instance.
type cancelChecker struct{ base }

func newCancelChecker(m *run) checker { return &cancelChecker{base{m}} }

func (*cancelChecker) observes() []engine.ObservationKind {
	return []engine.ObservationKind{engine.ObsCallEnd}
}

func (*cancelChecker) records() []cluster.RecordKind { return nil }

func (k *cancelChecker) observe(o *engine.Observation) {
	c := k.m.store.call(o.Call)
	if c == nil || c.kind != engine.CallAckOrchestrationItem || o.Outcome != engine.OutcomeOK || c.caller.Node == 0 {
		return
	}
	for _, r := range c.rows {
		if r.kind != engine.ItemCancelInstance || r.removedBy != c.id || r.present || r.removed != engine.RemovedAcked || r.damaged {
			continue
		}
		in := r.instance
		if status := in.status(); status != "" && !isEnd(status) {
			k.m.liveness("L10", c.caller.Node, in.no,
				"an ack by %s with token %s consumed the cancel of %s (message %d), and execution %d is %s after it: expected the instance to end",
				k.m.who(c.caller), c.request.Token, in.name, r.no, in.currentID, status)
			return
		}
	}
}
