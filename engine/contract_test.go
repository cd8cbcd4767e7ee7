package engine_test

import (
	"strings"
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/sample"
)

// TestContractOfABuild checks that a build keeps its own settings, a released one all of them, and that the contract
// fills in the others.
func TestContractOfABuild(t *testing.T) {
	newest := sample.Must(engine.ContractOf("0.1.32"))(t)
	shipped, released := engine.ShippedBuilds(), engine.ReleasedBuilds()
	for _, b := range released {
		if newest.Build(b) != b {
			t.Errorf("released build %s is changed", b.Name())
		}
	}
	plain := newest.Build(shipped[1])
	stamp := engine.V(1, 5, 0)
	if plain.Bounds() != newest.Limits || !plain.OwnChildIDs || !plain.CountsWaiting || plain.SemanticsOf(&stamp) != engine.SemanticsDiscard {
		t.Errorf("%s by the contract of %s: %+v", plain.Name(), newest.Release, plain)
	}
	if old := engine.V(0, 1, 30); plain.SemanticsOf(&old) != engine.SemanticsStandard {
		t.Error("what a build before the threshold began has the semantics from it on")
	}
	if shipped[1].OwnChildIDs || shipped[1].Limits != (engine.Limits{}) {
		t.Error("the shipped build itself is changed")
	}
	own := *shipped[1]
	own.Limits.Keys, own.Semantics = 7, engine.SemanticsEagerTimers
	made := newest.Build(&own)
	if made.Limits.Keys != 7 || made.Limits.ValueBytes != newest.Limits.ValueBytes || made.SemanticsOf(&stamp) != engine.SemanticsEagerTimers {
		t.Errorf("limits %+v and semantics %v of a build that has its own", made.Limits, made.SemanticsOf(&stamp))
	}
}

func TestContractOfUnknown(t *testing.T) {
	if _, err := engine.ContractOf("0.1.27"); err == nil || !strings.Contains(err.Error(), "want 0.1.26 or 0.1.32") {
		t.Errorf("the contract of 0.1.27: %v", err)
	}
}
