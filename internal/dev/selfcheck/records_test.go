package selfcheck_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/rig"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/record"
)

// delivery records what a slot has asked for and what it holds.
type delivery struct {
	call, renewal   uint64
	kind            observe.CallKind
	token, instance string
	count           uint32
	execution       uint64
	id              uint64
	last            call.Call // the ack that it sent last
	met             []string  // the instances that the sweeper has seen in this pass
}

// record returns the record that a line describes:
//
//   - sent                                              a call of a client
//     A up [OPTION=VALUE] [build=] [clock=] [range=]      A down, crash, pause, resume, drain; A slow x fault=KIND
//     A log info|warn|error INSTANCE|- | TEXT | NAME=VALUE | ...
//     A o0 fetch [lock=] [poll=] [filter=none]            A w0 fetch [lock=] [poll=] [session=OWNER [sessionlock=]]
//     A o0 ok / nothing / retryable TEXT / permanent TEXT / deadline / parks / wakes
//     A o0 batch x [n=] [exec=] [status=] [pin=] [name=] [version=] [error=] [history=EVENT;...] MESSAGE ...
//     A w0 work x [id=] [exec=] [name=] [input=] [session=] [n=]
//     A o0 note DECISION CAUSE [delay=] [exec=] [drops=RULE,...] [handler=] [events=] [turn=EVENT;...]
//     A o0 ack [exec=] [EVENT ...]                        A w0 ack done|failed|poison [RESULT]
//     A o0 abandon [delay=] [uncounted]                   A o0 renew [for=], renewed [retryable|permanent TEXT]
//     A w0 run / ran
//     A s renew|cleanup [owners=] [for=] [idle=]          A s answered [COUNT] [error=]
func (l *teller) record(line string, words []string) *cluster.Record {
	name, rest := words[0], words[1:]
	words, value := optionsOf(rest)
	r := &cluster.Record{At: sim.Time(l.at * 1000), AtMs: rig.StartMs + l.at}
	if name == "-" {
		r.Kind = map[string]record.Kind{"sent": record.CallSent}[words[0]]
		return r
	}
	info := l.w.Node(l.node(name))
	r.Node = info.Number
	of := map[string]record.Kind{
		"up": record.NodeStarted, "down": record.NodeStopped, "crash": record.NodeCrashed, "pause": record.NodePaused,
		"resume": record.NodeResumed, "drain": record.NodeDraining, "log": record.Log, "slow": record.Fault,
	}
	if kind, ok := of[words[0]]; ok {
		if r.Kind = kind; kind == record.NodeStarted {
			l.up(name, words[1:], value)
		}
		if kind == record.Log {
			r.Log = logOf(line)
		}
		if kind == record.Fault {
			r.Fault, r.Instance = faults.Kind(value["fault"]), words[1]
		}
		if kind == record.NodeStopped || kind == record.NodeCrashed {
			if !slices.Contains(words, "unlearned") { // else it counts what it has counted so far
				l.learn()
			}
		}
		r.Incarnation = info.Incarnation
		return r
	}
	r.Incarnation = info.Incarnation
	kinds := map[byte]machine.SlotKind{'o': machine.SlotOrchestration, 'w': machine.SlotWorker, 's': machine.SlotSessions}
	kind, ok := kinds[words[0][0]]
	if !ok || len(words) < 2 {
		l.t.Fatalf("%q: no such line", line)
	}
	r.Slot = machine.Slot{Kind: kind, Index: int(l.uint(words[0][1:], 0))}
	h := l.held[name+words[0]]
	if h == nil {
		h = &delivery{}
		l.held[name+words[0]] = h
	}
	l.of(r, h, words[1], words[2:], value)
	l.waits(r, h)
	r.Incarnation = uint32(l.uint(value["start"], uint64(r.Incarnation)))
	return r
}

// waits fills in how long a caller waits for its call, and how a fetch waits. A sweeper waits for the first work in a
// pass. The pass ends when it finds nothing or sees an instance for the second time.
func (l *teller) waits(r *cluster.Record, h *delivery) {
	o := &l.w.Node(r.Node).Options
	sweeps := r.Slot.Kind == machine.SlotOrchestration && r.Slot.Index >= o.OrchestrationConcurrency
	if r.Kind == record.Answered && h.kind == observe.CallFetchOrchestrationItem && r.Err == nil {
		if r.Fetched == nil || slices.Contains(h.met, h.instance) {
			h.met = nil
		} else {
			h.met = append(h.met, h.instance)
		}
	}
	if r.Kind != record.CallSent {
		return
	}
	r.Deadline = o.CallDeadline
	switch q := r.Request.(type) {
	case call.FetchWorkItem:
		r.Cadence, r.Once = o.DispatcherMinPollInterval, q.Session == nil
	case call.FetchOrchestrationItem:
		r.Cadence = o.DispatcherMinPollInterval
		if sweeps {
			if r.Once = len(h.met) > 0; r.Once {
				r.Cadence = 0
			} else {
				r.Cadence = l.w.ThePlan.Patience.Or().Every
			}
		}
	}
}

func optionsOf(f []string) (words []string, value map[string]string) {
	value = map[string]string{}
	for _, w := range f {
		if k, v, ok := strings.Cut(w, "="); ok && !strings.ContainsAny(k, "<>") {
			if k == "cause" || k == "owners" {
				v = strings.ReplaceAll(v, "_", " ")
			}
			value[k] = v
		} else {
			words = append(words, w)
		}
	}
	return words, value
}

func logOf(line string) *cluster.Log {
	head, rest, _ := strings.Cut(line, " | ")
	f := strings.Fields(head)
	f = f[slices.Index(f, "log"):]
	levels := map[string]machine.Level{"info": machine.LevelInfo, "warn": machine.LevelWarn, "error": machine.LevelError}
	g := &cluster.Log{Level: levels[f[1]], Instance: strings.Trim(f[2], "-")}
	all := strings.Split(rest, " | ")
	g.Text = all[0]
	for _, part := range all[1:] {
		k, v, _ := strings.Cut(part, "=")
		g.Fields = append(g.Fields, machine.Field{Name: k, Value: v})
	}
	return g
}

// of fills in a slot's record.
func (l *teller) of(r *cluster.Record, h *delivery, verb string, words []string, value map[string]string) {
	o := &l.w.Node(r.Node).Options
	worker := r.Slot.Kind == machine.SlotWorker
	dur := func(key string, or time.Duration) time.Duration {
		if value[key] == "" {
			return or
		}
		return l.duration(value[key])
	}
	token := h.token
	if value["token"] != "" {
		token = value["token"]
	}
	sent := func(q call.Call) {
		l.call++
		r.Kind, r.Call, r.CallKind, r.Request = record.CallSent, l.call, call.Kind(q), q
		if r.CallKind == observe.CallRenewOrchestrationItemLock || r.CallKind == observe.CallRenewWorkItemLock {
			h.renewal = r.Call
		} else {
			h.call, h.kind = r.Call, r.CallKind
		}
	}
	if kind, ok := map[string]record.Kind{"parks": record.Parked, "wakes": record.Woken}[verb]; ok {
		r.Kind, r.Call, r.CallKind = kind, h.call, h.kind
		return
	}
	text := strings.Join(words, " ")
	r.Kind, r.Call, r.CallKind, r.Outcome = record.Answered, h.call, h.kind, observe.OutcomeOK
	fail := func(kind string) {
		r.Outcome = observe.OutcomePermanent
		if kind != "permanent" {
			r.Outcome = observe.OutcomeRetryable
		}
		r.Err = errors.New(kind + " " + text)
	}
	switch verb {
	case "fetch":
		if worker {
			q := call.FetchWorkItem{LockTimeout: dur("lock", o.WorkerLockTimeout), PollTimeout: dur("poll", o.DispatcherLongPollTimeout)}
			if value["session"] != "" {
				q.Session = &engine.SessionFetchConfig{OwnerID: strings.Trim(value["session"], "-"), LockTimeout: dur("sessionlock", o.SessionLockTimeout)}
			}
			sent(q)
			return
		}
		q := call.FetchOrchestrationItem{LockTimeout: dur("lock", o.OrchestratorLockTimeout), PollTimeout: dur("poll", o.DispatcherLongPollTimeout), Filter: l.w.Node(r.Node).Filter}
		if value["filter"] == "none" {
			q.Filter = nil
		}
		sent(q)
	case "ok", "nothing":
	case "retryable", "permanent":
		fail(verb)
	case "deadline":
		fail(verb)
		r.Text = "deadline"
	case "batch":
		f := l.batch(words, value)
		h.token, h.instance, h.count, h.execution = fmt.Sprintf("t%d", h.call), f.Item.Instance, f.AttemptCount, f.Item.ExecutionID
		f.LockToken, r.Fetched = h.token, f
	case "work":
		w := engine.ActivityExecuteItem{Instance: words[0], ExecutionID: l.uint(value["exec"], 1), ID: l.uint(value["id"], 7), Name: "W", SessionID: value["session"], Input: value["input"]}
		if value["name"] != "" {
			w.Name = value["name"]
		}
		h.token, h.instance, h.count, h.execution, h.id = fmt.Sprintf("t%d", h.call), w.Instance, uint32(l.uint(value["n"], 1)), w.ExecutionID, w.ID
		r.Work = &engine.FetchedWork{Item: w, LockToken: h.token, AttemptCount: h.count}
		if value["odd"] != "" {
			r.Work.Item = engine.CancelInstanceItem{Instance: words[0]}
		}
	case "note":
		r.Kind, r.Call, r.CallKind = record.Note, 0, 0
		r.Note = l.noteOf(r, h, words, value)
		r.Note.Delay = dur("delay", 0)
		r.Note.Token = token
	case "ack":
		if worker {
			sent(call.AckWorkItem{LockToken: token, Completion: l.completion(h, words, value)})
		} else {
			if len(words) == 0 || words[0] != "same" {
				h.last = l.ackOf(h, token, words, value)
			}
			sent(h.last) // "same" sends the same memory again
		}
	case "abandon":
		if uncounted := slices.Contains(words, "uncounted"); worker {
			sent(call.AbandonWorkItem{LockToken: token, Delay: dur("delay", 0), IgnoreAttempt: uncounted})
		} else {
			sent(call.AbandonOrchestrationItem{LockToken: token, Delay: dur("delay", 0), IgnoreAttempt: uncounted})
		}
	case "renew":
		switch r.Slot.Kind {
		case machine.SlotWorker:
			sent(call.RenewWorkItemLock{LockToken: token, ExtendFor: dur("for", o.WorkerLockTimeout)})
		case machine.SlotOrchestration:
			sent(call.RenewOrchestrationItemLock{LockToken: token, ExtendFor: dur("for", o.OrchestratorLockTimeout)})
		default:
			sent(call.RenewSessionLock{Owners: strings.Fields(value["owners"]), ExtendFor: dur("for", o.SessionLockTimeout), IdleTimeout: dur("idle", o.SessionIdleTimeout)})
		}
	case "reads":
		sent(call.GetKVValue{Instance: h.instance, Key: "k"})
	case "cleanup":
		sent(call.CleanupOrphanedSessions{IdleTimeout: dur("idle", o.SessionIdleTimeout)})
	case "renewed":
		if r.Call, r.CallKind = h.renewal, observe.CallRenewOrchestrationItemLock; worker {
			r.CallKind = observe.CallRenewWorkItemLock
		}
		if len(words) > 0 {
			fail(words[0])
		}
		if text == "deadline" {
			r.Text = text
		}
	case "answered":
		r.Count = int(l.uint(value["count"], 0))
		if value["call"] != "" {
			r.Call = l.uint(value["call"], 0)
		}
		if len(words) > 0 {
			fail(words[0])
		}
		if text == "deadline" {
			r.Text = text
		}
	case "run", "ran":
		r.Kind, r.Activity = record.ActivityStarted, &machine.RunActivity{Slot: r.Slot, Item: engine.ActivityExecuteItem{Instance: h.instance, ExecutionID: h.execution, ID: h.id}}
		if verb == "ran" {
			r.Kind = record.ActivityFinished
		}
	default:
		l.t.Fatalf("no verb %q", verb)
	}
}
