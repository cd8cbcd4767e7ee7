package node

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/durosim/durosim/engine"
)

// optionEntry describes how a named option is parsed, printed and validated.
type optionEntry struct {
	name  string
	set   func(o *Options, value string) error
	get   func(o *Options) string
	check func(o *Options) error
}

// optionTable lists all options, sorted by name.
var optionTable = []optionEntry{
	duration("activity_cancellation_grace_period", 0, func(o *Options) *time.Duration { return &o.ActivityCancellationGracePeriod }),
	duration("call_deadline", time.Millisecond, func(o *Options) *time.Duration { return &o.CallDeadline }),
	duration("dispatcher_long_poll_timeout", 0, func(o *Options) *time.Duration { return &o.DispatcherLongPollTimeout }),
	duration("dispatcher_min_poll_interval", time.Millisecond, func(o *Options) *time.Duration { return &o.DispatcherMinPollInterval }),
	number("kept_executions", 0, maxKept, func(o *Options) *int { return &o.KeptExecutions }),
	number("kept_turns", 0, math.MaxInt32, func(o *Options) *int { return &o.KeptTurns }),
	{
		name: "max_attempts",
		set: func(o *Options, value string) error {
			n, err := strconv.ParseUint(value, 10, 32)
			if err != nil || n == 0 {
				return fmt.Errorf("%q: expected a whole number from 1 to %d", value, uint32(math.MaxUint32))
			}
			o.MaxAttempts = uint32(n)
			return nil
		},
		get: func(o *Options) string { return strconv.FormatUint(uint64(o.MaxAttempts), 10) },
		check: func(o *Options) error {
			if o.MaxAttempts == 0 {
				return fmt.Errorf("0: expected at least 1")
			}
			return nil
		},
	},
	number("max_sessions_per_runtime", 1, math.MaxInt32, func(o *Options) *int { return &o.MaxSessionsPerRuntime }),
	number("orchestration_concurrency", 0, maxSlots, func(o *Options) *int { return &o.OrchestrationConcurrency }),
	duration("orchestrator_lock_renewal_buffer", 0, func(o *Options) *time.Duration { return &o.OrchestratorLockRenewalBuffer }),
	duration("orchestrator_lock_timeout", time.Millisecond, func(o *Options) *time.Duration { return &o.OrchestratorLockTimeout }),
	duration("session_cleanup_interval", time.Millisecond, func(o *Options) *time.Duration { return &o.SessionCleanupInterval }),
	duration("session_idle_timeout", time.Millisecond, func(o *Options) *time.Duration { return &o.SessionIdleTimeout }),
	duration("session_lock_renewal_buffer", 0, func(o *Options) *time.Duration { return &o.SessionLockRenewalBuffer }),
	duration("session_lock_timeout", time.Millisecond, func(o *Options) *time.Duration { return &o.SessionLockTimeout }),
	{
		name: "supported_replay_versions",
		set:  setRange,
		get: func(o *Options) string {
			if o.SupportedReplayVersions == nil {
				return "default"
			}
			return strings.ReplaceAll(o.SupportedReplayVersions.String(), ", ", ",")
		},
	},
	duration("unregistered_backoff_base", time.Millisecond, func(o *Options) *time.Duration { return &o.UnregisteredBackoffBase }),
	duration("unregistered_backoff_max", time.Millisecond, func(o *Options) *time.Duration { return &o.UnregisteredBackoffMax }),
	number("worker_concurrency", 0, maxSlots, func(o *Options) *int { return &o.WorkerConcurrency }),
	duration("worker_lock_renewal_buffer", 0, func(o *Options) *time.Duration { return &o.WorkerLockRenewalBuffer }),
	duration("worker_lock_timeout", time.Millisecond, func(o *Options) *time.Duration { return &o.WorkerLockTimeout }),
	{
		name: "worker_node_id",
		set: func(o *Options, value string) error {
			o.WorkerNodeID = value
			return checkNodeID(value)
		},
		get:   func(o *Options) string { return o.WorkerNodeID },
		check: func(o *Options) error { return checkNodeID(o.WorkerNodeID) },
	},
	{
		name: "worker_tag_filter",
		set: func(o *Options, value string) error {
			f, err := parseTagFilter(value)
			if err == nil {
				o.WorkerTagFilter = f
			}
			return err
		},
		get:   func(o *Options) string { return formatTagFilter(o.WorkerTagFilter) },
		check: func(o *Options) error { return checkTagFilter(o.WorkerTagFilter) },
	},
}

// OptionNames returns the names of all options, sorted. The caller owns the slice.
func OptionNames() []string {
	names := make([]string, len(optionTable))
	for i, d := range optionTable {
		names[i] = d.name
	}
	return names
}

// Set sets the option with the given name. Names are those in docs/contract/runtime.md#r4, except that
// unregistered_backoff is split into unregistered_backoff_base and unregistered_backoff_max. Durations use Go syntax
// ("5s"), versions are a range (">=1.0.0,<=2.0.0") or "default", and tags are DefaultOnly, Any, None, Tags(a,b) or
// DefaultAnd(a,b). If Set returns an error, nothing has changed. Rules that involve several options are checked by
// Validate.
func (o *Options) Set(name, value string) error {
	i, found := slices.BinarySearchFunc(optionTable, name, func(d optionEntry, name string) int { return strings.Compare(d.name, name) })
	if !found {
		return fmt.Errorf("unknown option %q: expected one of %s", name, strings.Join(OptionNames(), ", "))
	}
	changed := o.Clone()
	if err := optionTable[i].set(&changed, value); err != nil {
		return fmt.Errorf("option %s: %w", name, err)
	}
	*o = changed
	return nil
}

// Get returns the value of the named option in the form that Set accepts, and whether the option exists.
func (o Options) Get(name string) (string, bool) {
	for _, d := range optionTable {
		if d.name == name {
			return d.get(&o), true
		}
	}
	return "", false
}

// String lists the options that differ from their defaults as name=value, sorted by name and separated by spaces.
func (o Options) String() string {
	defaults := DefaultOptions()
	var parts []string
	for _, d := range optionTable {
		if value := d.get(&o); value != d.get(&defaults) {
			parts = append(parts, d.name+"="+value)
		}
	}
	return strings.Join(parts, " ")
}

func duration(name string, least time.Duration, field func(*Options) *time.Duration) optionEntry {
	check := func(d time.Duration) error {
		if d < least {
			return fmt.Errorf("%v: expected at least %v", d, least)
		}
		if d%time.Millisecond != 0 {
			return fmt.Errorf("%v: expected whole milliseconds", d)
		}
		return nil
	}
	return optionEntry{
		name: name,
		set: func(o *Options, value string) error {
			d, err := time.ParseDuration(value)
			if err != nil {
				return fmt.Errorf("%q: expected a duration such as 250ms, 5s or 1m30s", value)
			}
			*field(o) = d
			return check(d)
		},
		get:   func(o *Options) string { return field(o).String() },
		check: func(o *Options) error { return check(*field(o)) },
	}
}

func number(name string, least, most int, field func(*Options) *int) optionEntry {
	check := func(n int) error {
		if n < least || n > most {
			return fmt.Errorf("%d: expected a whole number from %d to %d", n, least, most)
		}
		return nil
	}
	return optionEntry{
		name: name,
		set: func(o *Options, value string) error {
			n, err := strconv.Atoi(value)
			if err != nil {
				return fmt.Errorf("%q: expected a whole number from %d to %d", value, least, most)
			}
			*field(o) = n
			return check(n)
		},
		get:   func(o *Options) string { return strconv.Itoa(*field(o)) },
		check: func(o *Options) error { return check(*field(o)) },
	}
}

// checkNodeID rejects white space, because Set could not parse an id with white space in String's output.
func checkNodeID(id string) error {
	if strings.ContainsFunc(id, unicode.IsSpace) {
		return fmt.Errorf("%q: expected no white space", id)
	}
	return nil
}

func setRange(o *Options, value string) error {
	if value == "default" {
		o.SupportedReplayVersions = nil
		return nil
	}
	r, err := engine.ParseRange(value)
	if err != nil {
		return fmt.Errorf("%w; or \"default\" for the build's range", err)
	}
	o.SupportedReplayVersions = &r
	return nil
}

var tagModeNames = []string{"DefaultOnly", "Tags", "DefaultAnd", "Any", "None"}

func parseTagFilter(text string) (engine.TagFilter, error) {
	name, rest, hasSet := strings.Cut(text, "(")
	mode := slices.Index(tagModeNames, name)
	withTags := mode == int(engine.TagTags) || mode == int(engine.TagDefaultAnd)
	if mode < 0 || hasSet != withTags || hasSet && !strings.HasSuffix(rest, ")") {
		return engine.TagFilter{}, fmt.Errorf("%q: expected DefaultOnly, Any, None, Tags(a,b) or DefaultAnd(a,b)", text)
	}
	f := engine.TagFilter{Mode: engine.TagMode(mode)}
	if withTags {
		f.Tags = strings.Split(strings.TrimSuffix(rest, ")"), ",")
		slices.Sort(f.Tags)
		f.Tags = slices.Compact(f.Tags)
	}
	return f, checkTagFilter(f)
}

func formatTagFilter(f engine.TagFilter) string {
	if int(f.Mode) >= len(tagModeNames) {
		return fmt.Sprintf("TagMode(%d)", f.Mode)
	}
	text := tagModeNames[f.Mode]
	if len(f.Tags) > 0 {
		text += "(" + strings.Join(f.Tags, ",") + ")"
	}
	return text
}

func checkTagFilter(f engine.TagFilter) error {
	if int(f.Mode) >= len(tagModeNames) {
		return fmt.Errorf("%s: no such mode", formatTagFilter(f))
	}
	least, most := 0, 0
	if f.Mode == engine.TagTags || f.Mode == engine.TagDefaultAnd {
		least, most = 1, engine.MaxWorkerTags
	}
	if len(f.Tags) < least || len(f.Tags) > most {
		return fmt.Errorf("%s: expected %d to %d tags, have %d", formatTagFilter(f), least, most, len(f.Tags))
	}
	if !slices.IsSorted(f.Tags) {
		return fmt.Errorf("%s: expected sorted tags", formatTagFilter(f))
	}
	for _, t := range f.Tags {
		if t == "" || len(t) > engine.MaxTagNameBytes {
			return fmt.Errorf("%s: expected tags of 1 to %d bytes", formatTagFilter(f), engine.MaxTagNameBytes)
		}
	}
	return nil
}
