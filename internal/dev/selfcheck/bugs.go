package selfcheck

import (
	"slices"

	"github.com/durosim/durosim/faults"
)

// shownIn lists the planted bugs that no property catches, but S28 does, each with the built-in scenario that reveals it
// within 200 seeds. They are sorted by ID.
var shownIn = []struct {
	id       faults.BugID
	scenario string
}{
	{"duroxide-0.1.26/worker-ack-not-retried", "refused-acks"},
	{"engine/call-deadline-of-client", "mixed-crashes"},
	{"engine/drain-keeps-fetches", "rolling-upgrade"},
	{"engine/drain-keeps-pauses", "drained-outage"},
	{"engine/failed-ack-returned-at-once", "refused-acks"},
	{"engine/idle-fetch-not-paused", "sessions"},
	{"engine/key-read-not-retried", "lost-requests"},
	{"engine/plain-fetch-waits", "sessions"},
	{"engine/session-owner-without-node", "sessions"},
	{"engine/session-renewed-for-first", "sessions"},
	{"engine/traces-of-end-lost", "mischief"},
}

// Catalogue is like faults.Catalogue, with the bugs that only S28 catches: these have it as their property, and the
// scenario that reveals them.
func Catalogue() []faults.Bug {
	list := faults.Catalogue()
	for _, s := range shownIn {
		bug, _ := faults.Lookup(s.id) // a test checks that the ID is in the table
		bug.Properties, bug.Scenario = []string{NodeByItsRules}, s.scenario
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
