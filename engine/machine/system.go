package machine

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/orchhost"
)

// activityCode returns the code of a system activity, which every node has, or of an activity in the registry.
func (n *Node) activityCode(name string) (node.Activity, bool) {
	switch name {
	case orchhost.SystemNewGUID:
		return newGUID, true
	case orchhost.SystemUTCNowMs:
		return n.utcNowMs, true
	case orchhost.SystemGetKVValue:
		return refuseKey, true // see readsKey
	}
	return n.registry.Activity(name)
}

// newGUID derives the id from the activity's identity. It is therefore unique within a run and the same in every run.
func newGUID(ctx node.ActivityContext, _ string) (string, error) {
	h := sha256.New()
	h.Write([]byte(ctx.Instance))
	h.Write(binary.BigEndian.AppendUint64([]byte{0}, ctx.ExecutionID))
	h.Write(binary.BigEndian.AppendUint64(nil, ctx.ActivityID))
	id := h.Sum(nil)[:16]
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80 // version 8 UUID: a custom layout
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:]), nil
}

func (n *Node) utcNowMs(node.ActivityContext, string) (string, error) {
	return strconv.FormatInt(n.nowMs, 10), nil
}

// refuseKey fails a read whose input names no key.
func refuseKey(node.ActivityContext, string) (string, error) {
	return "", fmt.Errorf("%s: expected an instance id and a key as JSON", orchhost.SystemGetKVValue)
}

// readsKey starts the provider call for a system activity that reads another instance's key. It reports whether it
// started one.
func (n *Node) readsKey(s *slot) bool {
	if s.hold.activity.Name != orchhost.SystemGetKVValue {
		return false
	}
	var key orchhost.RemoteKey
	if json.Unmarshal([]byte(s.hold.activity.Input), &key) != nil || key.InstanceID == "" {
		return false
	}
	s.phase = phaseReading
	s.call = n.ask(s, call.GetKVValue{Instance: key.InstanceID, Key: key.Key})
	return true
}

// onKeyRead acknowledges the activity with the key's value. If the read failed with an error that may go away, onKeyRead
// abandons the activity instead, so that it is redelivered.
func (n *Node) onKeyRead(s *slot, in *Answer) {
	if in.Err != nil && n.rules.RetriesRead(in.Err) {
		n.abandon(s, Note{Decision: DecideReadFailed, Delay: workAckFailedDelay, Cause: in.Err.Error()})
		return
	}
	if in.Err != nil {
		n.completeActivity(s, "", in.Err.Error(), true)
		return
	}
	text, err := json.Marshal(in.Value)
	if err != nil {
		panic(fmt.Sprintf("node %s: value of a key: %v", n.name, err))
	}
	n.completeActivity(s, string(text), "", false)
}
