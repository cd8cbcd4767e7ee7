package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/sim/cluster"
)

// inMemory makes a store in memory, changed by change, and counts in closed how often it is closed.
func inMemory(closed *int, change func(s *cluster.ForeignStore)) func(int64) (*cluster.ForeignStore, error) {
	return func(startMs int64) (*cluster.ForeignStore, error) {
		m := memprovider.New(memprovider.Options{StartMs: startMs})
		s := &cluster.ForeignStore{
			Provider: m.Handle(engine.ShippedBuilds()[1].Codec, observe.Caller{}),
			SetNow:   func(ms int64) error { m.SetNow(ms); return nil },
			Close:    func() { *closed++ },
		}
		change(s)
		return s, nil
	}
}

// TestStoreOfAnother checks the requirements on a caller's store, and what happens to a run whose store fails.
func TestStoreOfAnother(t *testing.T) {
	closed := 0
	inMemory := func(change func(s *cluster.ForeignStore)) func(int64) (*cluster.ForeignStore, error) {
		return inMemory(&closed, change)
	}
	right := func(*cluster.ForeignStore) {}
	withoutAdmin := func(s *cluster.ForeignStore) { s.Provider = unmanaged{s.Provider} }
	wrong := errors.New("the disk is full")
	const small = "# one order\nnodes A run 1.5.0\ninstance o runs Counter at 1s\n"
	for _, c := range []struct {
		name, text, want string
		store            func(int64) (*cluster.ForeignStore, error)
	}{
		{"right", small, "", inMemory(right)},
		{"callers' clocks", "# t\nnodes A run 1.5.0\nstore clock callers\n", "must be durosim's own", inMemory(right)},
		{"a bug of a store", "# t\nnodes A run 1.5.0\nbug provider/filter-ignored\n", "bug provider/filter-ignored is a bug of durosim's own store", inMemory(right)},
		{"no store", small, "the disk is full", func(int64) (*cluster.ForeignStore, error) { return nil, wrong }},
		{"no provider", small, "needs a Provider and SetNow", inMemory(func(s *cluster.ForeignStore) { s.Provider = nil })},
		{"no clock", small, "needs a Provider and SetNow", inMemory(func(s *cluster.ForeignStore) { s.SetNow = nil })},
		{"no management", small + "  delete at 3s\n", "the plan would delete instance o, but the store has no management surface", inMemory(withoutAdmin)},
		{"no management to sweep with", small + "probe p reads 1.5.0 sweeps instances every 5s times 2\n", "probe p sweeps instances, but the store has no management surface", inMemory(withoutAdmin)},
		{"no management needed", small, "", inMemory(withoutAdmin)},
		{"a clock that fails", small, "seed 1: the store: at 15ms: clock_set {\"now_ms\":1735689600015}: the disk is full", inMemory(func(s *cluster.ForeignStore) { s.SetNow = func(int64) error { return wrong } })},
		{"a broken line", small, "seed 1: the store: at 15ms: clock_set {\"now_ms\":1735689600015}: the disk is full", inMemory(func(s *cluster.ForeignStore) { s.Broken = func() error { return wrong } })},
	} {
		r, err := cluster.Run(cluster.Config{Plan: planOf(t, c.text), Seed: 1, Store: c.store})
		switch {
		case c.want == "" && (err != nil || len(r.Violations) > 0 || r.FinalStates[0].Status != engine.StatusCompleted):
			t.Errorf("%s: %v, %+v", c.name, err, r)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if closed != 6 {
		t.Errorf("%d stores were closed, want those of 6 runs", closed)
	}
}

// panicking panics in each ack of a turn.
type panicking struct{ engine.Provider }

func (panicking) AckOrchestrationItem(context.Context, engine.OrchestrationAck) error { panic("oops") }

// TestStoreThatCrashes checks that a panic of the store, and the end of its process, violate provider, with the call, and
// that a store that has panicked is not asked to close.
func TestStoreThatCrashes(t *testing.T) {
	for _, c := range []struct {
		want   string
		closed int
		change func(s *cluster.ForeignStore)
	}{
		{`^ack_orchestration_item \{"lock_token":.* has no valid answer: the provider panicked at cluster_test\.panicking\.AckOrchestrationItem \(foreign_test\.go:[0-9]+\): oops$`, 0, func(s *cluster.ForeignStore) {
			s.Provider = panicking{s.Provider}
		}},
		{`^clock_set \{"now_ms":[0-9]+\} has no valid answer: the provider's process ended: exit status 3$`, 1, func(s *cluster.ForeignStore) {
			s.Broken = func() error { return fmt.Errorf("%w: exit status 3", engine.ErrEnded) }
		}},
	} {
		closed := 0
		r := sample.Must(cluster.Run(cluster.Config{Plan: planOf(t, "# one order\nnodes A run 1.5.0\ninstance o runs Counter at 1s\n"), Seed: 1, Store: inMemory(&closed, c.change)}))(t)
		if len(r.Violations) != 1 || r.Violations[0].Property != cluster.PropertyProvider || !regexp.MustCompile(c.want).MatchString(r.Violations[0].Message) {
			t.Errorf("%+v, want %s", r.Violations, c.want)
		}
		if closed != c.closed {
			t.Errorf("closed %d times, want %d", closed, c.closed)
		}
	}
}

type unmanaged struct{ engine.Provider }

func (unmanaged) Admin() engine.ProviderAdmin { return nil }

// countsTwice counts each delivery of work twice.
type countsTwice struct{ engine.Provider }

func (p countsTwice) FetchWorkItem(ctx context.Context, lock, poll time.Duration, session *engine.SessionFetchConfig, tags engine.TagFilter) (*engine.FetchedWork, error) {
	got, err := p.Provider.FetchWorkItem(ctx, lock, poll, session, tags)
	if got != nil {
		got.AttemptCount *= 2
	}
	return got, err
}

// TestStoreThatCannotBeFollowed checks that without a referee the run ends where its own store cannot follow.
func TestStoreThatCannotBeFollowed(t *testing.T) {
	plan := planOf(t, "# t\nnodes A run 1.5.0\ninstance o runs Chain at 1s\n")
	store := inMemory(new(int), func(s *cluster.ForeignStore) { s.Provider = countsTwice{s.Provider} })
	r := sample.Must(cluster.Run(cluster.Config{Plan: plan, Seed: 1, Store: store}))(t)
	if len(r.Violations) != 1 || r.Violations[0].Property != "store-follows" || !strings.Contains(r.Violations[0].Message, "attempt 2 of the activity, 1 in its own store") {
		t.Errorf("%+v", r.Violations)
	}
}
