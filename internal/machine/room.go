package machine

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/internal/asked"
	"github.com/durosim/durosim/internal/replay"
	"github.com/durosim/durosim/internal/slab"
)

// Room is memory for the effects that steps return, so that an ordinary step allocates none of them. Nodes that step one at a
// time may share one. The zero value is ready.
type Room struct {
	calls      slab.Slab[ProviderCall]
	timers     slab.Slab[SetTimer]
	stops      slab.Slab[CancelTimer]
	turns      slab.Slab[RunTurn]
	activities slab.Slab[RunActivity]
	notes      slab.Slab[Note]
	turnNotes  slab.Slab[TurnNote]
	called     activityCall
	asked      asked.Recorder // of the turn that is computed
	output     replay.Output  // of it
	steps      int            // since the effects were taken back
	// What a node keeps from step to step, or hands to the provider: the contents of acks.
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
	call            func() // the method value run, made once
}

func (a *activityCall) run() {
	var err error
	if a.result, err = a.code(a.ctx, a.input); err != nil {
		a.failure, a.failed = err.Error(), true
	}
}

// forget makes the value ready for the next call.
func (a *activityCall) forget() { *a = activityCall{call: a.call} }

// activity returns the value in which the next activity is called. Code that steps a node of its own gets another one.
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

// stepsAtOnce is how many steps' effects are taken back together: each time costs as much as a few effects.
const stepsAtOnce = 16

// NextStep says that the effects of earlier steps are no longer in use.
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

// NextRun takes back all memory: the nodes of the previous run and their effects are no longer in use.
func (r *Room) NextRun() {
	r.takeBack()
	r.events.Reset()
	r.items.Reset()
	r.cancelled.Reset()
	r.starts.Reset()
}
