package conformance_test

import (
	"cmp"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/properties/conformance"
)

func delta(name string, change func(events []engine.Event) []engine.Event) killer {
	return asks(name, "AckOrchestrationItem", func(c *call) { c.ack.HistoryDelta = change(slices.Clone(c.ack.HistoryDelta)) })
}

func without[D engine.EventData](remove func(data D) bool) func([]engine.Event) []engine.Event {
	return func(events []engine.Event) []engine.Event {
		return slices.DeleteFunc(events, func(e engine.Event) bool {
			d, ok := e.Data.(D)
			return ok && remove(d)
		})
	}
}

// stateKillers make mistakes with the custom status or with keys.
var stateKillers = []killer{
	skips("there is no custom status", "GetCustomStatus", always),
	asks("custom status is always told", "GetCustomStatus", func(c *call) { c.seen = 0 }),
	refuses("strangers' custom status is an error", "GetCustomStatus", func(c *call) bool { return c.infoOf(c.instance).InstanceID == "" }),
	answers("no custom status is an empty one", "GetCustomStatus", func(c *call) {
		if c.custom == nil && c.seen == 0 {
			c.custom = &engine.CustomStatus{}
		}
	}),
	alters("a cleared custom status is an empty text", func(s *engine.CustomStatus) { s.Status = cmp.Or(s.Status, new(string)) }),
	delta("custom status is not cleared", without(func(u eventdata.CustomStatusUpdated) bool { return u.Status == nil })),
	delta("silence clears the custom status", func(events []engine.Event) []engine.Event {
		if len(events) > 0 && events[0].EventID == 101 && events[0].Kind() == eventdata.KindActivityScheduled {
			events = append(events, engine.Event{EventID: 777, Data: eventdata.CustomStatusUpdated{}})
		}
		return events
	}),
	rule("every update is a version", func(r *memprovider.Rules) {
		r.CustomStatusVersion = func(version uint64, updates int) uint64 { return version + uint64(updates) }
	}),
	remembers("the same custom status is no change", "AckOrchestrationItem", func(c *call, last *string) {
		c.ack.HistoryDelta = without(func(u eventdata.CustomStatusUpdated) bool {
			if u.Status == nil {
				return false
			}
			same := *u.Status == *last
			*last = *u.Status
			return same
		})(slices.Clone(c.ack.HistoryDelta))
		c.do()
	}),
	skips("custom status ends with its execution", "GetCustomStatus", func(c *call) bool {
		return c.infoOf(c.instance).CurrentExecutionID > 1
	}),
	remembers("custom status outlives its instance", "GetCustomStatus", func(c *call, last **engine.CustomStatus) {
		c.do()
		*last = cmp.Or(c.custom, *last)
		c.custom = *last
	}),

	skips("there are no keys", "GetKVValue", always),
	answers("absent keys are empty", "GetKVValue", func(c *call) { c.value = cmp.Or(c.value, new(string)) }),
	answers("empty values are absent", "GetKVValue", func(c *call) {
		if c.value != nil && *c.value == "" {
			c.value = nil
		}
	}),
	refuses("strangers' keys are an error", "GetKVValue GetKVAllValues", func(c *call) bool {
		ids, _ := c.inner.Admin().ListExecutions(c.ctx, c.instance)
		return len(ids) == 0
	}),
	alters("values are cut", func(v *string) { *v = (*v)[:min(1000, len(*v))] }),
	skips("keys are words", "GetKVValue", func(c *call) bool { return strings.ContainsAny(c.key, " /日") }),
	spoilWith("keys are written once", func(*conformance.Store) func(c *call) {
		set := map[string]bool{}
		return on("AckOrchestrationItem", func(c *call) {
			c.ack.HistoryDelta = without(func(s eventdata.KeyValueSet) bool {
				again := set[s.Key]
				set[s.Key] = true
				return again
			})(slices.Clone(c.ack.HistoryDelta))
			c.do()
		})
	}),
	delta("keys are not cleared", without(func(eventdata.KeyValueCleared) bool { return true })),
	delta("not all keys are cleared", without(func(eventdata.KeyValuesCleared) bool { return true })),
	delta("clearing comes last", func(events []engine.Event) []engine.Event {
		clears := func(e engine.Event) bool { return e.Kind() == eventdata.KindKeyValuesCleared }
		last := slices.DeleteFunc(slices.Clone(events), func(e engine.Event) bool { return !clears(e) })
		events = append(slices.DeleteFunc(events, clears), last...)
		for i := range events {
			events[i].EventID += uint64(500 + i)
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
	delta("ten keys are kept", without(func(s eventdata.KeyValueSet) bool { return strings.HasPrefix(s.Key, "key") && s.Key > "key50" })),
	refuses("clearing an unknown key fails", "AckOrchestrationItem", func(c *call) bool {
		return slices.ContainsFunc(c.ack.HistoryDelta, func(e engine.Event) bool { return e.Data == eventdata.KeyValueCleared{Key: "never"} })
	}),
	asks("keys are shared", "GetKVValue", func(c *call) { c.instance = "A" }),
	remembers("clearing is for all instances", "", func(c *call, cleared *bool) {
		for _, e := range c.ack.HistoryDelta {
			*cleared = *cleared || e.Kind() == eventdata.KindKeyValuesCleared
		}
		if c.do(); *cleared {
			c.value = nil
		}
	}),
	alters("a key too many", func(f *batch) {
		if len(f.Item.KVSnapshot) == 0 {
			f.Item.KVSnapshot = []engine.KVEntry{{Key: "_", Value: "_"}}
		}
	}),
	rule("batches come with the merged view", func(r *memprovider.Rules) { r.SnapshotsMerged = true }),
	rule("keys are merged on every status", func(r *memprovider.Rules) { r.MergesKV = func(s engine.Status) bool { return s != "" } }),
	rule("keys are merged on completion", func(r *memprovider.Rules) {
		r.MergesKV = func(s engine.Status) bool { return s == engine.StatusCompleted }
	}),
	rule("keys are merged on continuing", func(r *memprovider.Rules) {
		r.MergesKV = func(s engine.Status) bool { return s == engine.StatusContinuedAsNew }
	}),
	rule("cleared keys leave no tombstone", func(r *memprovider.Rules) { r.KeepsTombstone = false }),
	rule("a prune takes the keys", func(r *memprovider.Rules) { r.PruneTakesKV = true }),
	answers("clients read the store", "GetKVValue GetKVAllValues", func(c *call) {
		if c.infoOf(c.instance).CurrentExecutionID > 1 {
			c.value, c.pairs = nil, nil
		}
	}),
	remembers("a prune hides the keys", "PruneExecutions GetKVValue", func(c *call, pruned *bool) {
		*pruned = *pruned || c.is("PruneExecutions")
		if c.do(); *pruned {
			c.value = nil
		}
	}),
	spoilWith("keys outlive their instance", func(*conformance.Store) func(c *call) {
		last := map[string]*string{}
		return func(c *call) {
			c.do()
			for _, e := range c.ack.HistoryDelta {
				if s, ok := e.Data.(eventdata.KeyValueSet); ok {
					last[s.Key] = pointer(s.Value)
				}
			}
			if c.is("GetKVValue") && c.value == nil && c.infoOf(c.instance).InstanceID == "" {
				c.value = last[c.key]
			}
		}
	}),
	remembers("all keys outlive their instance", "GetKVAllValues", func(c *call, last *[]engine.KVPair) {
		if c.do(); len(c.pairs) == 0 {
			c.pairs = *last
		}
		*last = c.pairs
	}),
	remembers("finishing loses the keys", "", func(c *call, ended *bool) {
		*ended = *ended || c.ack.Metadata.Status == engine.StatusCompleted
		if c.do(); *ended {
			c.value = nil
		}
	}),
	remembers("continuing loses the keys", "", func(c *call, ended *bool) {
		*ended = *ended || c.ack.Metadata.Status == engine.StatusContinuedAsNew
		if c.do(); *ended && c.value != nil && *c.value != "third" {
			c.value = nil
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
