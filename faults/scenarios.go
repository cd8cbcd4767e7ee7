package faults

// The built-in scenarios that show bugs.
const (
	upgrade     = "rolling-upgrade"
	badHistory  = "bad-history"
	twoRanges   = "two-ranges"
	nobody      = "nobody-compatible"
	crashes     = "mixed-crashes"
	continueNew = "continue-as-new"
	lostLocks   = "lost-locks"
	noHandlers  = "missing-handlers"
	tornAcks    = "torn-acks"
	families    = "families"
	races       = "races"
	slowWork    = "slow-work"
	earlyInput  = "early-input"
	edges       = "version-edges"
	lateRenewal = "late-renewals"
	refusedAcks = "refused-acks"
	orphans     = "orphans"
	probes      = "probes"
	outage      = "outage"
	programs    = "programs"
	features    = "features"
	corners     = "corners"
	damaged     = "damaged-messages"

	secondStarts = "second-starts"
	retention    = "retention"
	sessions     = "sessions"
	rolledBack   = "ended-before-rollback"
)
