package cluster_test

import (
	"strings"
	"testing"
	"time"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/scenario"
)

// TestScheduleSteps runs each verb and looks for its effects, in order, in the story of the run.
func TestScheduleSteps(t *testing.T) {
	for _, tc := range []struct {
		name, node string // node M runs 1.5.0 throughout, N what this says
		steps      string
		want       []string
		not        string // what must not happen after that
	}{
		{name: "upgrade", node: "runs 1.5.0", steps: "at 2s upgrade N to 2.0.0",
			want: []string{"N 1.5.0 starts, replays >=0.0.0, <=1.5.0", "upgrade N to 2.0.0", "N 1.5.0 stops gracefully", "N 1.5.0 has stopped", "N 2.0.0 starts, replays >=0.0.0, <=2.0.0"}},
		{name: "rollback", node: "runs 2.0.0", steps: "at 2s rollback N to 1.5.0",
			want: []string{"N 2.0.0 starts", "rollback N to 1.5.0", "has stopped", "N 1.5.0 starts"}},
		{name: "stop and start", node: "runs 1.5.0", steps: "at 2s stop N\nat 4s start N",
			want: []string{"N 1.5.0 starts", "stop N", "has stopped", "start N", "N 1.5.0 starts"}},
		{name: "crash and start", node: "runs 1.5.0", steps: "at 2s crash N\nat 4s start N",
			want: []string{"crash N", "N 1.5.0 CRASHES (by the schedule)", "start N", "N 1.5.0 starts"}},
		{name: "crash, and recovery brings it back", node: "runs 1.5.0", steps: "at 2s crash N",
			want: []string{"CRASHES", "recovery begins", "N 1.5.0 starts"}},
		{name: "pause", node: "runs 1.5.0", steps: "at 2s pause N for 7s\nat 3s pause N for 1m\nat 4s pause N for 1s\nat 1m2s mark late",
			want: []string{"pause N for 7s", "N 1.5.0 freezes for 7s", "N 1.5.0 freezes for 1m0s", "part late", "N 1.5.0 goes on"}, not: "goes on"},
		{name: "add", node: "runs 1.5.0 absent", steps: "at 3s add N", want: []string{"M 1.5.0 starts", "add N", "N 1.5.0 starts"}},
		{name: "remove", node: "runs 1.5.0", steps: "at 2s remove N\nat 5s deregister Leaf@1.0.0 on N\nat 6s pause N for 1s\nat 7s crash N",
			want: []string{"N 1.5.0 starts", "remove N", "N 1.5.0 has stopped", "recovery begins"}, not: "N 1.5.0 starts"},
		{name: "narrow and widen", node: "runs 2.0.0", steps: "at 2s narrow N to 1.x\nat 4s widen N to <=9.9.9",
			want: []string{"narrow N to >=1.0.0, <=1.999.999", "N 2.0.0 starts, replays >=1.0.0, <=1.999.999", "widen N to", "N 2.0.0 starts, replays >=0.0.0, <=9.9.9"}},
		{name: "deregister and register", node: "runs 1.5.0",
			steps: "at 2s deregister Leaf@1.0.0 on N\nat 2s deregister Leaf@1.0.0 on M\nat 9s register Leaf@1.0.0 on N\nat 9s register Leaf@1.0.0 on M",
			want:  []string{"handlers change: Leaf@1.0.0", "no-handler: leaf execution 1, delivery 1", "register Leaf@1.0.0 on N", "leaf execution 1: OrchestrationStarted"}},
		{name: "steps out of order: the last in time counts", node: "runs 1.5.0", steps: "at 4s stop N\nat 2s upgrade N to 2.0.0",
			want: []string{"upgrade N to 2.0.0", "N 2.0.0 starts", "stop N", "N 2.0.0 has stopped", "recovery begins"},
			not:  "N 2.0.0 starts"},
		{name: "mark", node: "runs 1.5.0", steps: `at 2s mark "the middle"`, want: []string{"part the middle"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			plan := planOf(t, "node M runs 1.5.0\nnode N "+tc.node+"\n"+tc.steps+"\ninstance leaf runs Leaf at 3s")
			var story strings.Builder
			sample.Must(cluster.Run(cluster.Config{Plan: plan, Seed: 1, Narrator: func(l cluster.Line) {
				story.WriteString(l.Node + " " + l.Build + " " + l.Text + "\n")
			}}))(t)
			rest := story.String()
			for _, want := range tc.want {
				_, after, found := strings.Cut(rest, want)
				if !found {
					t.Fatalf("%q does not happen, or not in its order, in\n%s", want, story.String())
				}
				rest = after
			}
			if tc.not != "" && strings.Contains(rest, tc.not) {
				t.Errorf("%q happens in\n%s", tc.not, story.String())
			}
		})
	}
}

func planOf(t *testing.T, text string) *plan.Plan {
	t.Helper()
	s := sample.Must(scenario.Parse("plan.txt", []byte(text)))(t)
	return sample.Must(s.Expand(1, scenario.Overrides{}))(t)
}

// TestValidate checks that an invalid plan is rejected, with all its mistakes.
func TestValidate(t *testing.T) {
	one := []plan.Node{{Name: "A", Build: "1.5.0"}}
	for _, tc := range []struct {
		name string
		plan plan.Plan
		want string
	}{
		{"no nodes", plan.Plan{}, "no node is declared"},
		{"unknown build", plan.Plan{Nodes: []plan.Node{{Name: "A", Build: "1.4.0"}}}, `node A: unknown build "1.4.0": want one of 0.8.0, 1.5.0`},
		{"node named twice", plan.Plan{Nodes: append(one, one...), Instances: []plan.Instance{{ID: "\xff", Orchestration: "Chain"}}}, "node A is named twice\ninstance \"\\xff\": that is not valid UTF-8"},
		{"unknown option", plan.Plan{Nodes: []plan.Node{{Name: "A", Build: "1.5.0", Options: []plan.Setting{{Name: "max_attempt", Value: "3"}}}}}, "max_attempt"},
		{"unknown node in a step", plan.Plan{Nodes: one, Schedule: []plan.Step{{Verb: plan.VerbStop, Node: "B"}}}, `unknown node "B"`},
		{"strategy", plan.Plan{Nodes: one, Strategy: "bounces"}, `unknown strategy "bounces": want one of [filter exact stall bounce sweeper deadletter]`},
		{"profile", plan.Plan{Nodes: one, Profile: "duroxide"}, "unknown profile"},
		{"probe", plan.Plan{Nodes: one, Probes: []plan.Probe{{Name: "p", Build: "1.5.0", Filter: "1.0.0 or so", Every: time.Second}}}, "probe p"},
		{"history of another handler", plan.Plan{Nodes: one, Histories: []plan.History{{Instance: "h", Shape: plan.ShapeWaiting, Orchestration: "Chain"}}}, "belongs to Cancellable@1.0.0"},
		{"step in recovery", plan.Plan{Nodes: one, FaultPhase: 5 * time.Second, Schedule: []plan.Step{{At: 5 * time.Second, Verb: plan.VerbCrash, Node: "A"}}}, "step 1 (crash A): at 5s, after the fault phase ends at 5s"},
		{"faults", plan.Plan{Nodes: one, FaultPhase: -time.Second}, "fault-phase of -1s"},
		{"kick before the start", plan.Plan{Nodes: one, Histories: []plan.History{{Instance: "h", Shape: plan.ShapeWaiting, KickAt: -1}}}, "before the start"},
		{"probe before the start", plan.Plan{Nodes: one, Probes: []plan.Probe{{Name: "p", Build: "1.5.0", Filter: "any", From: -1, Every: time.Second}}}, "probe p: from -1ns, before the start"},
		{"step after the end", plan.Plan{Nodes: one, Until: 5 * time.Second, Schedule: []plan.Step{{At: 6 * time.Second, Verb: plan.VerbCrash, Node: "A"}}}, "step 1 (crash A): at 6s, after the run ends at 5s"},
		{"end before the start", plan.Plan{Nodes: one, Until: -time.Second}, "until -1s: want a positive duration"},
		{"eternal, and nobody helps", plan.Plan{Nodes: one, Unaided: true, Instances: []plan.Instance{{ID: "e", Orchestration: "Eternal", Expect: plan.EndEternal}}}, "instance e: it runs until recovery cancels it"},
		{"eternal and unaided", plan.Plan{Nodes: one, Instances: []plan.Instance{{ID: "e", Orchestration: "Eternal", Expect: plan.EndEternal, Unaided: true}}}, "but it is unaided"},
		{"unknown bug", plan.Plan{Nodes: one, Bugs: []faults.BugID{"provider/none"}}, `unknown bug "provider/none"`},
	} {
		_, err := cluster.Run(cluster.Config{Plan: &tc.plan})
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got error %v, want one that contains %q", tc.name, err, tc.want)
		}
	}
}
