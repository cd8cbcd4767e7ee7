package memprovider_test

import (
	"testing"

	"github.com/durosim/durosim/memprovider"
)

// TestChoices is what the store promises beyond the contract, which properties/conformance asks it for: where the contract
// is free (doc.go has the list), and instants to the millisecond.
func TestChoices(t *testing.T) {
	for _, c := range choices {
		t.Run(c.name, func(t *testing.T) { checkScript(t, newWorld(memprovider.Options{}), c.script) })
	}
}

type choice struct{ name, script string }

var choices = []choice{
	{"tokens that were never given", `
		ack invalid-token -> perm
		ack o1 -> perm
		ack o -> perm
		ack o01 -> perm
		ack w1 -> perm`},
	{"a lock ends at its instant", `
		send start:A
		fetch lock=1000 -> A#1 x1 [start]
		wait 999
		fetch -> none
		wait 1
		fetch -> A#1 x2 [start]`},
	{"an activity lock ends at its instant", `
		act act:A:1
		work w lock=1000 -> A:1 x1
		wait 1000
		extend w 1000 -> perm`},
	{"a renewed lock ends at its instant", `
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
	{"a delay ends at its instant", `
		bare A
		send timer:A:0 delay=5000
		fetch -> none
		wait 4999
		fetch -> none
		wait 1
		fetch -> A#1 x1 [timer]`},
	{"orphans are dropped, and the fetch goes on (F4)", `
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
	{"an abandon concerns its batch (F9)", `
		make A
		send ext:A:a
		fetch t1 -> A#1 x1 [ext:a]
		abandon t1 delay=300
		send ext:A:b
		fetch t2 -> A#1 x1 [ext:b]
		abandon t2 ignore
		wait 300
		fetch -> A#1 x2 [ext:a ext:b]`},
	{"an abandon leaves future messages alone, to the instant", `
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
	{"what the filter excludes is not looked at", `
		make A pin=1.0.0 send=ext:A:e
		corrupt A 1 1
		seen -> ` + seenMake + `, damaged
		fetch filter=2.0.0..2.9.9 -> none
		seen
		fetch -> A#1 x1 [ext:e] HISTORY-ERROR
		fetch -> none`},
	{"a message that cannot be decoded", `
		make A
		send ext:A:a
		send ext:A:b
		spoil 2
		fetch t -> A#1 x1 [ext:b] HISTORY-ERROR
		abandon t
		fetch t -> A#1 x2 [ext:b] HISTORY-ERROR
		ack t
		depths -> 0 0`},
	{"an activity that cannot be decoded is passed over", `
		act act:A:1
		act act:A:2
		spoil 1
		work -> A:2 x1
		work -> perm
		depths -> 0 1`},
	{"a message that comes during an abandon delay is delivered", `
		make A
		send ext:A:a
		fetch t -> A#1 x1 [ext:a]
		abandon t delay=500
		fetch -> none
		send ext:A:b
		fetch t -> A#1 x1 [ext:b]
		ack t
		wait 500
		fetch -> A#1 x2 [ext:a]`},
	{"an expired token may abandon (F8)", `
		make A
		send ext:A:a
		fetch t lock=1000 -> A#1 x1 [ext:a]
		wait 1100
		abandon t delay=500
		fetch -> none
		wait 500
		fetch -> A#1 x2 [ext:a]`},
	{"wrong kinds are refused, and with them the ack (F17)", `
		send act:A:1 -> perm
		act ext:A:e -> perm
		make A
		send ext:A:e
		fetch t -> A#1 x1 [ext:e]
		ack t send=act:A:1 -> perm
		ack t work=ext:A:e -> perm
		ack t`},
	{"a fetch goes on past what has no context (F4)", `
		send stop:A
		send start:B
		fetch -> B#1 x1 [start]`},
	{"status and output are set together, and kept without", `
		make A status=Completed output=done
		send ext:A:a
		fetch t -> A#1 x1 [ext:a]
		ack t events=2
		execinfo A 1 -> Completed 2 events done at 1000
		send ext:A:a
		fetch t -> A#1 x1 [ext:a]
		ack t status=Failed
		info A -> TestOrch@1.0.0 #1 Failed`},
	{"event and execution ids that are refused", `
		make A
		send ext:A:a
		fetch t -> A#1 x1 [ext:a]
		ack t events=4,2,4 -> perm
		ack t events=0 -> perm
		ack t exec=0 events=2 -> perm
		ack t events=300,99999,2
		read A -> [1 2 300 99999]`},
	{"an append refuses duplicates (F7)", `
		append A 1 2,1
		append A 1 3,2 -> perm
		append A 1 4,4 -> perm
		append A 1 0 -> perm
		append A 0 1 -> perm
		read A -> [1 2]
		execinfo A 1 -> perm`},
	{"completions of wrong kinds are refused", `
		act act:A:1
		work w -> A:1 x1
		finish w ext:A:e -> perm
		finish w done:A:1
		fetch -> none
		send start:A
		fetch -> A#1 x1 [done:1 start]`},
	{"a session ends at its instant", `
		act act:A:1 session=s
		work w owner=W1 slock=50 -> A:1 x1
		finish w
		act act:A:2 session=s
		act act:A:3 session=s
		wait 49
		work owner=W2 -> none
		wait 1
		work w owner=W2 slock=50 -> A:2 x1
		work owner=W1 -> none
		wait 50
		work owner=W1 -> A:3 x1`},
	{"which sessions a renewal extends", `
		sessions W1 -> 0
		act act:A:1 session=s
		act act:A:2 session=r
		act act:A:3 session=q
		work owner=W1 slock=300 -> A:1 x1
		work owner=W1 slock=300 -> A:2 x1
		work owner=W2 slock=300 -> A:3 x1
		sessions W1,W2 -> 3
		sessions W1,W1 extend=300 -> 2
		sessions W1 idle=0 -> 0
		sessions W2 extend=5000 -> 1
		wait 300
		sessions W1 -> 0
		act act:A:4 session=s
		act act:A:5 session=q
		work owner=W3 -> A:4 x1
		work owner=W3 -> none`},
	{"a session is swept after its instant", `
		act act:A:1 session=s
		act act:A:2 session=s
		act act:A:3 session=r
		work w1 owner=W1 slock=50 -> A:1 x1
		finish w1
		work w2 owner=W1 slock=50 -> A:2 x1
		work w3 owner=W1 slock=300 -> A:3 x1
		finish w3
		wait 50
		sweep -> 0
		wait 1
		sweep -> 0
		finish w2
		sweep -> 1
		act act:A:4 session=s
		work owner=W2 -> A:4 x1
		wait 251
		sweep -> 1`},
	{"a session is idle from its instant on", `
		act act:A:1 session=s
		act act:A:2 session=r
		act act:A:3 session=q
		work w1 owner=W1 -> A:1 x1
		work w2 owner=W1 -> A:2 x1
		work w3 owner=W1 slock=200 -> A:3 x1
		wait 250
		extend w1 5000
		quit w2
		sessions W1 idle=200 -> 1
		finish w3
		sessions W1 idle=200 -> 1
		finish w1
		wait 150
		sessions W1 idle=200 -> 1
		wait 50
		sessions W1 idle=200 -> 0`},
	{"a refresh may shorten a session (F26)", `
		act act:A:1 session=s
		work owner=W1 slock=1000 -> A:1 x1
		wait 600
		sessions W1 extend=1000 -> 1
		wait 400
		act act:A:2 session=s
		work owner=W2 -> none
		work owner=W1 slock=100 -> A:2 x1
		wait 100
		act act:A:3 session=s
		work owner=W2 -> A:3 x1`},
	{"a former holder does not touch the session (F27)", `
		act act:A:1 session=s
		act act:A:2 session=s
		work w1 owner=W1 slock=200 -> A:1 x1
		wait 200
		work w2 owner=W2 -> A:2 x1
		wait 250
		finish w1
		sessions W2 idle=200 -> 0`},
	{"a fetch that does not fit claims nothing", `
		act act:A:1 session=s tag=gpu
		work owner=W1 tags=none -> none
		work owner=W2 tags=any lock=0 -> A:1gpu x1
		work owner=W2 -> none
		work owner=W1 tags=gpu -> none
		work owner=W2 tags=gpu -> A:1gpu x2`},
	{"a session activity that cannot be decoded is passed over", `
		act act:A:1 session=s
		act act:A:2 session=r
		act act:A:3
		spoil 1
		work owner=W1 -> A:2 x1
		work owner=W1 -> A:3 x1
		work owner=W1 -> perm
		work -> none`},
	{"a custom status needs a row", `
		bare A events=OS1,2:status:x
		status A 0 -> nothing`},
	{"which statuses merge the keys", `
		make A events=OS1,2:set:k:1 status=Running send=ext:A:a
		fetch t -> A#1 x1 [ext:a]
		ack t status=Paused send=ext:A:b
		fetch t -> A#1 x1 [ext:b]
		ack t events=3:set:j:2 status=Failed send=ext:A:c
		fetch -> A#1 x1 [ext:c] kv j=2@103 k=1@102`},
	{"keys need no row", `
		bare A events=OS1,2:set:k:1
		bare B events=OS1,2:set:k:2
		send ext:A:a
		fetch t -> A#1 x1 [ext:a]
		ack t events=3:clearall
		kv A
		kv B -> k=2`},
	{"the snapshot comes with a history error (F13)", `
		make A events=OS1,2:set:k:1 status=Completed send=ext:A:a
		corrupt A 1 1
		fetch t -> A#1 x1 [ext:a] HISTORY-ERROR kv k=1@102
		kv A -> k=1
		renew t 5000`},
	{"statistics need a row and a readable start", `
		stats A -> nothing
		bare A
		stats A -> nothing
		make B events=1:started:3,2,3 status=ContinuedAsNew send=can:B
		stats B -> 3 3 0 0
		fetch t -> B#1 x1 [can]
		ack t exec=2 events=OS1
		stats B -> 1 0 0 0
		corrupt B 2 1
		stats B -> perm`},
	{"old tokens of a deleted instance", `
		make A status=Completed send=ext:A:a,timer:A:1300 work=act:A:1,act:A:2
		fetch t -> A#1 x1 [ext:a]
		work w -> A:1 x1
		delete A -> 1 1 1 4
		depths -> 0 0
		ack t events=2 -> perm
		abandon t -> perm
		extend w 1000 -> perm
		finish w done:A:1 -> perm
		make A name=ReusedOrch@2.0.0
		info A -> ReusedOrch@2.0.0 #1 Running
		wait 1000
		fetch -> none
		ack t events=2 -> perm
		read A -> [1]`},
	{"what a deletion counts of unknown and repeated ids (F15)", `
		make A status=Completed
		make B
		make C parent=A status=Completed
		deleteall A,B -> perm
		deleteall A,B force -> perm
		deleteall A -> perm
		list -> A B C
		deleteall C,A,A,nobody -> 2 2 2 0
		deleteall B force -> 1 1 1 0
		deleteall nobody -> 0 0 0 0`},
	{"what has no row can be deleted too", `
		bare A
		send start:B
		deleteall A,B -> 0 1 1 1
		executions A -> []
		fetch -> none`},
	{"what a bulk deletion takes of its ids", `
		make A status=Completed
		make B status=Failed
		make C
		make D status=ContinuedAsNew
		make E parent=D
		make F parent=C status=Completed
		deletebulk ids= -> 0 0 0 0
		deletebulk limit=0 -> 0 0 0 0
		deletebulk ids=nobody,C,F -> 0 0 0 0
		deletebulk limit=1 -> 1 1 1 0
		list -> B C D E F
		deletebulk ids=D,D,C -> 2 2 2 0
		deletebulk -> 1 1 1 0
		list -> C F`},
	{"what a bulk prune takes of its filter", `
		make A status=ContinuedAsNew send=can:A
		fetch t -> A#1 x1 [can]
		ack t exec=2 events=OS1
		make B status=ContinuedAsNew send=can:B
		fetch t -> B#1 x1 [can]
		ack t exec=2 events=OS1 status=Completed
		make C status=Completed
		prunebulk before=9999 -> 2 1 1
		prunebulk ids=A,B,nobody keep=1 -> 2 1 1
		prunebulk limit=1 -> 1 0 0
		list Running -> A
		executions A -> [2]`},
}

// seenMake is what make A pin= send= does, as observations.
const seenMake = "row inserted 1, lock taken, message marked 1, count 1: 0 to 1, message decoded 1, row removed 1, " +
	"instance created, execution created, pin set, event appended 1, row inserted 2, lock released"
