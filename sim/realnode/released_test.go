package realnode_test

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/realnode"
	"github.com/durosim/durosim/sim/scenario"
)

// mixed has nodes of each release, a modelled node, a rollback, and every fault that hits calls.
const mixed = `
fault-phase 20s
node A B run duroxide 0.1.26
node C runs duroxide 0.1.30
node D runs 1.5.0
fault crash-before-ack 1 in 60
fault answer-lost 1 in 60
fault request-lost 1 in 60
fault pause 1 in 100
fault activity-panic 1 in 50

load 12 instances from 1s over 10s
  mix 1 generated programs

at 4s..6s upgrade A to duroxide 0.1.32
at 9s..10s rollback A to duroxide 0.1.26
at 12s..15s upgrade B to duroxide 0.1.32
at 14s crash C
at 16s start C
`

// TestReleasedSameSeedSameTrace checks that released nodes are as deterministic as modelled ones: the same seed gives
// the same trace, and another seed gives another.
func TestReleasedSameSeedSameTrace(t *testing.T) {
	releases := hosts(t)
	for seed := uint64(1); seed <= 3; seed++ {
		want := sample.Must(run(t, mixed, seed, releases))(t)
		for range 2 {
			got := sample.Must(run(t, mixed, seed, releases))(t)
			if got.Digest != want.Digest || got.Steps != want.Steps {
				t.Errorf("seed %d: digest %s after %d steps, and again %s after %d", seed, want.Digest, want.Steps, got.Digest, got.Steps)
			}
		}
		other := sample.Must(run(t, mixed, seed+100, releases))(t)
		if other.Digest == want.Digest {
			t.Errorf("seeds %d and %d give one digest: it digests nothing", seed, seed+100)
		}
	}
}

// digestVariable makes the test binary print the digest of one seed of mixed and then exit.
const digestVariable = "REALNODE_TEST_DIGEST"

func printDigest(seed string) int {
	n, err := strconv.ParseUint(seed, 10, 64)
	if err == nil {
		var result *cluster.Result
		if result, err = runText(mixed, n, realnode.Releases()); err == nil {
			fmt.Println(result.Digest)
			return 0
		}
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// TestReleasedSameSeedInOtherProcesses checks that ten successive processes give the same digest, which means that no
// property of a process or its hosts affects a run.
func TestReleasedSameSeedInOtherProcesses(t *testing.T) {
	hosts(t)
	self := sample.Must(os.Executable())(t)
	processes := 2
	if sample.All() {
		processes = 10
	}
	seen := map[string]bool{}
	for range processes {
		c := exec.Command(self)
		c.Env = append(os.Environ(), digestVariable+"=7")
		out := sample.Must(c.Output())(t)
		seen[string(out)] = true
	}
	if len(seen) != 1 || seen[""] {
		t.Errorf("%d processes gave %v, want one digest", processes, seen)
	}
}

// TestReleasedFullFaults checks that a run with released nodes always reaches a verdict, whatever happens to them, and
// that it is always the same verdict.
func TestReleasedFullFaults(t *testing.T) {
	releases := hosts(t)
	seeds := uint64(1)
	if sample.All() {
		seeds = 10
	}
	s := released(t, "rolling-upgrade", "as it is")
	full := sample.Must(scenario.NamedFaults("full"))(t)
	for seed := uint64(1); seed <= seeds; seed++ {
		p := sample.Must(s.Expand(seed, scenario.Overrides{Faults: &full}))(t)
		var digests [2]string
		for i := range digests {
			monitor := func(w *cluster.World) cluster.Monitor { return properties.New(w, properties.Options{}) }
			result, err := cluster.Run(cluster.Config{Plan: p, Seed: seed, Releases: releases, Monitor: monitor})
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			digests[i] = result.Digest.String()
		}
		if digests[0] != digests[1] {
			t.Errorf("seed %d: %s, and then %s", seed, digests[0], digests[1])
		}
	}
}

// least runs a plan without faults in which everything takes the minimum time, and returns the store.
func least(t *testing.T, p *plan.Plan, releases cluster.Releases) memprovider.View {
	t.Helper()
	var world *cluster.World
	result := sample.Must(cluster.Run(cluster.Config{Plan: p, Chooser: sim.Replay(&sim.Recording{}), Releases: releases, Monitor: func(w *cluster.World) cluster.Monitor {
		world = w
		return properties.New(w, properties.Options{})
	}}))(t)
	for _, v := range result.Violations {
		if releases != nil && v.Property == "S20" {
			t.Errorf("%s", v.Message)
		}
	}
	return world.Store()
}
