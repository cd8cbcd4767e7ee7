package machine

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/asked"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/replay"
	"github.com/durosim/durosim/internal/slab"
)

// Room holds reusable memory for the effects returned by Step, so that an ordinary step does not allocate. Nodes that
// are never stepped concurrently may share a Room. The zero value is ready to use.
type Room struct {
	calls      slab.Slab[ProviderCall]
	timers     slab.Slab[SetTimer]
	stops      slab.Slab[CancelTimer]
	turns      slab.Slab[RunTurn]
	activities slab.Slab[RunActivity]
	notes      slab.Slab[Note]
	turnNotes  slab.Slab[TurnNote]
	called     activityCall
	asked      asked.Recorder // requests of the turn being computed
	output     replay.Output  // output of the turn being computed
	steps      int            // since takeBack
	// Memory for the contents of acks, which a node retains between steps and passes to the provider.
	events    slab.Slab[engine.Event]
	items     slab.Slab[engine.WorkItem]
	cancelled slab.Slab[engine.ScheduledActivityIdentifier]
	starts    slab.Slab[replay.Start]
}

// activityCall is one call to an activity's code.
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

// forget clears the activityCall for reuse.
func (a *activityCall) forget() { *a = activityCall{call: a.call} }

// activity returns the activityCall to use for the next call. An activity's code may itself step another node, which
// then gets its own activityCall.
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

// stepsAtOnce is the number of steps whose effects takeBack frees at once, because a takeBack costs as much as several
// effects.
const stepsAtOnce = 16

// NextStep declares that the effects of earlier steps are no longer in use.
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

// NextRun reclaims all memory. The nodes and effects of earlier runs must no longer be in use.
func (r *Room) NextRun() {
	r.takeBack()
	r.events.Reset()
	r.items.Reset()
	r.cancelled.Reset()
	r.starts.Reset()
}
