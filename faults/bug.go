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
// or node may follow, which limits the bug to that build or node.
type BugID string

// On splits an id into the bug and its scope: the name of a build or node, empty for every node.
func (id BugID) On() (bug BugID, whose string) {
	name, whose, _ := strings.Cut(string(id), "@")
	return BugID(name), whose
}

// ProfileFamily begins the id of every profile switch.
const ProfileFamily = "duroxide-0.1.26/"

// Bug is a row of the table of planted bugs: a deviation from the contract that can be switched on by its id. It replaces
// exactly one rule of the store, of a node or of a turn.
type Bug struct {
	ID BugID
	// Summary is one sentence without its full stop.
	Summary string
	// Source names where docs/contract describes the bug: a page and one or two anchors. Every profile switch has one.
	Source string
	// Properties are ids of properties. At least one of them is violated when the bug is on. It is empty if no property
	// catches the bug.
	Properties []string
	// Scenario is the built-in scenario that shows the bug within 200 seeds.
	Scenario string
	// With are the bugs to switch on together with this one, because without them nothing reaches the rule: a second
	// line of defence is never tested while the first one holds.
	With []BugID
	// On is the build to which the bug is limited unless a plan names another: in all builds at once it would not be a
	// bug.
	On string
	// StoreWide marks a bug that cannot be limited to one build or node, since the store's indexes depend on the rule.
	StoreWide bool
	// For a switch of a profile, Consequence describes its effect on a user, Fix how to repair it, and Unseen why no
	// property catches it. Other rows leave them empty.
	Consequence, Fix, Unseen string
	// Place is the faulty code of release 0.1.26: files and lines of its crate. Mended is the release that fixed it,
	// empty if release 0.1.32 still has the bug. ForOld means that release 0.1.32 still has it for executions that an
	// older release began. Place32 is the faulty code of release 0.1.32, if any.
	Place, Mended, Place32 string
	ForOld                 bool
	// Since is set if this is not a mistake but a decision that differs from the contract's: the first release that
	// made it. ForNew limits it to executions that this release or a newer one began.
	Since  string
	ForNew bool

	// One of these replaces the rule. as names another row that already replaces it under its own id.
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
		row, _ := Lookup(id) // a test checks that the table has it
		if row.as != "" {
			row, _ = Lookup(row.as)
		}
		if row.provider != nil {
			return true
		}
	}
	return false
}

// Bugs returns every planted bug, in the order of the documentation. The caller owns the slice.
func Bugs() []Bug { return slices.Clone(table) }

// table is built once, because every run looks bugs up in it, and never changes.
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
// it or not, in ascending order of id. The profile of 0.1.32 has the defects that it has not fixed, or has fixed only
// for new executions (ForOld), and its decisions that differ from the contract (Since). The caller owns the slice.
func Profile(release string) []Bug {
	if release == "" {
		return nil // every run calls this
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
// "internal/machine" or "internal/deadletter"), whether or not a property catches it, each under one id. The caller
// owns the slice.
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
