package cluster

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/faults"
)

// recordKindBase separates the kinds of world records from those of observations in the trace.
const recordKindBase = 1000

// Observe receives what the store does: it goes into the trace, and to the monitor.
func (w *World) Observe(o *engine.Observation) {
	switch o.Kind {
	case engine.ObsCallBegin:
		w.storeCall, w.caller = o.Call, o.Caller.Node
	case engine.ObsCallEnd:
	case engine.ObsLockTaken:
		w.observed++
		if o.Queue == engine.QueueOrchestrator {
			w.hold(o.Instance)
		}
	case engine.ObsRowInserted:
		w.observed++
		if o.Queue == engine.QueueOrchestrator {
			w.lastRow, w.lastRowCall = o.Message, o.Call
		}
	default:
		w.observed++
	}
	w.traceObservation(o)
	if w.monitor != nil {
		w.monitor.Observe(o)
	}
	if w.cfg.Narrator != nil {
		w.narrateObservation(o)
	}
}

// hold remembers, for Explain, who took an instance's lock.
func (w *World) hold(no engine.InstanceNo) {
	for len(w.holders) <= int(no) {
		w.holders = append(w.holders, 0)
	}
	w.holders[no] = w.caller
}

// traceObservation writes what tells this observation from others of its kind. What a call asked for is not in it: what
// it did is.
func (w *World) traceObservation(o *engine.Observation) {
	t := w.trace
	t.Begin(w.kernel.Now(), uint16(o.Kind))
	t.Uint(uint64(o.Instance)<<32 | uint64(o.Queue)<<24 | uint64(o.Outcome)<<16 | uint64(o.Reason)<<8 | uint64(o.CallKind))
	switch o.Kind {
	case engine.ObsCallBegin:
		t.Uint(o.Call)
		t.Uint(uint64(o.Caller.Node)<<32 | uint64(o.Caller.Incarnation))
	case engine.ObsCallEnd:
		t.Uint(o.Call)
		if o.Err != nil {
			t.Str(o.Err.Message)
		}
		for _, m := range o.Messages {
			t.Uint(uint64(m))
		}
	case engine.ObsEventDecoded, engine.ObsEventRemoved, engine.ObsExecutionCreated, engine.ObsPointerSet:
		t.Uint(o.Execution)
		t.Uint(o.EventID)
		t.Bool(o.Cached)
	case engine.ObsEventAppended, engine.ObsDamaged:
		t.Uint(o.Execution)
		t.Uint(o.EventID)
		t.Bytes(o.Bytes)
	case engine.ObsRowInserted:
		t.Uint(uint64(o.Message))
		t.Int(o.UntilMs)
		t.Bytes(o.Bytes)
	case engine.ObsPinSet:
		t.Uint(o.Execution)
		if o.Pin != nil {
			t.Uint(uint64(o.Pin.Major))
			t.Uint(uint64(o.Pin.Minor)<<32 | uint64(o.Pin.Patch))
		}
	case engine.ObsStatusSet, engine.ObsInstanceCreated, engine.ObsInstanceNamed, engine.ObsParentSet:
		t.Uint(o.Execution)
		t.Str(string(o.Status))
		t.Str(o.Name)
	case engine.ObsKVSet, engine.ObsKVRemoved, engine.ObsCustomStatusSet, engine.ObsSessionSet, engine.ObsSessionRemoved:
		t.Str(o.Name)
		t.Str(o.Token)
		t.Uint(uint64(o.Table)<<56 | o.Version)
		t.Int(o.UntilMs)
		t.Int(o.ActivityMs)
		if o.Value != nil {
			t.Str(*o.Value)
		}
	default:
		t.Uint(uint64(o.Message))
		t.Int(o.UntilMs)
		t.Uint(uint64(o.OldCount)<<32 | uint64(o.NewCount))
	}
	t.Bool(o.Undo)
	t.End()
}

// record stamps a record of the world and hands it to trace, monitor and narrator.
func (w *World) record(r *Record) {
	w.rec = *r
	w.hand()
}

// open is the world's own record at its start, to be filled in and handed on: the frequent kinds are made in place.
func (w *World) open(kind RecordKind, node, incarnation uint32) *Record {
	r := &w.rec
	*r = Record{}
	r.Kind, r.Node, r.Incarnation = kind, node, incarnation
	return r
}

// hand stamps the world's record and hands it to trace, monitor and narrator.
func (w *World) hand() {
	r := &w.rec
	r.At, r.AtMs, r.Step = w.kernel.Now(), w.NowMs(), w.Step()
	w.traceRecord(r)
	if w.monitor != nil {
		w.monitor.Record(r)
	}
	if w.cfg.Narrator != nil {
		w.narrate(r)
	}
}

// traceRecord writes what tells this record from others of its kind.
func (w *World) traceRecord(r *Record) {
	t := w.trace
	t.Begin(r.At, recordKindBase+uint16(r.Kind))
	t.Uint(uint64(r.Node)<<48 | uint64(r.Incarnation)<<16 | uint64(r.CallKind)<<8 | uint64(r.Outcome))
	switch r.Kind {
	case RecNodeStarted:
		n := w.Node(r.Node)
		t.Str(n.Build.Name())
		t.Str(n.Filter.String())
	case RecCallSent:
		t.Uint(r.Call)
		t.Uint(uint64(r.Slot.Kind)<<32 | uint64(r.Slot.Index))
	case RecCallExecuting, RecCallExecuted, RecAnswered, RecParked, RecUnparked, RecWoken:
		t.Uint(r.Call)
	case RecNote:
		t.Uint(uint64(r.Note.Decision)<<32 | uint64(r.Note.AttemptCount))
		t.Str(r.Note.Instance)
		t.Uint(r.Note.ExecutionID)
		t.Int(int64(r.Note.Delay))
	case RecLog:
		t.Uint(uint64(r.Log.Level))
		t.Str(r.Log.Text)
		t.Str(r.Log.Instance)
		for i := range r.Log.Fields {
			t.Str(r.Log.Fields[i].Value)
		}
	case RecPhaseBegan, RecPhaseEnded:
		t.Uint(uint64(r.Phase))
	case RecScheduled:
		t.Str(r.Schedule.String())
	case RecClientSent, RecClientAccepted:
		t.Str(r.Instance)
		t.Str(string(r.Item.Kind()))
	case RecActivityStarted, RecActivityFinished:
		t.Str(r.Activity.Item.Instance)
		t.Uint(r.Activity.Item.ID)
	case RecFault:
		t.Str(string(r.Fault))
		t.Uint(r.Call)
		t.Str(r.Instance)
	}
	t.Str(r.Text)
	t.Int(int64(r.For))
	t.End()
}

// openCall is the world's record of something that happens to a call.
func (w *World) openCall(kind RecordKind, i int) *Record {
	c := w.calls.at(i)
	r := w.open(kind, c.node, c.inc)
	r.Call, r.CallKind, r.Request, r.Cadence, r.Slot, r.StoreCall = uint64(i+1), c.kind, c.request, c.cadence, c.slot, c.storeCall
	return r
}

// recordCall records what happens to a call, where that is all that is to be said.
func (w *World) recordCall(kind RecordKind, i int) {
	w.openCall(kind, i)
	w.hand()
}

// recordExecuted records what came of a call's atomic instant.
func (w *World) recordExecuted(i int, a *node.Answer) {
	c := w.calls.at(i)
	r := w.openCall(RecCallExecuted, i)
	r.Outcome, r.Err = outcomeOf(c.kind, a), a.Err
	w.hand()
	if w.cfg.Narrator != nil {
		w.narrateExecuted(c, *a)
	}
}

// recordAnswered records what the node is told: the answer, or the error that stands for it after the deadline.
func (w *World) recordAnswered(i int, a *node.Answer, text string) {
	r := w.openCall(RecAnswered, i)
	r.Outcome, r.Err, r.Text = outcomeOf(r.CallKind, a), a.Err, text
	w.hand()
}

// recordFault records a fault that hit a call.
func (w *World) recordFault(kind faults.Kind, i int) {
	c := w.calls.at(i)
	w.record(&Record{Kind: RecFault, Fault: kind, Node: c.node, Incarnation: c.inc, Call: uint64(i + 1), CallKind: c.kind})
}
