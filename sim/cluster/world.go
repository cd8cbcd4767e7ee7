package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/watchdog"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/internal/kernel"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/record"
	"github.com/durosim/durosim/sim/workload"
)

// World is a run in progress, as seen by a monitor.
type World struct {
	*base
	fleet       *fleet       // the nodes
	network     *network     // the nodes' calls, in transit and at the store
	parking     *parking     // fetches that wait for work
	clients     *clients     // start instances and send them events
	probes      *probes      // make calls that no node makes
	phases      *phases      // the fault phase, recovery, rescue
	deadLetters *deadLetters // the dead-letter policy, or nil
	seen        int          // how many violations Config.Stop has been asked about
	watch       *watchdog.Watch
	finished    bool // the run has reached its end, and its work can be judged
}

// Run carries out a plan and returns the result. It returns an error if the plan or the configuration is invalid, or if
// a released runtime fails. Violations are not errors; they are part of the Result.
//
// If code does not come back (see watchdog), this violates "handler-returns", of class handler, and the result says no
// more than that.
func Run(cfg Config) (r *Result, err error) {
	limit, err := watchdog.Limit()
	if err != nil {
		return nil, err
	}
	var w *World
	watch := &watchdog.Watch{}
	stuck := watch.Guard(limit, func() {
		if w, err = newWorld(&cfg); err == nil {
			w.watch = watch
			w.fleet.arena.nodes.Watch(watch)
			r, err = w.toEnd()
		}
	})
	if stuck != nil {
		return w.givenUp(stuck), nil
	}
	return r, err
}

func (w *World) toEnd() (*Result, error) {
	defer w.fleet.close()
	defer w.foreign.close()
	if w.run(); w.failure != nil {
		return nil, fmt.Errorf("cluster: seed %d: %w", w.cfg.Seed, w.failure)
	}
	return w.result(), nil
}

// newWorld validates the configuration, fills in defaults and makes the initial world.
func newWorld(cfg *Config) (*World, error) {
	if cfg.Plan == nil {
		return nil, errors.New("cluster: Config.Plan is not set")
	}
	arena := cfg.Arena.begin()
	if cfg.Builds == nil {
		cfg.Builds = arena.builds
	}
	shipped := cfg.Handlers == nil
	if shipped {
		cfg.Handlers = workload.Handlers
	}
	registers := func(handler string) bool {
		return (&fleet{base: &base{cfg: cfg}}).ship(node.NewRegistry(), handler) == nil
	}
	if err := cfg.Plan.Validate(plan.Known{Builds: cfg.Builds, Orchestrations: arena.names, Registers: registers}); err != nil {
		return nil, err
	}
	if released := cfg.Plan.Releases(); len(released) > 0 {
		if cfg.Releases == nil {
			return nil, errors.New("cluster: the plan has nodes that run a released runtime, and Config.Releases is not set")
		}
		for _, b := range released {
			if err := cfg.Releases.Check(b); err != nil {
				return nil, err
			}
		}
		cfg.Builds = append(slices.Clone(cfg.Builds), released...)
	}
	builds, err := cfg.Plan.AllBuilds(cfg.Builds)
	if err != nil {
		return nil, err // already checked by Validate
	}
	chooser := cfg.Chooser
	if chooser == nil {
		chooser = sim.Random(cfg.Seed)
	}
	if cfg.Recording != nil {
		chooser = sim.Record(chooser, cfg.Recording)
	}
	many := max(len(cfg.Plan.Instances)+len(cfg.Plan.Histories)-fewInstances, 0)
	budget := cmp.Or(cfg.Plan.StepBudget, defaultStepBudget+stepsEach*uint64(many))
	kernel, err := kernel.New[event](kernel.Options{Chooser: chooser, StepBudget: budget, Start: cfg.Start})
	if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	planted, err := faults.Plant(string(cfg.Plan.Profile), cfg.Plan.Bugs...)
	if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	w := &World{base: &base{
		journal: newJournal(kernel, cfg.KeepTrace), cfg: cfg, plan: cfg.Plan, builds: builds, ctx: context.Background(), chooser: chooser,
		root: sim.RootKey(cfg.Recording != nil || cfg.Narrator != nil), planted: planted, drawn: drawnFaults(&cfg.Plan.Faults), ackStep: -1,
	}}
	w.storeHandle, w.base.carryOut = w.handleOf, w.handle
	w.connect(arena, shipped)
	if cfg.Narrator != nil {
		w.narrator = &narrator{base: w.base, tokens: map[string]string{}}
	}
	if err := w.openStore(&arena.store); err != nil {
		return nil, err
	}
	if err := w.fleet.makeNodes(); err != nil {
		w.foreign.close()
		return nil, err
	}
	if cfg.Monitor != nil {
		w.monitor = cfg.Monitor(w)
	}
	w.clients.connect()
	w.openDeadLetters()
	return w, nil
}

// connect makes the parts, and gives each the parts that it needs.
func (w *World) connect(arena *Arena, shipped bool) {
	b := w.base
	w.clients, w.probes = &clients{base: b}, &probes{base: b}
	w.fleet = &fleet{base: b, ownRules: map[observe.Caller]*memprovider.Rules{}, shippedHandlers: shipped, arena: arena, executions: map[string]*executionTurns{}}
	if rules := b.planted.For("", b.plan.Clients).Provider; rules != b.planted.For("", "").Provider {
		w.fleet.ownRules[observe.Caller{}] = rules // clients use the provider code of their own build
	}
	schemas := slices.ContainsFunc(b.plan.Builds, func(d plan.Build) bool { return d.Schema != nil || d.AwaitsActivation })
	w.fleet.schema = &schema{base: b, fleet: w.fleet, used: schemas, failed: map[uint64]uint64{}}
	w.network = &network{base: b, calls: &arena.calls, fleet: w.fleet, clients: w.clients}
	w.network.calls.keep = w.plan.Store.Serial > 0
	w.parking = &parking{base: b, network: w.network}
	w.network.parking = w.parking
	w.fleet.network, w.fleet.parking = w.network, w.parking
	w.phases = &phases{base: b, fleet: w.fleet, parking: w.parking, clients: w.clients}
}

// handleOf returns a caller's handle to the store, wrapped by the monitor if the monitor is a HandleWatcher.
func (w *World) handleOf(codec engine.Codec, caller observe.Caller) engine.Provider {
	p := w.store.Handle(codec, caller)
	if w.foreign != nil {
		p = w.foreign.handle(codec, p)
	}
	if w.plan.Store.CallersClock {
		p = w.byClock(p, caller)
	}
	if w.deadLetters != nil && caller.Node != 0 {
		p = w.deadLetters.queue.Watch(p)
	}
	if w.foreign != nil {
		return p
	}
	return WatchHandle(w.monitor, p, codec)
}

// openStore makes the run's own store and, if Config.Store is set, the store that it follows.
func (w *World) openStore(arena *memprovider.Arena) error {
	o := memprovider.Options{Sink: w.network, StartMs: w.startMs(), Arena: arena}
	if w.cfg.Store == nil {
		o.BeforeAckStep, o.CallersClock, o.Plain = w.network.beforeAckStep, w.plan.Store.CallersClock, w.plan.Store.Plain
		o.Rules, o.RulesOf = w.planted.For("", "").Provider, func(c observe.Caller) *memprovider.Rules { return w.fleet.ownRules[c] }
	}
	w.store = memprovider.New(o)
	w.store.SetSchema(w.plan.FirstSchema())
	if w.cfg.Store == nil {
		return nil
	}
	return w.openForeign()
}

// Foreign reports whether the nodes use a store from Config.Store.
func (w *World) Foreign() bool { return w.foreign != nil }

// Plan returns the plan being carried out.
func (w *World) Plan() *plan.Plan { return w.plan }

// Store returns a read-only view of the store.
func (w *World) Store() memprovider.View { return w.store.View() }

// MonitorArena returns a place in the run's Arena where the monitor may leave something for the next run's monitor.
func (w *World) MonitorArena() *any { return &w.fleet.arena.monitor }

// Watch returns what sees the code of the run. A monitor that runs code, too, lets it see that.
func (w *World) Watch() *watchdog.Watch { return w.watch }

// Nodes returns all nodes, ordered by number. The slice is valid until the next event.
func (w *World) Nodes() []NodeInfo { return w.infos }

// Node returns the node with the given number, which must exist.
func (w *World) Node(number uint32) *NodeInfo { return w.node(number) }

// NowMs returns the store's time.
func (w *World) NowMs() int64 { return w.nowMs() }

// StartMs returns the store's time at the start of the run.
func (w *World) StartMs() int64 { return w.startMs() }

// Seed returns the run's seed.
func (w *World) Seed() uint64 { return w.cfg.Seed }

// Step returns the number of steps so far.
func (w *World) Step() uint64 { return w.steps() }

// Phase returns the current phase.
func (w *World) Phase() Phase { return w.phase }

// Preloaded returns the instances that were written to the store without a call, so far.
func (w *World) Preloaded() []memprovider.PreloadedInstance { return w.preloaded }

// Builds returns the builds known to the run.
func (w *World) Builds() []*engine.Build { return w.builds }

func (w *World) run() {
	w.begin()
	for !w.ended && w.failure == nil && !w.foreign.gone() && !w.stopped() && w.advance() {
	}
	switch {
	case w.failure != nil, w.stopped():
		return
	case w.foreign.gone():
		return // monitors would report unfinished work as violations
	case w.ended:
	case w.kernel.Exhausted():
		w.violated(Violation{Property: PropertyRunEnds, Class: ClassLiveness, Message: fmt.Sprintf(
			"durosim's budget is used up after %d steps, in %s: the code or the store goes on for ever, or the run is too long (\"until\" or a shorter schedule ends it sooner, and \"budget %d steps\" later)",
			w.kernel.Steps(), w.phase, 10*w.kernel.Steps())})
	default:
		w.violated(Violation{Property: PropertyRunEnds, Class: ClassInternal, Message: "the event queue ran empty before the run had ended"})
	}
	w.finished = true
	if w.monitor != nil {
		w.monitor.Finish()
	}
}

// TooLong reports whether the run was ended because it does not end by itself ("run-ends").
func (w *World) TooLong() bool {
	return slices.ContainsFunc(w.internal, func(v Violation) bool { return v.Property == PropertyRunEnds })
}

// stopped reports whether the monitor has found a violation at which the run is to stop.
func (w *World) stopped() bool {
	if w.cfg.Stop == nil || w.monitor == nil {
		return false
	}
	found := w.monitor.Violations()
	for ; w.seen < len(found); w.seen++ {
		if w.cfg.Stop(found[w.seen]) {
			return true
		}
	}
	return false
}

// advance carries out the next event. It returns false if there is none or the step budget is used up.
func (w *World) advance() bool {
	e, ok := w.kernel.Next()
	if !ok {
		return false
	}
	if ms := w.kernel.Now().Millis(); ms != w.ms || w.plan.Store.CallersClock {
		w.ms = ms
		w.store.SetNow(w.fleet.storeMs())
	}
	w.changed = false
	w.handle(e)
	w.parking.pump()
	w.deadLetters.arm()
	if w.changed {
		w.kernel.Step()
		if w.monitor != nil {
			w.monitor.AfterStep()
		}
	}
	return true
}

// begin schedules everything in the plan, and the end of the fault phase.
func (w *World) begin() {
	last := time.Duration(0)
	for i, s := range w.plan.Schedule {
		w.kernel.At(w.start.Add(s.At), w.root.At(labelSchedule), event{kind: evSchedule, node: w.number(s.Node), a: uint64(i)})
		last = max(last, s.At+s.For+w.fleet.schema.lasts(&s))
	}
	w.record(&Record{Kind: record.PhaseBegan, Phase: PhaseFaults})
	for _, n := range w.fleet.list {
		if !n.plan.Absent && !w.plan.StartsLater(n.plan.Name) {
			w.fleet.startSoon(n)
		}
	}
	w.clients.begin()
	for i := range w.plan.Probes {
		w.clients.last = max(w.clients.last, w.probes.begin(i))
	}
	end := max(last, w.clients.last) + time.Second
	if w.plan.FaultPhase > 0 {
		end = w.plan.FaultPhase
	}
	w.kernel.After(end, w.root.At(labelPhase), event{kind: evRecovery})
	if w.plan.Until > 0 {
		w.kernel.After(w.plan.Until, w.root.At(labelUntil), event{kind: evUntil})
	}
}

func (w *World) handle(e event) { handlers[e.kind](w, e) }

// handlers says, by kind, which part carries out an event.
var handlers = [...]func(w *World, e event){
	evSchedule:    func(w *World, e event) { w.fleet.onSchedule(&w.plan.Schedule[e.a]) },
	evNodeStart:   func(w *World, e event) { w.fleet.onNodeStart(w.fleet.list[e.node-1]) },
	evTimer:       func(w *World, e event) { w.fleet.onNodeEvent(e) },
	evJob:         func(w *World, e event) { w.fleet.onNodeEvent(e) },
	evRequest:     func(w *World, e event) { w.network.onRequest(w.network.calls.at(e.a)) },
	evInside:      func(w *World, e event) { w.network.onInside(w.network.calls.at(e.a)) },
	evReply:       func(w *World, e event) { w.network.onReply(w.network.calls.at(e.a)) },
	evManage:      func(w *World, e event) { w.clients.waiting[e.a]() },
	evServed:      func(w *World, e event) { w.network.onServed() },
	evAnswer:      func(w *World, e event) { w.network.onAnswer(e) },
	evDeadline:    func(w *World, e event) { w.network.onDeadline(e) },
	evWake:        func(w *World, e event) { w.parking.onWake(w.network.calls.at(e.a)) },
	evEmptyPoll:   func(w *World, e event) { w.parking.onEmptyPoll(w.network.calls.at(e.a)) },
	evGroup:       func(w *World, e event) { w.parking.onGroup(w.parking.groups[e.a]) },
	evResume:      func(w *World, e event) { w.fleet.changed = true; w.fleet.resume(w.fleet.list[e.node-1]) },
	evKill:        func(w *World, e event) { w.fleet.onKill(w.fleet.list[e.node-1], e.inc) },
	evActivate:    func(w *World, e event) { w.fleet.schema.onActivate(e.node) },
	evInstance:    func(w *World, e event) { w.clients.onInstance(int(e.a), int(e.b)) },
	evAction:      func(w *World, e event) { w.clients.onAction(int(e.a), e.b) },
	evKick:        func(w *World, e event) { w.clients.onKick(int(e.a)) },
	evProbe:       func(w *World, e event) { w.probes.onProbe(int(e.a)) },
	evProbeEnd:    func(w *World, e event) { w.probes.onProbeEnd(int(e.a), int(e.b)) },
	evRecovery:    func(w *World, e event) { w.phases.onRecovery() },
	evTick:        func(w *World, e event) { w.phases.onTick() },
	evUntil:       func(w *World, e event) { w.phases.onUntil() },
	evDeadLetters: func(w *World, e event) { w.deadLetters.onLook() },
}

// defaultStepBudget is the budget of a run whose plan sets none. It is about a hundred times the number of steps that a
// run with a few dozen instances takes. Each instance beyond fewInstances adds stepsEach, about forty times the number
// of steps that one instance takes.
const (
	defaultStepBudget uint64 = 400_000
	stepsEach         uint64 = 5_000
	fewInstances             = 64
)
