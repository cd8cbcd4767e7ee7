package realnode_test

import (
	"slices"
	"testing"

	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
)

// mixed has nodes of each release, a rollback, a modelled node, and every fault that hits calls.
const mixed = `
turbulence 20s
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

// Nodes of released runtimes are as deterministic as modelled ones: one seed gives one trace, and another seed another.
func TestReleasedSameSeedSameTrace(t *testing.T) {
	releases := hosts(t)
	for seed := uint64(1); seed <= 3; seed++ {
		want, err := run(t, mixed, seed, releases)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			got, err := run(t, mixed, seed, releases)
			if err != nil {
				t.Fatal(err)
			}
			if got.Digest != want.Digest || got.Steps != want.Steps {
				t.Errorf("seed %d: digest %s after %d steps, and again %s after %d", seed, want.Digest, want.Steps, got.Digest, got.Steps)
			}
		}
		other, err := run(t, mixed, seed+100, releases)
		if err != nil {
			t.Fatal(err)
		}
		if other.Digest == want.Digest {
			t.Errorf("seeds %d and %d give one digest: it digests nothing", seed, seed+100)
		}
	}
}

// What is said to be seen on released runtimes is seen (docs/real-nodes.md).
func TestReleasedFindings(t *testing.T) {
	releases := hosts(t)
	for _, c := range []struct {
		scenario string
		seed     uint64
		property string
	}{
		{"real-ack-failure-fails-orchestration", 7, "L02"},
		{"real-children-left-running", 1, "expect"},
		{"real-corrupted-parent-not-told", 1, "L06"},
		{"real-detached-lost-in-can", 1, "S11"},
		{"real-other-outcome-applied", 1, "S13"},
		{"real-poison-cancels-nothing", 1, "expect"},
		{"real-poisoned-start-unpinned", 1, "S09"},
		{"real-renewal-error-cancels", 3, "L02"},
		{"real-status-by-history", 1, "L01"},
		{"real-terminal-poisoned", 2, "S08"},
		{"real-turn-abandon-not-sent", 268, "S19"},
		{"real-unstarted-child-cancelled", 1, "S11"},
		{"real-version-check-first", 1, "L01"},
		{"real-worker-ack-not-retried", 1, "expect"},
		{"real-rolling-upgrade", 9, "L06"},
	} {
		t.Run(c.scenario, func(t *testing.T) {
			s, err := scenario.Lookup(c.scenario)
			if err != nil {
				t.Fatal(err)
			}
			result, err := runScenario(s, c.seed, releases)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(result.Violations, func(v cluster.Violation) bool { return v.Property == c.property }) {
				t.Errorf("seed %d violates %v, want %s", c.seed, result.Violations, c.property)
			}
		})
	}
}

// The host's interpreter of programs does what the one in Go does: without faults every program comes to an end that the
// direct interpreter allows.
func TestReleasedProgramsMeanTheSame(t *testing.T) {
	releases := hosts(t)
	for seed := uint64(1); seed <= 25; seed++ {
		result, err := run(t, programs, seed, releases)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range result.Violations {
			if v.Property == "S20" {
				t.Errorf("seed %d: %s", seed, v.Message)
			}
		}
	}
}

const programs = `
turbulence 20s
node A runs duroxide 0.1.32

load 16 instances from 1s over 10s
  mix 1 generated programs
`
