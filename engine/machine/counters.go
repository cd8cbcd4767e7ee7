package machine

import (
	"reflect"
	"regexp"
	"strings"

	"github.com/durosim/durosim/engine/replay"
)

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

// List returns all counters in a fixed order. Their names are those of the fields, in lower case with underscores.
func (c Counters) List() []Count {
	v := reflect.ValueOf(c)
	out := make([]Count, v.NumField())
	for i := range out {
		out[i] = Count{strings.ToLower(capital.ReplaceAllString(v.Type().Field(i).Name, "${1}_$2")), v.Field(i).Uint()}
	}
	return out
}

var capital = regexp.MustCompile("(.)([A-Z])")

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
