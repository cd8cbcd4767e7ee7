package realnode

import (
	"slices"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/machine"
)

// On released nodes, decisions in reports, coverage points and expectations: they are inferred from what the node does. A
// released runtime does not report its decisions, so each ack and each abandon is examined for the decision behind it.
// An abandon that its delivery does not explain counts as one for a missing handler.

// deliveries infers a released runtime's decisions, which the runtime does not report. It records each fetched
// delivery, and infers a decision from each ack and each abandon.
type deliveries struct {
	filter *engine.CapabilityFilter
	max    uint32
	byLock map[string]*delivery // never iterated over
}

// delivery is a turn or an activity whose lock the node holds.
type delivery struct {
	slot      machine.Slot
	token     string
	attempt   uint32
	item      *engine.OrchestrationItem // nil for an activity
	activity  engine.ActivityExecuteItem
	noted     machine.Decision
	ackFailed string // error of the last ack, or empty if no ack has failed
}

// On released nodes, S12 message-conserved: all of a turn's messages that leave no event count as dropped by the same
// rule. A released runtime does not say why it drops a message.
const droppedUnsaid = "not-told"

// given records a delivery that the node has received.
func (d *deliveries) given(slot machine.Slot, a *machine.Answer) {
	switch {
	case a.Orchestration != nil:
		o := a.Orchestration
		d.byLock[o.LockToken] = &delivery{slot: slot, token: o.LockToken, attempt: o.AttemptCount, item: &o.Item}
	case a.Work != nil:
		w := &delivery{slot: slot, token: a.Work.LockToken, attempt: a.Work.AttemptCount}
		w.activity, _ = engine.Known(a.Work.Item).(engine.ActivityExecuteItem)
		d.byLock[w.token] = w
	}
}

// answered records the outcome of a call with a lock token. It returns a note if an activity has finished.
func (d *deliveries) answered(method, token string, err error) []machine.Effect {
	held := d.byLock[token]
	if held == nil {
		return nil
	}
	switch method {
	case "ack_orchestration_item", "ack_work_item":
		if err != nil {
			held.ackFailed = err.Error()
			return nil
		}
		delete(d.byLock, token)
		if held.noted == machine.DecideWorkRun {
			return held.note(machine.DecideWorkDone, "")
		}
	case "abandon_orchestration_item", "abandon_work_item":
		if err == nil {
			delete(d.byLock, token)
		}
	}
	return nil
}

// asked returns a note about the decision implied by a call, if any.
func (d *deliveries) asked(request call.Call, draining bool) []machine.Effect {
	switch r := request.(type) {
	case call.AckOrchestrationItem:
		if held := d.byLock[r.LockToken]; held != nil && held.item != nil {
			return d.acks(held, &r)
		}
	case call.AckWorkItem:
		held := d.byLock[r.LockToken]
		if failed, ok := r.Completion.(engine.ActivityFailedItem); ok && held != nil && failed.Details.Poison != nil {
			return held.note(machine.DecideWorkPoison, "deliveries")
		}
	case call.AbandonOrchestrationItem:
		if held := d.byLock[r.LockToken]; held != nil && held.item != nil {
			decision := d.whyAbandoned(held, draining)
			return held.abandons(decision, r.Delay)
		}
	case call.AbandonWorkItem:
		if held := d.byLock[r.LockToken]; held != nil {
			decision := machine.DecideWorkLost
			switch {
			case held.ackFailed != "":
				decision = machine.DecideAckFailed
			case held.noted == machine.DecideNone && draining:
				decision = machine.DecideDrained
			case held.noted == machine.DecideNone:
				decision = machine.DecideWorkNoHandler
			}
			return held.abandons(decision, r.Delay)
		}
	}
	return nil
}

// acks returns the note for a turn's ack.
func (d *deliveries) acks(held *delivery, r *call.AckOrchestrationItem) []machine.Effect {
	result := "Continue"
	for _, e := range r.HistoryDelta {
		switch data := e.Data.(type) {
		case eventdata.OrchestrationCompleted:
			result = "Completed"
		case eventdata.OrchestrationContinuedAsNew:
			result = "ContinueAsNew"
		case eventdata.OrchestrationFailed:
			result = "Failed"
			switch {
			case data.Details.Poison != nil && held.attempt > d.max:
				return held.note(machine.DecidePoison, "deliveries")
			case data.Details.Infrastructure != nil && held.ackFailed != "":
				return held.note(machine.DecideAckFailed, held.ackFailed)
			case data.Details.Application != nil && data.Details.Application.Kind == eventdata.AppCancelled:
				result = "Cancelled"
			}
		}
	}
	if len(r.HistoryDelta) == 0 && held.ended() {
		return held.note(machine.DecideDropTerminal, "the execution has ended")
	}
	if len(r.HistoryDelta) == 0 && len(held.item.History) == 0 {
		return held.note(machine.DecideDropUnstarted, "no history and no start")
	}
	return held.noteWith(machine.DecideTurn, "", func(n *machine.Note) {
		n.ExecutionID = r.ExecutionID
		n.Turn = &machine.TurnNote{First: startsWithStart(r.HistoryDelta), Handler: held.handler(r.HistoryDelta), Result: result, Events: len(r.HistoryDelta)}
		for k := range held.item.Messages {
			n.Dropped = append(n.Dropped, machine.DroppedMessage{Index: k, Rule: droppedUnsaid})
		}
	})
}

func (d *deliveries) whyAbandoned(held *delivery, draining bool) machine.Decision {
	item := held.item
	switch {
	case held.ackFailed != "":
		return machine.DecideAckFailed
	case item.HistoryError != "":
		return machine.DecideHistoryError
	case item.Pin != nil && !d.filter.Admits(item.Pin):
		return machine.DecideIncompatible
	case held.continued() && !slices.ContainsFunc(item.Messages, func(m engine.WorkItem) bool { return m.Kind() == engine.ItemContinueAsNew }):
		return machine.DecideWaitForStart
	case draining:
		return machine.DecideDrained
	}
	return machine.DecideNoHandler
}

// note returns a note about a decision on the delivery, unless that decision has already been noted.
func (h *delivery) note(decision machine.Decision, cause string) []machine.Effect {
	return h.noteWith(decision, cause, func(*machine.Note) {})
}

// noteWith is note with more in the note.
func (h *delivery) noteWith(decision machine.Decision, cause string, more func(n *machine.Note)) []machine.Effect {
	if h.noted == decision {
		return nil
	}
	h.noted = decision
	n := &machine.Note{Decision: decision, Slot: h.slot, Token: h.token, AttemptCount: h.attempt, Cause: cause,
		Instance: h.activity.Instance, ExecutionID: h.activity.ExecutionID}
	if h.item != nil {
		n.Instance, n.ExecutionID = h.item.Instance, h.item.ExecutionID
	}
	more(n)
	return []machine.Effect{n}
}

func (h *delivery) abandons(decision machine.Decision, delay time.Duration) []machine.Effect {
	return h.noteWith(decision, h.ackFailed, func(n *machine.Note) { n.Delay = delay })
}

// continued reports whether, according to its history, the delivery's execution has continued as new.
func (h *delivery) continued() bool {
	list := h.item.History
	return len(list) > 0 && list[len(list)-1].Kind() == eventdata.KindOrchestrationContinuedAsNew
}

// ended reports whether, according to its history, the delivery's execution has ended.
func (h *delivery) ended() bool {
	return slices.ContainsFunc(h.item.History, func(e engine.Event) bool {
		return e.Kind() == eventdata.KindOrchestrationCompleted || e.Kind() == eventdata.KindOrchestrationFailed
	})
}

// handler returns the orchestration handler named by the start event in the history or in delta.
func (h *delivery) handler(delta []engine.Event) string {
	list := h.item.History
	if startsWithStart(delta) {
		list = delta
	}
	if len(list) > 0 {
		if s, ok := list[0].Data.(eventdata.OrchestrationStarted); ok {
			return s.Name + "@" + s.Version
		}
	}
	return h.item.OrchestrationName + "@" + h.item.Version
}

func startsWithStart(delta []engine.Event) bool {
	return len(delta) > 0 && delta[0].Kind() == eventdata.KindOrchestrationStarted
}
