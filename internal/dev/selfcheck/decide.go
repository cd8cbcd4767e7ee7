package selfcheck

import (
	"fmt"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/sim/cluster"
)

// duty is the decision that a node must make about a delivery (docs/contract-decisions.md#row-1).
type duty struct {
	decision  machine.Decision
	execution uint64
	delay     time.Duration
	cause     string
	uncounted bool   // the abandon does not count the delivery as an attempt
	handler   string // the handler for the turn
	first     bool   // the turn is the first of its execution
	// The names in the log lines about the decision: the missing handler, the pin, the range.
	missing   [2]string
	pin       *engine.Version
	supported string
}

// batch holds the properties of a delivered batch that the decision depends on.
type batch struct {
	item       *engine.OrchestrationItem
	status     engine.Status
	pin        *engine.Version
	recorded   bool   // the history has a first event
	name       string // the handler's name
	version    string
	begins     bool            // one of the messages begins an execution
	start      engine.WorkItem // that message
	next       bool            // the message begins the execution that follows the fetched one
	undecoded  bool
	continuing bool
}

func readBatch(item *engine.OrchestrationItem) batch {
	b := batch{item: item, status: item.CurrentStatus, pin: item.Pin, undecoded: item.HistoryError != "", name: item.OrchestrationName, version: item.Version}
	for i := range item.History {
		e := &item.History[i]
		s, ok := e.Data.(eventdata.OrchestrationStarted)
		if !ok {
			continue
		}
		b.recorded, b.name, b.version = true, s.Name, s.Version
		if b.pin == nil {
			b.pin = stamp(e)
		}
		break
	}
	if b.status == "" {
		b.status = shown(item.History)
	}
	b.continuing = b.status == engine.StatusContinuedAsNew
	fresh := len(item.History) == 0 && !b.undecoded
	for _, m := range item.Messages {
		switch m := m.(type) {
		case engine.StartItem:
			if fresh && !b.continuing {
				b.begins, b.start, b.name, b.version = true, m, m.Orchestration, m.Version
				return b
			}
		case engine.ContinueAsNewItem:
			if fresh || b.continuing {
				b.begins, b.start, b.next, b.name, b.version = true, m, true, m.Orchestration, m.Version
				return b
			}
		}
	}
	return b
}

// stamp returns the version of the build that wrote an event, or nil if the event has no valid version.
func stamp(e *engine.Event) *engine.Version {
	if v, err := engine.ParseVersion(e.DuroxideVersion); err == nil {
		return &v
	}
	return nil
}

// shown returns the status as the history shows it, for providers that do not report it.
func shown(history []engine.Event) engine.Status {
	continued := false
	for i := range history {
		switch history[i].Data.(type) {
		case eventdata.OrchestrationCompleted:
			return engine.StatusCompleted
		case eventdata.OrchestrationFailed:
			return engine.StatusFailed
		case eventdata.OrchestrationContinuedAsNew:
			continued = true
		}
	}
	switch {
	case continued:
		return engine.StatusContinuedAsNew
	case len(history) > 0:
		return engine.StatusRunning
	}
	return ""
}

// judgeBatch returns the decision that a node must make about a batch.
func (k *nodes) judgeBatch(n *nodeState, f *engine.FetchedOrchestration) duty {
	info := k.options(n)
	o := &info.Options
	b := readBatch(&f.Item)
	v := duty{decision: machine.DecideTurn, execution: f.Item.ExecutionID, first: b.begins}
	if b.next {
		v.execution++
	}
	supported := &n.admits.SupportedVersions[0]
	v.pin = b.pin
	admitted := admits(n.admits, b.pin)
	handler, found := resolveBatch(info.Registry, &b)
	v.missing = [2]string{b.name, orLatest(b.version)}
	poison := f.AttemptCount > o.MaxAttempts && (admitted || !k.stalls) && (!b.continuing || b.next || b.undecoded)
	switch {
	case n.draining:
		v.decision, v.cause, v.uncounted = machine.DecideDrained, "the node drains", true
	case b.status == engine.StatusCompleted || b.status == engine.StatusFailed:
		v.decision, v.cause = machine.DecideDropTerminal, "execution is "+string(b.status)
	case !b.recorded && len(f.Item.History) == 0 && !b.begins && !b.undecoded && !b.continuing:
		v.decision, v.cause = machine.DecideDropUnstarted, "no history and no start"
	case poison:
		v.decision = machine.DecidePoison
		if b.continuing && !b.next {
			v.execution++
		}
		switch {
		case b.undecoded:
			v.cause = "undecodable history"
		case !admitted:
			v.cause, v.supported = incompatible(b.pin, supported), supported.String()
		case !found:
			v.cause = v.missingText()
		default:
			v.cause = "crashes"
		}
		if k.bounces && v.cause != "crashes" {
			v.cause = "work item could not be processed on this node (orchestration not registered here, or execution history is unsupported): " + v.cause
		}
	case b.undecoded && (admitted || !k.bounces && !k.stalls):
		v.decision, v.cause, v.delay = machine.DecideHistoryError, f.Item.HistoryError, givenBack
	case !admitted:
		v.decision, v.cause, v.delay, v.supported = machine.DecideIncompatible, incompatible(b.pin, supported), givenBack, supported.String()
		if k.stalls {
			v.delay, v.uncounted = stalled, true
		}
		if k.bounces {
			v.delay = backoff(f.AttemptCount, o.UnregisteredBackoffBase, o.UnregisteredBackoffMax)
		}
	case b.continuing && !b.next:
		v.decision, v.cause, v.delay, v.uncounted = machine.DecideWaitForStart, "the continue-as-new start is still to come", givenBack, true
		if info.Build.CountsWaiting {
			v.delay, v.uncounted = backoff(f.AttemptCount, o.UnregisteredBackoffBase, o.UnregisteredBackoffMax), false
		}
	case !found:
		v.decision, v.cause, v.delay = machine.DecideNoHandler, v.missingText(), backoff(f.AttemptCount, o.UnregisteredBackoffBase, o.UnregisteredBackoffMax)
	default:
		v.handler = handler
	}
	return v
}

func (v *duty) missingText() string {
	return "handler missing: " + v.missing[0] + "@" + v.missing[1]
}

func incompatible(pin *engine.Version, supported *engine.VersionRange) string {
	return fmt.Sprintf("incompatible pin %s, supported %s", pin, supported)
}

// resolveBatch returns the version of the handler that runs the turn of a batch (docs/contract/runtime.md#r8): the one
// that is named; or else the one of the policy, if it names one, or the highest that is registered.
func resolveBatch(r *node.Registry, b *batch) (handler string, found bool) {
	version := b.version
	if !b.begins && version == "0.0.0" {
		version = ""
	}
	if exact, is := r.Policy(b.name).Version(); is && version == "" {
		version = exact.String()
	}
	var highest *semver.Version
	for _, registered := range r.Orchestrations() {
		name, text, _ := strings.Cut(registered, "@")
		if name != b.name {
			continue
		}
		switch has := semver.MustParse(text); {
		case version == "" && (highest == nil || has.GreaterThan(highest)):
			handler, highest = registered, has
		case version != "":
			if same, err := engine.ParseVersion(version); err == nil && same.String() == text {
				handler = registered
			}
		}
	}
	return handler, handler != ""
}

func orLatest(version string) string {
	if version == "" {
		return "latest"
	}
	return version
}

// judgeWork returns the decision that a node must make about an activity.
func (k *nodes) judgeWork(n *nodeState, s *slot, w engine.ActivityExecuteItem, count uint32) duty {
	info := k.options(n)
	o := &info.Options
	found := strings.HasPrefix(w.Name, "__duroxide_syscall:")
	if !found {
		_, found = info.Registry.Activity(w.Name)
	}
	v := duty{decision: machine.DecideWorkRun, execution: w.ExecutionID}
	switch {
	case n.draining:
		v.decision, v.cause, v.uncounted = machine.DecideDrained, "the node drains", true
	case w.SessionID != "" && n.sessionsHeld() > o.MaxSessionsPerRuntime:
		v.decision, v.cause, v.delay, v.uncounted = machine.DecideSessionsFull, "the node serves as many sessions as it may", 100*time.Millisecond, true
	case count > o.MaxAttempts && !found:
		v.decision, v.cause = machine.DecideWorkPoison, "activity missing: "+w.Name
	case count > o.MaxAttempts:
		v.decision, v.cause = machine.DecideWorkPoison, "crashes"
	case !found:
		v.decision, v.cause, v.delay = machine.DecideWorkNoHandler, "activity missing: "+w.Name, backoff(count, o.UnregisteredBackoffBase, o.UnregisteredBackoffMax)
	}
	return v
}

// deliveredTurn records that a slot now holds a batch.
func (k *nodes) deliveredTurn(n *nodeState, s *slot, r *cluster.Record, f *engine.FetchedOrchestration) {
	o := &k.options(n).Options
	h := &s.held
	*h = held{}
	h.token, h.instance, h.count, h.messages, h.batch = f.LockToken, f.Item.Instance, f.AttemptCount, len(f.Item.Messages), f
	h.undecoded, h.timeout, h.since, h.locked, h.lockedMs = f.Item.HistoryError, o.OrchestratorLockTimeout, r.At, r.At, r.AtMs
	h.renewEvery = renewedAfter(o.OrchestratorLockTimeout, o.OrchestratorLockRenewalBuffer)
	if s.sweeps {
		s.held.want = k.judgeLook(n, r, f)
	} else {
		s.held.want = k.judgeBatch(n, f)
	}
	s.held.undecided = true
	n.expectOfBatch(&s.held, o)
	k.touch(n)
}

// deliveredWork records that a slot now holds an activity.
func (k *nodes) deliveredWork(n *nodeState, s *slot, r *cluster.Record, f *engine.FetchedWork) {
	o := &k.options(n).Options
	w, ok := f.Item.(engine.ActivityExecuteItem)
	s.held = held{
		token: f.LockToken, instance: f.Item.Target(), count: f.AttemptCount, work: w, session: w.SessionID,
		timeout: o.WorkerLockTimeout, since: r.At, locked: r.At, lockedMs: r.AtMs, renewEvery: renewedAfter(o.WorkerLockTimeout, o.WorkerLockRenewalBuffer),
	}
	if !ok {
		return // no provider delivers an item like this
	}
	s.held.want = k.judgeWork(n, s, w, f.AttemptCount)
	s.held.undecided = true
	n.expectOfWork(&s.held, o)
	k.touch(n)
}

// sessionsHeld returns how many sessions the node's activities belong to.
func (n *nodeState) sessionsHeld() int {
	count := 0
	for i := range n.slots {
		id := n.slots[i].held.session
		if id == "" {
			continue
		}
		before := false
		for j := range i {
			before = before || n.slots[j].held.session == id
		}
		if !before {
			count++
		}
	}
	return count
}
