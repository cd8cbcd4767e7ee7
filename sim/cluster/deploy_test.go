package cluster_test

import (
	"strings"
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
	"github.com/durosim/durosim/sim/workload"
)

// TestDeploy upgrades the application while the runtime stays, and then the runtime while the application stays.
func TestDeploy(t *testing.T) {
	app := func(word string) workload.Application {
		return workload.Application{Version: word, Register: func(r *node.Registry) error {
			return r.Register("Greet", engine.V(1, 0, 0), func(*orch.Context, string) (string, error) { return word, nil })
		}}
	}
	builds, handlers, err := workload.Deploy([]string{"1.5.0", "2.0.0"}, app("1.0.0"), app("1.1.0"))
	sample.OK(t, err)
	s := sample.Must(scenario.Parse("deploy.txt", []byte("node A runs 1.5.0+1.0.0\ninstance a runs Greet at 1s\nat 3s upgrade A to 1.5.0+1.1.0\ninstance b runs Greet at 9s\n"+
		"at 12s upgrade A to 2.0.0+1.1.0\ninstance c runs Greet at 20s\n"), builds...))(t)
	for _, w := range s.Warnings() {
		t.Error(w)
	}
	p := sample.Must(s.Expand(1, scenario.Overrides{}))(t)
	r := sample.Must(cluster.Run(cluster.Config{Plan: p, Seed: 1, Builds: builds, Handlers: handlers}))(t)
	var got []string
	for _, o := range r.FinalStates {
		got = append(got, o.Output+" pinned "+o.Pin.String())
	}
	if want := "1.0.0 pinned 1.5.0, 1.1.0 pinned 1.5.0, 1.1.0 pinned 2.0.0"; strings.Join(got, ", ") != want {
		t.Errorf("got %q, want %q", strings.Join(got, ", "), want)
	}
	if _, _, err := workload.Deploy([]string{"9.0.0"}, app("1.0.0")); err == nil {
		t.Error("a runtime that is not shipped is taken")
	}
	if _, _, err := workload.Deploy([]string{"1.5.0"}, app("1.0.0"), app("1.0.0")); err == nil {
		t.Error("a version that is given twice is taken")
	}
}
