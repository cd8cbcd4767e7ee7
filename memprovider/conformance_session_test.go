package memprovider_test

// sessionCases are those about sessions. A fetch claims for 30000 ms unless it says otherwise.
var sessionCases = []conformanceCase{
	{"SR-01 SR-19 plain work needs no session", `
		act act:A:1
		act act:A:2
		work owner=W1 -> A:1 x1
		work -> A:2 x1`},
	{"SR-02 SR-03 SR-04 affinity", `
		act act:A:1 session=s
		work w owner=W1 -> A:1 x1
		finish w
		act act:A:2 session=s
		work owner=W2 -> none
		work owner=W1 -> A:2 x1`},
	{"SR-05 SR-06 SR-09 others behind a session", `
		act act:A:1 session=s
		act act:A:2 session=r
		work owner=W1 -> A:1 x1
		work owner=W2 -> A:2 x1
		act act:A:3 session=s
		act act:A:4 session=r
		act act:A:5
		work owner=W3 -> A:5 x1
		work owner=W2 -> A:4 x1
		work owner=W1 -> A:3 x1
		work owner=W1 -> none`},
	{"SR-07 SR-22 SR-27 takeover after the end", `
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
	{"SR-08 BP-95 fetches without a session", `
		act act:A:1 session=s
		act act:A:2
		work -> A:2 x1
		work -> none
		work owner=W1 slock=300 -> A:1 x1
		act act:A:3 session=s
		work -> none
		wait 300
		work owner=W2 -> A:3 x1`},
	{"SR-10 SR-11 SR-12 SR-26 BP-86 BP-87 renewal", `
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
	{"SR-13 SR-14 SR-15 SR-23 BP-91 BP-92 cleanup", `
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
	{"SR-16 SR-17 BP-89 BP-90 activity of a session", `
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
	{"SR-18 SR-20 in order, one owner for all callers", `
		act act:A:1 session=s
		act act:A:2 session=s
		work w owner=P -> A:1 x1
		finish w
		work w owner=P -> A:2 x1
		act act:A:3 session=s
		work owner=Q -> none`},
	{"SR-24 SR-25 abandoned work", `
		act act:A:1 session=s
		work w owner=W1 -> A:1 x1
		quit w
		work w owner=W1 -> A:1 x2
		quit w delay=1 ignore
		wait 1
		work w owner=W1 -> A:1 x2
		finish w
		work owner=W1 -> none`},
	{"SR-28 SR-31 item lock and session lock are two", `
		act act:A:1 session=s
		work w owner=W1 lock=500 slock=900 -> A:1 x1
		wait 600
		work owner=W2 -> none
		work w owner=W1 lock=500 slock=400 -> A:1 x2
		wait 500
		work owner=W2 -> A:1 x3`},
	{"SR-29 SR-32 the session ends first", `
		act act:A:1 session=s
		work w1 owner=W1 slock=200 -> A:1 x1
		wait 300
		act act:A:2 session=s
		work w2 owner=W2 -> A:2 x1
		finish w2
		quit w1
		work w owner=W2 -> A:1 x2
		finish w done:A:1`},
	{"SR-33 BP-88 renewed past its end, claimer's timeout", `
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
	{"F27 a former holder does not touch the session", `
		act act:A:1 session=s
		act act:A:2 session=s
		work w1 owner=W1 slock=200 -> A:1 x1
		wait 200
		work w2 owner=W2 -> A:2 x1
		wait 250
		finish w1
		sessions W2 idle=200 -> 0`},
	{"BP-82 BP-83 tags and sessions", `
		act act:A:1 session=s tag=gpu
		work owner=W1 tags=none -> none
		work owner=W2 tags=any lock=0 -> A:1gpu x1
		work owner=W2 -> none
		work owner=W1 tags=gpu -> none
		work owner=W2 tags=gpu -> A:1gpu x2`},
	{"BP-85 BP-93 BP-94 sessions outlive work and instances", `
		make A events=OS1 work=act:A:1
		act act:A:2 session=s
		work -> A:1 x1
		work owner=W1 -> A:2 x1
		send ext:A:e
		fetch t -> A#1 x1 [ext:e]
		ack t cancel=A:2
		act act:B:1 session=s
		work owner=W2 -> none
		delete A force -> 1 1 1 1
		work owner=W2 -> none
		work owner=W1 -> B:1 x1`},
	{"a session activity that cannot be decoded is passed over", `
		act act:A:1 session=s
		act act:A:2 session=r
		act act:A:3
		spoil 1
		work owner=W1 -> A:2 x1
		work owner=W1 -> A:3 x1
		work owner=W1 -> perm
		work -> none`},
	{"TG-08 the tag survives", `
		act act:A:1 tag=gpu
		work w tags=gpu -> A:1gpu x1
		quit w
		work -> none
		work tags=gpu -> A:1gpu x2`},
}
