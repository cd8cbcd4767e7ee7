package machine

import (
	"errors"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/engine/orchhost"
	"github.com/durosim/durosim/internal/sample"
)

// testRegistry returns a registry with these orchestrations: Order 1.0.0 charges and then ends with the result; Order
// 2.0.0 and Loop 1.0.0 end immediately; Pair 1.0.0 schedules two activities at once; Keeper 1.0.0 copies a key to its
// custom status and sets the key; Crowded 1.0.0 continues as new; Chatty 1.0.0 traces a line. It also has the activities charge and decline.
func testRegistry(t testing.TB) *node.Registry {
	charge := func(ctx *orch.Context, input string) (string, error) {
		return ctx.ScheduleActivity("charge", input).Await()
	}
	pair := func(ctx *orch.Context, input string) (string, error) {
		return orch.Join(ctx.ScheduleActivity("charge", input), ctx.ScheduleActivity("charge", "tip"))[0].Value, nil
	}
	echo := func(_ *orch.Context, input string) (string, error) { return input, nil }
	keeper := func(ctx *orch.Context, input string) (string, error) {
		value, _ := ctx.KVValue("k")
		ctx.SetCustomStatus("was " + value)
		ctx.SetKVValue("k", input)
		return ctx.ScheduleActivity("charge", input, orch.OnSession("s"), orch.WithTag("gpu")).Await()
	}
	crowded := func(ctx *orch.Context, input string) (string, error) { ctx.ContinueAsNew(input); return "", nil }
	chatty := func(ctx *orch.Context, input string) (string, error) { ctx.Trace("says " + input); return input, nil }
	r := node.NewRegistry()
	sample.OK(t, errors.Join(
		r.Register("Order", engine.V(1, 0, 0), charge),
		r.Register("Order", engine.V(2, 0, 0), echo),
		r.Register("Loop", engine.V(1, 0, 0), echo),
		r.Register("Pair", engine.V(1, 0, 0), pair),
		r.Register("Keeper", engine.V(1, 0, 0), keeper),
		r.Register("Crowded", engine.V(1, 0, 0), crowded),
		r.Register("Chatty", engine.V(1, 0, 0), chatty),
		r.RegisterActivity("charge", func(_ node.ActivityContext, input string) (string, error) { return "paid " + input, nil }),
		r.RegisterActivity("decline", func(node.ActivityContext, string) (string, error) { return "", errors.New("declined") }),
		r.RegisterActivity("crash", func(node.ActivityContext, string) (string, error) { panic("boom") }),
		r.RegisterActivity("crash-oddly", func(node.ActivityContext, string) (string, error) { panic(&struct{ n int }{1}) }),
		r.RegisterActivity("exit", func(node.ActivityContext, string) (string, error) { runtime.Goexit(); return "", nil }),
		r.RegisterActivity("mute", func(node.ActivityContext, string) (string, error) { return "", (*mute)(nil) }),
	))
	return r
}

// mute is an error that has no text.
type mute struct{ text string }

func (m *mute) Error() string { return m.text }

func workFixture(name string) (engine.WorkItem, bool) {
	a := engine.ActivityExecuteItem{Instance: "a", ExecutionID: 1, ID: 2, Input: "5"}
	switch name {
	case "charge", "decline", "crash", "crash-oddly", "exit", "mute", "unknown":
		a.Name = name
		return a, true
	case "charge/s1", "charge/s2":
		a.Name, a.SessionID, _ = strings.Cut(name, "/")
		return a, true
	case "guid", "now", "key", "key-broken":
		a.Name = map[string]string{
			"guid": orchhost.SystemNewGUID, "now": orchhost.SystemUTCNowMs, "key": orchhost.SystemGetKVValue, "key-broken": orchhost.SystemGetKVValue,
		}[name]
		if name == "key" {
			a.Input = `{"instance_id":"b","key":"k"}`
		}
		return a, true
	case "not-an-activity":
		return engine.CancelInstanceItem{Instance: "a", Reason: "x"}, true
	}
	return nil, false
}

// history builds the events of execution 1 of instance a, as written by build 1.5.0.
func history(data ...engine.EventData) []engine.Event { return historyBy("1.5.0", data...) }

func historyBy(build string, data ...engine.EventData) []engine.Event {
	events := make([]engine.Event, len(data))
	for i, d := range data {
		events[i] = engine.Event{EventID: uint64(i + 1), InstanceID: "a", ExecutionID: 1, DuroxideVersion: build, Data: d}
	}
	return events
}

var (
	orderStarted = eventdata.OrchestrationStarted{Name: "Order", Version: "1.0.0", Input: "5"}
	childStarted = eventdata.OrchestrationStarted{Name: "Order", Version: "1.0.0", Input: "5", ParentInstance: "p", ParentID: 7, ParentExecutionID: 2}
	chargeAsked  = eventdata.ActivityScheduled{Name: "charge", Input: "5"}
	chargeDone   = engine.ActivityCompletedItem{Instance: "a", ExecutionID: 1, ID: 2, Result: "paid"}
	startOrder   = startOf("Order", "1.0.0")
	startAgain   = engine.ContinueAsNewItem{Instance: "a", Orchestration: "Loop", Input: "6"}
	ping         = engine.ExternalRaisedItem{Instance: "a", Name: "ping", Data: "x"}
)

// startOf returns what a client sends to start instance a.
func startOf(orchestration, version string) engine.StartItem {
	return engine.StartItem{Instance: "a", Orchestration: orchestration, Version: version, Input: "5", ExecutionID: engine.InitialExecutionID}
}

// batchFixtures has batches by name. Those with "untold" in their names come from a provider that reports neither status nor
// pin.
var batchFixtures = func() map[string]engine.OrchestrationItem {
	running := func(told engine.Status, h []engine.Event, messages ...engine.WorkItem) engine.OrchestrationItem {
		return engine.OrchestrationItem{
			Instance: "a", OrchestrationName: "Order", Version: "1.0.0", ExecutionID: 1, CurrentStatus: told, History: h, Messages: messages,
		}
	}
	pin := func(version string, i engine.OrchestrationItem) engine.OrchestrationItem {
		v := engine.MustParseVersion(version)
		i.Pin = &v
		return i
	}
	broken := func(i engine.OrchestrationItem) engine.OrchestrationItem {
		i.History, i.HistoryError = nil, "event 2: unknown kind Foo"
		return i
	}
	childStart := startOrder
	childStart.ParentInstance, childStart.ParentExecutionID, childStart.ParentID = "p", 2, 7
	strangeStart := startOrder
	strangeStart.ParentInstance, strangeStart.ParentExecutionID, strangeStart.ParentID = "q", 1, 3
	charging := history(orderStarted, chargeAsked)
	of := map[string]engine.OrchestrationItem{ // only used for lookups
		"new":              running("", nil, startOrder),
		"new-pair":         running("", nil, startOf("Pair", "")),
		"new-chatty":       running("", nil, startOf("Chatty", "")),
		"new-child":        running("", nil, childStart),
		"new-latest":       running("", nil, startOf("Order", "")),
		"new-unregistered": running("", nil, startOf("Absent", "")),
		"new-bad-version":  running("", nil, startOf("Order", "v1")),
		"orphan":           {Instance: "a", ExecutionID: 1, Messages: []engine.WorkItem{engine.CancelInstanceItem{Instance: "a", Reason: "x"}}},
		"charged":          pin("1.5.0", running(engine.StatusRunning, charging, chargeDone)),
		"charged-untold":   running("", charging, chargeDone),
		"charged-child":    pin("1.5.0", running(engine.StatusRunning, history(childStarted, chargeAsked, eventdata.SubOrchestrationScheduled{Name: "Loop", Instance: "sub::3"}), ping)),
		"queued":           pin("1.5.0", running(engine.StatusRunning, charging, engine.QueueMessageItem{Instance: "a", Name: "q", Data: "x"}, chargeDone)),
		"queued-new":       running("", nil, startOrder, engine.QueueMessageItem{Instance: "a", Name: "q", Data: "x"}),
		"waiting": pin("1.5.0", running(engine.StatusRunning, history(orderStarted, chargeAsked, eventdata.ExternalSubscribed{Name: "go"},
			eventdata.QueueSubscribed{Name: "q"}, eventdata.SubOrchestrationScheduled{Name: "Loop", Instance: "own"}), ping)),
		"charged-strange-start":   pin("1.5.0", running(engine.StatusRunning, charging, strangeStart, ping)),
		"pinned-2.0.0":            pin("2.0.0", running(engine.StatusRunning, historyBy("2.0.0", orderStarted, chargeAsked), chargeDone)),
		"pinned-2.0.0-untold":     running("", historyBy("2.0.0", orderStarted, chargeAsked), chargeDone),
		"unregistered":            pin("1.5.0", running(engine.StatusRunning, history(eventdata.OrchestrationStarted{Name: "Order", Version: "1.7.0"}), ping)),
		"completed":               pin("1.5.0", running(engine.StatusCompleted, history(orderStarted, eventdata.OrchestrationCompleted{Output: "x"}), ping)),
		"completed-untold":        running("", history(orderStarted, eventdata.OrchestrationCompleted{Output: "x"}), ping),
		"completed-strange-start": pin("1.5.0", running(engine.StatusCompleted, history(orderStarted, eventdata.OrchestrationCompleted{Output: "x"}), strangeStart)),
		"completed-broken":        broken(running(engine.StatusFailed, nil, ping)),
		"completed-pinned-2.0.0":  pin("2.0.0", running(engine.StatusCompleted, historyBy("2.0.0", orderStarted, eventdata.OrchestrationCompleted{Output: "x"}), ping)),
		"broken":                  broken(pin("1.5.0", running(engine.StatusRunning, nil, ping))),
		"broken-pinned-2.0.0":     broken(pin("2.0.0", running(engine.StatusRunning, nil, ping))),
		"broken-new":              {Instance: "a", ExecutionID: 1, HistoryError: "message 1: unexpected end"},
		"continued":               pin("1.5.0", running(engine.StatusContinuedAsNew, history(orderStarted, eventdata.OrchestrationContinuedAsNew{Input: "6"}), ping)),
		"continued-untold":        running("", history(orderStarted, eventdata.OrchestrationContinuedAsNew{Input: "6"}), ping),
		"continued-unregistered":  pin("1.5.0", running(engine.StatusContinuedAsNew, history(eventdata.OrchestrationStarted{Name: "Absent", Version: "1.0.0"}, eventdata.OrchestrationContinuedAsNew{}), ping)),
		"continued-pinned-2.0.0":  pin("2.0.0", running(engine.StatusContinuedAsNew, historyBy("2.0.0", orderStarted, eventdata.OrchestrationContinuedAsNew{Input: "6"}), ping)),
		"continued-broken":        broken(running(engine.StatusContinuedAsNew, nil, ping)),
		"again":                   pin("1.5.0", running(engine.StatusContinuedAsNew, history(orderStarted, eventdata.OrchestrationContinuedAsNew{Input: "6"}), startOrder, startAgain)),
		"again-child":             pin("1.5.0", running(engine.StatusContinuedAsNew, history(childStarted, eventdata.OrchestrationContinuedAsNew{Input: "6"}), startAgain)),
		"charged-restarted":       pin("1.5.0", running(engine.StatusRunning, charging, startOf("Order", "2.0.0"))),
		"again-unregistered": pin("1.5.0", running(engine.StatusContinuedAsNew, history(orderStarted, eventdata.OrchestrationContinuedAsNew{Input: "6"}),
			engine.ContinueAsNewItem{Instance: "a", Orchestration: "Loop", Input: "6", Version: "9.0.0"})),
	}
	kept, crowded, next, child := running("", nil, startOf("Keeper", "")), running("", nil, startOf("Crowded", "")), startAgain, of["broken"]
	kept.KVSnapshot = []engine.KVEntry{{Key: "k", Value: "old", LastUpdatedAtMs: 7}}
	for n := range 21 {
		crowded.Messages = append(crowded.Messages, engine.QueueMessageItem{Instance: "a", Name: "q", Data: strconv.Itoa(n)})
	}
	status := "half done"
	next.InitialCustomStatus, next.CarryForwardEvents = &status, []engine.CarriedEvent{{Name: "q", Data: "x"}}
	child.Parent = &engine.ParentLink{Instance: "p", ExecutionID: 2, EventID: 7}
	of["kept"], of["crowded"], of["broken-child"] = kept, crowded, child
	of["again-with-status"] = pin("1.5.0", running(engine.StatusContinuedAsNew, history(orderStarted, eventdata.OrchestrationContinuedAsNew{Input: "6"}), next))
	return of
}()

func batchFixture(t testing.TB, name string) engine.OrchestrationItem {
	item, ok := batchFixtures[name]
	if !ok {
		t.Fatalf("no batch %q", name)
	}
	return item
}
