package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/eventdata"
)

// TestCodecs compares what codecs make of texts, most of which no build writes, with what was read once.
func TestCodecs(t *testing.T) {
	var text strings.Builder
	told := map[string]bool{} // what both codecs say alike is told once
	add := func(i int, what string, is, again, forwarded []byte, err error) {
		one := fmt.Sprintf("%d %s %v\n", i, what, err)
		if err == nil && string(again) != string(is) {
			one += fmt.Sprintf("  %s\n", strings.TrimPrefix(string(again), envelope))
		}
		if string(forwarded) != string(again) {
			one += fmt.Sprintf("  by another: %s\n", strings.TrimPrefix(string(forwarded), envelope))
		}
		if !told[one] {
			told[one] = true
			text.WriteString(one)
		}
	}
	newest := engine.ShippedBuilds()[len(engine.ShippedBuilds())-1].Codec
	for _, c := range []engine.Codec{newest, engine.Opaque(newest)} {
		fmt.Fprintf(&text, "%T\n", c)
		for i, event := range eventTexts() {
			e, err := c.DecodeEvent([]byte(event))
			again, _ := c.AppendEvent(nil, e)
			forwarded, _ := newest.AppendEvent(nil, e)
			add(i, fmt.Sprintf("%s %d", e.Kind(), e.EventID), []byte(event), again, forwarded, err)
		}
		for i, item := range itemTexts {
			w, err := c.DecodeWorkItem([]byte(item))
			what := ""
			if err == nil {
				what = fmt.Sprintf("%s to %q", w.Kind(), w.Target())
			}
			again, _ := c.AppendWorkItem(nil, w)
			forwarded, _ := newest.AppendWorkItem(nil, w)
			add(i, what, []byte(item), again, forwarded, err)
		}
	}
	for i, details := range detailTexts {
		d := eventdata.Nondeterminism("before")
		err := json.Unmarshal([]byte(details), &d)
		again, wrote := json.Marshal(d)
		fmt.Fprintf(&text, "%d %s %q, retryable %t, zero %t: %v\n", i, d.Category(), d.Display(), d.Retryable(), d.IsZero(), wrote)
		add(i, "", []byte(details), again, again, err)
		if d.Poison != nil {
			kind, body := eventdata.PoisonType{Cause: "before"}, d.Poison.MessageType
			inner, wrote := json.Marshal(body)
			fmt.Fprintf(&text, "  %s, %v: %t, %v\n", inner, wrote, json.Unmarshal(inner, &kind) == nil && kind == body, json.Unmarshal([]byte(`{"Nobody":{}}`), &kind))
		}
	}
	for _, d := range []eventdata.ErrorDetails{
		{Configuration: &eventdata.ConfigurationError{Kind: "Other"}}, {Application: &eventdata.ApplicationError{Kind: "Other"}},
		{Application: &eventdata.ApplicationError{Kind: eventdata.AppPanicked, Reason: "r"}}, {Poison: &eventdata.PoisonError{}},
		{Poison: &eventdata.PoisonError{MessageType: eventdata.PoisonType{Kind: eventdata.PoisonOrchestration, Error: "e"}}},
		{Application: &eventdata.ApplicationError{}, Poison: &eventdata.PoisonError{}},
	} {
		_, err := eventdata.AppendDetails(nil, d)
		fmt.Fprintf(&text, "%s: %v\n", d.Category(), err)
	}
	for _, err := range []error{
		errors.New("plain"), context.DeadlineExceeded, fmt.Errorf("wrapped: %w", engine.Permanentf("call", "m")), engine.Retryablef("call", "m"), engine.ErrUnsupported,
	} {
		e := call.ErrorOf(err)
		fmt.Fprintf(&text, "%v: %d %q\n", err, e.Code, e.Message)
	}
	compare(t, "codecs", text.String())
}

// envelope begins most of these texts.
const envelope = `{"event_id":2,"source_event_id":1,"instance_id":"i","execution_id":1,"timestamp_ms":5,"duroxide_version":"1.0.0",`

// eventTexts returns the texts of events.
func eventTexts() (list []string) {
	for _, rest := range []string{
		`"type":"ActivityCompleted","result":"r"}`, ` "type" : "ActivityCompleted" , "result" : "\ud83d\ude00\\\u0041\n\\\\" } `,
		`"type":"ActivityCompleted","result":"\ud83d"}`, `"type":"ActivityCompleted","result":"\\\"}`, `"type":"ActivityCompleted","result":"\x"}`, `"type":"ActivityCompleted","result":7}`,
		`"type":"ActivityCompleted","result":null}`, `"type":"ActivityCompleted"}`, `"type":"ActivityCompleted","result":"r","result":"r"}`, `"type":"ActivityCompleted","result":"r"`, `"type":"ActivityCompleted","result":"r"} {}`,
		`"type":"ActivityCompleted";"result":"r"}`, `"type":"ActivityCompleted","more":[1,[2,{"a":[]}],-1.5e+3,true,null],"result":"r"}`, `"type":"ActivityCompleted","more":[1 2],"result":"r"}`, `"type":"ActivityCompleted","more":[1,],"result":"r"}`,
		`"type":"ActivityCompleted","more":{"a" 1},"result":"r"}`, `"type":"ActivityCompleted","more":{"a":1 "b":2},"result":"r"}`, `"type":"ActivityCompleted","more":01,"result":"r"}`, `"type":"ActivityCompleted","more":1.,"result":"r"}`, `"type":"ActivityCompleted","more":tru,"result":"r"}`,
		`"type":"ActivityCompleted","more":` + strings.Repeat("[", 128) + strings.Repeat("]", 128) + `,"result":"r"}`, `"type":"ActivityCompleted","more":` + strings.Repeat("[", 129) + strings.Repeat("]", 129) + `,"result":"r"}`,
		`"type":"ActivityCompleted","more":` + strings.Repeat(`{"a":`, 127) + `1` + strings.Repeat("}", 127) + `,"result":"r"}`, `"type":"ActivityCompleted","more":` + strings.Repeat(`{"a":`, 128) + `1` + strings.Repeat("}", 128) + `,"result":"r"}`,
		`"type":"TimerCreated","fire_at_ms":18446744073709551615}`, `"type":"TimerCreated","fire_at_ms":18446744073709551616}`, `"type":"TimerCreated","fire_at_ms":-1}`, `"type":"TimerCreated","fire_at_ms":1.0}`,
		`"type":"Nobody","a":1}`, `"type":"Nobody"`, `"type":7}`, `"result":"r"}`, `"type":"OrchestrationStarted","name":"n","version":"1.0.0","input":"","parent_instance":null,"parent_id":null,"carry_forward_events":[["q","d"],["q",""]],"initial_custom_status":null}`,
		`"type":"OrchestrationStarted","name":"n","version":"1.0.0","input":"","carry_forward_events":[]}`, `"type":"OrchestrationStarted","name":"n","version":"1.0.0","input":"","carry_forward_events":[["q"]]}`, `"type":"OrchestrationStarted","name":"n","version":"1.0.0","input":"","carry_forward_events":[["q",1]]}`,
		`"type":"OrchestrationStarted","name":"n","version":"1.0.0","input":"","carry_forward_events":[["q","d","e"]]}`, `"type":"OrchestrationStarted","name":"n","version":"1.0.0","input":"","carry_forward_events":{"q":"d"}}`, `"type":"ActivityFailed","details":{"Nobody":{}}}`, `"type":"ActivityFailed","details":"text"}`,
	} {
		list = append(list, envelope+rest)
	}
	for _, details := range detailTexts {
		list = append(list, envelope+`"type":"OrchestrationFailed","details":`+details+`}`)
	}
	return append(list, ``, `7`, `[]`, `{}`, `{"event_id":0,"source_event_id":null,"instance_id":"i","execution_id":1,"timestamp_ms":5,"duroxide_version":"1.0.0","type":"TimerFired","fire_at_ms":1}`,
		`{"event_id":"2","source_event_id":null,"instance_id":"i","execution_id":1,"timestamp_ms":5,"duroxide_version":"1.0.0","type":"TimerFired","fire_at_ms":1}`, `{"event_id":2,"source_event_id":"1","instance_id":"i","execution_id":1,"timestamp_ms":5,"duroxide_version":"1.0.0","type":"TimerFired","fire_at_ms":1}`)
}

// itemTexts are the texts of work items, detailTexts those of error details.
var (
	itemTexts = []string{
		`{"CancelInstance":{"instance":"i","reason":"\\"}}`, `{"CancelInstance":{"reason":"r","instance":"i","more":{"a":[1]}}}`, `{"CancelInstance":{"instance":"i"}}`, `{"CancelInstance":{"instance":1,"reason":"r"}}`, `{"CancelInstance":{"instance":"i","reason":"r"},"a":1}`,
		`{"Nobody":{"instance":"i","a":1}}`, `{"Nobody":{"parent_instance":"p","a":1}}`, `{"Nobody":{"a":1}}`, `{"Nobody":7}`, `{"Nobody":{"instance":"i"`, `"Nobody"`, `{}`, ``,
		`{"StartOrchestration":{"instance":"i","orchestration":"n","input":"","version":null,"parent_instance":null,"parent_id":null,"execution_id":1}}`, `{"StartOrchestration":{"instance":"i","orchestration":"n","input":"","parent_id":0,"execution_id":1,"parent_execution_id":0}}`,
		`{"ActivityFailed":{"instance":"i","execution_id":1,"id":2,"details":{"Poison":{"attempt_count":4294967296,"max_attempts":1,"message_type":{"Orchestration":{"instance":"i","execution_id":1}},"message":"m"}}}}`,
	}
	detailTexts = []string{
		`null`, `{}`, `7`, `{"Nobody":{}}`, `{"Infrastructure":{"operation":"o","message":"m","retryable":true}}`, `{"Infrastructure":{"operation":"o","message":"m","retryable":false}}`, `{"Infrastructure":{"operation":"o","message":"m","retryable":1}}`,
		`{"Configuration":{"kind":"Nondeterminism","resource":"r","message":null}}`, `{"Configuration":{"kind":"Nondeterminism","resource":"r","message":"m"}}`, `{"Configuration":{"kind":"Other","resource":"r","message":"m"}}`,
		`{"Application":{"kind":"ActivityFailed","message":"m","retryable":true}}`, `{"Application":{"kind":{"Cancelled":{"reason":"r"}},"message":"m","retryable":false}}`, `{"Application":{"kind":"Panicked","message":"m","retryable":false}}`, `{"Application":{"kind":"Other","message":"m","retryable":false}}`, `{"Application":{"kind":{"Other":{}},"message":"m","retryable":false}}`, `{"Application":{"kind":{"Cancelled":{}},"message":"m","retryable":false}}`,
		`{"Poison":{"attempt_count":2,"max_attempts":1,"message_type":{"Orchestration":{"instance":"i","execution_id":3}},"message":"m"}}`, `{"Poison":{"attempt_count":2,"max_attempts":2,"message_type":{"Orchestration":{"instance":"i","execution_id":3,"cause":"swept: c"}},"message":"m"}}`, `{"Poison":{"attempt_count":3,"max_attempts":2,"message_type":{"Orchestration":{"instance":"i","execution_id":3,"cause":"dead letter: c"}},"message":"m"}}`,
		`{"Poison":{"attempt_count":2,"max_attempts":1,"message_type":{"Activity":{"instance":"i","execution_id":3,"activity_name":"a","activity_id":4,"cause":"c"}},"message":"m"}}`, `{"Poison":{"attempt_count":2,"max_attempts":1,"message_type":{"FailedDeserialization":{"instance":"i","execution_id":3,"error":"e"}},"message":"m"}}`,
		`{"Poison":{"attempt_count":4294967295,"max_attempts":4294967296,"message_type":{"Orchestration":{"instance":"i","execution_id":3}},"message":"m"}}`, `{"Poison":{"attempt_count":2,"max_attempts":1,"message_type":{"Other":{}},"message":"m"}}`, `{"Poison":{"attempt_count":2,"max_attempts":1,"message_type":{"Activity":{"instance":"i","execution_id":3,"activity_name":"a"}},"message":"m"}}`,
	}
)
