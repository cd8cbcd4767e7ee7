package safety

import (
	"fmt"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/eventdata"
	"github.com/durosim/durosim/internal/machine"
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
)

// This file contains the model of queue messages for S17 (docs/contract/runtime.md#r7.7 and #r7.9): each message
// arrives once, in the order in which the messages were sent. When an execution continues as new, it carries over the
// oldest messages that no dequeue has read.

// queueData is the state of the queue messages in an instance's current execution.
type queueData struct {
	known    bool // whether the start of the execution was observed
	arrivals []engine.CarriedEvent
	handed   int // how many of the arrivals the previous execution carried over
	names    []queueName
}

// queueName counts the dequeues for one queue name. Dropped dequeues do not count.
type queueName struct {
	name   string
	reads  int
	events []uint64 // event ids of the dequeues
}

func (q *queueData) name(name string) *queueName {
	for i := range q.names {
		if q.names[i].name == name {
			return &q.names[i]
		}
	}
	q.names = append(q.names, queueName{name: name})
	return &q.names[len(q.names)-1]
}

// queued applies the queue events in an ack, and judges the order of arrivals.
func (k *stateChecker) queued(c *model.Call, no observe.InstanceNo, d *instanceData) {
	in, ack, q := k.Run.Model.Instance(no), c.Request.Ack, &d.queue
	turn := in.Note.Token == ack.LockToken && in.Note.Decision == machine.DecideTurn && in.BatchToken == ack.LockToken
	var carried []engine.CarriedEvent
	var arrived []engine.CarriedEvent
	for i := range ack.HistoryDelta {
		e := &ack.HistoryDelta[i]
		switch data := e.Data.(type) {
		case eventdata.OrchestrationStarted:
			*q = queueData{known: true}
			carried = data.CarryForwardEvents
			q.handed = len(carried)
		case eventdata.QueueEventDelivered:
			q.arrivals = append(q.arrivals, engine.CarriedEvent(data))
			arrived = append(arrived, engine.CarriedEvent(data))
		case eventdata.QueueSubscribed:
			n := q.name(data.Name)
			n.reads++
			n.events = append(n.events, e.EventID)
		case eventdata.QueueSubscriptionCancelled:
			q.drop(e.SourceEventID)
		}
	}
	if !turn {
		return
	}
	for i, want := range carried {
		if i >= len(arrived) || arrived[i] != want {
			k.report(c, no, fmt.Sprintf("began execution %d without the carried-over message %d of queue %q as its arrival %d", ack.ExecutionID, i+1, want.Name, i+1))
			return
		}
	}
	rest := arrived[min(len(carried), len(arrived)):]
	for _, m := range in.Batch {
		w, ok := k.Run.Model.Row(m).Item.(engine.QueueMessageItem)
		if ok && len(rest) > 0 && rest[0] == (engine.CarriedEvent{Name: w.Name, Data: w.Data}) {
			rest = rest[1:]
		}
	}
	if len(rest) > 0 {
		k.report(c, no, fmt.Sprintf("recorded the arrival of message %q of queue %q, which is not at that place of the batch: %s", rest[0].Data, rest[0].Name, k.Run.BatchText(in.Batch)))
	}
}

// drop records that a dequeue has been dropped.
func (q *queueData) drop(event uint64) {
	for i := range q.names {
		for _, e := range q.names[i].events {
			if e == event {
				q.names[i].reads--
			}
		}
	}
}

// carried judges the messages that a continue-as-new carries over, which must be the oldest unread ones, in order, up
// to the limit of the build.
// It also judges the custom status. A dequeue reads at most one message, so if there are more messages than dequeues,
// the rest must be unread.
func (k *stateChecker) carried(c *model.Call, no observe.InstanceNo, d *instanceData) {
	q := &d.queue
	for _, w := range c.Request.Ack.OrchestratorItems {
		next, ok := w.(engine.ContinueAsNewItem)
		if !ok || c.Caller.Node == 0 || c.Request.Ack.Metadata.Status != engine.StatusContinuedAsNew {
			continue
		}
		if !model.SameText(next.InitialCustomStatus, d.status) {
			k.report(c, no, "continued as new with custom status "+model.TextOf(next.InitialCustomStatus)+", expected "+model.TextOf(d.status))
		}
		if !q.known {
			return
		}
		if len(next.CarryForwardEvents) > 0 {
			k.Run.Happened(check.FactCarried)
		}
		most := engine.MaxCarryForwardEvents
		if inc := k.Run.Model.Incarnation(c.Caller); inc != nil {
			most = inc.Build.Bounds().CarriedEvents
		}
		if seen := q.wrong(next.CarryForwardEvents, most); seen != "" {
			k.report(c, no, "continued as new "+seen)
		}
		if len(next.CarryForwardEvents) == most {
			k.Run.Happened(check.FactCarryLimit)
		}
		return
	}
}

// wrong describes what is wrong with the messages carried over, or returns "" if nothing is. The limit applies to what
// arrived in this execution; what the previous one carried over is carried on, even above the limit of the build.
func (q *queueData) wrong(carried []engine.CarriedEvent, most int) string {
	if n := len(carried); n > most && !within(carried, q.arrivals[:min(q.handed, len(q.arrivals))]) {
		return fmt.Sprintf("with %d queue messages, expected the oldest %d", n, most)
	}
	if rest := outside(carried, q.arrivals); len(rest) > 0 {
		return fmt.Sprintf("with message %q of queue %q, which did not arrive at that place: expected unread messages in the order of their arrival", rest[0].Data, rest[0].Name)
	}
	if left := q.leftOfHanded(); left > len(carried) {
		return fmt.Sprintf("with %d queue messages, but of the %d that the previous execution carried over, at least %d are unread: expected it to carry these over, whatever the limit of the build",
			len(carried), q.handed, left)
	}
	if len(carried) >= most {
		return ""
	}
	for _, a := range q.arrivals {
		unread, along := count(q.arrivals, a.Name)-q.reads(a.Name), count(carried, a.Name)
		if along < unread {
			return fmt.Sprintf("with %d messages of queue %q, but of its %d arrivals, such as %q, at least %d are unread",
				along, a.Name, count(q.arrivals, a.Name), a.Data, unread)
		}
	}
	return ""
}

// outside returns what remains of the messages after those that stand, in this order, in the list.
func outside(messages, list []engine.CarriedEvent) []engine.CarriedEvent {
	for _, m := range list {
		if len(messages) > 0 && messages[0] == m {
			messages = messages[1:]
		}
	}
	return messages
}

func within(messages, list []engine.CarriedEvent) bool { return len(outside(messages, list)) == 0 }

// leftOfHanded returns the minimum number of unread messages among those that the previous execution carried over.
func (q *queueData) leftOfHanded() (left int) {
	handed := q.arrivals[:min(q.handed, len(q.arrivals))]
	for i, a := range handed {
		if count(handed[:i], a.Name) == 0 {
			left += max(0, count(handed, a.Name)-q.reads(a.Name))
		}
	}
	return left
}

// reads returns how many dequeues there are for a name.
func (q *queueData) reads(name string) int {
	for _, n := range q.names {
		if n.name == name {
			return n.reads
		}
	}
	return 0
}

func count(list []engine.CarriedEvent, name string) (n int) {
	for _, e := range list {
		if e.Name == name {
			n++
		}
	}
	return n
}
