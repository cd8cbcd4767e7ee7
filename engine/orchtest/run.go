package orchtest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/engine/orchhost"
	"github.com/durosim/durosim/engine/replay"
	"github.com/durosim/durosim/internal/watchdog"
)

// pass runs everything that is due by untilMs, ordered by time and then by scheduling.
func (e *Env) pass(untilMs uint64) {
	e.t.Helper()
	for turns, replayed := 0, 0; ; turns++ {
		if replayed += len(e.history); turns > maxTurns || replayed > maxReplayed {
			advice := "A loop must end, and a long one must continue as new"
			if e.execution > 1 {
				advice = "Finish does not come to the end of one that is meant to: use Skip"
			}
			e.t.Fatalf("orchtest: %d turns of %s, whose execution %d has %d events, and something is still due: does the orchestration loop forever? %s", turns, e.name, e.execution, len(e.history), advice)
		}
		next := -1
		for i, d := range e.due {
			if d.atMs <= untilMs && (next < 0 || d.atMs < e.due[next].atMs) {
				next = i
			}
		}
		if next < 0 {
			return
		}
		e.nowMs = max(e.nowMs, e.due[next].atMs)
		if run := e.due[next].run; run != nil {
			e.due = slices.Delete(e.due, next, next+1)
			run()
			continue
		}
		e.turn(e.batch())
		if e.Ended() {
			e.due = slices.DeleteFunc(e.due, func(d due) bool { return d.run == nil })
		}
	}
}

// batch takes the messages that are due, up to the first of the test's functions.
func (e *Env) batch() []engine.WorkItem {
	var batch []engine.WorkItem
	var rest []due
	for i, d := range e.due {
		if d.run != nil && d.atMs <= e.nowMs {
			rest = append(rest, e.due[i:]...)
			break
		}
		if d.run == nil && d.atMs <= e.nowMs {
			batch = append(batch, d.item)
			continue
		}
		rest = append(rest, d)
	}
	e.due = rest
	return batch
}

func (e *Env) begin(execution uint64, start *replay.Start, handler orch.Handler) {
	e.execution, e.start, e.handler, e.history = execution, start, handler, nil
}

func (e *Env) input(history []engine.Event) replay.Input {
	return replay.Input{
		Build: e.build, Instance: Instance, ExecutionID: e.execution, History: history, Start: e.start, KVSnapshot: e.snapshot,
		Handler: e.handler, NowMs: e.nowMs, DoubleCheck: true,
	}
}

// turn runs a turn and carries out its effects.
func (e *Env) turn(batch []engine.WorkItem) {
	e.t.Helper()
	in := e.input(e.history)
	in.Messages = batch
	var out replay.Output
	if err := inArena(&in, func() (err error) { out, err = replay.Turn(in); return err }); err != nil {
		e.t.Fatalf("orchtest: %v", err)
	}
	if out.Nondeterministic != "" {
		e.t.Fatalf("orchtest: the handler is not deterministic: two runs of one turn differ: %s", out.Nondeterministic)
	}
	e.history = append(e.history[:len(e.history):len(e.history)], out.Delta...)
	e.traces = append(e.traces, out.Traces...)
	e.end, e.details, e.panicked = out.Result, out.Details, out.PanickedAt
	for _, c := range out.Cancelled {
		e.due = slices.DeleteFunc(e.due, func(d due) bool { return answers(d.item, c) })
	}
	for _, item := range out.WorkerItems {
		e.runActivity(item.(engine.ActivityExecuteItem))
	}
	for _, item := range out.OrchestratorItems {
		e.route(item)
	}
	if out.Result != replay.ResultContinue {
		e.verify()
	}
	if out.Result == replay.ResultContinueAsNew {
		e.continueAsNew(out.OrchestratorItems)
	}
}

// guarded calls f, which lets a watch see the code that it runs. It returns an error if that code does not come back.
func guarded(f func(*watchdog.Watch)) error {
	limit, err := watchdog.Limit()
	if err != nil {
		return err
	}
	watch := &watchdog.Watch{}
	if stuck := watch.Guard(limit, func() { f(watch) }); stuck != nil {
		return errors.New(stuck.Message)
	}
	return nil
}

// inArena calls compute, which runs code with the input, in an arena whose code is watched.
func inArena(in *replay.Input, compute func() error) (err error) {
	stuck := guarded(func(w *watchdog.Watch) {
		in.Arena = replay.NewArena()
		defer in.Arena.Close()
		in.Arena.Watch(w)
		err = compute()
	})
	return cmp.Or(stuck, err)
}

func verify(in replay.Input) (difference string, err error) {
	err = inArena(&in, func() (err error) {
		if difference, err = replay.Verify(in); difference != "" {
			if place := replay.DiffersAt(in); place != "" {
				difference += ", at " + place
			}
		}
		return err
	})
	return difference, err
}

// answers reports whether an item is the given activity's completion.
func answers(item engine.WorkItem, a engine.ScheduledActivityIdentifier) bool {
	switch i := item.(type) {
	case engine.ActivityCompletedItem:
		return i.ExecutionID == a.ExecutionID && i.ID == a.ActivityID
	case engine.ActivityFailedItem:
		return i.ExecutionID == a.ExecutionID && i.ID == a.ActivityID
	}
	return false
}

// verify replays the whole execution.
func (e *Env) verify() {
	e.t.Helper()
	difference, err := verify(e.input(e.history))
	if err != nil {
		e.t.Fatalf("orchtest: %v", err)
	}
	if difference != "" {
		e.t.Fatalf("orchtest: the handler is not deterministic: a replay of the whole execution differs: %s", difference)
	}
}

func (e *Env) continueAsNew(items []engine.WorkItem) {
	e.t.Helper()
	i := slices.IndexFunc(items, func(w engine.WorkItem) bool { return w.Kind() == engine.ItemContinueAsNew })
	next := items[i].(engine.ContinueAsNewItem)
	handler := e.handlers[next.Version]
	if handler == nil {
		e.t.Fatalf("orchtest: the code continues as version %s: give its code with Env.Version", next.Version)
	}
	e.snapshot = keysAfter(e.snapshot, e.history)
	e.earlier = append(e.earlier, e.history)
	e.begin(e.execution+1, &replay.Start{
		Name: next.Orchestration, Version: cmp.Or(next.Version, e.version.String()), Input: next.Input,
		CarryForwardEvents: next.CarryForwardEvents, InitialCustomStatus: next.InitialCustomStatus,
	}, handler)
	e.end = replay.ResultContinue
	e.send(next)
}

// route delivers a message sent by the orchestration.
func (e *Env) route(item engine.WorkItem) {
	e.t.Helper()
	switch i := item.(type) {
	case engine.TimerFiredItem:
		e.due = append(e.due, due{atMs: i.FireAtMs, item: i})
	case engine.StartItem:
		if i.ParentInstance == "" {
			e.detached = append(e.detached, i)
			e.instances[i.Instance] = true
			return
		}
		e.runChild(i)
	case engine.CancelInstanceItem:
		for n := range e.due {
			if d := &e.due[n]; d.child == i.Instance {
				from := parentOf(d.item)
				d.atMs = e.nowMs
				d.item = childFailed(from, eventdata.ApplicationError{Kind: eventdata.AppCancelled, Reason: i.Reason})
			}
		}
	}
}

func (e *Env) runChild(start engine.StartItem) {
	e.t.Helper()
	if e.instances[start.Instance] {
		answer, _ := replay.RefuseStart(start, nil)
		e.send(answer)
		return
	}
	e.instances[start.Instance] = true
	mock := e.children[start.Orchestration]
	if mock == nil {
		e.t.Fatalf("orchtest: the code starts the child %s with %q: mock it with Env.Child; %s", start.Orchestration, start.Input, names(e.children))
	}
	link := engine.ParentLink{Instance: Instance, ExecutionID: start.ParentExecutionID, EventID: start.ParentID}
	result, atMs, panicked, err := e.call(mock, node.ActivityContext{Name: start.Orchestration}, start.Input)
	var item engine.WorkItem = engine.SubOrchCompletedItem{
		ParentInstance: Instance, ParentExecutionID: link.ExecutionID, ParentID: link.EventID, Result: result,
	}
	switch {
	case panicked:
		item = childFailed(link, eventdata.ApplicationError{Kind: eventdata.AppPanicked, Message: err.Error()})
	case err != nil:
		item = childFailed(link, eventdata.ApplicationError{Kind: eventdata.AppOrchestrationFailed, Message: err.Error()})
	}
	e.due = append(e.due, due{atMs: atMs, item: item, child: start.Instance})
}

func childFailed(to engine.ParentLink, err eventdata.ApplicationError) engine.WorkItem {
	return engine.SubOrchFailedItem{
		ParentInstance: to.Instance, ParentExecutionID: to.ExecutionID, ParentID: to.EventID, Details: engine.ErrorDetails{Application: &err},
	}
}

func parentOf(item engine.WorkItem) engine.ParentLink {
	switch i := item.(type) {
	case engine.SubOrchCompletedItem:
		return engine.ParentLink{Instance: i.ParentInstance, ExecutionID: i.ParentExecutionID, EventID: i.ParentID}
	case engine.SubOrchFailedItem:
		return engine.ParentLink{Instance: i.ParentInstance, ExecutionID: i.ParentExecutionID, EventID: i.ParentID}
	}
	panic(fmt.Sprintf("orchtest: a child answers with %T", item))
}

func (e *Env) runActivity(a engine.ActivityExecuteItem) {
	e.t.Helper()
	mock := e.activities[a.Name]
	if mock == nil {
		mock = e.systemActivity(a)
	}
	if mock == nil {
		e.t.Fatalf("orchtest: the code calls the activity %s with %q: mock it with Env.Activity; %s", a.Name, a.Input, names(e.activities))
	}
	result, atMs, panicked, err := e.call(mock, node.ActivityContext{
		Instance: Instance, ExecutionID: a.ExecutionID, ActivityID: a.ID, Attempt: 1, Name: a.Name, SessionID: a.SessionID, Tag: a.Tag,
	}, a.Input)
	var item engine.WorkItem = engine.ActivityCompletedItem{Instance: Instance, ExecutionID: a.ExecutionID, ID: a.ID, Result: result}
	if err != nil {
		text := err.Error()
		if panicked {
			text = orchhost.ActivityPanicked + text
		}
		item = engine.ActivityFailedItem{Instance: Instance, ExecutionID: a.ExecutionID, ID: a.ID, Details: engine.ErrorDetails{
			Application: &eventdata.ApplicationError{Kind: eventdata.AppActivityFailed, Message: text},
		}}
	}
	e.due = append(e.due, due{atMs: atMs, item: item})
}

// systemActivity answers the runtime's own activities: it uses test time, sequential ids, and the instance's own keys.
// Other instances have no keys.
func (e *Env) systemActivity(a engine.ActivityExecuteItem) *Mock {
	switch a.Name {
	case orchhost.SystemUTCNowMs:
		return (&Mock{env: e}).Returns(strconv.FormatUint(e.nowMs, 10))
	case orchhost.SystemNewGUID:
		return (&Mock{env: e}).Returns(fmt.Sprintf("00000000-0000-8000-%04x-%012x", a.ExecutionID, a.ID))
	case orchhost.SystemGetKVValue:
		return (&Mock{env: e}).Does(func(input string) (string, error) {
			var key orchhost.RemoteKey
			if err := json.Unmarshal([]byte(input), &key); err != nil {
				return "", err
			}
			if value, ok := e.KVValue(key.Key); ok && key.InstanceID == Instance {
				text, err := json.Marshal(value)
				return string(text), err
			}
			return "null", nil
		})
	}
	return nil
}
