package liveness

import (
	"fmt"
	"strings"
	"time"

	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/internal/machine"
	"github.com/durosim/durosim/internal/span"
)

// bound is the store time that an obligation may take, with the terms of the sum, so that a message can show them. It
// is a value; it allocates nothing until it is printed.
type bound struct {
	ms    int64
	terms [9]boundTerm
	n     int
}

// boundTerm stands for times × each milliseconds, with a description.
type boundTerm struct {
	what  string
	times int64
	each  int64
}

func (b *bound) add(times, each int64, what string) {
	if times <= 0 || each <= 0 {
		return
	}
	b.ms += times * each
	b.terms[b.n] = boundTerm{what, times, each}
	b.n++
}

// String returns the sum and its terms: "14.5s = 3s fetch backoff + 11 x 1s two call deadlines + ...".
func (b bound) String() string {
	var s strings.Builder
	s.WriteString(span.Text(b.ms))
	for i := range b.n {
		t := &b.terms[i]
		s.WriteString([...]string{" = ", " + "}[min(i, 1)])
		if t.times > 1 {
			fmt.Fprintf(&s, "%d x ", t.times)
		}
		s.WriteString(span.Text(t.each) + " " + t.what)
	}
	return s.String()
}

// boundInput is the input of bounds: the worst options among the nodes that may take the work, and the other work
// that competes with it.
type boundInput struct {
	attempts   int64 // max_attempts
	deadlineMs int64 // of a provider call
	cadenceMs  int64 // of polls
	lockMs     int64 // of the queue that the bound is about
	backoffMs  int64 // total delay that abandons have added to the message so far, each within its curve
	slots      int64 // slots that may take the work, at least 1
	others     int64 // pieces of work that may stand before it
	lost       int64 // holders that lost their lock since the obligation began
}

// turnMarginMs is the time by which a turn or an activity that a fault delays may outlast its lock.
const turnMarginMs = 20

// worstOf widens the input by the options of one more node that may take the work, and by its number of slots.
func (in *boundInput) worstOf(o *node.Options, lock time.Duration, slots int) {
	in.attempts = max(in.attempts, int64(o.MaxAttempts))
	in.deadlineMs = max(in.deadlineMs, o.CallDeadline.Milliseconds())
	in.cadenceMs = max(in.cadenceMs, o.DispatcherMinPollInterval.Milliseconds())
	in.lockMs = max(in.lockMs, lock.Milliseconds())
	in.slots += int64(slots)
}

// queuedMs returns how long work may wait behind other work. All slots take work in order, and each piece keeps a
// slot for at most two call deadlines, since turns are short once faults have stopped.
func (in *boundInput) queuedMs() int64 {
	slots := max(in.slots, 1)
	return (in.others + slots - 1) / slots * 2 * in.deadlineMs
}

// fetchBackoffMs is the longest pause that may remain to a node after fetches that failed in turbulence.
var fetchBackoffMs = machine.FetchErrorBackoff(1 << 10).Milliseconds()

// poisonBound returns the time within which a message that is delivered again and again leaves the queue (L01). The
// terms are its backoffs so far (each new one moves the end); then, for each attempt and for the one that poisons it,
// two call deadlines, the longest turn, a poll and the wait behind other work; and a lock timeout for each lost
// holder.
func poisonBound(in boundInput) bound {
	var b bound
	b.add(1, in.backoffMs, "backoffs so far")
	b.add(in.attempts+1, 2*in.deadlineMs, "two call deadlines")
	b.add(in.attempts+1, turnMarginMs, "longest turn")
	b.add(in.attempts+1, in.cadenceMs, "poll cadence")
	b.add(in.attempts+1, in.queuedMs(), "behind others")
	b.add(1+min(in.lost, in.attempts), in.lockMs+turnMarginMs, "lock timeout of a lost holder")
	b.add(1, fetchBackoffMs, "fetch backoff")
	return b
}

// deliveryBound returns the time within which a node takes a message that it admits (L03): a pause after failed
// fetches, a poll, the wait behind other work, two call deadlines, and the lock of a holder that was lost.
func deliveryBound(in boundInput) bound {
	var b bound
	b.add(1, fetchBackoffMs, "fetch backoff")
	b.add(1, in.cadenceMs, "poll cadence")
	b.add(1, in.queuedMs(), "behind others")
	b.add(1, 2*in.deadlineMs, "two call deadlines")
	b.add(1+min(in.lost, in.attempts), in.lockMs+turnMarginMs, "lock timeout of a lost holder")
	return b
}

// drainBound returns the time within which a stuck message leaves the queue (L04) once a live node admits it: a node
// takes it, and runs or poisons it.
func drainBound(in boundInput) bound {
	b := poisonBound(in)
	b.add(1, in.cadenceMs, "first poll of a new node")
	return b
}

// workBound is poisonBound for an activity, which may run for a lock timeout at each attempt.
func workBound(in boundInput) bound {
	b := poisonBound(in)
	b.add(in.attempts+1, in.lockMs, "longest activity")
	return b
}

// stallBound returns how long an instance that a live node runs may stay without a committed turn (L02) while a
// message for it is queued or a client has yet to raise an event that it waits for. It is the sum of the bounds of
// its message, of its activities if it has any, and of the client.
func stallBound(turn, work boundInput, working bool) bound {
	var b bound
	b.add(1, poisonBound(turn).ms, "to deliver or poison a message")
	if working {
		b.add(1, workBound(work).ms, "to deliver or poison an activity")
	}
	b.add(1, raiseMs, "for clients to raise the awaited event")
	return b
}

// raiseMs is the time that clients may take, in calm, to raise again an event that an instance waits for and did not
// get.
const raiseMs = 7000

// settleMs is the time after the beginning of a phase during which core nodes may still be starting: a graceful stop
// may take 30 s, the start after a crash 8 s.
const settleMs = 39_000
