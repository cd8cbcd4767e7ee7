package stray

import (
	"errors"
	"slices"
	"time"

	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/orch"
)

// all returns every history.
func all() []history {
	list := slices.Concat(histories, revisions)
	for _, text := range garbled {
		list = append(list, history{garbled: &text})
	}
	return append(append(list, fanned()...), misled)
}

// revisions are histories that the code disagrees with, each in only one respect.
var revisions = []history{
	{was: []stored{{eventdata.ActivityScheduled{Name: "Work", Input: "was"}, 0}}, is: awaiting(func(ctx *orch.Context) *orch.Future { return ctx.ScheduleActivity("Work", "is") })},
	{was: []stored{{eventdata.ActivityScheduled{Name: "Work", Input: "in", Tag: "was"}, 0}}, is: awaiting(func(ctx *orch.Context) *orch.Future { return ctx.ScheduleActivity("Work", "in", orch.WithTag("is")) })},
	{was: []stored{{eventdata.ActivityScheduled{Name: "Work", Input: "in", SessionID: "was"}, 0}}, is: awaiting(func(ctx *orch.Context) *orch.Future { return ctx.ScheduleActivity("Work", "in", orch.OnSession("is")) })},
	{was: []stored{{eventdata.TimerCreated{FireAtMs: 1}, 0}}, is: awaiting(func(ctx *orch.Context) *orch.Future { return ctx.ScheduleActivity("Work", "in") })},
	{was: []stored{{eventdata.ActivityScheduled{Name: "Work", Input: "in"}, 0}}, is: awaiting(func(ctx *orch.Context) *orch.Future { return ctx.ScheduleTimer(time.Second) })},
	{was: []stored{{eventdata.ExternalSubscribed{Name: "was"}, 0}}, is: awaiting(func(ctx *orch.Context) *orch.Future { return ctx.ScheduleWait("is") })},
	{was: []stored{{eventdata.ExternalSubscribed{Name: "was"}, 0}}, is: awaiting(func(ctx *orch.Context) *orch.Future { return ctx.ScheduleWait2("is", "topic") })},
	{was: []stored{{eventdata.QueueSubscribed{Name: "was"}, 0}}, is: awaiting(func(ctx *orch.Context) *orch.Future { return ctx.DequeueEvent("is") })},
	{was: []stored{{eventdata.SubOrchestrationScheduled{Name: "Leaf", Instance: "a leaf", Input: "was"}, 0}}, is: awaiting(func(ctx *orch.Context) *orch.Future {
		return ctx.ScheduleSubOrchestrationWithID("Leaf", "a leaf", "is")
	})},
	{was: []stored{{eventdata.OrchestrationChained{Name: "Leaf", Instance: "was", Input: "in"}, 0}}, is: changing(func(ctx *orch.Context) { ctx.StartOrchestration("Leaf", "is", "in") })},
	{was: []stored{{eventdata.OrchestrationChained{Name: "Leaf", Instance: "id", Input: "was"}, 0}}, is: changing(func(ctx *orch.Context) { ctx.StartOrchestration("Leaf", "id", "is") })},
	{was: []stored{{eventdata.CustomStatusUpdated{}, 0}}, is: awaiting(func(ctx *orch.Context) *orch.Future { return ctx.ScheduleTimer(time.Second) })},
	{was: []stored{{eventdata.KeyValueSet{Key: "key", Value: "was"}, 0}}, is: changing(func(ctx *orch.Context) { ctx.SetKVValue("key", "is") })},
	{was: []stored{{eventdata.KeyValueSet{Key: "was", Value: "value"}, 0}}, is: changing(func(ctx *orch.Context) { ctx.SetKVValue("is", "value") })},
	{was: []stored{{eventdata.KeyValueCleared{Key: "was"}, 0}}, is: changing(func(ctx *orch.Context) { ctx.ClearKVValue("is") })},
	{was: []stored{{eventdata.KeyValueCleared{Key: "key"}, 0}}, is: changing(func(ctx *orch.Context) { ctx.ClearAllKVValues() })},
	{was: []stored{{eventdata.KeyValuesCleared{}, 0}}, is: changing(func(ctx *orch.Context) { ctx.ClearKVValue("key") })},
	{was: []stored{{eventdata.KeyValuesCleared{}, 0}}, is: changing(func(ctx *orch.Context) { ctx.ResetCustomStatus() })},
	{was: []stored{{eventdata.ActivityScheduled{Name: "Work", Input: "in"}, 0}}, is: func(ctx *orch.Context) error { ctx.ContinueAsNewVersioned("1.1.0", "is"); return nil }},
	{was: []stored{{eventdata.ActivityScheduled{Name: "Work", Input: "in"}, 0}, {eventdata.ActivityScheduled{Name: "Work", Input: "more"}, 0}},
		is: awaiting(func(ctx *orch.Context) *orch.Future { return ctx.ScheduleActivity("Work", "in") })},
	{was: []stored{{eventdata.ActivityScheduled{Name: "Work", Input: "in"}, 0}, {eventdata.OrchestrationChained{Name: "Leaf", Instance: "more", Input: "in"}, 0}},
		is: awaiting(func(ctx *orch.Context) *orch.Future { return ctx.ScheduleActivity("Work", "in") })},
	{was: []stored{{eventdata.ActivityCompleted{Result: "again"}, 2}}, is: awaiting(func(ctx *orch.Context) *orch.Future { return ctx.ScheduleActivity("Work", "in") })},
	{was: []stored{{eventdata.TimerCreated{FireAtMs: 1}, 0}, {eventdata.ActivityCompleted{Result: "fired"}, 4}}, is: awaiting(func(ctx *orch.Context) *orch.Future { return ctx.ScheduleTimer(time.Second) })},
	{was: []stored{{eventdata.ActivityScheduled{Name: "Work", Input: "in"}, 0}, {eventdata.ActivityCancelRequested{Reason: eventdata.ReasonDroppedFuture}, 4}},
		is: awaiting(func(ctx *orch.Context) *orch.Future { return ctx.ScheduleActivity("Work", "in") })},
	{was: []stored{{eventdata.ExternalSubscribed{Name: "dropped"}, 0}, {eventdata.ExternalSubscribedCancelled{Reason: eventdata.ReasonDroppedFuture}, 4}},
		is: awaiting(func(ctx *orch.Context) *orch.Future { return ctx.ScheduleWait("dropped") })},
	{was: []stored{{eventdata.QueueSubscribed{Name: "dropped"}, 0}, {eventdata.QueueSubscriptionCancelled{Reason: eventdata.ReasonDroppedFuture}, 4}},
		is: awaiting(func(ctx *orch.Context) *orch.Future { return ctx.DequeueEvent("dropped") })},
	{was: []stored{{eventdata.SubOrchestrationScheduled{Name: "Leaf", Instance: "a child", Input: "in"}, 0}, {eventdata.SubOrchestrationCancelRequested{Reason: eventdata.ReasonDroppedFuture}, 4}},
		is: awaiting(func(ctx *orch.Context) *orch.Future {
			return ctx.ScheduleSubOrchestrationWithID("Leaf", "a child", "in")
		})},
	{was: left, is: func(*orch.Context) error { return errOver }},
	{was: left, is: func(*orch.Context) error { return errors.New("over") }},
	{was: left, is: func(*orch.Context) error { panic("over") }},
	// Another name, or something of another kind that has the same name.
	{was: []stored{{eventdata.ActivityScheduled{Name: "Work", Input: "in"}, 0}}, is: awaiting(func(ctx *orch.Context) *orch.Future { return ctx.ScheduleActivity("Leaf", "in") })},
	{was: []stored{{eventdata.ActivityScheduled{Name: "Leaf", Input: "in"}, 0}}, is: awaiting(func(ctx *orch.Context) *orch.Future { return ctx.ScheduleSubOrchestration("Leaf", "in") })},
	{was: []stored{{eventdata.SubOrchestrationScheduled{Name: "Leaf", Instance: "id", Input: "in"}, 0}}, is: awaiting(func(ctx *orch.Context) *orch.Future { return ctx.ScheduleActivity("Leaf", "in") })},
	{was: []stored{{eventdata.SubOrchestrationScheduled{Name: "Leaf", Instance: "id", Input: "in"}, 0}}, is: awaiting(func(ctx *orch.Context) *orch.Future { return ctx.ScheduleSubOrchestrationWithID("Work", "id", "in") })},
	{was: []stored{{eventdata.OrchestrationChained{Name: "Leaf", Instance: "id", Input: "in"}, 0}}, is: awaiting(func(ctx *orch.Context) *orch.Future { return ctx.ScheduleSubOrchestrationWithID("Leaf", "id", "in") })},
	{was: []stored{{eventdata.OrchestrationChained{Name: "Leaf", Instance: "id", Input: "in"}, 0}}, is: changing(func(ctx *orch.Context) { ctx.StartOrchestration("Work", "id", "in") })},
	{was: []stored{{eventdata.QueueSubscribed{Name: "name"}, 0}}, is: awaiting(func(ctx *orch.Context) *orch.Future { return ctx.ScheduleWait("name") })},
	{was: []stored{{eventdata.ExternalSubscribed{Name: "name"}, 0}}, is: awaiting(func(ctx *orch.Context) *orch.Future { return ctx.DequeueEvent("name") })},
}

// fan holds the activities that a fan-out has scheduled.
var fan = []eventdata.ActivityScheduled{
	{Name: "Work", Input: "Work"}, {Name: "Work", Input: "two", Tag: "gpu"}, {Name: "Work", Input: "three", SessionID: "wall"},
	{Name: "Work", Input: "four", SessionID: "wall", Tag: "gpu"}, {Name: "Work", Input: "five"},
}

// fanned returns a history of a fan-out whose code is the same, and those in which one attribute of one activity is another
// by now, or its place, or it is gone: the engine follows several open activities in one go.
func fanned() (list []history) {
	add := func(now []eventdata.ActivityScheduled) {
		h := history{is: changing(func(ctx *orch.Context) {
			for _, a := range now {
				ctx.ScheduleActivity(a.Name, a.Input, orch.OnSession(a.SessionID), orch.WithTag(a.Tag))
			}
		})}
		for _, a := range fan {
			h.was = append(h.was, stored{a, 0})
		}
		list = append(list, h)
	}
	add(fan)
	for i := range fan {
		for _, change := range []func(a *eventdata.ActivityScheduled){
			func(a *eventdata.ActivityScheduled) { a.Name = "Ship" },
			func(a *eventdata.ActivityScheduled) { a.Input = "other" },
			func(a *eventdata.ActivityScheduled) { a.SessionID = "other" },
			func(a *eventdata.ActivityScheduled) { a.Tag = "other" },
			func(a *eventdata.ActivityScheduled) { a.SessionID, a.Tag = "", "" },
			func(a *eventdata.ActivityScheduled) { a.SessionID, a.Tag = a.Tag, a.SessionID },
			func(a *eventdata.ActivityScheduled) { *a = fan[(i+1)%len(fan)] },
		} {
			now := slices.Clone(fan)
			if change(&now[i]); now[i] != fan[i] {
				add(now)
			}
		}
		add(slices.Delete(slices.Clone(fan), i, i+1))
	}
	return list
}

// left holds the events that remain in the history when the code ends early.
var left = []stored{
	{eventdata.ActivityScheduled{Name: "Work", Input: "left"}, 0}, {eventdata.SubOrchestrationScheduled{Name: "Leaf", Instance: "left", Input: "in"}, 0},
	{eventdata.ExternalSubscribed{Name: "left"}, 0}, {eventdata.QueueSubscribed{Name: "left"}, 0},
}

// garbled lists texts that no codec can read. Most of them are not JSON, and the last ones are not events.
var garbled = []string{
	`{`, ``, ` `, `nul`, `{"event_id":1`, `{"event_id":1,`, `{"event_id":1,}`, `{"event_id" 1}`, `{event_id:1}`, `{"event_id":01}`,
	`{"event_id":-}`, `{"event_id":1.}`, `{"event_id":.5}`, `{"event_id":1e}`, `{"event_id":+1}`, `{"event_id":tru}`, `{"event_id":"\u12G4"}`,
	`{"event_id":"\u12`, `{"event_id":"\q"}`, `{"event_id":"`, "{\"event_id\":\"\n\"}", `{"event_id":[1,2}`, `{"event_id":[1 2]}`, `{"event_id":{"a":1]}`,
	`{"event_id":1}}`, `{"event_id":1} {}`, `{} x`, `"a text"`, `1`, `[]`, `null`, `{}`, `{"event_id":1}`,
}
