package rig

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
	"github.com/durosim/durosim/internal/eventdata"
	"github.com/durosim/durosim/internal/machine"
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/internal/record"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/properties/internal/monitor"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// StartMs is the store time at which stories begin: not zero, as in real runs.
const StartMs = 1_000_000

// Rig feeds a monitor from a story, one command per line, each with its time in milliseconds:
//
//	0     up A 1.5.0 [range=2.0.0..2.9.0] [bare]   a node starts, bare without the handler H
//	0     down|crash|pause|resume|drain A
//	0     deregister A H@1.0.0                     a node loses a handler; "latest A" gives it H@2.0.0
//	0     seed x 1.5.0                             a running instance of that pin (none for unpinned)
//	0     damage x                                 its history holds a damaged event
//	0     start x / send x / cancel x / work x     a message or an activity is queued
//	10    fetch A x                                A receives what is visible, the counts go up
//	12    note A poison                            A decides about its last delivery
//	13    commit A [Completed|Failed]              its ack takes effect
//	13    abandon A 1000 [ignore]                  it gives the delivery back
//	30    phase calm|relief                        the present phase ends and another begins
//	31    tick                                     the world asks what is open
//	40    finish
//
// Messages of an instance are visible when they are sent. A fetch locks for 5 s.
type Rig struct {
	t     testing.TB
	w     *World
	M     *monitor.Monitor
	call  uint64
	names []string // instances by number - 1
	nodes []string
	rows  []rigRow
	held  map[string]*rigHeld // by node
	ticks []string
}

type rigRow struct {
	no       observe.MessageNo
	instance observe.InstanceNo
	worker   bool
	visible  int64
	count    uint32
}

type rigHeld struct {
	instance observe.InstanceNo
	rows     []observe.MessageNo
	token    string
	told     uint32
	worker   bool
}

func New(t testing.TB, plan plan.Plan, o monitor.Options) *Rig {
	w := &World{ThePlan: plan, Now: StartMs, RealStore: memprovider.New(memprovider.Options{}), AllBuilds: engine.ShippedBuilds()}
	r := &Rig{t: t, w: w, held: map[string]*rigHeld{}}
	for _, name := range []string{"A", "B", "C"} {
		w.Infos = append(w.Infos, cluster.NodeInfo{Number: uint32(len(w.Infos) + 1), Name: name, Options: node.DefaultOptions()})
		r.nodes = append(r.nodes, name)
	}
	r.M = monitor.New(w, o)
	r.M.Record(&cluster.Record{Kind: record.PhaseBegan})
	return r
}

// Tell runs a story and returns the violations as "property instance".
func (r *Rig) Tell(story string) []string {
	for _, line := range strings.Split(strings.TrimSpace(story), "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		at, err := strconv.ParseInt(words[0], 10, 64)
		if err != nil {
			r.t.Fatalf("line %q: %v", line, err)
		}
		r.w.Now = StartMs + at
		r.do(words[1], words[2:])
		r.M.AfterStep()
	}
	var found []string
	for _, v := range r.M.Violations() {
		found = append(found, strings.TrimSpace(v.Property+" "+v.Instance))
	}
	return found
}

func (r *Rig) Record(rec cluster.Record) {
	rec.AtMs = r.w.Now
	r.M.Record(&rec)
}

func (r *Rig) Observe(o observe.Observation) {
	o.AtMs = r.w.Now
	r.M.Observe(&o)
}

func (r *Rig) node(name string) uint32 { return uint32(slices.Index(r.nodes, name) + 1) }

func (r *Rig) Instance(name string) observe.InstanceNo {
	if i := slices.Index(r.names, name); i >= 0 {
		return observe.InstanceNo(i + 1)
	}
	r.names = append(r.names, name)
	no := observe.InstanceNo(len(r.names))
	r.Observe(observe.Observation{Kind: observe.InstanceNamed, Instance: no, Name: name})
	return no
}

func (r *Rig) do(verb string, args []string) {
	switch verb {
	case "up":
		r.up(args)
	case "down", "crash", "pause", "resume", "drain":
		info := r.w.Node(r.node(args[0]))
		kind := map[string]record.Kind{
			"down": record.NodeStopped, "crash": record.NodeCrashed, "pause": record.NodePaused,
			"resume": record.NodeResumed, "drain": record.NodeDraining,
		}[verb]
		r.Record(cluster.Record{Kind: kind, Node: info.Number, Incarnation: info.Incarnation})
	case "deregister", "latest":
		r.handlers(verb, args)
	case "seed":
		no := r.Instance(args[0])
		r.Observe(observe.Observation{Kind: observe.InstanceCreated, Instance: no, Execution: 1, Name: "H", Token: "1.0.0"})
		r.Observe(observe.Observation{Kind: observe.ExecutionCreated, Instance: no, Execution: 1, Status: engine.StatusRunning})
		if args[1] != "none" {
			pin := engine.MustParseVersion(args[1])
			r.Observe(observe.Observation{Kind: observe.PinSet, Instance: no, Execution: 1, Pin: &pin})
		}
		r.Observe(observe.Observation{Kind: observe.EventAppended, Instance: no, Execution: 1, EventID: 1, Bytes: []byte(`{"type":"OrchestrationStarted"}`)})
	case "damage":
		r.Observe(observe.Observation{Kind: observe.Damaged, Instance: r.Instance(args[0]), Execution: 1, EventID: 1, Bytes: []byte("?")})
	case "start":
		r.Insert(args[0], engine.StartItem{Instance: args[0], Orchestration: "H"})
	case "send":
		r.Insert(args[0], engine.ExternalRaisedItem{Instance: args[0], Name: "go"})
	case "cancel":
		r.Insert(args[0], engine.CancelInstanceItem{Instance: args[0]})
	case "work":
		r.Insert(args[0], engine.ActivityExecuteItem{Instance: args[0], ExecutionID: 1, ID: 2, Name: "W"})
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
		r.Record(cluster.Record{Kind: record.PhaseEnded, Phase: r.w.ThePhase})
		r.w.ThePhase = map[string]cluster.Phase{"calm": cluster.PhaseCalm, "relief": cluster.PhaseRelief}[args[0]]
		r.Record(cluster.Record{Kind: record.PhaseBegan, Phase: r.w.ThePhase})
	case "mark":
		r.Record(cluster.Record{Kind: record.Scheduled, Schedule: &plan.Step{Verb: plan.VerbMark, Mark: args[0]}})
	case "tick":
		open, until := r.M.Open(r.w.Now)
		r.ticks = append(r.ticks, fmt.Sprintf("%v %d", open, until-StartMs))
	case "finish":
		r.Record(cluster.Record{Kind: record.PhaseEnded, Phase: r.w.ThePhase})
		r.M.Finish()
	default:
		r.t.Fatalf("unknown command %q", verb)
	}
}

func (r *Rig) up(args []string) {
	info := r.w.Node(r.node(args[0]))
	for _, b := range r.w.AllBuilds {
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
	r.Record(cluster.Record{Kind: record.NodeStarted, Node: info.Number, Incarnation: info.Incarnation})
}

func (r *Rig) handlers(verb string, args []string) {
	info := r.w.Node(r.node(args[0]))
	rec := cluster.Record{Kind: record.HandlersChanged, Node: info.Number, Incarnation: info.Incarnation}
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
	r.Record(rec)
}

func (r *Rig) Insert(instance string, item engine.WorkItem) {
	row := rigRow{no: observe.MessageNo(len(r.rows) + 1), instance: r.Instance(instance), visible: r.w.Now}
	o := observe.Observation{Kind: observe.RowInserted, Queue: observe.QueueOrchestrator, Message: row.no, Instance: row.instance, Item: item, UntilMs: r.w.Now}
	if a, ok := item.(engine.ActivityExecuteItem); ok {
		row.worker, o.Queue, o.Execution, o.EventID = true, observe.QueueWorker, a.ExecutionID, a.ID
	}
	r.rows = append(r.rows, row)
	r.Observe(o)
}

func (r *Rig) begin(caller observe.Caller, kind observe.CallKind, req observe.CallRequest) {
	r.call++
	r.Record(cluster.Record{Kind: record.CallExecuting, Node: caller.Node, Incarnation: caller.Incarnation, Call: r.call, CallKind: kind, Slot: slotOf(kind)})
	r.Observe(observe.Observation{Kind: observe.CallBegin, Call: r.call, CallKind: kind, Caller: caller, Request: &req})
}

func slotOf(kind observe.CallKind) machine.Slot {
	if kind == observe.CallFetchWorkItem || kind == observe.CallAckWorkItem || kind == observe.CallAbandonWorkItem {
		return machine.Slot{Kind: machine.SlotWorker}
	}
	return machine.Slot{}
}

func (r *Rig) end(caller observe.Caller, kind observe.CallKind, o observe.Observation) {
	o.Kind, o.Call, o.CallKind, o.Caller, o.Outcome = observe.CallEnd, r.call, kind, caller, observe.OutcomeOK
	r.Observe(o)
	r.Record(cluster.Record{Kind: record.CallExecuted, Node: caller.Node, Incarnation: caller.Incarnation, Call: r.call, CallKind: kind, Slot: slotOf(kind), Outcome: observe.OutcomeOK})
}

func (r *Rig) caller(name string) observe.Caller {
	return observe.Caller{Node: r.node(name), Incarnation: r.w.Node(r.node(name)).Incarnation}
}

func (r *Rig) fetch(name, instance string, worker bool) {
	kind := observe.CallFetchOrchestrationItem
	if worker {
		kind = observe.CallFetchWorkItem
	}
	caller, no := r.caller(name), r.Instance(instance)
	r.begin(caller, kind, observe.CallRequest{Filter: r.w.Node(caller.Node).Filter})
	h := &rigHeld{instance: no, token: fmt.Sprintf("o%d", r.call), worker: worker}
	r.held[name] = h
	lock := observe.Observation{Kind: observe.LockTaken, Call: r.call, Queue: observe.QueueOrchestrator, Instance: no, Token: h.token, UntilMs: r.w.Now + 5000}
	if !worker {
		r.Observe(lock)
	}
	for i := range r.rows {
		row := &r.rows[i]
		if row.instance != no || row.worker != worker || row.visible > r.w.Now {
			continue
		}
		if worker {
			lock.Queue, lock.Message = observe.QueueWorker, row.no
			r.Observe(lock)
		} else {
			r.Observe(observe.Observation{Kind: observe.MessageMarked, Call: r.call, Message: row.no, Instance: no, Token: h.token})
		}
		r.Observe(observe.Observation{Kind: observe.CountChanged, Call: r.call, Queue: lock.Queue, Message: row.no, Instance: no, OldCount: row.count, NewCount: row.count + 1})
		row.count++
		h.rows = append(h.rows, row.no)
		h.told = max(h.told, row.count)
	}
	r.end(caller, kind, observe.Observation{Instance: no, Messages: h.rows, Token: h.token, NewCount: h.told})
}

func (r *Rig) note(name, decision string) {
	h := r.held[name]
	n := machine.Note{Token: h.token, Instance: r.names[h.instance-1], ExecutionID: 1, AttemptCount: h.told}
	if h.worker {
		n.Slot = machine.Slot{Kind: machine.SlotWorker}
	}
	for d := machine.DecideNone; d <= machine.DecideDrained; d++ {
		if d.String() == decision || d == machine.DecideTurn && decision == "first" {
			n.Decision = d
		}
	}
	if n.Decision == machine.DecideTurn {
		n.Turn = &machine.TurnNote{Handler: "H@1.0.0", Result: "Continue", First: decision == "first"}
	}
	c := r.caller(name)
	r.Record(cluster.Record{Kind: record.Note, Node: c.Node, Incarnation: c.Incarnation, Note: &n, Slot: n.Slot})
}

func (r *Rig) commit(name, status string) {
	h, caller := r.held[name], r.caller(name)
	ack := engine.OrchestrationAck{LockToken: h.token, ExecutionID: 1, HistoryDelta: []engine.Event{{EventID: 2, Data: eventdata.TimerCreated{}}}}
	kind, req := observe.CallAckOrchestrationItem, observe.CallRequest{Token: h.token, Ack: &ack}
	if h.worker {
		kind, req = observe.CallAckWorkItem, observe.CallRequest{Token: h.token}
	}
	r.begin(caller, kind, req)
	for _, no := range h.rows {
		r.remove(no)
	}
	if !h.worker {
		if status != "" {
			r.Observe(observe.Observation{Kind: observe.StatusSet, Call: r.call, Instance: h.instance, Execution: 1, Status: engine.Status(status)})
		}
		r.Observe(observe.Observation{Kind: observe.LockReleased, Call: r.call, Queue: observe.QueueOrchestrator, Instance: h.instance, Token: h.token})
	}
	r.end(caller, kind, observe.Observation{})
}

func (r *Rig) remove(no observe.MessageNo) {
	i := slices.IndexFunc(r.rows, func(row rigRow) bool { return row.no == no })
	row := r.rows[i]
	queue := observe.QueueOrchestrator
	if row.worker {
		queue = observe.QueueWorker
	}
	r.rows[i].instance = 0
	r.Observe(observe.Observation{Kind: observe.RowRemoved, Call: r.call, Queue: queue, Message: no, Instance: row.instance, Reason: observe.RemovedAcked})
}

func (r *Rig) abandon(name string, delay int64, ignore bool) {
	h, caller := r.held[name], r.caller(name)
	r.begin(caller, observe.CallAbandonOrchestrationItem, observe.CallRequest{Token: h.token, Delay: time.Duration(delay) * time.Millisecond, IgnoreAttempt: ignore})
	for i := range r.rows {
		row := &r.rows[i]
		if !slices.Contains(h.rows, row.no) {
			continue
		}
		if ignore {
			r.Observe(observe.Observation{Kind: observe.CountChanged, Call: r.call, Queue: observe.QueueOrchestrator, Message: row.no, Instance: h.instance, OldCount: row.count, NewCount: row.count - 1})
			row.count--
		}
		row.visible = r.w.Now + delay
		r.Observe(observe.Observation{Kind: observe.RowDelayed, Call: r.call, Queue: observe.QueueOrchestrator, Message: row.no, Instance: h.instance, UntilMs: row.visible})
	}
	r.Observe(observe.Observation{Kind: observe.LockReleased, Call: r.call, Queue: observe.QueueOrchestrator, Instance: h.instance, Token: h.token})
	r.end(caller, observe.CallAbandonOrchestrationItem, observe.Observation{})
}

// Repeat returns n copies of a block of a story. %d stands for the time, which starts at from and advances by every.
func Repeat(n int, from, every int64, block string) string {
	var b strings.Builder
	for i := range int64(n) {
		b.WriteString(strings.ReplaceAll(block, "%d", fmt.Sprint(from+i*every)) + "\n")
	}
	return b.String()
}

// PoisonCycle returns the story of n deliveries to A, each of which ends with the decision and is given back.
func PoisonCycle(n int, decision string) string {
	return Repeat(n, 10, 1000, "%d fetch A x\n%d note A "+decision+"\n%d abandon A 900")
}
