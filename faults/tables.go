package faults

import (
	"fmt"
	"slices"

	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/replay"
	"github.com/durosim/durosim/internal/storerules"
)

// Tables are the rules of one run: the right ones, with what the run's planted bugs replace. They are read only once they
// are made.
type Tables struct {
	// Provider is nil if no bug has replaced a rule of the store.
	Provider *storerules.Rules
	Node     node.Rules
	Replay   replay.Rules
}

// NewTables makes the rules with these bugs, and with the companions that they need. An unknown id is an error.
func NewTables(on ...BugID) (*Tables, error) {
	t := &Tables{Node: *node.DefaultRules(), Replay: replay.DefaultRules()}
	for _, id := range slices.Compact(slices.Sorted(slices.Values(on))) {
		b, ok := Lookup(id)
		if !ok {
			return nil, fmt.Errorf("unknown bug %q; simrun list bugs names them all", id)
		}
		for _, companion := range b.With {
			c, ok := Lookup(companion)
			if !ok {
				return nil, fmt.Errorf("bug %q needs %q, which is not in the table", id, companion)
			}
			t.apply(&c)
		}
		t.apply(&b)
	}
	return t, nil
}

// ProfileTables makes the rules of profile duroxide-0.1.26, with these bugs beside it. The switches act without the
// companions that some need to be seen alone.
func ProfileTables(on ...BugID) (*Tables, error) {
	t, err := NewTables(on...)
	if err != nil {
		return nil, err
	}
	for _, b := range Profile() {
		if !slices.Contains(on, b.ID) {
			t.apply(&b)
		}
	}
	return t, nil
}

func (t *Tables) apply(b *Bug) {
	if b.as != "" {
		same, _ := Lookup(b.as) // a test holds that it is in the table
		b = &same
	}
	switch {
	case b.provider != nil:
		if t.Provider == nil {
			t.Provider = storerules.Default()
		}
		b.provider(t.Provider)
	case b.replay != nil:
		b.replay(&t.Replay)
	case b.node != nil:
		b.node(&t.Node)
	}
}
