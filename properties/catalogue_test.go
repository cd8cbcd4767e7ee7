package properties

import (
	"strings"
	"testing"

	"github.com/durosim/durosim/properties/internal/safety"
)

func TestCatalogueKnowsTheCheckers(t *testing.T) {
	last := ""
	for _, p := range Catalogue() {
		if got, ok := ByID(p.ID); !ok || got != p {
			t.Errorf("ByID(%q) = %v, %t", p.ID, got, ok)
		}
		if last != "" && last[0] == p.ID[0] && last >= p.ID {
			t.Errorf("%s comes after %s", p.ID, last)
		}
		last = p.ID
		if p.Name == "" || !strings.HasSuffix(p.Statement, ".") {
			t.Errorf("%s has no name or no sentence", p.ID)
		}
	}
	for _, id := range safety.IDs() {
		if _, ok := ByID(id); !ok {
			t.Errorf("%s is checked and not in the catalogue", id)
		}
	}
	if _, ok := ByID("S99"); ok {
		t.Error("ByID finds S99")
	}
}
