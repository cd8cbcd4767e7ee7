package realnode

import (
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/program"
)

// startCommand holds the fields of the start command.
type startCommand struct {
	NowMs          int64           `json:"now_ms"`
	Seed           uint64          `json:"seed"`
	Options        map[string]any  `json:"options"`
	Orchestrations []orchestration `json:"orchestrations"`
	Activities     []string        `json:"activities"`
}

type orchestration struct {
	Name    string      `json:"name"`
	Version string      `json:"version"`
	Body    []statement `json:"body"`
}

// statement is a program.Node in the form that the host expects.
type statement struct {
	Op      string      `json:"op"`
	Name    string      `json:"name,omitempty"`
	Text    string      `json:"text,omitempty"`
	Session string      `json:"session,omitempty"`
	Tag     string      `json:"tag,omitempty"`
	ID      string      `json:"id,omitempty"`
	Version string      `json:"version,omitempty"`
	Size    int         `json:"size,omitempty"`
	DelayMs int64       `json:"delay_ms,omitempty"`
	Count   int         `json:"count,omitempty"`
	Body    []statement `json:"body,omitempty"`
	Catch   []statement `json:"catch,omitempty"`
}

func startOf(c *cluster.MachineConfig, nowMs int64) *startCommand {
	start := &startCommand{
		NowMs: nowMs, Seed: c.Seed, Options: options(&c.Options), Orchestrations: []orchestration{},
		Activities: pretty.Texts(program.Activities(), func(a program.Activity) string { return a.Name }),
	}
	for i := range c.Programs {
		p := &c.Programs[i]
		start.Orchestrations = append(start.Orchestrations, orchestration{p.Name, p.At(), statements(p.Body)})
	}
	return start
}

func statements(list []program.Node) []statement {
	var out []statement
	for i := range list {
		n := &list[i]
		out = append(out, statement{
			Op: string(n.Op), Name: n.Name, Text: n.Text, Session: n.Session, Tag: n.Tag, ID: n.ID, Version: n.Version, Size: n.Size, DelayMs: n.Delay.Milliseconds(), Count: n.Count,
			Body: statements(n.Kids), Catch: statements(n.Else),
		})
	}
	return out
}

// options returns the runtime's options, keyed by their names in docs/contract/runtime.md#r4. It omits the call
// deadline, which belongs to the network rather than the runtime.
func options(o *node.Options) map[string]any {
	ms := func(d time.Duration) int64 { return d.Milliseconds() }
	out := map[string]any{
		"dispatcher_min_poll_interval_ms":       ms(o.DispatcherMinPollInterval),
		"dispatcher_long_poll_timeout_ms":       ms(o.DispatcherLongPollTimeout),
		"orchestration_concurrency":             o.OrchestrationConcurrency,
		"worker_concurrency":                    o.WorkerConcurrency,
		"orchestrator_lock_timeout_ms":          ms(o.OrchestratorLockTimeout),
		"orchestrator_lock_renewal_buffer_ms":   ms(o.OrchestratorLockRenewalBuffer),
		"worker_lock_timeout_ms":                ms(o.WorkerLockTimeout),
		"worker_lock_renewal_buffer_ms":         ms(o.WorkerLockRenewalBuffer),
		"unregistered_backoff_base_ms":          ms(o.UnregisteredBackoffBase),
		"unregistered_backoff_max_ms":           ms(o.UnregisteredBackoffMax),
		"max_attempts":                          o.MaxAttempts,
		"activity_cancellation_grace_period_ms": ms(o.ActivityCancellationGracePeriod),
		"session_lock_timeout_ms":               ms(o.SessionLockTimeout),
		"session_lock_renewal_buffer_ms":        ms(o.SessionLockRenewalBuffer),
		"session_idle_timeout_ms":               ms(o.SessionIdleTimeout),
		"session_cleanup_interval_ms":           ms(o.SessionCleanupInterval),
		"max_sessions_per_runtime":              o.MaxSessionsPerRuntime,
	}
	if r := o.SupportedReplayVersions; r != nil {
		out["supported_replay_versions"] = map[string]string{"min": r.Min.String(), "max": r.Max.String()}
	}
	if o.WorkerNodeID != "" {
		out["worker_node_id"] = o.WorkerNodeID
	}
	switch f := o.WorkerTagFilter; f.Mode {
	case engine.TagTags:
		out["worker_tag_filter"] = map[string][]string{"Tags": f.Tags}
	case engine.TagDefaultAnd:
		out["worker_tag_filter"] = map[string][]string{"DefaultAnd": f.Tags}
	case engine.TagAny:
		out["worker_tag_filter"] = "Any"
	case engine.TagNone:
		out["worker_tag_filter"] = "None"
	}
	return out
}
