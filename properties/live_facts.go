package properties

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/sim/cluster"
)

// listener is told of facts at the instant at which they happen, by the shared state, which is up to date with them. It
// must not keep the pointers. Embed deaf to get methods that do nothing.
type listener interface {
	// onAccepted: a message was inserted into the orchestrator queue.
	onAccepted(o *engine.Observation)
	// onDelivered: a fetch handed something out, whoever asked.
	onDelivered(o *engine.Observation)
	// onFetched: a node was handed an instance.
	onFetched(number uint32, d *delivery)
	// onPassed: a fetch passed over an instance with visible work, for its filter. passes is asked at each fetch that may
	// have done so how many of these facts the listener wants; all are told as many as the one that wants most.
	onPassed(by engine.Caller, in *instanceState)
	passes() passing
	// onCommitted: a node's ack of an instance took effect; d is nil if the delivery is not known.
	onCommitted(number uint32, d *delivery, no engine.InstanceNo, ack *engine.OrchestrationAck)
	// onNoted: a node has decided about a delivery.
	onNoted(n *liveNode, d *delivery, note *node.Note)
	// onWaits: visible work waits from now on, since no live node admits it.
	onWaits(in *instanceState)
	// onStarted: a node is up; onCrashed: it is about to be down, and holds what it holds.
	onStarted(n *liveNode)
	onCrashed(n *liveNode)
	// onHandlers: the handlers of a node have changed.
	onHandlers(r *cluster.Record)
}

// passing is how many of the instances that a fetch passes over a listener asks for.
type passing uint8

const (
	passNone passing = iota
	passFirst
	passAll
)

// deaf is a listener to whom nothing is news.
type deaf struct{}

func (deaf) onAccepted(*engine.Observation)                                             {}
func (deaf) onDelivered(*engine.Observation)                                            {}
func (deaf) onFetched(uint32, *delivery)                                                {}
func (deaf) onPassed(engine.Caller, *instanceState)                                     {}
func (deaf) passes() passing                                                            { return passNone }
func (deaf) onCommitted(uint32, *delivery, engine.InstanceNo, *engine.OrchestrationAck) {}
func (deaf) onNoted(*liveNode, *delivery, *node.Note)                                   {}
func (deaf) onWaits(*instanceState)                                                     {}
func (deaf) onStarted(*liveNode)                                                        {}
func (deaf) onCrashed(*liveNode)                                                        {}
func (deaf) onHandlers(*cluster.Record)                                                 {}

// subscribe tells a listener of what happens from now on. Listeners are told in the order in which they came.
func (s *liveState) subscribe(l listener) { s.listeners = append(s.listeners, l) }
