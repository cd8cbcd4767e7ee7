package client

import (
	"slices"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
)

// StatusKind is an instance's state as seen by a client.
type StatusKind uint8

// The states.
const (
	StatusNotFound StatusKind = iota
	StatusRunning             // includes the time between the executions of a continue-as-new
	StatusCompleted
	StatusFailed
)

var statusNames = [...]string{"NotFound", "Running", "Completed", "Failed"}

// String returns the kind's name.
func (k StatusKind) String() string { return statusNames[k] }

// Status is the result of GetOrchestrationStatus.
type Status struct {
	Kind    StatusKind
	Output  string              // for StatusCompleted
	Details engine.ErrorDetails // for StatusFailed
	// CustomStatus is nil, and its version is 0, if there is no custom status or it cannot be read.
	CustomStatus        *string
	CustomStatusVersion uint64
}

// statusFromHistory derives a status from the latest execution's history and custom status. The last Completed or
// Failed event in the history decides. custom is nil if the provider returned none.
func statusFromHistory(history []engine.Event, custom *engine.CustomStatus) Status {
	var s Status
	for _, e := range slices.Backward(history) {
		switch data := e.Data.(type) {
		case eventdata.OrchestrationCompleted:
			s.Kind, s.Output = StatusCompleted, data.Output
		case eventdata.OrchestrationFailed:
			s.Kind, s.Details = StatusFailed, data.Details
		case eventdata.OrchestrationStarted:
			s.Kind = StatusRunning
			continue // an earlier event may be terminal
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

// Ended reports whether the instance has Completed or Failed.
func (s Status) Ended() bool { return s.Kind == StatusCompleted || s.Kind == StatusFailed }

// changed reports whether a wait for a status change is over: the custom status version is greater than seen, or the
// instance has ended. An instance that does not exist yet counts as unchanged.
func (s Status) changed(seen uint64) bool {
	return s.Ended() || s.Kind == StatusRunning && s.CustomStatusVersion > seen
}

// nextWaitPoll returns the pause before a wait's next read: 5 ms at first, then doubled each time up to 100 ms. last is
// the previous pause, or 0 at first.
func nextWaitPoll(last time.Duration) time.Duration {
	return min(max(2*last, 5*time.Millisecond), 100*time.Millisecond)
}
