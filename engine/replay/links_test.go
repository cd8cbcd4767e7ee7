package replay

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/engine"
)

// TestLinkOf checks that a link without the parent's execution takes it from the provider, if the provider's link names
// the same schedule.
func TestLinkOf(t *testing.T) {
	told := &engine.ParentLink{Instance: "p", ExecutionID: 3, EventID: 7}
	for _, c := range []struct {
		instance         string
		execution, event uint64
		want             *engine.ParentLink
	}{
		{"", 0, 0, nil},
		{"p", 2, 7, &engine.ParentLink{Instance: "p", ExecutionID: 2, EventID: 7}},
		{"p", 0, 7, told},
		{"p", 0, 8, &engine.ParentLink{Instance: "p", ExecutionID: 1, EventID: 8}},
		{"q", 0, 7, &engine.ParentLink{Instance: "q", ExecutionID: 1, EventID: 7}},
	} {
		if d := cmp.Diff(c.want, LinkOf(c.instance, c.execution, c.event, told)); d != "" {
			t.Errorf("LinkOf(%q, %d, %d) differs (-want +got):\n%s", c.instance, c.execution, c.event, d)
		}
	}
}

func TestChildInstance(t *testing.T) {
	if childInstance("p", "own") != "own" || childInstance("p", "sub::6") != "p::sub::6" {
		t.Error("an id of a child is wrong")
	}
}
