package conduct

import "strconv"

// activity identifies an activity, no matter which node runs it or how often.
type activity struct {
	instance      string
	execution, id uint64
}

// The names of the activities that every node has and whose results are judged.
const (
	newGUID  = "__duroxide_syscall:new_guid"
	utcNowMs = "__duroxide_syscall:utc_now_ms"
)

// judgeResult checks the results of the activities that every node has. No GUID may be made twice, and the time must be
// the node's.
func (k *checker) judgeResult(n *nodeState, h *held, result string, nowMs int64) {
	switch w := &h.work; w.Name {
	case newGUID:
		own := activity{w.Instance, w.ExecutionID, w.ID}
		if other, given := k.guids[result]; given && other != own {
			k.wrong(n, h.instance, "gives the id %s to activity %d of %s, execution %d, although activity %d of %s, execution %d, has it", result, w.ID, w.Instance, w.ExecutionID, other.id, other.instance, other.execution)
		}
		if k.guids == nil {
			k.guids = map[string]activity{}
		}
		k.guids[result] = own
	case utcNowMs:
		if result != strconv.FormatInt(nowMs, 10) && !n.wrongClock && !k.callersClock {
			k.wrong(n, h.instance, "reports the time %s ms: expected %d", result, nowMs)
		}
	}
}
