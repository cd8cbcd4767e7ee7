package liveness

import (
	"fmt"
	"strings"
	"time"

	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/properties/internal/check"
)

// bound is the store time that an obligation may take. It keeps the terms of the sum, so that messages can show them.
// It is a plain value and allocates nothing until it is printed.
type bound struct {
	ms    int64
	terms [9]boundTerm
	n     int
}

// boundTerm is one term of a bound: times × each milliseconds, with a description.
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

// String returns the sum with its terms: "14.5s = 3s fetch backoff + 11 x 1s two call deadlines + ...".
func (b bound) String() string {
	var s strings.Builder
	s.WriteString(pretty.Duration(b.ms))
	for i := range b.n {
		t := &b.terms[i]
		s.WriteString([...]string{" = ", " + "}[min(i, 1)])
		if t.times > 1 {
			fmt.Fprintf(&s, "%d x ", t.times)
		}
		s.WriteString(pretty.Duration(t.each) + " " + t.what)
	}
	return s.String()
}

// boundInput holds what a bound is computed from: the worst options among the nodes that may take the work, and the
// other work that competes with it.
type boundInput struct {
	attempts   int64 // max_attempts
	deadlineMs int64 // deadline of a provider call
	cadenceMs  int64 // of polls
	lockMs     int64 // lock timeout for the queue concerned
	backoffMs  int64 // total delay that abandons have added to the message so far, with each delay limited to its curve
	slots      int64 // how many slots may take the work, at least 1
	others     int64 // how many pieces of work may be ahead of it
	lost       int64 // how many holders have lost their lock since the obligation began
}

// turnMarginMs is how much longer than its lock a turn or activity delayed by a fault may last.
const turnMarginMs = 20

// worstOf includes another node that may take the work, with its options and its number of slots.
func (in *boundInput) worstOf(o *node.Options, lock time.Duration, slots int) {
	in.attempts = max(in.attempts, int64(o.MaxAttempts))
	in.deadlineMs = max(in.deadlineMs, o.CallDeadline.Milliseconds())
	in.cadenceMs = max(in.cadenceMs, o.DispatcherMinPollInterval.Milliseconds())
	in.lockMs = max(in.lockMs, lock.Milliseconds())
	in.slots += int64(slots)
}

// queuedMs returns how long work may wait behind other work. All slots take work in order. Since turns are short once
// faults have stopped, each piece of work occupies a slot for at most two call deadlines.
func (in *boundInput) queuedMs() int64 {
	slots := max(in.slots, 1)
	return (in.others + slots - 1) / slots * 2 * in.deadlineMs
}

// poisonBound returns how soon a message that is delivered again and again leaves the queue (L01). The first term is
// the message's backoffs so far (each new one moves the end). For each attempt, including the one that poisons the
// message, the bound adds two call deadlines, the longest turn, a poll, and the wait behind other work. For each holder
// that was lost, it adds a lock timeout.
func poisonBound(in boundInput) bound {
	var b bound
	b.add(1, in.backoffMs, "backoffs so far")
	b.add(in.attempts+1, 2*in.deadlineMs, "two call deadlines")
	b.add(in.attempts+1, turnMarginMs, "longest turn")
	b.add(in.attempts+1, in.cadenceMs, "poll cadence")
	b.add(in.attempts+1, in.queuedMs(), "behind others")
	b.add(1+min(in.lost, in.attempts), in.lockMs+turnMarginMs, "lock timeout of a lost holder")
	b.add(1, check.FetchPause.Milliseconds(), "fetch backoff")
	return b
}

// deliveryBound returns how soon a node takes a message that it admits (L03). The bound adds up a pause after failed
// fetches, a poll, the wait behind other work, two call deadlines, and the lock of a holder that was lost.
func deliveryBound(in boundInput) bound {
	var b bound
	b.add(1, check.FetchPause.Milliseconds(), "fetch backoff")
	b.add(1, in.cadenceMs, "poll cadence")
	b.add(1, in.queuedMs(), "behind others")
	b.add(1, 2*in.deadlineMs, "two call deadlines")
	b.add(1+min(in.lost, in.attempts), in.lockMs+turnMarginMs, "lock timeout of a lost holder")
	return b
}

// drainBound returns how soon a stuck message leaves the queue once a live node admits it (L04). A node takes the
// message, then runs or poisons it.
func drainBound(in boundInput) bound {
	b := poisonBound(in)
	b.add(1, in.cadenceMs, "first poll of a new node")
	return b
}

// workBound is like poisonBound, for an activity, which may run for a whole lock timeout at each attempt.
func workBound(in boundInput) bound {
	b := poisonBound(in)
	b.add(in.attempts+1, in.lockMs, "longest activity")
	return b
}

// stallBound returns how long an instance that a live node runs may go without a committed turn (L02). It applies while
// a message for the instance is queued, or while a client has yet to raise an event that the instance waits for. It
// adds up the bounds for the instance's message, for its activities if there are any, and for the client.
func stallBound(turn, work boundInput, working bool) bound {
	var b bound
	b.add(1, poisonBound(turn).ms, "to deliver or poison a message")
	if working {
		b.add(1, workBound(work).ms, "to deliver or poison an activity")
	}
	b.add(1, raiseMs, "for clients to raise the awaited event")
	return b
}

// raiseMs is how long clients may take, during recovery, to raise an event again that an instance waits for and did not
// get.
const raiseMs = 7000

// settleMs is how long after the start of a phase core nodes may still be starting. A graceful stop may take 30 s, and
// a start after a crash 8 s.
const settleMs = 39_000
