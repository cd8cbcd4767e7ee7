package memprovider_test

// keptCases are those about custom status, the key-value store and statistics.
var keptCases = []conformanceCase{
	{"CS-01 CS-02 CS-03 CS-04 CS-05 custom status", `
		status A 0 -> nothing
		make A send=ext:A:a
		status A 0 -> nothing
		fetch t -> A#1 x1 [ext:a]
		ack t events=100:status:progress send=ext:A:b
		status A 0 -> progress 1
		status A 1 -> nothing
		fetch t -> A#1 x1 [ext:b]
		ack t events=101 send=ext:A:c
		status A 0 -> progress 1
		fetch t -> A#1 x1 [ext:c]
		ack t events=102:reset
		status A 0 -> reset 2
		status A 1 -> reset 2
		status A 2 -> nothing`},
	{"BP-106 BP-107 BP-108 the last one counts, once", `
		make A events=OS1,2:status:a,3:status:b send=ext:A:a
		status A 0 -> b 1
		fetch t -> A#1 x1 [ext:a]
		ack t events=4:status:c,5:reset send=ext:A:b
		status A 0 -> reset 2
		fetch t -> A#1 x1 [ext:b]
		ack t events=6:reset
		status A 2 -> reset 3`},
	{"BP-109 BP-110 custom status lives as long as the instance", `
		make A events=OS1,2:status:x status=ContinuedAsNew send=can:A
		fetch t -> A#1 x1 [can]
		ack t exec=2 events=OS1 name=TestOrch@2.0.0
		status A 0 -> x 1
		delete A force -> 1 2 3 0
		make A
		status A 0 -> nothing`},
	{"a custom status needs a row", `
		bare A events=OS1,2:status:x
		status A 0 -> nothing`},

	{"KV-01 KV-02 KV-03 KV-04 KV-05 KV-16 KV-17 KV-19 set, overwrite, clear", `
		kv nobody
		kv nobody k -> none
		make A send=ext:A:a
		kv A k -> none
		fetch t -> A#1 x1 [ext:a]
		ack t events=2:set:k:old,3:set:blank: send=ext:A:b
		kv A -> blank= k=old
		kv A blank -> ""
		fetch t -> A#1 x1 [ext:b]
		ack t events=4:set:k:new,5:clear:blank,6:clear:never send=ext:A:c
		kv A -> k=new
		fetch t -> A#1 x1 [ext:c]
		ack t events=7:clearall
		kv A`},
	{"KV-06 KV-08 KV-22 KV-27 BP-119 the snapshot is the store", `
		make A events=OS1,2:set:x:10 send=ext:A:a
		kv A x -> "10"
		fetch t -> A#1 x1 [ext:a]
		ack t events=3:set:y:20 status=Completed send=ext:A:b
		fetch t -> A#1 x1 [ext:b] kv x=10@102 y=20@103
		ack t exec=2 events=OS1,2:set:x:11 send=ext:A:c
		kv A -> x=11 y=20
		fetch -> A#2 x1 [ext:c] kv x=10@102 y=20@103`},
	{"KV-18 BP-118 set after clear", `
		make A events=OS1,2:set:a:1,3:set:b:2 status=Completed send=ext:A:a
		fetch t -> A#1 x1 [ext:a] kv a=1@102 b=2@103
		ack t exec=2 events=OS1,2:set:c:3,3:clearall,4:set:b:9 send=ext:A:b
		kv A -> b=9
		fetch t -> A#2 x1 [ext:b] kv a=1@102 b=2@103
		ack t exec=2 status=ContinuedAsNew send=ext:A:c
		kv A -> b=9
		fetch -> A#2 x1 [ext:c] kv b=9@104`},
	{"KV-29 KV-30 KV-31 BP-111 BP-116 BP-117 BP-122 delta over store", `
		make A events=OS1,2:set:color:red,3:set:size:large status=Completed send=ext:A:a
		stats A -> 3 0 2 8
		fetch t -> A#1 x1 [ext:a] kv color=red@102 size=large@103
		ack t exec=2 events=OS1,2:set:color:blue,3:clear:size,4:set:shape:o send=ext:A:b
		kv A -> color=blue shape=o
		kv A size -> none
		stats A -> 4 0 2 5
		fetch t -> A#2 x1 [ext:b] kv color=red@102 size=large@103
		ack t exec=2 status=Failed send=ext:A:c
		kv A -> color=blue shape=o
		fetch -> A#2 x1 [ext:c] kv color=blue@102 shape=o@104`},
	{"BP-113 BP-115 what merges", `
		make A events=OS1,2:set:k:1 status=Running send=ext:A:a
		fetch t -> A#1 x1 [ext:a]
		ack t status=Paused send=ext:A:b
		fetch t -> A#1 x1 [ext:b]
		ack t events=3:set:j:2 status=Failed send=ext:A:c
		fetch -> A#1 x1 [ext:c] kv j=2@103 k=1@102`},
	{"KV-14 KV-26 instances are separate, and need no row", `
		bare A events=OS1,2:set:k:1
		bare B events=OS1,2:set:k:2
		send ext:A:a
		fetch t -> A#1 x1 [ext:a]
		ack t events=3:clearall
		kv A
		kv B -> k=2`},
	{"KV-15 KV-34 BP-120 deletion takes both tables", `
		make A events=OS1,2:set:k:1 status=Completed send=ext:A:a
		fetch t -> A#1 x1 [ext:a] kv k=1@102
		ack t exec=2 events=OS1,2:set:j:2
		delete A force -> 1 2 4 0
		kv A
		make A send=ext:A:a
		fetch -> A#1 x1 [ext:a]`},
	{"KV-12 KV-13 KV-24 KV-35 pruning leaves keys", `
		make A events=OS1,2:set:k:1 status=ContinuedAsNew send=can:A
		fetch t -> A#1 x1 [can] kv k=1@102
		ack t exec=2 events=OS1,2:set:j:2
		prune A keep=1 -> 1 1 2
		kv A -> j=2 k=1`},
	{"BP-63 BP-62 snapshot with a history error", `
		make A events=OS1,2:set:k:1 status=Completed send=ext:A:a
		corrupt A 1 1
		fetch t -> A#1 x1 [ext:a] HISTORY-ERROR kv k=1@102
		kv A -> k=1
		renew t 5000`},

	{"MG-08 MG-09 MG-11 BP-123 statistics", `
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
	{"MG-10 MG-12 MG-13 statistics of keys", `
		make A events=OS1,2:set:a:aaa,3:set:b:bb send=ext:A:a
		stats A -> 3 0 2 5
		fetch t -> A#1 x1 [ext:a]
		ack t events=4:set:a:zzzzz status=Completed
		stats A -> 4 0 2 7`},
}
