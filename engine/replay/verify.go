package replay

import (
	"errors"
	"fmt"
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/orchhost"
)

// Verify replays a whole history, even one that has ended, and describes the first disagreement between code and
// history. It returns "" if they agree: the code must claim every schedule and every change of a key or a status, add
// none, and end as recorded. Verify does not compare times or a child's id and version, and it ignores Input.Messages and
// Input.Start. If the runtime ended the execution, because of an error other than an application error or because the
// history exceeds a limit, any code agrees.
func Verify(in Input) (differs string, err error) {
	if len(in.History) == 0 || in.Handler == nil {
		return "", errors.New("replay: nothing to verify")
	}
	terminal := in.cut()
	if byRuntime(terminal) {
		return "", nil
	}
	if len(in.History) == 0 {
		return "the history is an end without a beginning", nil
	}
	in.with(func(t *turn) { differs, err = t.verify(terminal) })
	return differs, err
}

// DiffersAt returns the location of the call at which code and history disagree, as in "orders.refund (orders.go:42)". If
// the code lacks something that the history has, it is the code's last call. The location is "" if code and history agree
// or if it is unknown.
func DiffersAt(in Input) (place string) {
	in.places = true
	terminal := in.cut()
	if len(in.History) == 0 || in.Handler == nil {
		return ""
	}
	in.with(func(t *turn) {
		differs, err := t.verify(terminal)
		if err == nil && (t.out.Nondeterminism != nil || differs != "" && !byRuntime(terminal)) {
			place = t.place
		}
	})
	return place
}

// cut leaves only what a replay of the whole history needs, without its end, which it returns, or nil if there is none.
func (in *Input) cut() (terminal engine.EventData) {
	end := slices.IndexFunc(in.History, func(e engine.Event) bool { return IsEnd(e.Data) })
	if end < 0 {
		return nil
	}
	terminal = in.History[end].Data
	in.NowMs = in.History[end].TimestampMs // the time of the last turn's unrecorded actions
	in.History = in.History[:end]
	return terminal
}

// byRuntime reports whether the runtime has ended the execution, wherever the code was.
func byRuntime(terminal engine.EventData) bool {
	f, failed := terminal.(eventdata.OrchestrationFailed)
	return failed && f.Details.Application == nil
}

func (t *turn) verify(terminal engine.EventData) (differs string, err error) {
	if err := t.begin(); err != nil {
		return "", err
	}
	if t.abort.IsZero() {
		t.verifying = true
		t.start()
		if t.replay() {
			t.claimRest()
		}
		t.tearDown()
	}
	return t.disagreement(terminal), nil
}

// claimRest matches the schedules recorded after the code's last poll against the actions that the code has emitted.
func (t *turn) claimRest() {
	for pos := t.left; pos < len(t.sched) && t.abort.IsZero(); pos++ {
		data := t.at(pos).Data
		if _, chained := data.(eventdata.OrchestrationChained); !chained && !changesState(data) && t.sched[pos].kind == notSchedule {
			continue
		}
		if e := t.apply(pos); e != nil {
			t.disagree(e)
		}
	}
}

// IsEnd reports whether an event ends its execution.
func IsEnd(data engine.EventData) bool {
	switch data.(type) {
	case eventdata.OrchestrationCompleted, eventdata.OrchestrationFailed, eventdata.OrchestrationContinuedAsNew:
		return true
	}
	return false
}

// disagreement compares the end of the replay with the end of the history. terminal is nil if the history has no
// terminal event.
func (t *turn) disagreement(terminal engine.EventData) string {
	seen := "the code waits"
	end, _ := terminal.(eventdata.OrchestrationFailed)
	cancelled := end.Details.Application != nil && end.Details.Application.Kind == eventdata.AppCancelled
	switch main := t.mainTask(); {
	case t.abort.Application != nil:
		if t.abort.Display() == end.Details.Display() {
			return ""
		}
		seen = fmt.Sprintf("the code ends with %q", t.abort.Display())
		if t.out.PanickedAt != "" {
			seen += ", at " + t.out.PanickedAt
		}
	case !t.abort.IsZero():
		seen = t.abort.Display()
		if n := t.out.Nondeterminism; t.returned && t.continues == nil && n != nil && n.Kind == nondeterminismNames[noEmittedAction] {
			i := slices.IndexFunc(t.in.History, func(e engine.Event) bool { return e.EventID == n.EventID })
			seen += fmt.Sprintf(": %s before event %d (%s)", main.gives(), n.EventID, t.in.History[i].Kind())
		}
		return seen
	default:
		for t.emitted() {
			a := t.nextAction()
			if a.Kind != orchhost.ActionContinueAsNew {
				makeStorable(&a.Action)
				return "the code asks for something new: " + describeAction(&a.Action) + endsWith(terminal)
			}
			t.noteContinue(a)
		}
		switch d := terminal.(type) {
		case eventdata.OrchestrationContinuedAsNew:
			if t.continues != nil && t.continues.Input == d.Input {
				return ""
			}
		case eventdata.OrchestrationCompleted:
			if t.continues == nil && t.returned && main.err == nil && main.value == d.Output {
				return ""
			}
		case eventdata.OrchestrationFailed:
			if cancelled || t.continues == nil && t.returned && main.err != nil && main.message == d.Details.Display() {
				return ""
			}
			if broken := t.limitBrokenBy(t.in.History); broken != "" && broken == d.Details.Display() {
				return "" // the engine ends the execution, whatever the code does
			}
		case nil:
			if t.continues == nil && !t.returned {
				return ""
			}
		}
		switch {
		case t.continues != nil:
			seen = fmt.Sprintf("the code continues as new with %q", t.continues.Input)
		case t.returned:
			seen = main.gives()
		}
	}
	return seen + endsWith(terminal)
}

// gives says with what the code of a task has returned.
func (k *task) gives() string {
	if k.err != nil {
		return fmt.Sprintf("the code fails with %q", k.message)
	}
	return fmt.Sprintf("the code returns %q", k.value)
}

// endsWith describes the end of the history.
func endsWith(terminal engine.EventData) string {
	if terminal == nil {
		return ", the history goes on"
	}
	return ", the history ends with " + describeEvent(terminal)
}
