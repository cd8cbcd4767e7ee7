package selfcheck

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/sim/cluster"
)

// activity identifies an activity, no matter which node runs it or how often.
type activity struct {
	instance      string
	execution, id uint64
}

// The names of the activities that every node has.
const (
	newGUID  = "__duroxide_syscall:new_guid"
	utcNowMs = "__duroxide_syscall:utc_now_ms"
	getKey   = "__duroxide_syscall:get_kv_value"
)

// judgeResult checks the results of the activities that every node has. No GUID may be made twice, the time must be the
// node's, and a key's value is the one that the node has read.
func (k *nodes) judgeResult(n *nodeState, h *held, result string, nowMs int64) {
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
	case getKey:
		if want, _ := json.Marshal(h.value); result != string(want) {
			k.wrong(n, h.instance, "gives the key's value as %s: expected %s, which it has read", result, want)
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

// readsKey judges which key a node reads for an activity that asks for one of another instance.
func (k *nodes) readsKey(n *nodeState, s *slot, q *call.GetKVValue) {
	var want struct {
		Instance string `json:"instance_id"`
		Key      string `json:"key"`
	}
	w := &s.held.work
	if err := json.Unmarshal([]byte(w.Input), &want); w.Name != getKey || err != nil || q.Instance != want.Instance || q.Key != want.Key {
		k.wrong(n, s.held.instance, "reads key %q of %q for activity %s with input %s: expected the key that the input names", q.Key, q.Instance, w.Name, w.Input)
	}
}

// holds judges which instance a node says that it runs, when its turn takes long.
func (k *nodes) holds(n *nodeState, r *cluster.Record) {
	if r.Fault != faults.SlowTurn {
		return
	}
	for i := range n.slots {
		if n.slots[i].held.instance == r.Instance {
			return
		}
	}
	k.wrong(n, "", "says that it runs a turn of %q: expected an instance of which it holds messages", r.Instance)
}
