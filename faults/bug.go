package faults

import (
	"slices"
	"strings"

	"github.com/durosim/durosim/engine/deadletter"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/replay"
	"github.com/durosim/durosim/memprovider"
)

// BugID is the id of a planted bug: family, slash, name. An id never changes its meaning. In a plan, an id may be
// followed by @ and the name of a build or node, which limits the bug to that build or node.
type BugID string

// On splits an id into the bug and its scope, which is the name of a build or node. The scope is empty if the bug
// affects every node.
func (id BugID) On() (bug BugID, whose string) {
	name, whose, _ := strings.Cut(string(id), "@")
	return BugID(name), whose
}

// ProfileFamily is the prefix of every profile switch's id.
const ProfileFamily = "duroxide-0.1.26/"

// Bug is a row in the table of planted bugs. A planted bug is a deviation from the contract that can be switched on by
// its id. It replaces exactly one rule of the store, of a node or of a turn.
type Bug struct {
	ID BugID
	// Summary is one sentence, without the final period.
	Summary string
	// Source says where docs/contract describes the bug: a page and one or two anchors. Every profile switch has one.
	Source string
	// Properties lists ids of properties. If the bug is on, at least one of them is violated. Properties is empty if no
	// property catches the bug.
	Properties []string
	// Scenario is the built-in scenario that reveals the bug within 200 seeds.
	Scenario string
	// With lists the bugs to switch on together with this one. Without them the faulty rule is never reached: a second
	// line of defense is untested as long as the first one holds.
	With []BugID
	// On is the build to which the bug is limited unless a plan names another. If all builds had it, it would not be a
	// bug.
	On string
	// StoreWide marks a bug that cannot be limited to one build or node, because the store's indexes or its contents at
	// the start depend on its rule.
	StoreWide bool
	// Consequence, Fix and Unseen are set for a profile's switches only. They say how the bug affects users, how to fix
	// it, and why no property catches it.
	Consequence, Fix, Unseen string
	// Place is the faulty code in release 0.1.26: files and lines of its crate. Mended is the release that fixed the
	// bug, or "" if release 0.1.32 still has it. ForOld means that release 0.1.32 still has it for executions begun by
	// an older release. Place32 is the faulty code in release 0.1.32, if any.
	Place, Mended, Place32 string
	ForOld                 bool
	// Since is set if this is not a mistake but a deliberate difference from the contract. It names the first release
	// with that difference. ForNew limits it to executions begun by that release or a newer one.
	Since  string
	ForNew bool

	// One of the functions replaces the rule. If another row already replaces it under its own id, the field as names that
	// row instead.
	provider func(*memprovider.Rules)
	replay   func(*replay.Rules)
	node     func(*machine.Rules)
	letters  func(*deadletter.Rules)
	code     func(output string) string
	as       BugID
}

// Caught reports whether at least one property is known to catch the bug.
func (b *Bug) Caught() bool { return len(b.Properties) > 0 }

// InStore reports whether the bug, or one of its companions, replaces one of the store's rules.
func (b *Bug) InStore() bool {
	for _, id := range append([]BugID{b.ID}, b.With...) {
		row, _ := Lookup(id) // a test checks that the id is in the table
		if row.as != "" {
			row, _ = Lookup(row.as)
		}
		if row.provider != nil {
			return true
		}
	}
	return false
}

// Bugs returns all planted bugs in the order of the documentation. The caller owns the slice.
func Bugs() []Bug { return slices.Clone(table) }

// table is built once, because every run looks up bugs in it. It never changes.
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

// Catalogue returns all planted bugs that some property catches, sorted by id. The caller owns the slice.
func Catalogue() []Bug { return sorted(selected((*Bug).Caught)) }

func sorted(all []Bug) []Bug {
	slices.SortFunc(all, func(a, b Bug) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return all
}

// Profile returns all switches in a release's profile, sorted by id, whether or not a property catches them. The
// release is duroxide-0.1.26 or duroxide-0.1.32. The profile of 0.1.32 consists of the defects that it has not fixed,
// or has fixed only for new executions (ForOld), and of its deliberate differences from the contract (Since). The
// caller owns the slice.
func Profile(release string) []Bug {
	if release == "" {
		return nil // checked first, because every run calls Profile
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

// BugsOf returns all planted bugs that replace a rule in the given package ("memprovider", "engine/replay",
// "engine/machine" or "engine/deadletter") or code ("sim/workload"), whether or not a property catches them. Bugs with several ids are
// listed once. The caller owns the slice.
func BugsOf(owner string) []Bug { return selected(func(b *Bug) bool { return b.owner() == owner }) }

func (b *Bug) owner() string {
	switch {
	case b.provider != nil:
		return "memprovider"
	case b.replay != nil:
		return "engine/replay"
	case b.node != nil:
		return "engine/machine"
	case b.letters != nil:
		return "engine/deadletter"
	case b.code != nil:
		return "sim/workload"
	}
	return ""
}

// Lookup returns the bug with the given id, ignoring its scope, and whether there is one.
func Lookup(id BugID) (Bug, bool) {
	id, _ = id.On()
	if i := slices.IndexFunc(table, func(b Bug) bool { return b.ID == id }); i >= 0 {
		return table[i], true
	}
	return Bug{}, false
}
