package faults

import (
	"slices"
	"strings"

	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/replay"
	"github.com/durosim/durosim/internal/storerules"
)

// BugID names a planted bug: family, slash, name. An id keeps its meaning for ever. In a plan, @ and the name of a build or
// of a node may follow: then the bug is only theirs.
type BugID string

// On splits an id into the bug and whose it is: the name of a build or of a node, empty for everybody.
func (id BugID) On() (bug BugID, whose string) {
	name, whose, _ := strings.Cut(string(id), "@")
	return BugID(name), whose
}

// ProfileFamily is what the ids of the switches of the profiles begin with.
const ProfileFamily = "duroxide-0.1.26/"

// Bug is a row of the table of planted bugs: a deviation from the contract that can be switched on by its id. It replaces
// exactly one rule of the store, of a node or of a turn.
type Bug struct {
	ID BugID
	// Summary is one sentence without its full stop.
	Summary string
	// Source is the place in docs/contract that says what the bug does, as a page and an anchor or two; every switch of
	// the profile has one.
	Source string
	// Properties are the ids of which at least one is violated when the bug is on; empty for what no property catches.
	Properties []string
	// Scenario is the built-in scenario that shows the bug, within 200 seeds.
	Scenario string
	// With are bugs that are switched on together with this one, because without them nothing reaches the rule: a
	// second line of defence is never asked as long as the first holds.
	With []BugID
	// StoreWide says that the bug cannot be one build's or one node's, since the store keeps its indexes by the rule.
	StoreWide bool
	// Consequence is what a switch of the profile means to a user, Fix what mends it, and Unseen why no property catches
	// it. Other rows have none of them.
	Consequence, Fix, Unseen string
	// Place is where release 0.1.26 does it, files and lines of its crate. Mended is the release that mended it, empty while
	// release 0.1.32 still does it; with ForOld that release still does it for executions that an older one began.
	Place, Mended string
	ForOld        bool

	// One of these replaces the rule: as is the row that replaces it under another id.
	provider func(*storerules.Rules)
	replay   func(*replay.Rules)
	node     func(*node.Rules)
	as       BugID
}

// Caught says whether some property is known to catch the bug.
func (b *Bug) Caught() bool { return len(b.Properties) > 0 }

// Bugs is every planted bug, in the order in which to read them. The caller owns the slice.
func Bugs() []Bug { return slices.Clone(table) }

// table is made once, because each run looks bugs up, and never changes.
var table = slices.Concat(
	fetchBugs(), ackBugs(), sessionBugs(), deleteBugs(), turnBugs(), nodeBugs(),
	turnSwitches(), stateSwitches(), familySwitches(), unseenSwitches(),
)

func selected(want func(*Bug) bool) []Bug {
	return slices.DeleteFunc(Bugs(), func(b Bug) bool { return !want(&b) })
}

// Catalogue is every planted bug that some property catches, in ascending order of id. The caller owns the slice.
func Catalogue() []Bug { return sorted(selected((*Bug).Caught)) }

func sorted(all []Bug) []Bug {
	slices.SortFunc(all, func(a, b Bug) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return all
}

// Profile is every switch of the profile of a release, duroxide-0.1.26 or duroxide-0.1.32, whether a property catches it or
// not, in ascending order of id. The profile of 0.1.32 has what that release does to every execution, and not what it
// keeps for those that an older one began. The caller owns the slice.
func Profile(release string) []Bug {
	return sorted(selected(func(b *Bug) bool {
		return strings.HasPrefix(string(b.ID), ProfileFamily) && (release == "duroxide-0.1.26" || release == "duroxide-0.1.32" && b.Mended == "")
	}))
}

// BugsOf is every planted bug that replaces a rule of that package ("memprovider", "engine/replay" or "engine/node"),
// whether a property catches it or not, each under one id. The caller owns the slice.
func BugsOf(owner string) []Bug { return selected(func(b *Bug) bool { return b.owner() == owner }) }

func (b *Bug) owner() string {
	switch {
	case b.provider != nil:
		return "memprovider"
	case b.replay != nil:
		return "engine/replay"
	case b.node != nil:
		return "engine/node"
	}
	return ""
}

// Lookup is the row of an id, whosever the bug is.
func Lookup(id BugID) (Bug, bool) {
	id, _ = id.On()
	if i := slices.IndexFunc(table, func(b Bug) bool { return b.ID == id }); i >= 0 {
		return table[i], true
	}
	return Bug{}, false
}
