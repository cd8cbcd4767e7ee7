package client

import (
	"slices"
	"time"

	"github.com/durosim/durosim/engine"
)

// StatusKind is the state of an instance as a client sees it.
type StatusKind uint8

// The states.
const (
	StatusNotFound StatusKind = iota
	StatusRunning             // also between the executions of a continue-as-new
	StatusCompleted
	StatusFailed
)

var statusNames = [...]string{"NotFound", "Running", "Completed", "Failed"}

// String is the kind's name.
func (k StatusKind) String() string { return statusNames[k] }

// Status is what GetOrchestrationStatus reads.
type Status struct {
	Kind    StatusKind
	Output  string              // for StatusCompleted
	Details engine.ErrorDetails // for StatusFailed
	// CustomStatus is nil and its version 0 if there is none, or if it could not be read.
	CustomStatus        *string
	CustomStatusVersion uint64
}

// statusFromHistory derives a status from the latest execution's history, in which the last Completed or Failed event
// decides, and from the custom status, nil if the provider returned none.
func statusFromHistory(history []engine.Event, custom *engine.CustomStatus) Status {
	var s Status
	for _, e := range slices.Backward(history) {
		switch data := e.Data.(type) {
		case engine.OrchestrationCompleted:
			s.Kind, s.Output = StatusCompleted, data.Output
		case engine.OrchestrationFailed:
			s.Kind, s.Details = StatusFailed, data.Details
		case engine.OrchestrationStarted:
			s.Kind = StatusRunning
			continue // an end may stand before it
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
func (s Status) Ended() bool { return s.Kind == StatusCompleted || s.Kind == StatusFailed }

// changed says whether a wait for a status change ends: the custom status is newer than version seen, or the instance has
// ended. An instance that does not exist yet has not changed.
func (s Status) changed(seen uint64) bool {
	return s.Ended() || s.Kind == StatusRunning && s.CustomStatusVersion > seen
}

// nextWaitPoll is the pause before the next read of a wait, given the pause before the last, 0 at first: 5 ms, doubling,
// at most 100 ms.
func nextWaitPoll(last time.Duration) time.Duration {
	return min(max(2*last, 5*time.Millisecond), 100*time.Millisecond)
}
