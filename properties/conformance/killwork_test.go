package conformance_test

import (
	"cmp"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/properties/conformance"
)

// hides gives an activity back and returns nothing in the cases that hidden selects.
func hides(name string, hidden func(c *call) bool) killer { return spoil(name, "", hiding(hidden)) }

func hiding(hidden func(c *call) bool) func(c *call) {
	return on("FetchWorkItem", func(c *call) {
		if c.do(); c.work != nil && hidden(c) {
			_ = c.inner.AbandonWorkItem(c.ctx, c.work.LockToken, 0, true)
			c.work = nil
		}
	})
}

func activities(name string, change func(w *delivery, a *engine.ActivityExecuteItem)) killer {
	return alters(name, func(w *delivery) {
		a := w.Item.(engine.ActivityExecuteItem)
		change(w, &a)
		w.Item = a
	})
}

// tags takes one mode of tag filters for another.
func tags(name string, from, to engine.TagMode) killer {
	return asks(name, "FetchWorkItem", func(c *call) {
		if c.tags.Mode == from {
			c.tags.Mode = to
		}
	})
}

// claim changes how a fetch claims sessions, if it does.
func (c *call) claim(change func(s *engine.SessionFetchConfig)) {
	if c.session != nil {
		s := *c.session
		change(&s)
		c.session = &s
	}
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
	answers("finishes anything", "AckWorkItem", func(c *call) { c.err = nil }),
	answers("extends anything", "RenewWorkItemLock", func(c *call) { c.err = nil }),
	asks("extending frees", "RenewWorkItemLock", func(c *call) { c.extend = 0 }),
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
	answers("extend errors are retryable", "RenewWorkItemLock", retryable),
	answers("quit errors are retryable", "AbandonWorkItem", retryable),
	answers("a refused completion deletes", "AckWorkItem", func(c *call) {
		if c.err != nil && c.item != nil && c.item.Kind() == engine.ItemExternalRaised {
			_ = c.inner.AckWorkItem(c.ctx, c.token, nil)
		}
	}),
	asks("completions of the unnamed are lost", "AckWorkItem", func(c *call) {
		if c.item != nil && c.infoOf(c.item.Target()).InstanceID == "" {
			c.item = nil
		}
	}),
	answers("completions come twice", "AckWorkItem", func(c *call) {
		if c.err == nil && c.item != nil {
			_ = c.inner.EnqueueForOrchestrator(c.ctx, c.item, 0)
		}
	}),
	asks("no completion is a completion", "AckWorkItem", func(c *call) {
		if c.item == nil {
			c.item = engine.ActivityCompletedItem{Instance: "A", ExecutionID: 1, ID: 1}
		}
	}),
	spoil("finishing does not delete", "AckWorkItem", func(c *call) { c.err = c.inner.AbandonWorkItem(c.ctx, c.token, 0, true) }),

	spoil("the youngest activity first", "FetchWorkItem", func(c *call) {
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
	}),
	asks("activities are queued twice", "EnqueueForWorker", func(c *call) { c.do() }),
	alters("work counts from zero", func(w *delivery) { w.AttemptCount-- }),
	remembers("work counts belong to the queue", "FetchWorkItem", func(c *call, n *uint32) {
		if c.do(); c.work != nil {
			(*n)++
			c.work.AttemptCount = *n
		}
	}),
	hides("strangers have no work", func(c *call) bool { return statusOf(c) == "" }),
	refusesRenewalOf("the running are not renewed", engine.StatusRunning),
	refusesRenewalOf("the completed are not renewed", engine.StatusCompleted),
	refusesRenewalOf("strangers are not renewed", ""),

	asks("one activity is cancelled", "AckOrchestrationItem", func(c *call) {
		c.ack.CancelledActivities = c.ack.CancelledActivities[:min(1, len(c.ack.CancelledActivities))]
	}),
	refuses("cancelling what is not there fails", "AckOrchestrationItem", func(c *call) bool {
		return slices.ContainsFunc(c.ack.CancelledActivities, func(a engine.ScheduledActivityIdentifier) bool { return a.ActivityID == 999 })
	}),

	activities("sessions are not told", func(_ *delivery, a *engine.ActivityExecuteItem) { a.SessionID = "" }),
	remembers("every caller is an owner", "FetchWorkItem", func(c *call, n *int) {
		(*n)++
		c.claim(func(s *engine.SessionFetchConfig) { s.OwnerID = strings.Repeat("x", *n) })
		c.do()
	}),
	spoilWith("session locks never end for others", func(*conformance.Store) func(c *call) {
		owner := map[string]string{}
		return hiding(func(c *call) bool {
			s := c.work.Item.(engine.ActivityExecuteItem).SessionID
			if c.session == nil || s == "" {
				return false
			}
			owner[s] = cmp.Or(owner[s], c.session.OwnerID)
			return owner[s] != c.session.OwnerID
		})
	}),
	spoilWith("an owner that lost a session never gets it back", func(in *conformance.Store) func(c *call) {
		until := map[string]int64{}
		return hiding(func(c *call) bool {
			if c.session == nil {
				return false
			}
			key := c.session.OwnerID + c.work.Item.(engine.ActivityExecuteItem).SessionID
			if u, ok := until[key]; ok && u <= in.NowMs() {
				return true
			}
			until[key] = in.NowMs() + c.session.LockTimeout.Milliseconds()
			return false
		})
	}),
	hides("owners get no plain activities", func(c *call) bool {
		return c.session != nil && c.work.Item.(engine.ActivityExecuteItem).SessionID == ""
	}),
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
	answers("holds each owner twice", "RenewSessionLock", func(c *call) {
		if len(c.owners) == 2 && c.owners[0] == c.owners[1] {
			c.count *= 2
		}
	}),
	answers("holds one session", "RenewSessionLock", func(c *call) { c.count = min(1, c.count) }),
	asks("holds everybody's", "RenewSessionLock", func(c *call) { c.owners = []string{"worker-A", "worker-B"} }),
	answers("holds at least one", "RenewSessionLock", func(c *call) {
		if len(c.owners) > 0 {
			c.count = max(1, c.count)
		}
	}),
	answers("sweeps one more", "CleanupOrphanedSessions", func(c *call) { c.count++ }),
	answers("sweeps one at most", "CleanupOrphanedSessions", func(c *call) { c.count = min(1, c.count) }),

	tags("any tag is the default", engine.TagAny, engine.TagDefaultOnly),
	tags("no tag is any tag", engine.TagNone, engine.TagAny),
	asks("the first tag counts", "FetchWorkItem", func(c *call) {
		if len(c.tags.Tags) > 1 {
			c.tags.Tags = c.tags.Tags[:1]
		}
	}),
	activities("tags are not told", func(_ *delivery, a *engine.ActivityExecuteItem) { a.Tag = "" }),
	activities("quitting loses the tag", func(w *delivery, a *engine.ActivityExecuteItem) {
		if w.AttemptCount > 1 {
			a.Tag = ""
		}
	}),
	asks("acks lose tags", "AckOrchestrationItem", func(c *call) {
		for i, item := range c.ack.WorkerItems {
			a := item.(engine.ActivityExecuteItem)
			a.Tag = ""
			c.ack.WorkerItems[i] = a
		}
	}),
	hides("the untagged are tagged", func(c *call) bool {
		return c.tags.Mode == engine.TagDefaultOnly && c.work.AttemptCount > 1 && c.work.Item.(engine.ActivityExecuteItem).Tag == ""
	}),
}
