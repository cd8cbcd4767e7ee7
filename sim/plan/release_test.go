package plan_test

import (
	"strings"
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/scenario"
)

// Work that a released runtime cannot run is rejected before anything runs.
func TestReleasedNodesRunProgramsOnly(t *testing.T) {
	const node = "node A runs duroxide 0.1.32\n"
	const call = "program P\n  call x\nend\n"
	for _, c := range []struct{ text, want string }{
		{node + call + "instance i runs P\n", ""},
		{node + "node B runs 1.5.0\n" + call + "instance i runs P\n", ""},
		{"node A runs 1.5.0\ninstance i runs Leaf\nat 5s upgrade A to duroxide 0.1.26\n", "instance i runs Leaf, but nodes that run duroxide-0.1.26 run only programs"},
		{node + "instance i runs Leaf\n", "instance i runs Leaf, but nodes that run duroxide-0.1.32 run only programs: want the name of a program"},
		{node + "history h unpinned shape corrupt\n", "history h: nodes that run duroxide-0.1.32 run only programs"},
		{node + "  handlers Leaf@1.0.0\n" + call, "node A: the plan also has nodes that run duroxide-0.1.32"},
		{node + call + "at 1s register Leaf@1.0.0 on A\n", "register Leaf@1.0.0 on A: the plan also has nodes that run duroxide-0.1.32"},
		{node + "program P\n  wait go topic x\nend\n", "program P: wait go has topic x, but nodes that run duroxide-0.1.32 do not support topics"},
		{node + "program P\n  join\n    seq\n      call x\n    end\n  end\nend\n", ""},
		{node + "node B runs 1.5.0\nprogram P\n  join\n    seq\n      call x\n    end\n  end\nend\n", "program P: a branch of join that is more than one call"},
	} {
		s, err := scenario.Parse("x.txt", []byte(c.text))
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		p := sample.Must(s.Expand(1, scenario.Overrides{}))(t)
		err = p.Validate(plan.Known{Builds: engine.ShippedBuilds(), Orchestrations: []string{"Leaf@1.0.0"}})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q: got %v, want %q", c.text, err, c.want)
		}
	}
}

// A generated program is valid for every node of its plan.
func TestGeneratedProgramsSuitReleases(t *testing.T) {
	for _, nodes := range []string{"node A runs duroxide 0.1.26\n", "node A runs duroxide 0.1.32\nnode B runs 1.5.0\n"} {
		s := sample.Must(scenario.Parse("x.txt", []byte(nodes+"load 20 instances over 1s\n  mix 1 generated programs\n")))(t)
		for seed := range uint64(20) {
			p := sample.Must(s.Expand(seed, scenario.Overrides{}))(t)
			if err := p.Validate(plan.Known{Builds: engine.ShippedBuilds()}); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
		}
	}
}
