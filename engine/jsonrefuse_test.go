package engine

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/durosim/durosim/engine/eventdata"
)

var oldCodec = NewJSONCodec("1.5.0", Kinds1x(), WorkItemKinds1x())

// doesNotRead checks the error of reading a text: those of data of a newer build say that the data are too new, not broken.
func (f form[T]) doesNotRead(t *testing.T, text, want string) {
	t.Helper()
	var nothing T
	v, err := f.read([]byte(text))
	if err == nil || err.Error() != want || any(v) != any(nothing) {
		t.Errorf("%s:\n got %+v, %v\nwant %s", text, v, err, want)
	}
	if isNew := strings.Contains(want, "unknown kind"); errors.Is(err, ErrUnknownKind) != isNew {
		t.Errorf("%v: is it ErrUnknownKind? want %v", err, isNew)
	}
}

func (f form[T]) doesNotWrite(t *testing.T, v T, want string) {
	t.Helper()
	got, err := f.write([]byte("kept"), v)
	if err == nil || err.Error() != want || string(got) != "kept" {
		t.Errorf("%+v:\n got %q, %v\nwant %s", v, got, err, want)
	}
}

func TestDecodeEventErrors(t *testing.T) {
	const head = `{"event_id":3,"instance_id":"i-1","execution_id":1,"timestamp_ms":9,"duroxide_version":"1.5.0",`
	const where = `codec 1.5.0: event 3 of "i-1", execution 1: `
	for _, c := range []struct{ text, want string }{
		{``, `codec 1.5.0: event: at byte 0: the text ends; want '{'`},
		{`null`, `codec 1.5.0: event: at byte 0: got 'n'; want '{'`},
		{`{"event_id":3,"type":"Timer`, `codec 1.5.0: event: at byte 27: the text ends; want the end of a string`},
		{`{"event_id":3`, `codec 1.5.0: event: at byte 13: the text ends; want ',' or '}'`},
		{`{"event_id":3}{}`, `codec 1.5.0: event: at byte 14: text after the object`},
		{`{"event_id":3,}`, `codec 1.5.0: event: at byte 14: got '}'; want a string`},
		{`{"event_id":03}`, `codec 1.5.0: event: at byte 13: got '3'; want ',' or '}'`},
		{`{"event_id":3 "type":""}`, `codec 1.5.0: event: at byte 14: got '"'; want ',' or '}'`},
		{`{"event_id"=3}`, `codec 1.5.0: event: at byte 11: got '='; want ':'`},
		{`{"event_id":nil}`, `codec 1.5.0: event: at byte 12: got 'n'; want a value`},
		{`{"event_id":1.}`, `codec 1.5.0: event: at byte 14: got '}'; want a digit`},
		{`{"event_id":"a` + "\n" + `"}`, `codec 1.5.0: event: at byte 14: control character '\n' in a string`},
		{`{"event_id":"\x"}`, `codec 1.5.0: event: at byte 14: got 'x'; want an escape`},
		{`{"event_id":"\u12g4"}`, `codec 1.5.0: event: at byte 14: \u without four hex digits`},
		{`{"x":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`, `codec 1.5.0: event: at byte 133: nested more than 128 deep`},
		{`{"x":[1 2]}`, `codec 1.5.0: event: at byte 8: got '2'; want ',' or ']'`},

		{`{}`, `codec 1.5.0: event 0 of "", execution 0: field "event_id": missing`},
		{`{"event_id":null}`, `codec 1.5.0: event 0 of "", execution 0: field "event_id": want a whole number of 64 bits, got null`},
		{`{"event_id":3,"instance_id":"i-1","execution_id":-1}`, `codec 1.5.0: event 3 of "i-1", execution 0: field "execution_id": want a whole number of 64 bits, got -1`},
		{strings.Replace(head, `:3`, `:0`, 1) + `"type":"KeyValuesCleared"}`, `codec 1.5.0: event 0 of "i-1", execution 1: KeyValuesCleared without an event_id`},
		{strings.Replace(head, `:3`, `:1e3`, 1) + `"type":"KeyValuesCleared"}`, `codec 1.5.0: event 0 of "i-1", execution 1: KeyValuesCleared: field "event_id": want a whole number of 64 bits, got 1e3`},
		{strings.Replace(head, `:3`, `:18446744073709551616`, 1) + `"type":"KeyValuesCleared"}`, `codec 1.5.0: event 0 of "i-1", execution 1: KeyValuesCleared: field "event_id": want a whole number of 64 bits, got 18446744073709551616`},
		{head + `"source_event_id":"2","type":"KeyValuesCleared"}`, where + `KeyValuesCleared: field "source_event_id": want a whole number of 64 bits, got a string`},
		{head + `"event_id":3,"type":"KeyValuesCleared"}`, `codec 1.5.0: event 0 of "i-1", execution 1: KeyValuesCleared: field "event_id": duplicate`},
		{head + `"Type":"KeyValuesCleared"}`, where + `field "type": missing`},
		{head + `"type":null}`, where + `field "type": want a string, got null`},
		{head + `"type":""}`, where + `unknown kind ""`},
		{head + `"type":"Bogus"}`, where + `unknown kind "Bogus"`},
		{head + `"type":"ExternalSubscribed2","name":"go","topic":"t"}`, where + `unknown kind "ExternalSubscribed2"`},
		{head + `"type":"ActivityCompleted"}`, where + `ActivityCompleted: field "result": missing`},
		{head + `"type":"ActivityCompleted","result":{}}`, where + `ActivityCompleted: field "result": want a string, got an object`},
		{head + `"type":"ActivityScheduled","name":"a","input":"","tag":[]}`, where + `ActivityScheduled: field "tag": want a string, got an array`},
		{head + `"type":"CustomStatusUpdated","status":false}`, where + `CustomStatusUpdated: field "status": want a string, got false`},
		{head + `"type":"TimerFired","fire_at_ms":1.5}`, where + `TimerFired: field "fire_at_ms": want a whole number of 64 bits, got 1.5`},
		{head + `"type":"TimerFired","fire_at_ms":` + strings.Repeat("1", 50) + `}`, where + `TimerFired: field "fire_at_ms": want a whole number of 64 bits, got a long number`},
		{head + `"type":"OrchestrationStarted","name":"O","version":"","input":"","carry_forward_events":[["a","b"],["c"]]}`,
			where + `OrchestrationStarted: field "carry_forward_events": want [name,data], got an array`},
		{head + `"type":"OrchestrationStarted","name":"O","version":"","input":"","carry_forward_events":[["a",1]]}`,
			where + `OrchestrationStarted: field "carry_forward_events": want a string, got 1`},
		{head + `"type":"OrchestrationStarted","name":"O","version":"","input":"","carry_forward_events":{}}`,
			where + `OrchestrationStarted: field "carry_forward_events": want an array, got an object`},
		{head + `"type":"ActivityFailed","details":null}`, where + `ActivityFailed: field "details": at byte 0: got 'n'; want '{'`},
		{head + `"type":"ActivityFailed","details":{}}`, where + `ActivityFailed: field "details": 0 fields; want one that names the kind`},
		{head + `"type":"ActivityFailed","details":{"Bad":{}}}`, where + `ActivityFailed: field "details": unknown variant "Bad"`},
	} {
		eventsOf(oldCodec).doesNotRead(t, c.text, c.want)
	}
}

func TestDecodeWorkItemErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{``, `codec 1.5.0: work item: at byte 0: the text ends; want '{'`},
		{`{}`, `codec 1.5.0: work item: 0 fields; want one that names the kind`},
		{`{"TimerFired":{},"CancelInstance":{}}`, `codec 1.5.0: work item: 2 fields; want one that names the kind`},
		{`{"TimerFired":{}} x`, `codec 1.5.0: work item: at byte 18: text after the object`},
		{`{"TimerFired":null}`, `codec 1.5.0: work item: TimerFired: at byte 0: got 'n'; want '{'`},
		{`{"Bogus":{}}`, `codec 1.5.0: work item: unknown kind "Bogus"`},
		{`{"ExternalRaised2":{"instance":"i","name":"n","topic":"t","data":"d"}}`, `codec 1.5.0: work item: unknown kind "ExternalRaised2"`},
		{`{"TimerFired":{"instance":"i","execution_id":1,"id":2}}`, `codec 1.5.0: work item: TimerFired: field "fire_at_ms": missing`},
		{`{"CancelInstance":{"instance":7,"reason":null}}`, `codec 1.5.0: work item: CancelInstance: field "instance": want a string, got 7`},
		{`{"SubOrchFailed":{"parent_instance":"p","parent_execution_id":1,"parent_id":5,"details":{"Application":{"kind":"Panicked","message":"","retryable":1}}}}`,
			`codec 1.5.0: work item: SubOrchFailed: field "details": Application: field "retryable": want true or false, got 1`},
	} {
		itemsOf(oldCodec).doesNotRead(t, c.text, c.want)
	}
}

func TestEncodeErrors(t *testing.T) {
	const where = `codec 1.5.0: event 3 of "i-1", execution 1: `
	unnumbered := envelope(eventdata.TimerFired{})
	unnumbered.EventID = 0
	two := ErrorDetails{Application: failed.Application, Infrastructure: &eventdata.InfrastructureError{}}
	for _, c := range []struct {
		event Event
		want  string
	}{
		{envelope(nil), where + `no data`},
		{unnumbered, `codec 1.5.0: event 0 of "i-1", execution 1: TimerFired without an event_id`},
		{envelope(eventdata.ExternalSubscribed2{}), where + `unknown kind "ExternalSubscribed2"`},
		{envelope(&eventdata.TimerFired{}), where + `TimerFired: a *eventdata.TimerFired; want it by value`},
		{envelope(eventdata.ActivityFailed{}), where + `ActivityFailed: details of no variant`},
		{envelope(eventdata.OrchestrationFailed{Details: two}), where + `OrchestrationFailed: details of more than one variant`},
	} {
		eventsOf(oldCodec).doesNotWrite(t, c.event, c.want)
	}
	for _, c := range []struct {
		item WorkItem
		want string
	}{
		{nil, `codec 1.5.0: no work item`},
		{ExternalRaised2Item{Instance: "i"}, `codec 1.5.0: work item for "i": unknown kind "ExternalRaised2"`},
		{&TimerFiredItem{Instance: "i"}, `codec 1.5.0: work item for "i": TimerFired: a *engine.TimerFiredItem; want it by value`},
		{SubOrchFailedItem{ParentInstance: "p"}, `codec 1.5.0: work item for "p": SubOrchFailed: details of no variant`},
	} {
		itemsOf(oldCodec).doesNotWrite(t, c.item, c.want)
	}
}

func TestNewJSONCodecRefusesForeignKinds(t *testing.T) {
	for _, create := range []func(){
		func() { NewJSONCodec("x", Kinds("Bogus"), WorkItemKindSet{}) },
		func() { NewJSONCodec("x", Kinds1x(), WorkItemKindSet{[]WorkItemKind{"Bogus"}}) },
	} {
		func() {
			defer func() {
				if r := fmt.Sprint(recover()); !strings.HasPrefix(r, "codec x: no ") || !strings.HasSuffix(r, ` has the kind "Bogus"`) {
					t.Errorf("panic %q", r)
				}
			}()
			create()
		}()
	}
}
