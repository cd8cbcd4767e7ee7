package conduct

import (
	"strconv"
	"strings"
)

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
		if !isGUID(result) {
			k.wrong(n, h.instance, "gives the id %q: expected a UUID of version 8", result)
		}
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

// isGUID reports whether a text is a lower-case version 8 UUID (RFC 9562).
func isGUID(text string) bool {
	for i, c := range text {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (c == '-') || !dash && !strings.ContainsRune("0123456789abcdef", c) {
			return false
		}
	}
	return len(text) == 36 && text[14] == '8' && strings.ContainsRune("89ab", rune(text[19]))
}
