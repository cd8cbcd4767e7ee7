package selfcheck

import (
	"reflect"
	"slices"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/cluster"
)

// sweeping is the state of a node's sweeper (docs/strategies.md). In one pass, the sweeper inspects queued work until
// it sees an instance for the second time, finds nothing, or has inspected 64 pieces of work. It ends work that it
// cannot replay and has been seeing for as long as the plan's patience.
type sweeping struct {
	met     []string // the instances seen in this pass
	between bool     // the next inspection starts a new pass
	blocked []sighting
}

// sighting records a batch that the node cannot replay.
type sighting struct {
	instance    string
	execution   uint64
	events      int             // how many of the history's events can be read
	first       engine.WorkItem // nil if none of the batch's messages can be decoded
	since, last int64           // when the first and the most recent sweep saw the batch, in ms of store time
}

// mostLooks is the largest number of pieces of work that a pass inspects.
const mostLooks = 64

// nextLook sets the time of a sweeper's next fetch: at once, or after a pause if the pass has ended.
func (k *nodes) nextLook(n *nodeState, s *slot, at sim.Time) {
	after := time.Duration(0)
	if n.sweeping.between {
		n.sweeping.between, n.sweeping.met = false, n.sweeping.met[:0]
		after = k.patience.Every
	}
	k.due(s, fetchOf(s), at, after)
}

// endPass ends a pass. It forgets work that the sweeper has not seen for a while, because such work is not blocked.
func (k *nodes) endPass(n *nodeState, nowMs int64) {
	n.sweeping.between = true
	after := k.patience.After.Milliseconds()
	n.sweeping.blocked = slices.DeleteFunc(n.sweeping.blocked, func(x sighting) bool {
		if x.first == nil {
			return nowMs-x.last > after/2
		}
		return nowMs-x.last > after
	})
}

// judgeLook returns the decision that a sweeper must make about a batch.
func (k *nodes) judgeLook(n *nodeState, r *cluster.Record, f *engine.FetchedOrchestration) duty {
	v := k.judgeBatch(n, f) // needed for the names in the log lines, and for executions that have ended
	if v.decision == machine.DecideDrained {
		return v
	}
	w := &n.sweeping
	if slices.Contains(w.met, f.Item.Instance) {
		k.endPass(n, r.AtMs)
	} else if w.met = append(w.met, f.Item.Instance); len(w.met) == mostLooks {
		k.endPass(n, r.AtMs)
	}
	b := readBatch(&f.Item)
	supported := &n.admits.SupportedVersions[0]
	looked := duty{decision: machine.DecideLooked, execution: f.Item.ExecutionID, uncounted: true, pin: b.pin}
	if b.next {
		looked.execution++
	}
	if admits(n.admits, b.pin) {
		looked.delay, looked.cause = 100*time.Millisecond, "a sweeper looked at it"
		return looked
	}
	blocked := time.Duration(r.AtMs-n.sight(&b, looked.execution, r.AtMs)) * time.Millisecond
	waits := b.continuing && !b.next && !b.undecoded
	if waits || blocked < k.patience.After {
		looked.delay, looked.cause = time.Second, incompatible(b.pin, supported)
		return looked
	}
	if v.decision == machine.DecideDropTerminal || v.decision == machine.DecideDropUnstarted {
		return v
	}
	swept := duty{decision: machine.DecideSwept, execution: looked.execution, pin: b.pin}
	if b.continuing && !b.next {
		swept.execution++
	}
	swept.cause = "swept: blocked for " + blocked.Truncate(time.Second).String() + ", since no node took it; " + incompatible(b.pin, supported)
	return swept
}

// sight records that the sweeper has seen a batch that the node cannot replay. It returns the store time at which the
// sweeper first saw the batch.
func (n *nodeState) sight(b *batch, execution uint64, nowMs int64) int64 {
	now := sighting{instance: b.item.Instance, execution: execution, events: len(b.item.History), since: nowMs, last: nowMs}
	if len(b.item.Messages) > 0 {
		now.first = b.item.Messages[0]
	}
	for i := range n.sweeping.blocked {
		x := &n.sweeping.blocked[i]
		if x.instance == now.instance && x.execution == execution && x.events == now.events && reflect.DeepEqual(x.first, now.first) {
			x.last = nowMs
			return x.since
		}
	}
	n.sweeping.blocked = append(n.sweeping.blocked, now)
	return nowMs
}
