package memprovider_test

// deliveryBugCases are those of locks, batches and cancellation that came with the whole contract.
var deliveryBugCases = []bugCase{
	{"provider/contextless-batch-blocks", `
		send stop:A
		send start:B
		fetch -> B#1 x1 [start] | none`},
	{"provider/check-then-set-lock", `
		make A send=ext:A:a work=act:A:1
		fetch t1 -> A#1 x1 [ext:a]
		fetch t2 -> none | A#1 x2 [ext:a]
		work w1 -> A:1 x1
		work w2 -> none | A:1 x2
		wait 1
		fetch -> none
		work -> none
		wait 30000
		fetch -> A#1 x2 [ext:a] | A#1 x3 [ext:a]
		work -> A:1 x2 | A:1 x3`},
	{"provider/count-after-decode", `
		send start:A
		seen -> row inserted 1
		fetch -> A#1 x1 [start]
		seen -> lock taken, message marked 1, count 1: 0 to 1, message decoded 1 | lock taken, message decoded 1, message marked 1, count 1: 0 to 1`},
	{"provider/no-row-decode-error-swallowed", `
		bare A send=ext:A:e
		corrupt A 1 1
		fetch -> A#1 x1 [ext:e] HISTORY-ERROR | A#1 x1 [ext:e]`},
	{"provider/undecodable-message-dropped", `
		make A send=ext:A:e,ext:A:f
		spoil 2
		fetch t -> A#1 x1 [ext:f] HISTORY-ERROR | A#1 x1 [ext:f]
		ack t
		depths -> 0 0`},
	{"provider/undecodable-work-blocks", `
		act act:A:1
		act act:A:2
		spoil 1
		work -> A:2 x1 | perm`},
	{"provider/renewal-adds", `
		send start:A
		act act:A:1
		fetch t lock=10000 -> A#1 x1 [start]
		work w lock=10000 -> A:1 x1
		renew t 300
		extend w 300
		wait 400
		fetch -> A#1 x2 [start] | none
		work -> A:1 x2 | none`},
	{"provider/abandon-takes-any-token", `
		send start:A
		fetch t1 lock=1000 -> A#1 x1 [start]
		wait 1000
		fetch t2 -> A#1 x2 [start]
		abandon t1 -> perm |
		fetch -> none | A#1 x3 [start]`},
	{"provider/cancel-spares-held-work", `
		make A work=act:A:2 send=ext:A:e
		work w -> A:2 x1
		fetch t -> A#1 x1 [ext:e]
		ack t cancel=A:2
		extend w 1000 -> perm |
		finish w done:A:2 -> perm |
		depths -> 0 0 | 1 0`},
	{"provider/cancelled-work-kept", `
		make A work=act:A:2 send=ext:A:e
		fetch t -> A#1 x1 [ext:e]
		ack t cancel=A:2
		work -> none | A:2 x1`},
	{"provider/cancel-ignores-activity", `
		make A work=act:A:2,act:A:3 send=ext:A:e
		fetch t -> A#1 x1 [ext:e]
		ack t cancel=A:2
		work -> A:3 x1 | none`},
	{"provider/cancel-ignores-execution", `
		make A work=act:A:2 send=can:A
		fetch t -> A#1 x1 [can]
		ack t exec=2 events=OS1 work=act2:A:2 cancel=A:2
		work -> A:2 x1 | none`},
}

// keptBugCases are those of sessions, tags, custom status, the key-value store, deletion and pruning.
var keptBugCases = []bugCase{
	{"provider/session-not-claimed-atomically", `
		act act:A:1 session=s
		act act:A:2 session=s
		act act:A:3 session=s
		work owner=W1 -> A:1 x1
		work owner=W2 -> none | A:2 x1
		sessions W1 -> 1
		work owner=W1 -> A:2 x1 | A:3 x1`},
	{"provider/session-owner-ignored", `
		act act:A:1 session=s
		act act:A:2 session=s
		work owner=W1 -> A:1 x1
		work owner=W2 -> none | A:2 x1`},
	{"provider/session-taken-by-plain-fetch", `
		act act:A:1 session=s
		work -> none | A:1 x1`},
	{"provider/session-renewed-while-idle", `
		act act:A:1 session=s
		work owner=W1 -> A:1 x1
		sessions W1 idle=0 -> 0 | 1`},
	{"provider/session-revived-by-renewal", `
		act act:A:1 session=s
		work owner=W1 slock=50 -> A:1 x1
		wait 50
		sessions W1 -> 0 | 1
		act act:A:2 session=s
		work owner=W2 -> A:2 x1 | none`},
	{"provider/session-cleaned-with-work", `
		act act:A:1 session=s
		act act:A:2 session=s
		work owner=W1 slock=50 -> A:1 x1
		wait 51
		sweep -> 0 | 1
		work owner=W2 -> A:2 x1`},
	{"provider/session-work-is-no-activity", `
		act act:A:1 session=s
		work w owner=W1 -> A:1 x1
		wait 250
		extend w 5000
		sessions W1 idle=200 -> 1 | 0
		finish w
		sessions W1 idle=200 -> 1 | 0`},

	{"provider/tag-lost", `
		act act:A:1 tag=gpu
		work tags=gpu -> A:1gpu x1 | none
		work -> none | A:1gpu x1`},
	{"provider/tags-ignored", `
		act act:A:1 tag=gpu
		work tags=none -> none
		work -> none | A:1gpu x1`},
	{"provider/tags-fold-case", `
		act act:A:1 tag=GPU
		work -> none
		work tags=gpu -> none | A:1GPU x1`},

	{"provider/custom-status-version-per-event", `
		make A events=OS1,2:status:a,3:status:b
		status A 0 -> b 1 | b 2`},
	{"provider/custom-status-version-kept", `
		make A events=OS1,2:status:a
		status A 0 -> a 1 | nothing`},

	{"provider/kv-snapshot-live", `
		make A events=OS1,2:set:k:1 send=ext:A:e
		fetch -> A#1 x1 [ext:e] | A#1 x1 [ext:e] kv k=1@102`},
	{"provider/kv-tombstone-lost", `
		make A events=OS1,2:set:k:1 status=Completed send=ext:A:e
		fetch t -> A#1 x1 [ext:e] kv k=1@102
		ack t exec=2 events=OS1,2:clear:k
		kv A k -> none | "1"`},
	{"provider/kv-merged-by-every-ack", `
		make A events=OS1,2:set:k:1 send=ext:A:e
		fetch -> A#1 x1 [ext:e] | A#1 x1 [ext:e] kv k=1@102`},
	{"provider/kv-not-merged-on-failure", `
		make A events=OS1,2:set:k:1 status=Failed send=ext:A:e
		fetch -> A#1 x1 [ext:e] kv k=1@102 | A#1 x1 [ext:e]`},
	{"provider/kv-never-merged", `
		make A events=OS1,2:set:k:1 status=Completed send=ext:A:e
		fetch -> A#1 x1 [ext:e] kv k=1@102 | A#1 x1 [ext:e]
		make B events=OS1,2:set:k:1 status=Failed send=ext:B:e
		fetch -> B#1 x1 [ext:e] kv k=1@102 | B#1 x1 [ext:e]`},
	{"provider/kv-not-merged-on-completion", `
		make A events=OS1,2:set:k:1 status=Completed send=ext:A:e
		fetch -> A#1 x1 [ext:e] kv k=1@102 | A#1 x1 [ext:e]
		make B events=OS1,2:set:k:1 status=Failed send=ext:B:e
		fetch -> B#1 x1 [ext:e] kv k=1@102`},
	{"provider/kv-read-in-two-statements", `
		make A events=OS1,2:set:k:1 send=ext:A:e
		fetch t -> A#1 x1 [ext:e]
		wait 10
		kv A k -> "1"
		ack t status=Completed
		kv A k -> "1" | none
		wait 251
		kv A k -> "1"`},

	{"provider/read-skips-undecodable", `
		make A events=OS1,2:set:k:1
		corrupt A 1 2
		read A -> perm | [1]`},
	{"provider/stats-skip-undecodable", `
		make A events=OS1,2:set:k:1
		corrupt A 1 2
		stats A -> 2 0 1 1 | 1 0 1 1`},
	{"provider/lease-from-arrival", `
		send start:A
		arrive fetch
		wait 4000
		resume
		fetch a lock=5000 -> A#1 x1 [start]
		wait 1000
		fetch b lock=5000 -> none | A#1 x2 [start]`},
	{"provider/ack-checks-early", `
		make A send=ext:A:e
		fetch a lock=1000 -> A#1 x1 [ext:e]
		arrive hold a
		wait 1000
		fetch b lock=1000 -> A#1 x2 [ext:e]
		resume
		ack a events=7 -> perm |`},
	{"provider/renewal-checks-early", `
		make A send=ext:A:e
		fetch a lock=1000 -> A#1 x1 [ext:e]
		arrive hold a
		wait 1000
		resume
		renew a 1000 -> perm |
		fetch b lock=1000 -> A#1 x2 [ext:e] | none`},
	{"provider/claim-not-retried", `
		make A
		make B
		send ext:A:e
		send ext:B:e
		arrive fetch
		fetch a lock=1000 -> A#1 x1 [ext:e]
		resume
		fetch b lock=1000 -> B#1 x1 [ext:e] | none`},
	{"provider/delete-looks-early", `
		send start:A
		arrive delete A
		fetch t -> A#1 x1 [start]
		ack t name=TestOrch@1.0.0 events=OS1 status=Running
		resume
		delete A -> perm | 1 1 1 0`},

	{"provider/delete-leaves-lock", `
		make A send=ext:A:e
		fetch t -> A#1 x1 [ext:e]
		delete A force -> 1 1 1 1
		ack t name=TestOrch@1.0.0 events=7 -> perm |
		info A -> perm | TestOrch@1.0.0 #1 Running`},
	{"provider/delete-leaves-messages", `
		make A send=ext:A:e
		delete A force -> 1 1 1 1 | 1 1 1 0
		send start:A
		fetch -> A#1 x1 [start] | A#1 x1 [ext:e start]`},
	{"provider/delete-leaves-work", `
		make A work=act:A:1
		work w -> A:1 x1
		delete A force -> 1 1 1 1 | 1 1 1 0
		finish w done:A:1 -> perm |`},
	{"provider/delete-leaves-history", `
		make A
		delete A force -> 1 1 1 0 | 1 0 0 0
		read A -> [] | [1]`},
	{"provider/delete-leaves-kv", `
		make A events=OS1,2:set:k:1
		delete A force -> 1 1 2 0
		kv A k -> none | "1"`},
	{"provider/delete-leaves-row", `
		make A
		delete A force -> 1 1 1 0 | 0 1 1 0
		info A -> perm | TestOrch@1.0.0 #1 Unknown`},
	{"provider/delete-takes-running", `
		make A
		delete A -> perm | 1 1 1 0`},
	{"provider/delete-orphans-children", `
		make A status=Completed
		make B parent=A status=Completed
		deleteall A -> perm | 1 1 1 0`},
	{"provider/prune-skips-running-instances", `
		make A send=can:A status=ContinuedAsNew
		fetch t -> A#1 x1 [can]
		ack t exec=2 events=OS1
		prune A -> 1 1 1 | 1 0 0
		read A -> [1]`},
	{"provider/session-blocks-queue", `
		act act:A:1 session=s
		act act:A:2 session=s
		act act:A:3
		work owner=W1 -> A:1 x1
		work owner=W2 -> A:3 x1 | none`},
	{"provider/prune-takes-current", `
		make A status=Completed
		prune A -> 1 0 0 | 1 1 1
		read A -> [1] | []`},
	{"provider/prune-takes-running", `
		make A send=can:A
		fetch t -> A#1 x1 [can]
		ack t exec=2 events=OS1
		prune A -> 1 0 0 | 1 1 1
		executions A -> [1 2] | [2]`},
	{"provider/prune-takes-keys", `
		make A events=OS1,2:set:k:1
		prune A -> 1 0 0
		kv A k -> "1" | none`},
}
