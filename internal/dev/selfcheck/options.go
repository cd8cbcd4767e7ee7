package selfcheck

import (
	"fmt"
	"time"

	"github.com/durosim/durosim/engine/machine"
)

// This file names the options behind expected values. None of its code runs unless there is a violation.

// behind says which option sets a duration.
type behind uint8

const (
	byNone behind = iota
	byPolling
	byGrace
	bySessionLock
	byCleanup
)

// optionBehind names an option with its value, in parentheses.
func (k *nodes) optionBehind(n *nodeState, by behind) string {
	switch o := &k.options(n).Options; by {
	case byPolling:
		return fmt.Sprintf(" (dispatcher_min_poll_interval %v, less the time that the fetch took)", o.DispatcherMinPollInterval)
	case byGrace:
		return fmt.Sprintf(" (activity_cancellation_grace_period %v)", o.ActivityCancellationGracePeriod)
	case bySessionLock:
		return lockText("session", o.SessionLockTimeout, o.SessionLockRenewalBuffer)
	case byCleanup:
		return fmt.Sprintf(" (session_cleanup_interval %v)", o.SessionCleanupInterval)
	}
	return ""
}

// lockOptions names the options behind the renewal of a slot's lock.
func (k *nodes) lockOptions(n *nodeState, s *slot) string {
	o := &k.options(n).Options
	if s.id.Kind == machine.SlotWorker {
		return lockText("worker", o.WorkerLockTimeout, o.WorkerLockRenewalBuffer)
	}
	return lockText("orchestrator", o.OrchestratorLockTimeout, o.OrchestratorLockRenewalBuffer)
}

func lockText(whose string, timeout, buffer time.Duration) string {
	return fmt.Sprintf(" (%s_lock_timeout %v, %s_lock_renewal_buffer %v)", whose, timeout, whose, buffer)
}

// decidedBy names the options behind a decision and its delay.
func (k *nodes) decidedBy(n *nodeState, v *duty) string {
	o := &k.options(n).Options
	switch v.decision {
	case machine.DecidePoison, machine.DecideWorkPoison:
		return fmt.Sprintf(" (max_attempts %d)", o.MaxAttempts)
	case machine.DecideNoHandler, machine.DecideWorkNoHandler:
		return fmt.Sprintf(" (max_attempts %d, unregistered_backoff_base %v, unregistered_backoff_max %v)", o.MaxAttempts, o.UnregisteredBackoffBase, o.UnregisteredBackoffMax)
	case machine.DecideTurn, machine.DecideWorkRun, machine.DecideIncompatible:
		return fmt.Sprintf(" (max_attempts %d, supported_replay_versions %s)", o.MaxAttempts, &n.admits.SupportedVersions[0])
	case machine.DecideSessionsFull:
		return fmt.Sprintf(" (max_sessions_per_runtime %d)", o.MaxSessionsPerRuntime)
	}
	return ""
}
