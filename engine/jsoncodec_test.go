package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/internal/sample"
)

func ExampleNewJSONCodec() {
	codec := NewJSONCodec("1.5.0", Kinds1x(), WorkItemKinds1x())
	text, _ := codec.AppendEvent(nil, Event{
		EventID: 3, SourceEventID: 2, InstanceID: "i-1", ExecutionID: 1, DuroxideVersion: "1.5.0", Data: eventdata.ActivityCompleted{Result: "ok"},
	})
	fmt.Printf("%s\n", text)

	newer := bytes.Replace(text, []byte("ActivityCompleted"), []byte("ExternalEvent2"), 1)
	_, err := codec.DecodeEvent(newer)
	fmt.Println(err)
	// Output:
	// {"event_id":3,"source_event_id":2,"instance_id":"i-1","execution_id":1,"timestamp_ms":0,"duroxide_version":"1.5.0","type":"ActivityCompleted","result":"ok"}
	// codec 1.5.0: event 3 of "i-1", execution 1: unknown kind "ExternalEvent2"
}

func allCodec() Codec { return NewJSONCodec("all", Kinds2x(), WorkItemKinds2x()) }

func ptr[T any](v T) *T { return &v }

var failed = ErrorDetails{Application: &eventdata.ApplicationError{Kind: eventdata.AppActivityFailed, Message: "no stock"}}

const failedJSON = `{"Application":{"kind":"ActivityFailed","message":"no stock","retryable":false}}`

// goldenEvents has at least one row for each kind: the data, and the text after the envelope.
var goldenEvents = []struct {
	data EventData
	want string
}{
	{eventdata.OrchestrationStarted{Name: "Order", Version: "1.0.0", Input: "{}"},
		`"type":"OrchestrationStarted","name":"Order","version":"1.0.0","input":"{}","parent_instance":null,"parent_id":null}`},
	{eventdata.OrchestrationStarted{
		Name: "Order", Version: "1.0.0", Input: "in", ParentInstance: "p", ParentID: 5, ParentExecutionID: 2,
		CarryForwardEvents: []CarriedEvent{{Name: "q", Data: "1"}, {Name: "q", Data: `"2"`}}, InitialCustomStatus: ptr(""),
	},
		`"type":"OrchestrationStarted","name":"Order","version":"1.0.0","input":"in","parent_instance":"p","parent_id":5,` +
			`"carry_forward_events":[["q","1"],["q","\"2\""]],"initial_custom_status":"","parent_execution_id":2}`},
	{eventdata.OrchestrationCompleted{Output: "out"}, `"type":"OrchestrationCompleted","output":"out"}`},
	{eventdata.OrchestrationFailed{Details: failed}, `"type":"OrchestrationFailed","details":` + failedJSON + `}`},
	{eventdata.OrchestrationContinuedAsNew{Input: "in"}, `"type":"OrchestrationContinuedAsNew","input":"in"}`},
	{eventdata.OrchestrationCancelRequested{Reason: eventdata.ReasonParentCancelled}, `"type":"OrchestrationCancelRequested","reason":"parent canceled"}`},
	{eventdata.OrchestrationChained{Name: "Log", Instance: "log-1", Input: "in"}, `"type":"OrchestrationChained","name":"Log","instance":"log-1","input":"in"}`},
	{eventdata.ActivityScheduled{Name: "charge", Input: "7"}, `"type":"ActivityScheduled","name":"charge","input":"7"}`},
	{eventdata.ActivityScheduled{Name: "charge", Input: "7", SessionID: "s", Tag: "gpu"},
		`"type":"ActivityScheduled","name":"charge","input":"7","session_id":"s","tag":"gpu"}`},
	{eventdata.ActivityCompleted{Result: "ok"}, `"type":"ActivityCompleted","result":"ok"}`},
	{eventdata.ActivityFailed{Details: failed}, `"type":"ActivityFailed","details":` + failedJSON + `}`},
	{eventdata.ActivityCancelRequested{Reason: eventdata.ReasonTerminalFailed}, `"type":"ActivityCancelRequested","reason":"orchestration_terminal_failed"}`},
	{eventdata.TimerCreated{FireAtMs: 1000}, `"type":"TimerCreated","fire_at_ms":1000}`},
	{eventdata.TimerFired{FireAtMs: 18446744073709551615}, `"type":"TimerFired","fire_at_ms":18446744073709551615}`},
	{eventdata.ExternalSubscribed{Name: "go"}, `"type":"ExternalSubscribed","name":"go"}`},
	{eventdata.ExternalEvent{Name: "go", Data: "now"}, `"type":"ExternalEvent","name":"go","data":"now"}`},
	{eventdata.ExternalSubscribedCancelled{Reason: eventdata.ReasonTerminal}, `"type":"ExternalSubscribedCancelled","reason":"orchestration_terminal"}`},
	{eventdata.QueueSubscribed{Name: "q"}, `"type":"ExternalSubscribedPersistent","name":"q"}`},
	{eventdata.QueueEventDelivered{Name: "q", Data: "d"}, `"type":"ExternalEventPersistent","name":"q","data":"d"}`},
	{eventdata.QueueSubscriptionCancelled{Reason: eventdata.ReasonDroppedFuture}, `"type":"ExternalSubscribedPersistentCancelled","reason":"dropped_future"}`},
	{eventdata.SubOrchestrationScheduled{Name: "Child", Instance: "sub::5", Input: "in"},
		`"type":"SubOrchestrationScheduled","name":"Child","instance":"sub::5","input":"in"}`},
	{eventdata.SubOrchestrationCompleted{Result: "r"}, `"type":"SubOrchestrationCompleted","result":"r"}`},
	{eventdata.SubOrchestrationFailed{Details: failed}, `"type":"SubOrchestrationFailed","details":` + failedJSON + `}`},
	{eventdata.SubOrchestrationCancelRequested{Reason: eventdata.ReasonDroppedFuture}, `"type":"SubOrchestrationCancelRequested","reason":"dropped_future"}`},
	{eventdata.CustomStatusUpdated{Status: ptr("50%")}, `"type":"CustomStatusUpdated","status":"50%"}`},
	{eventdata.CustomStatusUpdated{Status: ptr("")}, `"type":"CustomStatusUpdated","status":""}`},
	{eventdata.CustomStatusUpdated{Status: nil}, `"type":"CustomStatusUpdated","status":null}`},
	{eventdata.KeyValueSet{Key: "k", Value: "v", LastUpdatedAtMs: 12}, `"type":"KeyValueSet","key":"k","value":"v","last_updated_at_ms":12}`},
	{eventdata.KeyValueCleared{Key: "k"}, `"type":"KeyValueCleared","key":"k"}`},
	{eventdata.KeyValuesCleared{}, `"type":"KeyValuesCleared"}`},
	{eventdata.ExternalSubscribed2{Name: "go", Topic: "t"}, `"type":"ExternalSubscribed2","name":"go","topic":"t"}`},
	{eventdata.ExternalEvent2{Name: "go", Topic: "t", Data: "d"}, `"type":"ExternalEvent2","name":"go","topic":"t","data":"d"}`},
	{eventdata.LegacyNote{Text: "audited"}, `"type":"LegacyNote","text":"audited"}`},
}

// goldenEnvelope is the text before those of goldenEvents, and envelope is its value.
const goldenEnvelope = `{"event_id":3,"source_event_id":2,"instance_id":"i-1","execution_id":1,"timestamp_ms":99,"duroxide_version":"2.0.0",`

func envelope(data EventData) Event {
	return Event{EventID: 3, SourceEventID: 2, InstanceID: "i-1", ExecutionID: 1, TimestampMs: 99, DuroxideVersion: "2.0.0", Data: data}
}

// form is how a codec writes and reads events, or work items.
type form[T any] struct {
	write func([]byte, T) ([]byte, error)
	read  func([]byte) (T, error)
}

func eventsOf(c Codec) form[Event] { return form[Event]{c.AppendEvent, c.DecodeEvent} }

func itemsOf(c Codec) form[WorkItem] { return form[WorkItem]{c.AppendWorkItem, c.DecodeWorkItem} }

// is checks that a value is written as the text and read from it, and that no prefix of the text is read.
func (f form[T]) is(t *testing.T, v T, text string) {
	t.Helper()
	got, err := f.write([]byte("kept "), v)
	if diff := cmp.Diff("kept "+text, string(got)); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	array := []byte(text)
	back, err := f.read(array)
	clear(array) // the caller may reuse it: a codec keeps no references to it
	if diff := cmp.Diff(v, back); err != nil || diff != "" {
		t.Errorf("%s is read differently: %v (-want +got):\n%s", text, err, diff)
	}
	for n := range text {
		if v, err := f.read([]byte(text[:n])); err == nil {
			t.Errorf("%s is read as %+v", text[:n], v)
		}
	}
}

// again checks that a value comes back from what is written, and returns that.
func (f form[T]) again(t rapid.TB, v T) []byte {
	t.Helper()
	text, err := f.write(nil, v)
	if err != nil {
		t.Fatalf("%+v cannot be written: %v", v, err)
	}
	back, err := f.read(text)
	if diff := cmp.Diff(v, back); err != nil || diff != "" {
		t.Fatalf("%s\nis read differently: %v (-want +got):\n%s", text, err, diff)
	}
	return text
}

func TestEventJSON(t *testing.T) {
	events := eventsOf(allCodec())
	var seen []EventKind
	for _, g := range goldenEvents {
		seen = append(seen, eventdata.KindOf(g.data))
		events.is(t, envelope(g.data), goldenEnvelope+g.want)
	}
	if missing := Kinds2x().Without(seen...); len(missing.List()) > 0 {
		t.Errorf("no row for %v", missing.List())
	}

	// The example of docs/contract/runtime.md#r1.1, and no source.
	events.is(t,
		Event{EventID: 3, SourceEventID: 2, InstanceID: "i-1", ExecutionID: 1, DuroxideVersion: "0.1.26", Data: eventdata.ActivityCompleted{Result: "ok"}},
		`{"event_id":3,"source_event_id":2,"instance_id":"i-1","execution_id":1,"timestamp_ms":0,`+
			`"duroxide_version":"0.1.26","type":"ActivityCompleted","result":"ok"}`,
	)
	events.is(t,
		Event{EventID: 99999, Data: eventdata.OrchestrationFailed{Details: failed}},
		`{"event_id":99999,"source_event_id":null,"instance_id":"","execution_id":0,"timestamp_ms":0,"duroxide_version":"",`+
			`"type":"OrchestrationFailed","details":`+failedJSON+`}`,
	)
}

// goldenItems has at least one row for each kind of work item.
var goldenItems = []struct {
	item WorkItem
	want string
}{
	{StartItem{Instance: "i", Orchestration: "Order", Input: "in", ExecutionID: 1},
		`{"StartOrchestration":{"instance":"i","orchestration":"Order","input":"in","version":null,"parent_instance":null,` +
			`"parent_id":null,"execution_id":1}}`},
	{StartItem{
		Instance: "p::sub::5", Orchestration: "Order", Input: "in", Version: "1.2.0", ExecutionID: 1,
		ParentInstance: "p", ParentID: 5, ParentExecutionID: 2,
	},
		`{"StartOrchestration":{"instance":"p::sub::5","orchestration":"Order","input":"in","version":"1.2.0","parent_instance":"p",` +
			`"parent_id":5,"execution_id":1,"parent_execution_id":2}}`},
	{ContinueAsNewItem{Instance: "i", Orchestration: "Loop", Input: "2"},
		`{"ContinueAsNew":{"instance":"i","orchestration":"Loop","input":"2","version":null,"carry_forward_events":[]}}`},
	{ContinueAsNewItem{
		Instance: "i", Orchestration: "Loop", Input: "2", Version: "1.0.0",
		CarryForwardEvents: []CarriedEvent{{Name: "q", Data: "d"}}, InitialCustomStatus: ptr("half"),
		ParentInstance: "p", ParentID: 5, ParentExecutionID: 2,
	},
		`{"ContinueAsNew":{"instance":"i","orchestration":"Loop","input":"2","version":"1.0.0","carry_forward_events":[["q","d"]],` +
			`"initial_custom_status":"half","parent_instance":"p","parent_id":5,"parent_execution_id":2}}`},
	{ActivityExecuteItem{Instance: "i", ExecutionID: 1, ID: 2, Name: "charge", Input: "7"},
		`{"ActivityExecute":{"instance":"i","execution_id":1,"id":2,"name":"charge","input":"7"}}`},
	{ActivityExecuteItem{Instance: "i", ExecutionID: 1, ID: 2, Name: "charge", Input: "7", SessionID: "s", Tag: "gpu"},
		`{"ActivityExecute":{"instance":"i","execution_id":1,"id":2,"name":"charge","input":"7","session_id":"s","tag":"gpu"}}`},
	{ActivityCompletedItem{"i", 1, 2, "ok"}, `{"ActivityCompleted":{"instance":"i","execution_id":1,"id":2,"result":"ok"}}`},
	{ActivityFailedItem{"i", 1, 2, failed}, `{"ActivityFailed":{"instance":"i","execution_id":1,"id":2,"details":` + failedJSON + `}}`},
	{TimerFiredItem{"i", 1, 2, 1000}, `{"TimerFired":{"instance":"i","execution_id":1,"id":2,"fire_at_ms":1000}}`},
	{ExternalRaisedItem{"i", "go", "d"}, `{"ExternalRaised":{"instance":"i","name":"go","data":"d"}}`},
	{ExternalRaised2Item{"i", "go", "t", "d"}, `{"ExternalRaised2":{"instance":"i","name":"go","topic":"t","data":"d"}}`},
	{QueueMessageItem{"i", "q", "d"}, `{"QueueMessage":{"instance":"i","name":"q","data":"d"}}`},
	{SubOrchCompletedItem{"p", 1, 5, "r"}, `{"SubOrchCompleted":{"parent_instance":"p","parent_execution_id":1,"parent_id":5,"result":"r"}}`},
	{SubOrchFailedItem{"p", 1, 5, failed},
		`{"SubOrchFailed":{"parent_instance":"p","parent_execution_id":1,"parent_id":5,"details":` + failedJSON + `}}`},
	{CancelInstanceItem{"i", "enough"}, `{"CancelInstance":{"instance":"i","reason":"enough"}}`},
}

func TestWorkItemJSON(t *testing.T) {
	seen := map[WorkItemKind]bool{}
	for _, g := range goldenItems {
		seen[g.item.Kind()] = true
		itemsOf(allCodec()).is(t, g.item, g.want)
	}
	for _, k := range WorkItemKinds2x().kinds {
		if !seen[k] {
			t.Errorf("no row for %s", k)
		}
	}
}

func TestStringJSON(t *testing.T) {
	for _, c := range []struct{ give, want string }{
		{"", `""`},
		{"<a href='&'>\x7f", `"<a href='&'>` + "\x7f\""},
		{"quote \" back \\ slash /", `"quote \" back \\ slash /"`},
		{"\b\f\n\r\t\x00\x1f", `"\b\f\n\r\t\u0000\u001f"`},
		{"größe 世界 😀 \u2028", "\"größe 世界 😀 \u2028\""},
		{"a\xffb\xe4\xb8", "\"a\uFFFDb\uFFFD\uFFFD\""},
		{"\xed\xa0\x80\uFFFD", "\"\uFFFD\uFFFD\uFFFD\uFFFD\""},
	} {
		got := string(eventdata.AppendString(nil, c.give))
		if got != c.want {
			t.Errorf("appendString(%q) = %s, want %s", c.give, got, c.want)
		}
		if back := eventdata.Unquote(got); back != string([]rune(c.give)) {
			t.Errorf("%q comes back as %q", c.give, back)
		}
	}
	for _, c := range []struct{ give, want string }{
		{`"\u0041\/\u00e4\u4E16"`, "A/ä世"},
		{`"\ud83d\ude00"`, "😀"},
		{`"\ud83d!\ude00\ud83d\u0041\ud83d"`, "\uFFFD!\uFFFD\uFFFDA\uFFFD"},
		{`"\ud83d\ud83d\ude00\ud83d\n"`, "\uFFFD😀\uFFFD\n"},
		{"\"\xff\\n\xe4\xb8\"", "\uFFFD\n\uFFFD\uFFFD"},
	} {
		var std string
		sample.OK(t, json.Unmarshal([]byte(c.give), &std))
		if got := eventdata.Unquote(c.give); got != c.want || got != std {
			t.Errorf("unquote(%s) = %q, want %q; encoding/json %q", c.give, got, c.want, std)
		}
	}
}

// The reader accepts any order, spacing and escaping, and ignores fields that the kind does not have, whatever they
// contain.
func TestDecodeTolerates(t *testing.T) {
	codec := allCodec()
	for _, text := range []string{
		" {\n\t\"fire_at_ms\" : 5 , \"type\" : \"TimerFired\", \"event_id\":3,\"source_event_id\":2,\"instance_id\":\"i\"," +
			"\"execution_id\":1,\"timestamp_ms\":9,\"duroxide_version\":\"1.5.0\"}\r\n ",
		`{"event_id":3,"source_event_id":2,"instance_id":"\u0069","execution_id":1,"timestamp_ms":9,"duroxide_version":"1.5.0",` +
			`"\u0074ype":"TimerFired","fire_at_ms":5}`,
		`{"event_id":3,"source_event_id":2,"instance_id":"i","execution_id":1,"timestamp_ms":9,"duroxide_version":"1.5.0",` +
			`"type":"TimerFired","fire_at_ms":5,"name":-0.5e+3,"details":[{},[],{"a":[null,true,false,"\\"]}],"x":1,"x":2,"":"",` +
			`"Type":0,"1":1,"2":2,"3":3,"4":4,"5":5,"6":6,"7":7,"8":8}`,
	} {
		want := Event{
			EventID: 3, SourceEventID: 2, InstanceID: "i", ExecutionID: 1, TimestampMs: 9, DuroxideVersion: "1.5.0",
			Data: eventdata.TimerFired{FireAtMs: 5},
		}
		got, err := codec.DecodeEvent([]byte(text))
		if err != nil || got != want {
			t.Errorf("%s:\n got %+v, %v\nwant %+v", text, got, err, want)
		}
	}

	// What may be absent.
	e, err := codec.DecodeEvent([]byte(`{"event_id":1,"instance_id":"i","execution_id":1,"timestamp_ms":0,"duroxide_version":"",` +
		`"type":"OrchestrationStarted","name":"O","version":"1.0.0","input":"","carry_forward_events":null}`))
	if diff := cmp.Diff(Event{EventID: 1, InstanceID: "i", ExecutionID: 1, Data: eventdata.OrchestrationStarted{Name: "O", Version: "1.0.0"}}, e); err != nil || diff != "" {
		t.Error(err, diff)
	}
	e, err = codec.DecodeEvent([]byte(strings.TrimSuffix(goldenEnvelope, ",") + `,"type":"KeyValueSet","key":"k","value":"v"}`))
	if err != nil || e.Data != (eventdata.KeyValueSet{Key: "k", Value: "v"}) {
		t.Error(e, err)
	}
	w, err := codec.DecodeWorkItem([]byte(`{"ContinueAsNew":{"instance":"i","orchestration":"O","input":""}}`))
	if diff := cmp.Diff(WorkItem(ContinueAsNewItem{Instance: "i", Orchestration: "O"}), w); err != nil || diff != "" {
		t.Error(err, diff)
	}
}
