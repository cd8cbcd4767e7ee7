package cluster

import (
	"slices"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/internal/kernel"
)

type callState struct {
	no        uint64 // the world's number for the call, from 1, as used in events
	owner     *nodeState
	node, inc uint32 // the caller's number and incarnation
	id        machine.CallID
	slot      machine.Slot
	request   call.Call
	cause     string          // why the node gives work back
	provider  engine.Provider // handle of the incarnation that made the call
	deadline  time.Duration   // counted from sentAt
	cadence   time.Duration   // for a fetch, the interval at which the node would poll
	once      bool            // a fetch that does not wait
	lost      bool            // the request never arrives
	refused   bool            // the store refuses the call permanently
	key       sim.Key
	sentAt    sim.Time
	kind      observe.CallKind
	state     callPhase
	cancelled bool                 // the node cancelled the fetch
	emptyPoll bool                 // the current attempt must find nothing
	stalled   bool                 // the call has waited inside the store
	arrival   *memprovider.Arrival // what the call saw on arrival, while it waits
	tries     uint32               // number of attempts at the store; above 1 only for a parked fetch
	answer    machine.Answer
	storeCall uint64 // the store's number for the last attempt; 0 if a fault rejected it
	triedAt   sim.Time
	// For parked fetches:
	group    int           // index of the group; -1 until first parked
	parkedAt sim.Time      // when first parked; 0 until then
	wake     kernel.Handle // the next attempt, while the group is waking this call
}

// callTable holds a run's calls in blocks, so that it can grow without moving them.
type callTable struct {
	blocks []*[callBlock]callState // a block is nil once all its calls are over
	n      int
	gone   callState // stands in for the calls of nil blocks
	keep   bool      // never drop blocks
}

// callBlock is the number of calls in a block. dropEvery is the number of new blocks after which drop is called again.
const (
	callBlock = 64
	dropEvery = 16
)

// add adds a call and returns it with its number.
func (t *callTable) add() (uint64, *callState) {
	if t.n == len(t.blocks)*callBlock {
		t.drop()
		t.blocks = append(t.blocks, new([callBlock]callState))
	}
	t.n++
	return uint64(t.n), t.at(uint64(t.n))
}

// at returns the call with the given number. Calls never move, so the pointer remains valid.
func (t *callTable) at(no uint64) *callState {
	i := no - 1
	if b := t.blocks[i/callBlock]; b != nil {
		return &b[i%callBlock]
	}
	t.gone = callState{no: no, owner: &nodeState{}, state: callDone, group: -1}
	return &t.gone
}

// over reports whether nothing more can happen to a call. A call that its caller has given up on may still be in
// transit or waiting in the store.
func (c *callState) over() bool {
	return c.state == callDone && (c.tries > 0 || c.lost) && c.arrival == nil
}

// drop releases the blocks in which all calls are over, so that a run holds only calls in progress.
func (t *callTable) drop() {
	if t.keep || len(t.blocks)%dropEvery != 0 {
		return // a serial store's line still refers to finished calls
	}
	for k := callBlocks; k < len(t.blocks); k++ { // earlier blocks are owned by an Arena
		if b := t.blocks[k]; b != nil && !slices.ContainsFunc(b[:], func(c callState) bool { return !c.over() }) {
			t.blocks[k] = nil
		}
	}
}

type callPhase uint8

const (
	callSent      callPhase = iota // the request is in transit or at the store
	callWaiting                    // the call waits inside the store
	callParked                     // a fetch that waits for work
	callAnswering                  // the answer is in transit or lost
	callDone                       // answered, given up on, or its caller is gone
)

// alive reports whether the incarnation that made the call is still running.
func (c *callState) alive() bool { return c.owner.inc == c.inc && c.owner.machine != nil }
