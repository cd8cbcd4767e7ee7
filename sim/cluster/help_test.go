package cluster_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
)

// race is an instance in which a wait races with something else.
func race(other string) string {
	return "program P\n  select\n    wait go\n    " + other + "\n  end\nend\ninstance o runs P"
}

// TestHelp checks that recovery and rescue report what they did, and that a plan can disable them.
func TestHelp(t *testing.T) {
	const order = "nodes A B run 1.5.0\ninstance o runs ProcessOrder at 1s"
	for _, tc := range []struct {
		name, text string
		status     string // of the first instance
		help       []string
		atMost     int64 // virtual milliseconds; 0 for no bound
	}{
		{name: "recovery raises", text: order, status: "Completed", help: []string{`recovery raised "approval" for o`}},
		{name: "recovery decides no race with a timer", text: "nodes A run 1.5.0\n" + race("timer 40s"), status: "Completed"},
		{name: "nor with a child", text: "nodes A run 1.5.0\nprogram Child\n  timer 50s\nend\n" + race("child Child"), status: "Completed"},
		{name: "nor with a child that it helps", text: "nodes A run 1.5.0\nprogram Child\n  wait stop\nend\n" + race("child Child"), status: "Completed",
			help: []string{`recovery raised "stop" for o::sub::3`}},
		{name: "but it raises when the timer has fired", text: "nodes A run 1.5.0\nprogram P\n  join\n    wait go\n    timer 40s\n  end\nend\ninstance o runs P", status: "Completed", help: []string{`recovery raised "go" for o`}},
		{name: "unaided instance", text: order + " unaided", status: "Running"},
		{name: "unaided parent", text: "nodes A B run 1.5.0\nprogram Child\n  wait go\nend\nprogram Root\n  child Child\nend\ninstance o runs Root at 1s unaided", status: "Running"},
		{name: "then nothing", text: order + "\nthen nothing", status: "Running", atMost: 60_000},
		{name: "then nothing, and the work ends by itself", text: "nodes A B run 1.5.0\ninstance o runs Chain with 20 at 1s\nthen nothing", status: "Completed", atMost: 60_000},
		{name: "then nothing, and nobody is there", text: "nodes A B run 1.5.0\ninstance o runs Chain with 50 at 1s\nat 3s stop A\nat 4s crash B\nthen nothing", status: "Running", atMost: 120_000},
		{name: "then nothing, and no node has the activity's tag", text: "nodes A B run 1.5.0\ninstance o runs Studio with 1 at 1s\nthen nothing", status: "Running", atMost: 120_000},
		{name: "then nothing, and a cancel comes after the deletion", text: "nodes A B run 1.5.0\ninstance o runs Chain with 1 at 1s\ncancel at 9s\ndelete at 7s\nthen nothing", status: "", atMost: 120_000},
		{name: "recovery starts", text: "nodes A run 1.5.0\ninstance o runs Chain with 5 at 1s\nat 2s crash A", status: "Completed", help: []string{"recovery started node A"}},
		{name: "recovery cancels", text: "nodes A run 1.5.0\ninstance o runs Eternal expect eternal", status: "Failed", help: []string{"recovery cancelled o"}},
		{name: "a loop goes on whose parent is poisoned", text: "fault-phase 40m\nnode A runs 2.0.0\nfault corrupt-message 1 in 3 to 8s\ninstance o runs Nanny at 1s expect failed", status: "Failed"},
		{name: "until", text: "until 20s\nnodes A run 1.5.0\ninstance o runs Eternal expect eternal", status: "Running", atMost: 20_000},
		{name: "until, in the fault phase", text: "until 20s\nfault-phase 1h\nnodes A run 1.5.0\ninstance o runs Chain", status: "Completed", atMost: 20_000},
		{name: "rescue starts the pinned build", text: "nodes A B run 2.0.0\nhistory o pinned 3.0.0 shape waiting", status: "Completed",
			help: []string{"rescue started node B as build 3.0.0"}},
		{name: "rescue starts a newer build that the plan names", status: "Completed", help: []string{"rescue started node B as build 3.0.0"},
			text: "node A runs 3.0.0\nnode B runs 2.0.0\nhistory o pinned 2.9.0 shape waiting kick at 5s\nat 1s remove A"},
		{name: "rescue starts the application that wrote the newest", status: "Completed", help: []string{"rescue started node A as build 2.0.0+1.1.0"},
			text: "build 2.0.0+1.0.0 like 2.0.0\nbuild 2.0.0+1.1.0 like 2.0.0\nnode A runs 2.0.0+1.0.0\ninstance o runs Chain with 20 at 1s\nat 3s upgrade A to 2.0.0+1.1.0\ninstance p runs Chain with 20 at 5s\nat 6s rollback A to 1.5.0"},
		{name: "rescue starts no application that the plan does not name", status: "Completed", help: []string{"rescue started node A as build 2.0.0+1.1.0"},
			text: "build 2.0.0+1.0.0 like 2.0.0\nbuild 2.0.0+1.1.0 like 2.0.0\nbuild 1.5.0+1.1.0 like 1.5.0\nnode A runs 1.5.0+1.1.0\nhistory o pinned 2.0.0 shape waiting"},
		{name: "rescue takes a range back", text: "node A runs 2.0.0\n  option supported_replay_versions 1.x\nhistory o pinned 2.0.0 shape waiting", status: "Completed",
			help: []string{"rescue gave node A the range of its build, which replayed >=1.0.0, <=1.999.999"}},
		{name: "rescue deletes what no build takes", text: "nodes A run 2.0.0\nhistory o pinned 9.0.0 shape waiting", status: "",
			help: []string{"rescue deleted o, which no build takes to its end"}},
		{name: "rescue starts no build that is another one by now", status: "", help: []string{"rescue deleted o, which no build takes to its end"},
			text: "strategy exact\nbuild 1.5.0+2.0.0 like 2.0.0\n  awaits activation\nnodes A B run 1.5.0+2.0.0\nhistory o pinned 1.5.0 shape waiting kick at 9s\nat 2s activate 2.0.0"},
		{name: "rescue gives no node to two loops for ever", text: "strategy exact\nnode A runs 1.5.0\ninstance o runs Eternal at 9s expect any\ninstance p runs Eternal at 3m8s expect any\nat 3m rollback A to 0.8.0",
			status: "", help: append(slices.Repeat([]string{"rescue started node A as build 1.5.0", "rescue started node A as build 0.8.0"}, 8), "rescue deleted o, which no build takes to its end")},
		{name: "rescue needs a node", text: "nodes A run 2.0.0\nhistory o pinned 3.0.0 shape waiting kick at 5s\nat 1s remove A", status: "Running"},
		{name: "rescue widens where the plan says so", text: "rescue widen\nnodes A run 2.0.0\nhistory o pinned 9.0.0 shape waiting", status: "Completed",
			help: []string{"rescue widened node A, which replayed >=0.0.0, <=2.0.0"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := sample.Must(cluster.Run(cluster.Config{Plan: planOf(t, tc.text), Seed: 1}))(t)
			var help []string
			for _, h := range r.Help {
				if len(help) == 0 || help[len(help)-1] != h.String() {
					help = append(help, h.String())
				}
			}
			if diff := cmp.Diff(tc.help, help); diff != "" {
				t.Errorf("help (-want +got):\n%s", diff)
			}
			if got := string(r.FinalStates[0].Status); got != tc.status {
				t.Errorf("it is %s, want %s", got, tc.status)
			}
			if tc.atMost > 0 && r.Virtual > tc.atMost {
				t.Errorf("the run took %d ms of virtual time, want at most %d", r.Virtual, tc.atMost)
			}
			for _, v := range r.Violations {
				t.Errorf("%s: %s", v.Property, v.Message)
			}
		})
	}
	_, err := scenario.Parse("help.txt", []byte("nodes A run 1.5.0\nthen nothing\nthen nothing"))
	if err == nil || !strings.Contains(err.Error(), "duplicate") {
		t.Errorf("twice: %v", err)
	}
}

// Causes that differ in inputs, numbers, durations and the instance's name are alike; other names and versions differ.
func TestAlike(t *testing.T) {
	for _, c := range []struct{ a, b cluster.Fate }{
		{cluster.Fate{Cause: `action=Activity(name="Ship", input="90") vs event 4, late by 1m12.5s`}, cluster.Fate{Cause: `action=Activity(name="Ship", input="a \"b\"") vs event 11, late by 250ms`}},
		{cluster.Fate{Instance: "a", Cause: "child a::sub::3: a handler"}, cluster.Fate{Instance: "Parent-6", Cause: "child Parent-6::sub::4: Parent-6 handler"}},
	} {
		if c.a.Alike() != c.b.Alike() {
			t.Errorf("%q and %q", c.a.Alike(), c.b.Alike())
		}
	}
	if f := (cluster.Fate{Cause: "handler missing: Order@1.0.0"}); f.Alike() != f.Cause {
		t.Error(f.Alike())
	}
}
