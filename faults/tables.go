package faults

import (
	"fmt"
	"slices"

	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/replay"
	"github.com/durosim/durosim/internal/bugs"
	"github.com/durosim/durosim/memprovider"
)

// Tables are the rules of one run: the right ones, with what the run's seeded bugs replace. They are read only once they
// are made.
type Tables struct {
	Provider memprovider.Rules
	Node     node.Rules
	Replay   replay.Rules
	// WrongProvider says whether a bug has replaced a rule of the provider.
	WrongProvider bool
}

// NewTables fills the tables for a set of bugs. An unknown id is an error.
func NewTables(on ...BugID) (*Tables, error) {
	t := &Tables{Provider: *memprovider.DefaultRules(), Node: *node.DefaultRules(), Replay: replay.DefaultRules()}
	for _, id := range bugs.New(on...).IDs() {
		b, ok := Switch(id)
		if !ok {
			return nil, fmt.Errorf("unknown bug %q; simrun list bugs names them all", id)
		}
		for _, companion := range b.With {
			c, ok := Lookup(companion)
			if !ok {
				return nil, fmt.Errorf("bug %q needs %q, which is not in the catalogue", id, companion)
			}
			c.apply(t)
		}
		b.apply(t)
	}
	return t, nil
}

// Bug is an entry of the catalogue of seeded bugs: a deviation from the contract that can be switched on by its id, the
// properties that are expected to break, and the scenario that shows it.
type Bug struct {
	ID      BugID
	Summary string
	// Properties are the ids of which at least one is violated when the bug is on.
	Properties []string
	// Scenario is the built-in scenario that shows the bug.
	Scenario string
	// With are bugs that are switched on together with this one, because without them nothing reaches the rule: a
	// second line of defence is never asked as long as the first holds.
	With []BugID

	apply func(*Tables)
}

// offered is every bug that a rule table offers, with neither properties nor scenario; catalogue is what Catalogue gives.
// Each run looks bugs up, so both are made once and never change.
var (
	offered   = newOffered()
	catalogue = newCatalogue()
)

func newOffered() []Bug {
	var all []Bug
	for _, b := range memprovider.Bugs() {
		all = append(all, Bug{ID: b.ID, Summary: b.Summary, apply: func(t *Tables) { b.Apply(&t.Provider); t.WrongProvider = true }})
	}
	for _, b := range replay.Bugs() {
		all = append(all, Bug{ID: b.ID, Summary: b.Summary, apply: func(t *Tables) { b.Apply(&t.Replay) }})
	}
	for _, b := range node.Bugs() {
		all = append(all, Bug{ID: b.ID, Summary: b.Summary, apply: func(t *Tables) { b.Apply(&t.Node) }})
	}
	for _, s := range sharedSwitches() {
		i := slices.IndexFunc(all, func(b Bug) bool { return b.ID == s.is })
		all = append(all, Bug{ID: s.id, Summary: s.summary, apply: all[i].apply})
	}
	return all
}

// Catalogue is every seeded bug, in ascending order of id. The caller owns the slice.
func Catalogue() []Bug { return slices.Clone(catalogue) }

func newCatalogue() []Bug {
	var out []Bug
	for _, b := range offered {
		e, ok := expected(b.ID)
		if !ok {
			continue // not in this version's catalogue: no property is known to catch it yet
		}
		b.Properties, b.Scenario, b.With = e.properties, e.scenario, e.with
		out = append(out, b)
	}
	slices.SortFunc(out, func(a, b Bug) int {
		switch {
		case a.ID < b.ID:
			return -1
		case a.ID > b.ID:
			return 1
		}
		return 0
	})
	return out
}

// Lookup is the catalogue's entry of an id.
func Lookup(id BugID) (Bug, bool) {
	for _, b := range catalogue {
		if b.ID == id {
			return b, true
		}
	}
	return Bug{}, false
}
