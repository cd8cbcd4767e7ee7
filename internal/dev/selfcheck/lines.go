package selfcheck

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/durosim/durosim/engine/asked"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/sim/cluster"
)

// lines holds the log lines that a node wrote in this step of the run, and those that it should have written.
type lines struct {
	logged, want []machine.Log
	// disagreed holds the instances and errors from the log lines about nondeterminism. disagrees holds the expected
	// ones.
	disagreed, disagrees []string
}

func (n *nodeState) expect(l machine.Log) { n.lines.want = append(n.lines.want, l) }

func (n *nodeState) warn(instance, text string, fields ...machine.Field) {
	n.expect(machine.Log{Level: machine.LevelWarn, Text: text, Instance: instance, Fields: fields})
}

func (k *nodes) touch(n *nodeState) {
	if !slices.Contains(k.dirty, n.number) {
		k.dirty = append(k.dirty, n.number)
	}
}

// AfterStep compares the log lines of every node that wrote or should have written any, and checks that all notes that
// are due have been made, and that a node that is asked to stop does so.
func (k *nodes) AfterStep() {
	for _, number := range k.dirty {
		n := &k.all[number-1]
		k.compareLines(n)
		for i := range n.slots {
			if n.slots[i].held.owed != machine.DecideNone {
				k.pays(n, &n.slots[i])
			}
		}
		k.mustStop(n)
	}
	k.dirty = k.dirty[:0]
}

// compareLines compares the log lines of a node with the expected ones. Lines that orchestration code traces are
// ignored. Lines about nondeterminism may appear anywhere; there must be one for each turn that fails because of it,
// with the failure's text.
func (k *nodes) compareLines(n *nodeState) {
	at := 0
	for i := range n.lines.logged {
		l := &n.lines.logged[i]
		if at < len(n.lines.want) && same(l, &n.lines.want[at]) {
			at++
			continue
		}
		if l.Text == disagreementText && l.Level == machine.LevelWarn && len(l.Fields) == 2 && disagreements[l.Fields[0].Value] {
			n.lines.disagreed = append(n.lines.disagreed, l.Instance+": "+l.Fields[1].Value)
		}
		if !free(l) && n.judged {
			want := "nothing"
			if at < len(n.lines.want) {
				want = text(&n.lines.want[at])
			}
			k.wrong(n, l.Instance, "logs %s: expected %s", text(l), want)
			at = len(n.lines.want)
			break
		}
	}
	if at < len(n.lines.want) && n.judged {
		k.wrong(n, n.lines.want[at].Instance, "does not log %s", text(&n.lines.want[at]))
	}
	if n.judged && !slices.Equal(n.lines.disagreed, n.lines.disagrees) {
		k.wrong(n, "", "logs as nondeterminism %q: expected %q, as its turns fail", n.lines.disagreed, n.lines.disagrees)
	}
	n.lines.disagreed, n.lines.disagrees = n.lines.disagreed[:0], n.lines.disagrees[:0]
	clear(n.lines.logged)
	clear(n.lines.want)
	n.lines.logged, n.lines.want = n.lines.logged[:0], n.lines.want[:0]
}

// free reports whether a line may appear anywhere after a turn. That is the case if the code may have written it. It is
// also the case for lines about nondeterminism and about messages that are not carried over, which are judged
// separately.
func free(l *machine.Log) bool {
	switch {
	case l.Instance == "":
		return false
	case l.Level == machine.LevelInfo:
		return len(l.Fields) == 0
	}
	return l.Text == disagreementText || notCarriedText.MatchString(l.Text) && len(l.Fields) == 2
}

// disagreementText is the log line for a turn that fails because its code and its history disagree.
const disagreementText = "detected nondeterminism"

// notCarriedText is the log line for each queue message that a continue-as-new does not carry over.
var notCarriedText = regexp.MustCompile(`^Dropping carry-forward event beyond limit of [0-9]+ during continue-as-new$`)

func same(a, b *machine.Log) bool {
	return a.Level == b.Level && a.Text == b.Text && a.Instance == b.Instance && slices.Equal(a.Fields, b.Fields)
}

func text(l *machine.Log) string {
	return fmt.Sprintf("%q at level %d for instance %q with %v", l.Text, l.Level, l.Instance, l.Fields)
}

func number(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

func field(name, value string) machine.Field { return machine.Field{Name: name, Value: value} }

// expectOfBatch adds the line expected for a decision about a batch (docs/contract/runtime.md#r11.2).
func (n *nodeState) expectOfBatch(h *held, o *node.Options) {
	v, id := &h.want, h.instance
	attempts, most := field("attempt_count", number(h.count)), field("max_attempts", number(o.MaxAttempts))
	left := number(o.MaxAttempts - min(h.count, o.MaxAttempts))
	switch v.decision {
	case machine.DecideDropTerminal, machine.DecideDropUnstarted:
		n.expectDropped(h, v.decision)
	case machine.DecidePoison:
		n.warn(id, "Orchestration message exceeded max attempts, marking as poison", attempts, most, field("cause", v.cause))
	case machine.DecideSwept:
		n.warn(id, "Sweeping away work that nobody takes", field("cause", v.cause))
	case machine.DecideHistoryError:
		n.warn(id, fmt.Sprintf("History deserialization failed, abandoning with 1s backoff (%d/%d, %s remaining)", h.count, o.MaxAttempts, left),
			field("error", h.undecoded), field("attempt", number(h.count)), most)
	case machine.DecideIncompatible:
		n.warn(id, "Execution pinned at incompatible version, abandoning (runtime-side check)",
			field("pinned_version", v.pin.String()), field("supported_range", v.supported), attempts)
	case machine.DecideWaitForStart:
		n.warn(id, "Input arrived before the continue-as-new start, abandoning until it is there", attempts)
	case machine.DecideNoHandler:
		n.unregistered("Orchestration", h, o, field("orchestration_name", v.missing[0]), field("version", v.missing[1]))
	}
}

// expectDropped adds the line expected for a dropped batch.
func (n *nodeState) expectDropped(h *held, d machine.Decision) {
	switch d {
	case machine.DecideDropTerminal:
		n.warn(h.instance, "Instance is terminal (completed/failed or CAN without start), acking batch without processing")
	case machine.DecideDropUnstarted:
		n.warn(h.instance, "completion messages for unstarted instance")
	}
}

func (n *nodeState) unregistered(what string, h *held, o *node.Options, fields ...machine.Field) {
	left := number(o.MaxAttempts - min(h.count, o.MaxAttempts))
	pause := inSeconds(h.want.delay)
	n.warn(h.instance, what+" not registered, abandoning with "+pause+"s backoff (will poison in "+left+" more attempts)",
		append(fields, field("attempt_count", number(h.count)), field("max_attempts", number(o.MaxAttempts)), field("remaining_attempts", left), field("backoff_secs", pause))...)
}

// inSeconds formats a duration in seconds. It prints three decimals unless the value is a whole number of seconds.
func inSeconds(d time.Duration) string {
	ms := int64(d / time.Millisecond)
	whole := strconv.FormatInt(ms/1000, 10)
	if rest := ms % 1000; rest != 0 {
		return whole + "." + strconv.FormatInt(1000+rest, 10)[1:]
	}
	return whole
}

// expectOfWork adds the line expected for a decision about an activity.
func (n *nodeState) expectOfWork(h *held, o *node.Options) {
	name, id := field("activity_name", h.work.Name), field("activity_id", strconv.FormatUint(h.work.ID, 10))
	switch h.want.decision {
	case machine.DecideWorkPoison:
		n.warn(h.instance, "Activity message exceeded max attempts, marking as poison",
			field("attempt_count", number(h.count)), field("max_attempts", number(o.MaxAttempts)), name, id)
	case machine.DecideWorkNoHandler:
		n.unregistered("Activity", h, o, name, id)
	}
}

// expectLost adds the lines expected for an activity that loses its lock.
func (n *nodeState) expectLost(h *held, cause string) {
	n.expect(machine.Log{Level: machine.LevelInfo, Instance: h.instance, Text: "Lock renewal failed, signaling activity cancellation (lock was stolen or expired)", Fields: []machine.Field{{Name: "error", Value: cause}}})
	n.expect(machine.Log{Level: machine.LevelInfo, Instance: h.instance, Text: "Orchestration terminated, waiting for activity grace period"})
}

// expectDisagreement adds the text expected from a turn that fails because its code and its history disagree.
func (n *nodeState) expectDisagreement(note *cluster.Note) {
	if note.Turn == nil || note.Turn.Ack == nil {
		return
	}
	for i := range note.Turn.Ack.HistoryDelta {
		if child, ok := note.Turn.Ack.HistoryDelta[i].Data.(eventdata.SubOrchestrationFailed); ok && child.Details.Configuration != nil {
			return // the disagreement is a child's
		}
		f, ok := note.Turn.Ack.HistoryDelta[i].Data.(eventdata.OrchestrationFailed)
		if c := f.Details.Configuration; ok && c != nil && c.Kind == eventdata.KindNondeterminism && c.Message != nil {
			n.lines.disagrees = append(n.lines.disagrees, note.Instance+": "+*c.Message)
		}
	}
}

// expectDrops adds the line expected for each message that a turn drops.
func (n *nodeState) expectDrops(h *held, note *cluster.Note) {
	for _, d := range note.Dropped {
		kind := ""
		if h.batch != nil && d.Index >= 0 && d.Index < len(h.batch.Item.Messages) {
			kind = string(h.batch.Item.Messages[d.Index].Kind())
		}
		n.warn(h.instance, "dropping message", field("rule", d.Rule), field("kind", kind))
	}
}

// expectTraces adds the lines that a turn's code traces, if it is known what the code asked for.
func (n *nodeState) expectTraces(h *held, note *cluster.Note) {
	if note.Turn == nil {
		return
	}
	for i := range note.Turn.Asked {
		if a := &note.Turn.Asked[i]; a.Kind == asked.Traced {
			n.expect(machine.Log{Level: machine.LevelInfo, Text: a.Text, Instance: h.instance})
		}
	}
}

// expectAckFailed adds the line expected for a failed ack.
func (n *nodeState) expectAckFailed(s *slot, err error, again bool) {
	line := "ack_orchestration_item failed with non-retryable error"
	switch {
	case s.id.Kind == machine.SlotWorker && again:
		line = "worker: atomic ack failed; retrying"
	case s.id.Kind == machine.SlotWorker:
		line = "worker: atomic ack failed, abandoning work item"
	case again:
		line = "ack_orchestration_item failed; retrying"
	case s.held.failures > 5:
		line = "Failed to ack_orchestration_item after max retries"
	}
	n.warn(s.held.instance, line, field("error", err.Error()))
}
