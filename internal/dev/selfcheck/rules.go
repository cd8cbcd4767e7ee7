package selfcheck

import (
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
)

// This file states which pins a filter admits, and when a node renews locks and gives work back. It shares nothing with
// the node, nor with the properties that restate the same rules.

// rangeOf returns the range of pins that a node replays: that of its options, whatever it is, or else that of its build.
func rangeOf(o *node.Options, b *engine.Build) engine.VersionRange {
	if o.SupportedReplayVersions == nil {
		return b.DefaultRange
	}
	return *o.SupportedReplayVersions
}

// admits reports whether a filter admits an execution with a given pin; see docs/contract/provider.md#p4. A nil filter
// admits everything, and an empty one admits nothing. Any other filter admits unpinned executions and the pins within its
// first range. Pre-release parts are ignored.
func admits(f *engine.CapabilityFilter, pin *engine.Version) bool {
	switch {
	case f == nil:
		return true
	case len(f.SupportedVersions) == 0:
		return false
	case pin == nil:
		return true
	}
	first := &f.SupportedVersions[0]
	return !before(pin, &first.Min) && !before(&first.Max, pin)
}

func before(a, b *engine.Version) bool {
	switch {
	case a.Major != b.Major:
		return a.Major < b.Major
	case a.Minor != b.Minor:
		return a.Minor < b.Minor
	}
	return a.Patch < b.Patch
}

// renewedAfter returns how long after a lock is granted its holder renews it (docs/contract/runtime.md#r4). A lock of
// 15 s or more is renewed when only the buffer is left. A shorter lock is renewed after half its time, rounded up to
// whole seconds. No lock is renewed within its first second.
func renewedAfter(timeout, buffer time.Duration) time.Duration {
	if timeout >= 15*time.Second {
		return max(timeout-buffer, time.Second)
	}
	after := time.Second
	for 2*after < timeout {
		after += time.Second
	}
	return after
}

// renewalRetry returns the pause after a renewal that failed with a retryable error: a twentieth of the timeout in whole
// milliseconds, but at least 10 ms and at most 500 ms.
func renewalRetry(timeout time.Duration) time.Duration {
	return min(max(timeout/20, 10*time.Millisecond), 500*time.Millisecond).Truncate(time.Millisecond)
}

// backoff returns the delay for work that a node cannot run: the base, doubled for each delivery after the first, at
// most six times, and capped at most.
func backoff(attempt uint32, base, most time.Duration) time.Duration {
	d := base
	for i := uint32(1); i < min(attempt, 7) && d < most; i++ {
		d *= 2
	}
	return min(d, most)
}

const (
	// givenBack is the delay for work that waits for something else: a node with another range, readable bytes, a start.
	givenBack = time.Second
	// stalled is the delay for work that another node is to take, under the strategy stall.
	stalled = 1050 * time.Millisecond
)
