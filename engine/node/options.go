package node

import (
	"fmt"
	"slices"
	"time"

	"github.com/durosim/durosim/engine"
)

// Options are a node's options (docs/contract/runtime.md#r4). They are plain data: a copy made by Clone shares nothing.
// Durations are whole milliseconds. DefaultOptions returns the contract's defaults; the zero value of Options is not
// valid.
type Options struct {
	// DispatcherMinPollInterval is how long a slot waits between two fetches that find nothing.
	DispatcherMinPollInterval time.Duration
	// DispatcherLongPollTimeout is how long a provider may keep a fetch waiting for work; 0 means not at all.
	DispatcherLongPollTimeout time.Duration
	// OrchestrationConcurrency and WorkerConcurrency are numbers of slots; 0 means none of that kind.
	OrchestrationConcurrency int
	WorkerConcurrency        int
	// OrchestratorLockTimeout is how long a fetch or a renewal locks a batch. The buffer is how long before expiry the
	// lock is renewed; it is ignored for short timeouts (docs/contract/runtime.md).
	OrchestratorLockTimeout       time.Duration
	OrchestratorLockRenewalBuffer time.Duration
	// WorkerLockTimeout and its buffer are the same for activities.
	WorkerLockTimeout       time.Duration
	WorkerLockRenewalBuffer time.Duration
	// UnregisteredBackoffBase and Max bound the delay with which the node abandons work without a handler: the delay
	// is Base, doubled with each attempt up to six times, and at most Max.
	UnregisteredBackoffBase time.Duration
	UnregisteredBackoffMax  time.Duration
	// MaxAttempts is how many times a message may be delivered, on both queues: the next delivery is poison.
	MaxAttempts uint32
	// ActivityCancellationGracePeriod is how long a cancelled activity may go on; 0 means not at all.
	ActivityCancellationGracePeriod time.Duration
	// SupportedReplayVersions is the range of pins that the node replays; nil means the build's default range.
	SupportedReplayVersions *engine.VersionRange
	// A session is locked for SessionLockTimeout and renewed like any lock, unless it has been idle for longer than
	// SessionIdleTimeout; expired sessions without work are swept every SessionCleanupInterval. MaxSessionsPerRuntime
	// bounds the sessions whose activities the workers hold at a time.
	SessionLockTimeout       time.Duration
	SessionLockRenewalBuffer time.Duration
	SessionIdleTimeout       time.Duration
	SessionCleanupInterval   time.Duration
	MaxSessionsPerRuntime    int
	// WorkerNodeID is the stable session owner of all slots; empty makes each slot its own owner.
	WorkerNodeID string
	// WorkerTagFilter selects the activities that the node takes.
	WorkerTagFilter engine.TagFilter
	// CallDeadline is how long the node waits for an answer to a provider call other than a fetch
	// (docs/contract-decisions.md#world).
	CallDeadline time.Duration
}

// DefaultOptions returns the defaults of docs/contract/runtime.md#r4.
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

// Range returns the range of pins that a node of that build replays with these options.
func (o Options) Range(b *engine.Build) engine.VersionRange {
	if o.SupportedReplayVersions != nil {
		return *o.SupportedReplayVersions
	}
	return b.DefaultRange
}

// maxSlots bounds the numbers of slots: a higher number is a mistake in a scenario.
const maxSlots = 1024

// Validate returns an error for the first invalid option, or nil.
func (o Options) Validate() error {
	for _, d := range optionTable {
		if d.check == nil {
			continue
		}
		if err := d.check(&o); err != nil {
			return fmt.Errorf("option %s: %w", d.name, err)
		}
	}
	if o.UnregisteredBackoffMax < o.UnregisteredBackoffBase {
		return fmt.Errorf("option unregistered_backoff_max: %v is below unregistered_backoff_base, %v", o.UnregisteredBackoffMax, o.UnregisteredBackoffBase)
	}
	// A session must not count as idle while its activity is between two renewals (docs/contract/runtime.md#r4).
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
