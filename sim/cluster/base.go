package cluster

import (
	"context"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/plan"
)

// base is what all parts of a world share: the plan, the time, the record of the run, the store, and how far the run
// has come. A part has its own state besides, and knows only those other parts for which it has a field.
type base struct {
	*journal
	cfg     *Config
	plan    *plan.Plan
	builds  []*engine.Build
	chooser sim.Chooser
	root    sim.Key
	store   *memprovider.Store
	foreign *foreign // the store from Config.Store, which store follows; nil if the nodes use store itself
	// storeHandle returns a caller's handle to the store, as World.handleOf makes it.
	storeHandle func(codec engine.Codec, caller observe.Caller) engine.Provider
	carryOut    func(e event) // carries out an event, as World.handle does
	storeCall   uint64        // the store's number for its last call
	ackStep     int           // the ack step at which the store fails, or -1
	downUntil   sim.Time      // the store rejects every call until then
	planted     *faults.Planted
	drawn       drawnTable
	ctx         context.Context
	phase       Phase
	changed     bool  // the current event changed something or made a call
	ended       bool  // the run is over
	failure     error // why the run cannot continue: something outside the simulation has failed
	help        []Help
	// preloaded lists what was written to the store without a call.
	preloaded []memprovider.PreloadedInstance
}

// event is an entry in the kernel's queue. It is plain data.
type event struct {
	kind eventKind
	node uint32 // number
	inc  uint32
	a, b uint64
}

type eventKind uint8

const (
	evSchedule    eventKind = iota // a: index of the step
	evNodeStart                    // node
	evTimer                        // node, inc, a: timer id
	evJob                          // node, inc, a: job id, b: 1 if the activity panics
	evRequest                      // a: index of the call, as below up to evEmptyPoll
	evInside                       // node, inc: a wait inside the store ends
	evReply                        // node, inc: a wait after the call took effect ends
	evAnswer                       // node, inc
	evDeadline                     // node, inc
	evWake                         // a parked fetch is retried
	evEmptyPoll                    // a: index of the call: a parked fetch polls and must find nothing
	evManage                       // a: index of an operator's call whose wait in the store ends
	evServed                       // a serial store has served the first fetch in line
	evGroup                        // a: index of the group: time may have made something eligible
	evResume                       // node
	evKill                         // node, inc: a drain took too long
	evActivate                     // node: it learns that its build is activated; 0: try once more to activate it
	evInstance                     // a: index of the instance, b: attempt
	evAction                       // a: index of the instance, b: action index and attempt, packed
	evKick                         // a: index of the preloaded history
	evProbe                        // a: index of the probe
	evProbeEnd                     // a: index of the probe, b: index of what it holds
	evRecovery                     // the fault phase is over
	evTick                         // recovery: check whether anything is still pending
	evUntil                        // the end set by the plan
	evDeadLetters                  // the dead-letter policy examines the queue
)

// never is the store time of an event that will not happen just because time passes.
const never = memprovider.Never
