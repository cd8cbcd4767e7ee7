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

// base holds the parts of a world and the state they share. Each part is a type with its own state and reaches the
// other parts through the fields here.
type base struct {
	*journal
	cfg     *Config
	plan    *plan.Plan
	builds  []*engine.Build
	chooser sim.Chooser
	root    sim.Key
	store   *memprovider.Store
	foreign *foreign // the store from Config.Store, which store follows; nil if the nodes use store itself
	planted *faults.Planted
	drawn   *drawnTable
	ctx     context.Context
	phase   Phase
	changed bool  // the current event changed something or made a call
	failure error // why the run cannot continue: something outside the simulation has failed
	// preloaded lists what was written to the store without a call.
	preloaded []memprovider.PreloadedInstance

	fleet   *fleet   // the nodes
	network *network // the nodes' calls, in transit and at the store
	parking *parking // fetches that wait for work
	clients *clients // start instances and send them events
	probes  *probes  // make calls that no node makes
	phases  *phases  // turbulence, calm, relief
	letters *letters // the dead-letter policy, or nil
}

// storeHandle returns a caller's handle to the store, wrapped by the monitor if the monitor is a HandleWatcher.
func (b *base) storeHandle(codec engine.Codec, caller observe.Caller) engine.Provider {
	p := b.store.Handle(codec, caller)
	if b.foreign != nil {
		p = b.foreign.handle(codec, p)
	}
	if b.plan.Store.CallersClock {
		p = b.byClock(p, caller)
	}
	if b.letters != nil && caller.Node != 0 {
		p = b.letters.box.Watch(p)
	}
	if b.foreign != nil {
		return p
	}
	return WatchHandle(b.monitor, p, codec)
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
	evSchedule  eventKind = iota // a: index of the step
	evNodeStart                  // node
	evTimer                      // node, inc, a: timer id
	evJob                        // node, inc, a: job id, b: 1 if the activity panics
	evRequest                    // a: index of the call, as below up to evVain
	evInside                     // node, inc: a wait inside the store ends
	evReply                      // node, inc: a wait after the call took effect ends
	evAnswer                     // node, inc
	evDeadline                   // node, inc
	evWake                       // a parked fetch is retried
	evVain                       // a: index of the call: a parked fetch polls and must find nothing
	evManage                     // a: index of an operator's call whose wait in the store ends
	evServed                     // a serial store has served the first fetch in line
	evGroup                      // a: index of the group: time may have made something eligible
	evResume                     // node
	evKill                       // node, inc: a drain took too long
	evInstance                   // a: index of the instance, b: attempt
	evAction                     // a: index of the instance, b: action index and attempt, packed
	evKick                       // a: index of the preloaded history, b: of its first message that was not sent
	evProbe                      // a: index of the probe
	evProbeEnd                   // a: index of the probe, b: index of what it holds
	evCalm                       // turbulence is over
	evTick                       // calm: check whether anything is still pending
	evUntil                      // the end set by the plan
	evLetters                    // the dead-letter policy examines the queue
)

// never is the store time of an event that will not happen just because time passes.
const never = memprovider.Never
