package monitor_test

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/rig"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/record"
)

// This file implements less common commands. Words of the form `KEY=VALUE` are optional. In a value, _ stands for a
// space.
//
//	0     repeat 10 every=6000 fetch A x | note A turn   the commands ten times, the first time now
//	0     together mark one | step stop A          the commands in one step
//	0     nothing A / failing A                    a fetch finds nothing, or fails
//	0     start x [from=PARENT/EXECUTION/EVENT] [version=V]
//	0     timer x FIRE                             a timer's message
//	0     work x [id=2] [name=W] [tag=T] [session=S]
//	0     history x 2 [EVENTS]                     execution 2 has the events; *70 stands for 70 letters
//	0     adopt CHILD PARENT
//	0     turn A 1 [STATUS] [schedules=CHILD] [sends=done:parent:/2/2,start:child:x/1/2]   a turn; sends are start, can, done, failed
//	0     delete x                                 x and all its data are deleted
//	0     step crash A / step deregister A H@1.0.0 a step of the schedule
//	0     sent x raise|raise2|queue|cancel [recovery]  a client has sent x something, in recovery if marked
//	0     fault KIND A|- [x [MESSAGE]] [for=MS] [ack|fetch]   a fault, which may hit the last ack or fetch that A sent
//	0     fetches A [work]                         A sends its next fetch
//	0     started A                                A starts the activity that it received last
//	0     acks A [EVENTS and MESSAGES] [execution=2] [cancels=ID [of=EXECUTION]]   A sends its ack, which "commit A" commits
//	0     answered A [lost] / refuse A             the store answers or refuses A's ack
//	0     slot 1                                   from now on, calls and notes come from the second loop of their kind
//	0     activation waits|done|refused A TEXT     an activation, or a node that does not start
//	0     parked|woken|unparked|idle A [work|sessions] [filter=F] [cadence=MS]   A's fetch waits, goes on, is taken back, or has found nothing
//	0     deadletter x
//	0     why x RULE TEXT                          the world's reason why x waits
//	0     help KIND recovery|rescue NAME [TEXT]        an action of the world
//	0     fates / points                           print the fates or points so far
func (r *Rig) other(verb string, f []string) {
	words, value := options(f)
	arg := func(i int) string {
		if i >= len(words) {
			r.t.Fatalf("%s %q: a word is missing", verb, f)
		}
		return words[i]
	}
	switch verb {
	case "repeat":
		r.repeat(int(r.number(arg(0))), r.number(value["every"]), strings.Join(f[2:], " "))
	case "together":
		for line := range strings.SplitSeq(strings.Join(f, " "), "|") {
			words := strings.Fields(line)
			r.do(words[0], words[1:])
		}
	case "nothing", "failing":
		caller := r.caller(arg(0))
		r.begin(caller, observe.CallFetchOrchestrationItem, observe.CallRequest{Filter: r.filter(caller, value["filter"])})
		outcome := map[string]observe.Outcome{"nothing": observe.OutcomeNothing, "failing": observe.OutcomeRetryable}[verb]
		r.end(caller, observe.CallFetchOrchestrationItem, observe.Observation{Outcome: outcome})
	case "timer":
		fire := rig.StartMs + r.number(arg(1))
		r.insert(0, engine.TimerFiredItem{Instance: arg(0), ExecutionID: 1, ID: 2, FireAtMs: uint64(fire)}, fire)
	case "adopt":
		r.Instance(arg(1))
		r.Observe(observe.Observation{Kind: observe.ParentSet, Instance: r.Instance(arg(0)), Name: arg(1)})
	case "delete":
		r.delete(arg(0))
	case "turn":
		r.turn(words, value)
	case "history":
		r.rawly("execution", []string{arg(0) + "/" + arg(1)})
		for _, e := range words[2:] {
			r.rawly("event", []string{arg(0) + "/" + arg(1), e})
		}
	default:
		r.ofWorld(verb, words, value, arg)
	}
}

// ofWorld executes the commands that stand for actions of the world.
func (r *Rig) ofWorld(verb string, words []string, value map[string]string, arg func(int) string) {
	switch verb {
	case "step":
		s := plan.Step{Verb: plan.Verb(arg(0)), Node: arg(1), For: time.Second}
		if len(words) > 2 {
			s.Handler, s.Build = arg(2), arg(2)
		}
		r.Record(cluster.Record{Kind: record.Scheduled, Node: r.node(arg(1)), Schedule: &s})
	case "sent":
		r.Record(cluster.Record{Kind: record.ClientSent, Instance: arg(0), Item: sent(arg(0), arg(1), len(words) > 2)})
	case "fault":
		r.fault(words, value)
	case "fetches":
		r.fetches(arg(0), len(words) > 1)
	case "started":
		r.started(arg(0))
	case "acks":
		r.acks(arg(0), words[1:], value)
	case "answered":
		rec := cluster.Record{Kind: record.Answered, Node: r.node(arg(0)), Text: strings.Join(words[1:], " ")}
		rec.Call, rec.CallKind = r.acking(arg(0))
		rec.Slot = r.slotOf(rec.CallKind)
		r.Record(rec)
	case "slot":
		r.index = int(r.number(arg(0)))
	case "refuse":
		r.refuse(arg(0))
	case "activation":
		kind := map[string]record.Kind{"waits": record.ActivationWaits, "done": record.Activated, "refused": record.StartRefused}[arg(0)]
		r.Record(cluster.Record{Kind: kind, Node: r.node(arg(1)), Text: arg(2), AtMs: r.w.Now})
	case "deadletter":
		r.Record(cluster.Record{Kind: record.DeadLetter, Instance: arg(0)})
	case "parked", "woken", "unparked", "idle":
		r.waiting(verb, arg(0), words, value)
	case "why": // `INSTANCE RULE TEXT [| CAUSE [| NEEDS]]`
		said := append(strings.Split(strings.Join(words[2:], " "), " | "), "", "")
		r.w.Whys = append(r.w.Whys, rig.Reason{Instance: arg(0), Explanation: cluster.Explanation{Rule: arg(1), Unadmitted: arg(1) == "not-admitted", Text: said[0], Cause: cmp.Or(said[1], said[0]), Needs: said[2]}})
	case "help":
		phase := map[string]cluster.Phase{"recovery": cluster.PhaseRecovery, "rescue": cluster.PhaseRescue}[arg(1)]
		r.w.Helps = append(r.w.Helps, cluster.Help{VirtualMs: r.w.Now - rig.StartMs, Phase: phase, Kind: cluster.HelpKind(arg(0)), Name: arg(2), Text: strings.Join(words[3:], " ")})
	default:
		r.show(verb, words)
	}
}

// options splits a line's fields into plain words and `KEY=VALUE` words.
func options(f []string) (words []string, value map[string]string) {
	value = map[string]string{}
	for _, w := range f {
		if k, v, ok := strings.Cut(w, "="); ok && k != "" {
			value[k] = strings.ReplaceAll(v, "_", " ")
		} else {
			words = append(words, w)
		}
	}
	return words, value
}

func (r *Rig) number(text string) int64 { return sample.Must(strconv.ParseInt(text, 10, 64))(r.t) }

func (r *Rig) repeat(n int, every int64, block string) {
	from := r.w.Now
	for i := range int64(n) {
		for line := range strings.SplitSeq(block, "|") {
			words := strings.Fields(line)
			r.w.Now = from + i*every
			r.do(words[0], words[1:])
			r.M.AfterStep()
		}
	}
}

// start returns the start message that a line describes.
func start(words []string, value map[string]string) engine.StartItem {
	item := engine.StartItem{Instance: words[0], Orchestration: "H", Version: value["version"]}
	if from := strings.Split(value["from"], "/"); len(from) == 3 {
		item.ParentInstance = from[0]
		item.ParentExecutionID, _ = strconv.ParseUint(from[1], 10, 64)
		item.ParentID, _ = strconv.ParseUint(from[2], 10, 64)
	}
	return item
}

func activity(words []string, value map[string]string) engine.ActivityExecuteItem {
	item := engine.ActivityExecuteItem{Instance: words[0], ExecutionID: 1, ID: 2, Name: "W", Tag: value["tag"], SessionID: value["session"]}
	if value["id"] != "" {
		item.ID, _ = strconv.ParseUint(value["id"], 10, 64)
	}
	if value["name"] != "" {
		item.Name = value["name"]
	}
	return item
}

func sent(instance, kind string, recovery bool) engine.WorkItem {
	data := "yes"
	if recovery {
		data = plan.RecoveryData
	}
	switch kind {
	case "raise":
		return engine.ExternalRaisedItem{Instance: instance, Name: "go", Data: data}
	case "raise2":
		return engine.ExternalRaised2Item{Instance: instance, Name: "two", Data: data}
	case "queue":
		return engine.QueueMessageItem{Instance: instance, Name: "q", Data: data}
	case "cancel":
		return engine.CancelInstanceItem{Instance: instance, Reason: data}
	}
	return engine.StartItem{Instance: instance}
}

func (r *Rig) delete(name string) {
	no := r.Instance(name)
	in := r.M.Model.Instance(no)
	for _, row := range slices.Concat(in.Queue, in.Work) {
		r.Observe(observe.Observation{Kind: observe.RowRemoved, Queue: row.Queue, Message: row.No, Instance: no, Reason: observe.RemovedDeleted})
	}
	r.Observe(observe.Observation{Kind: observe.ExecutionRemoved, Instance: no, Execution: 1})
	r.Observe(observe.Observation{Kind: observe.InstanceRemoved, Instance: no})
}

// waiting records what becomes of a fetch that finds nothing, or of another call.
func (r *Rig) waiting(verb, name string, words []string, value map[string]string) {
	c := r.caller(name)
	rec := cluster.Record{
		Kind: map[string]record.Kind{"parked": record.Parked, "woken": record.Woken, "unparked": record.Unparked, "idle": record.CallExecuted}[verb],
		Node: c.Node, Incarnation: c.Incarnation, Outcome: observe.OutcomeNothing, Cadence: time.Duration(r.number(cmp.Or(value["cadence"], "100"))) * time.Millisecond,
	}
	switch strings.Join(words[1:], "") {
	case "work":
		rec.Request = call.FetchWorkItem{}
	case "sessions":
		rec.Request = call.CleanupOrphanedSessions{}
	default:
		rec.Request = call.FetchOrchestrationItem{Filter: r.filter(c, value["filter"])}
	}
	if verb == "parked" {
		r.call++
		r.asked[name] = r.call
	}
	rec.Call, rec.CallKind = cmp.Or(r.asked[name], r.call), call.Kind(rec.Request)
	r.Record(rec)
}

// acking returns the number and the kind of the ack that a node sent last.
func (r *Rig) acking(name string) (uint64, observe.CallKind) {
	if h := r.held[name]; h.worker {
		return h.ack, observe.CallAckWorkItem
	}
	return r.held[name].ack, observe.CallAckOrchestrationItem
}

// refuse makes the store refuse a node's ack permanently.
func (r *Rig) refuse(name string) {
	h, caller := r.held[name], r.caller(name)
	req := observe.CallRequest{Token: h.token}
	_, kind := r.acking(name)
	if !h.worker {
		req.Ack = &engine.OrchestrationAck{LockToken: h.token, ExecutionID: 1}
	}
	r.begin(caller, kind, req)
	r.end(caller, kind, observe.Observation{Outcome: observe.OutcomePermanent})
}

// Messages returns how many messages and activities there have been so far.
func (r *Rig) Messages() int { return r.rows }
