package undertest_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/properties/undertest"
)

// young has only two methods so far. The others come from a nil interface.
type young struct {
	engine.Provider
	inner engine.Provider
}

func (y *young) Name() string                { return "young" }
func (y *young) Admin() engine.ProviderAdmin { return nil }
func (y *young) EnqueueForWorker(ctx context.Context, item engine.WorkItem) error {
	return y.inner.EnqueueForWorker(ctx, item)
}
func (y young) CleanupOrphanedSessions(context.Context, time.Duration) (int, error) { return 0, nil }

func made(t *testing.T, s undertest.Store) *undertest.Store {
	t.Helper()
	return sample.Must(undertest.Factory{New: func() (*undertest.Store, error) { return &s, nil }}.Make())(t)
}

func inMemory() engine.Provider {
	return memprovider.New(memprovider.Options{}).Handle(engine.ShippedBuilds()[1].Codec, observe.Caller{})
}

// offered returns the methods that a provider does not report as missing.
func offered(p engine.Provider) []string {
	var list []string
	for _, c := range call.All() {
		if call.Kind(c) == observe.CallNone || call.Kind(c) == observe.CallAdmin && p.Admin() == nil {
			continue
		}
		if a := call.Perform(context.Background(), p, c); !errors.Is(a.Err, engine.ErrUnsupported) {
			list = append(list, call.Method(c))
		}
	}
	return list
}

// TestEmbeddedNil checks that a Go provider that embeds a nil interface has only the methods that it defines itself.
func TestEmbeddedNil(t *testing.T) {
	s := made(t, undertest.Store{Provider: &young{inner: inMemory()}})
	want := []string{"enqueue_for_worker", "cleanup_orphaned_sessions"}
	if diff := cmp.Diff(want, offered(s.Provider)); diff != "" {
		t.Errorf("offered: -want +got:\n%s", diff)
	}
	if s.Provider.Name() != "young" || s.Provider.Version() != "0" || len(s.Lacks()) != 17 {
		t.Errorf("%s %s lacks %v", s.Provider.Name(), s.Provider.Version(), s.Lacks())
	}
}

func TestDeclared(t *testing.T) {
	want := []string{"read", "get_queue_depths"}
	s := made(t, undertest.Store{Provider: inMemory(), Methods: want})
	if diff := cmp.Diff(want, offered(s.Provider)); diff != "" {
		t.Errorf("offered: -want +got:\n%s", diff)
	}
	if left := s.LeftOut(); !slices.ContainsFunc(left, func(l string) bool { return strings.Contains(l, "fetch_work_item, ack_work_item") }) {
		t.Errorf("left out: %q", left)
	}
	_, err := undertest.Factory{New: func() (*undertest.Store, error) {
		return &undertest.Store{Provider: inMemory(), Methods: []string{"reed"}}, nil
	}}.Make()
	if err == nil || !strings.Contains(err.Error(), `no method of a provider is named "reed"`) {
		t.Errorf("an unknown name: %v", err)
	}
}

// TestWhole checks that a provider that has every method is left unchanged.
func TestWhole(t *testing.T) {
	p := inMemory()
	if s := made(t, undertest.Store{Provider: p}); s.Provider != p || len(s.Lacks()) != 0 {
		t.Errorf("lacks %v", s.Lacks())
	}
}
