package engine

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/engine/eventdata"
)

func TestDecodeEventErrors(t *testing.T) {
	codec := NewJSONCodec("1.5.0", Kinds1x(), WorkItemKinds1x())
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
		{
			head + `"type":"OrchestrationStarted","name":"O","version":"","input":"","carry_forward_events":[["a","b"],["c"]]}`,
			where + `OrchestrationStarted: field "carry_forward_events": want [name,data], got an array`,
		},
		{
			head + `"type":"OrchestrationStarted","name":"O","version":"","input":"","carry_forward_events":[["a",1]]}`,
			where + `OrchestrationStarted: field "carry_forward_events": want a string, got 1`,
		},
		{
			head + `"type":"OrchestrationStarted","name":"O","version":"","input":"","carry_forward_events":{}}`,
			where + `OrchestrationStarted: field "carry_forward_events": want an array, got an object`,
		},
		{head + `"type":"ActivityFailed","details":null}`, where + `ActivityFailed: field "details": at byte 0: got 'n'; want '{'`},
		{head + `"type":"ActivityFailed","details":{}}`, where + `ActivityFailed: field "details": 0 fields; want one that names the kind`},
		{head + `"type":"ActivityFailed","details":{"Bad":{}}}`, where + `ActivityFailed: field "details": unknown variant "Bad"`},
	} {
		e, err := codec.DecodeEvent([]byte(c.text))
		if err == nil || err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.text, err, c.want)
		}
		if e != (Event{}) {
			t.Errorf("%s: an event with the error: %+v", c.text, e)
		}
	}
}

func TestDecodeWorkItemErrors(t *testing.T) {
	codec := NewJSONCodec("1.5.0", Kinds1x(), WorkItemKinds1x())
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
		{
			`{"SubOrchFailed":{"parent_instance":"p","parent_execution_id":1,"parent_id":5,"details":{"Application":{"kind":"Panicked","message":"","retryable":1}}}}`,
			`codec 1.5.0: work item: SubOrchFailed: field "details": Application: field "retryable": want true or false, got 1`,
		},
	} {
		w, err := codec.DecodeWorkItem([]byte(c.text))
		if err == nil || err.Error() != c.want || w != nil {
			t.Errorf("%s:\n got %v, %v\nwant %s", c.text, w, err, c.want)
		}
	}
}

func TestEncodeErrors(t *testing.T) {
	codec := NewJSONCodec("1.5.0", Kinds1x(), WorkItemKinds1x())
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
		got, err := codec.AppendEvent([]byte("kept"), c.event)
		if err == nil || err.Error() != c.want || string(got) != "kept" {
			t.Errorf("%+v:\n got %q, %v\nwant %s", c.event, got, err, c.want)
		}
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
		got, err := codec.AppendWorkItem([]byte("kept"), c.item)
		if err == nil || err.Error() != c.want || string(got) != "kept" {
			t.Errorf("%+v:\n got %q, %v\nwant %s", c.item, got, err, c.want)
		}
	}
}

// A build fails on data of a newer build, and the error says that the data are too new, not broken.
func TestOldCodecFailsOnNewKinds(t *testing.T) {
	old, young := NewJSONCodec("1.5.0", Kinds1x(), WorkItemKinds1x()), NewJSONCodec("2.0.0", Kinds2x(), WorkItemKinds2x())
	for _, data := range []EventData{eventdata.ExternalSubscribed2{Name: "go", Topic: "t"}, eventdata.ExternalEvent2{Name: "go", Topic: "t", Data: "d"}} {
		text, err := young.AppendEvent(nil, envelope(data))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := young.DecodeEvent(text); err != nil {
			t.Error(err)
		}
		if e, err := old.DecodeEvent(text); !errors.Is(err, ErrUnknownKind) || e != (Event{}) {
			t.Errorf("1.5.0 reads %s as %+v, %v", text, e, err)
		}
	}
	text, err := young.AppendWorkItem(nil, ExternalRaised2Item{"i", "go", "t", "d"})
	if err != nil {
		t.Fatal(err)
	}
	if w, err := old.DecodeWorkItem(text); !errors.Is(err, ErrUnknownKind) || w != nil {
		t.Errorf("1.5.0 reads %s as %+v, %v", text, w, err)
	}
	if _, err := old.DecodeEvent([]byte("{")); errors.Is(err, ErrUnknownKind) {
		t.Errorf("damage is taken for a newer kind: %v", err)
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

// A codec keeps no references to its input: the caller may reuse the array.
func TestDecodeKeepsNothing(t *testing.T) {
	codec := allCodec()
	for _, g := range goldenEvents {
		text := []byte(goldenEnvelope + g.want)
		e, err := codec.DecodeEvent(text)
		clear(text)
		if diff := cmp.Diff(envelope(g.data), e); err != nil || diff != "" {
			t.Errorf("%v %s", err, diff)
		}
	}
	for _, g := range goldenItems {
		text := []byte(g.want)
		w, err := codec.DecodeWorkItem(text)
		clear(text)
		if diff := cmp.Diff(g.item, w); err != nil || diff != "" {
			t.Errorf("%v %s", err, diff)
		}
	}
}

// Every prefix of a text is an error, never a panic.
func TestTruncated(t *testing.T) {
	codec := allCodec()
	for _, g := range goldenEvents {
		text := goldenEnvelope + g.want
		for n := range text {
			if e, err := codec.DecodeEvent([]byte(text[:n])); err == nil {
				t.Errorf("%s is read as %+v", text[:n], e)
			}
		}
	}
	for _, g := range goldenItems {
		for n := range g.want {
			if w, err := codec.DecodeWorkItem([]byte(g.want[:n])); err == nil {
				t.Errorf("%s is read as %+v", g.want[:n], w)
			}
		}
	}
}
