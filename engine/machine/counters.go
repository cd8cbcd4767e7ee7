package machine

import "github.com/durosim/durosim/engine/replay"

// Counters counts a node's actions since its start. Abandons and poisons are counted when the node decides on them,
// commits when the provider confirms them.
type Counters struct {
	Fetches               uint64
	FetchedNothing        uint64
	FetchedOrchestrations uint64
	FetchedWork           uint64
	FetchErrors           uint64

	Turns          uint64 // computed
	TurnsCommitted uint64
	// Executions ended by committed turns, and failures by cause.
	Completed            uint64
	Failed               uint64 // excludes cancelled executions
	Cancelled            uint64
	ContinuedAsNew       uint64
	FailedApplication    uint64
	FailedConfiguration  uint64 // nondeterminism
	FailedInfrastructure uint64
	FailedPoison         uint64 // caused by a poisoned activity or child
	NotCarried           uint64 // queue messages lost to the carry-forward limit of a continue-as-new
	BatchesDropped       uint64 // acknowledged without a turn; excludes poison
	MessagesDropped      uint64 // dropped by a rule: in turns, in poison, and in dropped batches
	AckRetries           uint64 // excludes the first attempt of each ack
	AckFailures          uint64 // acks that failed permanently
	Renewals             uint64 // calls
	RenewalFailures      uint64
	Activities           uint64 // started
	ActivitiesAcked      uint64
	ActivitiesFailed     uint64 // the activity's code returned an error or panicked
	ActivitiesLost       uint64 // stopped after losing the lock
	SessionRenewals      uint64 // calls
	SessionsCleaned      uint64
	SessionErrors        uint64 // failed session calls, either renewals or cleanups

	AbandonedHistoryError uint64
	AbandonedIncompatible uint64
	AbandonedWaitForStart uint64
	AbandonedNoHandler    uint64
	AbandonedAckFailed    uint64
	AbandonedWorkLost     uint64
	AbandonedDrained      uint64
	AbandonedSessionsFull uint64
	AbandonedReadFailed   uint64

	PoisonedUndecodable  uint64
	PoisonedIncompatible uint64
	PoisonedNoHandler    uint64
	PoisonedCrashes      uint64
	PoisonedActivities   uint64
}

// Count is a counter's name and value.
type Count struct {
	Name  string
	Value uint64
}

// counterTable names every counter, in field order.
var counterTable = []struct {
	name  string
	field func(*Counters) *uint64
}{
	{"fetches", func(c *Counters) *uint64 { return &c.Fetches }},
	{"fetched_nothing", func(c *Counters) *uint64 { return &c.FetchedNothing }},
	{"fetched_orchestrations", func(c *Counters) *uint64 { return &c.FetchedOrchestrations }},
	{"fetched_work", func(c *Counters) *uint64 { return &c.FetchedWork }},
	{"fetch_errors", func(c *Counters) *uint64 { return &c.FetchErrors }},
	{"turns", func(c *Counters) *uint64 { return &c.Turns }},
	{"turns_committed", func(c *Counters) *uint64 { return &c.TurnsCommitted }},
	{"completed", func(c *Counters) *uint64 { return &c.Completed }},
	{"failed", func(c *Counters) *uint64 { return &c.Failed }},
	{"cancelled", func(c *Counters) *uint64 { return &c.Cancelled }},
	{"continued_as_new", func(c *Counters) *uint64 { return &c.ContinuedAsNew }},
	{"failed_application", func(c *Counters) *uint64 { return &c.FailedApplication }},
	{"failed_configuration", func(c *Counters) *uint64 { return &c.FailedConfiguration }},
	{"failed_infrastructure", func(c *Counters) *uint64 { return &c.FailedInfrastructure }},
	{"failed_poison", func(c *Counters) *uint64 { return &c.FailedPoison }},
	{"not_carried", func(c *Counters) *uint64 { return &c.NotCarried }},
	{"batches_dropped", func(c *Counters) *uint64 { return &c.BatchesDropped }},
	{"messages_dropped", func(c *Counters) *uint64 { return &c.MessagesDropped }},
	{"ack_retries", func(c *Counters) *uint64 { return &c.AckRetries }},
	{"ack_failures", func(c *Counters) *uint64 { return &c.AckFailures }},
	{"renewals", func(c *Counters) *uint64 { return &c.Renewals }},
	{"renewal_failures", func(c *Counters) *uint64 { return &c.RenewalFailures }},
	{"activities", func(c *Counters) *uint64 { return &c.Activities }},
	{"activities_acked", func(c *Counters) *uint64 { return &c.ActivitiesAcked }},
	{"activities_failed", func(c *Counters) *uint64 { return &c.ActivitiesFailed }},
	{"activities_lost", func(c *Counters) *uint64 { return &c.ActivitiesLost }},
	{"session_renewals", func(c *Counters) *uint64 { return &c.SessionRenewals }},
	{"sessions_cleaned", func(c *Counters) *uint64 { return &c.SessionsCleaned }},
	{"session_errors", func(c *Counters) *uint64 { return &c.SessionErrors }},
	{"abandoned_history_error", func(c *Counters) *uint64 { return &c.AbandonedHistoryError }},
	{"abandoned_incompatible", func(c *Counters) *uint64 { return &c.AbandonedIncompatible }},
	{"abandoned_wait_for_start", func(c *Counters) *uint64 { return &c.AbandonedWaitForStart }},
	{"abandoned_no_handler", func(c *Counters) *uint64 { return &c.AbandonedNoHandler }},
	{"abandoned_ack_failed", func(c *Counters) *uint64 { return &c.AbandonedAckFailed }},
	{"abandoned_work_lost", func(c *Counters) *uint64 { return &c.AbandonedWorkLost }},
	{"abandoned_drained", func(c *Counters) *uint64 { return &c.AbandonedDrained }},
	{"abandoned_sessions_full", func(c *Counters) *uint64 { return &c.AbandonedSessionsFull }},
	{"abandoned_read_failed", func(c *Counters) *uint64 { return &c.AbandonedReadFailed }},
	{"poisoned_undecodable", func(c *Counters) *uint64 { return &c.PoisonedUndecodable }},
	{"poisoned_incompatible", func(c *Counters) *uint64 { return &c.PoisonedIncompatible }},
	{"poisoned_no_handler", func(c *Counters) *uint64 { return &c.PoisonedNoHandler }},
	{"poisoned_crashes", func(c *Counters) *uint64 { return &c.PoisonedCrashes }},
	{"poisoned_activities", func(c *Counters) *uint64 { return &c.PoisonedActivities }},
}

// List returns all counters with their names, in a fixed order.
func (c Counters) List() []Count {
	out := make([]Count, len(counterTable))
	for i, e := range counterTable {
		out[i] = Count{e.name, *e.field(&c)}
	}
	return out
}

func (c *Counters) countDrops(dropped []DroppedMessage) { c.MessagesDropped += uint64(len(dropped)) }

func (c *Counters) countCommit(h *hold) {
	switch h.decision {
	case DecideTurn:
		c.TurnsCommitted++
		c.countEnd(h)
	case DecideDropTerminal, DecideDropUnstarted:
		c.BatchesDropped++
	case DecideWorkRun:
		c.ActivitiesAcked++
	}
}

// countEnd counts the execution that a committed turn has ended.
func (c *Counters) countEnd(h *hold) {
	c.NotCarried += uint64(h.notCarried)
	switch h.result {
	case replay.ResultCompleted:
		c.Completed++
	case replay.ResultContinueAsNew:
		c.ContinuedAsNew++
	case replay.ResultCancelled:
		c.Cancelled++
	case replay.ResultFailed:
		c.Failed++
		switch h.category {
		case "application":
			c.FailedApplication++
		case "configuration":
			c.FailedConfiguration++
		case "infrastructure":
			c.FailedInfrastructure++
		case "poison":
			c.FailedPoison++
		}
	}
}

func (c *Counters) countAbandon(d Decision) {
	switch d {
	case DecideHistoryError:
		c.AbandonedHistoryError++
	case DecideIncompatible:
		c.AbandonedIncompatible++
	case DecideWaitForStart:
		c.AbandonedWaitForStart++
	case DecideNoHandler, DecideWorkNoHandler:
		c.AbandonedNoHandler++
	case DecideAckFailed:
		c.AbandonedAckFailed++
	case DecideWorkLost:
		c.AbandonedWorkLost++
	case DecideDrained:
		c.AbandonedDrained++
	case DecideSessionsFull:
		c.AbandonedSessionsFull++
	case DecideReadFailed:
		c.AbandonedReadFailed++
	}
}

func (c *Counters) countPoison(cause poisonCause) {
	switch cause {
	case poisonUndecodable:
		c.PoisonedUndecodable++
	case poisonIncompatible:
		c.PoisonedIncompatible++
	case poisonNoHandler:
		c.PoisonedNoHandler++
	case poisonCrashes:
		c.PoisonedCrashes++
	}
}
