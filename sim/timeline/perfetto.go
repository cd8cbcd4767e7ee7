package timeline

import (
	"bufio"
	"encoding/json"
	"io"
)

// traceEvent is an event in the trace event format, which ui.perfetto.dev and chrome://tracing can display. Times are
// in microseconds.
type traceEvent struct {
	Name  string         `json:"name"`
	Phase string         `json:"ph"`
	Ts    int64          `json:"ts"`
	Dur   int64          `json:"dur,omitempty"`
	Pid   int            `json:"pid"`
	Tid   int            `json:"tid"`
	Scope string         `json:"s,omitempty"`
	Args  map[string]any `json:"args,omitempty"`
}

const (
	clusterPid = 0
	laneTid    = 0
	moment     = 1000 // displayed length, in microseconds, of an event without a duration
)

// Perfetto writes the timeline as trace events. Each node becomes a process, with one row for its builds and states and
// one row for each instance that it worked on. Instances' waits, steps, faults and violations appear under the cluster.
// Each event has an argument "step", whose value can be passed to "replay --at STEP".
func (t *Timeline) Perfetto(w io.Writer) error {
	b := bufio.NewWriter(w)
	first := true
	var failed error
	emit := func(e traceEvent) {
		data, err := json.Marshal(e)
		if err != nil && failed == nil {
			failed = err
		}
		if first {
			b.WriteString("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n")
		} else {
			b.WriteString(",\n")
		}
		first = false
		b.Write(data)
	}
	name := func(pid, tid int, what, name string) {
		emit(traceEvent{Name: what, Phase: "M", Pid: pid, Tid: tid, Args: map[string]any{"name": name}})
	}
	name(clusterPid, laneTid, "process_name", "cluster")
	name(clusterPid, laneTid, "thread_name", "steps and faults")
	for n := range t.Nodes {
		name(n+1, laneTid, "process_name", "node "+t.Nodes[n].Name)
		name(n+1, laneTid, "thread_name", "build")
		for _, s := range t.Nodes[n].Spans {
			emit(traceEvent{Name: t.buildName(s.Build) + stateText(s.State), Phase: "X", Ts: s.FromMs * 1000, Dur: max(s.ToMs-s.FromMs, 0) * 1000, Pid: n + 1, Tid: laneTid, Args: map[string]any{"step": s.Step}})
		}
	}
	for _, m := range t.Marks {
		e := traceEvent{Name: m.Text, Phase: "i", Ts: m.Ms * 1000, Pid: m.Node + 1, Tid: laneTid, Scope: "p", Args: map[string]any{"step": m.Step, "kind": m.Kind}}
		if m.Kind != "fault" {
			e.Scope = "g"
		}
		if m.Instance != "" {
			e.Args["instance"] = m.Instance
		}
		emit(e)
	}
	for i := range t.Instances {
		t.instanceEvents(i, emit, name)
	}
	b.WriteString("\n]}\n")
	if failed != nil {
		return failed
	}
	return b.Flush()
}

// instanceEvents writes the events of instance i. The instance has a row under each node that worked on it.
func (t *Timeline) instanceEvents(i int, emit func(traceEvent), name func(pid, tid int, what, name string)) {
	in := &t.Instances[i]
	named := make([]bool, len(t.Nodes)+1)
	for _, bar := range in.Bars {
		pid := bar.Node + 1
		if !named[pid] {
			named[pid] = true
			name(pid, i+1, "thread_name", in.ID)
		}
		e := traceEvent{Name: bar.Kind, Phase: "X", Ts: bar.FromMs * 1000, Dur: max((bar.ToMs-bar.FromMs)*1000, moment), Pid: pid, Tid: i + 1, Args: map[string]any{"step": bar.Step, "text": bar.Text, "build": t.buildName(bar.Build)}}
		if bar.Kind == "activity" {
			e.Name = bar.Text
		}
		emit(e)
	}
}

func (t *Timeline) buildName(i int) string {
	if i < 0 || i >= len(t.Builds) {
		return ""
	}
	return t.Builds[i]
}

func stateText(s NodeState) string {
	if s == Up {
		return ""
	}
	return " " + string(s)
}
