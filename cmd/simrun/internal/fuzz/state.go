package fuzz

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/record"
)

// point is a moment in a run. It holds the time of a change, relative to the start of the run, and the state after the
// change.
type point struct {
	at    time.Duration
	state [sha256.Size]byte
}

// watcher is a monitor that records the moments of a run.
type watcher struct {
	cluster.Monitor
	w       *cluster.World
	start   sim.Time
	now     sim.Time
	calls   map[uint64]string // calls in flight, keyed by number; sorted before each use
	holders map[string]uint32 // node numbers, keyed by lock holder; never iterated over
	points  []point
}

func (m *watcher) WatchHandle(p engine.Provider, codec engine.Codec) engine.Provider {
	return cluster.WatchHandle(m.Monitor, p, codec)
}

// Observe implements engine.Sink.
func (m *watcher) Observe(o *observe.Observation) {
	if o.Kind == observe.LockTaken {
		m.holders[o.Token] = o.Caller.Node
	}
	m.Monitor.Observe(o)
}

func (m *watcher) Record(r *cluster.Record) {
	if m.start == 0 {
		m.start = r.At
	}
	m.now = r.At
	switch r.Kind {
	case record.CallSent, record.Woken:
		m.calls[r.Call] = fmt.Sprintf("%d %v sent", r.Node, r.CallKind)
	case record.Parked:
		m.calls[r.Call] = fmt.Sprintf("%d %v parked", r.Node, r.CallKind)
	case record.CallExecuted:
		m.calls[r.Call] = fmt.Sprintf("%d %v done %v", r.Node, r.CallKind, r.Outcome)
	case record.Answered, record.Unparked:
		delete(m.calls, r.Call)
	}
	m.Monitor.Record(r)
}

func (m *watcher) AfterStep() {
	m.Monitor.AfterStep()
	if m.w.Phase() != cluster.PhaseFaults {
		return
	}
	p := point{at: time.Duration(m.now-m.start) * time.Microsecond, state: sha256.Sum256([]byte(m.text()))}
	if n := len(m.points); n > 0 && m.points[n-1].at == p.at {
		m.points[n-1] = p // changes at the same time form a single moment
		return
	}
	m.points = append(m.points, p)
}

// clocks matches times, in milliseconds since 1970, in stored bytes.
var clocks = regexp.MustCompile(`[0-9]{12,}`)

// text describes the state without its times, tokens and row numbers.
func (m *watcher) text() string {
	var b strings.Builder
	for _, n := range m.w.Nodes() {
		fmt.Fprintf(&b, "node %s %s %v %v %v\n", n.Name, n.Build.Name(), n.Up, n.Draining, n.Paused)
	}
	var calls []string
	for _, c := range m.calls { //tidy:ordered they are sorted below
		calls = append(calls, c)
	}
	slices.Sort(calls)
	fmt.Fprintln(&b, calls)
	m.store(&b, m.w.Store().Snapshot())
	return b.String()
}

func (m *watcher) store(b *strings.Builder, s *memprovider.Snapshot) {
	now := m.w.NowMs()
	holder := func(token string, untilMs int64) uint32 {
		if token == "" || untilMs <= now {
			return 0
		}
		return m.holders[token]
	}
	data := func(d []byte) []byte { return clocks.ReplaceAll(d, []byte("T")) }
	for _, in := range s.Instances {
		fmt.Fprintf(b, "instance %s %v %d held by %d status %v\n", in.Name, in.Created, in.Current, holder(in.LockToken, in.LockUntilMs), in.CustomVersion)
		for _, kv := range append(slices.Clone(in.KVStore), in.KVDelta...) {
			fmt.Fprintf(b, "key %s %v\n", kv.Key, kv.Value != nil)
		}
		for _, ex := range in.Executions {
			fmt.Fprintf(b, "execution %d %s %q %v\n", ex.ID, ex.Status, ex.Output, ex.Pin)
			for _, e := range ex.Events {
				fmt.Fprintf(b, "%d %s\n", e.ID, data(e.Data))
			}
		}
	}
	for _, r := range s.Messages {
		fmt.Fprintf(b, "message %d %d %v %s\n", r.Instance, r.Count, r.VisibleMs <= now, data(r.Data))
	}
	for _, r := range s.Work {
		fmt.Fprintf(b, "work %d/%d/%d %d %v held by %d\n", r.Instance, r.Execution, r.Activity, r.Count, r.VisibleMs <= now, holder(r.LockToken, r.LockUntilMs))
	}
	for _, session := range s.Sessions {
		fmt.Fprintf(b, "session %s %s %v\n", session.ID, session.Owner, session.UntilMs > now)
	}
}
