package cluster

import (
	"time"

	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/internal/kernel"
	"github.com/durosim/durosim/sim/record"
)

// recordKindBase keeps the kinds of world records apart from the kinds of observations in the trace.
const recordKindBase = 1000

// journal records a run: it timestamps everything that happens, writes it to the trace, and passes it to the monitor
// and the narrator.
type journal struct {
	kernel   *kernel.Kernel[event]
	start    sim.Time
	ms       int64 // the kernel's time in milliseconds
	trace    *kernel.Trace
	marks    []sim.Mark
	monitor  Monitor    // may be nil
	narrator *narrator  // may be nil
	infos    []NodeInfo // the nodes as monitors see them, indexed by number - 1
	rec      Record     // the current record; reused
	internal []Violation
}

func newJournal(k *kernel.Kernel[event], keep bool) *journal {
	j := &journal{kernel: k, start: k.Now(), ms: k.Now().Millis(), trace: kernel.NewTrace()}
	if keep {
		j.trace.Keep(func(index, sum uint64) { j.marks = append(j.marks, sim.Mark{Index: index, Sum: sum}) })
	}
	return j
}

// node returns the node with the given number, which must exist.
func (j *journal) node(number uint32) *NodeInfo { return &j.infos[number-1] }

func (j *journal) nowMs() int64 { return j.ms }

// startMs returns the store's time at the start of the run.
func (j *journal) startMs() int64 { return j.start.Millis() }

// steps returns the number of steps so far.
func (j *journal) steps() uint64 { return j.kernel.Steps() }

func (j *journal) since() time.Duration { return j.kernel.Now().Sub(j.start) }

// PropertyRunEnds is violated by a run that does not end by itself: its plan is too long, or code or the store goes on
// for ever.
const PropertyRunEnds = "run-ends"

// violated reports a violation, now, that the world itself has found.
func (j *journal) violated(v Violation) {
	v.Step, v.VirtualMs = j.steps(), j.nowMs()-j.startMs()
	j.internal = append(j.internal, v)
}

// Shapes of records that are written in a single call.
var (
	oneNumber    = kernel.Fields.Uint()
	twoNumbers   = oneNumber.Uint()
	threeNumbers = twoNumbers.Uint()
	aTime        = twoNumbers.Int().Uint() // preceded and followed by numbers
	anEvent      = threeNumbers.Bytes()
	aRow         = twoNumbers.Int().Bytes()
	ofACall      = twoNumbers.NoText().Int()   // likewise, with a number
	ofASlot      = threeNumbers.NoText().Int() // with two
)

// traceObservation writes the values that distinguish this observation from others of its kind. It writes a call's
// effect, not its request.
func (j *journal) traceObservation(o *observe.Observation) {
	t, now, kind := j.trace, j.kernel.Now(), uint16(o.Kind)
	first := uint64(o.Instance)<<32 | uint64(o.Queue)<<24 | uint64(o.Outcome)<<16 | uint64(o.Reason)<<8 | uint64(o.CallKind)
	switch o.Kind {
	case observe.CallBegin:
		t.Record(now, kind, threeNumbers.Bool(o.Undo), first, o.Call, uint64(o.Caller.Node)<<32|uint64(o.Caller.Incarnation), 0, 0)
		return
	case observe.CallEnd:
		if o.Err == nil && len(o.Messages) == 0 {
			t.Record(now, kind, twoNumbers.Bool(o.Undo), first, o.Call, 0, 0, 0)
			return
		}
	case observe.EventDecoded, observe.EventRemoved, observe.ExecutionCreated, observe.PointerSet:
		t.Record(now, kind, threeNumbers.Bool(o.Cached).Bool(o.Undo), first, o.Execution, o.EventID, 0, 0)
		return
	case observe.EventAppended, observe.Damaged:
		t.RecordBytes(now, kind, anEvent.Bool(o.Undo), first, o.Execution, o.EventID, o.Bytes)
		return
	case observe.RowInserted:
		t.RecordBytes(now, kind, aRow.Bool(o.Undo), first, uint64(o.Message), uint64(o.UntilMs), o.Bytes)
		return
	case observe.PinSet, observe.StatusSet, observe.InstanceCreated,
		observe.InstanceNamed, observe.ParentSet, observe.KVSet, observe.KVRemoved, observe.CustomStatusSet, observe.SessionSet,
		observe.SessionRemoved:
	default:
		t.Record(now, kind, aTime.Bool(o.Undo), first, uint64(o.Message), uint64(o.UntilMs), uint64(o.OldCount)<<32|uint64(o.NewCount), 0)
		return
	}
	t.Begin(now, kind)
	t.Uint(first)
	j.traceFields(o)
	t.Bool(o.Undo)
	t.End()
}

// traceFields writes the fields of an observation that has text fields or optional fields.
func (j *journal) traceFields(o *observe.Observation) {
	t := j.trace
	switch o.Kind {
	case observe.CallEnd:
		t.Uint(o.Call)
		if o.Err != nil {
			t.Str(o.Err.Message)
		}
		for _, m := range o.Messages {
			t.Uint(uint64(m))
		}
	case observe.PinSet:
		t.Uint(o.Execution)
		if o.Pin != nil {
			t.Uint(uint64(o.Pin.Major))
			t.Uint(uint64(o.Pin.Minor)<<32 | uint64(o.Pin.Patch))
		}
	case observe.StatusSet, observe.InstanceCreated, observe.InstanceNamed, observe.ParentSet:
		t.Uint(o.Execution)
		t.Str(string(o.Status))
		t.Str(o.Name)
	case observe.KVSet, observe.KVRemoved, observe.CustomStatusSet, observe.SessionSet, observe.SessionRemoved:
		t.Str(o.Name)
		t.Str(o.Token)
		t.Uint(uint64(o.Table)<<56 | o.Version)
		t.Int(o.UntilMs)
		t.Int(o.ActivityMs)
		if o.Value != nil {
			t.Str(*o.Value)
		}
	}
}

// record timestamps a world record and passes it to the trace, the monitor and the narrator.
func (j *journal) record(r *Record) {
	j.rec = *r
	j.emit()
}

// newRecord clears the journal's own record and returns it for the caller to fill in and emit. Frequent kinds of
// records are built in place like this.
func (j *journal) newRecord(kind record.Kind, node, incarnation uint32) *Record {
	r := &j.rec
	*r = Record{}
	r.Kind, r.Node, r.Incarnation = kind, node, incarnation
	return r
}

// emit timestamps the journal's own record and passes it to the trace, the monitor and the narrator.
func (j *journal) emit() {
	r := &j.rec
	r.At, r.AtMs, r.Step = j.kernel.Now(), j.nowMs(), j.steps()
	j.traceRecord(r)
	if j.monitor != nil {
		j.monitor.Record(r)
	}
	if j.narrator != nil {
		j.narrator.record(r)
	}
}

// traceRecord writes the values that distinguish this record from others of its kind.
func (j *journal) traceRecord(r *Record) {
	t, kind := j.trace, recordKindBase+uint16(r.Kind)
	first := uint64(r.Node)<<48 | uint64(r.Incarnation)<<16 | uint64(r.CallKind)<<8 | uint64(r.Outcome)
	if r.Text == "" && r.For == 0 {
		switch r.Kind {
		case record.CallSent:
			t.Record(r.At, kind, ofASlot, first, r.Call, uint64(r.Slot.Kind)<<32|uint64(r.Slot.Index), 0, 0)
			return
		case record.CallExecuting, record.CallExecuted, record.Answered, record.Parked, record.Unparked, record.Woken:
			t.Record(r.At, kind, ofACall, first, r.Call, 0, 0, 0)
			return
		}
	}
	t.Begin(r.At, kind)
	t.Uint(first)
	j.traceDetails(r)
	t.Str(r.Text)
	t.Int(int64(r.For))
	t.End()
}

func (j *journal) traceDetails(r *Record) {
	t := j.trace
	switch r.Kind {
	case record.NodeStarted:
		n := j.node(r.Node)
		t.Str(n.Build.Name())
		t.Str(n.Filter.String())
	case record.Answered:
		t.Uint(r.Call)
	case record.Note:
		t.Uint(uint64(r.Note.Decision)<<32 | uint64(r.Note.AttemptCount))
		t.Str(r.Note.Instance)
		t.Uint(r.Note.ExecutionID)
		t.Int(int64(r.Note.Delay))
	case record.Log:
		t.Uint(uint64(r.Log.Level))
		t.Str(r.Log.Text)
		t.Str(r.Log.Instance)
		for i := range r.Log.Fields {
			t.Str(r.Log.Fields[i].Value)
		}
	case record.PhaseBegan, record.PhaseEnded:
		t.Uint(uint64(r.Phase))
	case record.Scheduled:
		t.Str(r.Schedule.String())
	case record.ClientSent, record.ClientAccepted:
		t.Str(r.Instance)
		t.Str(string(r.Item.Kind()))
	case record.ActivityStarted, record.ActivityFinished:
		t.Str(r.Activity.Item.Instance)
		t.Uint(r.Activity.Item.ID)
	case record.DeadLetter:
		t.Str(r.Instance)
	case record.MigrationBegan, record.MigrationEnded:
		t.Uint(r.Schema)
	case record.Activated, record.ActivationWaits:
		t.Str(r.Text)
	case record.Fault:
		t.Str(string(r.Fault))
		t.Uint(r.Call)
		t.Str(r.Instance)
	}
}
