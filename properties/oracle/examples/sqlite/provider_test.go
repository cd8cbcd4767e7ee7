package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/properties/conformance"
	"github.com/durosim/durosim/properties/oracle"
	"github.com/durosim/durosim/properties/oracle/search"
	"github.com/durosim/durosim/properties/undertest"
)

// everything decodes all events and items.
var everything = engine.NewJSONCodec("everything", engine.Kinds2x(), engine.WorkItemKinds2x())

// open opens a store.
func open(t testing.TB, file string, now func() int64) *Provider {
	t.Helper()
	p, err := Open(context.Background(), file, everything, now)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// variant turns a correct provider into one with a mistake. between runs between the two halves of a call that should
// be a single transaction.
type variant func(p *Provider, between func()) engine.Provider

func right(p *Provider, _ func()) engine.Provider { return p }

// virtual makes stores whose clock the test sets.
func virtual(t testing.TB, v variant) undertest.Factory {
	return undertest.Factory{New: func() (*undertest.Store, error) {
		var clock atomic.Int64
		clock.Store(1000)
		dir := t.TempDir()
		p := open(t, filepath.Join(dir, "store.db"), clock.Load)
		return &undertest.Store{
			Provider:       v(p, func() {}),
			Advance:        func(d time.Duration) { clock.Add(d.Milliseconds()) },
			NowMs:          clock.Load,
			CorruptHistory: func(in string, execution, event uint64) error { return p.corruptHistory(in, execution, event) },
			CorruptMessage: func(item engine.WorkItem) error { return p.corruptMessage(item) },
			FailAckStep:    func(step int) { p.failing = step },
			// What a crash leaves is the files as they are now.
			Restart: func() (engine.Provider, error) {
				crashed := t.TempDir()
				if err := os.CopyFS(crashed, os.DirFS(dir)); err != nil {
					return nil, err
				}
				shut(t, p)
				dir, p = crashed, open(t, filepath.Join(crashed, "store.db"), clock.Load)
				return v(p, func() {}), nil
			},
			Close: func() {
				shut(t, p)
				if err := os.RemoveAll(dir); err != nil { // a long run makes many of them
					t.Error(err)
				}
			},
		}, nil
	}}
}

func shut(t testing.TB, p *Provider) {
	t.Helper()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// corruptHistory replaces a stored event with bytes that cannot be decoded.
func (p *Provider) corruptHistory(instance string, execution, event uint64) error {
	return p.damage(`UPDATE history SET event_data = '{' WHERE instance_id = ? AND execution_id = ? AND event_id = ?`, instance, execution, event)
}

// corruptMessage does the same to the newest row that holds the item. An item's kind belongs in only one of the queues.
func (p *Provider) corruptMessage(item engine.WorkItem) error {
	data, err := p.codec.AppendWorkItem(nil, item)
	if err != nil {
		return err
	}
	table := "orchestrator_queue"
	if item.Kind() == engine.ItemActivityExecute {
		table = "worker_queue"
	}
	return p.damage(`UPDATE `+table+` SET work_item = '{' WHERE id = (SELECT MAX(id) FROM `+table+` WHERE work_item = ?)`, data)
}

func (p *Provider) damage(update string, args ...any) error {
	result, err := p.db.Exec(update, args...)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); n == 1 || err != nil {
		return err
	}
	return errors.New("no such row")
}

func TestConformance(t *testing.T) { conformance.Run(t, virtual(t, right)) }

// TestConformanceInRealTime runs the cases about locks, delays, sessions and overlapping calls under the wall clock.
func TestConformanceInRealTime(t *testing.T) {
	factory := undertest.Factory{New: func() (*undertest.Store, error) {
		p := open(t, filepath.Join(t.TempDir(), "store.db"), nil)
		return &undertest.Store{Provider: p, Second: 100 * time.Millisecond, Close: func() { shut(t, p) }}, nil
	}}
	for _, r := range conformance.Ask(factory, "AT-04", "IL-01", "LX-01", "BP-149", "BP-150") {
		if r.Failure != "" || r.Skipped != "" {
			t.Errorf("%s %s: %s%s", r.ID, r.Name, r.Failure, r.Skipped)
		}
	}
}

// promised lists the freedoms that the provider does not use. It does use F8 (an abandon with an expired token fails),
// F18 (status Running does not set completed_at) and X5.
var promised = []oracle.Freedom{
	"F1", "F4", "F6", "F7", "F9", "F14",
	"F15", "F16", "F19", "F20", "F21",
	"F22", "F23", "F25", "F26", "F27", "F28",
	"X1", "X2", "X3", "X4", "X6",
}

func TestOracle(t *testing.T) {
	search.Check(t, virtual(t, right), search.Options{Sequences: 100})
}

func TestOracleOfWhatIsPromised(t *testing.T) {
	search.Check(t, virtual(t, right), search.Options{Oracle: oracle.Options{Deny: promised}, First: 101, Sequences: 100})
}
