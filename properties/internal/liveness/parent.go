package liveness

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/eventdata"
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
)

// parentChecker checks rule L06: a child reports its end to its parent. It takes the parent from the turn that
// scheduled the child, not from the start that the child received or from the store.
//
// A child that continues as new passes the link on: its next execution's start names the parent, because a provider
// need not remember it.
//
// The report is part of the ack that ends the child, so if it is missing, that is a violation at once. Two kinds of
// children owe no report: a child that a client had already started, and a child whose start was damaged by a fault,
// because only the start names the parent.
type parentChecker struct {
	check.Base
	links     []parentLink  // indexed by instance number
	scheduled model.KindSet // the kind of the event that schedules a child
}

// parentLink is the link from a child to its parent.
type parentLink struct {
	start     observe.MessageNo // the instance's first start, or 0 if there is none yet
	parent    observe.InstanceNo
	execution uint64 // the parent's execution
	event     uint64
	told      bool
	damaged   bool // whether the start was damaged
	// reordered is set if a message other than the start was damaged. This exception is needed because of the following
	// sequence: 1. A parent starts a child under an id of its choice and cancels it at once. 2. The cancellation is
	// damaged, and the batch, which contains the start, is given back with a delay of one second. 3. The parent's next
	// execution starts the same child. 4. The child begins with the second start and reports to that execution,
	// although the first start came earlier. The same happens if the first delivery is given back with a delay for
	// another reason, such as a missing handler: then delayed and again are set.
	reordered bool
	delayed   bool // whether the first start was given back with a delay
	again     bool // whether a second start has come
}

func newParentChecker(m *check.Run) check.Checker {
	return &parentChecker{Base: check.Base{Run: m}, scheduled: m.Model.Kinds.SetOf(eventdata.KindSubOrchestrationScheduled)}
}

func (*parentChecker) Observes() check.Set[observe.Kind] {
	return check.SetOf(observe.RowInserted, observe.RowDelayed, observe.RowRemoved, observe.InstanceRemoved, observe.Damaged)
}

func (*parentChecker) Ends() check.Ends {
	return check.Ends{OK: check.SetOf(observe.CallAckOrchestrationItem)}
}

func (k *parentChecker) Ended(c *model.Call, _ *observe.Observation) {
	if c.Request.Ack != nil && c.Caller.Node != 0 {
		k.onCommit(c)
	}
}

// link returns an instance's link. The pointer is valid until a new number is used.
func (k *parentChecker) link(no observe.InstanceNo) *parentLink {
	for len(k.links) <= int(no) {
		k.links = append(k.links, parentLink{})
	}
	return &k.links[no]
}

func (k *parentChecker) Observe(o *observe.Observation) {
	switch o.Kind {
	case observe.RowInserted:
		if k.Run.Model.Row(o.Message).Kind == engine.ItemStartOrchestration {
			l := k.link(o.Instance)
			l.again = l.start != 0
			l.start = cmp.Or(l.start, o.Message)
		}
	case observe.RowDelayed:
		if l := k.link(o.Instance); l.start == o.Message {
			l.delayed = true
		}
	case observe.RowRemoved:
		if l := k.link(o.Instance); l.start == o.Message && o.Reason == observe.RemovedUndone {
			*l = parentLink{}
		}
	case observe.Damaged:
		if o.Message != 0 {
			if l := k.link(k.Run.Model.Row(o.Message).Instance.No); l.start != o.Message {
				l.reordered = true
			} else {
				l.damaged = true
			}
		}
	case observe.InstanceRemoved:
		if !o.Undo {
			k.onDeleted(o.Instance)
		}
	}
}

// onDeleted clears the links of a deleted instance. The instance no longer has a parent, and neither do the children
// that it scheduled and that have not begun.
func (k *parentChecker) onDeleted(no observe.InstanceNo) {
	*k.link(no) = parentLink{}
	for i := range k.links {
		if k.links[i].parent == no {
			k.links[i].parent = 0
		}
	}
}

func (k *parentChecker) onCommit(c *model.Call) {
	in := model.HeldBy(c)
	if in == nil {
		return
	}
	ack := c.Request.Ack
	for i := 0; c.Delta&k.scheduled != 0 && i < len(ack.HistoryDelta); i++ {
		if d, ok := ack.HistoryDelta[i].Data.(eventdata.SubOrchestrationScheduled); ok {
			k.onScheduled(c, in, ack.ExecutionID, ack.HistoryDelta[i].EventID, d.Instance)
		}
	}
	l := k.link(in.No)
	if l.parent == 0 || l.reordered || l.delayed && l.again {
		return
	}
	k.checkCarried(c, in, l)
	told, kind := k.tellings(c, l)
	ended, how := engine.Status(""), ""
	for _, ex := range c.Executions {
		if ex.Instance == in && isEnd(ex.Status) && !isEnd(ex.Was.Status) {
			ended, how = ex.Status, "ends as "+string(ex.Status)
			if ex.Status == engine.StatusFailed {
				how += fmt.Sprintf(" with %q", ex.Output)
			}
		}
	}
	want := engine.ItemSubOrchFailed
	if ended == engine.StatusCompleted {
		want = engine.ItemSubOrchCompleted
	}
	switch {
	case told > 0 && l.told:
		k.report(c, in, l, "reports its end again")
	case ended == "" && told > 0:
		k.report(c, in, l, "reports its end but has not ended")
	case ended != "" && told == 0 && !l.damaged:
		k.report(c, in, l, how+" but does not report it")
	case told > 1:
		k.report(c, in, l, "reports its end twice")
	case told == 1 && ended != "" && kind != want:
		k.report(c, in, l, how+" but reports "+string(kind))
	}
	l.told = l.told || told > 0
}

// checkCarried checks that the start of a child's next execution names the parent and the event that scheduled the
// child.
func (k *parentChecker) checkCarried(c *model.Call, in *model.Instance, l *parentLink) {
	if l.damaged {
		return
	}
	for _, r := range c.Rows {
		next, ok := r.Item.(engine.ContinueAsNewItem)
		if !ok || !c.Added(r) || r.Instance != in {
			continue
		}
		if next.ParentInstance != k.Run.Model.Name(l.parent) || next.ParentID != l.event {
			k.report(c, in, l, fmt.Sprintf("starts its next execution as the child of %q (event %d)", next.ParentInstance, next.ParentID))
			return
		}
	}
}

func isEnd(s engine.Status) bool { return s == engine.StatusCompleted || s == engine.StatusFailed }

// onScheduled finds the start message of a child that a turn has scheduled. Only an instance's first start makes it a
// child. If a turn schedules two children under the same id, the first start belongs to the first of them.
func (k *parentChecker) onScheduled(c *model.Call, in *model.Instance, execution, event uint64, scheduled string) {
	for _, r := range c.Rows {
		if !c.Added(r) {
			continue
		}
		name := r.Instance.Name
		if strings.HasPrefix(scheduled, "sub::") {
			name = strings.TrimPrefix(name, in.Name+"::")
		}
		if l := k.link(r.Instance.No); name == scheduled && l.start == r.No && l.parent == 0 {
			l.parent, l.execution, l.event = in.No, execution, event
		}
	}
}

// tellings returns how often an ack reports the end to the parent, and what kind of message the last report is.
func (k *parentChecker) tellings(c *model.Call, l *parentLink) (n int, kind engine.WorkItemKind) {
	for _, r := range c.Rows {
		if c.Added(r) && r.Instance.No == l.parent && r.Execution == l.execution && r.ID == l.event &&
			(r.Kind == engine.ItemSubOrchCompleted || r.Kind == engine.ItemSubOrchFailed) {
			n, kind = n+1, r.Kind
		}
	}
	return n, kind
}

func (k *parentChecker) report(c *model.Call, in *model.Instance, l *parentLink, what string) {
	sent := ""
	for _, r := range c.Rows {
		if c.Added(r) && r.Queue == observe.QueueOrchestrator {
			sent += ", " + model.ItemText(r) + " to " + r.Instance.Name
		}
	}
	if sent == "" {
		sent = ", nothing"
	}
	k.Run.Liveness("L06", c.Caller.Node, in.No,
		"%s is the child of %s, scheduled as event %d of execution %d; by an ack of %s with token %s it %s: expected one report of its end, for that execution. Sent: %s",
		in.Name, k.Run.Model.Name(l.parent), l.event, l.execution, k.Run.Who(c.Caller), c.Request.Token, what, sent[2:])
}
