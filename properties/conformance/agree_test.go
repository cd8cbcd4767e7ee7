package conformance_test

import (
	"testing"

	"github.com/durosim/durosim/properties/conformance"
	"github.com/durosim/durosim/properties/oracle"
)

// TestOracleAgrees lets the specification judge every call of every case: what a case asks for must be allowed, and what
// it sets up must be too.
func TestOracleAgrees(t *testing.T) {
	right := memory(nil)
	for _, id := range conformance.IDs() {
		watched := conformance.Factory{New: func(t testing.TB) *conformance.Instance {
			in := right.New(t)
			judge := oracle.New(oracle.Options{})
			apply := func(c oracle.Call, a oracle.Answer, at oracle.Span) {
				if refusal := judge.Apply(c, a, at); refusal != nil {
					t.Errorf("%s: %v", id, refusal)
				}
			}
			in.Provider = oracle.Watch(in.Provider, "", in.NowMs, apply)
			corrupt := in.CorruptHistory
			in.CorruptHistory = func(instance string, execution, event uint64) error {
				if err := corrupt(instance, execution, event); err != nil {
					return err
				}
				apply(oracle.Call{Args: oracle.CorruptEvent{Instance: instance, ExecutionID: execution, EventID: event}}, oracle.Answer{}, oracle.At(in.NowMs()))
				return nil
			}
			return in
		}}
		if r := conformance.Ask(t, watched, id)[0]; r.Failure != "" {
			t.Error(r.Failure)
		}
	}
}
