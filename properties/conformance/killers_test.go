package conformance_test

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/properties/conformance"
)

// killer is a wrong provider: a description of its mistake, and a factory for its stores.
type killer struct {
	name    string
	factory conformance.Factory
}

// spoilWith returns memprovider behind a decorator that keeps state for each store.
//
// It is not inlined, nor are the others, because the tables below call them several hundred times, and inlining would make
// the compiler take ten seconds.
//
//go:noinline
func spoilWith(name string, spoil func(in *conformance.Store) func(c *call)) killer {
	right := memory(nil)
	return killer{name, conformance.Factory{New: func() (*conformance.Store, error) {
		in, err := right.New()
		in.Provider = wrong(in.Provider, spoil(in))
		return in, err
	}}}
}

// spoil returns memprovider behind a decorator of some methods, which keeps no state between calls.
//
//go:noinline
func spoil(name, methods string, spoil func(c *call)) killer {
	return spoilWith(name, func(*conformance.Store) func(c *call) { return on(methods, spoil) })
}

// remembers is spoil with a value that each store keeps between calls.
func remembers[T any](name, methods string, spoil func(c *call, kept *T)) killer {
	return spoilWith(name, func(*conformance.Store) func(c *call) {
		kept := new(T)
		return on(methods, func(c *call) { spoil(c, kept) })
	})
}

// on limits a decorator to some methods, so that the others stay correct. No methods stand for all.
//
//go:noinline
func on(methods string, spoiled func(c *call)) func(c *call) {
	return func(c *call) {
		if methods == "" || slices.Contains(strings.Fields(methods), c.method) {
			spoiled(c)
			return
		}
		c.do()
	}
}

// asks changes what is asked.
//
//go:noinline
func asks(name, methods string, change func(c *call)) killer {
	return spoil(name, methods, func(c *call) {
		change(c)
		c.do()
	})
}

// answers changes the answer.
//
//go:noinline
func answers(name, methods string, change func(c *call)) killer {
	return spoil(name, methods, func(c *call) {
		c.do()
		change(c)
	})
}

// alters changes each answer of a type.
func alters[T any](name string, change func(answer *T)) killer {
	return answers(name, "", func(c *call) {
		for _, place := range c.places() {
			if answer, ok := place.(**T); ok && *answer != nil {
				change(*answer)
			}
		}
	})
}

// fails goes on after a call that has failed.
//
//go:noinline
func fails(name, methods string, then func(c *call)) killer {
	return answers(name, methods, func(c *call) {
		if c.err != nil {
			then(c)
		}
	})
}

// skips reports success without doing anything.
//
//go:noinline
func skips(name, methods string, when func(c *call) bool) killer {
	return spoil(name, methods, func(c *call) {
		if !when(c) {
			c.do()
		}
	})
}

// refuses reports a permanent error without doing anything.
//
//go:noinline
func refuses(name, methods string, when func(c *call) bool) killer {
	return skips(name, methods, func(c *call) bool {
		if when(c) {
			c.err = permanent
			return true
		}
		return false
	})
}

func always(*call) bool { return true }

// ranges changes the first range of a filter that has one.
func ranges(name string, change func(r engine.VersionRange) *engine.CapabilityFilter) killer {
	return asks(name, "FetchOrchestrationItem", func(c *call) {
		if c.filter != nil && len(c.filter.SupportedVersions) > 0 {
			c.filter = change(c.filter.SupportedVersions[0])
		}
	})
}

type (
	batch    = engine.FetchedOrchestration
	delivery = engine.FetchedWork
)

var (
	permanent    = engine.Permanentf("call", "no")
	onlyUnpinned = engine.FilterFor(engine.VersionRange{})
)

func retryable(c *call) {
	if c.err != nil {
		c.err = engine.Retryablef("call", "%s", c.err.Error())
	}
}

// infoOf returns what is known of an instance, or the zero value if it has no name.
func (c *call) infoOf(instance string) engine.InstanceInfo {
	if info, err := c.inner.Admin().GetInstanceInfo(c.ctx, instance); err == nil {
		return *info
	}
	return engine.InstanceInfo{}
}

// forStranger reports whether a message is for an instance without an execution.
func (c *call) forStranger() bool {
	ids, _ := c.inner.Admin().ListExecutions(c.ctx, c.item.Target())
	return len(ids) == 0
}

// killers lists all wrong providers, starting with the planted bugs. Their names are unique.
func killers() []killer {
	var all []killer
	for _, b := range faults.BugsOf("memprovider") {
		tables, err := faults.NewTables(b.ID)
		if err != nil {
			panic(err)
		}
		all = append(all, killer{string(b.ID), memory(tables.Provider)})
	}
	return slices.Concat(all, queueKillers, workKillers, stateKillers, adminKillers, timeKillers, rareKillers)
}

// queueKillers make mistakes in the orchestrator queue, or with locks, acks or histories.
var queueKillers = []killer{
	answers("acks anything", "AckOrchestrationItem", func(c *call) { c.err = nil }),
	answers("abandons anything", "AbandonOrchestrationItem", func(c *call) { c.err = nil }),
	answers("ack errors are retryable", "AckOrchestrationItem", retryable),
	answers("abandon errors are retryable", "AbandonOrchestrationItem", retryable),
	answers("renew errors are retryable", "RenewOrchestrationItemLock", retryable),
	fails("a failed ack frees", "AckOrchestrationItem", func(c *call) { _ = c.inner.AbandonOrchestrationItem(c.ctx, c.ack.LockToken, 0, true) }),
	fails("a failed ack sends its work", "AckOrchestrationItem", func(c *call) {
		for _, item := range c.ack.WorkerItems {
			_ = c.inner.EnqueueForWorker(c.ctx, item)
		}
	}),
	asks("acks no activities", "AckOrchestrationItem", func(c *call) { c.ack.WorkerItems = nil }),
	refuses("empty acks fail", "AckOrchestrationItem", func(c *call) bool {
		writes := len(c.ack.HistoryDelta) + len(c.ack.WorkerItems) + len(c.ack.OrchestratorItems) + len(c.ack.CancelledActivities)
		return writes == 0 && c.ack.Metadata.PinnedVersion == nil
	}),
	// Appended events pretend to have replaced old ones with the same ids.
	fails("overwrites events", "AckOrchestrationItem AppendWithExecution", func(c *call) {
		if c.is("AppendWithExecution") && len(c.events) > 0 {
			last := c.events[len(c.events)-1]
			last.EventID = 1001
			c.err = c.inner.AppendWithExecution(c.ctx, c.instance, c.execution, []engine.Event{last})
		} else if len(c.ack.HistoryDelta) == 1 && c.ack.HistoryDelta[0].EventID == 1 {
			c.ack.HistoryDelta[0].EventID = 1001
			c.do()
		}
	}),
	delta("ids are renumbered", func(events []engine.Event) []engine.Event {
		for i := range events {
			events[i].EventID = events[0].EventID + uint64(i)
		}
		return events
	}),
	spoil("append keeps the first", "AppendWithExecution", func(c *call) {
		for _, e := range c.events {
			if err := c.inner.AppendWithExecution(c.ctx, c.instance, c.execution, []engine.Event{e}); err != nil {
				c.err = err
				return
			}
		}
	}),
	answers("events lose their source", "Read", func(c *call) {
		c.events = slices.Clone(c.events)
		for i := range c.events {
			c.events[i].SourceEventID = 0
		}
	}),
	answers("strangers have a history", "Read", func(c *call) {
		if len(c.events) == 0 && c.err == nil {
			c.events = []engine.Event{{EventID: 1, Data: eventdata.KeyValuesCleared{}}}
		}
	}),
	spoil("every execution reads as the latest", "ReadWithExecution", func(c *call) { c.events, c.err = c.inner.Read(c.ctx, c.instance) }),
	spoil("reads the first execution", "Read", func(c *call) { c.events, c.err = c.inner.ReadWithExecution(c.ctx, c.instance, 1) }),
	answers("damage is told as retryable", "Read ReadWithExecution ReadHistory ReadHistoryWithExecutionID", retryable),
	answers("damage ends the fetch", "FetchOrchestrationItem", func(c *call) {
		if c.fetched != nil && c.fetched.Item.HistoryError != "" {
			c.fetched, c.err = nil, permanent
		}
	}),

	alters("one token for all instances", func(f *batch) { f.LockToken = "token" }),
	alters("one token for all activities", func(w *delivery) { w.LockToken = "token" }),
	asks("instance locks are ten times longer", "FetchOrchestrationItem", func(c *call) { c.lock *= 10 }),
	asks("instance locks are never shorter than a second", "FetchOrchestrationItem", func(c *call) { c.lock = max(c.lock, time.Second) }),
	asks("instance locks end after 100 ms", "FetchOrchestrationItem", func(c *call) { c.lock = min(c.lock, 100*time.Millisecond) }),
	remembers("a second fetch frees", "FetchOrchestrationItem", func(c *call, last *string) {
		if c.do(); c.fetched == nil && *last != "" {
			_ = c.inner.AbandonOrchestrationItem(c.ctx, *last, 0, true)
		} else if c.fetched != nil {
			*last = c.fetched.LockToken
		}
	}),
	remembers("one lock for all", "FetchOrchestrationItem", func(c *call, held *string) {
		if *held != "" && c.inner.RenewOrchestrationItemLock(c.ctx, *held, 30*time.Second) == nil {
			return
		}
		if c.do(); c.fetched != nil {
			*held = c.fetched.LockToken
		}
	}),
	spoil("the youngest instance first", "FetchOrchestrationItem", func(c *call) {
		var held []string
		for range 100 {
			f, err := c.inner.FetchOrchestrationItem(c.ctx, c.lock, 0, c.filter)
			if f == nil || err != nil {
				c.err = err
				break
			}
			if c.fetched != nil {
				held = append(held, c.fetched.LockToken)
			}
			c.fetched = f
		}
		for _, token := range held {
			_ = c.inner.AbandonOrchestrationItem(c.ctx, token, 0, true)
		}
	}),
	alters("batches are sorted by kind", func(f *batch) {
		slices.SortStableFunc(f.Item.Messages, func(a, b engine.WorkItem) int { return strings.Compare(string(a.Kind()), string(b.Kind())) })
	}),
	alters("second deliveries are turned round", func(f *batch) {
		if f.AttemptCount == 2 {
			slices.Reverse(f.Item.Messages)
		}
	}),
	alters("one message at a time", func(f *batch) { f.Item.Messages = f.Item.Messages[:1] }),
	alters("no version is told", func(f *batch) { f.Item.Version = "unknown" }),
	alters("a start's name and version are told", func(f *batch) {
		if s, ok := f.Item.Messages[0].(engine.StartItem); ok {
			f.Item.OrchestrationName, f.Item.Version = s.Orchestration, s.Version
		}
	}),
	skips("starts without a version are lost", "EnqueueForOrchestrator", func(c *call) bool {
		s, ok := c.item.(engine.StartItem)
		return ok && s.Version == ""
	}),
	alters("no history with a batch", func(f *batch) { f.Item.History = nil }),
	alters("counts from zero", func(f *batch) { f.AttemptCount-- }),
	alters("counts end at four", func(f *batch) { f.AttemptCount = min(4, f.AttemptCount) }),
	spoilWith("counts belong to instances", func(*conformance.Store) func(c *call) {
		counts := map[string]uint32{}
		return on("FetchOrchestrationItem", func(c *call) {
			if c.do(); c.fetched != nil {
				counts[c.fetched.Item.Instance]++
				c.fetched.AttemptCount = counts[c.fetched.Item.Instance]
			}
		})
	}),
	remembers("attempts are taken back everywhere", "", func(c *call, less *uint32) {
		c.do()
		if c.is("AbandonOrchestrationItem") && c.ignore {
			*less = 1
		}
		if c.fetched != nil && c.fetched.AttemptCount > 1 {
			c.fetched.AttemptCount -= *less
		}
	}),
	asks("messages are sent twice", "EnqueueForOrchestrator", func(c *call) { c.do() }),
	asks("no delay is a second", "EnqueueForOrchestrator", func(c *call) {
		if c.delay == 0 && c.item.Kind() == engine.ItemExternalRaised {
			c.delay = time.Second
		}
	}),
	spoilWith("timers wait for their fire time", func(in *conformance.Store) func(c *call) {
		return on("EnqueueForOrchestrator", func(c *call) {
			if timer, ok := c.item.(engine.TimerFiredItem); ok {
				c.delay = time.Duration(max(int64(timer.FireAtMs)-in.NowMs(), 0)) * time.Millisecond
			}
			c.do()
		})
	}),
	asks("children are lost", "AckOrchestrationItem", func(c *call) {
		c.ack.OrchestratorItems = slices.DeleteFunc(slices.Clone(c.ack.OrchestratorItems), func(m engine.WorkItem) bool {
			return m.Kind() == engine.ItemStartOrchestration
		})
	}),
	skips("strangers get no messages", "EnqueueForOrchestrator", func(c *call) bool {
		return c.forStranger() && c.item.Kind() != engine.ItemStartOrchestration
	}),
	skips("the ended get no messages", "EnqueueForOrchestrator", func(c *call) bool {
		return c.infoOf(c.item.Target()).Status.Terminal() && c.item.Kind() != engine.ItemContinueAsNew
	}),
	skips("old executions get no completions", "EnqueueForOrchestrator", func(c *call) bool {
		d, ok := c.item.(engine.ActivityCompletedItem)
		current := c.infoOf(c.item.Target()).CurrentExecutionID
		return ok && current > 0 && d.ExecutionID != current
	}),
	asks("the first status stays", "AckOrchestrationItem", func(c *call) {
		if c.infoOf("A").Status.Terminal() {
			c.ack.Metadata.Status = ""
		}
	}),
	asks("no status is running", "AckOrchestrationItem", func(c *call) {
		c.ack.Metadata.Status = cmp.Or(c.ack.Metadata.Status, engine.StatusRunning)
	}),
	asks("instances without a name", "AckOrchestrationItem", func(c *call) {
		if m := &c.ack.Metadata; m.OrchestrationName == "" {
			m.OrchestrationName, m.OrchestrationVersion = "TestOrch", "1.0.0"
		}
	}),
	asks("no filter admits only the unpinned", "FetchOrchestrationItem", func(c *call) { c.filter = cmp.Or(c.filter, onlyUnpinned) }),
	ranges("filters admit the unpinned only", func(engine.VersionRange) *engine.CapabilityFilter { return onlyUnpinned }),
	answers("cancelled callers hold locks", "FetchOrchestrationItem", func(c *call) {
		if c.ctx.Err() != nil {
			c.fetched, c.err = nil, engine.Retryablef("fetch", "%w", c.ctx.Err())
		}
	}),
}
