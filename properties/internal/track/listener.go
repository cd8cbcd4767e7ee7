package track

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/machine"
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/sim/cluster"
)

// listener is told of facts at the instant at which they happen, by the shared state, which is up to date with them. It
// must not keep the pointers. Embed Deaf to get methods that do nothing.
type listener interface {
	// OnAccepted: a message was inserted into the orchestrator queue.
	OnAccepted(o *observe.Observation)
	// OnDelivered: a fetch handed something out, whoever asked.
	OnDelivered(o *observe.Observation)
	// OnFetched: a node was handed an instance.
	OnFetched(number uint32, d *Delivery)
	// OnPassed: a fetch passed over an instance with visible work because of its filter. At each fetch that may have done
	// so, Passes returns how many of these facts the listener wants; every listener receives as many as the listener that
	// wants most.
	OnPassed(by observe.Caller, in *model.Instance)
	Passes() Passing
	// OnCommitted: a node's ack of an instance took effect; d is nil if the delivery is not known.
	OnCommitted(number uint32, d *Delivery, no observe.InstanceNo, ack *engine.OrchestrationAck)
	// OnNoted: a node has decided about a delivery.
	OnNoted(n *Node, d *Delivery, note *machine.Note)
	// OnWaits: visible work waits from now on, since no live node admits it.
	OnWaits(in *model.Instance)
	// OnWaited: the wait is over, since a node admits the work, or since none of it is queued any longer.
	OnWaited(in *model.Instance)
	// OnStarted: a node is up. OnCrashed: a node is about to be down, and still holds its deliveries.
	OnStarted(n *Node)
	OnCrashed(n *Node)
	// OnHandlers: the handlers of a node have changed.
	OnHandlers(r *cluster.Record)
}

// Passing is the number of passed-over instances of a fetch that a listener asks for.
type Passing uint8

const (
	PassNone Passing = iota
	PassFirst
	PassAll
)

// Deaf is a listener that ignores every fact.
type Deaf struct{}

func (Deaf) OnAccepted(*observe.Observation)                                             {}
func (Deaf) OnDelivered(*observe.Observation)                                            {}
func (Deaf) OnFetched(uint32, *Delivery)                                                 {}
func (Deaf) OnPassed(observe.Caller, *model.Instance)                                    {}
func (Deaf) Passes() Passing                                                             { return PassNone }
func (Deaf) OnCommitted(uint32, *Delivery, observe.InstanceNo, *engine.OrchestrationAck) {}
func (Deaf) OnNoted(*Node, *Delivery, *machine.Note)                                     {}
func (Deaf) OnWaits(*model.Instance)                                                     {}
func (Deaf) OnWaited(*model.Instance)                                                    {}
func (Deaf) OnStarted(*Node)                                                             {}
func (Deaf) OnCrashed(*Node)                                                             {}
func (Deaf) OnHandlers(*cluster.Record)                                                  {}

// Subscribe registers a listener for facts from now on. Listeners are told in the order in which they subscribed.
func (s *State) Subscribe(l listener) { s.listeners = append(s.listeners, l) }
