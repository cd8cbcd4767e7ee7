package machine

import (
	"container/list"

	"github.com/durosim/durosim/engine/replay"
)

// kept holds the executions whose code a node keeps suspended between turns (node.Options.KeptExecutions). Its order
// begins with the one whose last turn is longest ago.
type kept struct {
	order      list.List // of keptExecution
	byInstance map[string]*list.Element
}

type keptExecution struct {
	instance string
	code     *replay.Kept
	turns    int // how many in a row have gone on from a kept execution
}

// take returns the instance's execution, which is no longer kept then.
func (k *kept) take(instance string) keptExecution {
	e := k.byInstance[instance]
	if e == nil {
		return keptExecution{}
	}
	delete(k.byInstance, instance)
	return k.order.Remove(e).(keptExecution)
}

// put keeps an execution, and drops the one used longest ago if there are more than most.
func (k *kept) put(x keptExecution, most int) {
	if k.byInstance == nil {
		k.byInstance = map[string]*list.Element{}
	}
	k.byInstance[x.instance] = k.order.PushBack(x)
	if k.order.Len() > most {
		k.take(k.order.Front().Value.(keptExecution).instance).code.Drop()
	}
}

// keep fills in what a turn goes on from, and makes it keep the execution. It returns how many turns in a row have gone on
// from there.
func (n *Node) keep(in *replay.Input) (turns int) {
	if n.options.KeptExecutions == 0 {
		return 0
	}
	x := n.kept.take(in.Instance)
	if n.options.KeptTurns > 0 && x.turns == n.options.KeptTurns {
		x.code.Drop()
		x = keptExecution{} // so that the replay is watched
	}
	in.Keep, in.Kept = true, x.code
	return x.turns
}

// Keeps reports whether the node keeps an execution of the instance.
func (n *Node) Keeps(instance string) bool { return n.kept.byInstance[instance] != nil }

// Forget drops the kept execution of an instance, if there is one: its next turn replays the history.
func (n *Node) Forget(instance string) { n.kept.take(instance).code.Drop() }

// Close drops all kept executions. It must be called at the end of a node that has KeptExecutions.
func (n *Node) Close() {
	for n.kept.order.Len() > 0 {
		n.Forget(n.kept.order.Front().Value.(keptExecution).instance)
	}
}
