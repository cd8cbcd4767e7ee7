package turn_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/engine/replay"
	"github.com/durosim/durosim/internal/dev/turn"
)

// made describes a turn that the replay engine makes and that the specification must allow: a handler, its batches in
// order, and which of the turns to use.
type made struct {
	name    string
	handler orch.Handler
	batches [][]engine.WorkItem
	parent  bool
	// first is the message that starts the execution; nil means a plain start.
	first engine.WorkItem
}

const me = "p"

func start() engine.WorkItem {
	return engine.StartItem{Instance: me, Orchestration: "O", Version: "1.0.0", Input: "in", ExecutionID: 1}
}

func child() engine.WorkItem {
	return engine.StartItem{Instance: me, Orchestration: "O", Input: "in", ParentInstance: "q", ParentID: 9, ParentExecutionID: 2, ExecutionID: 1}
}

func done(id uint64) engine.WorkItem {
	return engine.ActivityCompletedItem{Instance: me, ExecutionID: 1, ID: id, Result: "r"}
}
func fired(id uint64) engine.WorkItem {
	return engine.TimerFiredItem{Instance: me, ExecutionID: 1, ID: id, FireAtMs: 77}
}

// everything schedules one of each kind.
func everything(c *orch.Context) (all []*orch.Future) {
	all = append(all, c.ScheduleActivity("a", "1", orch.OnSession("s"), orch.WithTag("t")), c.ScheduleTimer(time.Minute),
		c.ScheduleSubOrchestration("C", "2"), c.ScheduleSubOrchestrationWithID("D", "own", "3"),
		c.ScheduleWait("e"), c.ScheduleWait2("e", "top"), c.DequeueEvent("q"))
	c.StartOrchestration("X", "x-1", "4")
	c.SetCustomStatus("s")
	c.SetKVValue("k", "v")
	return all
}

func setKeys(c *orch.Context, n int) {
	for i := range n {
		c.SetKVValue(fmt.Sprint("k", i), "v")
	}
}

var turns = []made{
	{"goes on", func(c *orch.Context, _ string) (string, error) { orch.Join(everything(c)...); return "", nil }, nil, false, nil},
	{"completes", func(c *orch.Context, _ string) (string, error) {
		all := everything(c)
		all[1].Await()
		c.StartOrchestration("Y", "y-1", "5")
		return "out", nil
	}, [][]engine.WorkItem{{fired(3), done(2)}}, true, child()},
	{"fails", func(c *orch.Context, _ string) (string, error) {
		everything(c)[1].Await()
		return "", errors.New("no")
	}, [][]engine.WorkItem{{engine.SubOrchFailedItem{ParentInstance: me, ParentExecutionID: 1, ParentID: 4, Details: engine.ErrorDetails{
		Application: &eventdata.ApplicationError{Kind: eventdata.AppOrchestrationFailed, Message: "c"}}}, fired(3)}}, true, child()},
	{"panics", func(c *orch.Context, _ string) (string, error) { everything(c)[1].Await(); panic("p") }, [][]engine.WorkItem{{fired(3)}}, false, nil},
	{"is cancelled", func(c *orch.Context, _ string) (string, error) { everything(c)[1].Await(); return "", nil },
		[][]engine.WorkItem{{engine.CancelInstanceItem{Instance: me, Reason: "why"}, engine.CancelInstanceItem{Instance: me, Reason: "again"}}}, true, child()},
	{"continues as new", func(c *orch.Context, _ string) (string, error) {
		everything(c)
		c.DequeueEvent("jobs").Await()
		c.ContinueAsNew("more")
		return "", nil
	}, [][]engine.WorkItem{{
		engine.QueueMessageItem{Instance: me, Name: "jobs", Data: "1"}, engine.QueueMessageItem{Instance: me, Name: "jobs", Data: "2"},
		engine.QueueMessageItem{Instance: me, Name: "other", Data: "3"},
	}}, true, child()},
	{"drops", func(c *orch.Context, _ string) (string, error) {
		all := everything(c)
		all[1].Await()
		for _, f := range all {
			f.Drop()
		}
		return c.ScheduleWait("never").Await()
	}, [][]engine.WorkItem{{fired(3)}}, false, nil},
	{"gets events", func(c *orch.Context, _ string) (string, error) { orch.Join(everything(c)...); return "", nil },
		[][]engine.WorkItem{{
			engine.ExternalRaisedItem{Instance: me, Name: "e", Data: "d"}, engine.ExternalRaised2Item{Instance: me, Name: "e", Topic: "top", Data: "d"},
			done(2), done(2), engine.ActivityCompletedItem{Instance: me, ExecutionID: 7, ID: 2}, child(),
		}}, false, nil},
	{"is handed nonsense", func(c *orch.Context, _ string) (string, error) { orch.Join(everything(c)...); return "", nil },
		[][]engine.WorkItem{{done(3), fired(99)}}, false, nil},
	{"is handed a failed store", func(c *orch.Context, _ string) (string, error) { orch.Join(everything(c)...); return "", nil },
		[][]engine.WorkItem{{engine.ActivityFailedItem{Instance: me, ExecutionID: 1, ID: 2, Details: engine.ErrorDetails{
			Infrastructure: &eventdata.InfrastructureError{Operation: "op", Message: "m"}}}}}, false, nil},
	{"breaks a limit", func(c *orch.Context, _ string) (string, error) {
		return c.ScheduleActivity("a", "", orch.WithTag(strings.Repeat("x", 257))).Await()
	}, nil, false, nil},
	{"has as long a status as may be", func(c *orch.Context, _ string) (string, error) {
		c.SetCustomStatus(strings.Repeat("x", engine.MaxCustomStatusBytes))
		return "", nil
	}, nil, false, nil},
	{"has a status too long", func(c *orch.Context, _ string) (string, error) {
		c.SetCustomStatus(strings.Repeat("x", engine.MaxCustomStatusBytes+1))
		return "", nil
	}, nil, false, nil},
	{"has a value too long", func(c *orch.Context, _ string) (string, error) {
		c.SetKVValue("k", strings.Repeat("x", engine.MaxKVValueBytes))
		c.SetKVValue("k2", strings.Repeat("x", engine.MaxKVValueBytes+1))
		return "", nil
	}, nil, false, nil},
	{"has as many keys as may be", func(c *orch.Context, _ string) (string, error) { setKeys(c, engine.MaxKVKeys); return "", nil }, nil, false, nil},
	{"has too many keys", func(c *orch.Context, _ string) (string, error) { setKeys(c, engine.MaxKVKeys+1); return "", nil }, nil, false, nil},
	{"passes a child's limit on", func(c *orch.Context, _ string) (string, error) { return c.ScheduleSubOrchestration("C", "").Await() },
		[][]engine.WorkItem{{engine.SubOrchFailedItem{ParentInstance: me, ParentExecutionID: 1, ParentID: 2, Details: engine.ErrorDetails{
			Application: &eventdata.ApplicationError{Kind: eventdata.AppOrchestrationFailed, Message: "KV key count (101) exceeds limit (100)"}}}}}, false, nil},
	{"panics although it is cancelled", func(c *orch.Context, _ string) (string, error) { c.ScheduleTimer(time.Minute).Await(); panic("p") },
		[][]engine.WorkItem{{engine.CancelInstanceItem{Instance: me, Reason: "why"}, fired(2)}}, false, nil},
	{"begins with carried messages", func(c *orch.Context, _ string) (string, error) { return c.DequeueEvent("never").Await() }, nil, false,
		engine.ContinueAsNewItem{Instance: me, Orchestration: "O", Input: "in", Version: "1.0.0", CarryForwardEvents: []engine.CarriedEvent{{Name: "q", Data: "1"}, {Name: "q", Data: "2"}}}},
	{"has ended", func(*orch.Context, string) (string, error) { return "", nil }, [][]engine.WorkItem{{child(), done(2)}}, false, nil},
}

// turnOf returns the last turn that a row makes.
func (m *made) turnOf(t *testing.T) turn.Turn {
	t.Helper()
	build := engine.ShippedBuilds()[6]
	first := m.first
	if first == nil {
		first = start()
	}
	in := replay.Input{Build: build, Instance: me, ExecutionID: 1, Handler: m.handler, NowMs: 1000, Messages: []engine.WorkItem{first}}
	switch s := first.(type) {
	case engine.StartItem:
		in.Start = &replay.Start{Name: s.Orchestration, Version: "1.0.0", Input: s.Input}
		if s.ParentInstance != "" {
			in.Start.Parent = &engine.ParentLink{Instance: s.ParentInstance, ExecutionID: s.ParentExecutionID, EventID: s.ParentID}
		}
	case engine.ContinueAsNewItem:
		in.ExecutionID = 2
		in.Start = &replay.Start{Name: s.Orchestration, Version: s.Version, Input: s.Input, CarryForwardEvents: s.CarryForwardEvents}
	}
	for i := 0; ; i++ {
		out, err := replay.Turn(in)
		if err != nil {
			t.Fatal(err)
		}
		if i == len(m.batches) {
			return turn.Turn{
				Instance: me, Execution: in.ExecutionID, Build: build.Version, History: in.History, Batch: in.Messages,
				Ack: engine.OrchestrationAck{
					ExecutionID: in.ExecutionID, HistoryDelta: out.Delta, WorkerItems: out.WorkerItems, OrchestratorItems: out.OrchestratorItems,
					Metadata: out.Metadata, CancelledActivities: out.Cancelled,
				},
			}
		}
		in.History, in.Messages, in.NowMs = append(in.History, out.Delta...), m.batches[i], in.NowMs+1000
	}
}

func TestTurnsOfTheEngineAreAllowed(t *testing.T) {
	for _, m := range turns {
		tn := m.turnOf(t)
		for _, wrong := range told(new(turn.Checker).CheckAck(&tn)) {
			t.Errorf("%s: %s", m.name, wrong)
		}
	}
}

// TestEveryChangeIsRefused changes each turn in every single place and lists the changes that are still allowed. Only
// things that the code alone decides may be in that list.
func TestEveryChangeIsRefused(t *testing.T) {
	var allowed []string
	changes := 0
	for _, m := range turns {
		tn := m.turnOf(t)
		if len(tn.Ack.HistoryDelta) > 50 || strings.Contains(m.name, "too long") || strings.Contains(m.name, "as long") {
			continue // large, but no different in kind
		}
		try := func(what string, ack engine.OrchestrationAck) {
			changes++
			changed := tn
			changed.Ack = ack
			if len(told(new(turn.Checker).CheckAck(&changed))) == 0 {
				allowed = append(allowed, m.name+": "+what)
			}
		}
		ack := tn.Ack
		eachChange(ack.HistoryDelta, func(what string, list []engine.Event) {
			a := ack
			a.HistoryDelta = list
			try("event "+what, a)
		})
		eachChange(ack.WorkerItems, func(what string, list []engine.WorkItem) {
			a := ack
			a.WorkerItems = list
			try("work "+what, a)
		})
		eachChange(ack.OrchestratorItems, func(what string, list []engine.WorkItem) {
			a := ack
			a.OrchestratorItems = list
			try("message "+what, a)
		})
		eachChange(ack.CancelledActivities, func(what string, list []engine.ScheduledActivityIdentifier) {
			a := ack
			a.CancelledActivities = list
			try("withdrawal "+what, a)
		})
		eachChange([]engine.ExecutionMetadata{ack.Metadata}, func(what string, list []engine.ExecutionMetadata) {
			if len(list) == 1 {
				a := ack
				a.Metadata = list[0]
				try("metadata "+what, a)
			}
		})
	}
	if d := cmp.Diff(strings.Split(strings.TrimSpace(free), "\n"), allowed); d != "" {
		t.Errorf("of %d changes others are allowed (-recorded +now):\n%s", changes, d)
	}
}

// eachChange calls f with every list that differs from the given one in a missing element, a repeated element, two
// swapped elements, or a changed field.
func eachChange[E any](list []E, f func(what string, changed []E)) {
	for i, e := range list {
		name := fmt.Sprintf("%d (%s)", i+1, kindOf(e))
		f(name+" is missing", slices.Delete(slices.Clone(list), i, i+1))
		f(name+" is repeated", slices.Insert(slices.Clone(list), i, e))
		if i+1 < len(list) && !reflect.DeepEqual(e, list[i+1]) {
			swapped := slices.Clone(list)
			swapped[i], swapped[i+1] = list[i+1], e
			f(name+" comes later", swapped)
		}
		eachField(reflect.ValueOf(e), "", func(field string, changed reflect.Value) {
			own := slices.Clone(list)
			own[i] = changed.Interface().(E)
			f(name+field+" is another", own)
		})
	}
}

func kindOf(e any) string {
	switch e := e.(type) {
	case engine.Event:
		return string(e.Kind())
	case engine.WorkItem:
		return string(e.Kind())
	}
	return reflect.TypeOf(e).Name()
}

// eachField calls f with every copy of a value in which a single leaf differs.
func eachField(v reflect.Value, path string, f func(path string, changed reflect.Value)) {
	set := func(to reflect.Value) { f(path, to) }
	switch v.Kind() {
	case reflect.String:
		set(reflect.ValueOf(v.String() + "!").Convert(v.Type()))
	case reflect.Uint64, reflect.Uint32, reflect.Uint8:
		set(reflect.ValueOf(v.Uint() + 1).Convert(v.Type()))
	case reflect.Bool:
		set(reflect.ValueOf(!v.Bool()).Convert(v.Type()))
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		eachField(v.Elem(), path, func(path string, changed reflect.Value) {
			p := reflect.New(v.Type().Elem())
			p.Elem().Set(changed)
			f(path, p)
		})
	case reflect.Interface:
		if !v.IsNil() {
			eachField(v.Elem(), path, f)
		}
	case reflect.Slice:
		for i := range v.Len() {
			eachField(v.Index(i), fmt.Sprintf("%s[%d]", path, i), func(path string, changed reflect.Value) {
				own := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
				reflect.Copy(own, v)
				own.Index(i).Set(changed)
				f(path, own)
			})
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if !v.Type().Field(i).IsExported() {
				continue
			}
			eachField(v.Field(i), path+"."+v.Type().Field(i).Name, func(path string, changed reflect.Value) {
				own := reflect.New(v.Type()).Elem()
				own.Set(v)
				own.Field(i).Set(changed)
				f(path, own)
			})
		}
	}
}

// free lists what may be changed in these turns: things that the code asked for and that show nowhere else.
const free = `
goes on: event 6 (ExternalSubscribed).Data.Name is another
goes on: event 7 (ExternalSubscribed2).Data.Name is another
goes on: event 7 (ExternalSubscribed2).Data.Topic is another
goes on: event 8 (ExternalSubscribedPersistent).Data.Name is another
goes on: event 10 (CustomStatusUpdated).Data.Status is another
goes on: event 11 (KeyValueSet) is missing
goes on: event 11 (KeyValueSet).Data.Key is another
goes on: event 11 (KeyValueSet).Data.Value is another
goes on: message 2 (StartOrchestration).Version is another
goes on: message 3 (StartOrchestration).Version is another
goes on: message 4 (StartOrchestration).Version is another
completes: message 1 (StartOrchestration).Version is another
continues as new: message 1 (ContinueAsNew).Version is another
continues as new: message 1 (ContinueAsNew).CarryForwardEvents[0].Name is another
continues as new: message 1 (ContinueAsNew).CarryForwardEvents[0].Data is another
continues as new: message 1 (ContinueAsNew).CarryForwardEvents[1].Name is another
continues as new: message 1 (ContinueAsNew).CarryForwardEvents[1].Data is another
drops: event 2 (ExternalSubscribed).Data.Name is another
drops: event 8 (ExternalSubscribedPersistentCancelled) is missing
breaks a limit: event 2 (ActivityScheduled).Data.Input is another
breaks a limit: event 2 (ActivityScheduled).Data.SessionID is another
begins with carried messages: event 4 (ExternalSubscribedPersistent) is missing
begins with carried messages: event 4 (ExternalSubscribedPersistent).Data.Name is another
`
