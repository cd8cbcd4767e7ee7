package machine

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/replay"
)

// delivery is a fetched batch, plus facts derived from it for use by the tests. read derives the facts once; after
// that, the delivery is read-only.
type delivery struct {
	*engine.FetchedOrchestration
	// status is the current execution's status as reported by the provider, or derived from the history if the provider
	// reports none. A derived status is empty if the history shows no end.
	status engine.Status
	// started is the first OrchestrationStarted event in the history, or nil if there is none.
	started *eventdata.OrchestrationStarted
	// pin is the current execution's pin, or nil if it has none.
	pin *engine.Version
	// stamp is the version in started's event.
	stamp string
	// begin is the message that begins a new execution, or nil if the batch belongs to the current execution.
	begin *start
	// Storage for the targets of started, pin and begin.
	startedRoom eventdata.OrchestrationStarted
	pinRoom     engine.Version
	beginRoom   start
	// duplicate is the effect that the rules give to a duplicate start. duplicateStart is the duplicate start that has this
	// effect, if any.
	duplicate      DuplicateStart
	duplicateStart *engine.StartItem
	// handler is the result of resolve. It is valid once resolve has been called.
	handler       node.Resolved
	looked, found bool
}

// start is a message that begins an execution. Its version is the one asked for.
type start struct {
	replay.Start
	// next is set if the message is a continue-as-new, in which case the new execution follows the fetched one.
	next bool
}

// read initializes d from fetched batch f.
func (d *delivery) read(f *engine.FetchedOrchestration, rules *Rules) {
	*d = delivery{FetchedOrchestration: f, duplicate: rules.DuplicateStart, pin: f.Item.Pin}
	if rules.StatusIsTold {
		d.status = f.Item.CurrentStatus
	}
	for i := range f.Item.History {
		if s, ok := f.Item.History[i].Data.(eventdata.OrchestrationStarted); ok {
			d.startedRoom = s
			d.started = &d.startedRoom
			d.stamp = f.Item.History[i].DuroxideVersion
			if d.pin == nil {
				if v, err := engine.ParseVersion(d.stamp); err == nil {
					d.pinRoom = v
					d.pin = &d.pinRoom
				}
			}
			break
		}
	}
	if d.status == "" {
		d.status = endOf(f.Item.History)
	}
	if b, ok := d.chooseStart(); ok {
		d.beginRoom = b
		d.begin = &d.beginRoom
	}
}

// endOf returns the status with which history ends, or "" if it does not end. A Completed or Failed event anywhere in
// the history takes precedence over ContinuedAsNew.
func endOf(history []engine.Event) engine.Status {
	var status engine.Status
	for _, e := range history {
		switch e.Data.(type) {
		case eventdata.OrchestrationCompleted:
			return engine.StatusCompleted
		case eventdata.OrchestrationFailed:
			return engine.StatusFailed
		case eventdata.OrchestrationContinuedAsNew:
			status = engine.StatusContinuedAsNew
		}
	}
	return status
}

// undecodable reports whether the provider could not decode the history or a message.
func (d *delivery) undecodable() bool { return d.Item.HistoryError != "" }

// waitsForStart reports whether the current execution has continued as new and the batch lacks the next execution's
// start.
func (d *delivery) waitsForStart() bool {
	return d.status == engine.StatusContinuedAsNew && d.begin == nil
}

// unstarted reports whether the instance has no execution and the batch has no message that would begin one.
func (d *delivery) unstarted() bool {
	return len(d.Item.History) == 0 && d.begin == nil && !d.undecodable() && d.status != engine.StatusContinuedAsNew
}

// execution returns the number of the execution that the batch belongs to.
func (d *delivery) execution() uint64 {
	if d.begin != nil && d.begin.next {
		return d.Item.ExecutionID + 1
	}
	return d.Item.ExecutionID
}

// chooseStart finds the message that begins an execution. If the current execution has continued as new, only a
// ContinueAsNewItem can begin the next one; a duplicate start ahead of it in the queue does not replace it
// (docs/contract/runtime.md#case-18). If the instance has no execution, the first start of either kind begins one.
// While an execution is running, no message begins another (docs/contract-decisions.md#row-8).
func (d *delivery) chooseStart() (start, bool) {
	fresh := len(d.Item.History) == 0 && !d.undecodable()
	continued := d.status == engine.StatusContinuedAsNew
	for _, m := range d.Item.Messages {
		switch m := m.(type) {
		case engine.StartItem:
			switch {
			case continued && d.duplicate == DuplicateWins:
				d.setDuplicateStart(m)
				return start{}, false
			case !fresh && d.duplicate == DuplicateReplaces && d.duplicateStart == nil:
				d.setDuplicateStart(m)
			}
			if continued || !fresh {
				continue
			}
			return start{Start: replay.Start{
				Name: m.Orchestration, Version: m.Version, Input: m.Input,
				Parent: replay.LinkOf(m.ParentInstance, m.ParentExecutionID, m.ParentID, d.Item.Parent),
			}}, true
		case engine.ContinueAsNewItem:
			if !continued && !fresh {
				continue
			}
			parent := replay.LinkOf(m.ParentInstance, m.ParentExecutionID, m.ParentID, d.Item.Parent)
			if parent == nil {
				parent = d.parent()
			}
			return start{next: true, Start: replay.Start{
				Name: m.Orchestration, Version: m.Version, Input: m.Input, Parent: parent,
				CarryForwardEvents: m.CarryForwardEvents, InitialCustomStatus: m.InitialCustomStatus,
			}}, true
		}
	}
	return start{}, false
}

func (d *delivery) setDuplicateStart(m engine.StartItem) { d.duplicateStart = &m }

// parent returns the instance's parent link, taken from the new start, the history, or the provider.
func (d *delivery) parent() *engine.ParentLink {
	if d.begin != nil {
		return d.begin.Parent
	}
	if s := d.started; s != nil && s.ParentInstance != "" {
		return replay.LinkOf(s.ParentInstance, s.ParentExecutionID, s.ParentID, d.Item.Parent)
	}
	if d.Item.Parent != nil {
		return d.Item.Parent
	}
	if d.undecodable() && d.status == "" {
		// The provider does not report the link. Look for a start in the batch, next to the undecodable message.
		for _, m := range d.Item.Messages {
			if m, ok := m.(engine.StartItem); ok {
				return replay.LinkOf(m.ParentInstance, m.ParentExecutionID, m.ParentID, nil)
			}
		}
	}
	return nil
}

// handlerName returns the name and version of the orchestration that handles the batch. If version is empty, the
// registry's policy chooses it.
func (d *delivery) handlerName() (name, version string) {
	switch {
	case d.begin != nil:
		return d.begin.Name, d.begin.Version
	case d.duplicateStart != nil:
		return d.duplicateStart.Orchestration, d.duplicateStart.Version
	case d.started != nil:
		return d.started.Name, d.started.Version
	}
	return d.Item.OrchestrationName, d.Item.Version
}

// resolve finds the handler. It caches the result, because several tests may need it.
func (d *delivery) resolve(r *node.Registry, rules *Rules) (node.Resolved, bool) {
	if !d.looked {
		d.looked = true
		d.handler, d.found = d.lookUp(r, rules)
	}
	return d.handler, d.found
}

func (d *delivery) lookUp(r *node.Registry, rules *Rules) (node.Resolved, bool) {
	name, version := d.handlerName()
	switch {
	case d.begin == nil && !rules.ResolvesAsRecorded:
		return r.ResolveStart(name, "")
	case d.begin == nil && d.duplicateStart == nil:
		return r.ResolveStarted(name, version)
	}
	return r.ResolveStart(name, version)
}

// refusals returns the answers to the batch's starts that expect an answer but will not create a child because the
// instance already has a different start (docs/contract-decisions.md#row-8). A turn answers such starts itself;
// refusals is for ending an execution without a turn.
func (n *Node) refusals(d *delivery) []engine.WorkItem {
	if n.replay != nil && !n.replay.AnswersRefusedStart {
		return nil
	}
	var out []engine.WorkItem
	own := d.parent()
	for _, m := range d.Item.Messages {
		if s, ok := m.(engine.StartItem); ok {
			if answer, ok := replay.RefuseStart(s, own); ok {
				out = append(out, answer)
			}
		}
	}
	return out
}

func childFailed(parent engine.ParentLink, details engine.ErrorDetails) engine.WorkItem {
	return engine.SubOrchFailedItem{
		ParentInstance: parent.Instance, ParentExecutionID: parent.ExecutionID, ParentID: parent.EventID, Details: details,
	}
}

// dropAll returns all messages in the batch as dropped by rule.
func (d *delivery) dropAll(rule string) []DroppedMessage {
	out := make([]DroppedMessage, len(d.Item.Messages))
	for i := range out {
		out[i] = DroppedMessage{Index: i, Rule: rule}
	}
	return out
}
