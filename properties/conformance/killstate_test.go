package conformance_test

import (
	"cmp"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
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
	remembers("custom status outlives its instance", "GetCustomStatus", func(c *call, last **engine.CustomStatus) {
		c.do()
		*last = cmp.Or(c.custom, *last)
		c.custom = *last
	}),

	skips("there are no keys", "GetKVValue", always),
	answers("absent keys are empty", "GetKVValue", func(c *call) { c.value = cmp.Or(c.value, new(string)) }),
	refuses("strangers' keys are an error", "GetKVValue GetKVAllValues", func(c *call) bool {
		ids, _ := c.inner.Admin().ListExecutions(c.ctx, c.instance)
		return len(ids) == 0
	}),
	alters("values are cut", func(v *string) { *v = (*v)[:min(1000, len(*v))] }),
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
	alters("a key too many", func(f *batch) {
		if len(f.Item.KVSnapshot) == 0 {
			f.Item.KVSnapshot = []engine.KVEntry{{Key: "_", Value: "_"}}
		}
	}),
	answers("clients read the store", "GetKVValue GetKVAllValues", func(c *call) {
		if c.infoOf(c.instance).CurrentExecutionID > 1 {
			c.value, c.pairs = nil, nil
		}
	}),
}
