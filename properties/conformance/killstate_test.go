package conformance_test

import (
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/properties/conformance"
)

// delta changes the events that a turn records.
func delta(name string, change func(events []engine.Event) []engine.Event) killer {
	return spoil(name, on("AckOrchestrationItem", func(c *call) {
		c.ack.HistoryDelta = change(slices.Clone(c.ack.HistoryDelta))
		c.do()
	}))
}

// without removes the events of the given kind.
func without(kind engine.EventKind) func([]engine.Event) []engine.Event {
	return func(events []engine.Event) []engine.Event {
		return slices.DeleteFunc(events, func(e engine.Event) bool { return e.Kind() == kind })
	}
}

// snapshot changes the keys that are delivered with a batch.
func snapshot(name string, change func(c *call, entries []engine.KVEntry) []engine.KVEntry) killer {
	return spoil(name, on("FetchOrchestrationItem", func(c *call) {
		if c.do(); c.fetched != nil {
			c.fetched.Item.KVSnapshot = change(c, c.fetched.Item.KVSnapshot)
		}
	}))
}

func text(s string) *string { return &s }

// after falsifies reads of keys once the given method has been called.
func after(name, method string, spoiled func(c *call)) killer {
	return spoilWith(name, func(*conformance.Store) func(c *call) {
		was := false
		return func(c *call) {
			was = was || c.is(method)
			if c.do(); was {
				spoiled(c)
			}
		}
	})
}

// stateKillers make mistakes with the custom status or with keys.
var stateKillers = []killer{
	spoil("there is no custom status", on("GetCustomStatus", func(c *call) {})),
	spoil("custom status is always told", on("GetCustomStatus", func(c *call) { c.seen = 0; c.do() })),
	spoil("strangers' custom status is an error", on("GetCustomStatus", func(c *call) {
		if _, err := c.inner.Admin().GetInstanceInfo(c.ctx, c.instance); err != nil {
			c.err = permanent
			return
		}
		c.do()
	})),
	spoil("no custom status is an empty one", on("GetCustomStatus", func(c *call) {
		if c.do(); c.custom == nil && c.seen == 0 {
			c.custom = &engine.CustomStatus{}
		}
	})),
	spoil("custom status has one version", on("GetCustomStatus", func(c *call) {
		c.seen = 0
		if c.do(); c.custom != nil {
			c.custom.Version = 1
		}
	})),
	spoil("a cleared custom status is an empty text", on("GetCustomStatus", func(c *call) {
		if c.do(); c.custom != nil && c.custom.Status == nil {
			c.custom.Status = text("")
		}
	})),
	delta("custom status is not cleared", func(events []engine.Event) []engine.Event {
		return slices.DeleteFunc(events, func(e engine.Event) bool {
			u, ok := e.Data.(eventdata.CustomStatusUpdated)
			return ok && u.Status == nil
		})
	}),
	delta("silence clears the custom status", func(events []engine.Event) []engine.Event {
		if len(events) > 0 && events[0].EventID == 101 && events[0].Kind() == eventdata.KindActivityScheduled {
			events = append(events, engine.Event{EventID: 777, Data: eventdata.CustomStatusUpdated{}})
		}
		return events
	}),
	delta("the first custom status counts", func(events []engine.Event) []engine.Event {
		seen := false
		return slices.DeleteFunc(events, func(e engine.Event) bool {
			again := seen && e.Kind() == eventdata.KindCustomStatusUpdated
			seen = seen || e.Kind() == eventdata.KindCustomStatusUpdated
			return again
		})
	}),
	rule("every update is a version", func(r *memprovider.Rules) {
		r.CustomStatusVersion = func(version uint64, updates int) uint64 { return version + uint64(updates) }
	}),
	spoilWith("the same custom status is no change", func(*conformance.Store) func(c *call) {
		last := ""
		return on("AckOrchestrationItem", func(c *call) {
			c.ack.HistoryDelta = slices.DeleteFunc(slices.Clone(c.ack.HistoryDelta), func(e engine.Event) bool {
				u, ok := e.Data.(eventdata.CustomStatusUpdated)
				if !ok || u.Status == nil {
					return false
				}
				same := *u.Status == last
				last = *u.Status
				return same
			})
			c.do()
		})
	}),
	spoil("custom status ends with its execution", on("GetCustomStatus", func(c *call) {
		if info, err := c.inner.Admin().GetInstanceInfo(c.ctx, c.instance); err == nil && info.CurrentExecutionID > 1 {
			return
		}
		c.do()
	})),
	spoilWith("custom status outlives its instance", func(*conformance.Store) func(c *call) {
		var last *engine.CustomStatus
		return on("GetCustomStatus", func(c *call) {
			if c.do(); c.custom != nil {
				last = c.custom
			}
			c.custom = last
		})
	}),

	spoil("there are no keys", on("GetKVValue", func(c *call) {})),
	spoil("absent keys are empty", on("GetKVValue", func(c *call) {
		if c.do(); c.value == nil {
			c.value = text("")
		}
	})),
	spoil("empty values are absent", on("GetKVValue", func(c *call) {
		if c.do(); c.value != nil && *c.value == "" {
			c.value = nil
		}
	})),
	spoil("strangers' keys are an error", on("GetKVValue GetKVAllValues", func(c *call) {
		if ids, _ := c.inner.Admin().ListExecutions(c.ctx, c.instance); len(ids) == 0 {
			c.err = permanent
			return
		}
		c.do()
	})),
	spoil("values are cut", on("GetKVValue", func(c *call) {
		if c.do(); c.value != nil {
			c.value = text((*c.value)[:min(1000, len(*c.value))])
		}
	})),
	spoil("keys are words", on("GetKVValue", func(c *call) {
		if strings.ContainsAny(c.key, " /日") {
			return
		}
		c.do()
	})),
	spoilWith("keys are written once", func(*conformance.Store) func(c *call) {
		set := map[string]bool{}
		return on("AckOrchestrationItem", func(c *call) {
			c.ack.HistoryDelta = slices.DeleteFunc(slices.Clone(c.ack.HistoryDelta), func(e engine.Event) bool {
				s, ok := e.Data.(eventdata.KeyValueSet)
				again := ok && set[s.Key]
				if ok {
					set[s.Key] = true
				}
				return again
			})
			c.do()
		})
	}),
	delta("keys are not cleared", without(eventdata.KindKeyValueCleared)),
	delta("not all keys are cleared", without(eventdata.KindKeyValuesCleared)),
	delta("clearing comes last", func(events []engine.Event) []engine.Event {
		slices.SortStableFunc(events, func(a, b engine.Event) int {
			rank := func(e engine.Event) int {
				if e.Kind() == eventdata.KindKeyValuesCleared {
					return 1
				}
				return 0
			}
			return rank(a) - rank(b)
		})
		for i := range events {
			events[i].EventID = uint64(500 + i + int(events[i].EventID))
		}
		return events
	}),
	delta("keys have no time", func(events []engine.Event) []engine.Event {
		for i, e := range events {
			if s, ok := e.Data.(eventdata.KeyValueSet); ok {
				s.LastUpdatedAtMs = 0
				events[i].Data = s
			}
		}
		return events
	}),
	delta("ten keys are kept", func(events []engine.Event) []engine.Event {
		return slices.DeleteFunc(events, func(e engine.Event) bool {
			s, ok := e.Data.(eventdata.KeyValueSet)
			return ok && strings.HasPrefix(s.Key, "key") && s.Key > "key50"
		})
	}),
	spoil("clearing an unknown key fails", on("AckOrchestrationItem", func(c *call) {
		for _, e := range c.ack.HistoryDelta {
			if k, ok := e.Data.(eventdata.KeyValueCleared); ok && k.Key == "never" {
				c.err = permanent
				return
			}
		}
		c.do()
	})),
	spoil("keys are shared", on("GetKVValue", func(c *call) {
		c.instance = "A"
		c.do()
	})),
	spoilWith("clearing is for all instances", func(*conformance.Store) func(c *call) {
		cleared := false
		return func(c *call) {
			for _, e := range c.ack.HistoryDelta {
				cleared = cleared || e.Kind() == eventdata.KindKeyValuesCleared
			}
			if c.do(); cleared {
				c.value = nil
			}
		}
	}),
	snapshot("no keys with a batch", func(*call, []engine.KVEntry) []engine.KVEntry { return nil }),
	snapshot("keys without a time", func(_ *call, entries []engine.KVEntry) []engine.KVEntry {
		for i := range entries {
			entries[i].LastUpdatedAtMs = 0
		}
		return entries
	}),
	snapshot("a key too many", func(_ *call, entries []engine.KVEntry) []engine.KVEntry {
		if len(entries) == 0 {
			entries = append(entries, engine.KVEntry{Key: "_", Value: "_"})
		}
		return entries
	}),
	rule("batches come with the merged view", func(r *memprovider.Rules) { r.SnapshotsMerged = true }),
	rule("keys are merged at every ack", func(r *memprovider.Rules) { r.MergesKV = func(engine.Status) bool { return true } }),
	rule("keys are merged on every status", func(r *memprovider.Rules) { r.MergesKV = func(s engine.Status) bool { return s != "" } }),
	rule("keys are merged on completion", func(r *memprovider.Rules) {
		r.MergesKV = func(s engine.Status) bool { return s == engine.StatusCompleted }
	}),
	rule("keys are merged on continuing", func(r *memprovider.Rules) {
		r.MergesKV = func(s engine.Status) bool { return s == engine.StatusContinuedAsNew }
	}),
	rule("keys are never merged", func(r *memprovider.Rules) { r.MergesKV = func(engine.Status) bool { return false } }),
	rule("cleared keys leave no tombstone", func(r *memprovider.Rules) { r.KeepsTombstone = false }),
	rule("a prune takes the keys", func(r *memprovider.Rules) { r.PruneTakesKV = true }),
	spoil("clients read the store", on("GetKVValue GetKVAllValues", func(c *call) {
		c.do()
		if info, err := c.inner.Admin().GetInstanceInfo(c.ctx, c.instance); err == nil && info.CurrentExecutionID > 1 {
			c.value = nil
			c.pairs = nil
		}
	})),
	after("a prune hides the keys", "PruneExecutions", func(c *call) { c.value = nil }),
	spoilWith("keys outlive their instance", func(*conformance.Store) func(c *call) {
		last := map[string]*string{}
		return func(c *call) {
			c.do()
			for _, e := range c.ack.HistoryDelta {
				if s, ok := e.Data.(eventdata.KeyValueSet); ok {
					last[s.Key] = text(s.Value)
				}
			}
			if c.is("GetKVValue") && c.value == nil {
				if _, err := c.inner.Admin().GetInstanceInfo(c.ctx, c.instance); err != nil {
					c.value = last[c.key]
				}
			}
		}
	}),
	spoilWith("all keys outlive their instance", func(*conformance.Store) func(c *call) {
		var last []engine.KVPair
		return on("GetKVAllValues", func(c *call) {
			if c.do(); len(c.pairs) == 0 {
				c.pairs = last
			}
			last = c.pairs
		})
	}),
	spoilWith("finishing loses the keys", func(*conformance.Store) func(c *call) {
		ended := false
		return func(c *call) {
			ended = ended || c.ack.Metadata.Status == engine.StatusCompleted
			if c.do(); ended {
				c.value = nil
			}
		}
	}),
	spoilWith("continuing loses the keys", func(*conformance.Store) func(c *call) {
		ended := 0
		return func(c *call) {
			if c.ack.Metadata.Status == engine.StatusContinuedAsNew {
				ended++
			}
			if c.do(); ended > 0 && c.value != nil && *c.value != "third" {
				c.value = nil
			}
		}
	}),
	spoilWith("a key cleared once stays cleared", func(*conformance.Store) func(c *call) {
		cleared := map[string]bool{}
		return func(c *call) {
			for _, e := range c.ack.HistoryDelta {
				if k, ok := e.Data.(eventdata.KeyValueCleared); ok {
					cleared[k.Key] = true
				}
			}
			if c.do(); cleared[c.key] {
				c.value = nil
			}
		}
	}),
}
