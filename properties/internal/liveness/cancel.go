package liveness

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
)

// cancelChecker checks rule L10: a cancel ends its instance. If a node has consumed the cancel and left the instance
// running, nothing else will end it, so the violation is reported at once. How long a cancel may be queued is left to
// the obligations, because they know the bound for the nodes that admit the instance.
type cancelChecker struct{ check.Base }

func newCancelChecker(m *check.Run) check.Checker {
	return &cancelChecker{check.Base{Run: m, OnEnd: check.Ends{OK: check.SetOf(observe.CallAckOrchestrationItem)}}}
}

func (k *cancelChecker) Ended(c *model.Call, _ *observe.Observation) {
	if c.Caller.Node == 0 {
		return
	}
	for _, r := range c.Rows {
		if r.Kind != engine.ItemCancelInstance || r.RemovedBy != c.ID || r.Removed != observe.RemovedAcked || r.Damaged {
			continue
		}
		in := r.Instance
		if status := in.Status(); status != "" && !isEnd(status) {
			k.Run.Liveness("L10", c.Caller.Node, in.No,
				"an ack by %s with token %s consumed the cancel of %s (message %d), but execution %d is %s afterwards: expected the instance to end",
				k.Run.Who(c.Caller), c.Request.Token, in.Name, r.No, in.CurrentID, status)
			return
		}
	}
}
