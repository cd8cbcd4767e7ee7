package replay

import (
	"errors"
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/orchhost"
)

// Turn computes one turn. It only reads its input. The outputs are in the order in which the orchestration issued them.
// An error means that the caller has a bug. Everything else, including a failure of the code, is a Result.
func Turn(in Input) (out Output, err error) {
	err = TurnInto(&out, &in)
	return out, err
}

// TurnInto is like Turn but overwrites out, which need not be empty. An error leaves out unchanged.
func TurnInto(out *Output, in *Input) error {
	err := runTurn(out, in)
	if err != nil || !in.DoubleCheck {
		return err
	}
	replayed, again, first := *in, Output{}, *out
	replayed.Keep, replayed.Kept = false, nil
	if err := runTurn(&again, &replayed); err != nil {
		return err
	}
	if first.Resumed { // a replay polls the code more often, and may log again what the last turn has logged
		first.Polls, first.Traces = again.Polls, again.Traces
	}
	first.Kept, first.Resumed = nil, false
	out.Nondeterministic = difference(&first, &again)
	return nil
}

// turn is the state of a single computation. An Arena reuses its memory but none of its contents.
type turn struct {
	in      *Input
	given   Input // what in points to
	next    *turn // in Arena.spare
	resumed bool  // it goes on from Input.Kept
	rules   *Rules
	info    orchhost.Info
	stamp   string // the build's version as text
	input   string
	parent  *engine.ParentLink
	pinned  *engine.Version // see pin
	pinRead bool
	pinRoom engine.Version // storage for the target of pinned

	delta  []engine.Event
	sched  []schedule // by position
	nextID uint64     // id of the next schedule event

	ended      bool // the baseline has a terminal event, which need not be the last event
	cancelled  bool // a cancel request is recorded
	reason     string
	abort      engine.ErrorDetails // why the turn failed; zero if it has not
	crumbs     []int               // positions of schedules with a persisted dropped_future breadcrumb
	unrecorded []engine.WorkItem   // detached starts without an event
	refusals   []engine.WorkItem   // answers to parents of duplicate starts
	pending    []pending
	continues  *orchhost.Action // the first continue-as-new
	canRoom    orchhost.Action  // storage for the target of continues
	cancels    []childCancel

	code
	state
	walk walk
	out  Output
}

// childCancel is a cancel request for the child scheduled at pos.
type childCancel struct {
	pos  int
	item engine.CancelInstanceItem
}

// pending is a new schedule that may need a work item.
type pending struct {
	pos     int
	version string // the child's handler version
}

func runTurn(out *Output, in *Input) (err error) {
	if in.Handler == nil {
		return errors.New("replay: no handler")
	}
	in.with(func(t *turn) {
		if err = t.compute(); err == nil {
			*out = t.out
		}
	})
	return err
}

// compute computes the turn into t.out.
func (t *turn) compute() error {
	if !t.resumed {
		if err := t.begin(); err != nil {
			return err
		}
	}
	if t.ended {
		t.dropAll()
		return nil
	}
	if err := t.prep(); err != nil {
		return err
	}
	if t.abort.IsZero() {
		if !t.resumed {
			t.start()
		}
		if t.replay() {
			t.convert()
			t.settleDrops()
		}
	}
	t.out.Resumed = t.resumed
	if t.goesOn() && t.keeps() {
		if t.finish(); t.out.Result == ResultContinue {
			t.out.Kept = &Kept{t}
			return nil
		}
		t.tearDown()
		return nil
	}
	if len(t.tasks) > 0 {
		t.tearDown()
	}
	t.finish()
	return nil
}

// goesOn reports whether nothing has ended the execution yet.
func (t *turn) goesOn() bool {
	return t.abort.IsZero() && !t.returned && t.continues == nil && !(t.cancelled && t.rules.CancelEnds)
}

// End ends an execution from outside with the failure details, without running its code. It has all the usual
// consequences of an end. End ignores Input.Messages, Input.Start and Input.Handler. The history must not be empty.
func End(in Input, details engine.ErrorDetails) (Output, error) {
	if len(in.History) == 0 {
		return Output{}, errors.New("replay: nothing to end")
	}
	var (
		out Output
		err error
	)
	in.with(func(t *turn) {
		if err = t.begin(); err != nil {
			return
		}
		t.fail(ResultFailed, details)
		t.out.Delta = t.ownDelta()
		out = t.out
	})
	return out, err
}

// begin checks the input, indexes the baseline, and writes the first event of a new execution.
func (t *turn) begin() error {
	in := t.in
	switch {
	case in.Build == nil:
		return errors.New("replay: no build")
	case len(in.History) == 0 && in.Start == nil:
		return errors.New("replay: neither history nor start")
	case in.Rules != nil && in.Rules.Writes != nil:
		t.rules = in.Rules
	default:
		t.rules = &defaultRules
	}
	t.stamp = t.arena.stampOf(in.Build)
	t.sched = slices.Grow(t.sched, len(in.History)+len(in.Messages)+8)[:len(in.History)]
	clear(t.sched)
	for i := range in.History {
		if err := t.index(i, &in.History[i]); err != nil {
			return err
		}
	}
	t.nextID = engine.InitialEventID
	t.kv, t.parent = in.KVSnapshot, in.Parent
	if n := len(in.History); n > 0 {
		t.nextID = in.History[n-1].EventID + 1
		t.readStart()
	} else {
		t.writeStart()
	}
	if t.rules.ByOrigin != nil {
		own := *t.rules
		t.rules = &own
		own.ByOrigin(t.pin(), &own)
	}
	return nil
}

// readStart reads the code's parameters from the first event. If that event is not a valid start, readStart fails the
// turn.
func (t *turn) readStart() {
	s, ok := t.in.History[0].Data.(eventdata.OrchestrationStarted)
	if !ok {
		t.disagree(mismatch(corruptedHistory, t.in.History[0].EventID, "corrupted history: first event must be OrchestrationStarted"))
		return
	}
	t.info.Name, t.info.Version, t.input, t.status = s.Name, s.Version, s.Input, s.InitialCustomStatus
	if p := LinkOf(s.ParentInstance, s.ParentExecutionID, s.ParentID, t.in.Parent); p != nil {
		t.parent = p
	}
}

// writeStart records the start, followed by the carried-forward messages. They arrive before all other messages.
func (t *turn) writeStart() {
	s := t.in.Start
	t.info.Name, t.info.Version, t.input, t.status = s.Name, s.Version, s.Input, s.InitialCustomStatus
	if s.Parent != nil {
		link := *s.Parent
		link.ExecutionID = max(link.ExecutionID, engine.InitialExecutionID)
		t.parent = &link
	}
	started := eventdata.OrchestrationStarted{
		Name: s.Name, Version: s.Version, Input: s.Input,
		CarryForwardEvents: slices.Clone(s.CarryForwardEvents), InitialCustomStatus: s.InitialCustomStatus,
	}
	meta := &t.out.Metadata
	meta.OrchestrationName, meta.OrchestrationVersion = s.Name, s.Version
	if p := t.parent; p != nil {
		started.ParentInstance, started.ParentExecutionID, started.ParentID = p.Instance, p.ExecutionID, p.EventID
		meta.ParentInstanceID, meta.ParentExecutionID, meta.ParentEventID = p.Instance, p.ExecutionID, p.EventID
	}
	t.pinRoom = t.in.Build.Version
	t.pinned, t.pinRead = &t.pinRoom, true
	t.add(0, started)
	if t.writes(eventdata.KindLegacyNote) {
		t.add(0, eventdata.LegacyNote{Text: "started by duroxide " + t.stamp})
	}
	for _, e := range s.CarryForwardEvents {
		t.add(0, eventdata.QueueEventDelivered(e))
	}
}

// add appends an event with the next id to the delta and returns its position.
func (t *turn) add(source uint64, data engine.EventData) int {
	t.delta = append(t.delta, engine.Event{
		EventID: t.nextID, SourceEventID: source, InstanceID: t.in.Instance, ExecutionID: t.in.ExecutionID,
		TimestampMs: t.in.NowMs, DuroxideVersion: t.stamp, Data: data,
	})
	t.sched = append(t.sched, schedule{})
	t.nextID++
	return len(t.sched) - 1
}

// at returns the event at pos.
func (t *turn) at(pos int) *engine.Event {
	if n := len(t.in.History); pos >= n {
		return &t.delta[pos-n]
	}
	return &t.in.History[pos]
}

// pin returns the version of the build that wrote the execution's first event, or nil if the event's stamp is not a
// version.
func (t *turn) pin() *engine.Version {
	if !t.pinRead {
		t.pinRead = true
		if v, err := engine.ParseVersion(t.in.History[0].DuroxideVersion); err == nil {
			t.pinRoom = v
			t.pinned = &t.pinRoom
		}
	}
	return t.pinned
}

// discards reports whether a dropped wait discards its arrival.
func (t *turn) discards() bool {
	return t.rules.DiscardsFreed || t.semantics() == engine.SemanticsDiscard
}

// semantics returns the turn's replay semantics.
func (t *turn) semantics() engine.Semantics {
	if len(t.in.Build.Changes) == 0 {
		return t.in.Build.Semantics
	}
	x := Origin{Stamp: t.pin(), Continued: t.in.ExecutionID > engine.InitialExecutionID, First: len(t.in.History) == 0, Replaying: t.replaying}
	x.Latest = x.Stamp
	if n := len(t.in.History); n > 0 {
		if v, err := engine.ParseVersion(t.in.History[n-1].DuroxideVersion); err == nil {
			x.Latest = &v
		}
	}
	return t.rules.Semantics(t.in.Build, x)
}

// writes reports whether this turn may write events of kind k.
func (t *turn) writes(k engine.EventKind) bool {
	return t.rules.Writes(t.in.Build, k, t.pin())
}
