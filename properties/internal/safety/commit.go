package safety

import (
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/sim/plan"
)

// commitChecker judges acks against S08, S09, S10 and S23. It judges only the acks of nodes, because clients and probes
// may ack whatever they like.
type commitChecker struct {
	check.Base
	pins []pinned
	// began maps an execution to the build of the node that began it. It is never iterated over, so map order does not matter.
	began  map[*model.Execution]*engine.Build
	failed model.KindSet // the kind of an execution's failure
}

func newCommitChecker(m *check.Run) check.Checker {
	k := &commitChecker{
		Base:  check.Base{Run: m, OnEnd: check.Ends{OK: check.SetOf(observe.CallAckOrchestrationItem)}},
		began: map[*model.Execution]*engine.Build{}, failed: m.Model.Kinds.SetOf(eventdata.KindOrchestrationFailed),
	}
	for i, b := range m.Model.Builds {
		name, p := b.Name(), m.World.Plan()
		run := slices.ContainsFunc(p.Nodes, func(n plan.Node) bool { return n.Build == name }) ||
			slices.ContainsFunc(p.Schedule, func(s plan.Step) bool { return s.Build == name })
		k.enter(pinned{b.Version, m.Model.Kinds.Reads[i], run})
	}
	return k
}

// pinned is what the builds of a version read: the kinds that all of them read which the plan's nodes run or, if they run
// none, that any of them reads.
type pinned struct {
	version engine.Version
	reads   model.KindSet
	run     bool
}

func (k *commitChecker) enter(b pinned) {
	if i := slices.IndexFunc(k.pins, func(have pinned) bool { return have.version == b.version }); i >= 0 {
		k.pins[i].join(b)
	} else {
		k.pins = append(k.pins, b)
	}
}

// join adds what other builds read.
func (p *pinned) join(b pinned) {
	switch {
	case b.run && !p.run:
		*p = b
	case b.run:
		p.reads &= b.reads
	case !p.run:
		p.reads |= b.reads
	}
}

// readBy returns the kinds that the builds of a pin read, or nothing if no build in the run has the pin. A pin has three
// numbers: a candidate and its release have the same.
func (k *commitChecker) readBy(pin *engine.Version) model.KindSet {
	reads := pinned{}
	for i := range k.pins {
		if k.pins[i].version.Compare(*pin) == 0 {
			reads.join(k.pins[i])
		}
	}
	return reads.reads
}

// readByBeginner returns the kinds that the build reads which began an execution, as its history tells, or else those that
// the builds of its pin read.
func (k *commitChecker) readByBeginner(ex *model.Execution) model.KindSet {
	if stamp := k.Run.Model.Stamp(ex); stamp != nil && stamp.Compare(*ex.Pin) == 0 {
		if i := slices.IndexFunc(k.pins, func(p pinned) bool { return p.version == *stamp }); i >= 0 {
			return k.pins[i].reads
		}
	}
	return k.readBy(ex.Pin)
}

// commit is a node's ack that took effect.
type commit struct {
	c    *model.Call
	ack  *engine.OrchestrationAck
	in   *model.Instance
	inc  *model.Incarnation // the caller
	ex   *model.Execution   // the acknowledged execution
	was  *model.ExecutionBefore
	lock *model.Lock // the lock that the node had
}

func (k *commitChecker) Ended(c *model.Call, _ *observe.Observation) {
	if c.Request.Ack == nil {
		return
	}
	inc := k.Run.Model.Incarnation(c.Caller)
	if inc == nil {
		return
	}
	in := model.HeldBy(c)
	if in == nil {
		return // reported under S05
	}
	t := commit{c: c, ack: c.Request.Ack, in: in, inc: inc, lock: &in.Before(c.ID).Lock}
	for _, ex := range c.Executions {
		k.checkTerminal(&t, ex)
		k.checkPin(&t, ex)
	}
	t.ex = in.Execution(t.ack.ExecutionID)
	if t.ex == nil {
		return
	}
	t.was = t.ex.Before(c.ID)
	if len(t.ack.HistoryDelta) > 0 {
		k.checkRouted(&t)
		k.checkReadable(&t)
	}
}

// checkTerminal checks rule S08.
func (k *commitChecker) checkTerminal(t *commit, ex *model.Execution) {
	was := &ex.Was
	if was.Status.Terminal() && ex.Status != was.Status {
		k.Run.Safety("S08", t.c.Caller.Node, ex.Instance.No, "execution %d was %s, but an ack by %s with token %s made it %s: expected a terminal status to stay",
			ex.ID, was.Status, k.Run.Who(t.c.Caller), t.ack.LockToken, ex.Status)
		return
	}
	if ex.Terminals > 1 && ex.Terminals > was.Terminals {
		last := model.EventRef{}
		for _, e := range t.c.Appended {
			if e.Execution == ex {
				if stored := ex.Event(e.ID); stored != nil && k.Run.Model.Kinds.Terminal.Has(stored.Kind) {
					last = e
				}
			}
		}
		kind := model.KindNo(0)
		if e := ex.Event(last.ID); e != nil {
			kind = e.Kind
		}
		k.Run.Safety("S08", t.c.Caller.Node, ex.Instance.No, "execution %d has %d terminal events, the last is event %d (%s) of an ack by %s with token %s: expected a single one",
			ex.ID, ex.Terminals, last.ID, k.Run.Model.Kinds.Name(kind), k.Run.Who(t.c.Caller), t.ack.LockToken)
	}
}

// checkPin checks rule S09.
func (k *commitChecker) checkPin(t *commit, ex *model.Execution) {
	was, pin, given := &ex.Was, ex.Pin, t.ack.Metadata.PinnedVersion
	build := t.inc.Build
	report := func(format string, args ...any) {
		k.Run.Safety("S09", t.c.Caller.Node, ex.Instance.No, format, append([]any{ex.ID, k.Run.Who(t.c.Caller), t.ack.LockToken}, args...)...)
	}
	switch {
	case model.SamePin(was.Pin, pin):
		if pin == nil && was.Events == 0 && k.startedBy(t, ex) {
			report("execution %d, which %s began with token %s, has no pin: expected %s", build.Version.Triple())
		}
	case was.Pin != nil:
		report("execution %d: an ack by %s with token %s changed the pin from %s to %s: expected it to stay", model.PinText(was.Pin), model.PinText(pin))
	case given == nil:
		report("execution %d: an ack by %s with token %s names no pin, but the store wrote the pin %s (the previous execution has %s): expected none",
			model.PinText(pin), model.PinText(k.pinBefore(ex)))
	case !model.SamePin(pin, given):
		report("execution %d: an ack by %s with token %s names the pin %s, but the store wrote the pin %s: expected the store to write the pin that the ack names",
			model.PinText(given), model.PinText(pin))
	case was.Events > 0:
		report("execution %d: an ack by %s with token %s pinned it to %s, although it had %d events: expected a pin with the first turn only", model.PinText(pin), was.Events)
	case pin.Compare(build.Version) != 0:
		report("execution %d: the first turn by %s with token %s pinned it to %s: expected the node's own build %s", model.PinText(pin), build.Version)
	}
}

// startedBy reports whether the ack begins the execution, either with an ordinary first turn or with poison that writes
// the first event. In both cases the history looks the same.
func (k *commitChecker) startedBy(t *commit, ex *model.Execution) bool {
	n := &t.in.Note
	return ex.Instance == t.in && ex.ID == t.ack.ExecutionID && n.Token == t.ack.LockToken && (n.Decision == machine.DecideTurn || n.Decision == machine.DecidePoison || n.Decision == machine.DecideSwept) &&
		len(t.ack.HistoryDelta) > 0 && t.ack.HistoryDelta[0].Kind() == eventdata.KindOrchestrationStarted
}

func (k *commitChecker) pinBefore(ex *model.Execution) *engine.Version {
	if before := ex.Instance.Execution(ex.ID - 1); before != nil {
		return before.Pin
	}
	return nil
}

// checkRouted checks rule S10.
func (k *commitChecker) checkRouted(t *commit) {
	if t.was.Events == 0 {
		k.began[t.ex] = t.inc.Build
		return
	}
	if isPoison(t, k.failed) {
		return
	}
	filter := t.lock.Filter
	if filter == nil { // fetched without a filter: use the node's range
		filter = t.inc.Filter
	}
	if !model.Admits(filter, t.was.Pin) {
		k.Run.Safety("S10", t.c.Caller.Node, t.in.No, "%s%s committed a turn of execution %d with token %s under the filter %s, although the pin is %s: expected a node that admits it",
			k.Run.Who(t.c.Caller), k.Run.Since(t.c.Caller.Node), t.ex.ID, t.ack.LockToken, filter, model.PinText(t.was.Pin))
		return
	}
	if unread := t.was.Kinds &^ t.inc.Reads; unread != 0 {
		if id, kind := k.unread(t, unread); id != 0 {
			k.Run.Safety("S10", t.c.Caller.Node, t.in.No, "%s%s committed a turn of execution %d with token %s, although its build does not read event %d (%s): expected a node that reads the history",
				k.Run.Who(t.c.Caller), k.Run.Since(t.c.Caller.Node), t.ex.ID, t.ack.LockToken, id, kind)
			return
		}
	}
	// On released nodes, S10 routed-right: the filter and the kinds of events are judged, the execution's semantics are
	// not. A release derives the semantics from the version in the history, not from its own; S11 and S20 judge the
	// result.
	if by := k.began[t.ex]; by != nil && by.Release == "" && t.inc.Build.Release == "" {
		if want, has := by.SemanticsOf(&by.Version), t.inc.Build.SemanticsOf(&by.Version); has != want {
			k.Run.Safety("S10", t.c.Caller.Node, t.in.No, "%s%s committed a turn of execution %d with token %s by the semantics %q, although build %s began it with %q: expected a node that has the execution's semantics",
				k.Run.Who(t.c.Caller), k.Run.Since(t.c.Caller.Node), t.ex.ID, t.ack.LockToken, has, by.Name(), want)
		}
	}
}

// unread returns the first event that the node's build does not read, among the events stored before the ack. Damaged
// bytes may still be readable.
func (k *commitChecker) unread(t *commit, unread model.KindSet) (uint64, string) {
	for i := range t.ex.Events {
		e := &t.ex.Events[i]
		if e.Call == t.c.ID || !unread.Has(e.Kind) {
			continue
		}
		if e.Damaged || e.Kind == model.KindForeign {
			if _, err := t.inc.Build.Codec.DecodeEvent(e.Bytes); err == nil {
				continue
			}
		}
		return e.ID, k.Run.Model.Kinds.Name(e.Kind)
	}
	return 0, ""
}

// isPoison reports whether the ack poisons the execution itself. An ordinary turn can also fail with poison, when a
// child or an activity was poisoned. failed is the kind of the event that says so.
func isPoison(t *commit, failed model.KindSet) bool {
	if n := &t.in.Note; n.Token == t.ack.LockToken && (n.Decision == machine.DecidePoison || n.Decision == machine.DecideSwept) {
		return true
	}
	if t.c.Delta&failed == 0 {
		return false
	}
	for i := range t.ack.HistoryDelta {
		failed, ok := t.ack.HistoryDelta[i].Data.(eventdata.OrchestrationFailed)
		if !ok || failed.Details.Poison == nil {
			continue
		}
		of := &failed.Details.Poison.MessageType
		return of.Kind != eventdata.PoisonActivity && of.Instance == t.in.Name
	}
	return false
}

// checkReadable checks rule S23. A build follows the version that began the execution, so an execution is exempt if it
// is unpinned, if it was repinned from outside, or if no build in the run has its pin.
func (k *commitChecker) checkReadable(t *commit) {
	if t.ex.Pin == nil || t.ex.Repinned {
		return
	}
	if reads := k.readBy(t.ex.Pin); reads == 0 || t.ex.Kinds&^reads == 0 {
		return
	}
	reads := k.readByBeginner(t.ex)
	for i := range t.ack.HistoryDelta {
		e := t.ex.Event(t.ack.HistoryDelta[i].EventID)
		if e != nil && !reads.Has(e.Kind) && e.Kind != model.KindDamaged {
			pin := t.ex.Pin.String()
			if stamp := k.Run.Model.Stamp(t.ex); stamp != nil && stamp.Pre != "" {
				pin += " and was begun by " + stamp.String()
			}
			k.Run.Safety("S23", t.c.Caller.Node, t.in.No, "%s committed event %d (%s) to execution %d, which is pinned to %s, with token %s: expected only kinds that the pinned build reads",
				k.Run.Who(t.c.Caller), e.ID, k.Run.Model.Kinds.Name(e.Kind), t.ex.ID, pin, t.ack.LockToken)
			return
		}
	}
}
