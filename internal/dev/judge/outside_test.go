package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/engine/orchhost"
	"github.com/durosim/durosim/engine/replay"
)

// oldest is the oldest build, which does not write the newer kinds of messages.
var oldest = engine.ShippedBuilds()[0]

// TestTurns compares what package replay does for callers that are no nodes with what was read once.
func TestTurns(t *testing.T) {
	before := runtime.NumGoroutine()
	var text strings.Builder
	turn := func(what string, in replay.Input) replay.Output {
		out, err := replay.Turn(in)
		fmt.Fprintf(&text, "%s: %v; %v, %d events, %q, dropped %v, %d messages, resumed %t, %d polls\n", what, err, out.Result, len(out.Delta), out.Details.Display(), out.Dropped, len(out.OrchestratorItems), out.Resumed, out.Polls)
		if out.Nondeterminism != nil {
			fmt.Fprintf(&text, "  %+v\n", *out.Nondeterminism)
		}
		return out
	}
	begins := replay.Input{
		Build: oldest, Instance: "one", ExecutionID: 1, Start: &replay.Start{Name: "Leaf", Version: "1.0.0"},
		Handler: func(ctx *orch.Context, _ string) (string, error) { return ctx.ScheduleTimer(time.Second).Await() },
	}
	with := func(what string, change func(in *replay.Input)) {
		in := begins
		change(&in)
		turn(what, in)
	}
	with("as it is", func(*replay.Input) {})
	with("no build", func(in *replay.Input) { in.Build = nil })
	with("no handler", func(in *replay.Input) { in.Handler = nil })
	with("no start", func(in *replay.Input) { in.Start = nil })
	with("empty rules", func(in *replay.Input) { in.Rules = &replay.Rules{} })
	with("work", func(in *replay.Input) { in.Messages = []engine.WorkItem{engine.ActivityExecuteItem{Name: "Work"}} })
	with("a long value", func(in *replay.Input) {
		in.Handler = func(ctx *orch.Context, input string) (string, error) {
			ctx.SetKVValue("k", strings.Repeat("v", engine.MaxKVValueBytes+1))
			return begins.Handler(ctx, input)
		}
	})
	with("a child's id", func(in *replay.Input) {
		in.Build = &engine.Build{Version: oldest.Version, Codec: oldest.Codec, Emits: oldest.Emits, OwnChildIDs: true}
		in.Handler = func(ctx *orch.Context, _ string) (string, error) {
			return ctx.ScheduleSubOrchestrationWithID("Leaf", "sub::\xff", "").Await()
		}
	})
	start := engine.Event{EventID: 1, Data: eventdata.OrchestrationStarted{Name: "Leaf", Version: "1.0.0"}}
	with("ended", func(in *replay.Input) {
		in.History = []engine.Event{start, {EventID: 2, Data: eventdata.OrchestrationCompleted{}}, {EventID: 3, Data: eventdata.ActivityCancelRequested{}}}
		in.Messages = []engine.WorkItem{engine.ExternalRaisedItem{Instance: "one"}, engine.StartItem{Instance: "one", ParentInstance: "two", ParentExecutionID: 1, ParentID: 2}}
	})
	with("a completion of nothing", func(in *replay.Input) {
		in.History = []engine.Event{start, {EventID: 2, Data: eventdata.TimerFired{}, SourceEventID: 7}}
	})
	with("a completion of another kind", func(in *replay.Input) {
		in.History = []engine.Event{start, {EventID: 2, Data: eventdata.TimerCreated{}}, {EventID: 3, Data: eventdata.ActivityCompleted{}, SourceEventID: 2}}
	})
	_, err := replay.End(replay.Input{Build: oldest}, engine.ErrorDetails{})
	fmt.Fprintln(&text, "an end of nothing:", err)

	// A turn that computes others in the same memory.
	arena, other := replay.NewArena(), replay.NewArena()
	with("around", func(in *replay.Input) {
		in.Arena = arena
		in.Handler = func(ctx *orch.Context, input string) (string, error) {
			ctx.ScheduleTimer(time.Second)
			with("within", func(in *replay.Input) { in.Arena = arena })
			return begins.Handler(ctx, input)
		}
	})

	// Code that recovers every panic while it is torn down, and calls from another goroutine.
	panics, strays := 0, 0
	with("torn down", func(in *replay.Input) {
		in.Handler = func(ctx *orch.Context, input string) (string, error) {
			defer func() {
				for {
					func() {
						defer func() {
							if recover() != nil {
								panics++
							}
						}()
						ctx.IsReplaying()
					}()
				}
			}()
			return begins.Handler(ctx, input)
		}
	})
	with("strayed", func(in *replay.Input) {
		in.Handler = func(ctx *orch.Context, input string) (string, error) {
			done := make(chan bool)
			go func() {
				defer close(done)
				for {
					ctx.IsReplaying()
					strays++
				}
			}()
			<-done
			return begins.Handler(ctx, input)
		}
	})
	fmt.Fprintln(&text, panics, "panics are recovered, and", strays, "calls return")

	// A turn goes on from what another has kept only if it is what that turn has left.
	var earlier *orch.Context
	kept := func(what string, change func(in *replay.Input)) {
		in := begins
		rules := replay.DefaultRules()
		in.Arena, in.Keep, in.Rules = arena, true, &rules
		in.Handler = func(ctx *orch.Context, input string) (string, error) {
			earlier = ctx
			timer := ctx.ScheduleTimer(time.Second)
			ctx.ScheduleSubOrchestrationWithID("Leaf", "dropped", "").Drop()
			return timer.Await()
		}
		refused := engine.StartItem{Instance: "one", Orchestration: "Leaf", ParentInstance: "two", ParentExecutionID: 1, ParentID: 2}
		in.Messages = []engine.WorkItem{engine.StartItem{Instance: "one", Orchestration: "Leaf"}, refused}
		out := turn(what, in)
		in.History, in.Kept, in.Messages = out.Delta, out.Kept, []engine.WorkItem{engine.TimerFiredItem{Instance: "one", ExecutionID: 1, ID: 3}} // 2 is a note
		change(&in)
		out = turn("  then", in)
		out.Kept.Drop()
		out.Kept.Drop()
	}
	last := func(in *replay.Input) *engine.Event { return &in.History[len(in.History)-1] }
	kept("the same", func(*replay.Input) {})
	kept("another build", func(in *replay.Input) { in.Build = engine.ShippedBuilds()[1] })
	kept("other rules", func(in *replay.Input) { in.Rules = nil })
	kept("another instance", func(in *replay.Input) { in.Instance = "two" })
	kept("another execution", func(in *replay.Input) { in.ExecutionID, in.Messages = 2, nil })
	kept("another arena", func(in *replay.Input) { in.Arena = other })
	kept("another id", func(in *replay.Input) { last(in).EventID, in.Messages = 4, nil })
	kept("another source", func(in *replay.Input) { last(in).SourceEventID = 1 })
	kept("another time", func(in *replay.Input) { last(in).TimestampMs = 1 })
	kept("another stamp", func(in *replay.Input) { last(in).DuroxideVersion = "1" })
	kept("other data", func(in *replay.Input) { last(in).Data = eventdata.TimerCreated{FireAtMs: 5} })
	kept("a longer history", func(in *replay.Input) {
		in.History = append(in.History, engine.Event{EventID: 4, Data: eventdata.ExternalEvent{}})
	})
	with("a Context of what was dropped", func(in *replay.Input) {
		in.Arena = arena
		in.Handler = func(*orch.Context, string) (string, error) { return earlier.ScheduleTimer(time.Second).Await() }
	})

	var waits []engine.Event
	for i, data := range []engine.EventData{
		eventdata.OrchestrationStarted{}, eventdata.QueueSubscribed{Name: "q"}, eventdata.ExternalSubscribed{Name: "b"}, eventdata.ExternalSubscribed{Name: "a"},
		eventdata.ExternalSubscribed{Name: "b"}, eventdata.ExternalSubscribed2{Name: "a", Topic: "t"}, eventdata.QueueSubscribed{Name: "r"},
	} {
		waits = append(waits, engine.Event{EventID: uint64(i + 1), Data: data})
	}
	for n := range waits {
		fmt.Fprint(&text, "open:")
		for _, e := range replay.OpenWaits(waits[:n+1], nil) {
			fmt.Fprint(&text, " ", e.EventID)
		}
		fmt.Fprintln(&text, ",", len(replay.OpenWaits(waits[:n+1], oldest)))
	}
	out, err := replay.End(replay.Input{Build: oldest, History: waits}, engine.ErrorDetails{})
	for _, e := range out.Delta {
		fmt.Fprintf(&text, "end: %d %+v, %v\n", e.SourceEventID, e.Data, err)
	}
	said, place, panicked := (*replay.Arena)(nil).Contain(nil, func() { panic("over") })
	fmt.Fprintln(&text, "contained:", said, panicked, strings.Contains(place, "(outside_test.go:"))
	compare(t, "turns", text.String())
	arena.Close()
	other.Close()
	if n := left(before); n > 0 {
		t.Errorf("%d goroutines are left behind", n)
	}
}

// TestNode compares what a node does of which no driver of a run asks, or that no store of a run delivers, with what was read
// once.
func TestNode(t *testing.T) {
	var text strings.Builder
	registry := node.NewRegistry()
	for _, name := range []string{"Work", "Gone"} {
		if err := registry.RegisterActivity(name, func(_ node.ActivityContext, input string) (string, error) { return input, nil }); err != nil {
			t.Fatal(err)
		}
	}
	options := node.DefaultOptions()
	options.OrchestrationConcurrency, options.WorkerConcurrency, options.MaxAttempts = 1, 1, 3
	var n *machine.Node
	add := func(what string, c machine.Config) {
		was, err := machine.New(c)
		n = was
		fmt.Fprintf(&text, "%s: %v\n", what, err)
	}
	var called [machine.SlotSessions + 1]machine.CallID // the last call of each kind of slot
	var timer machine.TimerID                           // the last one
	step := func(what string, in machine.Input) {
		defer func() {
			if r := recover(); r != nil {
				fmt.Fprintf(&text, "%s: %v\n", what, r)
			}
		}()
		for _, e := range n.Step(in) {
			switch e := e.(type) {
			case *machine.ProviderCall:
				called[e.Slot.Kind] = e.ID
			case *machine.SetTimer:
				timer = e.Timer
			}
			said, err := json.Marshal(e)
			fmt.Fprintf(&text, "%s: %T %s %v\n", what, e, said, err)
		}
	}
	add("no build", machine.Config{Name: "N", Registry: registry, Options: options})
	add("no registry", machine.Config{Name: "N", Build: oldest, Options: options})
	add("no options", machine.Config{Name: "N", RuntimeID: "N-1", Build: oldest, Registry: registry})
	add("with an id", machine.Config{Name: "N", RuntimeID: "N-1", Build: oldest, Registry: registry, Options: options})
	step("its start", &machine.Start{})
	add("without", machine.Config{Name: "N", Build: oldest, Registry: registry, Options: options})
	for _, id := range []uint64{0, 1} {
		step("answer to nothing", &machine.Answer{Call: machine.CallID(id)})
		step("wake of nothing", &machine.Wake{Timer: machine.TimerID(id)})
		step("end of nothing", &machine.Finished{Job: machine.JobID(id)})
	}
	step("no input", nil)
	step("start", &machine.Start{NowMs: 1})
	step("second start", &machine.Start{NowMs: 2})

	batch := func(count uint32, item engine.OrchestrationItem) *engine.FetchedOrchestration {
		item.Instance = "one"
		return &engine.FetchedOrchestration{Item: item, LockToken: "batch", AttemptCount: count}
	}
	raised := engine.ExternalRaised2Item{Instance: "one", Name: "go", Topic: "now"}
	delivered := func(what string, f *engine.FetchedOrchestration) {
		step(what, &machine.Answer{NowMs: 10, Call: called[machine.SlotOrchestration], Orchestration: f})
		step("  answered", &machine.Answer{NowMs: 11, Call: called[machine.SlotOrchestration]})
	}
	delivered("messages without a start", batch(1, engine.OrchestrationItem{OrchestrationName: "Leaf", Messages: []engine.WorkItem{raised}}))
	delivered("poison with a kind that the build does not write", batch(4, engine.OrchestrationItem{
		OrchestrationName: "Leaf", Version: "1.0.0", ExecutionID: 1, Messages: []engine.WorkItem{engine.StartItem{Instance: "one", Orchestration: "Leaf", ExecutionID: 1}, raised},
	}))
	delivered("a child's start that is told, beside what cannot be read", batch(4, engine.OrchestrationItem{
		OrchestrationName: "Leaf", ExecutionID: 1, HistoryError: "message 2: no", Messages: []engine.WorkItem{
			engine.StartItem{Instance: "one", Orchestration: "Leaf", ExecutionID: 1, ParentInstance: "parent", ParentExecutionID: 2, ParentID: 7}},
	}))

	delivered("a child whose parent the store alone knows", batch(4, engine.OrchestrationItem{
		OrchestrationName: "Leaf", Version: "1.0.0", ExecutionID: 1, Messages: []engine.WorkItem{raised}, Parent: &engine.ParentLink{Instance: "parent", ExecutionID: 2, EventID: 7},
		History: []engine.Event{{EventID: 1, DuroxideVersion: "0.1.0", Data: eventdata.OrchestrationStarted{Name: "Leaf", Version: "1.0.0"}}},
	}))
	delivered("an execution whose stamp alone says who began it", batch(1, engine.OrchestrationItem{
		OrchestrationName: "Leaf", Version: "1.0.0", ExecutionID: 1, Messages: []engine.WorkItem{raised},
		History: []engine.Event{{EventID: 1, DuroxideVersion: "9.0.0", Data: eventdata.OrchestrationStarted{Name: "Leaf", Version: "1.0.0"}}},
	}))

	work := func(item engine.WorkItem) *engine.FetchedWork {
		return &engine.FetchedWork{Item: item, LockToken: "work", AttemptCount: 1}
	}
	step("what is no activity", &machine.Answer{NowMs: 20, Call: 2, Work: work(raised)})
	step("  answered", &machine.Answer{NowMs: 21, Call: called[machine.SlotWorker]})
	for i, a := range []engine.ActivityExecuteItem{
		{Name: "Gone"}, {Name: orchhost.SystemUTCNowMs}, {Name: orchhost.SystemGetKVValue, Input: "{}"}, {Name: orchhost.SystemGetKVValue, Input: `{"key":"k"}`}, {Name: orchhost.SystemGetKVValue, Input: "{"}, {Name: orchhost.SystemGetKVValue, Input: `{"instance_id":"one","key":"k"}`}, {Name: "Work"},
	} {
		a.Instance, a.ExecutionID, a.ID = "one", 1, 2
		step("activity "+a.Name+a.Input, &machine.Answer{NowMs: 30, Call: called[machine.SlotWorker], Work: work(a)})
		registry.DeregisterActivity("Gone")
		step("  over", &machine.Finished{NowMs: 31, Job: machine.JobID(i + 1)})
		if strings.Contains(a.Input, "one") {
			step("  read", &machine.Answer{NowMs: 31, Call: called[machine.SlotWorker]})
		}
		step("  answered", &machine.Answer{NowMs: 32, Call: called[machine.SlotWorker]})
	}
	step("an activity", &machine.Answer{NowMs: 33, Call: called[machine.SlotWorker], Work: work(engine.ActivityExecuteItem{Instance: "one", ExecutionID: 1, ID: 2, Name: "Work"})})
	step("whose lock runs out", &machine.Wake{NowMs: 33 + options.WorkerLockTimeout.Milliseconds(), Timer: timer})
	step("  over", &machine.Finished{NowMs: 34 + options.WorkerLockTimeout.Milliseconds(), Job: 8})
	step("  answered", &machine.Answer{NowMs: 35 + options.WorkerLockTimeout.Milliseconds(), Call: called[machine.SlotWorker]})
	step("drain", &machine.Drain{NowMs: 40})
	step("second drain", &machine.Drain{NowMs: 41})
	for _, call := range called[:machine.SlotSessions] {
		step("  answered", &machine.Answer{NowMs: 42, Call: call})
	}
	step("third drain", &machine.Drain{NowMs: 43})
	// A sweeper that does not see work in one pass, at the last moment at which it remembers it: what can be read, and what cannot.
	pin := engine.V(9, 0, 0)
	for _, item := range []engine.OrchestrationItem{{Messages: []engine.WorkItem{engine.StartItem{Instance: "one", Orchestration: "Leaf"}}}, {HistoryError: "no"}} {
		add("with a sweeper", machine.Config{
			Name: "N", Build: oldest, Registry: registry, Options: options, Routing: machine.Routing{SweepEvery: time.Second, SweepAfter: 10 * time.Second},
		})
		step("start", &machine.Start{NowMs: 1})
		item.OrchestrationName, item.ExecutionID, item.Pin = "Leaf", 1, &pin
		passes := []int64{100, 10100, 10200}
		if item.HistoryError != "" {
			passes = []int64{100, 5100, 10100}
		}
		for i, ms := range passes {
			what := fmt.Sprintf("at %d", ms)
			step(what, &machine.Wake{NowMs: ms, Timer: machine.TimerID(i + 1)})
			if i != 1 {
				step(what, &machine.Answer{NowMs: ms, Call: called[machine.SlotOrchestration], Orchestration: batch(1, item)})
				step(what, &machine.Answer{NowMs: ms, Call: called[machine.SlotOrchestration]})
			}
			step(what, &machine.Answer{NowMs: ms, Call: called[machine.SlotOrchestration]})
		}
	}
	add("never started", machine.Config{Name: "N", Build: oldest, Registry: registry, Options: options})
	step("drain", &machine.Drain{NowMs: 1})
	step("start", &machine.Start{NowMs: 2})
	(&machine.Arena{}).NextRun()
	compare(t, "node", text.String())
}
