package cluster

import (
	"slices"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/call"
	"github.com/durosim/durosim/internal/machine"
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/internal/kernel"
)

// callState is a provider call in progress.
type callState struct {
	no        uint64 // the world's number of the call, from 1: what events carry
	owner     *nodeState
	node, inc uint32 // number and incarnation of the caller
	id        machine.CallID
	slot      machine.Slot
	request   call.Call
	provider  engine.Provider // of the incarnation that made the call
	deadline  time.Duration   // counted from sentAt
	cadence   time.Duration   // how often the node would poll, for a fetch
	once      bool            // a fetch that does not wait
	lost      bool            // the request never arrives
	key       sim.Key
	sentAt    sim.Time
	kind      observe.CallKind
	state     callPhase
	cancelled bool                 // the node cancelled the fetch
	vain      bool                 // the current try must find nothing
	stalled   bool                 // the call has waited inside the store
	arrival   *memprovider.Arrival // what it saw when it arrived, while it waits
	tries     uint32               // how often the store was asked; more than once only for a fetch that was parked
	answer    machine.Answer
	storeCall uint64 // the store's number of the last try; 0 if a fault refused it
	triedAt   sim.Time
	// For parked fetches:
	group    int           // index of the group, -1 before the first parking
	parkedAt sim.Time      // of the first parking, 0 before
	wake     kernel.Handle // the next try, while the group wakes this call
}

// callTable holds the calls of a run in blocks, so that it grows without moving them.
type callTable struct {
	blocks []*[callBlock]callState // nil when all its calls are over
	held   []int                   // the blocks beyond callBlocks that are not nil, ascending
	n      int
	gone   callState // stands for the calls of nil blocks
	keep   bool      // drop nothing
}

// callBlock is how many calls a block holds, and dropEvery the number of new blocks between two looks for what is over.
const (
	callBlock = 64
	dropEvery = 16
)

// add makes room for one more call and returns its number.
func (t *callTable) add() (uint64, *callState) {
	if t.n == len(t.blocks)*callBlock {
		t.drop()
		if len(t.blocks) >= callBlocks { // those before are a Memory's
			t.held = append(t.held, len(t.blocks))
		}
		t.blocks = append(t.blocks, new([callBlock]callState))
	}
	t.n++
	return uint64(t.n), t.at(uint64(t.n))
}

// at returns the call with this number. It stays where it is, so whoever works on a call passes this on.
func (t *callTable) at(no uint64) *callState {
	i := no - 1
	if b := t.blocks[i/callBlock]; b != nil {
		return &b[i%callBlock]
	}
	t.gone = callState{no: no, owner: &nodeState{}, state: callDone, group: -1}
	return &t.gone
}

// over reports whether nothing happens to a call any more. One that was given up may still be on its way, or wait in the store.
func (c *callState) over() bool {
	return c.state == callDone && (c.tries > 0 || c.lost) && c.arrival == nil
}

// drop lets go of the blocks whose calls are all over, so that a run holds what is under way and not all that ever was.
func (t *callTable) drop() {
	if t.keep || len(t.blocks)%dropEvery != 0 {
		return // kept where calls stand in line, and are asked for afterwards
	}
	t.held = slices.DeleteFunc(t.held, func(k int) bool {
		for i := range t.blocks[k] {
			if !t.blocks[k][i].over() {
				return false
			}
		}
		t.blocks[k] = nil
		return true
	})
}

type callPhase uint8

const (
	callSent      callPhase = iota // the request is on its way, or at the store
	callWaiting                    // it waits inside the store
	callParked                     // a fetch that waits for something to find
	callAnswering                  // the answer is on its way, or lost
	callDone                       // answered, given up, or its caller is gone
)

// alive reports whether the incarnation that made a call still runs.
func (c *callState) alive() bool { return c.owner.inc == c.inc && c.owner.machine != nil }
