package cluster

import (
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/sim/plan"
)

// tick is how often, in calm, clients look after their instances and the world looks whether it is done.
const tick = time.Second

// unwatchedCalm bounds calm when no monitor says what is still open.
const unwatchedCalm = 10 * time.Minute

// onCalm ends turbulence: faults stop, every core node comes up, and eternal loops get their final cancel.
func (w *World) onCalm() {
	w.changed = true
	w.endPhase()
	w.beginPhase(PhaseCalm)
	w.downUntil = 0
	for _, n := range w.nodes {
		if n.machine != nil && n.paused {
			w.resume(n)
		}
	}
	w.leaveZombies()
	for _, n := range w.nodes {
		if w.infos[n.number-1].Core {
			w.startSoon(n)
		}
	}
	for i := range w.plan.Instances {
		if p := &w.plan.Instances[i]; p.Expect == plan.EndEternal {
			w.clientSend(engine.CancelInstanceItem{Instance: p.ID, Reason: "calm"}, w.instanceKey(p.ID).At(labelPhase))
		}
	}
	w.kernel.After(tick, w.root.At(labelTick), event{kind: evTick})
}

// endPhase lets obligations be judged; beginPhase begins the next phase.
func (w *World) endPhase() { w.record(&Record{Kind: RecPhaseEnded, Phase: w.phase}) }

func (w *World) beginPhase(p Phase) {
	w.phase, w.phaseAt = p, w.kernel.Now()
	w.record(&Record{Kind: RecPhaseBegan, Phase: p})
}

// onTick ends the phase if every obligation is met or overdue.
func (w *World) onTick() {
	w.raiseWhatWaits()
	if w.anythingOpen() {
		w.kernel.After(tick, w.root.At(labelTick), event{kind: evTick})
		return
	}
	w.changed = true
	w.endPhase()
	if w.phase == PhaseCalm && w.stuck() {
		w.beginPhase(PhaseRelief)
		w.widenAll()
		w.kernel.After(tick, w.root.At(labelTick), event{kind: evTick})
		return
	}
	w.ended = true
}

// anythingOpen says whether the phase goes on: by the monitor, and without one until every instance of the plan has ended.
func (w *World) anythingOpen() bool {
	if w.monitor != nil {
		open, until := w.monitor.Open(w.NowMs())
		return open && w.NowMs() <= until
	}
	if w.kernel.Now().Sub(w.phaseAt) > unwatchedCalm {
		return false
	}
	for i := range w.plan.Instances {
		if p, ok := w.store.Peek(w.plan.Instances[i].ID); !ok || !ended(p.Status) {
			return true
		}
	}
	return false
}

func ended(s engine.Status) bool { return s == engine.StatusCompleted || s == engine.StatusFailed }

// stuck says whether a message waits that no live node admits.
func (w *World) stuck() bool {
	for no := engine.InstanceNo(1); w.store.InstanceName(no) != ""; no++ {
		p, ok := w.store.Peek(w.store.InstanceName(no))
		if ok && p.Messages > 0 && !w.admitted(p.Pin) {
			return true
		}
	}
	return false
}

// admitted says whether a live node admits a pin.
func (w *World) admitted(pin *engine.Version) bool {
	for i := range w.infos {
		if n := &w.infos[i]; n.Up && n.Filter.Admits(pin) {
			return true
		}
	}
	return false
}

// everything is the range that admits every pin.
var everything = engine.VersionRange{Max: engine.V(999, 999, 999)}

// widenAll restarts every core node with a range that admits everything.
func (w *World) widenAll() {
	for _, n := range w.nodes {
		if w.infos[n.number-1].Core {
			r := everything
			n.options.SupportedReplayVersions = &r
			w.restart(n)
		}
	}
}

// raiseAgainMs is after how long a client raises an event again, and raiseMost how often it does so for one instance: more
// would keep an instance busy that nothing can help.
const (
	raiseAgainMs = 5000
	raiseMost    = 12
)

// CalmData is the data of the events that clients raise in calm.
const CalmData = "calm"

// raiseWhatWaits sends each instance what it waits for, once until it has arrived.
func (w *World) raiseWhatWaits() {
	for no := engine.InstanceNo(1); w.store.InstanceName(no) != ""; no++ {
		id := w.store.InstanceName(no)
		p, ok := w.store.Peek(id)
		if !ok || ended(p.Status) || p.VisibleMs <= w.NowMs() {
			continue
		}
		r := w.clients.raisedFor(no)
		if r.atMs != 0 && w.NowMs() < r.atMs+raiseAgainMs || r.times == raiseMost {
			continue
		}
		open := w.openWaits(id)
		if len(open) == 0 {
			continue
		}
		r.atMs = w.NowMs()
		r.times++
		item := w.raiseItem(id, open[0].name, CalmData)
		if open[0].queue {
			item = engine.QueueMessageItem{Instance: id, Name: open[0].name, Data: CalmData}
		}
		w.clientSend(item, w.instanceKey(id).At(labelPhase))
	}
}

func (c *clientState) raisedFor(no engine.InstanceNo) *raised {
	for len(c.raised) <= int(no) {
		c.raised = append(c.raised, raised{})
	}
	return &c.raised[no]
}
