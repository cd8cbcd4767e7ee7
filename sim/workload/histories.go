package workload

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/sim/plan"
)

// storedOrchestrations returns the shipped orchestrations that continue stored histories. Archivist's history has texts
// that are hard to decode, and Revised's histories disagree with its code.
func storedOrchestrations(v1, always engine.Version) []Orchestration {
	return []Orchestration{
		{"Archivist", v1, always, "goes on with a stored history in which every text is hard to read; it must be told each", plan.EndAny, archivist, false},
		{"Revised", v1, always, "asks for something else than its stored history has, in the way that its input names", plan.EndAny, revised, false},
	}
}

// archivistChild is the child of a stored Archivist.
const archivistChild = "child of the archivist"

func archivist(ctx *orch.Context, input string) (string, error) {
	if status, ok := ctx.CustomStatus(); input != plan.HardText || !ok || status != plan.HardText {
		return "", fmt.Errorf("begins with %q and %q", input, status)
	}
	text, err := ctx.ScheduleActivity(plan.HardText, plan.HardText, orch.OnSession(plan.HardText), orch.WithTag(plan.HardText)).Await()
	if err != nil || text != plan.HardText {
		return "", fmt.Errorf("the activity says %q, %v", text, err)
	}
	if _, err := ctx.ScheduleActivity("Work", plan.HardText).Await(); err == nil || err.Error() != plan.HardText {
		return "", fmt.Errorf("the failure says %v", err)
	}
	ctx.SetKVValue(plan.HardText, plan.HardText)
	ctx.SetCustomStatus(plan.HardText)
	ctx.StartOrchestration("Leaf", plan.HardText, plan.HardText)
	if text, err := ctx.ScheduleSubOrchestrationWithID("Leaf", archivistChild, plan.HardText).Await(); err != nil || text != plan.HardText {
		return "", fmt.Errorf("the child says %q, %v", text, err)
	}
	if _, err := ctx.ScheduleTimer(time.Second).Await(); err != nil {
		return "", err
	}
	if text, err := ctx.DequeueEvent(plan.HardText).Await(); err != nil || text != plan.HardText {
		return "", fmt.Errorf("the message says %q, %v", text, err)
	}
	if text, err := ctx.ScheduleWait(plan.HardText).Await(); err != nil || text != plan.HardText {
		return "", fmt.Errorf("the event says %q, %v", text, err)
	}
	if value, ok := ctx.KVValue(plan.HardText); !ok || value != plan.HardText {
		return "", errors.New("the key is gone")
	}
	return ctx.ScheduleWait("go").Await()
}

// archived returns the recorded history of a stored Archivist up to its wait for "go".
func archived() []stored {
	hard := plan.HardText
	failed := engine.ErrorDetails{Application: &eventdata.ApplicationError{Kind: eventdata.AppActivityFailed, Message: plan.HardText}}
	return []stored{
		{eventdata.OrchestrationStarted{Name: "Archivist", Version: "1.0.0", Input: plan.HardText, InitialCustomStatus: &hard,
			CarryForwardEvents: []engine.CarriedEvent{{Name: plan.HardText, Data: plan.HardText}}}, 0},
		{eventdata.QueueEventDelivered{Name: plan.HardText, Data: plan.HardText}, 0},
		{eventdata.ActivityScheduled{Name: plan.HardText, Input: plan.HardText, SessionID: plan.HardText, Tag: plan.HardText}, 0},
		{eventdata.ActivityCompleted{Result: plan.HardText}, 3},
		{eventdata.ActivityScheduled{Name: "Work", Input: plan.HardText}, 0},
		{eventdata.ActivityFailed{Details: failed}, 5},
		{eventdata.KeyValueSet{Key: plan.HardText, Value: plan.HardText, LastUpdatedAtMs: 1}, 0},
		{eventdata.CustomStatusUpdated{Status: &hard}, 0},
		{eventdata.OrchestrationChained{Name: "Leaf", Instance: plan.HardText, Input: plan.HardText}, 0},
		{eventdata.SubOrchestrationScheduled{Name: "Leaf", Instance: archivistChild, Input: plan.HardText}, 0},
		{eventdata.SubOrchestrationCompleted{Result: plan.HardText}, 10},
		{eventdata.TimerCreated{FireAtMs: 1}, 0},
		{eventdata.TimerFired{FireAtMs: 1}, 12},
		{eventdata.QueueSubscribed{Name: plan.HardText}, 0},
		{eventdata.ExternalSubscribed{Name: plan.HardText}, 0},
		{eventdata.ExternalEvent{Name: plan.HardText, Data: plan.HardText}, 0},
		{eventdata.ExternalSubscribed{Name: "go"}, 0},
	}
}

// stored is an event in a stored history, with the id of its schedule.
type stored struct {
	data   engine.EventData
	source uint64
}

// revision is one way in which code and history disagree after an activity that both of them have.
type revision struct {
	was []stored // the next events of the history, from id 4
	is  func(ctx *orch.Context) error
}

// revisions lists these ways. In each, the code's calls and the history differ in only one respect.
var revisions = []revision{
	{[]stored{{eventdata.ActivityScheduled{Name: "Work", Input: "was"}, 0}}, awaiting(func(ctx *orch.Context) *orch.Future { return ctx.ScheduleActivity("Work", "is") })},
	{[]stored{{eventdata.ActivityScheduled{Name: "Work", Input: "in", Tag: "was"}, 0}}, awaiting(func(ctx *orch.Context) *orch.Future { return ctx.ScheduleActivity("Work", "in", orch.WithTag("is")) })},
	{[]stored{{eventdata.ActivityScheduled{Name: "Work", Input: "in", SessionID: "was"}, 0}}, awaiting(func(ctx *orch.Context) *orch.Future { return ctx.ScheduleActivity("Work", "in", orch.OnSession("is")) })},
	{[]stored{{eventdata.TimerCreated{FireAtMs: 1}, 0}}, awaiting(func(ctx *orch.Context) *orch.Future { return ctx.ScheduleActivity("Work", "in") })},
	{[]stored{{eventdata.ActivityScheduled{Name: "Work", Input: "in"}, 0}}, awaiting(func(ctx *orch.Context) *orch.Future { return ctx.ScheduleTimer(time.Second) })},
	{[]stored{{eventdata.ExternalSubscribed{Name: "was"}, 0}}, awaiting(func(ctx *orch.Context) *orch.Future { return ctx.ScheduleWait("is") })},
	{[]stored{{eventdata.ExternalSubscribed{Name: "was"}, 0}}, awaiting(func(ctx *orch.Context) *orch.Future { return ctx.ScheduleWait2("is", "topic") })},
	{[]stored{{eventdata.QueueSubscribed{Name: "was"}, 0}}, awaiting(func(ctx *orch.Context) *orch.Future { return ctx.DequeueEvent("is") })},
	{[]stored{{eventdata.SubOrchestrationScheduled{Name: "Leaf", Instance: "a leaf", Input: "was"}, 0}}, awaiting(func(ctx *orch.Context) *orch.Future {
		return ctx.ScheduleSubOrchestrationWithID("Leaf", "a leaf", "is")
	})},
	{[]stored{{eventdata.OrchestrationChained{Name: "Leaf", Instance: "was", Input: "in"}, 0}}, changing(func(ctx *orch.Context) { ctx.StartOrchestration("Leaf", "is", "in") })},
	{[]stored{{eventdata.OrchestrationChained{Name: "Leaf", Instance: "id", Input: "was"}, 0}}, changing(func(ctx *orch.Context) { ctx.StartOrchestration("Leaf", "id", "is") })},
	{[]stored{{eventdata.CustomStatusUpdated{}, 0}}, awaiting(func(ctx *orch.Context) *orch.Future { return ctx.ScheduleTimer(time.Second) })},
	{[]stored{{eventdata.KeyValueSet{Key: "key", Value: "was"}, 0}}, changing(func(ctx *orch.Context) { ctx.SetKVValue("key", "is") })},
	{[]stored{{eventdata.KeyValueSet{Key: "was", Value: "value"}, 0}}, changing(func(ctx *orch.Context) { ctx.SetKVValue("is", "value") })},
	{[]stored{{eventdata.KeyValueCleared{Key: "was"}, 0}}, changing(func(ctx *orch.Context) { ctx.ClearKVValue("is") })},
	{[]stored{{eventdata.KeyValueCleared{Key: "key"}, 0}}, changing(func(ctx *orch.Context) { ctx.ClearAllKVValues() })},
	{[]stored{{eventdata.KeyValuesCleared{}, 0}}, changing(func(ctx *orch.Context) { ctx.ClearKVValue("key") })},
	{[]stored{{eventdata.KeyValuesCleared{}, 0}}, changing(func(ctx *orch.Context) { ctx.ResetCustomStatus() })},
	{[]stored{{eventdata.ActivityScheduled{Name: "Work", Input: "in"}, 0}}, func(ctx *orch.Context) error { ctx.ContinueAsNewVersioned("1.1.0", "is"); return nil }},
	{[]stored{{eventdata.ActivityScheduled{Name: "Work", Input: "in"}, 0}, {eventdata.ActivityScheduled{Name: "Work", Input: "more"}, 0}},
		awaiting(func(ctx *orch.Context) *orch.Future { return ctx.ScheduleActivity("Work", "in") })},
	{[]stored{{eventdata.ActivityScheduled{Name: "Work", Input: "in"}, 0}, {eventdata.OrchestrationChained{Name: "Leaf", Instance: "more", Input: "in"}, 0}},
		awaiting(func(ctx *orch.Context) *orch.Future { return ctx.ScheduleActivity("Work", "in") })},
	{[]stored{{eventdata.ActivityCompleted{Result: "again"}, 2}}, awaiting(func(ctx *orch.Context) *orch.Future { return ctx.ScheduleActivity("Work", "in") })},
	{[]stored{{eventdata.TimerCreated{FireAtMs: 1}, 0}, {eventdata.ActivityCompleted{Result: "fired"}, 4}}, awaiting(func(ctx *orch.Context) *orch.Future { return ctx.ScheduleTimer(time.Second) })},
	{[]stored{{eventdata.ActivityScheduled{Name: "Work", Input: "in"}, 0}, {eventdata.ActivityCancelRequested{Reason: eventdata.ReasonDroppedFuture}, 4}},
		awaiting(func(ctx *orch.Context) *orch.Future { return ctx.ScheduleActivity("Work", "in") })},
	{[]stored{{eventdata.ExternalSubscribed{Name: "dropped"}, 0}, {eventdata.ExternalSubscribedCancelled{Reason: eventdata.ReasonDroppedFuture}, 4}},
		awaiting(func(ctx *orch.Context) *orch.Future { return ctx.ScheduleWait("dropped") })},
	{[]stored{{eventdata.QueueSubscribed{Name: "dropped"}, 0}, {eventdata.QueueSubscriptionCancelled{Reason: eventdata.ReasonDroppedFuture}, 4}},
		awaiting(func(ctx *orch.Context) *orch.Future { return ctx.DequeueEvent("dropped") })},
	{[]stored{{eventdata.SubOrchestrationScheduled{Name: "Leaf", Instance: "a child", Input: "in"}, 0}, {eventdata.SubOrchestrationCancelRequested{Reason: eventdata.ReasonDroppedFuture}, 4}},
		awaiting(func(ctx *orch.Context) *orch.Future {
			return ctx.ScheduleSubOrchestrationWithID("Leaf", "a child", "in")
		})},
	{left, func(*orch.Context) error { return errOver }},
	{left, func(*orch.Context) error { return errors.New("over") }},
	{left, func(*orch.Context) error { panic("over") }},
}

// revisionOf returns the n-th way in which Revised and its history disagree, counted from 1. Ways repeat.
func revisionOf(n int) revision { return revisions[(n-1)%len(revisions)] }

// left holds the events that remain in the history when the code ends early.
var left = []stored{
	{eventdata.ActivityScheduled{Name: "Work", Input: "left"}, 0}, {eventdata.SubOrchestrationScheduled{Name: "Leaf", Instance: "left", Input: "in"}, 0},
	{eventdata.ExternalSubscribed{Name: "left"}, 0}, {eventdata.QueueSubscribed{Name: "left"}, 0},
}

// errOver ends code that has no more calls to make.
var errOver = errors.New("over")

func awaiting(schedule func(*orch.Context) *orch.Future) func(*orch.Context) error {
	return func(ctx *orch.Context) error {
		_, err := schedule(ctx).Await()
		return err
	}
}

func changing(change func(*orch.Context)) func(*orch.Context) error {
	return func(ctx *orch.Context) error { change(ctx); return nil }
}

func revised(ctx *orch.Context, input string) (string, error) {
	if _, err := ctx.ScheduleActivity("Work", "both").Await(); err != nil {
		return "", err
	}
	if n := number(input, 0); n > 0 {
		if err := revisionOf(n).is(ctx); err == errOver {
			return "over", nil
		} else if err != nil {
			return "", err
		}
	}
	return ctx.ScheduleWait("go").Await()
}

// Stored returns a history recorded by an earlier cluster. If way is 0, it is Archivist's; otherwise it is a history of
// Revised that disagrees with the code in the way numbered way. sources holds the id of each event's schedule, or 0 if
// it has none. Ids start at 1.
func Stored(way int) (data []engine.EventData, sources []uint64) {
	list := archived()
	if way > 0 {
		list = append([]stored{
			{eventdata.OrchestrationStarted{Name: "Revised", Version: "1.0.0", Input: strconv.Itoa(way)}, 0},
			{eventdata.ActivityScheduled{Name: "Work", Input: "both"}, 0},
			{eventdata.ActivityCompleted{Result: "Work(both)"}, 2},
		}, revisionOf(way).was...)
	}
	for _, e := range list {
		data, sources = append(data, e.data), append(sources, e.source)
	}
	return data, sources
}
