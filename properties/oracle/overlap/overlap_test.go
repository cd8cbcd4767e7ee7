package overlap_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/memprovider/live"
	"github.com/durosim/durosim/properties/oracle"
	"github.com/durosim/durosim/properties/oracle/overlap"
	"github.com/durosim/durosim/properties/undertest"
)

func TestMain(m *testing.M) { sample.Main(m) }

// store makes stores in real time, with the given bugs.
func store(t *testing.T, bugs ...faults.BugID) undertest.Factory {
	t.Helper()
	tables := sample.Must(faults.NewTables(bugs...))(t)
	return undertest.Factory{New: func() (*undertest.Store, error) {
		s := live.Open(memprovider.Options{Rules: tables.Provider})
		now := func() (ms int64) {
			s.Do(func(inner *memprovider.Store) { ms = inner.Now() })
			return ms
		}
		codec := engine.NewJSONCodec("test", engine.Kinds2x(), engine.WorkItemKinds2x())
		return &undertest.Store{Provider: s.Handle(codec, observe.Caller{}), NowMs: now, Close: func() { _ = s.Close() }}, nil
	}}
}

// slowed delays f's stores before and after each call, by less than a millisecond and by a different time for each
// store. Inside a synctest bubble, calls then overlap in the same way on every machine.
func slowed(f undertest.Factory) undertest.Factory {
	made := 0
	return undertest.Factory{New: func() (*undertest.Store, error) {
		s, err := f.New()
		if err != nil {
			return nil, err
		}
		made++
		number, p := made, s.Provider
		pause := func(c call.Call, when string) {
			h := fnv.New32a()
			fmt.Fprint(h, number, when, oracle.Exchange{Call: c})
			time.Sleep(time.Duration(h.Sum32()%800_000) * time.Nanosecond)
		}
		s.Provider = call.Through(p.Name(), p.Version(), true, func(ctx context.Context, c call.Call) call.Answer {
			pause(c, "before")
			a := call.Perform(ctx, p, c)
			pause(c, "after")
			return a
		})
		return s, nil
	}}
}

func TestRightStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		report := sample.Must(overlap.Search(slowed(store(t)), overlap.Options{Programs: 100}))(t)
		if report.Made != 100 || report.Finding != nil {
			t.Errorf("%d programs made, %+v", report.Made, report.Finding)
		}
	})
}

func TestWrongStores(t *testing.T) {
	for _, bug := range []faults.BugID{"provider/check-then-set-lock", "provider/late-arrivals-deleted-by-ack"} {
		synctest.Test(t, func(t *testing.T) {
			report := sample.Must(overlap.Search(slowed(store(t, bug)), overlap.Options{Programs: 1000}))(t)
			if f := report.Finding; f == nil || f.Class != overlap.NoOrder {
				t.Errorf("%s: not seen in %d programs: %+v", bug, report.Made, f)
			} else if f.Calls > 6 {
				t.Errorf("%s: %d calls, more than 6:\n%s", bug, f.Calls, f.Story)
			}
		})
	}
}

// stuck never answers a fetch of activities.
type stuck struct{ engine.Provider }

func (stuck) FetchWorkItem(ctx context.Context, _, _ time.Duration, _ *engine.SessionFetchConfig, _ engine.TagFilter) (*engine.FetchedWork, error) {
	select {}
}

// There is no verdict on a store that never answers, or on one whose calls must not overlap.
func TestNoVerdict(t *testing.T) {
	never := undertest.Factory{New: func() (*undertest.Store, error) {
		s, err := store(t).New()
		s.Provider = stuck{s.Provider}
		return s, err
	}}
	report, err := overlap.Search(never, overlap.Options{Programs: 100, Patience: 20 * time.Millisecond})
	if err != nil || report.Finding == nil || report.Finding.Class != overlap.NoAnswer {
		t.Errorf("%+v, %v; want calls without an answer", report.Finding, err)
	}
	sequential := undertest.Factory{New: func() (*undertest.Store, error) {
		s, err := store(t).New()
		s.Sequential = true
		return s, err
	}}
	if _, err := overlap.Search(sequential, overlap.Options{}); err == nil {
		t.Error("calls overlap that must not")
	}
}

// A mistake that shows without overlapping calls is counted, but is not a finding.
func TestWrongAlone(t *testing.T) {
	report := sample.Must(overlap.Search(store(t, "provider/custom-status-version-kept"), overlap.Options{Programs: 150}))(t)
	if report.Alone == 0 || report.Finding != nil {
		t.Errorf("%d programs are wrong alone, and %+v", report.Alone, report.Finding)
	}
}
