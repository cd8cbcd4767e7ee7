package faults

import (
	"fmt"
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/deadletter"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/replay"
	"github.com/durosim/durosim/memprovider"
)

// Tables holds the rules of a run. They are the correct rules, except for those replaced by the run's planted bugs.
// Tables must not be modified once made.
type Tables struct {
	// Provider is nil if no bug replaces a rule of the store.
	Provider    *memprovider.Rules
	Node        machine.Rules
	Replay      replay.Rules
	DeadLetters deadletter.Rules
	// Code, if not nil, returns what the code of a node's orchestrations gives in place of an output.
	Code func(output string) string
}

// NewTables returns the rules that all nodes follow if the bugs in on, and their companions, are switched on. It
// returns an error for an unknown id, and for a bug limited to one build or node.
func NewTables(on ...BugID) (*Tables, error) {
	for _, id := range on {
		if _, whose := id.On(); whose != "" {
			return nil, fmt.Errorf("bug %q is limited to one build or node", id)
		}
	}
	p, err := Plant("", on...)
	if err != nil {
		return nil, err
	}
	for i, id := range p.on {
		p.on[i], _ = id.On() // including bugs that are limited by default
	}
	return p.For("", ""), nil
}

// Planted holds the rules for each node and build in a run.
type Planted struct {
	on      []BugID // sorted, without duplicates
	profile string
	made    map[string]*Tables // keyed by the bugs that are on
}

// Plant returns the rules of a run in which the bugs in on, and their companions, are switched on. All other rules are
// the correct ones or, if profile is not empty, those of a release ([Profile]); a profile's switches act without
// companions. Plant returns an error for an unknown id, and for a store-wide bug limited to one build or node.
func Plant(profile string, on ...BugID) (*Planted, error) {
	p := &Planted{profile: profile, made: map[string]*Tables{}}
	for _, id := range on {
		b, ok := Lookup(id)
		if !ok {
			return nil, fmt.Errorf("unknown bug %q; simrun list bugs lists them all", id)
		}
		_, whose := id.On()
		if whose != "" && b.StoreWide {
			return nil, fmt.Errorf("bug %q affects the whole store and cannot be limited to one build or node", id)
		}
		if whose == "" && b.On != "" {
			id += BugID("@" + b.On)
		}
		p.on = append(p.on, id)
	}
	slices.Sort(p.on)
	p.on = slices.Compact(p.on)
	return p, nil
}

// For returns the rules that a node follows while it runs a build. Empty names mean the store itself and all callers
// other than nodes. The caller must not change the rules.
func (p *Planted) For(node, build string) *Tables {
	var on []BugID
	key := ""
	for _, id := range p.on {
		bug, whose := id.On()
		if whose == "" || whose == node || whose == build {
			on = append(on, bug)
			key += string(bug) + " "
		}
	}
	if t, ok := p.made[key]; ok {
		return t
	}
	t := newTables()
	for _, id := range on {
		b, _ := Lookup(id)
		for _, companion := range b.With {
			c, _ := Lookup(companion) // a test checks that the id is in the table
			t.apply(&c)
		}
		t.apply(&b)
	}
	var byOrigin []Bug
	for _, b := range Profile(p.profile) {
		switch {
		case slices.Contains(on, b.ID):
		case b.ForNew, b.ForOld && p.profile != "duroxide-0.1.26":
			byOrigin = append(byOrigin, b)
		default:
			t.apply(&b)
		}
	}
	if len(byOrigin) > 0 {
		t.Replay.ByOrigin = func(began *engine.Version, r *replay.Rules) {
			old := began == nil || began.Compare(discardsSince) < 0 || began.Compare(discardsSince) == 0 && began.Pre != ""
			for i := range byOrigin {
				if b := &byOrigin[i]; b.ForOld == old {
					b.replay(r)
				}
			}
		}
	}
	p.made[key] = t
	return t
}

// discardsSince is the first version whose executions have release 0.1.32's replay semantics
// (docs/contract/runtime.md#r15.2).
var discardsSince = engine.V(0, 1, 31)

func newTables() *Tables {
	return &Tables{Node: *machine.DefaultRules(), Replay: replay.DefaultRules(), DeadLetters: *deadletter.DefaultRules()}
}

func (t *Tables) apply(b *Bug) {
	if b.as != "" {
		same, _ := Lookup(b.as) // a test checks that the id is in the table
		b = &same
	}
	switch {
	case b.provider != nil:
		if t.Provider == nil {
			t.Provider = memprovider.DefaultRules()
		}
		b.provider(t.Provider)
	case b.replay != nil:
		b.replay(&t.Replay)
	case b.node != nil:
		b.node(&t.Node)
	case b.letters != nil:
		b.letters(&t.DeadLetters)
	case b.code != nil:
		t.Code = b.code
	}
}
