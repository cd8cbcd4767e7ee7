package conformance_test

import (
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/properties/conformance"
)

// hides gives an activity back and returns nothing in the cases that hidden selects.
func hides(name string, hidden func(c *call) bool) killer {
	return spoil(name, on("FetchWorkItem", func(c *call) {
		if c.do(); c.work != nil && hidden(c) {
			_ = c.inner.AbandonWorkItem(c.ctx, c.work.LockToken, 0, true)
			c.work = nil
		}
	}))
}

// statusOf returns the status of a fetched activity's execution, or "" if there is none.
func statusOf(c *call) engine.Status {
	a := c.work.Item.(engine.ActivityExecuteItem)
	info, err := c.inner.Admin().GetExecutionInfo(c.ctx, a.Instance, a.ExecutionID)
	if err != nil {
		return ""
	}
	return info.Status
}

// refusesRenewalOf refuses to renew the activities of executions with the given status.
func refusesRenewalOf(name string, status engine.Status) killer {
	return spoilWith(name, func(*conformance.Store) func(c *call) {
		held := map[string]engine.ActivityExecuteItem{}
		return func(c *call) {
			if c.is("RenewWorkItemLock") {
				a, ok := held[c.token]
				info, err := c.inner.Admin().GetExecutionInfo(c.ctx, a.Instance, a.ExecutionID)
				if ok && (err != nil && status == "" || err == nil && info.Status == status) {
					c.err = permanent
					return
				}
			}
			if c.do(); c.work != nil {
				held[c.work.LockToken], _ = c.work.Item.(engine.ActivityExecuteItem)
			}
		}
	})
}

// workKillers make mistakes with activities, sessions or tags.
var workKillers = []killer{
	spoil("finishes anything", on("AckWorkItem", func(c *call) { c.do(); c.err = nil })),
	spoil("extends anything", on("RenewWorkItemLock", func(c *call) { c.do(); c.err = nil })),
	spoil("extends nothing", on("RenewWorkItemLock", func(c *call) { c.err = permanent })),
	spoil("extends for nothing", on("RenewWorkItemLock", func(c *call) {})),
	spoil("extending frees", on("RenewWorkItemLock", func(c *call) { c.extend = 0; c.do() })),
	spoilWith("extends twice", func(*conformance.Store) func(c *call) {
		times := map[string]int{}
		return on("RenewWorkItemLock", func(c *call) {
			if times[c.token]++; times[c.token] > 2 {
				c.err = permanent
				return
			}
			c.do()
		})
	}),
	spoil("quits anything", on("AbandonWorkItem", func(c *call) { c.do(); c.err = nil })),
	spoil("quits nothing", on("AbandonWorkItem", func(c *call) {})),
	spoil("quitting deletes", on("AbandonWorkItem", func(c *call) { c.err = c.inner.AckWorkItem(c.ctx, c.token, nil) })),
	spoil("quits at once", on("AbandonWorkItem", func(c *call) { c.delay = 0; c.do() })),
	spoil("quits for a second", on("AbandonWorkItem", func(c *call) { c.delay += time.Second; c.do() })),
	spoil("quitting keeps the count", on("AbandonWorkItem", func(c *call) { c.ignore = false; c.do() })),
	spoil("quitting takes the attempt back", on("AbandonWorkItem", func(c *call) { c.ignore = true; c.do() })),
	spoil("finish errors are retryable", on("AckWorkItem", func(c *call) { c.do(); retryable(c) })),
	spoil("extend errors are retryable", on("RenewWorkItemLock", func(c *call) { c.do(); retryable(c) })),
	spoil("quit errors are retryable", on("AbandonWorkItem", func(c *call) { c.do(); retryable(c) })),
	spoil("a failed finish sends its completion", on("AckWorkItem", func(c *call) {
		if c.do(); c.err != nil && c.item != nil {
			_ = c.inner.EnqueueForOrchestrator(c.ctx, c.item, 0)
		}
	})),
	spoil("a late finish deletes", on("AckWorkItem", func(c *call) {
		if c.do(); c.err != nil {
			if f, _ := c.inner.FetchWorkItem(c.ctx, time.Second, 0, nil, engine.TagFilter{}); f != nil {
				_ = c.inner.AckWorkItem(c.ctx, f.LockToken, nil)
			}
		}
	})),
	spoil("a refused completion deletes", on("AckWorkItem", func(c *call) {
		if c.do(); c.err != nil && c.item != nil && c.item.Kind() == engine.ItemExternalRaised {
			_ = c.inner.AckWorkItem(c.ctx, c.token, nil)
		}
	})),
	spoil("completions are lost", on("AckWorkItem", func(c *call) { c.item = nil; c.do() })),
	spoil("completions of strangers are lost", on("AckWorkItem", func(c *call) {
		if c.item != nil {
			if ids, _ := c.inner.Admin().ListExecutions(c.ctx, c.item.Target()); len(ids) == 0 {
				c.item = nil
			}
		}
		c.do()
	})),
	spoil("completions of the unnamed are lost", on("AckWorkItem", func(c *call) {
		if c.item != nil {
			if _, err := c.inner.Admin().GetInstanceInfo(c.ctx, c.item.Target()); err != nil {
				c.item = nil
			}
		}
		c.do()
	})),
	spoil("completions come twice", on("AckWorkItem", func(c *call) {
		if c.do(); c.err == nil && c.item != nil {
			_ = c.inner.EnqueueForOrchestrator(c.ctx, c.item, 0)
		}
	})),
	spoil("no completion is a completion", on("AckWorkItem", func(c *call) {
		if c.item == nil {
			c.item = engine.ActivityCompletedItem{Instance: "A", ExecutionID: 1, ID: 1}
		}
		c.do()
	})),
	spoil("finishing does not delete", on("AckWorkItem", func(c *call) {
		c.err = c.inner.AbandonWorkItem(c.ctx, c.token, 0, true)
	})),

	spoil("no activity lock", on("FetchWorkItem", func(c *call) { c.lock = 0; c.do() })),
	spoil("activity locks are ten times longer", on("FetchWorkItem", func(c *call) { c.lock *= 10; c.do() })),
	spoil("activity locks end after 100 ms", on("FetchWorkItem", func(c *call) { c.lock = min(c.lock, 100*time.Millisecond); c.do() })),
	spoil("only one activity at a time", on("FetchWorkItem", func(c *call) {
		if d, _ := c.inner.Admin().GetQueueDepths(c.ctx); d != nil {
			if c.do(); c.work != nil && c.work.Item.(engine.ActivityExecuteItem).ID%2 == 0 && d.WorkerQueue == 1 {
				_ = c.inner.AbandonWorkItem(c.ctx, c.work.LockToken, 0, true)
				c.work = nil
			}
		}
	})),
	spoil("the youngest activity first", on("FetchWorkItem", func(c *call) {
		var held []string
		for range 100 {
			f, err := c.inner.FetchWorkItem(c.ctx, c.lock, 0, c.session, c.tags)
			if f == nil || err != nil {
				c.err = err
				break
			}
			if c.work != nil {
				held = append(held, c.work.LockToken)
			}
			c.work = f
		}
		for _, token := range held {
			_ = c.inner.AbandonWorkItem(c.ctx, token, 0, true)
		}
	})),
	spoil("activities wait a second", on("EnqueueForWorker", func(c *call) {
		c.do()
		if f, _ := c.inner.FetchWorkItem(c.ctx, time.Second, 0, &engine.SessionFetchConfig{OwnerID: "nobody"}, engine.TagFilter{Mode: engine.TagAny}); f != nil {
			_ = c.inner.AbandonWorkItem(c.ctx, f.LockToken, time.Second, true)
		}
	})),
	spoil("activities are queued twice", on("EnqueueForWorker", func(c *call) { c.do(); c.do() })),
	spoil("activities of strangers are lost", on("EnqueueForWorker", func(c *call) {
		if ids, _ := c.inner.Admin().ListExecutions(c.ctx, c.item.Target()); len(ids) > 0 {
			c.do()
		}
	})),
	spoil("work counts from zero", on("FetchWorkItem", func(c *call) {
		if c.do(); c.work != nil {
			c.work.AttemptCount--
		}
	})),
	spoil("work counts are at most one", on("FetchWorkItem", func(c *call) {
		if c.do(); c.work != nil {
			c.work.AttemptCount = 1
		}
	})),
	spoilWith("work counts belong to the queue", func(*conformance.Store) func(c *call) {
		n := uint32(0)
		return on("FetchWorkItem", func(c *call) {
			if c.do(); c.work != nil {
				n++
				c.work.AttemptCount = n
			}
		})
	}),
	hides("the running have no work", func(c *call) bool { return statusOf(c) == engine.StatusRunning }),
	hides("the completed have no work", func(c *call) bool { return statusOf(c) == engine.StatusCompleted }),
	hides("the failed have no work", func(c *call) bool { return statusOf(c) == engine.StatusFailed }),
	hides("the continued have no work", func(c *call) bool { return statusOf(c) == engine.StatusContinuedAsNew }),
	hides("strangers have no work", func(c *call) bool { return statusOf(c) == "" }),
	refusesRenewalOf("the running are not renewed", engine.StatusRunning),
	refusesRenewalOf("the completed are not renewed", engine.StatusCompleted),
	refusesRenewalOf("strangers are not renewed", ""),

	spoil("nothing is cancelled", on("AckOrchestrationItem", func(c *call) { c.ack.CancelledActivities = nil; c.do() })),
	spoil("one activity is cancelled", on("AckOrchestrationItem", func(c *call) {
		c.ack.CancelledActivities = c.ack.CancelledActivities[:min(1, len(c.ack.CancelledActivities))]
		c.do()
	})),
	spoil("every activity is cancelled", on("AckOrchestrationItem", func(c *call) {
		for id := range uint64(10) {
			if len(c.ack.CancelledActivities) > 0 {
				c.ack.CancelledActivities = append(c.ack.CancelledActivities, engine.ScheduledActivityIdentifier{Instance: "A", ExecutionID: 1, ActivityID: id})
			}
		}
		c.do()
	})),
	spoil("cancelling what is not there fails", on("AckOrchestrationItem", func(c *call) {
		for _, a := range c.ack.CancelledActivities {
			if a.ActivityID == 999 {
				c.err = permanent
				return
			}
		}
		c.do()
	})),
	spoil("cancels in every execution", on("AckOrchestrationItem", func(c *call) {
		for _, a := range c.ack.CancelledActivities {
			a.ExecutionID = 2
			c.ack.CancelledActivities = append(c.ack.CancelledActivities, a)
		}
		c.do()
	})),
	spoil("cancels in every instance", on("AckOrchestrationItem", func(c *call) {
		for _, a := range c.ack.CancelledActivities {
			a.Instance = "B"
			c.ack.CancelledActivities = append(c.ack.CancelledActivities, a)
		}
		c.do()
	})),
	spoilWith("only scheduled activities are cancelled", func(*conformance.Store) func(c *call) {
		scheduled := map[engine.ScheduledActivityIdentifier]bool{}
		return on("AckOrchestrationItem", func(c *call) {
			for _, item := range c.ack.WorkerItems {
				a := item.(engine.ActivityExecuteItem)
				scheduled[engine.ScheduledActivityIdentifier{Instance: a.Instance, ExecutionID: a.ExecutionID, ActivityID: a.ID}] = true
			}
			var cancelled []engine.ScheduledActivityIdentifier
			for _, a := range c.ack.CancelledActivities {
				if scheduled[a] {
					cancelled = append(cancelled, a)
				}
			}
			c.ack.CancelledActivities = cancelled
			c.do()
		})
	}),

	spoil("sessions are not told", on("FetchWorkItem", func(c *call) {
		if c.do(); c.work != nil {
			a := c.work.Item.(engine.ActivityExecuteItem)
			a.SessionID = ""
			c.work.Item = a
		}
	})),
	spoil("sessions are never claimed", on("FetchWorkItem", func(c *call) {
		c.session = nil
		c.do()
	})),
	spoil("all owners are one", on("FetchWorkItem RenewSessionLock", func(c *call) {
		if c.session != nil {
			c.session = &engine.SessionFetchConfig{OwnerID: "x", LockTimeout: c.session.LockTimeout}
		}
		for i := range c.owners {
			c.owners[i] = "x"
		}
		c.do()
	})),
	spoilWith("every caller is an owner", func(*conformance.Store) func(c *call) {
		n := 0
		return on("FetchWorkItem", func(c *call) {
			if c.session != nil {
				n++
				c.session = &engine.SessionFetchConfig{OwnerID: strings.Repeat("x", n), LockTimeout: c.session.LockTimeout}
			}
			c.do()
		})
	}),
	spoil("session locks never end", on("FetchWorkItem", func(c *call) {
		if c.session != nil {
			c.session = &engine.SessionFetchConfig{OwnerID: c.session.OwnerID, LockTimeout: 1000 * time.Hour}
		}
		c.do()
	})),
	spoilWith("session locks never end for others", func(*conformance.Store) func(c *call) {
		owner := map[string]string{}
		return on("FetchWorkItem", func(c *call) {
			if c.do(); c.work == nil || c.session == nil {
				return
			}
			s := c.work.Item.(engine.ActivityExecuteItem).SessionID
			if s == "" {
				return
			}
			if owner[s] == "" {
				owner[s] = c.session.OwnerID
			} else if owner[s] != c.session.OwnerID {
				_ = c.inner.AbandonWorkItem(c.ctx, c.work.LockToken, 0, true)
				c.work = nil
			}
		})
	}),
	spoilWith("an owner that lost a session never gets it back", func(in *conformance.Store) func(c *call) {
		until := map[string]int64{}
		return on("FetchWorkItem", func(c *call) {
			if c.do(); c.work == nil || c.session == nil {
				return
			}
			key := c.session.OwnerID + c.work.Item.(engine.ActivityExecuteItem).SessionID
			if u, ok := until[key]; ok && u <= in.NowMs() {
				_ = c.inner.AbandonWorkItem(c.ctx, c.work.LockToken, 0, true)
				c.work = nil
				return
			}
			until[key] = in.NowMs() + c.session.LockTimeout.Milliseconds()
		})
	}),
	spoilWith("the first claimer's time counts", func(*conformance.Store) func(c *call) {
		var first time.Duration
		return on("FetchWorkItem", func(c *call) {
			if c.session != nil {
				if first == 0 {
					first = c.session.LockTimeout
				}
				c.session = &engine.SessionFetchConfig{OwnerID: c.session.OwnerID, LockTimeout: first}
			}
			c.do()
		})
	}),
	spoil("a session lasts as long as its activity", on("FetchWorkItem", func(c *call) {
		if c.session != nil {
			c.session = &engine.SessionFetchConfig{OwnerID: c.session.OwnerID, LockTimeout: c.lock}
		}
		c.do()
	})),
	spoil("plain fetches take sessions", on("FetchWorkItem", func(c *call) {
		if c.session == nil {
			c.session = &engine.SessionFetchConfig{OwnerID: "nobody", LockTimeout: time.Second}
		}
		c.do()
	})),
	hides("owners get no plain activities", func(c *call) bool {
		return c.session != nil && c.work.Item.(engine.ActivityExecuteItem).SessionID == ""
	}),
	hides("owners get no redelivery", func(c *call) bool {
		return c.session != nil && c.work.AttemptCount > 1
	}),
	spoil("a blocked session blocks the queue", on("FetchWorkItem", func(c *call) {
		if c.do(); c.work != nil && c.session != nil {
			if d, _ := c.inner.Admin().GetQueueDepths(c.ctx); d.WorkerQueue > 0 && c.work.Item.(engine.ActivityExecuteItem).SessionID == "" {
				_ = c.inner.AbandonWorkItem(c.ctx, c.work.LockToken, 0, true)
				c.work = nil
			}
		}
	})),
	spoilWith("an expired session refuses its ack", func(in *conformance.Store) func(c *call) {
		until := map[string]int64{}
		return func(c *call) {
			if u, ok := until[c.token]; ok && c.is("AckWorkItem") && u <= in.NowMs() {
				c.err = permanent
				return
			}
			if c.do(); c.work != nil && c.session != nil {
				until[c.work.LockToken] = in.NowMs() + c.session.LockTimeout.Milliseconds()
			}
		}
	}),
	spoil("sessions belong to instances", func(c *call) {
		if a, ok := c.item.(engine.ActivityExecuteItem); ok && a.SessionID != "" {
			a.SessionID += " of " + a.Instance
			c.item = a
		}
		if c.do(); c.work != nil {
			a := c.work.Item.(engine.ActivityExecuteItem)
			a.SessionID, _, _ = strings.Cut(a.SessionID, " of ")
			c.work.Item = a
		}
	}),
	spoilWith("a cancellation opens sessions", func(*conformance.Store) func(c *call) {
		open := false
		return func(c *call) {
			open = open || len(c.ack.CancelledActivities) > 0
			if c.session != nil && open {
				c.session = &engine.SessionFetchConfig{OwnerID: "worker-A", LockTimeout: time.Second}
			}
			c.do()
		}
	}),
	spoilWith("a deletion opens sessions", func(*conformance.Store) func(c *call) {
		open := false
		return func(c *call) {
			open = open || c.is("DeleteInstance")
			if c.session != nil && open {
				c.session = &engine.SessionFetchConfig{OwnerID: "worker-A", LockTimeout: time.Second}
			}
			c.do()
		}
	}),
	spoil("plain fetches extend sessions", on("FetchWorkItem", func(c *call) {
		if c.session == nil {
			_, _ = c.inner.RenewSessionLock(c.ctx, []string{"worker-A"}, time.Second, time.Hour)
		}
		c.do()
	})),
	spoil("fetches of nothing claim", on("FetchWorkItem", func(c *call) {
		if c.tags.Mode == engine.TagNone && c.session != nil {
			if f, _ := c.inner.FetchWorkItem(c.ctx, c.lock, 0, c.session, engine.TagFilter{Mode: engine.TagAny}); f != nil {
				_ = c.inner.AbandonWorkItem(c.ctx, f.LockToken, 0, true)
			}
			return
		}
		c.do()
	})),
	spoil("holds nothing", on("RenewSessionLock", func(c *call) {})),
	spoil("holds for nothing", on("RenewSessionLock", func(c *call) { c.extend = time.Millisecond; c.do() })),
	spoil("holds each owner twice", on("RenewSessionLock", func(c *call) {
		if c.do(); len(c.owners) == 2 && c.owners[0] == c.owners[1] {
			c.count *= 2
		}
	})),
	spoil("holds the first owner", on("RenewSessionLock", func(c *call) { c.owners = c.owners[:min(1, len(c.owners))]; c.do() })),
	spoil("holds one session", on("RenewSessionLock", func(c *call) { c.do(); c.count = min(1, c.count) })),
	spoil("holds everybody's", on("RenewSessionLock", func(c *call) { c.owners = []string{"worker-A", "worker-B"}; c.do() })),
	spoil("holds at least one", on("RenewSessionLock", func(c *call) {
		if c.do(); len(c.owners) > 0 {
			c.count = max(1, c.count)
		}
	})),
	spoil("nobody is idle", on("RenewSessionLock", func(c *call) { c.idle = 1000 * time.Hour; c.do() })),
	spoilWith("a quit counts as activity", func(*conformance.Store) func(c *call) {
		quit := false
		return on("AbandonWorkItem RenewSessionLock", func(c *call) {
			quit = quit || c.is("AbandonWorkItem")
			if quit {
				c.idle = 1000 * time.Hour
			}
			c.do()
		})
	}),
	spoilWith("an ack revives its session", func(*conformance.Store) func(c *call) {
		acked := false
		return on("AckWorkItem RenewSessionLock", func(c *call) {
			acked = acked || c.is("AckWorkItem")
			if c.do(); c.is("RenewSessionLock") && acked {
				c.count = max(1, c.count)
			}
		})
	}),
	spoil("the idle are idle early", on("RenewSessionLock", func(c *call) {
		if c.idle < time.Second {
			c.idle = 0
		}
		c.do()
	})),
	spoil("sweeps nothing", on("CleanupOrphanedSessions", func(c *call) {})),
	spoil("sweeps one more", on("CleanupOrphanedSessions", func(c *call) { c.do(); c.count++ })),
	spoil("sweeps one at most", on("CleanupOrphanedSessions", func(c *call) { c.do(); c.count = min(1, c.count) })),
	spoilWith("a swept session stays with its owner", func(*conformance.Store) func(c *call) {
		swept := false
		return func(c *call) {
			swept = swept || c.is("CleanupOrphanedSessions")
			if c.is("FetchWorkItem") && swept && c.session != nil && c.session.OwnerID == "worker-B" {
				return
			}
			c.do()
		}
	}),

	spoil("tags are ignored", on("FetchWorkItem", func(c *call) { c.tags = engine.TagFilter{Mode: engine.TagAny}; c.do() })),
	spoil("owners ignore tags", on("FetchWorkItem", func(c *call) {
		if c.session != nil {
			c.tags = engine.TagFilter{Mode: engine.TagAny}
		}
		c.do()
	})),
	spoil("the default is any tag", on("FetchWorkItem", func(c *call) {
		if c.tags.Mode == engine.TagDefaultOnly {
			c.tags.Mode = engine.TagAny
		}
		c.do()
	})),
	spoil("any tag is the default", on("FetchWorkItem", func(c *call) {
		if c.tags.Mode == engine.TagAny {
			c.tags.Mode = engine.TagDefaultOnly
		}
		c.do()
	})),
	spoil("no tag is any tag", on("FetchWorkItem", func(c *call) {
		if c.tags.Mode == engine.TagNone {
			c.tags.Mode = engine.TagAny
		}
		c.do()
	})),
	spoil("tags take the untagged too", on("FetchWorkItem", func(c *call) {
		if c.tags.Mode == engine.TagTags {
			c.tags.Mode = engine.TagDefaultAnd
		}
		c.do()
	})),
	spoil("the default is forgotten beside tags", on("FetchWorkItem", func(c *call) {
		if c.tags.Mode == engine.TagDefaultAnd {
			c.tags.Mode = engine.TagTags
		}
		c.do()
	})),
	spoil("the first tag counts", on("FetchWorkItem", func(c *call) {
		if len(c.tags.Tags) > 1 {
			c.tags.Tags = c.tags.Tags[:1]
		}
		c.do()
	})),
	spoil("an empty set is any tag", on("FetchWorkItem", func(c *call) {
		if c.tags.Mode == engine.TagTags && len(c.tags.Tags) == 0 {
			c.tags.Mode = engine.TagAny
		}
		c.do()
	})),
	spoil("tags are not told", on("FetchWorkItem", func(c *call) {
		if c.do(); c.work != nil {
			a := c.work.Item.(engine.ActivityExecuteItem)
			a.Tag = ""
			c.work.Item = a
		}
	})),
	spoil("quitting loses the tag", on("FetchWorkItem", func(c *call) {
		if c.do(); c.work != nil && c.work.AttemptCount > 1 {
			a := c.work.Item.(engine.ActivityExecuteItem)
			a.Tag = ""
			c.work.Item = a
		}
	})),
	spoil("acks lose tags", on("AckOrchestrationItem", func(c *call) {
		for i, item := range c.ack.WorkerItems {
			a := item.(engine.ActivityExecuteItem)
			a.Tag = ""
			c.ack.WorkerItems[i] = a
		}
		c.do()
	})),
	rule("tags in small letters", func(r *memprovider.Rules) {
		r.TakesTag = func(f engine.TagFilter, tag string) bool { return f.Matches(tag) || f.Matches(strings.ToLower(tag)) }
	}),
	hides("the untagged are tagged", func(c *call) bool {
		return c.tags.Mode == engine.TagDefaultOnly && c.work.AttemptCount > 1 && c.work.Item.(engine.ActivityExecuteItem).Tag == ""
	}),
}
