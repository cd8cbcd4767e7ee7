package orchtest

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/engine/replay"
)

// T is the part of a *testing.T that this package uses.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// The instance under test, and its start time in milliseconds: 2024-01-01 00:00 UTC.
const (
	Instance = "instance-1"
	StartMs  = 1_704_067_200_000
)

// Limits on one Env call: on its turns, and on the events that these turns replay. Each turn replays all earlier ones of
// its execution, so their number grows with the square of that of the turns. Code that needs more is assumed to run forever.
const (
	maxTurns    = 10_000
	maxReplayed = 2_000_000
)

// Env runs one instance of the orchestration under test. It is not safe for concurrent use.
type Env struct {
	t          T
	build      *engine.Build
	name       string
	version    engine.Version
	handlers   map[string]orch.Handler // by version; "" is the handler passed to New
	activities map[string]*Mock
	children   map[string]*Mock

	nowMs   uint64
	started bool
	due     []due // in scheduling order
	// The current execution, and the histories of earlier ones.
	execution uint64
	handler   orch.Handler
	start     *replay.Start
	snapshot  []engine.KVEntry
	history   []engine.Event
	earlier   [][]engine.Event
	detached  []engine.StartItem
	instances map[string]bool // that exist
	traces    []string
	end       replay.Result
	details   engine.ErrorDetails
	panicked  string // where the code panicked
	// The last panic of an activity: its text, and where it was.
	raised, raisedAt string

	sent      []engine.WorkItem // by the test
	unawaited []string
}

// due is a message or one of the test's functions, scheduled for a time.
type due struct {
	atMs uint64
	item engine.WorkItem
	run  func()
	// child is the instance id of the child that sent the item, if the item is a child's answer.
	child string
}

// New returns an environment for an orchestration that has not been started. It uses the latest shipped build. If t is a
// *testing.T, the test fails at its end if a mock was never called, or if no code waited for an event or message.
func New(t T, handler orch.Handler) *Env {
	e := &Env{
		t: t, build: latestBuild(), name: "Orchestration", version: engine.V(1, 0, 0), handlers: map[string]orch.Handler{"": handler},
		activities: map[string]*Mock{}, children: map[string]*Mock{}, nowMs: StartMs,
		instances: map[string]bool{Instance: true},
	}
	if t, ok := t.(interface{ Cleanup(func()) }); ok {
		t.Cleanup(e.checkUses)
	}
	return e
}

// As sets the name and version of the orchestration, which the code and its histories see. It returns e. CheckHistories
// looks for them in a registry.
func (e *Env) As(name string, version engine.Version) *Env {
	e.t.Helper()
	e.refuse(e.started, "As(%q) after Start: its code and its history have another name", name)
	e.name, e.version = name, version
	return e
}

func latestBuild() *engine.Build {
	all := engine.ShippedBuilds()
	return all[len(all)-1]
}

// Version registers the code of another version for Context.ContinueAsNewVersioned.
func (e *Env) Version(version string, handler orch.Handler) {
	e.t.Helper()
	v, err := engine.ParseVersion(version)
	if err == nil {
		err = node.NewRegistry().Register(e.name, v, handler)
	}
	e.refuse(err != nil, "Version(%q): %v", version, err)
	e.handlers[version] = handler
}

// refuse fails the test if a call of it has no meaning.
func (e *Env) refuse(wrong bool, format string, args ...any) {
	e.t.Helper()
	if wrong {
		e.t.Fatalf("orchtest: "+format, args...)
	}
}

// Activity returns the mock for an activity. Calling an activity that has no mock fails the test.
func (e *Env) Activity(name string) *Mock { return e.mock(e.activities, name) }

// Child returns the mock for a child orchestration. Starting a child that has no mock fails the test. A child that is
// cancelled before it ends fails, and so does a start with the id of an instance that exists.
func (e *Env) Child(name string) *Mock { return e.mock(e.children, name) }

func (e *Env) mock(mocks map[string]*Mock, name string) *Mock {
	if mocks[name] == nil {
		mocks[name] = (&Mock{env: e, name: name}).Returns("")
	}
	return mocks[name]
}

// Run starts the orchestration, advances time until nothing is left to do, and returns the output. It fails the test if
// the orchestration has not completed by then.
func (e *Env) Run(input string) string {
	e.t.Helper()
	e.Start(input)
	e.Finish()
	return e.Output()
}

// Start starts the orchestration and runs everything that is due immediately.
func (e *Env) Start(input string) {
	e.t.Helper()
	e.refuse(e.started, "the orchestration has already been started")
	e.started = true
	version := e.version.String()
	e.begin(1, &replay.Start{Name: e.name, Version: version, Input: input}, e.handlers[""])
	e.send(engine.StartItem{Instance: Instance, Orchestration: e.name, Version: version, Input: input, ExecutionID: engine.InitialExecutionID})
	e.Skip(0)
}

// Skip advances time by d and runs everything that becomes due.
func (e *Env) Skip(d time.Duration) {
	e.t.Helper()
	e.refuse(!e.started, "Skip before Start: nothing is due")
	e.refuse(d < 0, "Skip(%v): time does not go back", d)
	until := e.nowMs + uint64(d.Milliseconds())
	e.pass(until)
	e.nowMs = until
}

// Finish advances time until nothing is left to do: the orchestration has ended or is waiting for the test to act.
func (e *Env) Finish() {
	e.t.Helper()
	e.refuse(!e.started, "Finish before Start: nothing is due")
	e.pass(^uint64(0))
}

// After calls f after d of test time, for example to raise an event.
func (e *Env) After(d time.Duration, f func()) {
	e.t.Helper()
	e.refuse(d < 0 || f == nil, "After(%v): expected a time to come, and a function", d)
	e.due = append(e.due, due{atMs: e.nowMs + uint64(d.Milliseconds()), run: f})
}

// Raise raises a first-generation event (Context.ScheduleWait). Like all messages, it is delivered by the next Skip or
// Finish.
func (e *Env) Raise(name, data string) {
	e.t.Helper()
	e.message(engine.ExternalRaisedItem{Instance: Instance, Name: name, Data: data})
}

// Raise2 raises a second-generation event (Context.ScheduleWait2).
func (e *Env) Raise2(name, topic, data string) {
	e.t.Helper()
	e.message(engine.ExternalRaised2Item{Instance: Instance, Name: name, Topic: topic, Data: data})
}

// Enqueue sends a queue message (Context.DequeueEvent).
func (e *Env) Enqueue(name, data string) {
	e.t.Helper()
	e.message(engine.QueueMessageItem{Instance: Instance, Name: name, Data: data})
}

// Cancel asks the orchestration to end.
func (e *Env) Cancel(reason string) {
	e.t.Helper()
	e.message(engine.CancelInstanceItem{Instance: Instance, Reason: reason})
}

func (e *Env) message(item engine.WorkItem) {
	e.t.Helper()
	e.refuse(!e.started, "%s before Start: it would be lost", item.Kind())
	e.sent = append(e.sent, item)
	e.send(item)
}

func (e *Env) send(item engine.WorkItem) { e.due = append(e.due, due{atMs: e.nowMs, item: item}) }

// Ended reports whether the orchestration has ended, successfully or not.
func (e *Env) Ended() bool { return e.end != replay.ResultContinue }

// Output returns the output of a completed orchestration. If it has not completed, Output fails the test and reports
// what the orchestration is waiting for or how it failed.
func (e *Env) Output() string {
	e.t.Helper()
	e.refuse(!e.started, "Output before Start: there is none")
	for _, event := range e.history {
		if d, ok := event.Data.(eventdata.OrchestrationCompleted); ok {
			return d.Output
		}
	}
	if e.Ended() {
		at := e.panicked
		if e.raised != "" && strings.Contains(e.Failure(), e.raised) {
			at = e.raisedAt
		}
		if at != "" {
			at = ", at " + at
		}
		e.t.Fatalf("orchtest: the orchestration failed: %s%s", e.Failure(), at)
	}
	e.t.Fatalf("orchtest: the orchestration has not ended; it waits for %s", strings.Join(e.Waits(), ", "))
	return ""
}

// Failure returns the error text of a failed orchestration, or "" if it did not fail.
func (e *Env) Failure() string { return e.details.Display() }

// History returns the history of the current execution, or of the last one if the orchestration has ended. The caller
// owns the slice.
func (e *Env) History() []engine.Event { return slices.Clone(e.history) }

// Executions returns the histories of all executions in order. There is one for each continue-as-new, plus the last.
func (e *Env) Executions() [][]engine.Event { return append(slices.Clone(e.earlier), e.History()) }

// Detached returns the orchestrations that the code has started without waiting for them. The caller owns the slice.
func (e *Env) Detached() []engine.StartItem { return slices.Clone(e.detached) }

// Traces returns the lines written with Context.Trace. The caller owns the slice.
func (e *Env) Traces() []string { return slices.Clone(e.traces) }

// CustomStatus returns the custom status, and whether there is one.
func (e *Env) CustomStatus() (string, bool) {
	var status *string
	for _, event := range e.history {
		switch d := event.Data.(type) {
		case eventdata.OrchestrationStarted:
			status = d.InitialCustomStatus
		case eventdata.CustomStatusUpdated:
			status = d.Status
		}
	}
	if status == nil {
		return "", false
	}
	return *status, true
}

// KVValue returns the value of one of the instance's keys, and whether the key exists.
func (e *Env) KVValue(key string) (string, bool) {
	for _, entry := range keysAfter(e.snapshot, e.history) {
		if entry.Key == key {
			return entry.Value, true
		}
	}
	return "", false
}

// Waits describes what the orchestration is waiting for, in the order in which it asked: "the event approval", "a
// message of jobs".
func (e *Env) Waits() []string {
	var out []string
	if e.Ended() {
		return nil
	}
	for _, event := range replay.OpenWaits(e.history, e.build) {
		if article, what := waitOf(event); what != "" {
			out = append(out, article+" "+what)
		}
	}
	if len(out) == 0 {
		out = append(out, "nothing that the test could send")
	}
	return out
}

// names lists the names of the mocks, for use in a message.
func names(mocks map[string]*Mock) string {
	if len(mocks) == 0 {
		return "there are no mocks"
	}
	return "there are mocks of " + strings.Join(slices.Sorted(maps.Keys(mocks)), ", ")
}
