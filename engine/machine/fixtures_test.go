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
	for _, err := range []error{
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
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
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

// batchFixture returns the named batch. Batches with "untold" in their names come from a provider that reports neither
// status nor pin.
func batchFixture(t testing.TB, name string) engine.OrchestrationItem {
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
	link := &engine.ParentLink{Instance: "p", ExecutionID: 2, EventID: 7}
	childStart := startOrder
	childStart.ParentInstance, childStart.ParentExecutionID, childStart.ParentID = "p", 2, 7
	strangeStart := startOrder
	strangeStart.ParentInstance, strangeStart.ParentExecutionID, strangeStart.ParentID = "q", 1, 3
	charging := history(orderStarted, chargeAsked)
	switch name {
	case "new":
		return running("", nil, startOrder)
	case "new-pair":
		return running("", nil, startOf("Pair", ""))
	case "new-chatty":
		return running("", nil, startOf("Chatty", ""))
	case "new-child":
		return running("", nil, childStart)
	case "new-latest":
		return running("", nil, startOf("Order", ""))
	case "new-unregistered":
		return running("", nil, startOf("Absent", ""))
	case "new-bad-version":
		return running("", nil, startOf("Order", "v1"))
	case "orphan":
		return engine.OrchestrationItem{Instance: "a", ExecutionID: 1, Messages: []engine.WorkItem{engine.CancelInstanceItem{Instance: "a", Reason: "x"}}}
	case "charged":
		return pin("1.5.0", running(engine.StatusRunning, charging, chargeDone))
	case "charged-untold":
		return running("", charging, chargeDone)
	case "charged-child":
		return pin("1.5.0", running(engine.StatusRunning, history(childStarted, chargeAsked, eventdata.SubOrchestrationScheduled{Name: "Loop", Instance: "sub::3"}), ping))
	case "queued":
		return pin("1.5.0", running(engine.StatusRunning, charging, engine.QueueMessageItem{Instance: "a", Name: "q", Data: "x"}, chargeDone))
	case "queued-new":
		return running("", nil, startOrder, engine.QueueMessageItem{Instance: "a", Name: "q", Data: "x"})
	case "kept":
		i := running("", nil, startOf("Keeper", ""))
		i.KVSnapshot = []engine.KVEntry{{Key: "k", Value: "old", LastUpdatedAtMs: 7}}
		return i
	case "waiting":
		return pin("1.5.0", running(engine.StatusRunning, history(orderStarted, chargeAsked, eventdata.ExternalSubscribed{Name: "go"},
			eventdata.QueueSubscribed{Name: "q"}, eventdata.SubOrchestrationScheduled{Name: "Loop", Instance: "own"}), ping))
	case "crowded":
		i := running("", nil, startOf("Crowded", ""))
		for n := range 21 {
			i.Messages = append(i.Messages, engine.QueueMessageItem{Instance: "a", Name: "q", Data: strconv.Itoa(n)})
		}
		return i
	case "again-with-status":
		status := "half done"
		next := startAgain
		next.InitialCustomStatus = &status
		next.CarryForwardEvents = []engine.CarriedEvent{{Name: "q", Data: "x"}}
		return pin("1.5.0", running(engine.StatusContinuedAsNew, history(orderStarted, eventdata.OrchestrationContinuedAsNew{Input: "6"}), next))
	case "charged-strange-start":
		return pin("1.5.0", running(engine.StatusRunning, charging, strangeStart, ping))
	case "pinned-2.0.0":
		return pin("2.0.0", running(engine.StatusRunning, historyBy("2.0.0", orderStarted, chargeAsked), chargeDone))
	case "pinned-2.0.0-untold":
		return running("", historyBy("2.0.0", orderStarted, chargeAsked), chargeDone)
	case "unregistered":
		return pin("1.5.0", running(engine.StatusRunning, history(eventdata.OrchestrationStarted{Name: "Order", Version: "1.7.0"}), ping))
	case "completed":
		return pin("1.5.0", running(engine.StatusCompleted, history(orderStarted, eventdata.OrchestrationCompleted{Output: "x"}), ping))
	case "completed-untold":
		return running("", history(orderStarted, eventdata.OrchestrationCompleted{Output: "x"}), ping)
	case "completed-strange-start":
		return pin("1.5.0", running(engine.StatusCompleted, history(orderStarted, eventdata.OrchestrationCompleted{Output: "x"}), strangeStart))
	case "completed-broken":
		return broken(running(engine.StatusFailed, nil, ping))
	case "completed-pinned-2.0.0":
		return pin("2.0.0", running(engine.StatusCompleted, historyBy("2.0.0", orderStarted, eventdata.OrchestrationCompleted{Output: "x"}), ping))
	case "broken":
		return broken(pin("1.5.0", running(engine.StatusRunning, nil, ping)))
	case "broken-child":
		i := broken(pin("1.5.0", running(engine.StatusRunning, nil, ping)))
		i.Parent = link
		return i
	case "broken-pinned-2.0.0":
		return broken(pin("2.0.0", running(engine.StatusRunning, nil, ping)))
	case "broken-new":
		return engine.OrchestrationItem{Instance: "a", ExecutionID: 1, HistoryError: "message 1: unexpected end"}
	case "continued":
		return pin("1.5.0", running(engine.StatusContinuedAsNew, history(orderStarted, eventdata.OrchestrationContinuedAsNew{Input: "6"}), ping))
	case "continued-untold":
		return running("", history(orderStarted, eventdata.OrchestrationContinuedAsNew{Input: "6"}), ping)
	case "continued-unregistered":
		return pin("1.5.0", running(engine.StatusContinuedAsNew, history(eventdata.OrchestrationStarted{Name: "Absent", Version: "1.0.0"}, eventdata.OrchestrationContinuedAsNew{}), ping))
	case "continued-pinned-2.0.0":
		return pin("2.0.0", running(engine.StatusContinuedAsNew, historyBy("2.0.0", orderStarted, eventdata.OrchestrationContinuedAsNew{Input: "6"}), ping))
	case "continued-broken":
		return broken(running(engine.StatusContinuedAsNew, nil, ping))
	case "again":
		return pin("1.5.0", running(engine.StatusContinuedAsNew, history(orderStarted, eventdata.OrchestrationContinuedAsNew{Input: "6"}), startOrder, startAgain))
	case "again-child":
		return pin("1.5.0", running(engine.StatusContinuedAsNew, history(childStarted, eventdata.OrchestrationContinuedAsNew{Input: "6"}), startAgain))
	case "charged-restarted":
		return pin("1.5.0", running(engine.StatusRunning, charging, startOf("Order", "2.0.0")))
	case "again-unregistered":
		return pin("1.5.0", running(engine.StatusContinuedAsNew, history(orderStarted, eventdata.OrchestrationContinuedAsNew{Input: "6"}),
			engine.ContinueAsNewItem{Instance: "a", Orchestration: "Loop", Input: "6", Version: "9.0.0"}))
	}
	t.Fatalf("no batch %q", name)
	return engine.OrchestrationItem{}
}
