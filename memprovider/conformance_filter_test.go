package memprovider_test

// activityAndFilterCases are those about activities, capability filters and pins, and the best practices (BP).
var activityAndFilterCases = []conformanceCase{
	{"AC-01 AC-07 work goes on after the end", `
		make A work=act:A:1 status=Completed
		work w -> A:1 x1
		extend w 30000
		finish w done:A:1
		fetch -> A#1 x1 [done:1]`},
	{"AC-05 AC-08 work of nobody", `
		act act:A:1
		work w -> A:1 x1
		extend w 30000
		finish w`},
	{"AC-09 AC-11 AC-12 ack without completion", `
		act act:A:1
		work w -> A:1 x1
		finish w
		work -> none
		fetch -> none
		finish w done:A:1 -> perm
		extend w 1000 -> perm`},
	{"AC-10 BP-69 cancelled activities", `
		make A work=act:A:1,act:A:2,act:A:3
		work w1 -> A:1 x1
		quit w1
		work w2 -> A:1 x2
		send ext:A:e
		fetch t -> A#1 x1 [ext:e]
		ack t cancel=A:1,A:2
		extend w2 1000 -> perm
		finish w2 done:A:1 -> perm
		work -> A:3 x1
		work -> none`},
	{"AC-13 cancelling what is not there", `
		send start:A
		fetch t -> A#1 x1 [start]
		ack t events=OS1 cancel=A:999,B:1`},
	{"AC-15 schedule and cancel in one ack", `
		send start:A
		fetch t -> A#1 x1 [start]
		ack t events=OS1 work=act:A:2,act:A:3 cancel=A:2
		work -> A:3 x1
		work -> none`},

	{"CF-01 CF-02 CF-03 ranges", `
		make A pin=1.2.3 send=ext:A:e
		fetch filter=2.0.0..2.9.9 -> none
		fetch t filter=1.0.0..1.9.9 -> A#1 x1 [ext:e]
		abandon t
		fetch -> A#1 x2 [ext:e]`},
	{"CF-04 BP-105 skipping does not hide", `
		make A pin=1.0.0
		make B pin=2.0.0
		send ext:A:a
		send ext:B:b
		fetch filter=2.0.0..2.9.9 -> B#1 x1 [ext:b]
		fetch filter=1.0.0..1.9.9 -> A#1 x1 [ext:a]`},
	{"CF-05 BP-28 skipping does not lock or count", `
		make A pin=1.0.0 send=ext:A:e
		fetch filter=2.0.0..2.9.9 -> none
		fetch filter=2.0.0..2.9.9 -> none
		fetch filter=0.0.0..1.9.9 -> A#1 x1 [ext:e]`},
	{"CF-06 unpinned passes", `
		make A send=ext:A:e
		fetch filter=99.0.0..99.9.9 -> A#1 x1 [ext:e]`},
	{"CF-07 both ends are inclusive", `
		make A pin=1.0.0
		make B pin=1.9.99
		make C pin=2.0.0
		send ext:A:e
		send ext:B:e
		send ext:C:e
		fetch filter=1.0.0..1.9.99 -> A#1 x1 [ext:e]
		fetch filter=1.0.0..1.9.99 -> B#1 x1 [ext:e]
		fetch filter=1.0.0..1.9.99 -> none
		fetch -> C#1 x1 [ext:e]`},
	{"CF-09 a pin stays when none is given", `
		make A pin=1.0.0 send=ext:A:e
		fetch t -> A#1 x1 [ext:e]
		ack t send=ext:A:f
		fetch filter=2.0.0..2.9.9 -> none
		fetch filter=0.0.0..1.9.9 -> A#1 x1 [ext:f]`},
	{"CF-10 CF-11 BP-103 continue-as-new has its own pin", `
		make A pin=1.0.0 status=ContinuedAsNew send=can:A
		fetch filter=2.0.0..2.9.9 -> none
		fetch t filter=1.0.0..1.9.9 -> A#1 x1 [can]
		ack t exec=2 events=OS1 name=TestOrch@1.0.0 pin=2.0.0 send=ext:A:e
		fetch t filter=2.0.0..2.9.9 -> A#2 x1 [ext:e]
		abandon t
		fetch filter=1.0.0..1.9.9 -> none`},
	{"BP-104 a new execution without a pin is open", `
		make A pin=1.0.0 status=ContinuedAsNew send=can:A
		fetch t -> A#1 x1 [can]
		ack t exec=2 events=OS1 send=ext:A:e
		fetch filter=99.0.0..99.9.9 -> A#2 x1 [ext:e]`},
	{"CF-22 BP-97 the empty filter", `
		make A pin=1.0.0
		make B
		send ext:A:e
		send ext:B:e
		send start:C
		fetch filter= -> none`},
	{"CF-23 no double lock", `
		make A pin=1.0.0 send=ext:A:e
		fetch filter=0.0.0..1.9.9 -> A#1 x1 [ext:e]
		fetch filter=0.0.0..1.9.9 -> none`},
	{"CF-39 CF-43 corrupted history", `
		make A pin=1.0.0 send=ext:A:e
		corrupt A 1 1
		seen -> ` + seenMake + `, damaged
		fetch filter=2.0.0..2.9.9 -> none
		seen
		fetch -> A#1 x1 [ext:e] HISTORY-ERROR
		fetch -> none`},
	{"CF-41 CF-42 corrupted history counts", `
		make A pin=1.0.0 send=ext:A:e
		corrupt A 1 1
		fetch t -> A#1 x1 [ext:e] HISTORY-ERROR
		abandon t
		fetch t -> A#1 x2 [ext:e] HISTORY-ERROR
		abandon t
		fetch t -> A#1 x3 [ext:e] HISTORY-ERROR`},
	{"CF-44 only the first range counts", `
		make A pin=1.0.0
		make B pin=3.0.0
		send ext:A:e
		send ext:B:e
		fetch t filter=1.0.0..1.5.0,3.0.0..3.5.0 -> A#1 x1 [ext:e]
		fetch filter=1.0.0..1.5.0,3.0.0..3.5.0 -> none`},
	{"CF-45 CF-46 the pin is overwritten when told", `
		make A pin=1.0.0 send=ext:A:e
		fetch t -> A#1 x1 [ext:e]
		ack t pin=2.0.0 send=ext:A:f
		fetch t filter=2.0.0..2.0.0 -> A#1 x1 [ext:f]
		abandon t
		fetch filter=1.0.0..1.0.0 -> none`},
	{"CF-47 an ack appends to a corrupted history", `
		make A pin=1.0.0 send=ext:A:e
		corrupt A 1 1
		fetch t -> A#1 x1 [ext:e] HISTORY-ERROR
		ack t events=99999 status=Failed output=poison
		info A -> TestOrch@1.0.0 #1 Failed poison`},
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

	{"BP-01 BP-02 future messages", `
		make A
		send ext:A:a
		send ext:A:b delay=500
		fetch t -> A#1 x1 [ext:a]
		wait 500
		ack t
		fetch -> A#1 x1 [ext:b]`},
	{"BP-03 BP-05 batches keep their order", `
		make A
		send ext:A:a
		send done:A:7
		send queue:A:b
		send stop:A
		fetch t -> A#1 x1 [ext:a done:7 queue:b stop]
		abandon t
		fetch -> A#1 x2 [ext:a done:7 queue:b stop]`},
	{"BP-06 BP-08 abandon with delay", `
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
	{"BP-09 BP-10 BP-11 BP-12 a token works once", `
		make A
		send ext:A:a
		fetch t -> A#1 x1 [ext:a]
		abandon t
		abandon t -> perm
		renew t 1000 -> perm
		ack t -> perm
		fetch u -> A#1 x2 [ext:a]
		ack u
		abandon u -> perm
		renew u 1000 -> perm`},
	{"BP-13 a superseded token is dead", `
		make A
		send ext:A:a
		fetch t1 lock=1000 -> A#1 x1 [ext:a]
		wait 1100
		fetch t2 -> A#1 x2 [ext:a]
		ack t1 -> perm
		renew t1 1000 -> perm
		abandon t1 -> perm
		ack t2`},
	{"F8 an expired token may abandon", `
		make A
		send ext:A:a
		fetch t lock=1000 -> A#1 x1 [ext:a]
		wait 1100
		abandon t delay=500
		fetch -> none
		wait 500
		fetch -> A#1 x2 [ext:a]`},
	{"BP-14 a failed ack keeps the token", `
		make A
		send ext:A:a
		fetch t -> A#1 x1 [ext:a]
		ack t events=1 -> perm
		ack t events=2
		read A -> [1 2]`},
	{"BP-21 zero lock timeout", `
		send start:A
		fetch lock=0 -> A#1 x1 [start]
		fetch -> A#1 x2 [start]`},
	{"BP-30 results go to the parent", `
		make P
		send child:P:2
		send childfailed:P:3
		fetch -> P#1 x1 [SubOrchCompleted SubOrchFailed]`},
	{"BP-31 wrong kinds", `
		send act:A:1 -> perm
		act ext:A:e -> perm
		make A
		send ext:A:e
		fetch t -> A#1 x1 [ext:e]
		ack t send=act:A:1 -> perm
		ack t work=ext:A:e -> perm
		ack t`},
	{"BP-32 BP-33 BP-34 what comes before the start is kept", `
		send stop:A
		send queue:A:q
		fetch -> none
		fetch -> none
		send start:A
		fetch -> A#1 x1 [stop queue:q start]`},
	{"BP-38 a head without context does not starve", `
		send stop:A
		send start:B
		fetch -> B#1 x1 [start]`},
	{"BP-39 BP-40 ended instances are served", `
		make A status=Completed output=done
		send ext:A:e
		send queue:A:q
		fetch t -> A#1 x1 [ext:e queue:q]
		ack t
		info A -> TestOrch@1.0.0 #1 Completed done`},
	{"BP-41 BP-42 timers", `
		make A send=timer:A:1700
		fetch -> none
		wait 700
		fetch t -> A#1 x1 [timer]
		ack t
		send timer:A:999999
		fetch -> A#1 x1 [timer]`},
	{"BP-45 BP-48 status and output", `
		make A status=Completed output=done
		send ext:A:a
		fetch t -> A#1 x1 [ext:a]
		ack t events=2
		execinfo A 1 -> Completed 2 events done at 1000
		send ext:A:a
		fetch t -> A#1 x1 [ext:a]
		ack t status=Failed
		info A -> TestOrch@1.0.0 #1 Failed`},
	{"BP-47 the pointer never goes back", `
		make A
		send ext:A:a
		fetch t -> A#1 x1 [ext:a]
		ack t exec=2 events=OS1
		send ext:A:b
		fetch t -> A#2 x1 [ext:b]
		ack t exec=1 events=5
		info A -> TestOrch@1.0.0 #2 Running
		read A 1 -> [1 5]`},
	{"BP-49 BP-50 name, version, parent", `
		make A parent=p
		send ext:A:a
		fetch t -> A#1 x1 [ext:a]
		ack t name=N2@9.9.9 parent=q
		info A -> N2@9.9.9 #1 Running of p`},
	{"BP-52 BP-53 BP-55 BP-56 event ids", `
		make A
		send ext:A:a
		fetch t -> A#1 x1 [ext:a]
		ack t events=4,2,4 -> perm
		ack t events=0 -> perm
		ack t exec=0 events=2 -> perm
		ack t events=300,99999,2
		read A -> [1 2 300 99999]`},
	{"BP-59 BP-60 append", `
		append A 1 2,1
		append A 1 3,2 -> perm
		append A 1 4,4 -> perm
		append A 1 0 -> perm
		append A 0 1 -> perm
		read A -> [1 2]
		execinfo A 1 -> perm`},
	{"BP-65 double ack", `
		make A
		act act:A:1
		work w -> A:1 x1
		finish w done:A:1
		finish w done:A:1 -> perm
		fetch -> A#1 x1 [done:1]`},
	{"BP-67 redelivery kills the old token", `
		act act:A:1
		work w1 lock=300 -> A:1 x1
		wait 300
		work w2 -> A:1 x2
		finish w1 -> perm
		extend w1 1000 -> perm
		quit w1 -> perm
		finish w2`},
	{"BP-77 BP-78 completions", `
		act act:A:1
		work w -> A:1 x1
		finish w ext:A:e -> perm
		finish w done:A:1
		fetch -> none
		send start:A
		fetch -> A#1 x1 [done:1 start]`},
	{"TG-01 TG-02 TG-03 TG-04 TG-07 BP-79 tags", `
		act act:A:1
		act act:A:2 tag=gpu
		act act:A:3 tag=cpu
		work tags=none -> none
		work tags=GPU -> none
		work w tags=gpu -> A:2gpu x1
		quit w
		work tags=+gpu -> A:1 x1
		work tags=+gpu -> A:2gpu x2
		work -> none
		work tags=any -> A:3cpu x1`},
	{"BP-98 BP-100 BP-101 versions are triples", `
		make A pin=1.10.0
		make B pin=1.1000.0
		make C pin=3.0.0-alpha
		send ext:A:e
		send ext:B:e
		send ext:C:e
		fetch filter=1.2.0..1.9.9 -> none
		fetch filter=2.0.0..2.0.0 -> none
		fetch filter=1.9.0..1.11.0 -> A#1 x1 [ext:e]
		fetch filter=3.0.0..3.0.0 -> C#1 x1 [ext:e]`},
	{"BP-102 an inverted range", `
		make A
		make B pin=1.5.0
		send ext:A:e
		send ext:B:e
		fetch filter=2.0.0..1.0.0 -> A#1 x1 [ext:e]
		fetch filter=2.0.0..1.0.0 -> none`},
	{"BP-127 depths", `
		make A
		make B
		send ext:A:a
		send ext:A:b
		send ext:B:c delay=500
		act act:A:1
		act act:A:2
		depths -> 3 2
		fetch -> A#1 x1 [ext:a ext:b]
		work -> A:1 x1
		depths -> 1 1`},
}

// seenMake is what make A pin= send= does, as observations.
const seenMake = "row inserted 1, lock taken, message marked 1, count 1: 0 to 1, message decoded 1, row removed 1, " +
	"instance created, execution created, pin set, event appended 1, row inserted 2, lock released"
