//go:build unix

package properties_test

import (
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/campaign"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
)

// BenchmarkBugs measures how much processor time it takes to find each planted bug in its scenario. It reports the
// median over ten starting seeds, a million apart. A search gives up after 200 seeds and then counts with the time it
// took so far. size=usual runs the scenario unchanged; the other sizes reduce the load of scenarios that have more
// instances to that number.
//
//	go test ./properties -run '^$' -bench 'Bugs/size=usual' -benchtime 1x
func BenchmarkBugs(b *testing.B) {
	for _, size := range []int{0, 10, 5} {
		name := "size=usual"
		if size > 0 {
			name = fmt.Sprintf("size=%d", size)
		}
		b.Run(name, func(b *testing.B) {
			var medians []time.Duration
			for _, bug := range faults.Catalogue() {
				s := lookup(b, bug.Scenario)
				if size > 0 && !shrinksTo(s, size) {
					continue
				}
				b.Run(string(bug.ID), func(b *testing.B) {
					for b.Loop() {
						median, seeds, found := searches(b, s, &bug, size)
						medians = append(medians, median)
						b.ReportMetric(float64(median.Microseconds())/1000, "cpu-ms/bug")
						b.ReportMetric(float64(seeds), "seeds/bug")
						b.ReportMetric(float64(found), "found")
						b.ReportMetric(0, "ns/op")
					}
				})
			}
		})
	}
}

// shrinksTo reports whether a scenario's load is larger than size.
func shrinksTo(s *scenario.Scenario, size int) bool {
	usual, err := s.Expand(1, scenario.Overrides{})
	if err != nil {
		return false
	}
	small, err := s.Expand(1, scenario.Overrides{Instances: size})
	return err == nil && len(small.Instances) < len(usual.Instances)
}

// searches looks for a bug from ten starting seeds. It returns the median processor time, the median number of seeds,
// and how many searches found the bug.
func searches(b *testing.B, s *scenario.Scenario, bug *faults.Bug, size int) (median time.Duration, seeds, found int) {
	defer campaign.CollectLess()()
	var memory cluster.Arena
	var times []time.Duration
	var counts []int
	for start := range uint64(10) {
		began, n := processorTime(b), 0
		for ; n < 200; n++ {
			if finds(b, s, bug, size, 1+start*1_000_000+uint64(n), &memory) {
				found++
				break
			}
		}
		times, counts = append(times, processorTime(b)-began), append(counts, n+1)
	}
	slices.Sort(times)
	slices.Sort(counts)
	return times[5], counts[5], found
}

// finds reports whether a seed violates a property that the bug is expected to violate.
func finds(b *testing.B, s *scenario.Scenario, bug *faults.Bug, size int, seed uint64, memory *cluster.Arena) bool {
	cfg := config(b, s, seed, scenario.Overrides{Bugs: []faults.BugID{bug.ID}, Instances: size}, properties.Options{Expectations: s.Expect})
	cfg.Arena = memory
	return slices.ContainsFunc(run(b, cfg).Violations, func(v cluster.Violation) bool { return slices.Contains(bug.Properties, v.Property) })
}

// processorTime returns how much processor time this process has used so far.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	sample.OK(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
