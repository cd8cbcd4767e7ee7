package faults

import (
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/orchhost"
	"github.com/durosim/durosim/engine/replay"
)

// endBugs returns the bugs in what turns and nodes send: to parents, children, detached starts and the provider.
func endBugs() []Bug {
	return []Bug{
		{ID: "engine/child-result-as-failure", Summary: "a child that completes reports a failure without an error to its parent",
			Properties: []string{"L05"}, Scenario: families,
			replay: func(r *replay.Rules) { r.AnswersResult = func(replay.Result) bool { return false } }},
		{ID: "engine/failure-not-told", Summary: "a child reports only its completion to its parent",
			Properties: []string{"L06"}, Scenario: families,
			replay: func(r *replay.Rules) {
				r.TellsParent = func(end replay.Result) bool { return end == replay.ResultCompleted }
			}},
		{ID: "engine/detached-lost", Summary: "a detached start is recorded and not enqueued",
			Properties: []string{"S11"}, Scenario: programs,
			replay: func(r *replay.Rules) { r.StartsDetached = func(replay.Result) bool { return false } }},
		{ID: "engine/children-outlive", Summary: "the end of an execution does not cancel children that are still running",
			replay: func(r *replay.Rules) { r.CancelsChildren = func(replay.Result, bool) bool { return false } }},
		{ID: "engine/child-of-next-event", Summary: "the start of a child names the event after the one that scheduled it",
			Properties: []string{"L06"}, Scenario: families,
			replay: func(r *replay.Rules) {
				r.ChildsParent = func(own engine.ParentLink) engine.ParentLink {
					own.EventID++
					return own
				}
			}},
		{ID: "engine/carry-forward-drops-newest", Summary: "the newest unread queue message does not cross a continue-as-new",
			Properties: []string{"S17"}, Scenario: features,
			replay: func(r *replay.Rules) {
				right := r.CarryForward
				r.CarryForward = func(unread []engine.CarriedEvent, limit int) (carried, lost []engine.CarriedEvent) {
					return right(unread[:max(len(unread)-1, 0)], limit)
				}
			}},
		{ID: "engine/panic-place-lost", Summary: "a turn whose code panics does not say where",
			replay: func(r *replay.Rules) { r.NamesPanicPlace = false }},
		{ID: "engine/never-pins", Summary: "no turn names its build as the pin",
			Properties: []string{"S09"}, Scenario: upgrade,
			replay: func(r *replay.Rules) { r.Pins = func(bool) bool { return false } }},
		{ID: "engine/key-unstamped", Summary: "a key that is set gets time 0",
			Properties: []string{"S11"}, Scenario: features,
			replay: func(r *replay.Rules) { r.KVStamp = func(uint64, bool, uint64) uint64 { return 0 } }},
		{ID: "engine/result-to-newest-await", Summary: "a result resolves the newest open future of its kind instead of its own future",
			Properties: []string{"S11", "S20"}, Scenario: races,
			replay: func(r *replay.Rules) {
				r.Recipient = func(own orchhost.Token, pending func() []orchhost.Token) orchhost.Token {
					if all := pending(); len(all) > 0 {
						return all[len(all)-1]
					}
					return own
				}
			}},
		{ID: "engine/poison-untold", Summary: "a poisoned child does not answer its parent",
			Properties: []string{"L06"}, Scenario: families,
			node: func(r *machine.Rules) { r.PoisonTellsParent = func(bool) bool { return false } }},
		{ID: "engine/poison-too-late", Summary: "one delivery more than the maximum is not yet poison",
			Properties: []string{"L01"}, Scenario: crashes,
			node: func(r *machine.Rules) {
				r.ExceedsMaxAttempts = func(count, most uint32) bool { return count > most+1 }
			}},
		{ID: "engine/last-activity-lost", Summary: "an ack omits the last of several activities that its turn schedules",
			Properties: []string{"L02"}, Scenario: upgrade,
			node: func(r *machine.Rules) {
				r.WorkerItems = func(turn []engine.WorkItem) []engine.WorkItem { return turn[:max(len(turn)-1, min(len(turn), 1))] }
			}},
		{ID: "engine/renewal-too-late", Summary: "a lock is renewed a second after it has expired",
			Properties: []string{"S19"}, Scenario: slowWork,
			node: func(r *machine.Rules) {
				r.RenewalInterval = func(timeout, _ time.Duration) time.Duration { return timeout + time.Second }
			}},
	}
}
