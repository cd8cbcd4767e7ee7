package monitor_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/properties/internal/monitor"
	"github.com/durosim/durosim/sim/plan"
)

// TestExpectationsHold checks two that the stories in testdata/expect do not have: of a handler that is not there, and of
// one event among several of an ack.
func TestExpectationsHold(t *testing.T) {
	list := []plan.Expectation{
		ExpectOf(t, 1, "always node has H@1.0.0=yes H@2.0.0=no"), ExpectOf(t, 2, "always event where kind=TimerCreated has build=1.5.0"),
	}
	r := New(t, plan.Plan{}, monitor.Options{Properties: []string{}, Expectations: list})
	if found := r.Tell("0 up A 1.5.0\n0 seed x 1.5.0\n0 send x\n1 fetch A x\n2 acks A 2:TimerCreated 3:ExternalSubscribed,Name:go\n3 commit A\n9 finish"); found != nil {
		t.Errorf("found %q", found)
	}
}

// TestManyValues checks that an attribute may have more values than a condition can cache and than can be numbered.
func TestManyValues(t *testing.T) {
	const most = 260
	var story strings.Builder
	story.WriteString("0 up A 1.5.0\n")
	for i := range most {
		fmt.Fprintf(&story, "1 seed x%d 9.0.%d\n1 send x%d\n", i, i, i)
	}
	for _, i := range []int{0, 60, 61, 62, 63, 64, 65, 127, 128, 251, 252, 253, 254, 255, 256, 259} {
		e := ExpectOf(t, 1, fmt.Sprintf("never wait where pin=9.0.%d|8.x", i))
		r := New(t, plan.Plan{}, monitor.Options{Properties: []string{}, Expectations: []plan.Expectation{e}})
		if found := r.Tell(story.String()); len(found) != 1 || found[0] != fmt.Sprintf("expect x%d", i) {
			t.Errorf("pin 9.0.%d: found %q", i, found)
		}
	}
}

// TestDecodedOutsideFetches checks that decoding an event is a fact only if a fetch does it.
func TestDecodedOutsideFetches(t *testing.T) {
	e := ExpectOf(t, 1, "never decode")
	for kind, want := range map[observe.CallKind]int{observe.CallFetchOrchestrationItem: 1, observe.CallRead: 0, observe.CallNone: 0} {
		r := New(t, plan.Plan{}, monitor.Options{Properties: []string{}, Expectations: []plan.Expectation{e}})
		r.Tell("0 up A 1.5.0\n0 seed x 1.5.0")
		if kind != observe.CallNone {
			r.Observe(observe.Observation{Kind: observe.CallBegin, Call: 1, CallKind: kind, Caller: observe.Caller{Node: 1, Incarnation: 1}, Request: &observe.CallRequest{}})
		}
		r.Observe(observe.Observation{Kind: observe.EventDecoded, Call: 1, Instance: r.Instance("x"), Execution: 1, EventID: 1, Outcome: observe.OutcomeOK})
		if found := r.M.Violations(); len(found) != want {
			t.Errorf("%s: %d violations, want %d", kind, len(found), want)
		}
	}
}

// TestUndone: what a store takes back has not happened.
func TestUndone(t *testing.T) {
	for undo, want := range map[bool]int{false: 2, true: 0} {
		list := []plan.Expectation{ExpectOf(t, 1, "never end"), ExpectOf(t, 2, "never lock")}
		r := New(t, plan.Plan{}, monitor.Options{Properties: []string{}, Expectations: list})
		r.Tell("0 up A 1.5.0\n0 seed x 1.5.0")
		r.Observe(observe.Observation{Kind: observe.CallBegin, Call: 1, CallKind: observe.CallFetchOrchestrationItem, Caller: observe.Caller{Node: 1, Incarnation: 1}, Request: &observe.CallRequest{}})
		r.Observe(observe.Observation{Kind: observe.LockTaken, Call: 1, Instance: r.Instance("x"), Token: "t", Undo: undo})
		r.Observe(observe.Observation{Kind: observe.StatusSet, Instance: r.Instance("x"), Execution: 1, Status: engine.StatusFailed, Undo: undo})
		if found := r.M.Violations(); len(found) != want {
			t.Errorf("undone %t: %d violations, want %d", undo, len(found), want)
		}
	}
}

// TestExpectationWords checks which words a scenario may use, and the errors for any others.
func TestExpectationWords(t *testing.T) {
	attr := func(name, value string) []plan.Attr { return []plan.Attr{{Name: name, Value: value}} }
	tests := []struct {
		e    plan.Expectation
		want string // part of the expected error, or empty if there is none
	}{
		{plan.Expectation{Mode: plan.ModeNever, Event: "turn", Where: attr("pin", "1.x|none")}, ""},
		{plan.Expectation{Mode: plan.ModeAlways, Event: "up", Has: attr("2.0.0", "1")}, ""},
		{plan.Expectation{Mode: "often", Event: "turn"}, "expected always, never or sometimes"},
		{plan.Expectation{Mode: plan.ModeAlways, Event: "turn"}, `expected "has"`},
		{plan.Expectation{Mode: plan.ModeNever, Event: "turn", Has: attr("pin", "none")}, `"has" goes with always`},
		{plan.Expectation{Mode: plan.ModeNever, Event: "tern"}, "expected one of turn, fetch"},
		{plan.Expectation{Mode: plan.ModeNever, Event: "turn", Where: attr("colour", "red")}, `no attribute "colour": expected one of node, build`},
		{plan.Expectation{Mode: plan.ModeNever, Event: "turn", Where: attr("first", "maybe")}, "expected one of yes, no"},
		{plan.Expectation{Mode: plan.ModeNever, Event: "turn", Where: attr("pin", "1.5.0|")}, "a value is missing"},
		{plan.Expectation{Mode: plan.ModeNever, Event: "up", Where: attr("two", "1")}, "expected one of MAJOR.MINOR.PATCH, total"},
		{plan.Expectation{Mode: plan.ModeAlways, Event: "node", Has: attr("ProcessOrder@2.0.0", "yes")}, ""},
		{plan.Expectation{Mode: plan.ModeNever, Event: "node", Where: attr("ProcessOrder@2.0.0", "perhaps")}, "expected one of yes, no"},
		{plan.Expectation{Mode: plan.ModeNever, Event: "turn", Where: attr("ProcessOrder@2.0.0", "yes")}, "no attribute"},
	}
	for _, test := range tests {
		err := test.e.Validate()
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v, want %q", test.e, err, test.want)
		}
	}
	for _, m := range []struct {
		pattern, value string
		want           bool
	}{
		{"1.5.0", "1.5.0", true}, {"1.5.0", "1.5.01", false}, {"1.x", "1.5.0", true}, {"1.x", "11.5.0", false}, {"1.x", "1", false},
		{"1.5.x", "1.5.3-rc.1", true}, {"2.0.0|1.x", "1.6.0", true}, {"none", "none", true}, {"H@1.x", "H@1.2.0", true}, {"", "", true},
	} {
		if got := (plan.Attr{Name: "pin", Value: m.pattern}).Match(m.value); got != m.want {
			t.Errorf("%q matches %q: %v", m.pattern, m.value, got)
		}
	}
}
