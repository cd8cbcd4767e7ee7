package cluster_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/record"
)

// watcher is a monitor made of functions; those that are nil do nothing.
type watcher struct {
	w          *cluster.World
	record     func(w *cluster.World, r *cluster.Record)
	observe    func(w *cluster.World, o *observe.Observation)
	afterStep  func(w *cluster.World)
	recoveryMs int64 // how long recovery lasts
}

func (m *watcher) of(w *cluster.World) cluster.Monitor {
	m.w = w
	return m
}

func (m *watcher) Record(r *cluster.Record) {
	if m.record != nil {
		m.record(m.w, r)
	}
}
func (m *watcher) Observe(o *observe.Observation) {
	if m.observe != nil {
		m.observe(m.w, o)
	}
}
func (m *watcher) AfterStep() {
	if m.afterStep != nil {
		m.afterStep(m.w)
	}
}
func (m *watcher) Open(nowMs int64) (bool, int64) {
	m.recoveryMs -= 1000
	return m.recoveryMs > 0, nowMs + 1
}
func (m *watcher) Finish()                         {}
func (m *watcher) Violations() []cluster.Violation { return nil }
func (m *watcher) Coverage() []cluster.Point       { return nil }

func watch(t *testing.T, plan *plan.Plan, seed uint64, m watcher) *cluster.Result {
	t.Helper()
	return sample.Must(cluster.Run(cluster.Config{Plan: plan, Seed: seed, Monitor: m.of}))(t)
}

// stormy is a plan in which nodes are stopped, started, frozen and changed while they crash and freeze by themselves.
func stormy() *plan.Plan {
	p := upgradePlan(24, faults.Plan{Rates: []faults.Rate{
		{Kind: faults.PauseNode, Num: 1, Den: 4}, {Kind: faults.CrashAfterFetch, Num: 1, Den: 12},
		{Kind: faults.CrashBeforeAck, Num: 1, Den: 12}, {Kind: faults.AnswerLost, Num: 1, Den: 20},
		{Kind: faults.CallDelayed, Num: 1, Den: 20}, {Kind: faults.RetryableError, Num: 1, Den: 10},
		{Kind: faults.DuplicateRequest, Num: 1, Den: 2}, {Kind: faults.LateActivity, Num: 1, Den: 10},
	}})
	p.Name = "stormy"
	p.Nodes = append(p.Nodes, plan.Node{Name: "D", Build: "2.0.0", Absent: true}, plan.Node{Name: "E", Build: "2.0.0", Absent: true})
	p.Schedule = nil
	verbs := []plan.Verb{plan.VerbPause, plan.VerbUpgrade, plan.VerbStop, plan.VerbStart, plan.VerbPause, plan.VerbCrash, plan.VerbStart, plan.VerbStop, plan.VerbRollback}
	for i := range 45 {
		s := plan.Step{At: time.Duration(i+1) * 700 * time.Millisecond, Verb: verbs[i/3%len(verbs)], Node: []string{"A", "B", "C"}[i%3]}
		switch s.Verb {
		case plan.VerbPause:
			s.For = 3 * time.Second
		case plan.VerbUpgrade:
			s.Build = "2.0.0"
		case plan.VerbRollback:
			s.Build = "1.5.0"
		}
		p.Schedule = append(p.Schedule, s)
	}
	p.Schedule = append(p.Schedule,
		plan.Step{At: 10 * time.Second, Verb: plan.VerbAdd, Node: "D"},
		plan.Step{At: 33 * time.Second, Verb: plan.VerbRemove, Node: "C"})
	return p
}

// TestNodesObeyTheSchedule: a node that was told to stop or crash stays away until it is told to start or recovery
// needs it, one that is told to start does so within half a second, whatever it is about to do by itself, and one that
// stops is not frozen.
func TestNodesObeyTheSchedule(t *testing.T) {
	for seed := range uint64(40) {
		wanted := map[string]bool{"A": true, "B": true, "C": true}
		told := map[string]int64{} // the time at which it was told to start, while it is down
		watch(t, stormy(), seed, watcher{recoveryMs: 60_000, record: func(w *cluster.World, r *cluster.Record) {
			at := fmt.Sprintf("seed %d, %d ms", seed, r.AtMs-w.StartMs())
			switch r.Kind {
			case record.Scheduled:
				name := r.Schedule.Node
				switch r.Schedule.Verb {
				case plan.VerbStop, plan.VerbCrash, plan.VerbRemove:
					wanted[name] = false
					delete(told, name)
				case plan.VerbStart, plan.VerbAdd, plan.VerbUpgrade, plan.VerbRollback:
					wanted[name] = true
					if !w.Node(r.Node).Up {
						told[name] = r.AtMs
					}
				}
			case record.NodeStarted:
				name := w.Node(r.Node).Name
				if !wanted[name] {
					t.Errorf("%s: %s starts, and nobody has told it to", at, name)
				}
				if since, ok := told[name]; ok && r.AtMs > since+501 {
					t.Errorf("%s: %s starts %d ms after it was told to", at, name, r.AtMs-since)
				}
				delete(told, name)
			case record.PhaseBegan:
				for _, n := range w.Nodes() {
					if want := n.Name != "C" && n.Name != "E"; n.Core != want {
						t.Errorf("node %s: core is %v, want %v", n.Name, n.Core, want)
					}
					if n.Core && !n.Up && r.Phase == cluster.PhaseRecovery {
						wanted[n.Name], told[n.Name] = true, r.AtMs
					}
				}
			}
			for _, n := range w.Nodes() {
				if n.Draining && n.Paused {
					t.Fatalf("%s: %s stops and is frozen at the same time (%s)", at, n.Name, r.Kind)
				}
			}
		}})
	}
}

// TestAnUpgradeThatIsKilledComesBack checks that a node whose graceful stop takes too long is killed, and starts its
// new build.
func TestAnUpgradeThatIsKilledComesBack(t *testing.T) {
	plan := &plan.Plan{
		Name:      "kill",
		Nodes:     []plan.Node{{Name: "N", Build: "1.5.0", Options: []plan.Setting{{Name: "worker_lock_timeout", Value: "60s"}}}},
		Instances: []plan.Instance{{ID: "leaf", Orchestration: "Leaf"}},
		Schedule:  []plan.Step{{At: 5 * time.Second, Verb: plan.VerbUpgrade, Node: "N", Build: "2.0.0"}},
		Faults:    faults.Plan{Rates: []faults.Rate{{Kind: faults.LateActivity, Num: 1, Den: 1}}}, FaultPhase: 40 * time.Second,
	}
	killed, back := false, false
	watch(t, plan, 1, watcher{record: func(w *cluster.World, r *cluster.Record) {
		killed = killed || r.Kind == record.NodeCrashed
		back = back || killed && r.Kind == record.NodeStarted && w.Phase() == cluster.PhaseFaults && w.Node(1).Build.Name() == "2.0.0"
	}})
	if !killed || !back {
		t.Errorf("killed %v, back with its new build before recovery %v; want both", killed, back)
	}
}

// TestParkedFetchesMeetFaults checks that each try of a parked fetch can be refused, not only the first.
func TestParkedFetchesMeetFaults(t *testing.T) {
	plan := upgradePlan(8, faults.Plan{Rates: []faults.Rate{{Kind: faults.RetryableError, Num: 1, Den: 5}}})
	woken := map[uint64]bool{}
	tries, refused := 0, 0
	watch(t, plan, 1, watcher{record: func(w *cluster.World, r *cluster.Record) {
		switch {
		case w.Phase() != cluster.PhaseFaults:
		case r.Kind == record.Woken:
			woken[r.Call] = true
		case r.Kind == record.CallExecuted && woken[r.Call]:
			tries++
			if r.Outcome == observe.OutcomeRetryable {
				refused++
			}
		}
	}})
	if refused < tries/10 || refused > tries/3 {
		t.Errorf("%d of %d fetches that were woken are refused, want about a fifth", refused, tries)
	}
}

// TestParkedFetchesDropOrphans: parking hides nothing that a poll would do: a queue message for an instance that is not
// there is dropped though no fetch finds anything.
func TestParkedFetchesDropOrphans(t *testing.T) {
	plan := &plan.Plan{Name: "orphan", Nodes: []plan.Node{{Name: "N", Build: "1.5.0"}}, FaultPhase: 5 * time.Second}
	sent, dropped := false, int64(0)
	watch(t, plan, 1, watcher{
		recoveryMs: 5000,
		afterStep: func(w *cluster.World) {
			if sent || w.Phase() != cluster.PhaseRecovery { // recovery begins at 5 s, and the next event is its first tick at 6 s
				return
			}
			sent = true
			clients := w.Provider(w.Builds()[0].Codec, observe.Caller{})
			sample.OK(t, clients.EnqueueForOrchestrator(t.Context(), engine.QueueMessageItem{Instance: "nobody", Name: "q"}, 0))
		},
		observe: func(w *cluster.World, o *observe.Observation) {
			if o.Kind == observe.RowRemoved && o.Reason == observe.RemovedOrphan {
				dropped = o.AtMs - w.StartMs()
			}
		},
	})
	if !sent || dropped == 0 || dropped > 6200 {
		t.Errorf("sent %v, dropped at %d ms, want within a poll", sent, dropped)
	}
}

// TestRegisterTwice: registering what a node has changes nothing, be it that its build ships it only after an upgrade.
func TestRegisterTwice(t *testing.T) {
	p := upgradePlan(4, faults.None())
	for _, h := range []string{"Leaf@1.0.0", "ProcessOrder@2.0.0"} {
		p.Schedule = append(p.Schedule, plan.Step{At: time.Second, Verb: plan.VerbRegister, Node: "A", Handler: h})
	}
	changes := 0
	watch(t, p, 1, watcher{record: func(_ *cluster.World, r *cluster.Record) {
		if r.Kind == record.HandlersChanged && strings.HasSuffix(r.Text, "is registered") {
			changes++
		}
	}})
	if changes != 4 { // two by the steps, two when the upgraded node starts
		t.Errorf("%d registrations, want 4", changes)
	}
}

func TestClientsTryForLong(t *testing.T) {
	plan := upgradePlan(1, faults.Plan{Rates: []faults.Rate{{Kind: faults.RequestLost, Num: 1, Den: 1}}})
	plan.Schedule, plan.FaultPhase = nil, 1200*time.Second
	if r := watch(t, plan, 1, watcher{recoveryMs: 60_000}); r.FinalStates[0].Status != engine.StatusCompleted {
		t.Errorf("the instance is %q, want Completed", r.FinalStates[0].Status)
	}
}

// TestHandlersThatFail checks that a mistake in a user's registration is reported before the run.
func TestHandlersThatFail(t *testing.T) {
	_, err := cluster.Run(cluster.Config{Plan: upgradePlan(1, faults.None()), Handlers: func(_ *node.Registry, b *engine.Build) error {
		if b.Name() == "2.0.0" {
			return errors.New("no such handler")
		}
		return nil
	}})
	if err == nil || !strings.Contains(err.Error(), "node A: handlers of build 2.0.0: no such handler") {
		t.Errorf("got error %v", err)
	}
}
