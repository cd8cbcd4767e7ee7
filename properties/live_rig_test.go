package properties

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// rigStart is the store time at which stories begin: as in a run, not zero.
const rigStart = 1_000_000

// liveWorld is a world of which a test says everything.
type liveWorld struct {
	plan   plan.Plan
	store  *memprovider.Store
	infos  []cluster.NodeInfo
	now    int64
	phase  cluster.Phase
	builds []*engine.Build
}

func (w *liveWorld) Plan() *plan.Plan                     { return &w.plan }
func (w *liveWorld) Store() *memprovider.Store            { return w.store }
func (w *liveWorld) Nodes() []cluster.NodeInfo            { return w.infos }
func (w *liveWorld) Node(number uint32) *cluster.NodeInfo { return &w.infos[number-1] }
func (w *liveWorld) NowMs() int64                         { return w.now }
func (w *liveWorld) StartMs() int64                       { return rigStart }
func (w *liveWorld) Step() uint64                         { return 0 }
func (w *liveWorld) Phase() cluster.Phase                 { return w.phase }
func (w *liveWorld) Builds() []*engine.Build              { return w.builds }

// liveRig tells a monitor a story, one command a line, each with its time in milliseconds:
//
//	0     up A 1.5.0 [range=2.0.0..2.9.0] [bare]   a node starts, bare without the handler H
//	0     down|crash|pause|resume|drain A
//	0     deregister A H@1.0.0                     a node loses a handler; "latest A" gives it H@2.0.0
//	0     seed x 1.5.0                             a running instance of that pin (none for unpinned)
//	0     damage x                                 its history holds a damaged event
//	0     start x / send x / cancel x / work x     a message or an activity is queued
//	10    fetch A x                                A is handed what is visible, its counts go up
//	12    note A poison                            A decides about what it was handed last
//	13    commit A [Completed|Failed]              its ack takes effect
//	13    abandon A 1000 [ignore]                  it gives it back
//	30    phase calm|relief                        the present phase ends and another begins
//	31    tick                                     the world asks what is open
//	40    finish
//
// All messages of an instance are visible when they are sent. A fetch locks for 5 s.
type liveRig struct {
	t     testing.TB
	w     *liveWorld
	m     *Monitor
	call  uint64
	names []string // instances by number - 1
	nodes []string
	rows  []rigRow
	held  map[string]*rigHeld // by node
	ticks []string
}

type rigRow struct {
	no       engine.MessageNo
	instance engine.InstanceNo
	worker   bool
	visible  int64
	count    uint32
}

type rigHeld struct {
	instance engine.InstanceNo
	rows     []engine.MessageNo
	token    string
	told     uint32
	worker   bool
}

func newLiveRig(t testing.TB, plan plan.Plan, o Options) *liveRig {
	w := &liveWorld{plan: plan, now: rigStart, store: memprovider.New(memprovider.Options{}), builds: engine.ShippedBuilds()}
	r := &liveRig{t: t, w: w, held: map[string]*rigHeld{}}
	for _, name := range []string{"A", "B", "C"} {
		w.infos = append(w.infos, cluster.NodeInfo{Number: uint32(len(w.infos) + 1), Name: name, Options: node.DefaultOptions()})
		r.nodes = append(r.nodes, name)
	}
	r.m = newMonitor(w, o)
	r.m.Record(&cluster.Record{Kind: cluster.RecPhaseBegan})
	return r
}

// tell carries out a story and returns the violations as "property instance".
func (r *liveRig) tell(story string) []string {
	for _, line := range strings.Split(strings.TrimSpace(story), "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		at, err := strconv.ParseInt(words[0], 10, 64)
		if err != nil {
			r.t.Fatalf("line %q: %v", line, err)
		}
		r.w.now = rigStart + at
		r.do(words[1], words[2:])
		r.m.AfterStep()
	}
	var found []string
	for _, v := range r.m.Violations() {
		found = append(found, strings.TrimSpace(v.Property+" "+v.Instance))
	}
	return found
}

func (r *liveRig) record(rec cluster.Record) {
	rec.AtMs = r.w.now
	r.m.Record(&rec)
}

func (r *liveRig) observe(o engine.Observation) {
	o.AtMs = r.w.now
	r.m.Observe(&o)
}

func (r *liveRig) node(name string) uint32 { return uint32(slices.Index(r.nodes, name) + 1) }

func (r *liveRig) instance(name string) engine.InstanceNo {
	if i := slices.Index(r.names, name); i >= 0 {
		return engine.InstanceNo(i + 1)
	}
	r.names = append(r.names, name)
	no := engine.InstanceNo(len(r.names))
	r.observe(engine.Observation{Kind: engine.ObsInstanceNamed, Instance: no, Name: name})
	return no
}

func (r *liveRig) do(verb string, args []string) {
	switch verb {
	case "up":
		r.up(args)
	case "down", "crash", "pause", "resume", "drain":
		info := r.w.Node(r.node(args[0]))
		kind := map[string]cluster.RecordKind{
			"down": cluster.RecNodeStopped, "crash": cluster.RecNodeCrashed, "pause": cluster.RecNodePaused,
			"resume": cluster.RecNodeResumed, "drain": cluster.RecNodeDraining,
		}[verb]
		r.record(cluster.Record{Kind: kind, Node: info.Number, Incarnation: info.Incarnation})
	case "deregister", "latest":
		r.handlers(verb, args)
	case "seed":
		no := r.instance(args[0])
		r.observe(engine.Observation{Kind: engine.ObsInstanceCreated, Instance: no, Execution: 1, Name: "H", Token: "1.0.0"})
		r.observe(engine.Observation{Kind: engine.ObsExecutionCreated, Instance: no, Execution: 1, Status: engine.StatusRunning})
		if args[1] != "none" {
			pin := engine.MustParseVersion(args[1])
			r.observe(engine.Observation{Kind: engine.ObsPinSet, Instance: no, Execution: 1, Pin: &pin})
		}
		r.observe(engine.Observation{Kind: engine.ObsEventAppended, Instance: no, Execution: 1, EventID: 1, Bytes: []byte(`{"type":"OrchestrationStarted"}`)})
	case "damage":
		r.observe(engine.Observation{Kind: engine.ObsDamaged, Instance: r.instance(args[0]), Execution: 1, EventID: 1, Bytes: []byte("?")})
	case "start":
		r.insert(args[0], engine.StartItem{Instance: args[0], Orchestration: "H"})
	case "send":
		r.insert(args[0], engine.ExternalRaisedItem{Instance: args[0], Name: "go"})
	case "cancel":
		r.insert(args[0], engine.CancelInstanceItem{Instance: args[0]})
	case "work":
		r.insert(args[0], engine.ActivityExecuteItem{Instance: args[0], ExecutionID: 1, ID: 2, Name: "W"})
	case "fetch":
		r.fetch(args[0], args[1], false)
	case "fetchwork":
		r.fetch(args[0], args[1], true)
	case "note":
		r.note(args[0], args[1])
	case "commit":
		r.commit(args[0], append(args, "")[1])
	case "renew":
		r.renew(args[0])
	case "abandon":
		delay, _ := strconv.ParseInt(args[1], 10, 64)
		r.abandon(args[0], delay, len(args) > 2)
	case "phase":
		r.record(cluster.Record{Kind: cluster.RecPhaseEnded, Phase: r.w.phase})
		r.w.phase = map[string]cluster.Phase{"calm": cluster.PhaseCalm, "relief": cluster.PhaseRelief}[args[0]]
		r.record(cluster.Record{Kind: cluster.RecPhaseBegan, Phase: r.w.phase})
	case "mark":
		r.record(cluster.Record{Kind: cluster.RecScheduled, Schedule: &plan.Step{Verb: plan.VerbMark, Mark: args[0]}})
	case "tick":
		open, until := r.m.Open(r.w.now)
		r.ticks = append(r.ticks, fmt.Sprintf("%v %d", open, until-rigStart))
	case "finish":
		r.record(cluster.Record{Kind: cluster.RecPhaseEnded, Phase: r.w.phase})
		r.m.Finish()
	default:
		r.t.Fatalf("unknown command %q", verb)
	}
}

func (r *liveRig) up(args []string) {
	info := r.w.Node(r.node(args[0]))
	for _, b := range r.w.builds {
		if b.Name() == args[1] {
			info.Build = b
		}
	}
	info.Incarnation++
	info.Up, info.Core = true, true
	info.Registry = node.NewRegistry()
	bare := false
	for _, a := range args[2:] {
		if text, ok := strings.CutPrefix(a, "range="); ok {
			low, high, _ := strings.Cut(text, "..")
			info.Options.SupportedReplayVersions = &engine.VersionRange{Min: engine.MustParseVersion(low), Max: engine.MustParseVersion(high)}
		}
		bare = bare || a == "bare"
	}
	if !bare {
		h := func(*orch.Context, string) (string, error) { return "", nil }
		if err := info.Registry.Register("H", engine.V(1, 0, 0), h); err != nil {
			r.t.Fatal(err)
		}
		if err := info.Registry.RegisterActivity("W", func(node.ActivityContext, string) (string, error) { return "", nil }); err != nil {
			r.t.Fatal(err)
		}
	}
	info.Filter = engine.FilterFor(info.Options.Range(info.Build))
	r.record(cluster.Record{Kind: cluster.RecNodeStarted, Node: info.Number, Incarnation: info.Incarnation})
}

func (r *liveRig) handlers(verb string, args []string) {
	info := r.w.Node(r.node(args[0]))
	rec := cluster.Record{Kind: cluster.RecHandlersChanged, Node: info.Number, Incarnation: info.Incarnation}
	if verb == "latest" {
		h := func(*orch.Context, string) (string, error) { return "", nil }
		if err := info.Registry.Register("H", engine.V(2, 0, 0), h); err != nil {
			r.t.Fatal(err)
		}
		rec.Text = "H@2.0.0 is registered"
	} else {
		info.Registry.Deregister("H", engine.V(1, 0, 0))
		rec.Text = args[1] + " is deregistered"
	}
	r.record(rec)
}

func (r *liveRig) insert(instance string, item engine.WorkItem) {
	row := rigRow{no: engine.MessageNo(len(r.rows) + 1), instance: r.instance(instance), visible: r.w.now}
	o := engine.Observation{Kind: engine.ObsRowInserted, Queue: engine.QueueOrchestrator, Message: row.no, Instance: row.instance, Item: item, UntilMs: r.w.now}
	if a, ok := item.(engine.ActivityExecuteItem); ok {
		row.worker, o.Queue, o.Execution, o.EventID = true, engine.QueueWorker, a.ExecutionID, a.ID
	}
	r.rows = append(r.rows, row)
	r.observe(o)
}

func (r *liveRig) begin(caller engine.Caller, kind engine.CallKind, req engine.CallRequest) {
	r.call++
	r.record(cluster.Record{Kind: cluster.RecCallExecuting, Node: caller.Node, Incarnation: caller.Incarnation, Call: r.call, CallKind: kind, Slot: slotOf(kind)})
	r.observe(engine.Observation{Kind: engine.ObsCallBegin, Call: r.call, CallKind: kind, Caller: caller, Request: &req})
}

func slotOf(kind engine.CallKind) node.Slot {
	if kind == engine.CallFetchWorkItem || kind == engine.CallAckWorkItem || kind == engine.CallAbandonWorkItem {
		return node.Slot{Kind: node.SlotWorker}
	}
	return node.Slot{}
}

func (r *liveRig) end(caller engine.Caller, kind engine.CallKind, o engine.Observation) {
	o.Kind, o.Call, o.CallKind, o.Caller, o.Outcome = engine.ObsCallEnd, r.call, kind, caller, engine.OutcomeOK
	r.observe(o)
	r.record(cluster.Record{Kind: cluster.RecCallExecuted, Node: caller.Node, Incarnation: caller.Incarnation, Call: r.call, CallKind: kind, Slot: slotOf(kind), Outcome: engine.OutcomeOK})
}

func (r *liveRig) caller(name string) engine.Caller {
	return engine.Caller{Node: r.node(name), Incarnation: r.w.Node(r.node(name)).Incarnation}
}

func (r *liveRig) fetch(name, instance string, worker bool) {
	kind := engine.CallFetchOrchestrationItem
	if worker {
		kind = engine.CallFetchWorkItem
	}
	caller, no := r.caller(name), r.instance(instance)
	r.begin(caller, kind, engine.CallRequest{Filter: r.w.Node(caller.Node).Filter})
	h := &rigHeld{instance: no, token: fmt.Sprintf("o%d", r.call), worker: worker}
	r.held[name] = h
	lock := engine.Observation{Kind: engine.ObsLockTaken, Call: r.call, Queue: engine.QueueOrchestrator, Instance: no, Token: h.token, UntilMs: r.w.now + 5000}
	if !worker {
		r.observe(lock)
	}
	for i := range r.rows {
		row := &r.rows[i]
		if row.instance != no || row.worker != worker || row.visible > r.w.now {
			continue
		}
		if worker {
			lock.Queue, lock.Message = engine.QueueWorker, row.no
			r.observe(lock)
		} else {
			r.observe(engine.Observation{Kind: engine.ObsMessageMarked, Call: r.call, Message: row.no, Instance: no, Token: h.token})
		}
		r.observe(engine.Observation{Kind: engine.ObsCountChanged, Call: r.call, Queue: lock.Queue, Message: row.no, Instance: no, OldCount: row.count, NewCount: row.count + 1})
		row.count++
		h.rows = append(h.rows, row.no)
		h.told = max(h.told, row.count)
	}
	r.end(caller, kind, engine.Observation{Instance: no, Messages: h.rows, Token: h.token, NewCount: h.told})
}

func (r *liveRig) note(name, decision string) {
	h := r.held[name]
	n := node.Note{Token: h.token, Instance: r.names[h.instance-1], ExecutionID: 1, AttemptCount: h.told}
	if h.worker {
		n.Slot = node.Slot{Kind: node.SlotWorker}
	}
	for d := node.DecideNone; d <= node.DecideDrained; d++ {
		if d.String() == decision || d == node.DecideTurn && decision == "first" {
			n.Decision = d
		}
	}
	if n.Decision == node.DecideTurn {
		n.Turn = &node.TurnNote{Handler: "H@1.0.0", Result: "Continue", First: decision == "first"}
	}
	c := r.caller(name)
	r.record(cluster.Record{Kind: cluster.RecNote, Node: c.Node, Incarnation: c.Incarnation, Note: &n, Slot: n.Slot})
}

func (r *liveRig) commit(name, status string) {
	h, caller := r.held[name], r.caller(name)
	ack := engine.OrchestrationAck{LockToken: h.token, ExecutionID: 1, HistoryDelta: []engine.Event{{EventID: 2, Data: engine.TimerCreated{}}}}
	kind, req := engine.CallAckOrchestrationItem, engine.CallRequest{Token: h.token, Ack: &ack}
	if h.worker {
		kind, req = engine.CallAckWorkItem, engine.CallRequest{Token: h.token}
	}
	r.begin(caller, kind, req)
	for _, no := range h.rows {
		r.remove(no)
	}
	if !h.worker {
		if status != "" {
			r.observe(engine.Observation{Kind: engine.ObsStatusSet, Call: r.call, Instance: h.instance, Execution: 1, Status: engine.Status(status)})
		}
		r.observe(engine.Observation{Kind: engine.ObsLockReleased, Call: r.call, Queue: engine.QueueOrchestrator, Instance: h.instance, Token: h.token})
	}
	r.end(caller, kind, engine.Observation{})
}

func (r *liveRig) remove(no engine.MessageNo) {
	i := slices.IndexFunc(r.rows, func(row rigRow) bool { return row.no == no })
	row := r.rows[i]
	queue := engine.QueueOrchestrator
	if row.worker {
		queue = engine.QueueWorker
	}
	r.rows[i].instance = 0
	r.observe(engine.Observation{Kind: engine.ObsRowRemoved, Call: r.call, Queue: queue, Message: no, Instance: row.instance, Reason: engine.RemovedAcked})
}

func (r *liveRig) abandon(name string, delay int64, ignore bool) {
	h, caller := r.held[name], r.caller(name)
	r.begin(caller, engine.CallAbandonOrchestrationItem, engine.CallRequest{Token: h.token, Delay: time.Duration(delay) * time.Millisecond, IgnoreAttempt: ignore})
	for i := range r.rows {
		row := &r.rows[i]
		if !slices.Contains(h.rows, row.no) {
			continue
		}
		if ignore {
			r.observe(engine.Observation{Kind: engine.ObsCountChanged, Call: r.call, Queue: engine.QueueOrchestrator, Message: row.no, Instance: h.instance, OldCount: row.count, NewCount: row.count - 1})
			row.count--
		}
		row.visible = r.w.now + delay
		r.observe(engine.Observation{Kind: engine.ObsRowDelayed, Call: r.call, Queue: engine.QueueOrchestrator, Message: row.no, Instance: h.instance, UntilMs: row.visible})
	}
	r.observe(engine.Observation{Kind: engine.ObsLockReleased, Call: r.call, Queue: engine.QueueOrchestrator, Instance: h.instance, Token: h.token})
	r.end(caller, engine.CallAbandonOrchestrationItem, engine.Observation{})
}
