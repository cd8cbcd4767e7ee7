package cluster

import (
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/plan"
)

// phases ends turbulence, lets calm and relief come, and says when the run has ended.
type phases struct {
	*base
	phaseAt sim.Time // when the present phase began
	ended   bool
}

// tick is how often, in calm, clients look after their instances and the world looks whether it is done.
const tick = time.Second

// unwatchedCalm bounds calm when no monitor says what is still open.
const unwatchedCalm = 10 * time.Minute

// onCalm ends turbulence: faults stop, every core node comes up, and eternal loops get their final cancel.
func (ph *phases) onCalm() {
	ph.changed = true
	ph.end()
	ph.begin(PhaseCalm)
	ph.network.downUntil = 0
	for _, n := range ph.fleet.list {
		if n.machine != nil && n.paused {
			ph.fleet.resume(n)
		}
	}
	ph.parking.leaveZombies()
	for _, n := range ph.fleet.list {
		if ph.infos[n.number-1].Core {
			ph.fleet.startSoon(n)
		}
	}
	for i := range ph.plan.Instances {
		if p := &ph.plan.Instances[i]; p.Expect == plan.EndEternal {
			ph.clients.send(engine.CancelInstanceItem{Instance: p.ID, Reason: "calm"}, ph.clients.instanceKey(p.ID).At(labelPhase))
		}
	}
	ph.kernel.After(tick, ph.root.At(labelTick), event{kind: evTick})
}

// endPhase lets obligations be judged; beginPhase begins the next phase.
func (ph *phases) end() { ph.record(&Record{Kind: RecPhaseEnded, Phase: ph.phase}) }

func (ph *phases) begin(p Phase) {
	ph.phase, ph.phaseAt = p, ph.kernel.Now()
	ph.record(&Record{Kind: RecPhaseBegan, Phase: p})
}

// onTick ends the phase if every obligation is met or overdue.
func (ph *phases) onTick() {
	ph.clients.raiseWhatWaits()
	if ph.anythingOpen() {
		ph.kernel.After(tick, ph.root.At(labelTick), event{kind: evTick})
		return
	}
	ph.changed = true
	ph.end()
	if ph.phase == PhaseCalm && ph.stuck() {
		ph.begin(PhaseRelief)
		ph.widenAll()
		ph.kernel.After(tick, ph.root.At(labelTick), event{kind: evTick})
		return
	}
	ph.ended = true
}

// anythingOpen says whether the phase goes on: by the monitor, and without one until every instance of the plan has ended.
func (ph *phases) anythingOpen() bool {
	if ph.monitor != nil {
		open, until := ph.monitor.Open(ph.nowMs())
		return open && ph.nowMs() <= until
	}
	if ph.kernel.Now().Sub(ph.phaseAt) > unwatchedCalm {
		return false
	}
	for i := range ph.plan.Instances {
		if p, ok := ph.store.Peek(ph.plan.Instances[i].ID); !ok || !ended(p.Status) {
			return true
		}
	}
	return false
}

func ended(s engine.Status) bool { return s == engine.StatusCompleted || s == engine.StatusFailed }

// stuck says whether a message waits that no live node admits.
func (ph *phases) stuck() bool {
	for no := engine.InstanceNo(1); ph.store.InstanceName(no) != ""; no++ {
		p, ok := ph.store.Peek(ph.store.InstanceName(no))
		if ok && p.Messages > 0 && !ph.admitted(p.Pin) {
			return true
		}
	}
	return false
}

// admitted says whether a live node admits a pin.
func (ph *phases) admitted(pin *engine.Version) bool {
	for i := range ph.infos {
		if n := &ph.infos[i]; n.Up && n.Filter.Admits(pin) {
			return true
		}
	}
	return false
}

// everything is the range that admits every pin.
var everything = engine.VersionRange{Max: engine.V(999, 999, 999)}

// widenAll restarts every core node with a range that admits everything.
func (ph *phases) widenAll() {
	for _, n := range ph.fleet.list {
		if ph.infos[n.number-1].Core {
			r := everything
			n.options.SupportedReplayVersions = &r
			ph.fleet.restart(n)
		}
	}
}
