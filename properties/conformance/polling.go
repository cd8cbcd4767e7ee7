package conformance

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/durosim/durosim/engine"
)

// settle is how long a fetch that runs concurrently with other calls gets to begin, or to answer if it does not wait.
const settle = 50 * time.Millisecond

// waiting starts a fetch that waits for work. It returns a function that waits for the fetch's answer.
func (w *caseRun) waiting(ctx context.Context, op string, fetch func(ctx context.Context) (string, error)) func() (string, time.Duration) {
	if !w.LongPolls || w.Sequential {
		lacks("the provider does not wait for work beside other calls (long_polls, overlapping; in Go, Store.LongPolls, Store.Sequential)")
	}
	type answer struct {
		text  string
		err   error
		at    uint64
		crash any
	}
	begin := w.now()
	answers := make(chan answer, 1)
	go func() {
		var a answer
		a.crash = guarded(func() {
			a.text, a.err = fetch(ctx)
			a.at = w.now()
		})
		answers <- a
	}()
	var early []answer
	if w.Advance != nil { // in virtual time, no real time passes in which the fetch could begin
		select {
		case a := <-answers:
			early = append(early, a)
		case <-time.After(settle):
		}
	}
	return func() (string, time.Duration) {
		var a answer
		if len(early) > 0 {
			a = early[0]
		} else {
			a = <-answers
		}
		if a.crash != nil {
			panic(a.crash)
		}
		took := time.Duration(a.at-begin) * time.Millisecond
		w.done = append(w.done, fmt.Sprintf("%s -> %s %v, after %v", op, a.text, a.err, took))
		if a.err != nil && ctx.Err() == nil {
			fail("%s failed: %v", op, a.err)
		}
		return a.text, took
	}
}

func (w *caseRun) waitForInstance(ctx context.Context) func() (string, time.Duration) {
	return w.waitFor(ctx, 2000)
}

func (w *caseRun) waitFor(ctx context.Context, ms int) func() (string, time.Duration) {
	poll := w.ms(ms)
	return w.waiting(ctx, fmt.Sprintf("fetch poll=%d", ms), func(ctx context.Context) (string, error) {
		f, err := w.p.FetchOrchestrationItem(ctx, longLock, poll, nil)
		if f == nil || err != nil {
			return "none", err
		}
		return f.Item.Instance, nil
	})
}

func (w *caseRun) waitForActivity(ctx context.Context, session *engine.SessionFetchConfig) func() (string, time.Duration) {
	poll := w.ms(2000)
	return w.waiting(ctx, "work poll=2000", func(ctx context.Context) (string, error) {
		f, err := w.p.FetchWorkItem(ctx, longLock, poll, session, engine.TagFilter{})
		if f == nil || err != nil {
			return "none", err
		}
		return show(f.Item), nil
	})
}

// inTime fails the case unless a waiting fetch answers want. The answer must not come earlier than from milliseconds,
// and must come well before the poll ends.
func (w *caseRun) inTime(answer func() (string, time.Duration), want string, from int) {
	got, took := answer()
	if got != want || took < w.ms(from)-time.Millisecond || took >= w.ms(1900) {
		fail("a fetch that may wait 2 s returned %s after %v, want %s after %v and well before %v", got, took, want, w.ms(from), w.ms(2000))
	}
	w.waited = time.Since(w.began) // an answer in time was waited for on purpose; any other may be the machine's lateness
}

func wakeOnEnqueue(w *caseRun) {
	answer := w.waitForInstance(ctx)
	w.wait(w.ms(200))
	w.try("send start:A")
	w.inTime(answer, "A", 200)
	work := w.waitForActivity(ctx, nil)
	w.wait(w.ms(200))
	w.try("act A:1")
	w.inTime(work, "A:1", 200)
}

// wakeOnTime tests that a fetch wakes up when time alone makes work available: when a delay, a timer, a lock or a
// session ends, also if the delay began after the fetch.
func wakeOnTime(w *caseRun) {
	for _, c := range []struct{ name, script string }{
		{"a delay", "make A\nsend ext:A:e delay=300"},
		{"a timer", "make A send=timer:A:+300"},
		{"the end of a lock", "send start:A\nfetch lock=300 -> A#1 x1 [start]"},
	} {
		w.done = append(w.done, c.name)
		w.play(c.script)
		answer := w.waitForInstance(ctx)
		w.wait(w.ms(300))
		w.inTime(answer, "A", 250)
		w.fresh()
	}
	w.play("act A:1\nwork lock=300 -> A:1 x1")
	answer := w.waitForActivity(ctx, nil)
	w.wait(w.ms(300))
	w.inTime(answer, "A:1", 250)
	w.fresh()
	w.play("act A:1@s\nwork w owner=worker-A slock=300 -> A:1@s x1\nfinish w\nact A:2@s")
	answer = w.waitForActivity(ctx, &engine.SessionFetchConfig{OwnerID: "worker-B", LockTimeout: longLock})
	w.wait(w.ms(300))
	w.inTime(answer, "A:2@s", 250)
	w.fresh()
	w.done = append(w.done, "a delay that begins while the fetch waits")
	w.play("make A")
	answer = w.waitForInstance(ctx)
	w.wait(w.ms(100))
	w.try("send ext:A:e delay=300")
	w.wait(w.ms(300))
	w.inTime(answer, "A", 350)
}

// giveUpWaiting cancels a waiting fetch, and only then sends work.
func giveUpWaiting(w *caseRun) {
	if w.NoCancel {
		lacks("the provider does not learn that a caller has given up (the protocol has no such request; in Go, Store.NoCancel)")
	}
	waiting, giveUp := context.WithCancel(ctx)
	defer giveUp()
	answer := w.waitForInstance(waiting)
	w.wait(w.ms(100))
	giveUp()
	if got, _ := answer(); got != "none" {
		fail("a fetch from an empty store returned %s", got)
	}
	w.play("send start:A\nfetch -> A#1 x1 [start]")
}

func twoWaiters(w *caseRun) {
	first, second := w.waitForInstance(ctx), w.waitForInstance(ctx)
	w.wait(w.ms(100))
	w.try("send start:A")
	if w.Advance != nil {
		w.wait(w.ms(2000))
	}
	a, _ := first()
	b, _ := second()
	w.waited = time.Since(w.began)
	if (a == "A") == (b == "A") {
		fail("two waiting fetches for one instance returned %s and %s, want the instance once", a, b)
	}
}

// timed runs an operation and measures its duration on the store's clock.
func (w *caseRun) timed(op string) (answer string, ms uint64) {
	before := w.now()
	answer = w.try(op)
	ms = w.now() - before
	w.done = append(w.done, fmt.Sprintf("  after %d ms", ms))
	return answer, ms
}

// unscaled gives seconds their full length and returns w. Cases about polling use it because they choose their own times.
func (w *caseRun) unscaled() *caseRun {
	if w.Advance == nil {
		w.Second = time.Second
	}
	return w
}

func shortPoll(w *caseRun, op string) {
	if w.LongPolls {
		lacks("the provider waits for work (long_polls; in Go, Store.LongPolls)")
	}
	w.unscaled().answersNone(op+" of an empty store", op, 0, 100, "before 100 ms")
}

func longPoll(w *caseRun, op string) {
	if !w.LongPolls {
		lacks("the provider does not wait for work (long_polls; in Go, Store.LongPolls)")
	}
	w.unscaled().answersNone(op+" of an empty store", op, 500, math.MaxInt32, "after 500 ms at the earliest")
}

func boundedPoll(w *caseRun, op string) {
	w.unscaled().answersNone(op+" of an empty store", op, 0, 500, "before 500 ms")
}

// boundedBeside tests that a wait ends in time although the store keeps changing.
func boundedBeside(w *caseRun) {
	if !w.LongPolls || w.Sequential {
		return
	}
	answer := w.waitFor(ctx, 300)
	for i := range 10 {
		w.wait(w.ms(60))
		w.try(fmt.Sprintf("act A:%d", i+1))
	}
	if got, took := answer(); got != "none" || took >= w.ms(800) {
		fail("a fetch that may wait %v returned %s after %v, while activities were enqueued", w.ms(300), got, took)
	}
	w.waited = time.Since(w.began)
}

func neverBlocks(w *caseRun) {
	for _, op := range []string{"fetch", "work"} {
		w.answersNone(op+" of an empty store, without waiting", op, 0, 100, "at once")
	}
}

// answersNone fails the case unless an operation finds nothing, after from milliseconds at the earliest and before to.
func (w *caseRun) answersNone(what, op string, from, to uint64, when string) {
	if got, ms := w.timed(op); got != "none" || ms < from*uint64(w.stretch) || ms >= to*uint64(w.stretch) {
		fail("%s\n  got  %s after %d ms\n  want none %s", what, got, ms, when)
	}
}
