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
	no        uint64 // the world's number of the call, from 1, as in events
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
	arrival   *memprovider.Arrival // its arrival, while it waits
	tries     uint32               // number of tries at the store; above 1 only for a parked fetch
	answer    machine.Answer
	storeCall uint64 // the store's number of the last try; 0 if a fault refused it
	triedAt   sim.Time
	// For parked fetches:
	group    int           // index of the group, -1 before the first parking
	parkedAt sim.Time      // of the first parking, 0 before
	wake     kernel.Handle // the next try, while the group wakes this call
}

// callTable holds a run's calls in blocks, so that it grows without moving them.
type callTable struct {
	blocks []*[callBlock]callState // a block is nil when all its calls are over
	held   []int                   // the blocks beyond callBlocks that are not nil, ascending
	n      int
	gone   callState // stands for the calls of nil blocks
	keep   bool      // never drop blocks
}

// callBlock is the number of calls in a block, and dropEvery the number of new blocks between two calls of drop.
const (
	callBlock = 64
	dropEvery = 16
)

// add adds a call and returns it with its number.
func (t *callTable) add() (uint64, *callState) {
	if t.n == len(t.blocks)*callBlock {
		t.drop()
		if len(t.blocks) >= callBlocks { // earlier blocks belong to a Memory
			t.held = append(t.held, len(t.blocks))
		}
		t.blocks = append(t.blocks, new([callBlock]callState))
	}
	t.n++
	return uint64(t.n), t.at(uint64(t.n))
}

// at returns the call with this number. Calls never move, so the pointer stays valid and can be passed on.
func (t *callTable) at(no uint64) *callState {
	i := no - 1
	if b := t.blocks[i/callBlock]; b != nil {
		return &b[i%callBlock]
	}
	t.gone = callState{no: no, owner: &nodeState{}, state: callDone, group: -1}
	return &t.gone
}

// over reports whether nothing more can happen to a call. A call that its caller gave up may still be in transit or
// wait in the store.
func (c *callState) over() bool {
	return c.state == callDone && (c.tries > 0 || c.lost) && c.arrival == nil
}

// drop releases the blocks whose calls are all over, so that a run holds only calls in progress.
func (t *callTable) drop() {
	if t.keep || len(t.blocks)%dropEvery != 0 {
		return // a serial store's line still refers to calls that are over
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
	callSent      callPhase = iota // the request is in transit or at the store
	callWaiting                    // the call waits inside the store
	callParked                     // a fetch that waits for work
	callAnswering                  // the answer is in transit or lost
	callDone                       // answered, given up, or its caller is gone
)

// alive reports whether the incarnation that made a call still runs.
func (c *callState) alive() bool { return c.owner.inc == c.inc && c.owner.machine != nil }
