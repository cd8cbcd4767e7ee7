package properties

import (
	"slices"
	"strings"
	"testing"

	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// expectOf reads "never turn in late where build=1.x has pin=none", the words of a scenario in the simplest form.
func expectOf(t testing.TB, line int, text string) plan.Expectation {
	t.Helper()
	words := strings.Fields(text)
	e := plan.Expectation{Line: line, Text: text, Mode: plan.Mode(words[0]), Event: words[1]}
	list := &e.Where
	for i := 2; i < len(words); i++ {
		switch words[i] {
		case "in":
			i++
			e.In = words[i]
		case "where":
			list = &e.Where
		case "has":
			list = &e.Has
		default:
			name, value, _ := strings.Cut(words[i], "=")
			*list = append(*list, plan.Attr{Name: name, Value: value})
		}
	}
	if err := e.Validate(); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return e
}

func TestExpectations(t *testing.T) {
	// A turn on each of two nodes, then a part in which the newer build serves the old pin, then poison.
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
			e := expectOf(t, i+1, test.expect)
			r := newLiveRig(t, plan.Plan{}, Options{Properties: []string{}, Expectations: []plan.Expectation{e}})
			found := r.tell(story)
			if bad := len(found) > 0; bad != test.bad {
				t.Errorf("violations %q, want some: %v", found, test.bad)
			}
			for _, v := range r.m.Violations() {
				if v.Class != cluster.ClassSafety || v.Property != "expect" || !strings.Contains(v.Message, test.expect) || !strings.Contains(v.Message, "line ") {
					t.Errorf("violation does not name its line: %+v", v)
				}
			}
			seen := slices.ContainsFunc(r.m.Coverage(), func(p cluster.Point) bool { return p.Name == e.PointName() })
			if seen != test.seen {
				t.Errorf("seen %v, want %v: %v", seen, test.seen, r.m.Coverage())
			}
		})
	}
}

func TestExpectMessage(t *testing.T) {
	e := expectOf(t, 7, "always turn where pin=1.5.0 has build=1.5.0")
	r := newLiveRig(t, plan.Plan{}, Options{Expectations: []plan.Expectation{e}, Properties: []string{}})
	r.tell("0 up A 2.0.0\n0 seed x 1.5.0\n0 send x\n1 mark rollback\n2 fetch A x\n2 note A turn\n3 commit A")
	const want = `scenario line 7, "always turn where pin=1.5.0 has build=1.5.0": expected build=1.5.0, and it is 2.0.0. Seen in part "rollback": ` +
		`turn node=A build=2.0.0 pin=1.5.0 instance=x phase=turbulence first=no start=none handler=H@1.0.0 result=Continue execution=1`
	if v := r.m.Violations(); len(v) != 1 || v[0].Message != want {
		t.Errorf("got  %+v\nwant %s", v, want)
	}
}
