package program

import (
	"fmt"
	"math"
	"strconv"

	"github.com/durosim/durosim/engine/orch"
)

// state executes a statement that uses the instance's state or queries the runtime.
func state(ctx *orch.Context, n *Node) (string, error) {
	switch n.Op {
	case OpSet:
		ctx.SetKVValue(n.Name, n.value())
	case OpSetMany:
		for i := range n.Size {
			ctx.SetKVValue(manyKey(i), manyValue)
		}
	case OpGet:
		value, found := ctx.KVValue(n.Name)
		return orNone(value, found), nil
	case OpClear:
		ctx.ClearKVValue(n.Name)
	case OpClearAll:
		ctx.ClearAllKVValues()
	case OpKeys:
		out := ""
		for _, kv := range ctx.KVAllValues() {
			out += kv.Key + "=" + kv.Value + ","
		}
		return out, nil
	case OpPrune:
		return strconv.Itoa(ctx.PruneKVValuesUpdatedBefore(math.MaxInt64)), nil
	case OpStatus:
		ctx.SetCustomStatus(n.value())
	case OpStatusReset:
		ctx.ResetCustomStatus()
	case OpStatusGet:
		return orNone(ctx.CustomStatus()), nil
	case OpRemote, OpGUID, OpNow:
		return ask(ctx, n)
	default:
		panic(fmt.Sprintf("program: a statement %q", n.Op)) // rejected by Validate
	}
	return "", nil
}

// ask executes a statement that one of the runtime's own activities answers. An answer in an unexpected form is
// returned unchanged.
func ask(ctx *orch.Context, n *Node) (string, error) {
	switch n.Op {
	case OpRemote:
		value, found, err := ctx.RemoteKVValue(ctx.InstanceID(), n.Name)
		if err != nil {
			return "", err
		}
		return orNone(value, found), nil
	case OpGUID:
		id, err := ctx.NewGUID()
		if len(id) == len("00000000-0000-0000-0000-000000000000") {
			id = saidGUID
		}
		return id, err
	}
	ms, err := ctx.UTCNowMs()
	switch {
	case err != nil:
		return "", err
	case ms < 0:
		return strconv.FormatInt(ms, 10), nil
	}
	return saidNow, nil
}

// none represents a key or custom status that does not exist.
const none = "-"

func orNone(value string, found bool) string {
	if !found {
		return none
	}
	return value
}

// The outputs of the guid and now statements.
const (
	saidGUID = "guid"
	saidNow  = "now"
)

// The keys set by set-many, and their value.
const manyValue = "v"

func manyKey(i int) string { return "many-" + strconv.Itoa(i+1) }

// maxKeys is the maximum number of keys for set-many. It slightly exceeds the number of keys that an instance may have.
const maxKeys = 110
