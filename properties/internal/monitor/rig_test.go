package monitor_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/internal/rig"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/properties/internal/monitor"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/record"
)

// Rig feeds a monitor from a story, which has one command per line. A command starts with its time in milliseconds, unless
// it takes place at that of the command before:
//
//	0     up A 1.5.0 [range=2.0.0..2.9.0] [bare]   a node starts; if bare, without the handler H
//	0     down|crash|pause|resume|drain A
//	0     deregister A H@1.0.0                     a node loses a handler; "latest A" gives it H@2.0.0
//	0     seed x 1.5.0                             a running instance with that pin (none for unpinned)
//	0     damage x                                 its history has a damaged event
//	0     start x / send x / cancel x / work x     a message or an activity is queued
//	10    fetch|fetchwork A x [filter=none]        A receives the visible messages, whose attempts go up; see fetch
//	12    note A poison [attempt=3] [dropped=0:RULE]   A decides about its last delivery; see note
//	12    renew A                                  A extends the lock of its last delivery by 5 s
//	13    commit A [Completed|Failed]              its ack takes effect; for an activity, "told" sends the result; for a
//	                                               turn, "cancels" cancels the instance's activities; with "nothing",
//	                                               the store reports success, but has done nothing
//	13    commit A [STATUS] [EVENTS and MESSAGES]  an ack with these, in an exact story; see ackOf for its options
//	13    abandon A [1000] [ignore]                A abandons the delivery
//	30    phase recovery|rescue                        the current phase ends and another begins
//	31    tick                                     the world asks for open obligations, which are printed
//	40    finish
//
// The other commands are documented at the method other, and single observations in rigraw_test.go.
//
// Messages to an instance are visible at once. A fetch locks for 5 s. A line that is not about a node's last delivery says
// which it is about: token=o7.
type Rig struct {
	t     testing.TB
	w     *rig.FakeWorld
	M     *monitor.Monitor
	call  uint64
	names []string // instances, indexed by number - 1
	nodes []string
	rows  int                 // messages and activities so far
	held  map[string]*rigHeld // by node
	index int                 // index of the loop that calls and notes come from
	line  string

	// see rigraw_test.go
	exact  bool
	open   observe.Observation // fields of the current call; its Call is 0 outside calls
	token  map[string]int      // the numbers of an exact story's tokens: o1, o2, w1
	tokens map[string]*rigHeld
	asked  map[string]uint64 // the number of each node's last fetch
	// Shows has additional commands, each of which returns the text to print. Out has the lines printed so far.
	Shows map[string]func(words []string) string
	Out   []string
}

type rigHeld struct {
	instance observe.InstanceNo
	rows     []observe.MessageNo
	token    string
	told     uint32
	worker   bool
	ack      uint64                   // the number of the ack call, or 0 before the ack is sent
	written  *engine.OrchestrationAck // the contents of a turn's ack, if the story gives them
}

func New(t testing.TB, plan plan.Plan, o monitor.Options) *Rig {
	return newOf(t, plan, o, engine.ShippedBuilds(), []string{"A", "B", "C"})
}

func newOf(t testing.TB, plan plan.Plan, o monitor.Options, builds []*engine.Build, nodes []string) *Rig {
	w := &rig.FakeWorld{ThePlan: plan, Now: rig.StartMs, RealStore: memprovider.New(memprovider.Options{}), AllBuilds: builds}
	r := &Rig{t: t, w: w, held: map[string]*rigHeld{}, token: map[string]int{}, tokens: map[string]*rigHeld{}, asked: map[string]uint64{}}
	for _, name := range nodes {
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
		r.line = line
		if at, err := strconv.ParseInt(words[0], 10, 64); err == nil {
			r.w.Now, words = rig.StartMs+at, words[1:]
		}
		if len(words) > 0 {
			r.do(words[0], words[1:])
		}
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

// node returns a node's number, or 0 for any other name. A' stands for A too, but has a separate last delivery.
func (r *Rig) node(name string) uint32 {
	return uint32(slices.Index(r.nodes, strings.TrimSuffix(name, "'")) + 1)
}

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
	r.w.Steps++
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
		name := "H"
		if r.exact {
			name = "Order"
		}
		for _, line := range []string{"create %s " + name + "@1.0.0 1", "execution %s", "pin %s " + args[1], "event %s 1:OrchestrationStarted"} {
			if f := strings.Fields(fmt.Sprintf(line, args[0])); f[len(f)-1] != "none" {
				r.rawly(f[0], f[1:])
			}
		}
	case "start":
		r.put(start(options(args)))
	case "send":
		r.put(engine.ExternalRaisedItem{Instance: args[0], Name: "go"})
	case "cancel":
		r.put(engine.CancelInstanceItem{Instance: args[0]})
	case "work":
		r.put(activity(options(args)))
	case "fetch":
		r.fetch(args[0], args[1], false, args[2:]...)
	case "fetchwork":
		r.fetch(args[0], args[1], true, args[2:]...)
	case "note":
		r.note(args[0], args[1], args[2:]...)
	case "commit":
		r.commit(args[0], args[1:])
	case "renew":
		r.renew(args[0])
	case "abandon":
		r.abandon(args[0], args[1:])
	case "phase":
		r.Record(cluster.Record{Kind: record.PhaseEnded, Phase: r.w.ThePhase})
		r.w.ThePhase = map[string]cluster.Phase{"recovery": cluster.PhaseRecovery, "rescue": cluster.PhaseRescue}[args[0]]
		r.Record(cluster.Record{Kind: record.PhaseBegan, Phase: r.w.ThePhase})
	case "mark":
		r.Record(cluster.Record{Kind: record.Scheduled, Schedule: &plan.Step{Verb: plan.VerbMark, Mark: args[0]}})
	case "finish":
		r.Record(cluster.Record{Kind: record.PhaseEnded, Phase: r.w.ThePhase})
		r.M.Finish()
	default:
		if !r.rawly(verb, args) {
			r.other(verb, args)
		}
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
	info.Options = node.DefaultOptions()
	for _, a := range args[2:] {
		if text, ok := strings.CutPrefix(a, "range="); ok {
			low, high, _ := strings.Cut(text, "..")
			info.Options.SupportedReplayVersions = &engine.VersionRange{Min: engine.MustParseVersion(low), Max: engine.MustParseVersion(high)}
		}
		if name, value, ok := strings.Cut(a, "="); ok && name != "range" {
			sample.OK(r.t, info.Options.Set(name, value))
		}
		info.Core = info.Core && a != "spare"
		bare = bare || a == "bare"
	}
	if !bare {
		h := func(*orch.Context, string) (string, error) { return "", nil }
		sample.OK(r.t, info.Registry.Register("H", engine.V(1, 0, 0), h))
		sample.OK(r.t, info.Registry.RegisterActivity("W", func(node.ActivityContext, string) (string, error) { return "", nil }))
	}
	info.Filter = engine.FilterFor(info.Options.Range(info.Build))
	r.Record(cluster.Record{Kind: record.NodeStarted, Node: info.Number, Incarnation: info.Incarnation})
}

func (r *Rig) handlers(verb string, args []string) {
	info := r.w.Node(r.node(args[0]))
	rec := cluster.Record{Kind: record.HandlersChanged, Node: info.Number, Incarnation: info.Incarnation}
	if verb == "latest" {
		h := func(*orch.Context, string) (string, error) { return "", nil }
		sample.OK(r.t, info.Registry.Register("H", engine.V(2, 0, 0), h))
		rec.Text = "H@2.0.0 is registered"
	} else {
		info.Registry.Deregister("H", engine.V(1, 0, 0))
		rec.Text = args[1] + " is deregistered"
	}
	r.Record(rec)
}

// put inserts a message that is visible at once.
func (r *Rig) put(item engine.WorkItem) { r.insert(0, item, r.w.Now) }

// insert inserts a message that becomes visible at a given store time. call is the call that sends the message, or 0 if
// a client sends it.
func (r *Rig) insert(call uint64, item engine.WorkItem, visible int64) {
	r.rows++
	o := observe.Observation{Kind: observe.RowInserted, Call: call, Queue: observe.QueueOrchestrator, Message: observe.MessageNo(r.rows), Instance: r.Instance(item.Target()), Item: item, UntilMs: visible}
	if a, ok := item.(engine.ActivityExecuteItem); ok {
		o.Queue, o.Execution, o.EventID = observe.QueueWorker, a.ExecutionID, a.ID
	}
	o.Bytes, _ = r.w.AllBuilds[len(r.w.AllBuilds)-1].Codec.AppendWorkItem(nil, item)
	r.Observe(o)
}

// Repeat returns n copies of a block of a story. In the block, %d stands for the time, which starts at from and
// advances by every.
func Repeat(n int, from, every int64, block string) string {
	var b strings.Builder
	for i := range int64(n) {
		b.WriteString(strings.ReplaceAll(block, "%d", fmt.Sprint(from+i*every)) + "\n")
	}
	return b.String()
}

// PoisonCycle returns a story in which A receives n deliveries and each of them ends with the decision and an abandon.
func PoisonCycle(n int, decision string) string {
	return Repeat(n, 10, 1000, "%d fetch A x\n%d note A "+decision+"\n%d abandon A 900")
}
