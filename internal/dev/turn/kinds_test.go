package turn_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/engine/orchhost"
)

// hard is a text that a message about it must quote.
const hard = "\"a\" vs event=b\xff"

// requests has code that makes one request, for each kind of action, with and without its optional texts.
var requests = []struct {
	name string
	kind orchhost.ActionKind
	code func(ctx *orch.Context)
}{
	{"activity", orchhost.ActionActivity, func(ctx *orch.Context) { ctx.ScheduleActivity("Work", hard) }},
	{"activity of a session", orchhost.ActionActivity, func(ctx *orch.Context) { ctx.ScheduleActivity("Work", "", orch.OnSession("s")) }},
	{"activity with a tag", orchhost.ActionActivity, func(ctx *orch.Context) { ctx.ScheduleActivity("Work", "in", orch.WithTag("gpu")) }},
	{"timer", orchhost.ActionTimer, func(ctx *orch.Context) { ctx.ScheduleTimer(time.Minute) }},
	{"wait", orchhost.ActionWait, func(ctx *orch.Context) { ctx.ScheduleWait(hard) }},
	{"wait of the second generation", orchhost.ActionWait2, func(ctx *orch.Context) { ctx.ScheduleWait2("go", hard) }},
	{"wait without topic", orchhost.ActionWait2, func(ctx *orch.Context) { ctx.ScheduleWait2("go", "") }},
	{"dequeue", orchhost.ActionDequeue, func(ctx *orch.Context) { ctx.DequeueEvent(hard) }},
	{"child", orchhost.ActionSubOrchestration, func(ctx *orch.Context) { ctx.ScheduleSubOrchestration("Kin", hard) }},
	{"child with an id", orchhost.ActionSubOrchestration, func(ctx *orch.Context) { ctx.ScheduleSubOrchestrationWithID("Kin", "child", "in") }},
	{"child of a version", orchhost.ActionSubOrchestration, func(ctx *orch.Context) { ctx.ScheduleSubOrchestrationVersioned("Kin", "1.2.0", "") }},
	{"detached start", orchhost.ActionDetached, func(ctx *orch.Context) { ctx.StartOrchestration("Kin", "other", hard) }},
	{"detached start of a version", orchhost.ActionDetached, func(ctx *orch.Context) { ctx.StartOrchestrationVersioned("Kin", "1.2.0", "other", "") }},
	{"continue-as-new", orchhost.ActionContinueAsNew, func(ctx *orch.Context) { ctx.ContinueAsNew(hard) }},
	{"continue-as-new to a version", orchhost.ActionContinueAsNew, func(ctx *orch.Context) { ctx.ContinueAsNewVersioned("1.2.0", "") }},
	{"custom status", orchhost.ActionSetCustomStatus, func(ctx *orch.Context) { ctx.SetCustomStatus(hard) }},
	{"empty custom status", orchhost.ActionSetCustomStatus, func(ctx *orch.Context) { ctx.SetCustomStatus("") }},
	{"no custom status", orchhost.ActionResetCustomStatus, func(ctx *orch.Context) { ctx.ResetCustomStatus() }},
	{"key", orchhost.ActionSetKV, func(ctx *orch.Context) { ctx.SetKVValue("k", hard) }},
	{"another key", orchhost.ActionSetKV, func(ctx *orch.Context) { ctx.SetKVValue("k2", "") }},
	{"key cleared", orchhost.ActionClearKV, func(ctx *orch.Context) { ctx.ClearKVValue("k") }},
	{"all keys cleared", orchhost.ActionClearAllKV, func(ctx *orch.Context) { ctx.ClearAllKVValues() }},
}

// TestEveryKindOfDisagreement changes the code between two turns, from each kind of request to each other one, to none
// and to each end. The engine is right about each of them.
func TestEveryKindOfDisagreement(t *testing.T) {
	type code = func(ctx *orch.Context) error
	wait := func(ctx *orch.Context) error { _, err := ctx.ScheduleWait("stay").Await(); return err }
	after := map[string]code{
		"nothing": wait,
		"return":  func(*orch.Context) error { return nil },
		"panic":   func(*orch.Context) error { panic(hard) },
	}
	asks, writes := map[orchhost.ActionKind]bool{}, map[engine.EventKind]bool{}
	for _, r := range requests {
		asks[r.kind] = true
		after[r.name] = func(ctx *orch.Context) error { r.code(ctx); return wait(ctx) }
		after[r.name+" and return"] = func(ctx *orch.Context) error { r.code(ctx); return nil }
		after[r.name+" and panic"] = func(ctx *orch.Context) error { r.code(ctx); panic(hard) }
	}
	for k := orchhost.ActionActivity; k <= orchhost.ActionClearAllKV; k++ {
		if !asks[k] {
			t.Errorf("no request has the kind %d", k)
		}
	}
	for _, was := range requests {
		if was.kind == orchhost.ActionContinueAsNew { // leaves no schedule
			continue
		}
		for name, is := range after {
			for _, build := range engine.ShippedBuilds()[1:5] {
				now := after[was.name]
				handler := func(ctx *orch.Context, _ string) (string, error) { return "", now(ctx) }
				before := next(t, build, handler, 0, nil, begins(nil)).turn.Ack.HistoryDelta
				for _, e := range before {
					writes[e.Kind()] = true
				}
				now = is
				j := next(t, build, handler, 1, before, []engine.WorkItem{engine.ExternalRaisedItem{Instance: "i", Name: "go"}})
				if wrong := j.wrong(); len(wrong) > 0 {
					t.Errorf("%s, then %s: %q", was.name, name, wrong)
				}
			}
		}
	}
	for _, k := range []engine.EventKind{
		eventdata.KindActivityScheduled, eventdata.KindTimerCreated, eventdata.KindExternalSubscribed, eventdata.KindExternalSubscribed2,
		eventdata.KindQueueSubscribed, eventdata.KindSubOrchestrationScheduled, eventdata.KindOrchestrationChained,
		eventdata.KindCustomStatusUpdated, eventdata.KindKeyValueSet, eventdata.KindKeyValueCleared, eventdata.KindKeyValuesCleared,
	} {
		if !writes[k] {
			t.Errorf("no request leaves a %s", k)
		}
	}
}

// awaits has code that gets a result before it goes on.
var awaits = []func(ctx *orch.Context){
	func(ctx *orch.Context) { _, _ = ctx.ScheduleActivity("Awaited", "in").Await() },
	func(ctx *orch.Context) { _, _ = ctx.ScheduleTimer(time.Second).Await() },
	func(ctx *orch.Context) { _, _ = ctx.DequeueEvent("jobs").Await() },
	func(ctx *orch.Context) { _, _ = ctx.ScheduleWait("go").Await() },
	func(ctx *orch.Context) { ctx.ScheduleWait("go").Drop() },
	func(ctx *orch.Context) {
		_, _, _ = orch.Select(ctx.ScheduleActivity("first", "1"), ctx.ScheduleActivity("second", "2"))
	},
}

// TestChangedCode runs random code in two coroutines, completes what it has scheduled bit by bit, and changes it before
// one of its turns. The engine is right about all of it.
func TestChangedCode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		step := rapid.IntRange(-len(awaits), len(requests)-1)
		steps := func(name string) []int { return rapid.SliceOfN(step, 0, 6).Draw(t, name) }
		main, aside := steps("main"), steps("aside")
		run := func(ctx *orch.Context, steps []int) {
			for _, s := range steps {
				if s < 0 {
					awaits[-s-1](ctx)
				} else {
					requests[s].code(ctx)
				}
			}
		}
		handler := func(ctx *orch.Context, _ string) (string, error) {
			ctx.Go(func(ctx *orch.Context) (string, error) { run(ctx, aside); return "", nil })
			run(ctx, main)
			return "", nil
		}
		build, change := engine.ShippedBuilds()[rapid.IntRange(1, 4).Draw(t, "build")], rapid.IntRange(1, 4).Draw(t, "change")
		var events []engine.Event
		open := begins(nil)
		for n := range 6 {
			if n == change {
				at := rapid.IntRange(0, len(main)).Draw(t, "at")
				main = append(append(slices.Clone(main[:at]), rapid.SliceOfN(step, 0, 1).Draw(t, "new")...),
					main[min(len(main), at+rapid.IntRange(0, 1).Draw(t, "old")):]...)
			}
			var batch []engine.WorkItem
			for len(open) > 0 && (len(batch) == 0 || rapid.Bool().Draw(t, "more")) {
				batch, open = append(batch, open[0]), open[1:]
			}
			j := next(t, build, handler, n, events, batch)
			if wrong := j.wrong(); len(wrong) > 0 {
				t.Fatalf("turn %d: %q, after %v: %v", n, wrong, events, j.turn.Ack.HistoryDelta)
			}
			events = append(events, j.turn.Ack.HistoryDelta...)
			if j.turn.Ack.Metadata.Status != "" {
				return
			}
			for _, e := range j.turn.Ack.HistoryDelta {
				switch d := e.Data.(type) {
				case eventdata.ActivityScheduled:
					open = append(open, engine.ActivityCompletedItem{Instance: "i", ExecutionID: 1, ID: e.EventID})
				case eventdata.TimerCreated:
					open = append(open, engine.TimerFiredItem{Instance: "i", ExecutionID: 1, ID: e.EventID, FireAtMs: d.FireAtMs})
				}
			}
			open = append(open, engine.ExternalRaisedItem{Instance: "i", Name: "go", Data: "e"}, engine.QueueMessageItem{Instance: "i", Name: "jobs", Data: "m"})
		}
	})
}
