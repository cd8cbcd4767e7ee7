package properties

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/sim/cluster"
)

// commitChecker judges what nodes commit: S08, S09, S10, S23. Acks of clients and probes are theirs to choose, so only
// those of nodes count.
type commitChecker struct {
	base
	// readable are, by pin, the kinds that some build of that version reads; 0 for a pin that no build of the run has.
	pins     []engine.Version
	readable []kindMask
}

func newCommitChecker(m *run) checker {
	k := &commitChecker{base: base{m}}
	for i, b := range m.store.builds {
		k.enter(b.Version, m.store.kinds.reads[i])
	}
	return k
}

func (k *commitChecker) enter(v engine.Version, reads kindMask) {
	for i, have := range k.pins {
		if have.Compare(v) == 0 {
			k.readable[i] |= reads
			return
		}
	}
	k.pins, k.readable = append(k.pins, v.Triple()), append(k.readable, reads)
}

func (*commitChecker) observes() []engine.ObservationKind {
	return []engine.ObservationKind{engine.ObsCallEnd}
}

func (*commitChecker) records() []cluster.RecordKind { return nil }

// commit is what a node committed.
type commit struct {
	c    *callState
	ack  *engine.OrchestrationAck
	in   *instanceState
	inc  *incarnationModel // of the caller
	ex   *executionState   // that was acknowledged
	was  executionWas
	lock lockState // that the node had
}

func (k *commitChecker) observe(o *engine.Observation) {
	c := k.m.store.call(o.Call)
	if c == nil || c.kind != engine.CallAckOrchestrationItem || o.Outcome != engine.OutcomeOK || c.request.Ack == nil {
		return
	}
	inc := k.m.store.incarnation(c.caller)
	if inc == nil {
		return
	}
	in := heldBy(c)
	if in == nil {
		if o.Instance == 0 {
			return
		}
		in = k.m.store.instance(o.Instance)
	}
	t := commit{c: c, ack: c.request.Ack, in: in, inc: inc, lock: in.before(c.id).lock}
	for _, ex := range c.executions {
		k.checkTerminal(&t, ex)
		k.checkPin(&t, ex)
	}
	t.ex = in.execution(t.ack.ExecutionID)
	if t.ex == nil {
		return
	}
	t.was = t.ex.before(c.id)
	if len(t.ack.HistoryDelta) > 0 {
		k.checkRouted(&t)
		k.checkReadable(&t)
	}
}

// checkTerminal: S08.
func (k *commitChecker) checkTerminal(t *commit, ex *executionState) {
	was := &ex.was
	if was.status.Terminal() && ex.status != was.status {
		k.m.safety("S08", t.c.caller.Node, ex.instance.no, "execution %d was %s, and an ack by %s with token %s made it %s: expected a terminal status to stay",
			ex.id, was.status, k.m.who(t.c.caller), t.ack.LockToken, ex.status)
		return
	}
	if ex.terminals > 1 && ex.terminals > was.terminals {
		last := eventRef{}
		for _, e := range t.c.appended {
			if e.execution == ex {
				if stored := ex.event(e.id); stored != nil && k.m.store.kinds.terminal.has(stored.kind) {
					last = e
				}
			}
		}
		kind := kindNo(0)
		if e := ex.event(last.id); e != nil {
			kind = e.kind
		}
		k.m.safety("S08", t.c.caller.Node, ex.instance.no, "execution %d has %d terminal events, the last is event %d (%s) of an ack by %s with token %s: expected one",
			ex.id, ex.terminals, last.id, k.m.store.kinds.name(kind), k.m.who(t.c.caller), t.ack.LockToken)
	}
}

// checkPin: S09.
func (k *commitChecker) checkPin(t *commit, ex *executionState) {
	was, pin, given := &ex.was, ex.pin, t.ack.Metadata.PinnedVersion
	build := t.inc.build
	report := func(format string, args ...any) {
		k.m.safety("S09", t.c.caller.Node, ex.instance.no, format, append([]any{ex.id, k.m.who(t.c.caller), t.ack.LockToken}, args...)...)
	}
	switch {
	case samePin(was.pin, pin):
		if pin == nil && was.events == 0 && k.startedBy(t, ex) {
			report("execution %d was begun by %s with token %s and has no pin: expected %s", build.Version.Triple())
		}
	case was.pin != nil:
		report("execution %d: an ack by %s with token %s changed the pin from %s to %s: expected it to stay", pinText(was.pin), pinText(pin))
	case given == nil:
		report("execution %d: an ack by %s with token %s names no pin, and the pin became %s (the execution before has %s): expected none",
			pinText(pin), pinText(k.pinBefore(ex)))
	case !samePin(pin, given):
		report("execution %d: an ack by %s with token %s names the pin %s, and the pin became %s", pinText(given), pinText(pin))
	case was.events > 0:
		report("execution %d: an ack by %s with token %s pinned it to %s, although it had %d events: expected a pin with the first turn only", pinText(pin), was.events)
	case pin.Compare(build.Version) != 0:
		report("execution %d: the first turn by %s with token %s pinned it to %s: expected the node's own build %s", pinText(pin), build.Version)
	}
}

// startedBy says whether the ack begins the execution: with an ordinary first turn, or with poison that gives it its
// first event, so that it reads like any other.
func (k *commitChecker) startedBy(t *commit, ex *executionState) bool {
	n := &t.in.note
	return ex.instance == t.in && ex.id == t.ack.ExecutionID && n.token == t.ack.LockToken && (n.decision == node.DecideTurn || n.decision == node.DecidePoison) &&
		len(t.ack.HistoryDelta) > 0 && t.ack.HistoryDelta[0].Kind() == engine.KindOrchestrationStarted
}

func (k *commitChecker) pinBefore(ex *executionState) *engine.Version {
	if before := ex.instance.execution(ex.id - 1); before != nil {
		return before.pin
	}
	return nil
}

// checkRouted: S10.
func (k *commitChecker) checkRouted(t *commit) {
	if t.was.events == 0 || isPoison(t) {
		return
	}
	filter := t.lock.filter
	if filter == nil { // fetched without one: what counts is the range of the node itself
		filter = t.inc.filter
	}
	if !filter.Admits(t.was.pin) {
		k.m.safety("S10", t.c.caller.Node, t.in.no, "%s committed a turn of execution %d with token %s under the filter %s, although the pin is %s: expected a node that admits it",
			k.m.who(t.c.caller), t.ex.id, t.ack.LockToken, filter, pinText(t.was.pin))
		return
	}
	if unread := t.was.kinds &^ t.inc.reads; unread != 0 {
		if id, kind := k.unread(t, unread); id != 0 {
			k.m.safety("S10", t.c.caller.Node, t.in.no, "%s committed a turn of execution %d with token %s, although its build does not read event %d (%s): expected a node that reads the history",
				k.m.who(t.c.caller), t.ex.id, t.ack.LockToken, id, kind)
		}
	}
}

// unread is the first event before the ack that the node's build does not read. Damaged bytes may still be readable.
func (k *commitChecker) unread(t *commit, unread kindMask) (uint64, string) {
	for i := range t.ex.events {
		e := &t.ex.events[i]
		if e.call == t.c.id || !unread.has(e.kind) {
			continue
		}
		if e.damaged || e.kind == kindForeign {
			if _, err := t.inc.build.Codec.DecodeEvent(e.bytes); err == nil {
				continue
			}
		}
		return e.id, k.m.store.kinds.name(e.kind)
	}
	return 0, ""
}

// isPoison says whether the ack ends the execution as poison of its own: of a child's or an activity's poison, too, an
// ordinary turn may die.
func isPoison(t *commit) bool {
	if n := &t.in.note; n.token == t.ack.LockToken && n.decision == node.DecidePoison {
		return true
	}
	for i := range t.ack.HistoryDelta {
		failed, ok := t.ack.HistoryDelta[i].Data.(engine.OrchestrationFailed)
		if !ok || failed.Details.Poison == nil {
			continue
		}
		of := &failed.Details.Poison.MessageType
		return of.Kind != engine.PoisonActivity && of.Instance == t.in.name
	}
	return false
}

// checkReadable: S23. An unpinned execution, one that was pinned anew from outside, and a pin that no build of the run has
// are exempt: a build goes by the version that began the execution.
func (k *commitChecker) checkReadable(t *commit) {
	if t.ex.pin == nil || t.ex.repinned {
		return
	}
	reads := kindMask(0)
	for i := range k.pins {
		if k.pins[i].Compare(*t.ex.pin) == 0 {
			reads = k.readable[i]
		}
	}
	if reads == 0 || t.ex.kinds&^reads == 0 {
		return
	}
	for i := range t.ack.HistoryDelta {
		e := t.ex.event(t.ack.HistoryDelta[i].EventID)
		if e != nil && !reads.has(e.kind) && e.kind != kindDamaged {
			k.m.safety("S23", t.c.caller.Node, t.in.no, "%s committed event %d (%s) to execution %d, which is pinned to %s, with token %s: expected only kinds that the pinned build reads",
				k.m.who(t.c.caller), e.id, k.m.store.kinds.name(e.kind), t.ex.id, t.ex.pin, t.ack.LockToken)
			return
		}
	}
}
