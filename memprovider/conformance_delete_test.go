package memprovider_test

// deleteCases are those about trees, deletion and pruning.
var deleteCases = []conformanceCase{
	{"DL-01 DL-02 DL-03 BP-136 deletion", `
		make A status=Completed
		make B status=Failed
		make C
		make D status=ContinuedAsNew
		delete A -> 1 1 1 0
		delete B -> 1 1 1 0
		delete C -> perm
		info C -> TestOrch@1.0.0 #1 Running
		delete C force -> 1 1 1 0
		delete D -> 1 1 1 0
		delete D -> perm
		list
		info A -> perm`},
	{"DL-04 BP-133 BP-134 queues and locks go", `
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
	{"DL-05 DL-07 DL-08 DL-09 KV-25 trees", `
		make root status=Completed
		make one parent=root status=Completed events=OS1,2:set:k:1
		make two parent=root status=Completed
		make leaf parent=two status=Completed
		children root -> one two
		children two -> leaf
		children leaf
		children nobody
		parent root -> ""
		parent leaf -> "two"
		parent nobody -> perm
		tree root -> root one two leaf
		tree leaf -> leaf
		delete one -> perm
		delete one force -> perm
		delete leaf force -> perm
		delete root -> 4 4 5 0
		kv one
		list
		children root`},
	{"DL-10 DL-11 DL-12 BP-131 atomic deletion", `
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
	{"BP-132 a running descendant", `
		make root status=Completed
		make child parent=root
		delete root -> perm
		list -> root child
		delete root force -> 2 2 2 0`},
	{"what has no row can be deleted too", `
		bare A
		send start:B
		deleteall A,B -> 0 1 1 1
		executions A -> []
		fetch -> none`},
	{"BD-01 BD-02 BD-04 BP-137 BP-138 BP-139 BP-141 bulk deletion", `
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
	{"BD-03 BP-140 the cutoff is strict", `
		make A status=Completed
		wait 10
		make B status=Completed
		deletebulk before=1000 -> 0 0 0 0
		deletebulk before=1010 -> 1 1 1 0
		deletebulk before=1011 -> 1 1 1 0`},
	{"PR-01 PR-02 BP-145 BP-148 pruning", `
		make A status=ContinuedAsNew send=can:A
		fetch t -> A#1 x1 [can]
		ack t exec=2 events=OS1,2 status=ContinuedAsNew send=can:A
		fetch t -> A#2 x1 [can]
		ack t exec=3 events=OS1,2,3 status=ContinuedAsNew send=can:A
		fetch t -> A#3 x1 [can]
		ack t exec=4 events=OS1 status=Completed work=act:A:9
		prune nobody -> perm
		prune A keep=2 -> 1 2 3
		executions A -> [3 4]
		read A 1 -> []
		prune A keep=0 -> 1 1 3
		prune A -> 1 0 0
		executions A -> [4]
		read A -> [1]
		work -> A:9 x1`},
	{"BP-142 BP-143 BP-144 what a prune spares", `
		make A status=Completed send=can:A
		wait 10
		fetch t -> A#1 x1 [can]
		ack t exec=2 events=OS1 status=ContinuedAsNew send=can:A
		wait 10
		fetch t -> A#2 x1 [can]
		ack t exec=3 events=OS1 send=can:A
		fetch t -> A#3 x1 [can]
		ack t exec=4 events=OS1
		prune A older=1020 keep=3 -> 1 1 1
		executions A -> [2 3 4]
		prune A older=1010 -> 1 0 0
		prune A -> 1 1 1
		executions A -> [3 4]`},
	{"PR-03 PR-04 BP-147 bulk pruning", `
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
	{"BP-124 BP-125 BP-126 BP-129 BP-130 lists and totals", `
		make A status=ContinuedAsNew send=can:A
		fetch t -> A#1 x1 [can]
		ack t exec=2 events=OS1
		make B status=Failed
		make C status=Completed
		bare D
		send start:Z
		list Running -> A
		list ContinuedAsNew
		list Strange
		list -> A B C
		executions nobody -> []
		tree nobody -> nobody
		metrics -> 3 1 1 1 5 5`},
}
