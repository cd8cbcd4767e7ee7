package durosim_test

import (
	"strings"
	"testing"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
)

// asked counts how often a run asks whether any obligation is open.
type asked struct {
	cluster.Monitor
	times int
}

func (a *asked) Open(nowMs int64) (bool, int64) {
	a.times++
	return a.Monitor.Open(nowMs)
}

// TestYear checks that a timer of one year costs no more than its events, and that the run waits for it.
func TestYear(t *testing.T) {
	s := sample.Must(scenario.Parse("year.txt", []byte("nodes A B run 1.5.0\nprogram Nap\n  timer 8760h\nend\ninstance nap runs Nap at 1s\ninstance chain runs Chain at 2s\n")))(t)
	p := sample.Must(s.Expand(1, scenario.Overrides{}))(t)
	var watch *asked
	r := sample.Must(cluster.Run(cluster.Config{Plan: p, Seed: 1, Monitor: func(w *cluster.World) cluster.Monitor {
		watch = &asked{Monitor: properties.New(w, properties.Options{})}
		return watch
	}}))(t)
	for _, v := range r.Violations {
		t.Errorf("%s: %s", v.Property, v.Message)
	}
	if r.FinalStates[0].Status != "Completed" || r.Virtual < 8760*3600*1000 {
		t.Errorf("after %d ms the sleeper is %s", r.Virtual, r.FinalStates[0].Status)
	}
	if watch.times > 200 || r.Steps > 1000 {
		t.Errorf("%d looks, %d steps", watch.times, r.Steps)
	}
}

// TestEternalHint checks that an orchestration that goes on forever without being marked as eternal gets a hint.
func TestEternalHint(t *testing.T) {
	r := runTest(durosim.Config{Scenario: "budget 12000 steps\nnodes A B run 1.5.0\ninstance spin runs Counter with 100000\n", Seeds: 1})
	if !r.failed || !strings.Contains(r.text, `write "expect eternal" after it`) {
		t.Errorf("no hint in\n%s", r.text)
	}
}
