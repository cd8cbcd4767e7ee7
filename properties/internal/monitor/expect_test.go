package monitor_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/properties/internal/monitor"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

func TestExpectations(t *testing.T) {
	// The story has a turn on each of two nodes, then a part in which the newer build serves the old pin, and then
	// poison.
	const story = `
0     up A 1.5.0
0     up B 2.0.0
1     seed old 1.5.0
1     seed new 2.0.0
1     seed alien 3.0.0
10    send old
10    send new
10    send alien
11    fetch A old
12    note A turn
13    commit A
20    fetch B new
21    note B turn
22    commit B Completed
30    mark late
31    send old
32    fetch B old
33    note B turn
33    commit B Failed
40    send new
41    fetch B new
42    note B no-handler
43    abandon B 1000
90    finish`
	tests := []struct {
		expect string
		bad    bool
		seen   bool // for sometimes
	}{
		{expect: "never turn where build=1.5.0 pin=2.0.0"},
		{expect: "never turn where build=2.0.0 pin=1.5.0", bad: true},
		{expect: "never turn where build=2.x pin=1.x", bad: true},
		{expect: "never turn in early where build=2.x pin=1.x"},
		{expect: "never turn in late where build=1.x"},
		{expect: "never turn in late where build=2.0.0|1.5.0", bad: true},
		{expect: "always turn where pin=2.0.0 has build=2.0.0"},
		{expect: "always turn where pin=1.5.0 has build=1.5.0", bad: true},
		{expect: "always turn has handler=H@1.x result=Continue first=no start=none"},
		{expect: "always fetch has attempt=1 readable=yes"},
		{expect: "sometimes fetch where node=B pin=1.5.0", seen: true},
		{expect: "sometimes fetch where node=A pin=2.0.0"},
		{expect: "sometimes event where kind=TimerCreated build=2.0.0", seen: true},
		{expect: "sometimes end where status=Completed instance=new", seen: true},
		{expect: "never end where status=Failed", bad: true},
		{expect: "sometimes wait where pin=3.0.0 instance=alien", seen: true},
		{expect: "never wait where pin=1.5.0"},
		{expect: "sometimes skip where node=A pin=3.0.0", seen: true},
		{expect: "never skip where pin=1.5.0"},
		{expect: "sometimes abandon where reason=no-handler queue=orchestrator", seen: true},
		{expect: "never abandon in late where reason=no-handler", bad: true},
		{expect: "never poison"},
		{expect: "always up in late has 1.5.0=1 2.0.0=1 3.0.0=0 total=2"},
		{expect: "always up in late has total=3", bad: true},
		{expect: "sometimes node in late where node=B build=2.0.0 H@1.0.0=yes", seen: true},
		{expect: "always node where node=A has build=1.5.0 H@1.0.0=yes H@2.0.0=no"},
		{expect: "never node where H@1.0.0=yes", bad: true},
		{expect: "always node where node=A has build=2.0.0", bad: true},
		{expect: "sometimes lock where node=A pin=1.5.0 instance=old", seen: true},
		{expect: "never lock where node=A pin=2.0.0"},
		{expect: "never lock where node=B pin=1.5.0", bad: true},
		{expect: "always abandon where reason=no-handler has delay=0s attempt=1"},
		{expect: "always abandon where reason=no-handler has delay=1s", bad: true},
		{expect: "always event where kind=TimerCreated build=2.0.0 has handler=H@1.0.0"},
		{expect: "never event where handler=H@1.x", bad: true},
		{expect: "never decode where readable=yes"},
		{expect: "always turn where handler=H@1.0.0 has execution=1"},
		{expect: "always turn where handler=H@1.0.0 has execution=2", bad: true},
	}
	for i, test := range tests {
		t.Run(test.expect, func(t *testing.T) {
			e := ExpectOf(t, i+1, test.expect)
			r := New(t, plan.Plan{}, monitor.Options{Properties: []string{}, Expectations: []plan.Expectation{e}})
			found := r.Tell(story)
			if bad := len(found) > 0; bad != test.bad {
				t.Errorf("violations %q, want some: %v", found, test.bad)
			}
			for _, v := range r.M.Violations() {
				if v.Class != cluster.ClassPlan || v.Property != "expect" || !strings.Contains(v.Message, test.expect) || !strings.Contains(v.Message, "line ") {
					t.Errorf("violation does not name its line: %+v", v)
				}
			}
			seen := slices.ContainsFunc(r.M.Coverage(), func(p cluster.Point) bool { return p.Name == e.PointName() })
			if seen != test.seen {
				t.Errorf("seen %v, want %v: %v", seen, test.seen, r.M.Coverage())
			}
		})
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

func TestExpectMessage(t *testing.T) {
	e := ExpectOf(t, 7, "always turn where pin=1.5.0 has build=1.5.0")
	r := New(t, plan.Plan{}, monitor.Options{Expectations: []plan.Expectation{e}, Properties: []string{}})
	r.Tell("0 up A 2.0.0\n0 seed x 1.5.0\n0 send x\n1 mark rollback\n2 fetch A x\n2 note A turn\n3 commit A")
	const want = `scenario line 7, "always turn where pin=1.5.0 has build=1.5.0": expected build=1.5.0, but it is 2.0.0. Seen in part "rollback": ` +
		`turn node=A build=2.0.0 pin=1.5.0 instance=x phase=faults first=no start=none handler=H@1.0.0 result=Continue execution=1`
	if v := r.M.Violations(); len(v) != 1 || v[0].Message != want {
		t.Errorf("got  %+v\nwant %s", v, want)
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
