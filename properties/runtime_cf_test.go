package properties_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/record"
	"github.com/durosim/durosim/sim/scenario"
)

// cfCase is a case from docs/contract/conformance.md#c16, run in a simulated cluster. Where the sources can be read in
// two ways (D32), there are two cases. With the provider's filter, the instance stays untouched. With a provider that
// ignores the filter, the item is fetched, and the node itself gives it back.
type cfCase struct {
	id, reading string
	text        string
	// records, if not nil, checks the node's log of a run and returns an error for what is wrong. With the bug on, it
	// must find something.
	records func(list []cluster.Log) error
	bug     faults.BugID
	// builds, if not nil, returns builds in addition to the shipped ones.
	builds func() []*engine.Build
}

// cfNames lists the 18 cases in the contract's order.
var cfNames = []struct{ id, name string }{
	{"CF-12", "runtime_abandons_incompatible_execution"},
	{"CF-13", "runtime_processes_compatible_execution_normally"},
	{"CF-14", "runtime_abandon_reaches_max_attempts_and_poisons"},
	{"CF-15", "runtime_abandon_uses_short_delay"},
	{"CF-16", "two_runtimes_different_version_ranges_route_correctly"},
	{"CF-17", "overlapping_version_ranges_both_can_process"},
	{"CF-18", "mixed_cluster_compatible_and_incompatible_items"},
	{"CF-19", "execution_metadata_includes_pinned_version_on_new_orchestration"},
	{"CF-20", "existing_executions_without_pinned_version_remain_fetchable"},
	{"CF-21", "pinned_version_extracted_from_orchestration_started_event"},
	{"CF-24", "sub_orchestration_gets_own_pinned_version"},
	{"CF-25", "activity_completion_after_continue_as_new_is_discarded"},
	{"CF-26", "default_supported_range_includes_current_and_older_versions"},
	{"CF-27", "default_supported_range_excludes_future_versions"},
	{"CF-28", "custom_supported_replay_versions_narrows_range"},
	{"CF-29", "wide_supported_range_drains_stuck_items_via_deserialization_error"},
	{"CF-30", "runtime_logs_warning_on_incompatible_abandon"},
	{"CF-31", "runtime_logs_capability_declaration_at_startup"},
}

// TestRuntimeCF checks that each case passes for a few seeds, and that it fails with the bugs that it names.
func TestRuntimeCF(t *testing.T) {
	for _, n := range cfNames {
		t.Run(n.id+"/"+n.name, func(t *testing.T) {
			t.Parallel()
			found := false
			for _, c := range cfCases {
				if c.id == n.id {
					found = true
					c.check(t)
				}
			}
			if !found {
				t.Error("no case")
			}
		})
	}
}

func (c *cfCase) check(t *testing.T) {
	t.Helper()
	text := fmt.Sprintf("# %s%s\nscenario %s\n%s", c.id, c.reading, strings.ToLower(c.id), c.text)
	s := parseSmallWith(t, c.id+".txt", text, c.allBuilds())
	s.check(t)
	if c.records == nil {
		return
	}
	if err := c.records(s.logs(t, nil)); err != nil {
		t.Errorf("%s%s: %v", c.id, c.reading, err)
	}
	if c.records(s.logs(t, []faults.BugID{c.bug})) == nil {
		t.Errorf("%s%s: the log is right with %s, too", c.id, c.reading, c.bug)
	}
}

func (c *cfCase) allBuilds() func() []*engine.Build {
	return func() []*engine.Build {
		all := engine.ShippedBuilds()
		if c.builds != nil {
			all = append(all, c.builds()...)
		}
		return all
	}
}

// logs returns the records that the nodes log in a run.
func (s *smallScenario) logs(t *testing.T, on []faults.BugID) []cluster.Log {
	t.Helper()
	cfg, k := config(t, s.Scenario, 1, scenario.Overrides{Bugs: append(slices.Clone(s.bugs), on...)}, properties.Options{Properties: []string{}}), &logKeeper{}
	judge := cfg.Monitor
	cfg.Builds, cfg.Monitor = s.builds(), func(w *cluster.World) cluster.Monitor {
		k.Monitor = judge(w)
		return k
	}
	run(t, cfg)
	return k.records
}

// logKeeper keeps what nodes log.
type logKeeper struct {
	cluster.Monitor
	records []cluster.Log
}

func (k *logKeeper) Record(r *cluster.Record) {
	if r.Kind == record.Log {
		line := *r.Log
		line.Fields = slices.Clone(line.Fields)
		k.records = append(k.records, line)
	}
	k.Monitor.Record(r)
}

// logged returns a check that there is a line with the given text, and that every such line has the level, instance and
// fields of want.
func logged(want cluster.Log) func(list []cluster.Log) error {
	return func(list []cluster.Log) error {
		found := false
		for _, r := range list {
			if r.Text != want.Text {
				continue
			}
			found = true
			if r.Level != want.Level || r.Instance != want.Instance {
				return fmt.Errorf("%q has level %v and instance %q, expected %v", r.Text, r.Level, r.Instance, want)
			}
			for _, f := range want.Fields {
				if !slices.Contains(r.Fields, f) {
					return fmt.Errorf("%q has %v, expected %v", r.Text, r.Fields, f)
				}
			}
		}
		if !found {
			return fmt.Errorf("no line %q of %d", want.Text, len(list))
		}
		return nil
	}
}

// futureBuild returns a build with version 3.1.4, which pins the executions that it begins to that version.
func futureBuild() []*engine.Build {
	builds := engine.ShippedBuilds()
	b := *builds[len(builds)-1]
	b.Version = engine.V(3, 1, 4)
	b.DefaultRange.Max = b.Version
	return []*engine.Build{&b}
}
