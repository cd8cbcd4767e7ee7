package machine

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/internal/asked"
	"github.com/durosim/durosim/internal/replay"
	"github.com/durosim/durosim/internal/slab"
)

// Room is memory for the effects that steps return, so that an ordinary step does not allocate them. Nodes that step
// one at a time may share a Room. The zero value is ready to use.
type Room struct {
	calls      slab.Slab[ProviderCall]
	timers     slab.Slab[SetTimer]
	stops      slab.Slab[CancelTimer]
	turns      slab.Slab[RunTurn]
	activities slab.Slab[RunActivity]
	notes      slab.Slab[Note]
	turnNotes  slab.Slab[TurnNote]
	called     activityCall
	asked      asked.Recorder // of the turn being computed
	output     replay.Output  // of the turn being computed
	steps      int            // since takeBack
	// The contents of acks, which a node keeps from step to step and passes to the provider.
	events    slab.Slab[engine.Event]
	items     slab.Slab[engine.WorkItem]
	cancelled slab.Slab[engine.ScheduledActivityIdentifier]
	starts    slab.Slab[replay.Start]
}

// activityCall is a call of an activity's code.
type activityCall struct {
	code  node.Activity
	ctx   node.ActivityContext
	input string

	result, failure string
	failed          bool
	call            func() // the method value a.run, allocated once
}

func (a *activityCall) run() {
	var err error
	if a.result, err = a.code(a.ctx, a.input); err != nil {
		a.failure, a.failed = err.Error(), true
	}
}

// forget clears the value for the next call.
func (a *activityCall) forget() { *a = activityCall{call: a.call} }

// activity returns the value for the next activity call. If the code of an activity steps another node, that node gets
// a new value.
func (r *Room) activity() *activityCall {
	a := &r.called
	if a.code != nil {
		a = &activityCall{}
	}
	if a.call == nil {
		a.call = a.run
	}
	return a
}

// stepsAtOnce is the number of steps whose effects takeBack frees together, since each takeBack costs as much as a few
// effects.
const stepsAtOnce = 16

// NextStep tells the room that the effects of earlier steps are no longer in use.
func (r *Room) NextStep() {
	if r.steps++; r.steps == stepsAtOnce {
		r.takeBack()
	}
}

func (r *Room) takeBack() {
	r.steps = 0
	r.calls.Reset()
	r.timers.Reset()
	r.stops.Reset()
	r.turns.Reset()
	r.activities.Reset()
	r.notes.Reset()
	r.turnNotes.Reset()
}

// NextRun takes back all memory. The nodes of the previous run and their effects must no longer be in use.
func (r *Room) NextRun() {
	r.takeBack()
	r.events.Reset()
	r.items.Reset()
	r.cancelled.Reset()
	r.starts.Reset()
}
