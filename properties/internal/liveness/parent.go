package liveness

import (
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
)

// parentChecker checks rule L06: a child reports its end to its parent. It takes the parent from the turn that sent the
// start with which the child began, not from the start itself or from the store.
//
// A child that continues as new passes the link on: its next execution's start names the parent, because a provider
// need not remember it.
//
// The report is part of the ack that ends the child, so if it is missing, that is a violation at once. Two kinds of
// instances owe no report: one that began with the start of a client, and a child whose start was damaged by a fault,
// because only the start names the parent.
type parentChecker struct {
	check.Base
	starts    []childStart  // the starts that turns have sent to children, in the order in which they were sent
	links     []parentLink  // indexed by instance number; set when the instance begins
	scheduled model.KindSet // the kind of the event that schedules a child
}

// parentLink is the link from a child to its parent.
type parentLink struct {
	parent    observe.InstanceNo
	execution uint64 // the parent's execution
	event     uint64
	told      bool
	damaged   bool // whether the start was damaged
}

// childStart is a message that starts a child, with the link that the child gets if it begins with this message.
type childStart struct {
	no    observe.MessageNo
	child observe.InstanceNo
	link  parentLink
}

func newParentChecker(m *check.Run) check.Checker {
	return &parentChecker{scheduled: m.Model.Kinds.SetOf(eventdata.KindSubOrchestrationScheduled), Base: check.Base{
		Run: m, OnObserve: check.SetOf(observe.InstanceRemoved), OnEnd: check.Ends{OK: check.SetOf(observe.CallAckOrchestrationItem)},
	}}
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
	if !o.Undo {
		k.onDeleted(o.Instance)
	}
}

// onDeleted clears the links of a deleted instance. The instance no longer has a parent, and neither do the children
// that it scheduled.
func (k *parentChecker) onDeleted(no observe.InstanceNo) {
	*k.link(no) = parentLink{}
	for i := range k.links {
		if k.links[i].parent == no {
			k.links[i].parent = 0
		}
	}
	k.starts = slices.DeleteFunc(k.starts, func(s childStart) bool { return s.link.parent == no || s.child == no })
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
	for _, ex := range c.Executions {
		if ex.Instance == in && ex.ID == engine.InitialExecutionID && !ex.Was.Created {
			k.onBegun(c, in)
		}
	}
	l := k.link(in.No)
	if l.parent == 0 {
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

// onBegun links an instance that an ack has begun to its parent: the sender of the first start in the batch.
func (k *parentChecker) onBegun(c *model.Call, in *model.Instance) {
	var first *model.Row
	for _, r := range c.Rows {
		if r.Instance == in && r.RemovedBy == c.ID && r.Kind == engine.ItemStartOrchestration {
			if first == nil || r.No < first.No {
				first = r
			}
		}
	}
	if first == nil {
		return
	}
	if i := k.start(first.No); i >= 0 {
		*k.link(in.No) = k.starts[i].link
		k.link(in.No).damaged = first.Damaged
		k.starts = slices.Delete(k.starts, i, i+1)
	}
}

// start returns the index of a message in k.starts, or -1.
func (k *parentChecker) start(no observe.MessageNo) int {
	return slices.IndexFunc(k.starts, func(s childStart) bool { return s.no == no })
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

// onScheduled finds the start of a child that a turn has scheduled. If a turn schedules two children under the same id,
// the first start belongs to the first of them.
func (k *parentChecker) onScheduled(c *model.Call, in *model.Instance, execution, event uint64, scheduled string) {
	for _, r := range c.Rows {
		if !c.Added(r) || r.Kind != engine.ItemStartOrchestration || k.start(r.No) >= 0 {
			continue
		}
		name := r.Instance.Name
		if strings.HasPrefix(scheduled, "sub::") {
			name = strings.TrimPrefix(name, in.Name+"::")
		}
		if name == scheduled {
			k.starts = append(k.starts, childStart{r.No, r.Instance.No, parentLink{parent: in.No, execution: execution, event: event}})
			return
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
