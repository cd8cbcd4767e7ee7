package properties

import (
	"fmt"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/sim/cluster"
)

// parentChecker asks that the end of a child is told to its parent: L06. Who the parent is, it takes from the turn that
// scheduled the child, not from what the child was told or remembers.
//
// A child that continues as new hands the link on: the start of its next execution names the parent, since a provider
// need not remember it.
//
// A telling is part of the ack that ends the child, so it is overdue when that ack has none. Without an answer are: a
// child that a client started before, and one whose start a fault damaged, since nobody else knows its parent.
type parentChecker struct {
	base
	links []parentLink // by instance number
}

// parentLink is what is known of a child.
type parentLink struct {
	start     engine.MessageNo // the first start of the instance; 0 before
	parent    engine.InstanceNo
	execution uint64 // of the parent
	event     uint64
	told      bool
}

func newParentChecker(m *run) checker { return &parentChecker{base: base{m}} }

func (*parentChecker) observes() []engine.ObservationKind {
	return []engine.ObservationKind{engine.ObsCallEnd, engine.ObsRowInserted, engine.ObsRowRemoved, engine.ObsInstanceRemoved}
}

func (*parentChecker) records() []cluster.RecordKind { return nil }

// link is the entry of an instance. The pointer is good until the next new number.
func (k *parentChecker) link(no engine.InstanceNo) *parentLink {
	for len(k.links) <= int(no) {
		k.links = append(k.links, parentLink{})
	}
	return &k.links[no]
}

func (k *parentChecker) observe(o *engine.Observation) {
	switch o.Kind {
	case engine.ObsRowInserted:
		if l := k.link(o.Instance); l.start == 0 && k.m.store.row(o.Message).kind == engine.ItemStartOrchestration {
			l.start = o.Message
		}
	case engine.ObsRowRemoved:
		if l := k.link(o.Instance); l.start == o.Message && o.Reason == engine.RemovedUndone {
			*l = parentLink{}
		}
	case engine.ObsInstanceRemoved:
		if !o.Undo {
			k.onDeleted(o.Instance)
		}
	case engine.ObsCallEnd:
		c := k.m.store.call(o.Call)
		if c == nil || c.kind != engine.CallAckOrchestrationItem || o.Outcome != engine.OutcomeOK || c.request.Ack == nil || c.caller.Node == 0 {
			return
		}
		k.onCommit(c)
	}
}

// onDeleted: a deleted instance has no parent, and those that it scheduled and that have not begun have none any more.
func (k *parentChecker) onDeleted(no engine.InstanceNo) {
	*k.link(no) = parentLink{}
	for i := range k.links {
		if k.links[i].parent == no {
			k.links[i].parent = 0
		}
	}
}

func (k *parentChecker) onCommit(c *callState) {
	in := heldBy(c)
	if in == nil {
		return
	}
	ack := c.request.Ack
	for i := range ack.HistoryDelta {
		if d, ok := ack.HistoryDelta[i].Data.(engine.SubOrchestrationScheduled); ok {
			k.onScheduled(c, in, ack.ExecutionID, ack.HistoryDelta[i].EventID, d.Instance)
		}
	}
	l := k.link(in.no)
	if l.parent == 0 {
		return
	}
	k.checkCarried(c, in, l)
	told, kind := k.tellings(c, l)
	ended := engine.Status("")
	for _, ex := range c.executions {
		if ex.instance == in && isEnd(ex.status) && !isEnd(ex.was.status) {
			ended = ex.status
		}
	}
	want := engine.ItemSubOrchFailed
	if ended == engine.StatusCompleted {
		want = engine.ItemSubOrchCompleted
	}
	switch {
	case told > 0 && l.told:
		k.report(c, in, l, "told its end again")
	case ended == "" && told > 0:
		k.report(c, in, l, "told its end and has not ended")
	case ended != "" && told == 0 && !k.m.store.row(l.start).damaged:
		k.report(c, in, l, "ended as "+string(ended)+" and did not tell it")
	case told > 1:
		k.report(c, in, l, "told its end twice")
	case told == 1 && ended != "" && kind != want:
		k.report(c, in, l, "ended as "+string(ended)+" and told "+string(kind))
	}
	l.told = l.told || told > 0
}

// checkCarried: the start of a child's next execution names its parent, if the child's own start did. An execution of the
// parent that nobody told is not asked for.
func (k *parentChecker) checkCarried(c *callState, in *instanceState, l *parentLink) {
	if k.m.store.row(l.start).damaged {
		return
	}
	for _, r := range c.rows {
		next, ok := r.item.(engine.ContinueAsNewItem)
		if !ok || r.insertedBy != c.id || !r.present || r.instance != in {
			continue
		}
		if next.ParentInstance != k.m.store.name(l.parent) || next.ParentID != l.event {
			k.report(c, in, l, fmt.Sprintf("started its next execution as the child of %q (event %d)", next.ParentInstance, next.ParentID))
			return
		}
	}
}

func isEnd(s engine.Status) bool { return s == engine.StatusCompleted || s == engine.StatusFailed }

// onScheduled finds the start of a child that a turn has scheduled; the first start of an instance makes it a child.
func (k *parentChecker) onScheduled(c *callState, in *instanceState, execution, event uint64, scheduled string) {
	for _, r := range c.rows {
		if r.kind != engine.ItemStartOrchestration || r.insertedBy != c.id || !r.present {
			continue
		}
		name := r.instance.name
		if strings.HasPrefix(scheduled, "sub::") {
			name = strings.TrimPrefix(name, in.name+"::")
		}
		if l := k.link(r.instance.no); name == scheduled && l.start == r.no {
			l.parent, l.execution, l.event = in.no, execution, event
		}
	}
}

// tellings counts what an ack tells the parent, and says of what kind the last is.
func (k *parentChecker) tellings(c *callState, l *parentLink) (n int, kind engine.WorkItemKind) {
	for _, r := range c.rows {
		if r.insertedBy == c.id && r.present && r.instance.no == l.parent && r.execution == l.execution && r.id == l.event &&
			(r.kind == engine.ItemSubOrchCompleted || r.kind == engine.ItemSubOrchFailed) {
			n, kind = n+1, r.kind
		}
	}
	return n, kind
}

func (k *parentChecker) report(c *callState, in *instanceState, l *parentLink, what string) {
	sent := ""
	for _, r := range c.rows {
		if r.insertedBy == c.id && r.present && r.queue == engine.QueueOrchestrator {
			sent += ", " + itemText(r) + " to " + r.instance.name
		}
	}
	if sent == "" {
		sent = ", nothing"
	}
	k.m.liveness("L06", c.caller.Node, in.no,
		"%s is the child of %s, scheduled as event %d of execution %d; by an ack of %s with token %s it %s: expected its end to be told once, for that execution. Sent: %s",
		in.name, k.m.store.name(l.parent), l.event, l.execution, k.m.who(c.caller), c.request.Token, what, sent[2:])
}
