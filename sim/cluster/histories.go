package cluster

import (
	"fmt"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/record"
	"github.com/durosim/durosim/sim/workload"
)

// The event that a client sends to preloaded histories so that there is a message to fetch for each instance.
const (
	kickName     = "go"
	kickNewName  = "approval"
	kickNewTopic = "orders"
	unknownKind  = `"type":"EventOfAnotherWorld"`
)

// seedHistory writes a preloaded history to the store. Its orchestration is Cancellable, or ProcessOrder 2.0.0 for the
// shape with the new event kind, so builds that can read the history can also continue it.
func (c *clients) seedHistory(h *plan.History) {
	pin := ""
	if h.Pin != nil {
		pin = h.Pin.String()
	}
	events := eventsOf(h, pin)
	seed := memprovider.PreloadedExecution{ID: engine.InitialExecutionID, Pin: h.Pin, Status: engine.StatusRunning}
	for _, e := range events {
		data, err := c.codec.AppendEvent(nil, e)
		if err != nil {
			// The newest codec no longer supports this kind, but at least one build still writes it.
			data = c.encodeSomehow(e)
		}
		if h.Shape == plan.ShapeRespelled {
			data = respell(data)
		}
		seed.Events = append(seed.Events, memprovider.PreloadedEvent{ID: e.EventID, Kind: e.Kind(), Data: data})
	}
	next := uint64(len(events) + 1)
	switch h.Shape {
	case plan.ShapeUnknownKind:
		data := fmt.Appendf(nil, `{"event_id":%d,"source_event_id":null,"instance_id":%q,"execution_id":1,"timestamp_ms":%d,"duroxide_version":%q,%s}`,
			next, h.Instance, c.startMs(), pin, unknownKind)
		seed.Events = append(seed.Events, memprovider.PreloadedEvent{ID: next, Kind: "EventOfAnotherWorld", Data: data})
	case plan.ShapeCorrupt:
		seed.Events = append(seed.Events, memprovider.PreloadedEvent{ID: next, Kind: eventdata.KindActivityCompleted, Data: []byte(`{"event_id":2,"type":`)})
	}
	name, version := h.Handler()
	in := memprovider.PreloadedInstance{
		Instance: h.Instance, Orchestration: name, Version: version, Executions: []memprovider.PreloadedExecution{seed},
		CustomStatus: h.CustomStatus(),
	}
	c.preload(in)
	c.foreign.seed(in)
}

// preload writes an instance to the store without a call. Validate rejects duplicates, and snapshot rejects values that
// cannot be stored.
func (c *clients) preload(in memprovider.PreloadedInstance) {
	c.preloaded = append(c.preloaded, in)
	if err := c.store.Preload(in); err != nil {
		panic(fmt.Sprintf("cluster: %v", err))
	}
}

// encodeSomehow encodes an event with the codec of the first build that can write it.
func (c *clients) encodeSomehow(e engine.Event) []byte {
	for _, b := range c.builds {
		if data, err := b.Codec.AppendEvent(nil, e); err == nil {
			return data
		}
	}
	panic(fmt.Sprintf("cluster: no build writes %s", e.Kind()))
}

// eventsOf returns the well-formed events of a preloaded history.
func eventsOf(h *plan.History, pin string) []engine.Event {
	name, version := h.Handler()
	data, sources := []engine.EventData{eventdata.OrchestrationStarted{Name: name, Version: version}}, []uint64(nil)
	switch h.Shape {
	case plan.ShapeWaiting:
		data = append(data, eventdata.ExternalSubscribed{Name: kickName})
	case plan.ShapeLegacy:
		data = append(data, eventdata.LegacyNote{Text: "started by an old cluster"}, eventdata.ExternalSubscribed{Name: kickName})
	case plan.ShapeNewKind:
		data = append(data, eventdata.ActivityScheduled{Name: "Reserve"}, eventdata.ActivityCompleted{Result: "Reserve()"},
			eventdata.ExternalSubscribed2{Name: kickNewName, Topic: kickNewTopic}, eventdata.TimerCreated{FireAtMs: 1 << 41})
	case plan.ShapeRespelled:
		data, sources = workload.Stored()
	}
	events := make([]engine.Event, len(data))
	for i, d := range data {
		events[i] = engine.Event{EventID: uint64(i + 1), InstanceID: h.Instance, ExecutionID: 1, DuroxideVersion: pin, Data: d}
		if _, done := d.(eventdata.ActivityCompleted); sources != nil {
			events[i].SourceEventID = sources[i]
		} else if done {
			events[i].SourceEventID = uint64(i)
		}
	}
	return events
}

// onKick sends a preloaded history the event that it waits for, or any event if it does not wait.
func (c *clients) onKick(i int) {
	h := &c.plan.Histories[i]
	var item engine.WorkItem = engine.ExternalRaisedItem{Instance: h.Instance, Name: kickName, Data: "kick"}
	if h.Shape == plan.ShapeNewKind {
		item = engine.ExternalRaised2Item{Instance: h.Instance, Name: kickNewName, Topic: kickNewTopic, Data: "kick"}
	}
	key := c.root.Name(labelHistory, h.Instance)
	// The draw's key has the time since the start, so that its draws do not depend on when the run starts.
	if !c.send(item, key.Num(labelRetry, uint64(sim.Epoch.Add(c.since()).Millis()))) {
		c.kernel.After(clientRetry, key, event{kind: evKick, a: uint64(i)})
	}
}

// seedMessage enqueues a message that was queued before the run. It does so immediately and without faults.
func (c *clients) seedMessage(m plan.Message) {
	item := m.Item
	if timer, ok := item.(engine.TimerFiredItem); ok {
		timer.FireAtMs = uint64(c.startMs() + m.Delay.Milliseconds()) // the two clusters' clocks differ
		item = timer
	}
	c.record(&Record{Kind: record.ClientSent, Instance: item.Target(), Item: item})
	var err error
	if item.Kind() == engine.ItemActivityExecute {
		err = c.provider.EnqueueForWorker(c.ctx, item)
	} else {
		err = c.provider.EnqueueForOrchestrator(c.ctx, item, m.Delay)
	}
	if err != nil {
		panic(fmt.Sprintf("cluster: a stored message is refused: %v", err))
	}
	c.record(&Record{Kind: record.ClientAccepted, Instance: item.Target(), Item: item, StoreCall: c.storeCall})
}
