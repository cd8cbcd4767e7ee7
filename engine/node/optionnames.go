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
	duration("call_deadline", leastDeadline, func(o *Options) *time.Duration { return &o.CallDeadline }),
	duration("dispatcher_long_poll_timeout", 0, func(o *Options) *time.Duration { return &o.DispatcherLongPollTimeout }),
	duration("dispatcher_min_poll_interval", time.Millisecond, func(o *Options) *time.Duration { return &o.DispatcherMinPollInterval }),
	number("kept_executions", 0, maxKept, func(o *Options) *int { return &o.KeptExecutions }),
	number("kept_turns", 0, math.MaxInt32, func(o *Options) *int { return &o.KeptTurns }),
	number("max_attempts", 1, math.MaxUint32, func(o *Options) *uint32 { return &o.MaxAttempts }),
	number("max_sessions_per_runtime", 1, math.MaxInt32, func(o *Options) *int { return &o.MaxSessionsPerRuntime }),
	number("orchestration_concurrency", 0, maxSlots, func(o *Options) *int { return &o.OrchestrationConcurrency }),
	duration("orchestrator_lock_renewal_buffer", 0, func(o *Options) *time.Duration { return &o.OrchestratorLockRenewalBuffer }),
	duration("orchestrator_lock_timeout", time.Millisecond, func(o *Options) *time.Duration { return &o.OrchestratorLockTimeout }),
	duration("session_cleanup_interval", time.Millisecond, func(o *Options) *time.Duration { return &o.SessionCleanupInterval }),
	duration("session_idle_timeout", time.Millisecond, func(o *Options) *time.Duration { return &o.SessionIdleTimeout }),
	duration("session_lock_renewal_buffer", 0, func(o *Options) *time.Duration { return &o.SessionLockRenewalBuffer }),
	duration("session_lock_timeout", time.Millisecond, func(o *Options) *time.Duration { return &o.SessionLockTimeout }),
	option("supported_replay_versions", parseReplayed, formatReplayed, nil,
		func(o *Options) **engine.VersionRange { return &o.SupportedReplayVersions }),
	duration("unregistered_backoff_base", time.Millisecond, func(o *Options) *time.Duration { return &o.UnregisteredBackoffBase }),
	duration("unregistered_backoff_max", time.Millisecond, func(o *Options) *time.Duration { return &o.UnregisteredBackoffMax }),
	number("worker_concurrency", 0, maxSlots, func(o *Options) *int { return &o.WorkerConcurrency }),
	duration("worker_lock_renewal_buffer", 0, func(o *Options) *time.Duration { return &o.WorkerLockRenewalBuffer }),
	duration("worker_lock_timeout", time.Millisecond, func(o *Options) *time.Duration { return &o.WorkerLockTimeout }),
	option("worker_node_id", func(id string) (string, error) { return id, nil }, func(id string) string { return id }, checkNodeID,
		func(o *Options) *string { return &o.WorkerNodeID }),
	option("worker_tag_filter", parseTagFilter, formatTagFilter, checkTagFilter,
		func(o *Options) *engine.TagFilter { return &o.WorkerTagFilter }),
}

// leastDeadline is longer than a call and its answer are on their way when nothing is wrong, which is at most 6ms in a
// simulated cluster: with less, a node gives up calls that nothing delays.
const leastDeadline = 10 * time.Millisecond

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
	err := optionTable[i].set(&changed, value)
	if err == nil {
		err = optionTable[i].check(&changed)
	}
	if err != nil {
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

// option returns the entry of an option that parse and format convert, and of which check, if not nil, says what is wrong.
func option[T any](name string, parse func(string) (T, error), format func(T) string, check func(T) error, field func(*Options) *T) optionEntry {
	return optionEntry{
		name: name,
		set: func(o *Options, value string) (err error) {
			*field(o), err = parse(value)
			return err
		},
		get: func(o *Options) string { return format(*field(o)) },
		check: func(o *Options) error {
			if check == nil {
				return nil
			}
			return check(*field(o))
		},
	}
}

func duration(name string, least time.Duration, field func(*Options) *time.Duration) optionEntry {
	return option(name, parseDuration, time.Duration.String, func(d time.Duration) error {
		if d < least {
			return fmt.Errorf("%v: expected at least %v", d, least)
		}
		if d%time.Millisecond != 0 {
			return fmt.Errorf("%v: expected whole milliseconds", d)
		}
		return nil
	}, field)
}

func parseDuration(value string) (time.Duration, error) {
	d, err := time.ParseDuration(value)
	if err != nil {
		return 0, fmt.Errorf("%q: expected a duration such as 250ms, 5s or 1m30s", value)
	}
	return d, nil
}

func number[N int | uint32](name string, least, most N, field func(*Options) *N) optionEntry {
	parse := func(value string) (N, error) {
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || int64(N(n)) != n {
			return 0, fmt.Errorf("%q: expected a whole number from %d to %d", value, least, most)
		}
		return N(n), nil
	}
	return option(name, parse, func(n N) string { return fmt.Sprint(n) }, func(n N) error {
		if n < least || n > most {
			return fmt.Errorf("%d: expected a whole number from %d to %d", n, least, most)
		}
		return nil
	}, field)
}

// checkNodeID rejects white space, because Set could not parse an id with white space in String's output.
func checkNodeID(id string) error {
	if strings.ContainsFunc(id, unicode.IsSpace) {
		return fmt.Errorf("%q: expected no white space", id)
	}
	return nil
}

func parseReplayed(value string) (*engine.VersionRange, error) {
	if value == "default" {
		return nil, nil
	}
	r, err := engine.ParseRange(value)
	if err != nil {
		return nil, fmt.Errorf("%w; or \"default\" for the build's range", err)
	}
	return &r, nil
}

func formatReplayed(r *engine.VersionRange) string {
	if r == nil {
		return "default"
	}
	return strings.ReplaceAll(r.String(), ", ", ",")
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
	return f, nil
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
