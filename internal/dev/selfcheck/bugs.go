package selfcheck

import (
	"slices"

	"github.com/durosim/durosim/faults"
)

// shownIn lists the planted bugs that no property catches in a built-in scenario, each with the scenario in which a check
// catches it within 200 seeds. They are sorted by ID.
var shownIn = []struct {
	id              faults.BugID
	scenario, check string
}{
	{"duroxide-0.1.26/worker-ack-not-retried", "refused-acks", NodeByItsRules},
	{"engine/call-deadline-of-client", "mixed-crashes", NodeByItsRules},
	{"engine/children-outlive", "programs", TurnAllowed},
	{"engine/drain-keeps-fetches", "rolling-upgrade", NodeByItsRules},
	{"engine/drain-keeps-pauses", "drained-outage", NodeByItsRules},
	{"engine/emulator-writes-newer", "two-phase", TurnAllowed},
	{"engine/failed-ack-returned-at-once", "refused-acks", NodeByItsRules},
	{"engine/failure-unstamped", "families", TurnAllowed},
	{"engine/idle-fetch-not-paused", "sessions", NodeByItsRules},
	{"engine/key-read-not-retried", "lost-requests", NodeByItsRules},
	{"engine/open-waits-unrecorded", "rolling-upgrade", TurnAllowed},
	{"engine/panic-place-lost", "mischief", TurnAllowed},
	{"engine/plain-fetch-waits", "sessions", NodeByItsRules},
	{"engine/poll-limit-counts-replay", StrayMessages, TurnAllowed},
	{"engine/poll-limit-missing", StrayMessages, TurnAllowed},
	{"engine/replay-ignores-inputs", StrayMessages, TurnAllowed},
	{"engine/replaying-never", "features", TurnAllowed},
	{"engine/replaying-whole-turn", "features", TurnAllowed},
	{"engine/session-owner-without-node", "sessions", NodeByItsRules},
	{"engine/session-renewed-for-first", "sessions", NodeByItsRules},
	{"engine/traces-of-end-lost", "mischief", NodeByItsRules},
}

// StrayMessages is the scenario of package stray.
const StrayMessages = "stray-messages"

// Catalogue is like faults.Catalogue, with the bugs that only a check of durosim itself catches: these have it as their
// property, and the scenario that reveals them.
func Catalogue() []faults.Bug {
	list := faults.Catalogue()
	for _, s := range shownIn {
		bug, _ := faults.Lookup(s.id) // a test checks that the ID is in the table
		bug.Properties, bug.Scenario = []string{s.check}, s.scenario
		list = append(list, bug)
	}
	return list
}

// Lookup returns the bug of Catalogue with the given ID, and whether there is one.
func Lookup(id faults.BugID) (faults.Bug, bool) {
	list := Catalogue()
	if i := slices.IndexFunc(list, func(b faults.Bug) bool { return b.ID == id }); i >= 0 {
		return list[i], true
	}
	return faults.Bug{}, false
}
