package memprovider_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/memprovider"
)

// bigAck is an ack with an effect in every step: it consumes two messages, starts execution 2 and cancels what is held.
const bigAck = "ack t exec=2 events=OS1,2,3:set:k:w,4:clear:j,5:clearall,6:set:i:v,7:status:on name=Other@2.0.0 parent=p pin=2.0.0 status=Completed output=x " +
	"work=A:7@s,new:8@s cancel=A:1,A:7 send=ext:A:c,timer:other:5000"

// beforeBigAck is the script that prepares the store for bigAck.
const beforeBigAck = `
make A pin=1.0.0 work=A:1 events=OS1,2:set:j:v:102,3:set:k:v:103 status=Completed send=ext:A:first
fetch t +kvtime -> A#1 x1 [ext:first] kv{j=v@102 k=v@103}
ack t events=4:set:k:u,5:status:off
work w -> A:1 x1
send ext:A:a
send ext:A:b
fetch t +kvtime -> A#1 x1 [ext:a ext:b] kv{j=v@102 k=v@103}
send ext:A:late
`

func TestFailedAckChangesNothing(t *testing.T) {
	for _, instance := range []struct{ name, before, ack string }{
		{"known instance", beforeBigAck, bigAck},
		{"new instance", "send start:A\nfetch t -> A#1 x1 [start]", strings.ReplaceAll(bigAck, "exec=2", "exec=1")},
	} {
		for step := memprovider.AckStep(0); int(step) < memprovider.AckSteps; step++ {
			t.Run(instance.name+" before "+step.String(), func(t *testing.T) {
				failing := false
				w := newWorld(memprovider.Options{BeforeAckStep: func(at memprovider.AckStep) error {
					if failing && at == step {
						return errors.New("storage is busy")
					}
					return nil
				}})
				w.check(t, instance.before)
				before, next := w.store.Snapshot(), w.store.NextOrchestration(nil)
				failing = true
				w.check(t, instance.ack+" -> retryable")
				if diff := cmp.Diff(before, w.store.Snapshot()); diff != "" {
					t.Errorf("the ack left something: -before +after\n%s", diff)
				}
				if diff := cmp.Diff(next, w.store.NextOrchestration(nil)); diff != "" {
					t.Errorf("eligibility changed: -before +after\n%s", diff)
				}
				failing = false
				w.check(t, instance.ack)
			})
		}
	}
}

// TestRewritingAckIsTakenBackToo checks that even an ack with a planted bug undoes everything that it did.
func TestRewritingAckIsTakenBackToo(t *testing.T) {
	w := newWorld(memprovider.Options{
		Rules: wrongBy("provider/ack-re-encodes"),
		BeforeAckStep: func(at memprovider.AckStep) error {
			if at == memprovider.AckEnqueueWork {
				return engine.Permanentf("test", "no")
			}
			return nil
		},
	})
	data, _ := build("2.0.0").Codec.AppendEvent(nil, startedEvent(1))
	sample.OK(t, w.store.Preload(memprovider.PreloadedInstance{Instance: "A", Orchestration: "TestOrch", Version: "1.0.0",
		Executions: []memprovider.PreloadedExecution{{ID: 1, Events: []memprovider.PreloadedEvent{{ID: 1, Data: append(data, ' ')}}}}}))
	w.check(t, "send ext:A:e\nfetch t -> A#1 x1 [ext:e]")
	before := w.store.Snapshot()
	w.check(t, "ack t events=2 -> perm")
	if diff := cmp.Diff(before, w.store.Snapshot()); diff != "" {
		t.Errorf("-before +after\n%s", diff)
	}
}
