package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/replay"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/workload"
)

// World is one run in progress. Monitors read it through its exported methods, except Observe, which is the store's;
// nobody else sees one.
type World struct {
	cfg     *Config
	plan    *plan.Plan
	kernel  *sim.Kernel[event]
	chooser sim.Chooser
	root    sim.Key
	trace   *sim.Trace
	marks   []sim.Mark
	store   *memprovider.Store
	monitor Monitor
	tables  *faults.Tables
	drawn   []drawnFault
	ctx     context.Context
	// workspace is what all nodes compute in: they step one at a time.
	workspace *replay.Workspace
	// shippedHandlers says that the configuration names none.
	shippedHandlers bool
	shipped         []shippedRegistry // by build, as far as needed

	builds  []*engine.Build
	nodes   []*nodeState // by number - 1
	infos   []NodeInfo   // the same, as monitors see them
	clients *clientState
	probes  []*probeState
	calls   callTable // by the world's number - 1
	// nodeCalls is room for what a step of a node asks for.
	nodeCalls []node.Call
	groups    []*waitGroup

	start       sim.Time
	phase       Phase
	phaseAt     sim.Time // when it began
	ended       bool
	changed     bool   // the present event changed something or made a call
	seenGen     uint64 // the store's generation when parked fetches were last looked at
	turns       uint64
	executing   int    // index of the call that was executed last
	storeCall   uint64 // the store's number of its last call
	rec         Record // the present record, with log or note; reused
	log         node.Log
	note        node.Note
	tokens      map[string]string // instance by lock token, kept for a narrator and looked up only
	holders     []uint32          // node that took an instance's lock last, by number of the instance
	caller      uint32            // node of the store's present call
	observed    uint64            // observations so far, apart from the begin and the end of calls
	ackStep     int               // the ack step to fail at, -1 for none
	downUntil   sim.Time          // the store refuses every call until then
	lastRow     engine.MessageNo  // the orchestrator message inserted last, and the store's call that did
	lastRowCall uint64
	internal    []Violation
	// handlerFaults is how many turns were computed twice and differed.
	handlerFaults int
}

// The labels of keys: a draw is named by its place in the domain.
var (
	labelNode        = sim.NewLabel("node")
	labelIncarnation = sim.NewLabel("incarnation")
	labelCall        = sim.NewLabel("call")
	labelRequest     = sim.NewLabel("request")
	labelAnswer      = sim.NewLabel("answer")
	labelAmount      = sim.NewLabel("amount")
	labelFault       = sim.NewLabel("fault")
	labelJob         = sim.NewLabel("job")
	labelTimer       = sim.NewLabel("timer")
	labelStart       = sim.NewLabel("start")
	labelSchedule    = sim.NewLabel("schedule")
	labelInstance    = sim.NewLabel("instance")
	labelAction      = sim.NewLabel("action")
	labelRetry       = sim.NewLabel("retry")
	labelTry         = sim.NewLabel("try")
	labelProbe       = sim.NewLabel("probe")
	labelWake        = sim.NewLabel("wake")
	labelGroup       = sim.NewLabel("group")
	labelPhase       = sim.NewLabel("phase")
	labelTick        = sim.NewLabel("tick")
	labelZombie      = sim.NewLabel("zombie")
	labelHistory     = sim.NewLabel("history")
	labelPause       = sim.NewLabel("pause")
	labelKill        = sim.NewLabel("kill")
)

// event is what the kernel's queue holds: plain data.
type event struct {
	kind eventKind
	node uint32 // number
	inc  uint32
	a, b uint64
}

type eventKind uint8

const (
	evSchedule  eventKind = iota // a: index of the step
	evNodeStart                  // node
	evTimer                      // node, inc, a: timer id
	evJob                        // node, inc, a: job id, b: 1 if the activity panics
	evRequest                    // a: index of the call, as for the three below
	evAnswer                     // node, inc
	evDeadline                   // node, inc
	evWake                       // a parked fetch is tried again
	evVain                       // a: call: a parked fetch polls, and must find nothing
	evGroup                      // a: index of the group: something may have become eligible by time
	evResume                     // node
	evKill                       // node, inc: a drain took too long
	evInstance                   // a: index of the instance, b: attempt
	evAction                     // a: index of the instance, b: action index and attempt, packed
	evKick                       // a: index of the seeded history
	evProbe                      // a: index of the probe
	evProbeEnd                   // a: index of the probe, b: index of what it holds
	evCalm                       // turbulence is over
	evTick                       // calm: look whether anything is still open
)

// Run carries out a plan and returns what it came to. An error means that the plan or the configuration makes no sense
// and nothing was run; what a run finds is in its Result.
func Run(cfg Config) (*Result, error) {
	w, err := newWorld(&cfg)
	if err != nil {
		return nil, err
	}
	defer w.workspace.Close()
	w.run()
	return w.result(), nil
}

// newWorld checks the configuration, fills in what nil stands for, and makes the world at its start.
func newWorld(cfg *Config) (*World, error) {
	if cfg.Plan == nil {
		return nil, errors.New("cluster: Config.Plan is not set")
	}
	if cfg.Builds == nil {
		cfg.Builds = engine.ShippedBuilds()
	}
	shipped := cfg.Handlers == nil
	if shipped {
		cfg.Handlers = workload.Handlers
	}
	if err := cfg.Plan.Validate(plan.Known{Builds: cfg.Builds, Orchestrations: workload.Names()}); err != nil {
		return nil, err
	}
	w := &World{
		cfg: cfg, plan: cfg.Plan, builds: cfg.Builds, ctx: context.Background(), ackStep: -1, tokens: map[string]string{},
		shippedHandlers: shipped, workspace: replay.NewWorkspace(),
	}
	w.chooser = cfg.Chooser
	if w.chooser == nil {
		w.chooser = sim.Random(cfg.Seed)
	}
	if cfg.Recording != nil {
		w.chooser = sim.Record(w.chooser, cfg.Recording)
	}
	w.drawn = drawnFaults(&cfg.Plan.Faults)
	w.root = sim.RootKey(cfg.Recording != nil || cfg.Narrator != nil)
	budget := cfg.Plan.StepBudget
	if budget == 0 {
		budget = DefaultStepBudget
	}
	kernel, err := sim.New[event](sim.Options{Chooser: w.chooser, StepBudget: budget})
	if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	w.kernel = kernel
	w.start = kernel.Now()
	w.trace = sim.NewTrace()
	if cfg.KeepTrace {
		w.trace.Keep(func(index, sum uint64) { w.marks = append(w.marks, sim.Mark{Index: index, Sum: sum}) })
	}
	rules := faults.NewTables
	if cfg.Plan.Profile == plan.ProfileDuroxide {
		rules = faults.ProfileTables
	}
	if w.tables, err = rules(cfg.Plan.Bugs...); err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	w.store = memprovider.New(w.storeOptions())
	if err := w.makeNodes(); err != nil {
		return nil, err
	}
	if cfg.Monitor != nil {
		w.monitor = cfg.Monitor(w)
	}
	w.makeClients()
	return w, nil
}

func (w *World) storeOptions() memprovider.Options {
	return memprovider.Options{Sink: w, StartMs: w.start.Millis(), BeforeAckStep: w.beforeAckStep, Rules: w.tables.Provider}
}

// storeHandle is the store as one caller sees it, watched if the monitor wants that.
func (w *World) storeHandle(codec engine.Codec, caller engine.Caller) engine.Provider {
	p := w.store.Handle(codec, caller)
	if watcher, ok := w.monitor.(HandleWatcher); ok {
		return watcher.WatchHandle(p, codec)
	}
	return p
}

// Plan is the plan that is carried out.
func (w *World) Plan() *plan.Plan { return w.plan }

// Store is the store; monitors only read it.
func (w *World) Store() *memprovider.Store { return w.store }

// Nodes are all nodes in order of their numbers, from 1. The view is valid until the next event.
func (w *World) Nodes() []NodeInfo { return w.infos }

// Node is the node of a number, which must exist.
func (w *World) Node(number uint32) *NodeInfo { return &w.infos[number-1] }

// NowMs is the store's time.
func (w *World) NowMs() int64 { return w.kernel.Now().Millis() }

// StartMs is the store's time at the start of the run.
func (w *World) StartMs() int64 { return w.start.Millis() }

// Step is the number of steps so far.
func (w *World) Step() uint64 { return w.kernel.Steps() }

// Phase is the present phase.
func (w *World) Phase() Phase { return w.phase }

// Builds are the builds that the run knows.
func (w *World) Builds() []*engine.Build { return w.builds }

// since is the virtual time since the start of the run.
func (w *World) since() time.Duration { return w.kernel.Now().Sub(w.start) }

func (w *World) run() {
	w.begin()
	for !w.ended && w.advance() {
	}
	switch {
	case w.ended:
	case w.kernel.Exhausted():
		w.unfinished(ClassLiveness, "the step budget is used up after %d steps, in %s: something goes on for ever", w.kernel.Steps(), w.phase)
	default:
		w.unfinished(ClassInternal, "the event queue ran empty before the run had ended")
	}
	if w.monitor != nil {
		w.monitor.Finish()
	}
}

// advance carries out the next event; false means that there is none, or that the budget is used up.
func (w *World) advance() bool {
	e, ok := w.kernel.Next()
	if !ok {
		return false
	}
	w.store.SetNow(w.NowMs())
	w.changed = false
	w.handle(e)
	w.pump()
	if w.changed {
		w.kernel.Step()
		if w.monitor != nil {
			w.monitor.AfterStep()
		}
	}
	return true
}

// PropertyRunEnds is violated by a run that does not end by itself.
const PropertyRunEnds = "run-ends"

// unfinished reports that the run has not ended by itself.
func (w *World) unfinished(class Class, format string, args ...any) {
	w.internal = append(w.internal, Violation{
		Property: PropertyRunEnds, Class: class, Step: w.Step(), VirtualMs: w.NowMs() - w.StartMs(),
		Message: fmt.Sprintf(format, args...),
	})
}

// begin schedules all that the plan says, and the end of turbulence.
func (w *World) begin() {
	last := time.Duration(0)
	for i, s := range w.plan.Schedule {
		w.kernel.At(w.start.Add(s.At), w.root.At(labelSchedule), event{kind: evSchedule, node: w.number(s.Node), a: uint64(i)})
		last = max(last, s.At+s.For)
	}
	w.record(&Record{Kind: RecPhaseBegan, Phase: PhaseTurbulence})
	for _, n := range w.nodes {
		if !n.plan.Absent && !w.startsLater(n.plan) {
			w.startSoon(n)
		}
	}
	turbulence := max(last, w.beginClients()) + time.Second
	if w.plan.Turbulence > 0 {
		turbulence = w.plan.Turbulence
	}
	w.kernel.After(turbulence, w.root.At(labelPhase), event{kind: evCalm})
}

// handle carries out one event.
func (w *World) handle(e event) {
	switch e.kind {
	case evSchedule:
		w.onSchedule(&w.plan.Schedule[e.a])
	case evNodeStart:
		w.onNodeStart(w.nodes[e.node-1])
	case evTimer, evJob:
		w.onNodeEvent(e)
	case evRequest:
		w.onRequest(int(e.a))
	case evAnswer:
		w.onAnswer(e)
	case evDeadline:
		w.onDeadline(e)
	case evWake:
		w.onWake(int(e.a))
	case evVain:
		w.onVain(int(e.a))
	case evGroup:
		w.onGroup(w.groups[e.a])
	case evResume:
		w.onResume(w.nodes[e.node-1])
	case evKill:
		w.onKill(w.nodes[e.node-1], e.inc)
	case evInstance:
		w.onInstance(int(e.a), int(e.b))
	case evAction:
		w.onAction(int(e.a), e.b)
	case evKick:
		w.onKick(int(e.a))
	case evProbe:
		w.onProbe(int(e.a))
	case evProbeEnd:
		w.onProbeEnd(int(e.a), int(e.b))
	case evCalm:
		w.onCalm()
	case evTick:
		w.onTick()
	default:
		panic(fmt.Sprintf("cluster: event of kind %d", e.kind))
	}
}

// callDeadline is how long a caller waits for an answer before it takes the call for failed.
func (w *World) callDeadline(n *nodeState) time.Duration { return n.runningOptions.CallDeadline }

// DefaultStepBudget bounds a run whose plan names no budget: some hundred times what a run of a few dozen instances takes.
const DefaultStepBudget uint64 = 400_000

// never is the store time of what does not come by itself.
const never = memprovider.Never

// errDeadline is what a node is told when an answer is late or lost.
var errDeadline = engine.Retryablef("call", "no answer within the call deadline")
