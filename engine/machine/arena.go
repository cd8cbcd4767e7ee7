package machine

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/asked"
	"github.com/durosim/durosim/engine/replay"
	"github.com/durosim/durosim/internal/arena"
	"github.com/durosim/durosim/internal/watchdog"
)

// Arena is memory that successive steps of nodes use again, so that an ordinary step does not allocate. Nodes that are
// never stepped concurrently may share an Arena. The zero value is ready to use, but has no memory for turns.
type Arena struct {
	replay     *replay.Arena // for turns and activities, or nil
	calls      arena.Of[ProviderCall]
	timers     arena.Of[SetTimer]
	stops      arena.Of[CancelTimer]
	turns      arena.Of[RunTurn]
	activities arena.Of[RunActivity]
	notes      arena.Of[Note]
	turnNotes  arena.Of[TurnNote]
	asked      asked.Recorder // requests of the turn being computed
	output     replay.Output  // output of the turn being computed
	steps      int            // since takeBack
	// Memory for the contents of acks, which a node retains between steps and passes to the provider.
	events arena.Of[engine.Event]
	items  arena.Of[engine.WorkItem]
	starts arena.Of[replay.Start]
	slots  arena.Of[slot] // of the run's nodes
}

// NewArena returns an Arena that has memory for turns, too, and must be closed after use.
func NewArena() *Arena { return &Arena{replay: replay.NewArena()} }

// Watch makes w see when code runs. The Arena must be from NewArena.
func (m *Arena) Watch(w *watchdog.Watch) { m.replay.Watch(w) }

// Close ends the idle coroutines of an Arena from NewArena, which can be used again afterwards.
func (m *Arena) Close() { m.replay.Close() }

// stepsAtOnce is the number of steps whose effects takeBack frees at once, because a takeBack costs as much as several
// effects.
const stepsAtOnce = 16

// NextStep declares that the effects of earlier steps are no longer in use.
func (m *Arena) NextStep() {
	if m.steps++; m.steps == stepsAtOnce {
		m.takeBack()
	}
}

func (m *Arena) takeBack() {
	m.steps = 0
	m.calls.Reset()
	m.timers.Reset()
	m.stops.Reset()
	m.turns.Reset()
	m.activities.Reset()
	m.notes.Reset()
	m.turnNotes.Reset()
}

// NextRun reclaims all memory. The nodes and effects of earlier runs must no longer be in use.
func (m *Arena) NextRun() {
	m.takeBack()
	if m.replay != nil {
		m.replay.Reset()
	}
	m.events.Reset()
	m.items.Reset()
	m.starts.Reset()
	m.slots.Reset()
}
