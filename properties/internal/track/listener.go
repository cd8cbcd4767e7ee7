package track

import (
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/sim/cluster"
)

// listener receives facts from the shared state at the moment they happen; by then, the state already includes them. A
// listener must not retain the pointers. Embed NopListener to get methods that do nothing.
type listener interface {
	// OnAccepted is called when a message was inserted into the orchestrator queue.
	OnAccepted(o *observe.Observation)
	// OnDelivered is called when a fetch delivered work to any caller.
	OnDelivered(o *observe.Observation)
	// OnFetched is called when a node received an instance.
	OnFetched(number uint32, d *Delivery)
	// OnPassed is called when a fetch skipped an instance with visible work because of its filter. Passes is called at
	// each fetch that may have done so, and returns how many of these facts the listener wants. Every listener receives
	// as many as the one that wants the most.
	OnPassed(by observe.Caller, in *model.Instance)
	Passes() Passing
	// OnCommitted is called when a node's ack of an instance took effect. d is nil if the delivery is unknown.
	OnCommitted(number uint32, d *Delivery, no observe.InstanceNo, c *model.Call)
	// OnNoted is called when a node has made a decision about a delivery.
	OnNoted(n *Node, d *Delivery, note *machine.Note)
	// OnWaits is called when visible work, unless an end has left it over, starts waiting because no live node admits it,
	// or, if it did so because time passed, before the next change.
	OnWaits(in *model.Instance, sinceMs int64)
	// OnWaited is called when such a wait is over, either because a node admits the work or because none of it is
	// queued any more.
	OnWaited(in *model.Instance)
	// OnStarted is called once a node is up. OnCrashed is called just before a node goes down, while the node still
	// holds its deliveries.
	OnStarted(n *Node)
	OnCrashed(n *Node)
	// OnHandlers is called when a node's handlers have changed.
	OnHandlers(r *cluster.Record)
}

// Passing says how many of the instances that a fetch skipped a listener wants to be notified of.
type Passing uint8

const (
	PassNone Passing = iota
	PassFirst
	PassAll
)

// NopListener is a listener that ignores every fact.
type NopListener struct{}

func (NopListener) OnAccepted(*observe.Observation)                                {}
func (NopListener) OnDelivered(*observe.Observation)                               {}
func (NopListener) OnFetched(uint32, *Delivery)                                    {}
func (NopListener) OnPassed(observe.Caller, *model.Instance)                       {}
func (NopListener) Passes() Passing                                                { return PassNone }
func (NopListener) OnCommitted(uint32, *Delivery, observe.InstanceNo, *model.Call) {}
func (NopListener) OnNoted(*Node, *Delivery, *machine.Note)                        {}
func (NopListener) OnWaits(*model.Instance, int64)                                 {}
func (NopListener) OnWaited(*model.Instance)                                       {}
func (NopListener) OnStarted(*Node)                                                {}
func (NopListener) OnCrashed(*Node)                                                {}
func (NopListener) OnHandlers(*cluster.Record)                                     {}

// Subscribe makes a listener receive facts from now on. Listeners are called in the order in which they subscribed.
func (s *State) Subscribe(l listener) { s.listeners = append(s.listeners, l) }
