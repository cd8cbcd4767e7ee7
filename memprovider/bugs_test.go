package memprovider_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/storerules"
	"github.com/durosim/durosim/memprovider"
)

// TestEachBugShows runs each bug's script twice: "OPERATION -> RIGHT | WRONG" gives RIGHT by the default rules and WRONG
// under the bug, a result without bar is the same under both.
func TestEachBugShows(t *testing.T) {
	cases := map[faults.BugID]string{} // looked up only
	for _, c := range slices.Concat(bugCases, deliveryBugCases, keptBugCases) {
		cases[c.id] = c.script
	}
	for _, b := range faults.BugsOf("memprovider") {
		t.Run(string(b.ID), func(t *testing.T) {
			script, ok := cases[b.ID]
			if !ok || !strings.Contains(script, "|") {
				t.Fatal("no script with a difference")
			}
			right, wrong := sides(script)
			checkScript(t, newWorld(memprovider.Options{}), right)
			checkScript(t, newWorld(memprovider.Options{Rules: wrongBy(b.ID)}), wrong)
		})
	}
	if len(cases) != len(faults.BugsOf("memprovider")) {
		t.Errorf("%d cases for %d bugs", len(cases), len(faults.BugsOf("memprovider")))
	}
}

// sides cuts a script with alternatives into the right one and the wrong one.
func sides(script string) (right, wrong string) {
	for _, line := range strings.Split(strings.TrimSpace(script), "\n") {
		op, result, _ := strings.Cut(line, " -> ")
		r, w, two := strings.Cut(result, "|")
		if !two {
			w = r
		}
		right += join(op, strings.TrimSpace(r)) + "\n"
		wrong += join(op, strings.TrimSpace(w)) + "\n"
	}
	return right, wrong
}

// wrongBy are the rules of a store with planted bugs.
func wrongBy(ids ...faults.BugID) *storerules.Rules {
	tables, err := faults.NewTables(ids...)
	if err != nil {
		panic(err)
	}
	return tables.Provider
}

type bugCase struct {
	id     faults.BugID
	script string
}

var bugCases = []bugCase{
	{"provider/filter-after-lock", `
		make A pin=1.0.0 send=ext:A:e
		seen -> ` + seenMake + `
		fetch filter=2.0.0..2.9.9 -> none
		seen -> | lock taken, lock released`},
	{"provider/filter-after-count", `
		make A pin=1.0.0 send=ext:A:e
		seen -> ` + seenMake + `
		fetch filter=2.0.0..2.9.9 -> none
		seen -> | lock taken, message marked 2, count 2: 0 to 1, lock released
		fetch -> A#1 x1 [ext:e] | A#1 x2 [ext:e]`},
	{"provider/filter-after-decode", `
		make A pin=1.0.0 send=ext:A:e
		seen -> ` + seenMake + `
		fetch filter=2.0.0..2.9.9 -> none
		seen -> | lock taken, message marked 2, count 2: 0 to 1, message decoded 2, event decoded 1, lock released
		fetch -> A#1 x1 [ext:e] | A#1 x2 [ext:e]`},
	{"provider/decode-before-filter", `
		make A pin=1.0.0 send=ext:A:e
		seen -> ` + seenMake + ` | row inserted 1, message decoded 1, lock taken, message marked 1, count 1: 0 to 1, row removed 1, instance created, execution created, pin set, event appended 1, row inserted 2, lock released
		fetch filter=2.0.0..2.9.9 -> none
		seen -> | message decoded 2, event decoded 1
		fetch -> A#1 x1 [ext:e]`},
	{"provider/empty-filter-admits-unpinned", `
		make A pin=1.0.0 send=ext:A:e
		send start:B
		fetch filter= -> none | B#1 x1 [start]`},
	{"provider/ack-reads-history", `
		make A pin=1.0.0 send=ext:A:e
		fetch t -> A#1 x1 [ext:e]
		corrupt A 1 1
		ack t events=99999 status=Failed -> | perm`},
	{"provider/filter-ignored", `
		make A pin=1.0.0 send=ext:A:e
		fetch filter=2.0.0..2.9.9 -> none | A#1 x1 [ext:e]`},
	{"provider/any-range", `
		make A pin=3.0.0 send=ext:A:e
		fetch filter=1.0.0..1.5.0,3.0.0..3.5.0 -> none | A#1 x1 [ext:e]`},
	{"provider/exclusive-upper-bound", `
		make A pin=1.9.0 send=ext:A:e
		fetch filter=1.0.0..1.9.0 -> A#1 x1 [ext:e] | none`},
	{"provider/exclusive-lower-bound", `
		make A pin=1.9.0 send=ext:A:e
		fetch filter=1.9.0..1.11.0 -> A#1 x1 [ext:e] | none`},
	{"provider/text-comparison", `
		make A pin=1.10.0 send=ext:A:e
		fetch filter=1.9.0..1.11.0 -> A#1 x1 [ext:e] | none
		fetch filter=1.1.0..1.2.0 -> none | A#1 x1 [ext:e]`},
	{"provider/packed-comparison", `
		make A pin=1.1000.0 send=ext:A:e
		fetch filter=2.0.0..2.0.0 -> none | A#1 x1 [ext:e]`},
	{"provider/unpinned-incompatible", `
		send start:A
		fetch filter=1.0.0..1.9.0 -> A#1 x1 [start] | none`},
	{"provider/empty-filter-as-none", `
		make A pin=1.0.0 send=ext:A:e
		fetch filter= -> none | A#1 x1 [ext:e]`},
	{"provider/pin-of-first-execution", `
		make A pin=1.0.0
		send can:A
		fetch t -> A#1 x1 [can]
		ack t exec=2 events=OS1 pin=2.0.0 send=ext:A:e
		fetch filter=2.0.0..2.9.9 -> A#2 x1 [ext:e] | none
		fetch filter=1.0.0..1.9.9 -> none | A#2 x1 [ext:e]`},
	{"provider/head-of-line-block", `
		make A pin=1.0.0
		send ext:A:e
		send stop:nobody
		send start:B
		fetch filter=2.0.0..2.9.9 -> B#1 x1 [start] | none`},
	{"provider/orphan-dropped-while-start-queued", `
		send queue:A:q
		send start:A delay=1000
		fetch -> none
		wait 1000
		fetch -> A#1 x1 [queue:q start] | A#1 x1 [start]`},
	{"provider/orphan-kept", `
		send queue:A:q
		fetch -> none
		depths -> 0 0 | 1 0`},

	{"provider/undecodable-event-skipped", `
		make A events=OS1,2,3 send=ext:A:e
		corrupt A 1 2
		fetch -> A#1 x1 [ext:e] HISTORY-ERROR | A#1 x1 [ext:e]`},
	{"provider/error-while-locked", `
		make A send=ext:A:e
		corrupt A 1 1
		fetch lock=1000 -> A#1 x1 [ext:e] HISTORY-ERROR | perm
		fetch -> none`},
	{"provider/count-lost-when-decoding-fails", `
		make A send=ext:A:e
		corrupt A 1 1
		fetch lock=0 -> A#1 x1 [ext:e] HISTORY-ERROR
		fetch lock=0 -> A#1 x2 [ext:e] HISTORY-ERROR | A#1 x1 [ext:e] HISTORY-ERROR`},
	{"provider/count-reset-by-abandon", `
		send start:A
		fetch t -> A#1 x1 [start]
		abandon t
		fetch -> A#1 x2 [start] | A#1 x1 [start]`},
	{"duroxide-0.1.26/abandon-touches-all", `
		make A send=ext:A:a
		fetch t -> A#1 x1 [ext:a]
		send ext:A:b
		abandon t delay=100
		fetch -> A#1 x1 [ext:b] | none`},
	{"provider/first-count", `
		make A
		send ext:A:a delay=100
		send ext:A:b
		fetch t -> A#1 x1 [ext:b]
		abandon t
		wait 100
		fetch t -> A#1 x2 [ext:a ext:b] | A#1 x1 [ext:a ext:b]`},
	{"provider/least-count", `
		make A
		send ext:A:a
		fetch t -> A#1 x1 [ext:a]
		abandon t
		send ext:A:b
		fetch -> A#1 x2 [ext:a ext:b] | A#1 x1 [ext:a ext:b]`},
	{"provider/abandon-counts", `
		send start:A
		fetch t -> A#1 x1 [start]
		abandon t
		fetch -> A#1 x2 [start] | A#1 x3 [start]`},
	{"provider/decrement-below-zero", `
		send start:A
		fetch t -> A#1 x1 [start]
		abandon t ignore
		fetch t -> A#1 x1 [start] | A#1 x0 [start]`},
	{"provider/ignore-attempt-ignored", `
		send start:A
		fetch t -> A#1 x1 [start]
		abandon t ignore
		fetch t -> A#1 x1 [start] | A#1 x2 [start]`},

	{"provider/token-not-checked", `
		make A send=ext:A:e
		fetch t1 lock=1000 -> A#1 x1 [ext:e]
		wait 1000
		fetch t2 -> A#1 x2 [ext:e]
		ack t1 events=2 -> perm |
		read A -> [1] | [1 2]
		ack t2 events=2 -> | perm`},
	{"provider/expiry-not-checked", `
		make A send=ext:A:e
		fetch t lock=1000 -> A#1 x1 [ext:e]
		wait 1000
		ack t events=2 -> perm |
		read A -> [1] | [1 2]`},
	{"provider/renewal-after-expiry", `
		act act:A:1
		work w lock=1000 -> A:1 x1
		wait 1000
		extend w 1000 -> perm |
		work -> A:1 x2 | none`},
	{"provider/renewal-does-nothing", `
		send start:A
		act act:A:1
		fetch t lock=1000 -> A#1 x1 [start]
		work w lock=1000 -> A:1 x1
		renew t 5000
		extend w 5000
		wait 1000
		fetch -> none | A#1 x2 [start]
		work -> none | A:1 x2`},

	{"provider/delay-ignored", `
		make A
		send ext:A:e delay=1000
		fetch -> none | A#1 x1 [ext:e]`},
	{"provider/abandon-hides", `
		make A send=ext:A:e
		fetch t -> A#1 x1 [ext:e]
		abandon t
		fetch -> A#1 x2 [ext:e] | none`},
	{"provider/ended-unfiltered", `
		make A pin=1.0.0 events=OS1,2 status=Completed send=ext:A:e
		fetch filter=2.0.0..2.9.9 -> none | A#1 x1 [ext:e]`},
	{"provider/undecodable-history-is-orphan", `
		make A send=queue:A:q
		corrupt A 1 1
		fetch t -> A#1 x1 [queue:q] HISTORY-ERROR | none`},
	{"provider/timer-visible-at-once", `
		make A send=timer:A:9000
		fetch -> none | A#1 x1 [timer]`},

	{"provider/ack-partial", `
		make A send=ext:A:e
		fetch t -> A#1 x1 [ext:e]
		ack t events=2,1 pin=1.0.0 status=Completed -> perm
		execinfo A 1 -> Running 1 events | Running 2 events pin 1.0.0
		depths -> 0 0`},
	{"provider/batch-not-consumed", `
		make A
		fetch -> none | A#1 x2 [start]`},
	{"provider/cancel-before-enqueue", `
		make A work=act:A:2 cancel=A:2
		work -> none | A:2 x1`},
	{"provider/late-arrivals-deleted-by-ack", `
		make A send=ext:A:a
		fetch t -> A#1 x1 [ext:a]
		send ext:A:b
		ack t
		fetch -> A#1 x1 [ext:b] | none`},
	{"provider/ack-re-encodes", `
		make A pin=1.0.0 send=ext:A:e
		fetch t -> A#1 x1 [ext:e]
		seen -> ` + seenMake + `, lock taken, message marked 2, count 2: 0 to 1, message decoded 2, event decoded 1
		ack t events=2 send=ext:A:f
		seen -> row removed 2, event appended 2, row inserted 3, lock released | row removed 2, event decoded 1, event removed 1, event appended 1, event appended 2, row inserted 3, lock released
		fetch t -> A#1 x1 [ext:f]
		corrupt A 1 1
		ack t events=99999 status=Failed -> | perm
		info A -> TestOrch@1.0.0 #1 Failed | TestOrch@1.0.0 #1 Running`},
	{"provider/pin-not-written", `
		make A pin=1.0.0 send=ext:A:e
		execinfo A 1 -> Running 1 events pin 1.0.0 | Running 1 events
		fetch filter=2.0.0..2.9.9 -> none | A#1 x1 [ext:e]`},
	{"provider/pin-inherited", `
		make A pin=1.0.0 send=can:A
		fetch t -> A#1 x1 [can]
		ack t exec=2 events=OS1 send=ext:A:e
		fetch filter=2.0.0..2.9.9 -> A#2 x1 [ext:e] | none`},
	{"provider/pin-write-once", `
		make A pin=1.0.0 send=ext:A:e
		fetch t -> A#1 x1 [ext:e]
		ack t pin=2.0.0 send=ext:A:f
		fetch filter=2.0.0..2.9.9 -> A#1 x1 [ext:f] | none`},
	{"provider/execution-pointer-kept", `
		make A send=can:A
		fetch t -> A#1 x1 [can]
		ack t exec=2 events=OS1
		info A -> TestOrch@1.0.0 #2 Running | TestOrch@1.0.0 #1 Running`},
	{"provider/execution-pointer-moved-back", `
		make A send=ext:A:a
		fetch t -> A#1 x1 [ext:a]
		ack t exec=2 events=OS1 send=ext:A:b
		fetch t -> A#2 x1 [ext:b]
		ack t exec=1 events=5
		info A -> TestOrch@1.0.0 #2 Running | TestOrch@1.0.0 #1 Running`},
}
