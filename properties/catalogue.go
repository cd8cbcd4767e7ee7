package properties

import (
	"slices"

	"github.com/durosim/durosim/properties/internal/expect"
	"github.com/durosim/durosim/properties/internal/secondjudge"
	"github.com/durosim/durosim/sim/cluster"
)

// Property describes one property. IDs are stable, since violations, command lines and stored runs refer to them.
type Property struct {
	ID        string
	Name      string
	Class     cluster.Class
	Statement string // one sentence
}

// String returns the ID and the name, such as "S01 filter-before-lock".
func (p Property) String() string { return p.ID + " " + p.Name }

// OfSecondJudge returns the IDs of the properties that only the second judge judges, in the runs that it watches
// (Options.SecondJudge).
func OfSecondJudge() []string { return secondjudge.Alone() }

// Catalogue returns the properties that a Monitor checks, sorted by ID: first safety, then liveness.
func Catalogue() []Property {
	const s, l = cluster.ClassSafety, cluster.ClassLiveness
	return []Property{
		{"S01", "filter-before-lock", s, "A filtered fetch locks, marks and counts nothing of an instance whose current pin the filter excludes."},
		{"S02", "filter-before-deserialize", s, "A filtered fetch decodes no event of an instance whose current pin the filter excludes."},
		{"S03", "unpinned-is-compatible", s, "Unpinned work is offered to every filter but the empty one, which gets nothing."},
		{"S04", "attempt-count-exact", s, "Each delivery raises the count of each of its messages by one; only ignore_attempt lowers a count, by one and not below zero; a batch shows the maximum; an undone fetch counts nothing; input before a continue-as-new start counts only where the contract says so."},
		{"S05", "lock-exclusive", s, "An instance and a worker row have at most one live holder, and ack and renew succeed only for it, before expiry."},
		{"S06", "ack-atomic", s, "An ack, an abandon and a renewal take effect as a whole or not at all, whatever fails inside, and do nothing else. What is stored is what the caller gave."},
		{"S07", "history-append-only", s, "Stored events never change, move or vanish, except by deletion, pruning or an injected fault, and an ack decodes no old event."},
		{"S08", "terminal-once", s, "An execution's terminal status never changes, and its history has one terminal event."},
		{"S09", "pin-fixed", s, "An execution's pin is the build that ran its first turn; it never changes and is never inherited."},
		{"S10", "routed-right", s, "Every committed turn, except first turns and poison, comes from a node whose filter admitted the pin at the fetch and whose build reads the history and has the execution's semantics."},
		{"S11", "replay-deterministic", s, "An ended execution's history, replayed on every build that runs it, gives the same actions."},
		{"S12", "message-conserved", s, "Every accepted message is queued, or consumed by one committed turn that saw it, or dropped by a named rule."},
		{"S13", "completion-once", s, "A schedule gets at most one completion, and none crosses executions."},
		{"S14", "no-resurrection", s, "A deletion removes the whole instance for good; pruning removes executions that are neither current nor running, and nothing else."},
		{"S15", "backoff-kept", s, "A delayed message or a timer is not delivered before its store time, and an abandon delays only what its token marked."},
		{"S16", "worker-routing", s, "A session has one owner at a time, tags are respected, and cancelled activities disappear. A node holds at most max_sessions_per_runtime sessions."},
		{"S17", "state-model", s, "Key-value state, custom status and queue messages follow their model."},
		{"S18", "visible-error", s, "An undecodable history or message is reported as history_error, never passed over in silence."},
		{"S19", "lock-kept", s, "A live, unpaused, connected holder never loses its lock."},
		{"S20", "output-possible", s, "An instance's outcome is one that the direct interpreter of its program allows."},
		{"S21", "no-phantom-work", s, "No activity runs without a committed schedule."},
		{"S22", "work-conserving", s, "A fetch returns nothing, or stays parked past its cadence, only while nothing is eligible for it."},
		{"S23", "pin-readable", s, "Every committed event is readable by the execution's pinned build."},
		{"S25", "lease-whole", s, "A granted lock lasts for its full timeout, counted from the answer, however long the call waited in the store."},
		{"S26", "reads-true", s, "Lists, histories, statistics and keys that the management calls return agree with what is stored, or the call fails."},
		{"S27", "strategy-kept", s, "What a node cannot run is bounced with growing delays, or ended by a sweeper or as a dead letter, with a cause, only if blocked long enough; what fetches admit is left alone."},
		{"S29", "output-kept", cluster.ClassPlan, "An ended execution's history, replayed with the code that another build has under the same version, gives the same output."},
		{"S30", "schema-kept", s, "The store's schema changes only by a whole migration, one at a time, and no node works with a schema that its build cannot work with; nobody runs a build that is yet to be activated, or starts as an older one afterwards."},
		{"L01", "poison-ends", l, "A message that nodes keep receiving and cannot run leaves the queue as poison, within a bound."},
		{"L02", "healthy-finishes", l, "An instance that a live node runs reaches its end; an eternal loop reaches its next execution."},
		{"L03", "nobody-compatible-waits", l, "An instance that no node admits stays Running, uncounted and unlocked, and continues soon after a node appears that admits it."},
		{"L04", "drain-ends", l, "Rescue ends every wait for a build: once a node runs that build again, every stuck message leaves the queue."},
		{"L05", "no-false-poison", l, "Poison comes only after more than max_attempts chargeable deliveries, and never to work that every node that gets it runs."},
		{"L06", "parent-told", l, "The end of a child, however it ends, is enqueued for its parent once, for the execution that scheduled the child."},
		{"L08", "locks-recover", l, "Work that a dead or stalled node holds is eligible again when its lock expires."},
		{"L09", "upgrade-converges", l, "When all nodes run the highest build that was ever run, filters exclude no work, and no work waits for a build that is gone."},
		{"outcome", "as-planned", cluster.ClassPlan, "Every instance ends as the plan expects, whatever ends it; one about which the plan says nothing completes, one that code starts by itself may also fail. Code waits for each event that the plan raises."},
		{"L10", "cancel-arrives", l, "A cancel ends its instance within the bound of the first node that admits it."},
		{"L11", "work-served", cluster.ClassPlan, "Every queued activity has a tag that some live node serves, once faults are over."},
		{"L12", "poison-acts", l, "No message is delivered more than max_attempts + 10 times, whatever the contention, apart from deliveries that a fault of their holder ended."},
		{"L13", "blocked-ends", l, "Under a strategy that does not let work wait, work that no node admits ends within a bound."},
	}
}

// Others returns the IDs under which runs report what no property of the Catalogue is about: broken expectations, the code
// under test, and the store of another program.
func Others() []string {
	return []string{
		expect.ID, "handler-deterministic", cluster.PropertyHandlerPanics, cluster.PropertyHandlerReturns, cluster.PropertyProvider, cluster.PropertyRunEnds,
		"store-follows",
	}
}

// ofSelfChecks lists the IDs under which checks of durosim itself report.
var ofSelfChecks = []string{"S24", "S28", "shadow"}

// Reported tells whether durosim reports violations under the ID by itself: for a property of the Catalogue, for one of
// Others, or for a check of durosim. Any other ID is that of a rule of the caller's.
func Reported(id string) bool {
	_, known := ByID(id)
	return known || slices.Contains(Others(), id) || slices.Contains(ofSelfChecks, id)
}

// ByID returns the property with the given ID and reports whether it exists.
func ByID(id string) (Property, bool) {
	for _, p := range Catalogue() {
		if p.ID == id {
			return p, true
		}
	}
	return Property{}, false
}
