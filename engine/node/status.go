package node

import (
	"slices"
	"time"

	"github.com/durosim/durosim/engine"
)

// StatusKind is what a client sees of an instance.
type StatusKind uint8

// What a client sees.
const (
	StatusNotFound StatusKind = iota
	StatusRunning             // also while a continue-as-new is on its way
	StatusCompleted
	StatusFailed
)

var statusNames = [...]string{"NotFound", "Running", "Completed", "Failed"}

// String is the kind's name.
func (k StatusKind) String() string { return statusNames[k] }

// OrchestrationStatus is the answer to a client's status read (contract/runtime.md section 9).
type OrchestrationStatus struct {
	Kind    StatusKind
	Output  string              // for StatusCompleted
	Details engine.ErrorDetails // for StatusFailed
	// CustomStatus and its version are nil and 0 if there is none, or none could be read.
	CustomStatus        *string
	CustomStatusVersion uint64
}

// StatusFromHistory is the status that a client reads: from the latest execution's history, in which the last Completed
// or Failed wins, and the custom status, nil if the provider returned none.
func StatusFromHistory(history []engine.Event, custom *engine.CustomStatus) OrchestrationStatus {
	var s OrchestrationStatus
	for _, e := range slices.Backward(history) {
		switch data := e.Data.(type) {
		case engine.OrchestrationCompleted:
			s.Kind, s.Output = StatusCompleted, data.Output
		case engine.OrchestrationFailed:
			s.Kind, s.Details = StatusFailed, data.Details
		case engine.OrchestrationStarted:
			s.Kind = StatusRunning
			continue // the end, if there is one, is still to be found before it
		default:
			continue
		}
		break
	}
	if s.Kind != StatusNotFound && custom != nil {
		s.CustomStatus, s.CustomStatusVersion = custom.Status, custom.Version
	}
	return s
}

// Ended says whether the instance has Completed or Failed.
func (s OrchestrationStatus) Ended() bool { return s.Kind == StatusCompleted || s.Kind == StatusFailed }

// Changed says whether a wait for a status change returns: the custom status is newer than seen, or the instance has
// ended. An instance that is not there yet counts as "wait".
func (s OrchestrationStatus) Changed(seen uint64) bool {
	return s.Ended() || s.Kind == StatusRunning && s.CustomStatusVersion > seen
}

// NextWaitPoll is the pause before a waiting client's next read, given the pause before the last, 0 at first: 5 ms,
// doubling, at most 100 ms.
func NextWaitPoll(last time.Duration) time.Duration {
	return min(max(2*last, 5*time.Millisecond), 100*time.Millisecond)
}
