package outcome

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// target is what a client sends to, or what code waits for: an event, or a queue.
type target struct {
	name  string
	queue bool
}

func (t target) String() string {
	if t.queue {
		return fmt.Sprintf("queue %q", t.name)
	}
	return fmt.Sprintf("event %q", t.name)
}

// unawaited describes the plan's first message to an instance that no code in the run ever waits for, as a misspelt one
// is, or for which the instance does not wait, but for another, which only recovery sends: its version calls it otherwise.
// It returns "" if there is none, or if that is not certain: code that was stopped might have waited later, and a wait in an
// execution that was pruned or deleted is not seen.
func (c *Checker) unawaited(p *plan.Instance, f *cluster.Fate) string {
	if p.Expect == plan.EndAny || f.End != cluster.EndedCompleted && p.Expect != plan.EndEternal {
		return ""
	}
	no := c.Run.Model.Number(p.ID)
	for _, a := range p.Actions {
		sent, whose := target{a.Name, a.Verb == plan.ActionEnqueue}, "no code of the run ever waits"
		if a.Unawaited || a.Verb != plan.ActionRaise && !sent.queue {
			continue
		}
		if c.isAwaited(p.ID, sent) {
			if !c.lacked(p, no) || c.findsWait(no, func(w target) bool { return w == sent }) {
				continue
			}
			whose = "its own code never waits"
		}
		text := fmt.Sprintf("the plan says %q, and %s for that", string(a.Verb)+" "+a.Name, whose)
		var names []string
		c.findsWait(no, func(w target) bool {
			if !slices.Contains(names, w.String()) {
				names = append(names, w.String())
			}
			return false
		})
		if len(names) > 0 {
			text += "; it waited for " + strings.Join(names, ", ")
		}
		return text
	}
	return ""
}

// lacked reports whether recovery has sent an instance what the plan does not send it at all.
func (c *Checker) lacked(p *plan.Instance, no observe.InstanceNo) bool {
	return slices.ContainsFunc(c.of(no).recovery, func(sent string) bool {
		return sent != cancelledIt && !strings.HasSuffix(sent, forChild) && !slices.ContainsFunc(p.Actions, func(a plan.Action) bool {
			return strings.HasSuffix(sent, fmt.Sprintf(" %q", a.Name))
		})
	})
}

// isAwaited reports whether code in the run waited for a target, or may have: it looks at the given instance first.
func (c *Checker) isAwaited(id string, t target) bool {
	if slices.Contains(c.awaited, t) {
		return true
	}
	is := func(w target) bool { return w == t }
	found := c.findsWait(c.Run.Model.Number(id), is) ||
		slices.ContainsFunc(c.Run.Model.Instances[1:], func(in *model.Instance) bool { return c.findsWait(in.No, is) })
	if found {
		c.awaited = append(c.awaited, t)
	}
	return found
}

// findsWait reports whether one of an instance's waits is the one that is sought, or may be: part of its history is gone.
func (c *Checker) findsWait(no observe.InstanceNo, sought func(target) bool) bool {
	m := c.Run.Model
	kinds := m.Kinds.SetOf(eventdata.KindExternalSubscribed, eventdata.KindExternalSubscribed2, eventdata.KindQueueSubscribed)
	unknown := model.MaskOf(model.KindDamaged) | model.MaskOf(model.KindForeign)
	for _, ex := range m.Instance(no).Executions {
		if ex.Deleted || ex.Kinds&unknown != 0 {
			return true
		}
		for i := range ex.Events {
			if !kinds.Has(ex.Events[i].Kind) {
				continue
			}
			t := target{}
			switch d := m.Data(&ex.Events[i]).(type) {
			case eventdata.ExternalSubscribed:
				t.name = d.Name
			case eventdata.ExternalSubscribed2:
				t.name = d.Name
			case eventdata.QueueSubscribed:
				t.name, t.queue = d.Name, true
			}
			if sought(t) {
				return true
			}
		}
	}
	return false
}

// message is what the plan sends to an instance: an event, a queue's message or a cancel.
type message struct {
	verb       plan.ActionVerb
	name, data string
}

func (m message) String() string {
	switch m.verb {
	case plan.ActionCancel:
		return "the cancel"
	case plan.ActionEnqueue:
		return fmt.Sprintf("a message of queue %q", m.name)
	}
	return fmt.Sprintf("the event %q", m.name)
}

// inbox is what became of the messages to an instance, as its histories tell.
type inbox struct {
	taken, lost []message
	raised      []raised  // the events that came, in order
	dropped     []message // that a continue-as-new did not carry on, mostly since others have filled the limit of the build
	missed      []message // of those lost, what came while a wait for the name was open
	early       []message // of those lost, what came before a wait for the name
	older       []message // of those missed, the events without a topic that came while a wait with one was open
	waits       []target  // that its code had
}

// raised is an event that came, and whether a wait took it.
type raised struct {
	message
	taken bool
}

// next removes what became of m, the first of so many equal messages that the plan still sends. If more than that came, a
// fault has sent some of them twice, and what was taken counts.
func (in *inbox) next(m message, sends int) (taken, lost bool) {
	is := func(r raised) bool { return r.message == m }
	came, passed := 0, false
	for _, r := range slices.Backward(in.raised) {
		if is(r) {
			came, passed = came+1, !r.taken
		}
	}
	if came > 0 {
		first := slices.IndexFunc(in.raised, is)
		in.raised = slices.Delete(in.raised, first, first+1)
	}
	taken = !(passed && came <= sends) && remove(&in.taken, m)
	return taken, !taken && remove(&in.lost, m)
}

// drop drops the queues' messages that are unread.
func (in *inbox) drop() {
	queued := func(m message) bool { return m.verb == plan.ActionEnqueue }
	for _, m := range in.lost {
		if queued(m) {
			in.dropped = append(in.dropped, m)
		}
	}
	in.lost = slices.DeleteFunc(in.lost, queued)
}

func remove(list *[]message, m message) bool {
	i := slices.Index(*list, m)
	if i >= 0 {
		*list = slices.Delete(*list, i, i+1)
	}
	return i >= 0
}

// early says of an event why it was lost. Whoever waits for it afterwards waits in vain.
const early = "it came before the wait for it"

// untaken describes each of the plan's messages to an instance that its code did not take, and why. What a client sends
// twice by a fault counts once. What a damaged, pruned or deleted history told is not known. Of an instance that did not
// end as planned and did not complete, only what it got and lost is described: what comes later is no cause of that.
func (c *Checker) untaken(p *plan.Instance, onlyLost bool) (list []cluster.Remark) {
	removes := func(a plan.Action) bool { return a.Verb == plan.ActionDelete || a.Verb == plan.ActionPrune }
	if len(p.Actions) == 0 || slices.ContainsFunc(p.Actions, removes) {
		return nil
	}
	no := c.Run.Model.Number(p.ID)
	if no == 0 {
		return nil // the store has never heard of it
	}
	in, known := c.inbox(no, len(p.Actions) > 1)
	actions, byTime := p.Actions, func(a, b plan.Action) int { return cmp.Compare(a.At, b.At) }
	if !slices.IsSortedFunc(actions, byTime) {
		actions = slices.SortedStableFunc(slices.Values(actions), byTime)
	}
	for i, a := range actions {
		if a.Unawaited || !known {
			continue
		}
		m := message{a.Verb, a.Name, a.Data}
		if m.verb == plan.ActionCancel {
			m.data = "" // the reason
		}
		sends := 0
		for _, b := range actions[i:] {
			if !b.Unawaited && b.Verb == a.Verb && b.Name == a.Name && b.Data == a.Data {
				sends++
			}
		}
		taken, lost := in.next(m, sends)
		dropped := !taken && !lost && remove(&in.dropped, m)
		why := "it came when it had ended"
		if taken || onlyLost && !lost && !dropped {
			continue
		}
		status := c.Run.Model.Instance(no).Status()
		ended := status == engine.StatusCompleted || status == engine.StatusFailed
		switch sent := (target{name: a.Name}); {
		case dropped:
			why = "it was unread at a continue-as-new, which did not carry it on (see limits carried)"
		case lost && m.verb == plan.ActionEnqueue:
			why = "no code dequeued it"
		case lost && slices.Contains(in.older, m) && c.clientsLack(eventdata.KindExternalEvent2):
			why = fmt.Sprintf("clients of %s (clients run) do not know the kind of the wait for it, and send an event without a topic", c.Run.World.Plan().Clients)
		case lost && slices.Contains(in.missed, m):
			why = "the wait for it that was open when it came has another topic, or none"
		case lost && slices.Contains(in.early, m):
			why = early
		case lost && (slices.Contains(in.waits, sent) || !ended && c.isAwaited(p.ID, sent)):
			why = "no wait for it was open when it came"
		case lost && ended && (c.isAwaited(p.ID, sent) || status == engine.StatusFailed && p.Expect != plan.EndEternal): // it might have waited later
			why = "no wait for it had begun when the instance ended"
		case lost:
			why = "no code waits for it"
		case c.of(no).early, c.Run.Model.Instance(no).Orphaned:
			why = "it came before it had begun"
		case !ended:
			why = "it has not been delivered"
		case c.Run.World.StartMs()+a.At.Milliseconds() < c.of(no).end.atMs:
			why = "the instance ended before its code took it"
		}
		list = append(list, cluster.Remark{
			Kind: cluster.RemarkUntaken, About: fmt.Sprintf("%s, which a client sends to %s: %s", m, p.Orchestration, why),
			Detail: ", sent at " + pretty.Duration(a.At.Milliseconds()), Instance: p.ID,
		})
	}
	return list
}

// clientsLack reports whether the plan gives clients a build that does not know a kind.
func (c *Checker) clientsLack(kind engine.EventKind) bool {
	b := plan.FindBuild(c.Run.World.Builds(), c.Run.World.Plan().Clients)
	return b != nil && !b.Codec.Kinds().Has(kind)
}

// inbox follows the histories of an instance. An event goes to the oldest open wait for it, and is lost if there is none;
// a queue keeps its messages, across executions, too. Only if asked, it notes the order of the events.
func (c *Checker) inbox(no observe.InstanceNo, ordered bool) (in inbox, known bool) {
	m := c.Run.Model
	started := m.Kinds.SetOf(eventdata.KindOrchestrationStarted)
	told := m.Kinds.SetOf(eventdata.KindOrchestrationStarted, eventdata.KindOrchestrationCancelRequested, eventdata.KindExternalSubscribed,
		eventdata.KindExternalSubscribed2, eventdata.KindExternalSubscribedCancelled, eventdata.KindExternalEvent, eventdata.KindExternalEvent2,
		eventdata.KindQueueSubscribed, eventdata.KindQueueSubscriptionCancelled, eventdata.KindQueueEventDelivered)
	unknown := model.MaskOf(model.KindDamaged) | model.MaskOf(model.KindForeign)
	type wait struct {
		event uint64
		data  engine.EventData
	}
	for _, ex := range m.Instance(no).Executions {
		if ex.Deleted || ex.Kinds&unknown != 0 {
			return in, false
		}
		var open []wait // waits and dequeues that have got nothing
		arrives := func(a message, wanted engine.EventData) {
			i := slices.IndexFunc(open, func(w wait) bool { return w.data == wanted })
			if ordered && a.verb == plan.ActionRaise {
				in.raised = append(in.raised, raised{a, i >= 0})
			}
			if i >= 0 {
				open = slices.Delete(open, i, i+1)
				in.taken = append(in.taken, a)
			} else {
				in.lost = append(in.lost, a)
				if slices.ContainsFunc(open, func(w wait) bool { return nameOf(w.data) == a.name }) {
					in.missed = append(in.missed, a)
					if _, plain := wanted.(eventdata.ExternalSubscribed); plain { // so the wait is no such one
						in.older = append(in.older, a)
					}
				}
			}
		}
		for i := range ex.Events {
			e := &ex.Events[i]
			if !told.Has(e.Kind) || len(in.lost) == 0 && started.Has(e.Kind) {
				continue
			}
			decoded := m.Decoded(e)
			switch d := decoded.Data.(type) {
			case eventdata.OrchestrationStarted:
				for _, a := range d.CarryForwardEvents {
					remove(&in.lost, message{plan.ActionEnqueue, a.Name, a.Data}) // it arrives again
				}
				if len(d.CarryForwardEvents) > 0 {
					in.drop()
				}
			case eventdata.OrchestrationCancelRequested:
				in.taken = append(in.taken, message{verb: plan.ActionCancel})
			case eventdata.ExternalSubscribed, eventdata.ExternalSubscribed2:
				name := nameOf(d)
				in.waits, open = append(in.waits, target{name: name}), append(open, wait{e.ID, d})
				for _, a := range in.lost {
					if a.verb == plan.ActionRaise && a.name == name {
						in.early = append(in.early, a)
					}
				}
			case eventdata.QueueSubscribed:
				if i := slices.IndexFunc(in.lost, func(a message) bool { return a.verb == plan.ActionEnqueue && a.name == d.Name }); i >= 0 {
					in.taken = append(in.taken, in.lost[i])
					in.lost = slices.Delete(in.lost, i, i+1)
				} else {
					open = append(open, wait{e.ID, d})
				}
			case eventdata.ExternalSubscribedCancelled, eventdata.QueueSubscriptionCancelled:
				open = slices.DeleteFunc(open, func(w wait) bool { return w.event == decoded.SourceEventID })
			case eventdata.ExternalEvent:
				arrives(message{plan.ActionRaise, d.Name, d.Data}, eventdata.ExternalSubscribed{Name: d.Name})
			case eventdata.ExternalEvent2:
				arrives(message{plan.ActionRaise, d.Name, d.Data}, eventdata.ExternalSubscribed2{Name: d.Name, Topic: d.Topic})
			case eventdata.QueueEventDelivered:
				arrives(message{plan.ActionEnqueue, d.Name, d.Data}, eventdata.QueueSubscribed{Name: d.Name})
			}
		}
	}
	return in, true
}

// nameOf returns the name of the event that a wait is for, and "" for a dequeue.
func nameOf(wait engine.EventData) string {
	switch d := wait.(type) {
	case eventdata.ExternalSubscribed:
		return d.Name
	case eventdata.ExternalSubscribed2:
		return d.Name
	}
	return ""
}
