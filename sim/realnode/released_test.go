package realnode_test

import "testing"

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
