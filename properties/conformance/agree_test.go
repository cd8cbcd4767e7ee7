package conformance_test

import (
	"testing"

	"github.com/durosim/durosim/engine"
	calls "github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/properties/conformance"
	"github.com/durosim/durosim/properties/oracle"
	"github.com/durosim/durosim/properties/oracle/search"
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

// TestSemanticOrderOfVersions checks that a provider may order versions as semantic versions do, a pre-release before its
// release, in pins and bounds alike: duroxide's own is_compatible does.
func TestSemanticOrderOfVersions(t *testing.T) {
	// place moves a version so that its numbers alone have the semantic order of the versions in cases and sequences.
	place := func(v engine.Version) engine.Version {
		if v.Patch = 2*v.Patch + 1; v.Pre != "" {
			v.Patch--
		}
		return v.Triple()
	}
	factory := spoil("versions in semantic order", "", func(c *call) {
		if f := c.filter; f != nil {
			c.filter = &engine.CapabilityFilter{}
			for _, r := range f.SupportedVersions {
				c.filter.SupportedVersions = append(c.filter.SupportedVersions, engine.VersionRange{Min: place(r.Min), Max: place(r.Max)})
			}
		}
		if pin := c.ack.Metadata.PinnedVersion; pin != nil {
			at := place(*pin)
			c.ack.Metadata.PinnedVersion = &at
		}
		if c.do(); c.fetched != nil {
			c.fetched.Item.Pin = nil
		}
		if c.about != nil {
			c.about.PinnedVersion = nil
		}
	}).factory
	for _, r := range conformance.Ask(factory, conformance.IDs()...) {
		if r.Failure != "" {
			t.Error(r.Failure)
		}
	}
	search.Check(t, conformance.Factory{New: func() (*conformance.Store, error) {
		in, err := factory.New()
		in.FailAckStep, in.CorruptMessage = nil, nil // these are made for cases
		return in, err
	}}, search.Options{Sequences: 100})
}
