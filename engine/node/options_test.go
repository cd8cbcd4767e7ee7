package node

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/sample"
)

func ExampleOptions_Set() {
	o := DefaultOptions()
	for _, set := range [][2]string{
		{"max_attempts", "3"},
		{"worker_tag_filter", "DefaultAnd(gpu,cpu)"},
		{"supported_replay_versions", ">=1.0.0,<=2.0.0"},
		{"call_deadline", "soon"},
		{"max_retries", "3"},
	} {
		if err := o.Set(set[0], set[1]); err != nil {
			text := err.Error()
			fmt.Println(text[:min(len(text), 96)])
		}
	}
	fmt.Println(o)
	// Output:
	// option call_deadline: "soon": expected a duration such as 250ms, 5s or 1m30s
	// unknown option "max_retries": expected one of activity_cancellation_grace_period, call_deadline,
	// max_attempts=3 supported_replay_versions=>=1.0.0,<=2.0.0 worker_tag_filter=DefaultAnd(cpu,gpu)
}

func ExampleOptions_Range() {
	o := DefaultOptions()
	build := engine.ShippedBuilds()[1]
	fmt.Println(build.Name(), "replays", o.Range(build))
	r := engine.MustParseRange("1.5.0")
	o.SupportedReplayVersions = &r
	fmt.Println(build.Name(), "replays", o.Range(build))
	// Output:
	// 1.5.0 replays >=0.0.0, <=1.5.0
	// 1.5.0 replays >=1.5.0, <=1.5.0
}

func ExampleOptions_Validate() {
	o := DefaultOptions()
	o.SessionIdleTimeout = 25 * time.Second
	fmt.Println(o.Validate())
	// Output:
	// option session_idle_timeout: 25s must be above 25s, which is worker_lock_timeout less worker_lock_renewal_buffer (1s if that is negative)
}

func ExampleOptionNames() {
	fmt.Println(len(OptionNames()), OptionNames()[0])
	value, _ := DefaultOptions().Get("orchestrator_lock_timeout")
	fmt.Println(value)
	// Output:
	// 23 activity_cancellation_grace_period
	// 5s
}

// TestDefaults is the table of docs/contract/runtime.md#r4.
func TestDefaults(t *testing.T) {
	defaults := DefaultOptions()
	sample.OK(t, defaults.Validate())
	want := map[string]string{
		"dispatcher_min_poll_interval": "100ms", "dispatcher_long_poll_timeout": "30s",
		"orchestration_concurrency": "2", "worker_concurrency": "2",
		"orchestrator_lock_timeout": "5s", "orchestrator_lock_renewal_buffer": "2s",
		"worker_lock_timeout": "30s", "worker_lock_renewal_buffer": "5s",
		"unregistered_backoff_base": "1s", "unregistered_backoff_max": "1m0s", "max_attempts": "10",
		"activity_cancellation_grace_period": "10s", "supported_replay_versions": "default",
		"session_lock_timeout": "30s", "session_lock_renewal_buffer": "5s", "session_idle_timeout": "5m0s",
		"session_cleanup_interval": "5m0s", "max_sessions_per_runtime": "10", "worker_node_id": "",
		"worker_tag_filter": "DefaultOnly", "call_deadline": "500ms", "kept_executions": "0", "kept_turns": "0",
	}
	if len(want) != len(OptionNames()) {
		t.Errorf("%d options, want %d", len(OptionNames()), len(want))
	}
	for _, name := range OptionNames() {
		if got, ok := defaults.Get(name); !ok || got != want[name] {
			t.Errorf("%s = %q, want %q", name, got, want[name])
		}
	}
}

// TestOptionTable checks that the table is sorted, and that every field of Options belongs to one entry.
func TestOptionTable(t *testing.T) {
	if !slices.IsSorted(OptionNames()) {
		t.Error("the option table is not sorted")
	}
	if fields := reflect.TypeFor[Options]().NumField(); fields != len(optionTable) {
		t.Errorf("%d fields, %d options", fields, len(optionTable))
	}
}

func TestOptionsRoundTrip(t *testing.T) {
	values := map[string]string{
		"worker_concurrency": "0", "orchestration_concurrency": "7", "max_attempts": "1", "max_sessions_per_runtime": "1", "kept_executions": "9", "kept_turns": "3",
		"supported_replay_versions": ">=1.0.0,<=1.6.0", "worker_node_id": "n-1", "worker_tag_filter": "Tags(a,b)",
	}
	o := DefaultOptions()
	for _, name := range OptionNames() {
		value := values[name]
		if value == "" {
			value = "61s" // a valid duration that is no option's default
		}
		sample.OK(t, o.Set(name, value))
	}
	again := DefaultOptions()
	for _, part := range strings.Fields(o.String()) {
		name, value, _ := strings.Cut(part, "=")
		sample.OK(t, again.Set(name, value))
	}
	if d := cmp.Diff(o, again, cmp.AllowUnexported(engine.Version{})); d != "" {
		t.Errorf("the options are read back otherwise (-want +got):\n%s", d)
	}
	if got, want := len(strings.Fields(o.String())), len(OptionNames()); got != want {
		t.Errorf("String names %d options of %d", got, want)
	}
}

func TestOptionsRefuse(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"max_attempts", "0", "from 1 to 4294967295"}, {"max_attempts", "ten", "whole number"},
		{"worker_concurrency", "-1", "from 0 to 1024"}, {"worker_concurrency", "1025", "from 0 to 1024"},
		{"max_sessions_per_runtime", "0", "from 1"},
		{"orchestrator_lock_timeout", "0s", "at least 1ms"},
		{"orchestrator_lock_timeout", "5", "a duration such as"},
		{"orchestrator_lock_timeout", "1500us", "whole milliseconds"},
		{"orchestrator_lock_renewal_buffer", "-1s", "at least 0s"},
		{"dispatcher_min_poll_interval", "0s", "at least 1ms"},
		{"supported_replay_versions", "1.x.y", "default"},
		{"worker_node_id", "a b", "no white space"},
		{"worker_tag_filter", "Tags", "expected DefaultOnly"},
		{"worker_tag_filter", "Any(a)", "expected DefaultOnly"},
		{"worker_tag_filter", "Tags(a", "expected DefaultOnly"},
		{"worker_tag_filter", "Tags()", "tags of 1 to 256 bytes"},
		{"worker_tag_filter", "Tags(a,b,c,d,e,f)", "1 to 5 tags"},
		{"worker_tag_filter", "Tags(" + strings.Repeat("x", 257) + ")", "1 to 256 bytes"},
	} {
		o := DefaultOptions()
		err := o.Set(c.name, c.value)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "option "+c.name+": ") {
			t.Errorf("Set(%s, %q): %v; want %q in it", c.name, c.value, err, c.want)
		}
		if d := cmp.Diff(DefaultOptions(), o); d != "" {
			t.Errorf("Set(%s, %q) failed and changed the options (-before +after):\n%s", c.name, c.value, d)
		}
	}
	for _, change := range []func(*Options){
		func(o *Options) { *o = Options{} },
		func(o *Options) { o.UnregisteredBackoffMax = time.Millisecond },
		func(o *Options) { o.SessionIdleTimeout = time.Second; o.WorkerLockTimeout = time.Second },
		func(o *Options) { o.WorkerTagFilter.Mode = 9 },
		func(o *Options) { o.WorkerTagFilter = engine.TagFilter{Mode: engine.TagTags, Tags: []string{"b", "a"}} },
	} {
		o := DefaultOptions()
		change(&o)
		if o.Validate() == nil {
			t.Errorf("%v is accepted", o)
		}
	}
}

func TestOptionsCloneSharesNothing(t *testing.T) {
	r := engine.MustParseRange("1.0.0")
	o := DefaultOptions()
	o.SupportedReplayVersions, o.WorkerTagFilter = &r, engine.TagFilter{Mode: engine.TagTags, Tags: []string{"a"}}
	c := o.Clone()
	c.SupportedReplayVersions.Max = engine.V(9, 0, 0)
	c.WorkerTagFilter.Tags[0] = "z"
	if r.Max != engine.V(1, 0, 0) || o.WorkerTagFilter.Tags[0] != "a" {
		t.Error("a clone shares with its original")
	}
}
