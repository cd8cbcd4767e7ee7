package memprovider_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/memprovider"
)

// A script has an operation on each line: its name, positional words and key=value words. world.do documents them.

// step is an operation of a script and its result, which is empty if the operation just succeeded.
type step struct{ operation, result string }

// play carries out a script.
func (w *world) play(t *testing.T, script string) []step {
	t.Helper()
	var steps []step
	for line := range strings.Lines(script) {
		if line = strings.TrimSpace(line); line != "" {
			steps = append(steps, step{line, w.run(t, line)})
		}
	}
	return steps
}

// text writes the steps that have a result.
func text(steps []step) string {
	var b strings.Builder
	for _, s := range steps {
		if s.result != "" {
			fmt.Fprintf(&b, "%s -> %s\n", s.operation, s.result)
		}
	}
	return b.String()
}

// playBlocks plays blocks of datadriven, each a line "play", a script, a line "----" and the results.
func (w *world) playBlocks(t *testing.T, blocks string) {
	t.Helper()
	datadriven.RunTestFromString(t, blocks, func(t *testing.T, d *datadriven.TestData) string { return text(w.play(t, d.Input)) })
}

// prepare plays a script whose operations must all succeed without a result.
func (w *world) prepare(t *testing.T, script string) {
	t.Helper()
	if got := text(w.play(t, script)); got != "" {
		t.Fatal(got)
	}
}

// refuse plays an operation that must fail: perm or retryable.
func (w *world) refuse(t *testing.T, operation, class string) {
	t.Helper()
	if got := w.run(t, operation); got != class {
		t.Fatalf("%s -> %q, want %s", operation, got, class)
	}
}

// world is a store with one handle, and the tokens that a script named.
type world struct {
	fullHandle
	store  *memprovider.Store
	tokens map[string]string
	seen   recorder
	// arrival is the call that waits inside the store.
	arrival *memprovider.Arrival
}

var ctx = context.Background()

func newWorld(options memprovider.Options) *world {
	w := &world{tokens: map[string]string{}}
	w.seen.sink = options.Sink
	options.Sink = &w.seen
	options.StartMs = 1000
	options.Recheck = true
	w.store = memprovider.New(options)
	w.fullHandle = handleOf(w.store, build("2.0.0").Codec, observe.Caller{Node: 1, Incarnation: 1})
	return w
}

func build(version string) *engine.Build {
	for _, b := range engine.ShippedBuilds() {
		if b.Name() == version {
			return b
		}
	}
	panic("no build " + version)
}

// recorder records the state observations, in words.
type recorder struct {
	sink  observe.Sink
	lines []string
}

func (r *recorder) Observe(o *observe.Observation) {
	if r.sink != nil {
		r.sink.Observe(o)
	}
	undo := ""
	if o.Undo {
		undo = "undo "
	}
	switch o.Kind {
	case observe.CallBegin, observe.CallEnd, observe.InstanceNamed:
	case observe.CountChanged:
		r.lines = append(r.lines, fmt.Sprintf("%scount %d: %d to %d", undo, o.Message, o.OldCount, o.NewCount))
	case observe.EventDecoded, observe.EventAppended, observe.EventRemoved:
		r.lines = append(r.lines, fmt.Sprintf("%s%s %d", undo, o.Kind, o.EventID))
	case observe.RowInserted, observe.RowRemoved, observe.RowRestored, observe.MessageMarked, observe.MessageDecoded:
		r.lines = append(r.lines, fmt.Sprintf("%s%s %d", undo, o.Kind, o.Message))
	default:
		r.lines = append(r.lines, undo+o.Kind.String())
	}
}

func (w *world) run(t *testing.T, line string) string {
	t.Helper()
	operation, args, err := datadriven.ParseLine(line)
	if err != nil {
		t.Fatal(err)
	}
	a := arguments{t: t, line: line, named: map[string]string{}}
	for _, arg := range args {
		if arg.Vals == nil {
			a.plain = append(a.plain, arg.Key)
		} else {
			a.named[arg.Key] = arg.SingleVal(t)
		}
	}
	result, err := w.do(operation, a)
	if err != nil {
		var p *engine.ProviderError
		switch {
		case !errors.As(err, &p):
			return "unclassified: " + err.Error()
		case p.Retryable:
			return "retryable"
		}
		return "perm"
	}
	return result
}

func startedEvent(id uint64) engine.Event {
	return engine.Event{EventID: id, InstanceID: "any", ExecutionID: 1, DuroxideVersion: "1.0.0",
		Data: eventdata.OrchestrationStarted{Name: "TestOrch", Version: "1.0.0", Input: "{}"}}
}

func scheduledEvent(id uint64) engine.Event {
	return engine.Event{EventID: id, InstanceID: "any", ExecutionID: 1, Data: eventdata.ActivityScheduled{Name: fmt.Sprintf("Activity-%d", id)}}
}

// ackOf builds an ack: exec, events (OS1 is a start event with id 1, 7 an ActivityScheduled, for 7:set:k:v see
// materialised), name, status, output, pin,
// parent, work, cancel (INSTANCE:ID, execution 1) and
// send.
func (w *world) ackOf(a arguments, token string) engine.OrchestrationAck {
	ack := engine.OrchestrationAck{LockToken: token, ExecutionID: 1}
	if e, ok := a.named["exec"]; ok {
		ack.ExecutionID = uint64(a.number(e))
	}
	for _, e := range a.list("events") {
		if id, what, ok := strings.Cut(e, ":"); ok {
			ack.HistoryDelta = append(ack.HistoryDelta, a.materialised(uint64(a.number(id)), what))
		} else if n, ok := strings.CutPrefix(e, "OS"); ok {
			ack.HistoryDelta = append(ack.HistoryDelta, startedEvent(uint64(a.number(n))))
		} else {
			ack.HistoryDelta = append(ack.HistoryDelta, scheduledEvent(uint64(a.number(e))))
		}
	}
	m := &ack.Metadata
	if name := a.named["name"]; name != "" {
		m.OrchestrationName, m.OrchestrationVersion, _ = strings.Cut(name, "@")
	}
	m.Status, m.ParentInstanceID = engine.Status(a.named["status"]), a.named["parent"]
	if out, ok := a.named["output"]; ok {
		m.Output = &out
	}
	if pin := a.named["pin"]; pin != "" {
		v := engine.MustParseVersion(pin)
		m.PinnedVersion = &v
	}
	ack.WorkerItems, ack.OrchestratorItems = a.items("work"), a.items("send")
	for _, c := range a.list("cancel") {
		in, id, _ := strings.Cut(c, ":")
		ack.CancelledActivities = append(ack.CancelledActivities,
			engine.ScheduledActivityIdentifier{Instance: in, ExecutionID: 1, ActivityID: uint64(a.number(id))})
	}
	return ack
}

func (w *world) token(name string) string {
	if t, ok := w.tokens[name]; ok {
		return t
	}
	return name
}

// do is the operations:
//
//	send ITEM [delay=MS]                        enqueue for the orchestrator
//	make INSTANCE [pin= status= output= name=]  start, fetch and ack execution 1 with OS1 and name TestOrch@1.0.0
//	bare INSTANCE                               the same with empty metadata
//	fetch [TOKEN] [lock=MS filter=A..B,C..D]    INSTANCE#EXECUTION xCOUNT [ITEMS] [HISTORY-ERROR] [kv SNAPSHOT], or none
//	ack TOKEN [...]                             see ackOf
//	abandon TOKEN [delay=MS] [ignore]
//	renew TOKEN MS
//	act ITEM                                    enqueue for the worker
//	work [TOKEN] [lock=MS tags=any|none|a,b|+a,b owner=W slock=MS]   ITEM xCOUNT, or none
//	finish TOKEN [ITEM]                         ack of an activity
//	quit TOKEN [delay=MS] [ignore]              abandon of an activity
//	extend TOKEN MS                             renewal of an activity
//	wait MS
//	read INSTANCE [EXECUTION]                   event ids
//	append INSTANCE EXECUTION IDS
//	corrupt INSTANCE EXECUTION EVENT, spoil MESSAGE
//	info INSTANCE, execinfo INSTANCE EXECUTION, depths
//	back MS                                     the time goes back
//	arrive fetch|hold TOKEN|delete INSTANCE, resume: a call arrives; the next call is that one
//	opens VERSION [refuses]                     whether a program of that schema starts
//	migrate, migrated VERSION [destructive] [failed]: a migration begins, and ends with a version of the schema
//	activate BUILD [early] [restart]            before all are ready; by a node's start
//	seen                                        observations since the last time
//	and those of manage
func (w *world) do(op string, a arguments) (string, error) {
	switch op {
	case "send":
		return "", w.EnqueueForOrchestrator(ctx, a.item(a.word(0)), a.ms("delay", 0))
	case "make", "bare":
		return "", w.make(op, a)
	case "fetch":
		f, err := w.FetchOrchestrationItem(ctx, a.ms("lock", 30_000), 0, a.filter())
		if f == nil || err != nil {
			return "none", err
		}
		if len(a.plain) > 0 {
			w.tokens[a.plain[0]] = f.LockToken
		}
		return showFetched(f), nil
	case "ack":
		return "", w.AckOrchestrationItem(ctx, w.ackOf(a, w.token(a.word(0))))
	case "opens":
		return fmt.Sprint(w.store.Opens(nil, uint64(a.number(a.word(0))), a.has("refuses"))), nil
	case "migrate":
		return fmt.Sprint(w.store.BeginMigration(nil)), nil
	case "migrated":
		w.store.EndMigration(nil, uint64(a.number(a.word(0))), a.has("destructive"), a.has("failed"))
		return fmt.Sprint("schema ", w.store.Schema()), nil
	case "activate":
		w.store.Activate(nil, a.word(0), !a.has("early"), a.has("restart"))
		return w.store.Activated(nil), nil
	case "abandon":
		return "", w.AbandonOrchestrationItem(ctx, w.token(a.word(0)), a.ms("delay", 0), a.has("ignore"))
	case "renew":
		return "", w.RenewOrchestrationItemLock(ctx, w.token(a.word(0)), time.Duration(a.number(a.word(1)))*time.Millisecond)
	case "act":
		return "", w.EnqueueForWorker(ctx, a.item(a.word(0)))
	case "work":
		f, err := w.FetchWorkItem(ctx, a.ms("lock", 30_000), 0, a.session(), a.tags())
		if f == nil || err != nil {
			return "none", err
		}
		if len(a.plain) > 0 {
			w.tokens[a.plain[0]] = f.LockToken
		}
		return fmt.Sprintf("%s x%d", show(f.Item), f.AttemptCount), nil
	case "finish":
		var completion engine.WorkItem
		if len(a.plain) > 1 {
			completion = a.item(a.plain[1])
		}
		return "", w.AckWorkItem(ctx, w.token(a.word(0)), completion)
	case "quit":
		return "", w.AbandonWorkItem(ctx, w.token(a.word(0)), a.ms("delay", 0), a.has("ignore"))
	case "extend":
		return "", w.RenewWorkItemLock(ctx, w.token(a.word(0)), time.Duration(a.number(a.word(1)))*time.Millisecond)
	case "wait":
		w.store.SetNow(w.store.Now() + int64(a.number(a.word(0))))
		return "", nil
	case "back":
		w.store.SetNow(w.store.Now() - int64(a.number(a.word(0))))
		return "", nil
	case "arrive":
		w.arrival = w.arrive(a)
		return "", nil
	case "resume":
		w.store.Resume(w.arrival)
		return "", nil
	case "seen":
		lines := w.seen.lines
		w.seen.lines = nil
		return strings.Join(lines, ", "), nil
	}
	return w.look(op, a)
}

func showFetched(f *engine.FetchedOrchestration) string {
	var items []string
	for _, m := range f.Item.Messages {
		items = append(items, show(m))
	}
	text := fmt.Sprintf("%s#%d x%d %v", f.Item.Instance, f.Item.ExecutionID, f.AttemptCount, items)
	if f.Item.HistoryError != "" {
		text += " HISTORY-ERROR"
		if f.Item.History != nil {
			text += " with history"
		}
	}
	if kv := f.Item.KVSnapshot; kv != nil {
		text += " kv"
		for _, e := range kv {
			text += fmt.Sprintf(" %s=%s@%d", e.Key, e.Value, e.LastUpdatedAtMs)
		}
	}
	return text
}

func (w *world) make(op string, a arguments) error {
	in := a.word(0)
	if err := w.EnqueueForOrchestrator(ctx, a.item("start:"+in), 0); err != nil {
		return err
	}
	f, err := w.FetchOrchestrationItem(ctx, 30*time.Second, 0, nil)
	if err != nil {
		return err
	}
	if f == nil || f.Item.Instance != in {
		a.t.Fatalf("%s: fetched %+v", a.line, f)
	}
	if op == "make" && a.named["name"] == "" {
		a.named["name"] = "TestOrch@1.0.0"
	}
	if a.named["events"] == "" {
		a.named["events"] = "OS1"
	}
	return w.AckOrchestrationItem(ctx, w.ackOf(a, f.LockToken))
}

// look runs the operations that only read, and the faults.
func (w *world) look(op string, a arguments) (string, error) {
	switch op {
	case "read":
		events, err := w.Read(ctx, a.word(0))
		if len(a.plain) > 1 {
			events, err = w.ReadWithExecution(ctx, a.word(0), uint64(a.number(a.plain[1])))
		}
		var ids []uint64
		for _, e := range events {
			ids = append(ids, e.EventID)
		}
		return fmt.Sprint(ids), err
	case "append":
		var events []engine.Event
		for _, id := range strings.Split(a.word(2), ",") {
			events = append(events, scheduledEvent(uint64(a.number(id))))
		}
		return "", w.AppendWithExecution(ctx, a.word(0), uint64(a.number(a.word(1))), events)
	case "corrupt":
		return "", w.store.Damage(a.word(0), uint64(a.number(a.word(1))), uint64(a.number(a.word(2))), []byte("{"))
	case "spoil":
		return "", w.store.DamageMessage(observe.MessageNo(a.number(a.word(0))), []byte("{"))
	case "info":
		i, err := w.GetInstanceInfo(ctx, a.word(0))
		if err != nil {
			return "", err
		}
		text := fmt.Sprintf("%s@%s #%d %s", i.OrchestrationName, i.OrchestrationVersion, i.CurrentExecutionID, i.Status)
		if i.Output != nil {
			text += " " + *i.Output
		}
		if i.ParentInstanceID != "" {
			text += " of " + i.ParentInstanceID
		}
		return text, nil
	case "execinfo":
		i, err := w.GetExecutionInfo(ctx, a.word(0), uint64(a.number(a.word(1))))
		if err != nil {
			return "", err
		}
		text := fmt.Sprintf("%s %d events", i.Status, i.EventCount)
		if i.CompletedAt != nil {
			text += fmt.Sprintf(" done at %d", *i.CompletedAt)
		}
		if i.PinnedVersion != nil {
			text += " pin " + i.PinnedVersion.String()
		}
		return text, nil
	case "depths":
		d, err := w.GetQueueDepths(ctx)
		return fmt.Sprintf("%d %d", d.OrchestratorQueue, d.WorkerQueue), err
	}
	return w.manage(op, a)
}

// fullHandle is a handle with its management surface.
type fullHandle interface {
	engine.Provider
	engine.ProviderAdmin
}

func handleOf(store *memprovider.Store, codec engine.Codec, caller observe.Caller) fullHandle {
	return store.Handle(codec, caller).(fullHandle)
}
