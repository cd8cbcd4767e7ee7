package conformance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/durosim/durosim/engine"
)

// together makes n calls at once, or one after another if the store's calls must not overlap. The calls must report
// failures as errors; they must not end the case themselves.
func (w *caseRun) together(n int, call func(i int)) {
	if w.Sequential {
		for i := range n {
			call(i)
		}
		return
	}
	start, ended := make(chan struct{}), make(chan any, n)
	for i := range n {
		go func() {
			<-start
			ended <- guarded(func() { call(i) })
		}()
	}
	close(start)
	for range n {
		if crash := <-ended; crash != nil {
			panic(crash) // without the others, which may wait for a lock that is still held
		}
	}
}

// guarded makes a call and returns what it panicked with, and where, so that the case's own goroutine can panic with it.
func guarded(call func()) (crash any) {
	defer func() {
		if p := recover(); p != nil {
			crash = fmt.Sprintf("%v\n%s", p, debug.Stack())
		}
	}()
	call()
	return nil
}

// attempts limits how often a call is repeated after it failed under contention or found nothing. When callers collide,
// a provider may return a retryable error or find nothing (F5).
const attempts = 100

// persist repeats a call until it succeeds or fails with an error that is not retryable.
func persist[T any](call func() (T, error)) (v T, err error) {
	for range attempts {
		if v, err = call(); err == nil || class(err) != "retryable" {
			break
		}
	}
	return v, err
}

// persistent is like persist, for calls without a result.
func persistent(call func() error) error {
	_, err := persist(func() (struct{}, error) { return struct{}{}, call() })
	return err
}

// fetchAny and workAny fetch whatever there is.
func (w *caseRun) fetchAny() (*engine.FetchedOrchestration, error) {
	return persist(func() (*engine.FetchedOrchestration, error) { return w.p.FetchOrchestrationItem(ctx, longLock, 0, nil) })
}

func (w *caseRun) workAny(session *engine.SessionFetchConfig) (*engine.FetchedWork, error) {
	return persist(func() (*engine.FetchedWork, error) {
		return w.p.FetchWorkItem(ctx, longLock, 0, session, engine.TagFilter{})
	})
}

// atMostOneAck makes two concurrent acks with the same token.
func atMostOneAck(w *caseRun) {
	w.play("send start:A\nfetch t -> A#1 x1 [start]")
	token := w.token("t")
	var errs [2]error
	w.together(2, func(i int) {
		errs[i] = persistent(func() error {
			return w.p.AckOrchestrationItem(ctx, engine.OrchestrationAck{LockToken: token, ExecutionID: 1,
				HistoryDelta: []engine.Event{(&arguments{w: w}).event("OS1", "A", 1)}})
		})
	})
	if (errs[0] == nil) == (errs[1] == nil) {
		fail("two acks with one token: %v, %v; want one success and one error", errs[0], errs[1])
	}
	w.play("read A -> [1]")
}

// shareInstances makes several callers fetch at once. It checks that every instance is delivered exactly once.
func shareInstances(w *caseRun, instances, callers int) {
	for i := range instances {
		w.try(fmt.Sprintf("send start:A%d", i))
	}
	got := make([]*engine.FetchedOrchestration, callers)
	errs := make([]error, callers)
	w.together(callers, func(i int) {
		got[i], errs[i] = w.fetchAny()
	})
	taken := map[string]int{}
	for i, f := range got {
		if err := errs[i]; err != nil && class(err) != "retryable" {
			fail("caller %d: %v", i, err)
		}
		if f != nil {
			w.took(f.LockToken, f.Item.Instance)
			taken[f.Item.Instance]++
		}
	}
	// A message that no caller got because of a collision must still be queued.
	for range instances - len(taken) {
		f := must(w.p.FetchOrchestrationItem(ctx, longLock, 0, nil))
		if f == nil {
			fail("%d of %d instances were delivered to %d callers, and the others are missing", len(taken), instances, callers)
		}
		w.took(f.LockToken, f.Item.Instance)
		taken[f.Item.Instance]++
	}
	for i := range instances {
		if n := taken[fmt.Sprint("A", i)]; n != 1 {
			fail("instance A%d was delivered %d times to %d callers, want once", i, n, callers)
		}
	}
	w.play("fetch -> none")
}

// shareActivities is like shareInstances, for activities. Each caller fetches until no activity is left.
func shareActivities(w *caseRun, items, callers int) {
	for i := range items {
		w.try(fmt.Sprintf("act A:%d", i))
	}
	taken := make([][]*engine.FetchedWork, callers)
	errs := make([]error, callers)
	w.together(callers, func(i int) {
		for len(taken[i]) <= items {
			f, err := w.workAny(nil)
			if errs[i] = err; f == nil || err != nil {
				return
			}
			taken[i] = append(taken[i], f)
		}
	})
	count := make([]int, items)
	for _, f := range slices.Concat(taken...) {
		w.took(f.LockToken, "")
		count[f.Item.(engine.ActivityExecuteItem).ID]++
	}
	for range items {
		f := must(w.p.FetchWorkItem(ctx, longLock, 0, nil, engine.TagFilter{}))
		if f == nil {
			break
		}
		w.took(f.LockToken, "")
		count[f.Item.(engine.ActivityExecuteItem).ID]++
	}
	if err := errors.Join(errs...); err != nil && class(err) != "retryable" {
		fail("fetching at once: %v", err)
	}
	for i, n := range count {
		if n != 1 {
			fail("activity A:%d was delivered %d times to %d callers, want once", i, n, callers)
		}
	}
}

// claimTogether makes two owners fetch activities of the same session at once. It repeats this with many sessions.
func claimTogether(w *caseRun) {
	for round := range 50 {
		session := fmt.Sprint("s", round)
		w.try(fmt.Sprintf("act A:%d@%s", 2*round, session))
		w.try(fmt.Sprintf("act A:%d@%s", 2*round+1, session))
		var got [2]*engine.FetchedWork
		var errs [2]error
		w.together(2, func(i int) {
			config := &engine.SessionFetchConfig{OwnerID: []string{"worker-A", "worker-B"}[i], LockTimeout: longLock}
			got[i], errs[i] = w.workAny(config)
		})
		if err := errors.Join(errs[0], errs[1]); err != nil {
			fail("fetching at once: %v", err)
		}
		if got[0] != nil && got[1] != nil {
			fail("session %s: worker-A got %s and worker-B got %s", session, show(got[0].Item), show(got[1].Item))
		}
		for _, f := range got { // the other activity stays with its owner, so each round uses a new session
			if f != nil {
				check(w.p.AckWorkItem(ctx, f.LockToken, nil))
			}
		}
		for _, owner := range []string{"worker-A", "worker-B"} {
			if got, _ := w.run("work rest owner=" + owner); got != "none" {
				w.try("finish rest")
			}
		}
	}
}

// sendAndTakeTogether runs senders and takers at once. A taker commits the names of the events it took, in order.
func sendAndTakeTogether(w *caseRun) {
	const senders, each, instances, takers = 8, 100, 20, 8
	for i := range instances {
		w.try(fmt.Sprintf("make A%d", i))
	}
	var mu sync.Mutex
	left, took := senders, 0
	committed := map[string][]string{} // by instance
	errs := make([]error, senders+takers)
	send := func(s int) error {
		for n := range each {
			item := engine.ExternalRaisedItem{Instance: fmt.Sprintf("A%d", (s*7+n)%instances), Name: fmt.Sprintf("%d.%03d", s, n)}
			if err := persistent(func() error { return w.p.EnqueueForOrchestrator(ctx, item, 0) }); err != nil {
				return err
			}
		}
		mu.Lock()
		left--
		mu.Unlock()
		return nil
	}
	take := func() error {
		for idle := 0; idle < 3; {
			mu.Lock()
			over, taken := left == 0, took
			mu.Unlock()
			if taken > 2*senders*each {
				return nil // the store never stops delivering, which the count below reports
			}
			f, err := w.fetchAny()
			if err != nil {
				return err
			}
			if f == nil {
				if over {
					idle++
				} else if w.Sequential {
					return nil
				}
				continue
			}
			mu.Lock()
			took++
			for _, m := range f.Item.Messages {
				e, _ := m.(engine.ExternalRaisedItem)
				committed[f.Item.Instance] = append(committed[f.Item.Instance], e.Name)
			}
			mu.Unlock()
			if err := persistent(func() error {
				return w.p.AckOrchestrationItem(ctx, engine.OrchestrationAck{LockToken: f.LockToken, ExecutionID: 1})
			}); err != nil {
				return err
			}
		}
		return nil
	}
	w.together(senders+takers, func(i int) {
		if i < senders {
			errs[i] = send(i)
		} else {
			errs[i] = take()
		}
	})
	check(errors.Join(errs...))
	check(take()) // take the messages left behind by collisions
	total := 0
	seen := map[string]bool{}
	for i := range instances {
		last := make([]string, senders)
		for _, name := range committed[fmt.Sprint("A", i)] {
			if len(name) != len("0.000") {
				fail("A%d: received a message that no sender sent", i)
			}
			sender := int(name[0] - '0')
			if seen[name] {
				fail("message %s of A%d was committed twice", name, i)
			}
			if name < last[sender] {
				fail("A%d: message %s of one sender came after %s", i, name, last[sender])
			}
			seen[name], last[sender] = true, name
			total++
		}
	}
	if total != senders*each {
		fail("%d of %d messages were committed", total, senders*each)
	}
}

// tokensEverywhere makes ten callers fetch from both queues a thousand times in total, and checks that no token repeats
// and that each attempt counts.
func tokensEverywhere(w *caseRun) {
	const callers, rounds = 10, 50
	for i := range callers {
		w.try(fmt.Sprintf("send start:A%d", i))
		w.try(fmt.Sprintf("act A%d:1", i))
	}
	tokens := make([][]string, callers)
	errs := make([]error, callers)
	var mu sync.Mutex
	fetched, counted := map[string]uint32{}, map[string]uint32{} // what was fetched how often; and the largest count
	count := func(what string, n uint32) {
		mu.Lock()
		defer mu.Unlock()
		fetched[what]++
		counted[what] = max(counted[what], n)
	}
	w.together(callers, func(i int) {
		for range rounds {
			f, err := w.fetchAny()
			if err == nil && f != nil {
				tokens[i] = append(tokens[i], f.LockToken)
				count(f.Item.Instance, f.AttemptCount)
				err = persistent(func() error { return w.p.AbandonOrchestrationItem(ctx, f.LockToken, 0, false) })
			}
			g, err2 := w.workAny(nil)
			if err2 == nil && g != nil {
				tokens[i] = append(tokens[i], g.LockToken)
				count(show(g.Item), g.AttemptCount)
				err2 = persistent(func() error { return w.p.AbandonWorkItem(ctx, g.LockToken, 0, false) })
			}
			if errs[i] = errors.Join(err, err2); errs[i] != nil {
				return
			}
		}
	})
	check(errors.Join(errs...))
	for _, token := range slices.Concat(tokens...) {
		w.took(token, "")
	}
	for _, what := range slices.Sorted(maps.Keys(fetched)) {
		if counted[what] != fetched[what] {
			fail("%s was fetched %d times, and the largest attempt count is %d", what, fetched[what], counted[what])
		}
	}
	if len(w.given) < callers {
		fail("%d fetches by %d callers found something %d times", 2*callers*rounds, callers, len(w.given))
	}
}

// failedFetch makes fetches fail, first because the caller has given up, and then because of a storage error, if the
// store can produce one.
func failedFetch(w *caseRun) {
	w.try("send start:A")
	gone, cancel := context.WithCancel(ctx)
	cancel()
	f, err := w.p.FetchOrchestrationItem(gone, longLock, 0, nil)
	w.done = append(w.done, fmt.Sprintf("fetch by a caller that has given up -> %v, %v", f != nil, err))
	if f != nil { // the provider may ignore the cancelled context
		w.took(f.LockToken, "t")
		w.try("abandon t ignore")
	}
	w.play("fetch t -> A#1 x1 [start] | A#1 x2 [start]\nabandon t ignore")
	if w.FailNext == nil {
		return
	}
	for range 3 {
		w.FailNext()
		if f, err := w.p.FetchOrchestrationItem(ctx, longLock, 0, nil); f != nil && err == nil {
			fail("the storage was to fail, but the fetch returned %s", f.Item.Instance)
		}
		w.play("fetch t -> A#1 x1 [start] | A#1 x2 [start] | A#1 x3 [start]\nabandon t ignore")
	}
}
