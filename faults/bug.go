package faults

import (
	"slices"
	"strings"

	"github.com/durosim/durosim/internal/deadletter"
	"github.com/durosim/durosim/internal/machine"
	"github.com/durosim/durosim/internal/replay"
	"github.com/durosim/durosim/internal/storerules"
)

// BugID names a planted bug: family, slash, name. An id never changes its meaning. In a plan, @ and the name of a build
// or node may follow, which limits the bug to it.
type BugID string

// On splits an id into the bug and its scope: the name of a build or node, empty if every node has the bug.
func (id BugID) On() (bug BugID, whose string) {
	name, whose, _ := strings.Cut(string(id), "@")
	return BugID(name), whose
}

// ProfileFamily is the prefix of the ids of all profile switches.
const ProfileFamily = "duroxide-0.1.26/"

// Bug is a row of the table of planted bugs: a deviation from the contract that can be switched on by its id. It replaces
// exactly one rule of the store, of a node or of a turn.
type Bug struct {
	ID BugID
	// Summary is one sentence without its full stop.
	Summary string
	// Source is the place in docs/contract that describes the bug, as a page and an anchor or two; every switch of a
	// profile has one.
	Source string
	// Properties are the ids of the properties, at least one of which is violated when the bug is on; empty if no
	// property catches it.
	Properties []string
	// Scenario is the built-in scenario that shows the bug, within 200 seeds.
	Scenario string
	// With are the bugs to switch on together with this one, because without them nothing reaches the rule: a second
	// line of defence is never tested while the first one holds.
	With []BugID
	// On is the build to which the bug is limited where a plan names no other: everywhere at once it would be no bug.
	On string
	// StoreWide marks a bug that cannot be limited to one build or node, since the store keeps its indexes by the rule.
	StoreWide bool
	// For a switch of a profile, Consequence describes its effect on a user, Fix how to repair it, and Unseen why no
	// property catches it. Other rows leave them empty.
	Consequence, Fix, Unseen string
	// Place is the code of release 0.1.26 that does it: files and lines of its crate. Mended is the release that fixed
	// it, empty if release 0.1.32 still does it; with ForOld, release 0.1.32 still does it for executions that an older
	// release began. Place32 is the code of release 0.1.32, where that still does it.
	Place, Mended, Place32 string
	ForOld                 bool
	// Since is the release that decided so, where it is another decision than the contract's and no mistake; with ForNew
	// only for executions that it or a newer release began.
	Since  string
	ForNew bool

	// One of these replaces the rule; as names another row that already does so under its own id.
	provider func(*storerules.Rules)
	replay   func(*replay.Rules)
	node     func(*machine.Rules)
	letters  func(*deadletter.Rules)
	as       BugID
}

// Caught reports whether some property is known to catch the bug.
func (b *Bug) Caught() bool { return len(b.Properties) > 0 }

// InStore reports whether the bug, or one that is switched on with it, replaces a rule of the store.
func (b *Bug) InStore() bool {
	for _, id := range append([]BugID{b.ID}, b.With...) {
		row, _ := Lookup(id) // a test holds that it is in the table
		if row.as != "" {
			row, _ = Lookup(row.as)
		}
		if row.provider != nil {
			return true
		}
	}
	return false
}

// Bugs returns every planted bug, in reading order. The caller owns the slice.
func Bugs() []Bug { return slices.Clone(table) }

// table is made once, because each run looks bugs up, and never changes.
var table = slices.Concat(
	fetchBugs(), ackBugs(), storeBugs(), insideBugs(), sessionBugs(), deleteBugs(), turnBugs(), endBugs(), nodeBugs(), strategyBugs(),
	turnSwitches(), stateSwitches(), familySwitches(), unseenSwitches(),
)

func selected(want func(*Bug) bool) []Bug {
	var list []Bug
	for i := range table {
		if want(&table[i]) {
			list = append(list, table[i])
		}
	}
	return list
}

// Catalogue returns every planted bug that some property catches, in ascending order of id. The caller owns the slice.
func Catalogue() []Bug { return sorted(selected((*Bug).Caught)) }

func sorted(all []Bug) []Bug {
	slices.SortFunc(all, func(a, b Bug) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return all
}

// Profile returns every switch of the profile of a release, duroxide-0.1.26 or duroxide-0.1.32, whether a property catches
// it or not, in ascending order of id. The profile of 0.1.32 holds the defects that it has not mended, or not for executions
// that an older release began (ForOld), and its decisions that differ from the contract (Since). The caller owns the slice.
func Profile(release string) []Bug {
	if release == "" {
		return nil // each run asks
	}
	return sorted(selected(func(b *Bug) bool {
		switch own := strings.HasPrefix(string(b.ID), ProfileFamily); release {
		case "duroxide-0.1.26":
			return own
		case "duroxide-0.1.32":
			return own && (b.Mended == "" || b.ForOld) || b.Since != ""
		}
		return false
	}))
}

// BugsOf returns every planted bug that replaces a rule of that package ("memprovider", "internal/replay",
// "internal/machine" or "internal/deadletter"), whether a property catches it or not, each under one id. The caller owns the slice.
func BugsOf(owner string) []Bug { return selected(func(b *Bug) bool { return b.owner() == owner }) }

func (b *Bug) owner() string {
	switch {
	case b.provider != nil:
		return "memprovider"
	case b.replay != nil:
		return "internal/replay"
	case b.node != nil:
		return "internal/machine"
	case b.letters != nil:
		return "internal/deadletter"
	}
	return ""
}

// Lookup returns the bug with that id, whatever its scope, and whether there is one.
func Lookup(id BugID) (Bug, bool) {
	id, _ = id.On()
	if i := slices.IndexFunc(table, func(b Bug) bool { return b.ID == id }); i >= 0 {
		return table[i], true
	}
	return Bug{}, false
}
