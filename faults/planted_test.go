package faults

import (
	"slices"
	"strings"
	"testing"

	"github.com/durosim/durosim/internal/sample"
)

// TestPlantedFor checks that a bug of a build or of a node affects only that one, and any other bug affects all.
func TestPlantedFor(t *testing.T) {
	p := sample.Must(Plant("", "engine/cancel-ignored@1.5.0", "provider/filter-ignored@B", "engine/count-ignored"))(t)
	right := tablesOf(t)
	for _, tc := range []struct{ node, build, want string }{
		{"", "", "Node.ExceedsMaxAttempts"},
		{"A", "1.5.0", "Node.ExceedsMaxAttempts Replay.CancelEnds"},
		{"A", "2.0.0", "Node.ExceedsMaxAttempts"},
		{"B", "1.5.0", "Provider.Admits Node.ExceedsMaxAttempts Replay.CancelEnds"},
	} {
		if got := strings.Join(changed(right, p.For(tc.node, tc.build)), " "); got != tc.want {
			t.Errorf("node %q, build %q: replaced %s, want %s", tc.node, tc.build, got, tc.want)
		}
	}
}

// TestStoreWide checks that rules on which the store's indexes or its start depend cannot belong to one build, and all others can.
func TestStoreWide(t *testing.T) {
	right := tablesOf(t)
	indexed := []string{"Provider.Pin", "Provider.SeesLock", "Provider.IsOrphan", "Provider.SessionOwned", "Provider.RestoresStatus"}
	for _, b := range Bugs() {
		alone := newTables()
		alone.apply(&b)
		rule := changed(right, alone)[0]
		// The table of dead letters belongs to no node.
		if want := slices.Contains(indexed, rule) || strings.HasPrefix(rule, "DeadLetters."); b.StoreWide != want {
			t.Errorf("%s is store-wide: %v, want %v", b.ID, b.StoreWide, want)
		}
		if _, err := Plant("", b.ID+"@1.5.0"); (err != nil) != b.StoreWide {
			t.Errorf("%s on 1.5.0: %v", b.ID, err)
		}
	}
	if _, err := NewTables("engine/cancel-ignored@1.5.0"); err == nil {
		t.Error("tables for everybody take a bug of one build")
	}
}
