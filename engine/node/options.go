package node

import (
	"fmt"
	"slices"
	"time"

	"github.com/durosim/durosim/engine"
)

// Options are a node's settings (docs/contract/runtime.md#r4). They are plain data, and a copy made by Clone shares
// nothing with the original. Durations must be whole milliseconds. Start from DefaultOptions, which returns the
// contract's defaults: the zero value of Options is not valid.
type Options struct {
	// DispatcherMinPollInterval is how long a slot waits after a fetch that found nothing.
	DispatcherMinPollInterval time.Duration
	// DispatcherLongPollTimeout is how long a provider may block a fetch until there is work; 0 means no blocking.
	DispatcherLongPollTimeout time.Duration
	// OrchestrationConcurrency and WorkerConcurrency are the number of slots of each kind; 0 means none.
	OrchestrationConcurrency int
	WorkerConcurrency        int
	// OrchestratorLockTimeout is how long a fetch or renewal locks a batch. The lock is renewed
	// OrchestratorLockRenewalBuffer before it expires, except for short timeouts, for which the buffer is ignored
	// (docs/contract/runtime.md).
	OrchestratorLockTimeout       time.Duration
	OrchestratorLockRenewalBuffer time.Duration
	// WorkerLockTimeout and WorkerLockRenewalBuffer are the same settings for activities.
	WorkerLockTimeout       time.Duration
	WorkerLockRenewalBuffer time.Duration
	// UnregisteredBackoffBase and UnregisteredBackoffMax determine how long work without a handler is delayed when the
	// node abandons it. The delay starts at Base and doubles with each attempt, at most six times, up to Max.
	UnregisteredBackoffBase time.Duration
	UnregisteredBackoffMax  time.Duration
	// MaxAttempts is the maximum number of deliveries of a message, on either queue. A message delivered more often is
	// poison.
	MaxAttempts uint32
	// ActivityCancellationGracePeriod is how long an activity may keep running after it is cancelled; 0 means not at
	// all.
	ActivityCancellationGracePeriod time.Duration
	// SupportedReplayVersions is the range of pins that the node replays; nil means the build's default range.
	SupportedReplayVersions *engine.VersionRange
	// A session is locked for SessionLockTimeout and renewed like any other lock, unless it has been idle for longer
	// than SessionIdleTimeout. Expired sessions without work are deleted every SessionCleanupInterval.
	// MaxSessionsPerRuntime limits the number of sessions whose activities the node's workers hold concurrently.
	SessionLockTimeout       time.Duration
	SessionLockRenewalBuffer time.Duration
	SessionIdleTimeout       time.Duration
	SessionCleanupInterval   time.Duration
	MaxSessionsPerRuntime    int
	// WorkerNodeID is a stable owner of sessions that all slots share. If it is empty, each slot owns its own sessions.
	WorkerNodeID string
	// WorkerTagFilter selects the activities that the node accepts.
	WorkerTagFilter engine.TagFilter
	// KeptExecutions is the number of executions whose code the node keeps suspended between turns, as runtimes with a
	// sticky cache do: their turns do not replay the history. 0 means none, as in duroxide. The node loses them when it
	// stops or crashes, when another node has run a turn, and the one used longest ago when there are too many.
	// KeptTurns is how many turns in a row may do without a replay; 0 means any number.
	KeptExecutions, KeptTurns int
	// CallDeadline is how long the node waits for the answer to a provider call other than a fetch
	// (docs/contract-decisions.md#world).
	CallDeadline time.Duration
}

// DefaultOptions returns the defaults in docs/contract/runtime.md#r4.
func DefaultOptions() Options {
	return Options{
		DispatcherMinPollInterval:       100 * time.Millisecond,
		DispatcherLongPollTimeout:       30 * time.Second,
		OrchestrationConcurrency:        2,
		WorkerConcurrency:               2,
		OrchestratorLockTimeout:         5 * time.Second,
		OrchestratorLockRenewalBuffer:   2 * time.Second,
		WorkerLockTimeout:               30 * time.Second,
		WorkerLockRenewalBuffer:         5 * time.Second,
		UnregisteredBackoffBase:         time.Second,
		UnregisteredBackoffMax:          60 * time.Second,
		MaxAttempts:                     10,
		ActivityCancellationGracePeriod: 10 * time.Second,
		SessionLockTimeout:              30 * time.Second,
		SessionLockRenewalBuffer:        5 * time.Second,
		SessionIdleTimeout:              300 * time.Second,
		SessionCleanupInterval:          300 * time.Second,
		MaxSessionsPerRuntime:           10,
		CallDeadline:                    500 * time.Millisecond,
	}
}

// Clone returns a copy that shares nothing with o.
func (o Options) Clone() Options {
	if r := o.SupportedReplayVersions; r != nil {
		own := *r
		o.SupportedReplayVersions = &own
	}
	o.WorkerTagFilter.Tags = slices.Clone(o.WorkerTagFilter.Tags)
	return o
}

// Range returns the range of pins that a node running build b replays with these options.
func (o Options) Range(b *engine.Build) engine.VersionRange {
	if o.SupportedReplayVersions != nil {
		return *o.SupportedReplayVersions
	}
	return b.DefaultRange
}

// maxKept limits the number of kept executions, each of which has a goroutine.
const maxKept = 1 << 20

// maxSlots limits the number of slots. A higher number is certainly a mistake in the scenario.
const maxSlots = 1024

// Validate returns an error for the first invalid option it finds, or nil.
func (o Options) Validate() error {
	for _, d := range optionTable {
		if err := d.check(&o); err != nil {
			return fmt.Errorf("option %s: %w", d.name, err)
		}
	}
	if o.UnregisteredBackoffMax < o.UnregisteredBackoffBase {
		return fmt.Errorf("option unregistered_backoff_max: %v is below unregistered_backoff_base, %v", o.UnregisteredBackoffMax, o.UnregisteredBackoffBase)
	}
	if o.KeptTurns > 0 && o.KeptExecutions == 0 {
		return fmt.Errorf("option kept_turns: %d has no effect without kept_executions", o.KeptTurns)
	}
	// A session must not become idle between two renewals of its activity (docs/contract/runtime.md#r4).
	floor := o.WorkerLockTimeout - o.WorkerLockRenewalBuffer
	if floor < 0 {
		floor = time.Second
	}
	if o.SessionIdleTimeout <= floor {
		return fmt.Errorf("option session_idle_timeout: %v must be above %v, which is worker_lock_timeout less worker_lock_renewal_buffer (1s if that is negative)",
			o.SessionIdleTimeout, floor)
	}
	return nil
}
