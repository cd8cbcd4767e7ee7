package memprovider_test

import (
	"slices"
	"testing"

	"github.com/durosim/durosim/memprovider"
)

// TestConformance is the cases of contract/conformance.md that are in the package's scope, under their ids. L is 1000.
func TestConformance(t *testing.T) {
	for _, c := range conformanceCases {
		t.Run(c.name, func(t *testing.T) { checkScript(t, newWorld(memprovider.Options{}), c.script) })
	}
}

// TestConformanceWithTwoIndexes runs them with rules of its own, which are the right ones: the second index changes
// nothing.
func TestConformanceWithTwoIndexes(t *testing.T) {
	for _, c := range conformanceCases {
		t.Run(c.name, func(t *testing.T) {
			checkScript(t, newWorld(memprovider.Options{Rules: memprovider.DefaultRules()}), c.script)
		})
	}
}

type conformanceCase struct{ name, script string }

var conformanceCases = slices.Concat(queueCases, activityAndFilterCases, sessionCases, keptCases, deleteCases)

// queueCases are those about acks, locks, queues and counts.
var queueCases = []conformanceCase{
	{"AT-01 failed ack rolls back", `
		bare A
		send start:A
		fetch t -> A#1 x1 [start]
		ack t events=OS1 -> perm
		read A -> [1]
		fetch -> none`},
	{"AT-02 one ack, many operations", `
		send start:A
		fetch t -> A#1 x1 [start]
		ack t events=OS1,2,3,4,5 work=act:A:2,act:A:3,act:A:4 send=timer:A:500,ext:A:e
		read A -> [1 2 3 4 5]
		work -> A:2 x1
		work -> A:3 x1
		work -> A:4 x1
		work -> none
		fetch -> A#1 x1 [timer ext:e]`},
	{"AT-03 lock released only by a successful ack", `
		send start:A
		fetch lock=1000 -> A#1 x1 [start]
		ack invalid-lock-token -> perm
		fetch -> none
		wait 1100
		fetch -> A#1 x2 [start]`},
	{"AT-04 an ack succeeds once", `
		send start:A
		fetch t -> A#1 x1 [start]
		ack t events=OS1
		ack t events=OS1 -> perm`},
	{"EH-01 unknown token", `
		ack invalid-token -> perm
		ack o1 -> perm
		ack o -> perm
		ack o01 -> perm
		ack w1 -> perm`},
	{"EH-02 duplicate event id", `
		bare A
		send start:A
		fetch t -> A#1 x1 [start]
		ack t events=1 -> perm
		read A -> [1]`},
	{"EH-03 unknown instance reads empty", `
		read nobody -> []`},
	{"EH-05 lock runs out during the turn", `
		send start:A
		fetch t lock=1000 -> A#1 x1 [start]
		wait 1100
		ack t events=OS1 -> perm
		read A -> []`},
	{"EH-06 EH-07 corrupted reads", `
		make A
		read A -> [1]
		corrupt A 1 1
		read A -> perm
		read A 1 -> perm`},

	{"IL-01 exclusive lock", `
		send start:A
		fetch t1 lock=1000 -> A#1 x1 [start]
		fetch -> none
		wait 1100
		fetch -> A#1 x2 [start]`},
	{"IL-03 invalid tokens change nothing", `
		send start:A
		fetch -> A#1 x1 [start]
		ack invalid-token -> perm
		abandon invalid-token -> perm
		fetch -> none`},
	{"IL-05 completions during the lock wait", `
		send start:A
		fetch lock=1000 -> A#1 x1 [start]
		send done:A:1
		send done:A:2
		send done:A:3
		fetch -> none
		wait 1100
		fetch -> A#1 x2 [start done:1 done:2 done:3]`},
	{"IL-06 instances do not block each other", `
		make A
		make B
		send start:A
		send start:B
		fetch -> A#1 x1 [start]
		fetch b -> B#1 x1 [start]
		ack b name=TestOrch@1.0.0
		send done:B:1
		fetch -> B#1 x1 [done:1]`},
	{"IL-07 IL-08 an ack takes only what it marked", `
		make A
		send done:A:1
		fetch t -> A#1 x1 [done:1]
		send done:A:2
		send done:A:3
		fetch -> none
		ack t
		fetch -> A#1 x1 [done:2 done:3]`},

	{"LX-01 EH-05 expiry kills the token", `
		send start:A
		fetch t1 lock=1000 -> A#1 x1 [start]
		fetch -> none
		wait 1100
		fetch -> A#1 x2 [start]
		ack t1 -> perm`},
	{"LX-01 the boundary instant is expired", `
		send start:A
		fetch lock=1000 -> A#1 x1 [start]
		wait 999
		fetch -> none
		wait 1
		fetch -> A#1 x2 [start]`},
	{"LX-02 abandon releases at once", `
		send start:A
		fetch t -> A#1 x1 [start]
		abandon t
		fetch -> A#1 x2 [start]`},
	{"LX-03 ack releases at once", `
		send start:A
		fetch t -> A#1 x1 [start]
		send start:A
		fetch -> none
		ack t events=OS1
		fetch -> A#1 x1 [start]`},
	{"LX-05 LX-06 LX-08 work renewal", `
		act act:A:1
		work w lock=1000 -> A:1 x1
		extend invalid-token-123 1000 -> perm
		wait 600
		extend w 1000
		wait 400
		work -> none
		wait 600
		work -> A:1 x2`},
	{"LX-07 work renewal after expiry", `
		act act:A:1
		work w lock=1000 -> A:1 x1
		wait 1000
		extend w 1000 -> perm`},
	{"LX-09 work renewal after ack", `
		act act:A:1
		work w -> A:1 x1
		finish w done:A:1
		extend w 1000 -> perm`},
	{"LX-10 LX-11 abandoned work", `
		act act:A:1
		work w1 -> A:1 x1
		work -> none
		quit w1
		work w2 -> A:1 x2
		quit w2 delay=500
		work -> none
		wait 600
		work w3 -> A:1 x3
		finish w3`},
	{"LX-12 work ack after expiry", `
		make A
		act act:A:1
		work w lock=1000 -> A:1 x1
		wait 1200
		finish w done:A:1 -> perm
		fetch -> none
		work -> A:1 x2`},
	{"LX-13 BP-18 BP-20 orchestration renewal", `
		send start:A
		fetch t lock=1000 -> A#1 x1 [start]
		wait 600
		renew t 1000
		wait 400
		fetch -> none
		renew t 100
		wait 100
		renew t 1000 -> perm
		fetch -> A#1 x2 [start]`},

	{"MX-01 executions are separate", `
		bare A events=OS1,2,3
		send start:A
		fetch t -> A#1 x1 [start]
		ack t exec=2 events=OS1,2
		read A 1 -> [1 2 3]
		read A 2 -> [1 2]
		read A -> [1 2]`},
	{"MX-02 MX-05 latest execution without a start event", `
		bare A events=1
		send start:A
		fetch t -> A#1 x1 [start]
		ack t exec=2 events=1
		send start:A
		fetch t -> A#1 x1 [start]
		ack t exec=3 events=1,2
		read A -> [1 2]
		read A 2 -> [1]`},
	{"MX-03 the pointer moves with the ack", `
		make A
		send start:A
		fetch t -> A#1 x1 [start]
		ack t exec=2 events=OS1 name=TestOrch@1.0.0
		send start:A
		fetch -> A#2 x1 [start]`},
	{"MX-04 continue-as-new without a row", `
		bare A
		send can:A
		fetch t -> A#1 x1 [can]
		ack t exec=2 events=OS1
		send ext:A:e
		fetch -> A#2 x1 [ext:e]`},

	{"QS-01 QS-02 worker queue in order", `
		act act:A:0
		act act:A:1
		act act:A:2
		work w -> A:0 x1
		work -> A:1 x1
		work -> A:2 x1
		work -> none
		finish w
		work -> none`},
	{"QS-03 completion of an instance without a row", `
		bare A
		act act:A:1
		work w -> A:1 x1
		finish w done:A:1
		work -> none
		fetch -> A#1 x1 [done:1]`},
	{"QS-04 delayed timer", `
		bare A
		send timer:A:0 delay=5000
		fetch -> none
		wait 4999
		fetch -> none
		wait 1
		fetch -> A#1 x1 [timer]`},
	{"QS-05 lost token", `
		act act:A:1
		work lock=1000 -> A:1 x1
		work -> none
		wait 1100
		work -> A:1 x2`},
	{"QS-07 delayed items are passed over", `
		act act:A:1
		act act:A:2
		work w -> A:1 x1
		quit w delay=500
		work -> A:2 x1
		work -> none
		wait 600
		work -> A:1 x2`},
	{"QS-08 BP-36 orphans", `
		send queue:ghost:v1
		send queue:ghost:v2
		depths -> 2 0
		fetch -> none
		depths -> 0 0
		make other
		send queue:ghost:v1
		send queue:other:v3
		fetch -> other#1 x1 [queue:v3]`},
	{"orphan waits for a delayed start", `
		send queue:A:v1
		send start:A delay=1000
		fetch -> none
		depths -> 2 0
		wait 1000
		fetch -> A#1 x1 [queue:v1 start]`},

	{"IC-01 IC-03 instance from metadata", `
		send startunversioned:A
		fetch t -> A#1 x1 [start]
		ack t events=OS1 name=TestOrch@2.0.0
		info A -> TestOrch@2.0.0 #1 Running
		send start:A
		fetch -> A#1 x1 [start]`},
	{"BP-43 MG-03 bare ack", `
		bare A
		info A -> perm
		execinfo A 1 -> Running 1 events
		read A -> [1]`},

	{"PM-02 PM-07 counts", `
		send start:A
		fetch a -> A#1 x1 [start]
		abandon a
		fetch b -> A#1 x2 [start]
		abandon b ignore
		fetch c -> A#1 x2 [start]
		abandon c
		fetch -> A#1 x3 [start]`},
	{"PM-04 expiry counts", `
		act act:A:1
		work lock=1000 -> A:1 x1
		wait 1100
		work -> A:1 x2`},
	{"PM-05 counts are per message", `
		act act:A:1
		act act:B:2
		work -> A:1 x1
		work -> B:2 x1`},
	{"PM-06 ignored attempt of an activity", `
		act act:A:1
		work a -> A:1 x1
		quit a
		work b -> A:1 x2
		quit b ignore
		work -> A:1 x2`},
	{"PM-08 never negative", `
		act act:A:1
		work a -> A:1 x1
		quit a ignore
		work b -> A:1 x1
		quit b ignore
		work -> A:1 x1`},
	{"PM-09 the maximum of the batch", `
		send start:A
		fetch a -> A#1 x1 [start]
		abandon a
		fetch b -> A#1 x2 [start]
		send done:A:1
		abandon b
		fetch -> A#1 x3 [start done:1]`},
	{"BP-27 an abandon concerns its batch", `
		make A
		send ext:A:a
		fetch t1 -> A#1 x1 [ext:a]
		abandon t1 delay=300
		send ext:A:b
		fetch t2 -> A#1 x1 [ext:b]
		abandon t2 ignore
		wait 300
		fetch -> A#1 x2 [ext:a ext:b]`},
	{"BP-07 an abandon leaves future messages alone", `
		make A
		send ext:A:a
		send ext:A:b delay=10000
		fetch t -> A#1 x1 [ext:a]
		abandon t delay=100
		wait 200
		fetch t -> A#1 x2 [ext:a]
		ack t
		wait 9799
		fetch -> none
		wait 1
		fetch -> A#1 x1 [ext:b]`},
}
