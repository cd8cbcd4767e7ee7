package conformance_test

import (
	"testing"

	"github.com/durosim/durosim/engine"
	calls "github.com/durosim/durosim/internal/call"
	"github.com/durosim/durosim/properties/conformance"
	"github.com/durosim/durosim/properties/oracle"
)

// TestOracleAgrees makes the specification judge every call of every case. It must allow what a case expects and what a
// case sets up.
func TestOracleAgrees(t *testing.T) {
	right := memory(nil)
	for _, id := range conformance.IDs() {
		watched := conformance.Factory{New: func() (*conformance.Store, error) {
			in, err := right.New()
			judge := oracle.New(oracle.Options{})
			apply := func(e oracle.Exchange) {
				if refusal := judge.Apply(e); refusal != nil {
					t.Errorf("%s: %v", id, refusal)
				}
			}
			in.Provider = oracle.Watch(in.Provider, "", in.NowMs, apply)
			corrupt := in.CorruptHistory
			in.CorruptHistory = func(instance string, execution, event uint64) error {
				if err := corrupt(instance, execution, event); err != nil {
					return err
				}
				apply(oracle.Exchange{Call: calls.CorruptEvent{Instance: instance, ExecutionID: execution, EventID: event}, At: oracle.At(in.NowMs())})
				return nil
			}
			corruptMessage := in.CorruptMessage
			in.CorruptMessage = func(item engine.WorkItem) error {
				if err := corruptMessage(item); err != nil {
					return err
				}
				apply(oracle.Exchange{Call: calls.CorruptMessage{Item: item}, At: oracle.At(in.NowMs())})
				return nil
			}
			return in, err
		}}
		if r := conformance.Ask(watched, id)[0]; r.Failure != "" {
			t.Error(r.Failure)
		}
	}
}
