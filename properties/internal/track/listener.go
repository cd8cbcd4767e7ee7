package track

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/sim/cluster"
)

// listener is told of facts at the instant at which they happen, by the shared state, which is up to date with them. It
// must not keep the pointers. Embed deaf to get methods that do nothing.
type listener interface {
	// onAccepted: a message was inserted into the orchestrator queue.
	OnAccepted(o *engine.Observation)
	// onDelivered: a fetch handed something out, whoever asked.
	OnDelivered(o *engine.Observation)
	// onFetched: a node was handed an instance.
	OnFetched(number uint32, d *Delivery)
	// onPassed: a fetch passed over an instance with visible work, for its filter. passes is asked at each fetch that may
	// have done so how many of these facts the listener wants; all are told as many as the one that wants most.
	OnPassed(by engine.Caller, in *model.Instance)
	Passes() Passing
	// onCommitted: a node's ack of an instance took effect; d is nil if the delivery is not known.
	OnCommitted(number uint32, d *Delivery, no engine.InstanceNo, ack *engine.OrchestrationAck)
	// onNoted: a node has decided about a delivery.
	OnNoted(n *Node, d *Delivery, note *node.Note)
	// onWaits: visible work waits from now on, since no live node admits it.
	OnWaits(in *model.Instance)
	// onWaited: that is over, since a node admits it, or since nothing of it is queued any more.
	OnWaited(in *model.Instance)
	// onStarted: a node is up; onCrashed: it is about to be down, and holds what it holds.
	OnStarted(n *Node)
	OnCrashed(n *Node)
	// onHandlers: the handlers of a node have changed.
	OnHandlers(r *cluster.Record)
}

// Passing is how many of the instances that a fetch passes over a listener asks for.
type Passing uint8

const (
	PassNone Passing = iota
	PassFirst
	PassAll
)

// Deaf is a listener to whom nothing is news.
type Deaf struct{}

func (Deaf) OnAccepted(*engine.Observation)                                             {}
func (Deaf) OnDelivered(*engine.Observation)                                            {}
func (Deaf) OnFetched(uint32, *Delivery)                                                {}
func (Deaf) OnPassed(engine.Caller, *model.Instance)                                    {}
func (Deaf) Passes() Passing                                                            { return PassNone }
func (Deaf) OnCommitted(uint32, *Delivery, engine.InstanceNo, *engine.OrchestrationAck) {}
func (Deaf) OnNoted(*Node, *Delivery, *node.Note)                                       {}
func (Deaf) OnWaits(*model.Instance)                                                    {}
func (Deaf) OnWaited(*model.Instance)                                                   {}
func (Deaf) OnStarted(*Node)                                                            {}
func (Deaf) OnCrashed(*Node)                                                            {}
func (Deaf) OnHandlers(*cluster.Record)                                                 {}

// Subscribe tells a listener of what happens from now on. Listeners are told in the order in which they came.
func (s *State) Subscribe(l listener) { s.listeners = append(s.listeners, l) }
