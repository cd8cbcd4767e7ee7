package properties

import (
	"github.com/durosim/durosim/sim/cluster"
)

// Property describes one property. Ids are stable: violations, command lines and stored runs use them.
type Property struct {
	ID        string
	Name      string
	Class     cluster.Class
	Statement string // one sentence
}

// String returns the id and the name, such as "S01 filter-before-lock".
func (p Property) String() string { return p.ID + " " + p.Name }

// Catalogue returns the properties that a Monitor checks, in order of id: safety, then liveness.
func Catalogue() []Property {
	const s, l = cluster.ClassSafety, cluster.ClassLiveness
	return []Property{
		{"S01", "filter-before-lock", s, "A filtered fetch locks, marks and counts nothing of an instance whose current pin the filter excludes."},
		{"S02", "filter-before-deserialize", s, "A filtered fetch decodes no event of an instance whose current pin the filter excludes."},
		{"S03", "unpinned-is-compatible", s, "Unpinned work is offered to every filter but the empty one, which gets nothing."},
		{"S04", "attempt-count-exact", s, "Each delivery raises each message's count by one, only ignore_attempt lowers it, by one and not below zero, a batch shows the maximum, an undone fetch counts nothing, and input before a continue-as-new start counts only where the contract says so."},
		{"S05", "lock-exclusive", s, "An instance and a worker row have one live holder at most, and ack and renew succeed only for it, before expiry."},
		{"S06", "ack-atomic", s, "An ack does all that it says or nothing, whatever fails inside; so do abandon and renew, and they do nothing else. Stored bytes say what was said."},
		{"S07", "history-append-only", s, "Stored events never change, move or vanish but by deletion, pruning or an injected fault, and an ack reads no old event."},
		{"S08", "terminal-once", s, "An execution's terminal status never changes, and its history has one terminal event."},
		{"S09", "pin-fixed", s, "An execution's pin is the build of its first turn; it is never changed and never inherited."},
		{"S10", "routed-right", s, "Every committed turn, first turns and poison aside, was by a node whose filter admitted the pin when it fetched and whose build reads the history and has the execution's semantics."},
		{"S11", "replay-deterministic", s, "An ended execution's history, replayed on every build that runs it, gives the same actions."},
		{"S12", "message-conserved", s, "Every accepted message is queued, or consumed by one committed turn that saw it, or dropped by a named rule."},
		{"S13", "completion-once", s, "A schedule gets at most one completion, and none crosses executions."},
		{"S14", "no-resurrection", s, "What is deleted stays deleted, as a whole; pruning spares what is current or running, and takes the rest."},
		{"S15", "backoff-kept", s, "A delayed message or a timer is not delivered before its store time, and an abandon delays only what its token marked."},
		{"S16", "worker-routing", s, "A session has one owner at a time, tags are respected, and cancelled activities are gone."},
		{"S17", "state-model", s, "Key-value state, custom status and queue messages follow their model."},
		{"S18", "visible-error", s, "An undecodable history or message is reported as history_error, never as less."},
		{"S19", "lock-kept", s, "A live, unpaused, connected holder never loses its lock."},
		{"S20", "output-possible", s, "An instance's outcome is one that the direct interpreter of its program allows."},
		{"S21", "no-phantom-work", s, "No activity runs without a committed schedule."},
		{"S22", "work-conserving", s, "A fetch answers \"nothing\", or stays parked past its cadence, only while nothing is eligible for it."},
		{"S23", "pin-readable", s, "Every committed event is readable by the execution's pinned build."},
		{"S24", "turn-allowed", s, "What a node computes and commits is what the specification of a turn allows, given history, batch, and what the code asked for."},
		{"S25", "lease-whole", s, "A granted lock lasts for its timeout from the answer, however long the call waited in the store."},
		{"S26", "reads-true", s, "What the management surface tells of lists, histories, statistics and keys is what is stored, or an error."},
		{"S27", "strategy-kept", s, "What a node cannot run goes back with growing delays if it is bounced, and is ended by a sweeper or as a dead letter only after it has been blocked for long enough, with a cause."},
		{"S28", "node-by-its-rules", s, "What a node decides, asks for, logs and counts is what the specification of a node says, given what it was told."},
		{"L01", "poison-ends", l, "A message that some node keeps receiving and none runs leaves the queue by poison, within a bound."},
		{"L02", "healthy-finishes", l, "An instance that a live node runs reaches its end; an eternal loop reaches its next execution."},
		{"L03", "nobody-compatible-waits", l, "What no node admits stays Running, uncounted and unlocked, and goes on soon after one appears that does."},
		{"L04", "drain-ends", l, "Relief ends what waits for a build: once a node of it runs again, every stuck message leaves the queue."},
		{"L05", "no-false-poison", l, "Poison comes only after more than max_attempts chargeable deliveries, and never to work that a live node runs."},
		{"L06", "parent-told", l, "A child's end, of whatever kind, is enqueued to its parent once, for the execution that scheduled it."},
		{"L08", "locks-recover", l, "What a dead or stalled holder had is eligible again at its expiry."},
		{"L09", "upgrade-converges", l, "When all nodes run the highest build ever run, nothing is filtered any more and nothing waits for a build that is gone."},
		{"outcome", "as-planned", cluster.ClassPlan, "Every instance ends as the plan expects, whatever ends it: as completed, if the plan says nothing."},
		{"L10", "cancel-arrives", l, "A cancel ends its instance within the bound of the first node that admits it."},
		{"L11", "work-served", cluster.ClassPlan, "Every queued activity has a tag that some live node serves, once the cluster is calm."},
		{"L12", "poison-acts", l, "No message is delivered more than 10 times above max_attempts, whatever the contention, deliveries that a fault of their holder ended aside."},
		{"L13", "blocked-ends", l, "Where work that no node admits is not to wait, it ends, within a bound."},
	}
}

// ByID returns the property with the given id, and whether there is one.
func ByID(id string) (Property, bool) {
	for _, p := range Catalogue() {
		if p.ID == id {
			return p, true
		}
	}
	return Property{}, false
}
