package cluster

import (
	"math"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/record"
)

// phases ends the fault phase, begins recovery and rescue, and decides when the run is over.
type phases struct {
	*base
	fleet   *fleet
	parking *parking
	clients *clients
	phaseAt sim.Time // when the current phase began
	rescues int      // number of times rescue has begun
	// helpedFor is the number of times that rescue gave a node another range or build for an instance.
	helpedFor map[string]int
}

// tick is how often, in recovery, clients check their instances and the world checks whether the run is done.
const tick = time.Second

// unwatchedRecovery limits recovery if there is no monitor to report open obligations.
const unwatchedRecovery = 10 * time.Minute

// onRecovery ends the fault phase: faults stop, every core node comes up, and eternal loops are cancelled for the last
// time.
func (ph *phases) onRecovery() {
	ph.changed = true
	ph.end()
	ph.downUntil = 0
	if ph.plan.Unaided || ph.plan.Until > 0 {
		ph.begin(PhaseUnaided)
		ph.parking.leaveZombies()
		ph.tickAt(ph.nowMs())
		return
	}
	ph.begin(PhaseRecovery)
	for _, n := range ph.fleet.list {
		if n.machine != nil && n.paused {
			ph.fleet.resume(n)
		}
	}
	ph.parking.leaveZombies()
	for _, n := range ph.fleet.list {
		if ph.infos[n.number-1].Core && !n.barred {
			if !n.wantUp {
				ph.helped(HelpStart, n.plan.Name, "")
			}
			ph.fleet.startSoon(n)
		}
	}
	for i := range ph.plan.Instances {
		if p := &ph.plan.Instances[i]; p.Expect == plan.EndEternal {
			if s, ok := ph.store.Peek(p.ID); ok && !ended(s.Status) {
				ph.helped(HelpCancel, p.ID, "recovery")
			}
			ph.clients.send(engine.CancelInstanceItem{Instance: p.ID, Reason: plan.RecoveryData}, ph.clients.instanceKey(p.ID).At(labelPhase))
		}
	}
	ph.tickAt(ph.nowMs())
}

func (ph *phases) onUntil() {
	ph.changed = true
	ph.end()
	ph.ended = true
}

// end records the end of the current phase, which is when obligations are checked.
func (ph *phases) end() { ph.record(&Record{Kind: record.PhaseEnded, Phase: ph.phase}) }

// begin begins the next phase.
func (ph *phases) begin(p Phase) {
	ph.phase, ph.phaseAt = p, ph.kernel.Now()
	ph.record(&Record{Kind: record.PhaseBegan, Phase: p})
}

// onTick ends the phase if every obligation is either met or overdue.
func (ph *phases) onTick() {
	if ph.phase == PhaseUnaided {
		switch {
		case ph.plan.Until > 0: // an event ends the run
		case ph.settled():
			ph.onUntil()
		default:
			ph.tickAt(never)
		}
		return
	}
	quietMs := ph.clients.raiseWhatWaits()
	if open, untilMs := ph.open(); open || ph.clients.retries > 0 {
		if open && untilMs < never {
			quietMs = min(quietMs, untilMs+1)
		}
		ph.tickAt(quietMs)
		return
	}
	ph.changed = true
	ph.end()
	if ph.rescue() {
		ph.tickAt(ph.nowMs())
		return
	}
	ph.ended = true
}

// tickAt schedules the next check for the first tick after the next event or after store time ms, whichever is earlier,
// because nothing can change before that. A one-year timer therefore does not cost a tick per second.
func (ph *phases) tickAt(ms int64) {
	now := ph.kernel.Now()
	at := now
	if ms < never {
		at = sim.Time(ms) * 1000
	}
	if next, ok := ph.kernel.Peek(); ok && (next < at || ms >= never) {
		at = next
	}
	ticks := max((min(at.Sub(now), math.MaxInt64-tick)+tick-1)/tick, 1)
	ph.kernel.After(ticks*tick, ph.root.At(labelTick), event{kind: evTick})
}

// open reports whether the phase continues and, if nothing happens, until what store time. The monitor decides. Without
// a monitor, the phase lasts until all of the plan's instances have ended.
func (ph *phases) open() (open bool, untilMs int64) {
	if ph.monitor != nil {
		open, untilMs = ph.monitor.Open(ph.nowMs())
		return open && ph.nowMs() <= untilMs, untilMs
	}
	end := ph.phaseAt.Add(unwatchedRecovery)
	if ph.kernel.Now() > end {
		return false, 0
	}
	for i := range ph.plan.Instances {
		if p, ok := ph.store.Peek(ph.plan.Instances[i].ID); !ok || !ended(p.Status) {
			return true, end.Millis()
		}
	}
	return false, 0
}

func ended(s engine.Status) bool { return s == engine.StatusCompleted || s == engine.StatusFailed }
