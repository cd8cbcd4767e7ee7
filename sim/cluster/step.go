package cluster

import (
	"fmt"

	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/sim/record"
)

// step feeds one input to a node and carries out the effects it returns.
func (f *fleet) step(n *nodeState, in machine.Input) {
	f.changed = true
	inc := n.inc
	if f.nodeEffects != nil { // a nested step allocates its own slice, to preserve the outer step's effects
		f.arena.nodes.NextStep()
	}
	effects := n.machine.StepInto(in, f.nodeEffects[:0])
	f.nodeEffects = nil
	f.check(n)
	for _, c := range effects {
		if n.machine == nil || n.inc != inc {
			break // the node crashed while sending
		}
		f.do(n, c)
	}
	clear(effects)
	f.nodeEffects = effects
}

// do carries out one of a node's effects.
func (f *fleet) do(n *nodeState, c machine.Effect) {
	switch c := c.(type) {
	case *machine.ProviderCall:
		f.network.send(n, c)
	case *machine.CancelCall:
		f.network.cancelCall(n, c.ID)
	case *machine.SetTimer:
		h := f.kernel.After(c.After, n.incKey.Num(labelTimer, uint64(c.Timer)), event{kind: evTimer, node: n.number, inc: n.inc, a: uint64(c.Timer)})
		n.timers = append(n.timers, timer{c.Timer, h})
	case *machine.CancelTimer:
		if t, ok := n.takeTimer(c.Timer); ok {
			f.kernel.Cancel(t.handle)
		}
	case *machine.RunTurn:
		f.runTurn(n, c)
	case *machine.RunActivity:
		f.runActivity(n, c)
	case *machine.CancelJob:
		if j, ok := n.takeJob(c.Job); ok {
			f.kernel.Cancel(j.handle)
		}
	case *machine.Log:
		f.open(record.Log, n.number, n.inc).Log = c
		f.hand()
	case *machine.Note:
		if c.Decision == machine.DecideTurn {
			f.countTurn(n, c)
		}
		f.checkHandler(n, c)
		r := f.open(record.Note, n.number, n.inc)
		r.Note, r.Slot = c, c.Slot
		f.hand()
	case *machine.Stopped:
		f.stopped(n)
	default:
		panic(fmt.Sprintf("cluster: call %T", c))
	}
}
