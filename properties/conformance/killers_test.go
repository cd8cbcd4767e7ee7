package conformance_test

import (
	"slices"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/properties/conformance"
)

// killer is a wrong provider: a description of its mistake, and a factory for its stores.
type killer struct {
	name    string
	factory conformance.Factory
}

// rule returns memprovider with one of its rules replaced.
//
//go:noinline
func rule(name string, change func(r *memprovider.Rules)) killer {
	rules := memprovider.DefaultRules()
	change(rules)
	return killer{name, memory(rules)}
}

// spoil returns memprovider behind a decorator that keeps no state between calls.
//
// It is not inlined, because the tables below call it several hundred times, and inlining would make the compiler take
// ten seconds.
//
//go:noinline
func spoil(name string, spoil func(c *call)) killer {
	return spoilWith(name, func(*conformance.Store) func(c *call) { return spoil })
}

// spoilWith returns memprovider behind a decorator that keeps state for each store.
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

// on limits a decorator to some methods, so that the others stay correct.
//
//go:noinline
func on(methods string, spoiled func(c *call)) func(c *call) {
	return func(c *call) {
		if slices.Contains(splitWords(methods), c.method) {
			spoiled(c)
			return
		}
		c.do()
	}
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

var permanent = engine.Permanentf("call", "no")

// queueKillers make mistakes in the orchestrator queue, or with locks, acks or histories.
var queueKillers = []killer{
	spoil("acks anything", on("AckOrchestrationItem", func(c *call) { c.do(); c.err = nil })),
	spoil("abandons anything", on("AbandonOrchestrationItem", func(c *call) { c.do(); c.err = nil })),
	spoil("renews anything", on("RenewOrchestrationItemLock", func(c *call) { c.do(); c.err = nil })),
	spoil("renews nothing", on("RenewOrchestrationItemLock", func(c *call) { c.err = permanent })),
	spoil("renews for nothing", on("RenewOrchestrationItemLock", func(c *call) {})),
	spoil("renewal adds nine seconds", on("RenewOrchestrationItemLock", func(c *call) { c.extend += 9 * time.Second; c.do() })),
	spoil("renewal frees", on("RenewOrchestrationItemLock", func(c *call) { c.extend = 0; c.do() })),
	spoil("ack errors are retryable", on("AckOrchestrationItem", func(c *call) { c.do(); retryable(c) })),
	spoil("abandon errors are retryable", on("AbandonOrchestrationItem", func(c *call) { c.do(); retryable(c) })),
	spoil("renew errors are retryable", on("RenewOrchestrationItemLock", func(c *call) { c.do(); retryable(c) })),
	spoil("ack errors say nothing", on("AckOrchestrationItem", func(c *call) {
		c.do()
		if c.err != nil {
			c.err = permanent
		}
	})),
	spoil("plain errors", func(c *call) {
		c.do()
		if c.err != nil {
			c.err = errPlain
		}
	}),
	spoil("a failed ack frees", on("AckOrchestrationItem", func(c *call) {
		if c.do(); c.err != nil {
			_ = c.inner.AbandonOrchestrationItem(c.ctx, c.ack.LockToken, 0, true)
		}
	})),
	spoil("a failed ack is an empty one", on("AckOrchestrationItem", func(c *call) {
		if c.do(); c.err != nil {
			_ = c.inner.AckOrchestrationItem(c.ctx, engine.OrchestrationAck{LockToken: c.ack.LockToken, ExecutionID: c.ack.ExecutionID})
		}
	})),
	spoil("a failed ack sends its work", on("AckOrchestrationItem", func(c *call) {
		if c.do(); c.err != nil {
			for _, item := range c.ack.WorkerItems {
				_ = c.inner.EnqueueForWorker(c.ctx, item)
			}
		}
	})),
	spoil("a failed ack keeps its first event", on("AckOrchestrationItem", func(c *call) {
		if c.do(); c.err != nil && len(c.ack.HistoryDelta) > 0 {
			in := "A"
			_ = c.inner.AppendWithExecution(c.ctx, in, c.ack.ExecutionID, c.ack.HistoryDelta[:1])
		}
	})),
	spoil("acks no events", on("AckOrchestrationItem", func(c *call) { c.ack.HistoryDelta = nil; c.do() })),
	spoil("acks one activity", on("AckOrchestrationItem", func(c *call) { c.ack.WorkerItems = c.ack.WorkerItems[:min(1, len(c.ack.WorkerItems))]; c.do() })),
	spoil("acks no activities", on("AckOrchestrationItem", func(c *call) { c.ack.WorkerItems = nil; c.do() })),
	spoil("acks no messages", on("AckOrchestrationItem", func(c *call) { c.ack.OrchestratorItems = nil; c.do() })),
	spoil("ack turns messages round", on("AckOrchestrationItem", func(c *call) {
		c.ack.OrchestratorItems = slices.Clone(c.ack.OrchestratorItems)
		slices.Reverse(c.ack.OrchestratorItems)
		c.do()
	})),
	spoil("empty acks fail", on("AckOrchestrationItem", func(c *call) {
		if len(c.ack.HistoryDelta) == 0 && len(c.ack.WorkerItems) == 0 && len(c.ack.OrchestratorItems) == 0 && len(c.ack.CancelledActivities) == 0 && c.ack.Metadata.PinnedVersion == nil {
			c.err = permanent
			return
		}
		c.do()
	})),
	spoil("overwrites events", on("AckOrchestrationItem AppendWithExecution", func(c *call) { overwriting(c) })),
	spoil("duplicates in a delta are left out", on("AckOrchestrationItem", func(c *call) {
		c.ack.HistoryDelta = slices.CompactFunc(slices.Clone(c.ack.HistoryDelta), func(a, b engine.Event) bool { return a.EventID == b.EventID })
		c.do()
	})),
	spoil("id zero is the next id", on("AckOrchestrationItem", func(c *call) {
		c.ack.HistoryDelta = slices.Clone(c.ack.HistoryDelta)
		for i := range c.ack.HistoryDelta {
			if c.ack.HistoryDelta[i].EventID == 0 {
				c.ack.HistoryDelta[i].EventID = 77
			}
		}
		c.do()
	})),
	spoil("ids are renumbered", on("AckOrchestrationItem", func(c *call) {
		c.ack.HistoryDelta = slices.Clone(c.ack.HistoryDelta)
		for i := range c.ack.HistoryDelta {
			if i > 0 {
				c.ack.HistoryDelta[i].EventID = c.ack.HistoryDelta[0].EventID + uint64(i)
			}
		}
		c.do()
	})),
	spoil("append keeps the first", on("AppendWithExecution", func(c *call) {
		for _, e := range c.events {
			if err := c.inner.AppendWithExecution(c.ctx, c.instance, c.execution, []engine.Event{e}); err != nil {
				c.err = err
				return
			}
		}
	})),
	spoil("reads in the order of writing", on("Read ReadWithExecution", func(c *call) {
		c.do()
		slices.Reverse(c.events)
	})),
	spoil("events lose their source", on("Read", func(c *call) {
		c.do()
		c.events = slices.Clone(c.events)
		for i := range c.events {
			c.events[i].SourceEventID = 0
		}
	})),
	spoil("strangers have a history", on("Read", func(c *call) {
		if c.do(); len(c.events) == 0 && c.err == nil {
			c.events = []engine.Event{{EventID: 1, Data: eventdata.KeyValuesCleared{}}}
		}
	})),
	spoil("every execution reads as the latest", on("ReadWithExecution", func(c *call) { c.events, c.err = c.inner.Read(c.ctx, c.instance) })),
	spoil("unknown executions read as the latest", on("ReadWithExecution ReadHistoryWithExecutionID", func(c *call) {
		if c.do(); len(c.events) == 0 && c.err == nil {
			c.events, c.err = c.inner.Read(c.ctx, c.instance)
		}
	})),
	spoil("reads the first execution", on("Read", func(c *call) { c.events, c.err = c.inner.ReadWithExecution(c.ctx, c.instance, 1) })),
	spoil("damage reads as nothing", on("Read ReadWithExecution ReadHistory ReadHistoryWithExecutionID", func(c *call) { c.do(); c.err = nil })),
	spoil("one execution's damage reads as nothing", on("ReadWithExecution ReadHistoryWithExecutionID", func(c *call) { c.do(); c.err = nil })),
	spoil("damage is told as retryable", on("Read ReadWithExecution ReadHistory ReadHistoryWithExecutionID", func(c *call) { c.do(); retryable(c) })),
	spoil("damage ends the fetch", on("FetchOrchestrationItem", func(c *call) {
		if c.do(); c.fetched != nil && c.fetched.Item.HistoryError != "" {
			c.fetched, c.err = nil, permanent
		}
	})),
	spoil("damage hides the messages", on("FetchOrchestrationItem", func(c *call) {
		if c.do(); c.fetched != nil && c.fetched.Item.HistoryError != "" {
			c.fetched.Item.Messages = nil
		}
	})),
	spoil("damage hides the name", on("FetchOrchestrationItem", func(c *call) {
		if c.do(); c.fetched != nil && c.fetched.Item.HistoryError != "" {
			c.fetched.Item.OrchestrationName = ""
		}
	})),
	spoil("damage with a partial history", on("FetchOrchestrationItem", func(c *call) {
		if c.do(); c.fetched != nil && c.fetched.Item.HistoryError != "" {
			c.fetched.Item.History = []engine.Event{{EventID: 2, Data: eventdata.KeyValuesCleared{}}}
		}
	})),
	spoil("damage is not held", on("FetchOrchestrationItem", func(c *call) {
		if c.do(); c.fetched != nil && c.fetched.Item.HistoryError != "" {
			_ = c.inner.AbandonOrchestrationItem(c.ctx, c.fetched.LockToken, 0, false)
		}
	})),
	spoil("damage loses the keys", on("FetchOrchestrationItem GetKVValue", func(c *call) {
		if c.do(); c.value != nil {
			if _, err := c.inner.Read(c.ctx, c.instance); err != nil {
				c.value = nil
			}
		}
	})),

	spoil("panics when there is nothing", on("FetchOrchestrationItem", func(c *call) {
		if c.do(); c.fetched == nil && c.err == nil {
			panic("nothing there")
		}
	})),
	spoil("one token for all instances", on("FetchOrchestrationItem", func(c *call) {
		if c.do(); c.fetched != nil {
			c.fetched.LockToken = "token"
		}
	})),
	spoil("one token for all activities", on("FetchWorkItem", func(c *call) {
		if c.do(); c.work != nil {
			c.work.LockToken = "token"
		}
	})),
	spoil("empty tokens", on("FetchOrchestrationItem FetchWorkItem", func(c *call) {
		c.do()
		if c.fetched != nil {
			c.fetched.LockToken = ""
		}
		if c.work != nil {
			c.work.LockToken = ""
		}
	})),
	spoil("no instance lock", on("FetchOrchestrationItem", func(c *call) { c.lock = 0; c.do() })),
	spoil("instance locks are ten times longer", on("FetchOrchestrationItem", func(c *call) { c.lock *= 10; c.do() })),
	spoil("instance locks are never shorter than a second", on("FetchOrchestrationItem", func(c *call) { c.lock = max(c.lock, time.Second); c.do() })),
	spoil("instance locks end after half a second", on("FetchOrchestrationItem", func(c *call) { c.lock = min(c.lock, 500*time.Millisecond); c.do() })),
	spoil("instance locks end after 100 ms", on("FetchOrchestrationItem", func(c *call) { c.lock = min(c.lock, 100*time.Millisecond); c.do() })),
	spoilWith("a second fetch frees", func(*conformance.Store) func(c *call) {
		last := ""
		return on("FetchOrchestrationItem", func(c *call) {
			if c.do(); c.fetched == nil && last != "" {
				_ = c.inner.AbandonOrchestrationItem(c.ctx, last, 0, true)
			} else if c.fetched != nil {
				last = c.fetched.LockToken
			}
		})
	}),
	spoilWith("one lock for all", func(*conformance.Store) func(c *call) {
		held := ""
		return func(c *call) {
			switch {
			case c.is("FetchOrchestrationItem"):
				if held != "" {
					if c.inner.RenewOrchestrationItemLock(c.ctx, held, 30*time.Second) == nil {
						return
					}
				}
				if c.do(); c.fetched != nil {
					held = c.fetched.LockToken
				}
			default:
				c.do()
			}
		}
	}),
	spoil("the youngest instance first", on("FetchOrchestrationItem", func(c *call) {
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
	})),
	spoil("batches are turned round", on("FetchOrchestrationItem", func(c *call) {
		if c.do(); c.fetched != nil {
			slices.Reverse(c.fetched.Item.Messages)
		}
	})),
	spoil("batches are sorted by kind", on("FetchOrchestrationItem", func(c *call) {
		if c.do(); c.fetched != nil {
			slices.SortStableFunc(c.fetched.Item.Messages, func(a, b engine.WorkItem) int { return compareText(string(a.Kind()), string(b.Kind())) })
		}
	})),
	spoil("second deliveries are turned round", on("FetchOrchestrationItem", func(c *call) {
		if c.do(); c.fetched != nil && c.fetched.AttemptCount == 2 {
			slices.Reverse(c.fetched.Item.Messages)
		}
	})),
	spoil("one message at a time", on("FetchOrchestrationItem", func(c *call) {
		if c.do(); c.fetched != nil {
			c.fetched.Item.Messages = c.fetched.Item.Messages[:1]
		}
	})),
	spoil("every execution is the first", on("FetchOrchestrationItem", func(c *call) {
		if c.do(); c.fetched != nil {
			c.fetched.Item.ExecutionID = 1
		}
	})),
	spoil("continuing is the next execution", on("FetchOrchestrationItem", func(c *call) {
		if c.do(); c.fetched != nil && c.fetched.Item.Messages[0].Kind() == engine.ItemContinueAsNew {
			c.fetched.Item.ExecutionID++
		}
	})),
	spoil("no version is told", on("FetchOrchestrationItem", func(c *call) {
		if c.do(); c.fetched != nil {
			c.fetched.Item.Version = "unknown"
		}
	})),
	spoil("a start's name and version are told", on("FetchOrchestrationItem", func(c *call) {
		if c.do(); c.fetched != nil {
			if s, ok := c.fetched.Item.Messages[0].(engine.StartItem); ok {
				c.fetched.Item.OrchestrationName, c.fetched.Item.Version = s.Orchestration, s.Version
			}
		}
	})),
	spoil("starts without a version are lost", on("EnqueueForOrchestrator", func(c *call) {
		if s, ok := c.item.(engine.StartItem); ok && s.Version == "" {
			return
		}
		c.do()
	})),
	spoil("no history with a batch", on("FetchOrchestrationItem", func(c *call) {
		if c.do(); c.fetched != nil {
			c.fetched.Item.History = nil
		}
	})),
	spoil("counts from zero", on("FetchOrchestrationItem", func(c *call) {
		if c.do(); c.fetched != nil {
			c.fetched.AttemptCount--
		}
	})),
	spoil("counts are at most one", on("FetchOrchestrationItem", func(c *call) {
		if c.do(); c.fetched != nil {
			c.fetched.AttemptCount = 1
		}
	})),
	spoil("counts end at four", on("FetchOrchestrationItem", func(c *call) {
		if c.do(); c.fetched != nil {
			c.fetched.AttemptCount = min(4, c.fetched.AttemptCount)
		}
	})),
	spoilWith("counts belong to instances", func(*conformance.Store) func(c *call) {
		counts := map[string]uint32{}
		return on("FetchOrchestrationItem", func(c *call) {
			if c.do(); c.fetched != nil {
				counts[c.fetched.Item.Instance]++
				c.fetched.AttemptCount = counts[c.fetched.Item.Instance]
			}
		})
	}),
	spoilWith("attempts are taken back everywhere", func(*conformance.Store) func(c *call) {
		less := uint32(0)
		return func(c *call) {
			c.do()
			if c.is("AbandonOrchestrationItem") && c.ignore {
				less = 1
			}
			if c.fetched != nil && c.fetched.AttemptCount > 1 {
				c.fetched.AttemptCount -= less
			}
		}
	}),
	spoil("every abandon takes an attempt back", on("AbandonOrchestrationItem", func(c *call) { c.ignore = true; c.do() })),
	spoil("abandons nothing", on("AbandonOrchestrationItem", func(c *call) {})),
	spoil("abandons for a second", on("AbandonOrchestrationItem", func(c *call) { c.delay += time.Second; c.do() })),
	spoil("abandoned at once", on("AbandonOrchestrationItem", func(c *call) { c.delay = 0; c.do() })),
	spoil("an abandon deletes the batch", on("AbandonOrchestrationItem", func(c *call) {
		c.err = c.inner.AckOrchestrationItem(c.ctx, engine.OrchestrationAck{LockToken: c.token, ExecutionID: 1})
	})),
	spoil("messages are sent twice", on("EnqueueForOrchestrator", func(c *call) { c.do(); c.do() })),
	spoil("messages come at once", on("EnqueueForOrchestrator", func(c *call) { c.delay = 0; c.do() })),
	spoil("no delay is a second", on("EnqueueForOrchestrator", func(c *call) {
		if c.delay == 0 && c.item.Kind() == engine.ItemExternalRaised {
			c.delay = time.Second
		}
		c.do()
	})),
	spoilWith("timers wait for their fire time", func(in *conformance.Store) func(c *call) {
		return on("EnqueueForOrchestrator", func(c *call) {
			if timer, ok := c.item.(engine.TimerFiredItem); ok {
				c.delay = time.Duration(max(int64(timer.FireAtMs)-in.NowMs(), 0)) * time.Millisecond
			}
			c.do()
		})
	}),
	spoil("timers are lost", on("EnqueueForOrchestrator", func(c *call) {
		if c.item.Kind() != engine.ItemTimerFired {
			c.do()
		}
	})),
	spoil("activities are messages", on("EnqueueForOrchestrator", func(c *call) {
		if c.do(); c.item.Kind() == engine.ItemActivityExecute {
			c.err = nil
		}
	})),
	spoil("children's results are lost", on("EnqueueForOrchestrator", func(c *call) {
		if c.item.Kind() != engine.ItemSubOrchFailed {
			c.do()
		}
	})),
	spoil("children are lost", on("AckOrchestrationItem", func(c *call) {
		c.ack.OrchestratorItems = slices.DeleteFunc(slices.Clone(c.ack.OrchestratorItems), func(m engine.WorkItem) bool { return m.Kind() == engine.ItemStartOrchestration })
		c.do()
	})),
	spoil("strangers get no messages", on("EnqueueForOrchestrator", func(c *call) {
		if ids, _ := c.inner.Admin().ListExecutions(c.ctx, c.item.Target()); len(ids) > 0 || c.item.Kind() == engine.ItemStartOrchestration {
			c.do()
		}
	})),
	spoil("strangers get no cancellations", on("EnqueueForOrchestrator", func(c *call) {
		if ids, _ := c.inner.Admin().ListExecutions(c.ctx, c.item.Target()); len(ids) > 0 || c.item.Kind() != engine.ItemCancelInstance {
			c.do()
		}
	})),
	spoil("strangers get no queue messages", on("EnqueueForOrchestrator", func(c *call) {
		if ids, _ := c.inner.Admin().ListExecutions(c.ctx, c.item.Target()); len(ids) > 0 || c.item.Kind() != engine.ItemQueueMessage {
			c.do()
		}
	})),
	spoil("the ended get no messages", on("EnqueueForOrchestrator", func(c *call) {
		if info, err := c.inner.Admin().GetInstanceInfo(c.ctx, c.item.Target()); err != nil || !info.Status.Terminal() || c.item.Kind() == engine.ItemContinueAsNew {
			c.do()
		}
	})),
	spoil("the ended get no queue messages", on("EnqueueForOrchestrator", func(c *call) {
		if info, err := c.inner.Admin().GetInstanceInfo(c.ctx, c.item.Target()); err != nil || !info.Status.Terminal() || c.item.Kind() != engine.ItemQueueMessage {
			c.do()
		}
	})),
	spoil("old executions get no completions", on("EnqueueForOrchestrator", func(c *call) {
		d, ok := c.item.(engine.ActivityCompletedItem)
		if info, err := c.inner.Admin().GetInstanceInfo(c.ctx, c.item.Target()); !ok || err != nil || d.ExecutionID == info.CurrentExecutionID {
			c.do()
		}
	})),
	spoilWith("a message ends the lock", func(*conformance.Store) func(c *call) {
		held := map[string]string{}
		return func(c *call) {
			c.do()
			if c.fetched != nil {
				held[c.fetched.Item.Instance] = c.fetched.LockToken
			}
			if c.is("EnqueueForOrchestrator") && held[c.item.Target()] != "" {
				_ = c.inner.AbandonOrchestrationItem(c.ctx, held[c.item.Target()], 0, true)
			}
		}
	}),
	spoil("outputs are lost", on("AckOrchestrationItem", func(c *call) { c.ack.Metadata.Output = nil; c.do() })),
	spoil("the first status stays", on("AckOrchestrationItem", func(c *call) {
		if info, err := c.inner.Admin().GetInstanceInfo(c.ctx, "A"); err == nil && info.Status.Terminal() {
			c.ack.Metadata.Status = ""
		}
		c.do()
	})),
	spoil("no status is running", on("AckOrchestrationItem", func(c *call) {
		if c.ack.Metadata.Status == "" {
			c.ack.Metadata.Status = engine.StatusRunning
		}
		c.do()
	})),
	spoil("instances without a name", on("AckOrchestrationItem", func(c *call) {
		if m := &c.ack.Metadata; m.OrchestrationName == "" {
			m.OrchestrationName, m.OrchestrationVersion = "TestOrch", "1.0.0"
		}
		c.do()
	})),
	spoilWith("the first name stays", func(*conformance.Store) func(c *call) {
		named := false
		return on("AckOrchestrationItem", func(c *call) {
			if named {
				c.ack.Metadata.OrchestrationName = ""
			}
			named = named || c.ack.Metadata.OrchestrationName != ""
			c.do()
		})
	}),
	spoil("pins are lost", on("AckOrchestrationItem", func(c *call) { c.ack.Metadata.PinnedVersion = nil; c.do() })),
	spoil("pins come with events", on("AckOrchestrationItem", func(c *call) {
		if len(c.ack.HistoryDelta) == 0 {
			c.ack.Metadata.PinnedVersion = nil
		}
		c.do()
	})),
	spoil("no pin is pin zero", on("AckOrchestrationItem", func(c *call) {
		if c.ack.Metadata.PinnedVersion == nil {
			v := engine.V(0, 0, 0)
			c.ack.Metadata.PinnedVersion = &v
		}
		c.do()
	})),
	spoil("no filter admits only the unpinned", on("FetchOrchestrationItem", func(c *call) {
		if c.filter == nil {
			v := engine.V(0, 0, 0)
			c.filter = engine.FilterFor(engine.VersionRange{Min: v, Max: v})
		}
		c.do()
	})),
	spoil("filters admit the unpinned only", on("FetchOrchestrationItem", func(c *call) {
		if c.filter != nil && len(c.filter.SupportedVersions) > 0 {
			v := engine.V(0, 0, 0)
			c.filter = engine.FilterFor(engine.VersionRange{Min: v, Max: v})
		}
		c.do()
	})),
	spoil("filtered fetches do not lock", on("FetchOrchestrationItem", func(c *call) {
		if c.filter != nil {
			c.lock = 0
		}
		c.do()
	})),
	spoil("inverted ranges are turned round", on("FetchOrchestrationItem", func(c *call) {
		if c.filter != nil && len(c.filter.SupportedVersions) > 0 {
			if r := c.filter.SupportedVersions[0]; r.Min.Compare(r.Max) > 0 {
				c.filter = engine.FilterFor(engine.VersionRange{Min: r.Max, Max: r.Min})
			}
		}
		c.do()
	})),
	spoil("pins lose their pre-release, bounds keep it", on("FetchOrchestrationItem", func(c *call) {
		if c.filter != nil && len(c.filter.SupportedVersions) > 0 {
			if r := c.filter.SupportedVersions[0]; r.Max.Pre != "" {
				c.filter = engine.FilterFor(engine.VersionRange{Min: r.Min, Max: engine.V(r.Max.Major-1, 9999, 9999)})
			}
		}
		c.do()
	})),
	spoil("a filter looks at ten instances", on("FetchOrchestrationItem", func(c *call) {
		if d, err := c.inner.Admin().GetQueueDepths(c.ctx); c.filter != nil && err == nil && d.OrchestratorQueue > 10 {
			return
		}
		c.do()
	})),
	spoil("cancelled callers hold locks", on("FetchOrchestrationItem", func(c *call) {
		if c.do(); c.ctx.Err() != nil {
			c.fetched, c.err = nil, engine.Retryablef("fetch", "%w", c.ctx.Err())
		}
	})),
}
