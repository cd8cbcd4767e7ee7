package machine

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/durosim/durosim/engine/replay"
)

// The log lines listed in docs/contract/runtime.md#r11.2, with the contract's wording where it gives one.

func (n *Node) log(level Level, instance, text string, fields ...Field) {
	n.emit(&Log{Level: level, Text: text, Instance: instance, Fields: fields})
}

func (n *Node) logStart() {
	n.log(LevelInfo, "", "Orchestration dispatcher capability filter configured", Field{"supported_range", n.filter.String()})
}

func (n *Node) logTerminal(d *delivery) {
	n.log(LevelWarn, d.Item.Instance, "Instance is terminal (completed/failed or CAN without start), acking batch without processing")
}

func (n *Node) logUnstarted(d *delivery) {
	n.log(LevelWarn, d.Item.Instance, "completion messages for unstarted instance")
}

func (n *Node) logPoison(d *delivery, cause string) {
	n.log(LevelWarn, d.Item.Instance, "Orchestration message exceeded max attempts, marking as poison",
		n.attempts(d.AttemptCount), n.maxAttempts(), Field{"cause", cause})
}

func (n *Node) logSwept(d *delivery, cause string) {
	n.log(LevelWarn, d.Item.Instance, "Sweeping away work that nobody takes", Field{"cause", cause})
}

func (n *Node) logHistoryError(d *delivery) {
	n.log(LevelWarn, d.Item.Instance,
		fmt.Sprintf("History deserialization failed, abandoning with 1s backoff (%d/%d, %d remaining)",
			d.AttemptCount, n.options.MaxAttempts, n.remaining(d.AttemptCount)),
		Field{"error", d.Item.HistoryError}, Field{"attempt", text(d.AttemptCount)}, n.maxAttempts())
}

func (n *Node) logIncompatible(d *delivery) {
	n.log(LevelWarn, d.Item.Instance, "Execution pinned at incompatible version, abandoning (runtime-side check)",
		Field{"pinned_version", d.pin.String()}, Field{"supported_range", n.supported.String()}, n.attempts(d.AttemptCount))
}

func (n *Node) logWaitForStart(d *delivery) {
	n.log(LevelWarn, d.Item.Instance, "Input arrived before the continue-as-new start, abandoning until it is there",
		n.attempts(d.AttemptCount))
}

func (n *Node) logUnregistered(d *delivery, delay time.Duration) {
	name, version := d.handlerName()
	n.logMissing("Orchestration", d.Item.Instance, d.AttemptCount, delay,
		Field{"orchestration_name", name}, Field{"version", cmp.Or(version, latest)})
}

func (n *Node) logActivityUnregistered(h *hold, delay time.Duration) {
	n.logMissing("Activity", h.instance, h.count, delay,
		Field{"activity_name", h.activity.Name}, Field{"activity_id", strconv.FormatUint(h.activity.ID, 10)})
}

func (n *Node) logMissing(what, instance string, count uint32, delay time.Duration, fields ...Field) {
	secs, left := seconds(delay), n.remaining(count)
	n.log(LevelWarn, instance,
		fmt.Sprintf("%s not registered, abandoning with %ss backoff (will poison in %d more attempts)", what, secs, left),
		append(fields, n.attempts(count), n.maxAttempts(), Field{"remaining_attempts", text(left)}, Field{"backoff_secs", secs})...)
}

func (n *Node) logWorkPoison(h *hold) {
	n.log(LevelWarn, h.instance, "Activity message exceeded max attempts, marking as poison",
		n.attempts(h.count), n.maxAttempts(), Field{"activity_name", h.activity.Name},
		Field{"activity_id", strconv.FormatUint(h.activity.ID, 10)})
}

func (n *Node) logActivityLost(h *hold, cause string) {
	n.log(LevelInfo, h.instance, "Lock renewal failed, signaling activity cancellation (lock was stolen or expired)", Field{"error", cause})
	n.log(LevelInfo, h.instance, "Orchestration terminated, waiting for activity grace period")
}

func (n *Node) logAckFailed(s *slot, err error, step AckStep) {
	var line string
	switch {
	case s.id.Kind == SlotWorker && step.Do == AckRetry:
		line = "worker: atomic ack failed; retrying"
	case s.id.Kind == SlotWorker:
		line = "worker: atomic ack failed, abandoning work item"
	case step.Do == AckRetry:
		line = "ack_orchestration_item failed; retrying"
	case step.Do == AckFail:
		line = "Failed to ack orchestration item, failing orchestration"
	case s.hold.decision == DecideAckFailed:
		line = "Failed to commit failure event, abandoning lock"
	case s.hold.failures > AckRetries:
		line = "Failed to ack_orchestration_item after max retries"
	default:
		line = "ack_orchestration_item failed with non-retryable error"
	}
	n.log(LevelWarn, s.hold.instance, line, Field{"error", err.Error()})
}

// logTurn logs the code's trace lines and the messages that the turn dropped.
func (n *Node) logTurn(d *delivery, out *replay.Output) {
	for _, m := range out.Dropped {
		n.log(LevelWarn, d.Item.Instance, "dropping message", Field{"rule", m.Rule}, Field{"kind", string(d.Item.Messages[m.Index].Kind())})
	}
	for _, e := range out.NotCarried {
		n.log(LevelWarn, d.Item.Instance, fmt.Sprintf("Dropping carry-forward event beyond limit of %d during continue-as-new", n.build.Bounds().CarriedEvents),
			Field{"name", e.Name}, Field{"data", e.Data})
	}
	if e := out.Nondeterminism; e != nil {
		n.log(LevelWarn, d.Item.Instance, "detected nondeterminism", Field{"kind", e.Kind}, Field{"error", e.Text})
	}
	if !n.rules.LogsTraces(out.Result) {
		return
	}
	for _, line := range out.Traces {
		n.log(LevelInfo, d.Item.Instance, line)
	}
}

// remaining returns the number of further deliveries before a message becomes poison. count is the number of deliveries
// so far.
func (n *Node) remaining(count uint32) uint32 {
	return n.options.MaxAttempts - min(count, n.options.MaxAttempts)
}

func (n *Node) attempts(count uint32) Field { return Field{"attempt_count", text(count)} }

func (n *Node) maxAttempts() Field { return Field{"max_attempts", text(n.options.MaxAttempts)} }

func text(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

// seconds formats a duration as a number of seconds without a unit, such as 1, 60 or 0.25.
func seconds(d time.Duration) string {
	ms := d.Milliseconds()
	if ms%1000 == 0 {
		return strconv.FormatInt(ms/1000, 10)
	}
	return fmt.Sprintf("%d.%03d", ms/1000, ms%1000)
}
