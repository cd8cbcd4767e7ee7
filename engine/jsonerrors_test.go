package engine

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/internal/sample"
)

// goldenDetails has each variant and kind of docs/contract/runtime.md#r3, with the texts of
// docs/contract/runtime.md#r3.1.
var goldenDetails = []struct {
	details   ErrorDetails
	json      string
	display   string
	category  string
	retryable bool
}{
	{ErrorDetails{Infrastructure: &eventdata.InfrastructureError{Operation: "ack_orchestration_item", Message: "disk full", Retryable: true}},
		`{"Infrastructure":{"operation":"ack_orchestration_item","message":"disk full","retryable":true}}`,
		"infrastructure:ack_orchestration_item: disk full", "infrastructure", true},
	{eventdata.Nondeterminism("completion without open schedule"),
		`{"Configuration":{"kind":"Nondeterminism","resource":"","message":"completion without open schedule"}}`,
		"nondeterministic: completion without open schedule", "configuration", false},
	{ErrorDetails{Configuration: &eventdata.ConfigurationError{Kind: eventdata.KindNondeterminism, Resource: "Order"}},
		`{"Configuration":{"kind":"Nondeterminism","resource":"Order","message":null}}`,
		"nondeterministic in Order", "configuration", false},
	{ErrorDetails{Application: &eventdata.ApplicationError{Kind: eventdata.AppActivityFailed, Message: "no stock", Retryable: true}},
		`{"Application":{"kind":"ActivityFailed","message":"no stock","retryable":true}}`,
		"no stock", "application", true},
	{ErrorDetails{Application: &eventdata.ApplicationError{Kind: eventdata.AppOrchestrationFailed, Message: "gave up"}},
		`{"Application":{"kind":"OrchestrationFailed","message":"gave up","retryable":false}}`,
		"gave up", "application", false},
	{ErrorDetails{Application: &eventdata.ApplicationError{Kind: eventdata.AppPanicked, Message: "index out of range"}},
		`{"Application":{"kind":"Panicked","message":"index out of range","retryable":false}}`,
		"orchestration panicked: index out of range", "application", false},
	{ErrorDetails{Application: &eventdata.ApplicationError{Kind: eventdata.AppCancelled, Reason: eventdata.ReasonParentCancelled}},
		`{"Application":{"kind":{"Cancelled":{"reason":"parent canceled"}},"message":"","retryable":false}}`,
		"canceled: parent canceled", "application", false},
	{ErrorDetails{Poison: &eventdata.PoisonError{AttemptCount: 11, MaxAttempts: 10, MessageType: eventdata.PoisonType{Kind: eventdata.PoisonOrchestration, Instance: "i", ExecutionID: 1}, Message: "[]"}},
		`{"Poison":{"attempt_count":11,"max_attempts":10,"message_type":{"Orchestration":{"instance":"i","execution_id":1}},"message":"[]"}}`,
		"poison: orchestration i exceeded 11 attempts (max 10)", "poison", false},
	{ErrorDetails{Poison: &eventdata.PoisonError{AttemptCount: 11, MaxAttempts: 10, MessageType: eventdata.PoisonType{Kind: eventdata.PoisonOrchestration, Instance: "i", ExecutionID: 1, Cause: "crashes"}, Message: "[]"}},
		`{"Poison":{"attempt_count":11,"max_attempts":10,` +
			`"message_type":{"Orchestration":{"instance":"i","execution_id":1,"cause":"crashes"}},"message":"[]"}}`,
		"poison: orchestration i exceeded 11 attempts (max 10): crashes", "poison", false},
	{ErrorDetails{Poison: &eventdata.PoisonError{AttemptCount: 4, MaxAttempts: 3, MessageType: eventdata.PoisonType{
		Kind: eventdata.PoisonActivity, Instance: "i", ExecutionID: 1, ActivityName: "charge", ActivityID: 2,
	}, Message: "{}"}},
		`{"Poison":{"attempt_count":4,"max_attempts":3,` +
			`"message_type":{"Activity":{"instance":"i","execution_id":1,"activity_name":"charge","activity_id":2}},"message":"{}"}}`,
		"poison: activity charge#2 exceeded 4 attempts (max 3)", "poison", false},
	{ErrorDetails{Poison: &eventdata.PoisonError{AttemptCount: 11, MaxAttempts: 10, MessageType: eventdata.PoisonType{
		Kind: eventdata.PoisonFailedDeserialization, Instance: "i", ExecutionID: 1, Error: "unknown kind",
	}, Message: "unknown kind"}},
		`{"Poison":{"attempt_count":11,"max_attempts":10,` +
			`"message_type":{"FailedDeserialization":{"instance":"i","execution_id":1,"error":"unknown kind"}},"message":"unknown kind"}}`,
		"poison: orchestration i history deserialization failed after 11 attempts (max 10): unknown kind", "poison", false},
	{ErrorDetails{}, `null`, "", "", false},
}

func TestErrorDetails(t *testing.T) {
	for _, g := range goldenDetails {
		got, err := json.Marshal(g.details)
		if err != nil || string(got) != g.json {
			t.Errorf("%v\n got %s\nwant %s", err, got, g.json)
		}
		back := failed // must be overwritten, even by null
		sample.OK(t, json.Unmarshal([]byte(g.json), &back))
		if diff := cmp.Diff(g.details, back); diff != "" {
			t.Errorf("%s comes back different (-want +got):\n%s", g.json, diff)
		}
		if got := g.details.Display(); got != g.display {
			t.Errorf("%s displays as %q, want %q", g.json, got, g.display)
		}
		if c, r := g.details.Category(), g.details.Retryable(); c != g.category || r != g.retryable {
			t.Errorf("%s is of category %q, retryable %v; want %q, %v", g.json, c, r, g.category, g.retryable)
		}
		if g.details.IsZero() != (g.json == "null") {
			t.Errorf("%s: IsZero is %v", g.json, g.details.IsZero())
		}
	}
}

// Each variant has the same JSON by itself as within ErrorDetails.
func TestErrorVariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawDetails(t)
		whole := sample.Must(eventdata.AppendDetails(nil, d))(t)
		var part, back any
		variant := "Infrastructure"
		switch {
		case d.Infrastructure != nil:
			part, back = d.Infrastructure, new(eventdata.InfrastructureError)
		case d.Configuration != nil:
			variant, part, back = "Configuration", d.Configuration, new(eventdata.ConfigurationError)
		case d.Application != nil:
			variant, part, back = "Application", d.Application, new(eventdata.ApplicationError)
		case d.Poison != nil:
			variant, part, back = "Poison", d.Poison, new(eventdata.PoisonError)
		}
		text := sample.Must(json.Marshal(part))(t)
		var want, got map[string]any
		sample.OK(t, errors.Join(json.Unmarshal(whole, &want), json.Unmarshal(text, &got)))
		if diff := cmp.Diff(want[variant], any(got)); diff != "" {
			t.Fatalf("within ErrorDetails and alone (-within +alone):\n%s", diff)
		}
		sample.OK(t, json.Unmarshal(text, back))
		if diff := cmp.Diff(part, back); diff != "" {
			t.Fatalf("%s comes back different (-want +got):\n%s", text, diff)
		}
	})
}

func TestUnmarshalDetailsErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`"Application"`, `at byte 0: got '"'; want '{'`},
		{`{}`, `0 fields; want one that names the kind`},
		{`{"Poison":{},"Application":{}}`, `2 fields; want one that names the kind`},
		{`{"application":{}}`, `unknown variant "application"`},
		{`{"Infrastructure":[]}`, `Infrastructure: at byte 0: got '['; want '{'`},
		{`{"Infrastructure":{"operation":"o","message":"m"}}`, `Infrastructure: field "retryable": missing`},
		{`{"Infrastructure":{"operation":"o","message":"m","retryable":"true"}}`, `Infrastructure: field "retryable": want true or false, got a string`},
		{`{"Configuration":{"kind":"UnregisteredActivity","resource":"r"}}`, `Configuration: field "kind": unknown "UnregisteredActivity"`},
		{`{"Configuration":{"kind":"Nondeterminism","message":null}}`, `Configuration: field "resource": missing`},
		{`{"Application":{"kind":"Cancelled","message":"","retryable":false}}`, `Application: field "kind": unknown "Cancelled"`},
		{`{"Application":{"kind":{"Panicked":{}},"message":"","retryable":false}}`, `Application: field "kind": unknown "Panicked"`},
		{`{"Application":{"kind":{"Cancelled":{}},"message":"","retryable":false}}`, `Application: field "kind": field "reason": missing`},
		{`{"Application":{"kind":{"Cancelled":"why"},"message":"","retryable":false}}`, `Application: field "kind": at byte 0: got '"'; want '{'`},
		{`{"Application":{"kind":7,"message":"","retryable":false}}`, `Application: field "kind": at byte 0: got '7'; want '{'`},
		{`{"Application":{"message":"","retryable":false}}`, `Application: field "kind": missing`},
		{`{"Application":7}`, `Application: at byte 0: got '7'; want '{'`},
		{`{"Poison":{"attempt_count":4294967296,"max_attempts":1,"message":""}}`, `Poison: field "attempt_count": want a whole number of 32 bits, got 4294967296`},
		{`{"Poison":{"attempt_count":2,"max_attempts":1,"message":""}}`, `Poison: field "message_type": missing`},
		{`{"Poison":{"attempt_count":2,"max_attempts":1,"message":"","message_type":{"Timer":{"instance":"i","execution_id":1}}}}`,
			`Poison: field "message_type": unknown "Timer"`},
		{`{"Poison":{"attempt_count":2,"max_attempts":1,"message":"","message_type":{"Activity":{"instance":"i","execution_id":1,"activity_name":"a"}}}}`,
			`Poison: field "message_type": Activity: field "activity_id": missing`},
		{`{"Poison":{"attempt_count":2,"max_attempts":1,"message":"","message_type":{"Orchestration":null}}}`,
			`Poison: field "message_type": Orchestration: at byte 0: got 'n'; want '{'`},
	} {
		d := failed
		if err := json.Unmarshal([]byte(c.text), &d); err == nil || err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.text, err, c.want)
		}
		if d != failed {
			t.Errorf("%s: changed in spite of the error: %+v", c.text, d)
		}
	}
}

func TestMarshalDetailsErrors(t *testing.T) {
	for _, c := range []struct {
		details ErrorDetails
		want    string
	}{
		{ErrorDetails{Application: failed.Application, Poison: &eventdata.PoisonError{}}, "details of more than one variant"},
		{ErrorDetails{Configuration: &eventdata.ConfigurationError{Kind: "Bogus"}}, `configuration error of kind "Bogus"`},
		{ErrorDetails{Application: &eventdata.ApplicationError{}}, `application error of kind ""`},
		{ErrorDetails{Application: &eventdata.ApplicationError{Kind: eventdata.AppPanicked, Reason: "r"}}, "application error of kind Panicked with a reason"},
		{ErrorDetails{Poison: &eventdata.PoisonError{}}, `poison of kind ""`},
		{ErrorDetails{Poison: &eventdata.PoisonError{MessageType: eventdata.PoisonType{Kind: eventdata.PoisonOrchestration, ActivityID: 2}}},
			"poison of kind Orchestration with fields of another"},
		{ErrorDetails{Poison: &eventdata.PoisonError{MessageType: eventdata.PoisonType{Kind: eventdata.PoisonActivity, Error: "e"}}},
			"poison of kind Activity with fields of another"},
	} {
		if _, err := json.Marshal(c.details); err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%+v:\n got %v\nwant %s", c.details, err, c.want)
		}
	}
}

func TestDetailsFromErrors(t *testing.T) {
	cause := errors.New("database is locked")
	for _, c := range []struct {
		Err  error
		want eventdata.InfrastructureError
	}{
		{Retryablef("fetch", "busy: %w", cause), eventdata.InfrastructureError{Operation: "fetch", Message: "busy: database is locked", Retryable: true}},
		{errors.Join(Permanentf("ack", "bad token")), eventdata.InfrastructureError{Operation: "ack", Message: "bad token", Retryable: false}},
		{cause, eventdata.InfrastructureError{Operation: "unknown", Message: "database is locked", Retryable: true}},
	} {
		if diff := cmp.Diff(ErrorDetails{Infrastructure: &c.want}, Infrastructure(c.Err)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.Err, diff)
		}
	}
}
