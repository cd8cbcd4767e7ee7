package sqlite

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/durosim/durosim/properties/oracle"
	"github.com/durosim/durosim/properties/oracle/overlap"
	"github.com/durosim/durosim/properties/undertest"
)

// shared makes stores that several callers may use at once. Their clock stands still, so that only the order of the
// calls is uncertain.
func shared(t testing.TB, v variant) undertest.Factory {
	return undertest.Factory{New: func() (*undertest.Store, error) {
		dir := t.TempDir()
		p := open(t, filepath.Join(dir, "store.db"), func() int64 { return 1000 })
		return &undertest.Store{
			Provider: v(p, func() { time.Sleep(5 * time.Millisecond) }),
			NowMs:    func() int64 { return 1000 },
			Close: func() {
				shut(t, p)
				if err := os.RemoveAll(dir); err != nil { // a long run makes many of them
					t.Error(err)
				}
			},
		}, nil
	}}
}

// searchOverlap runs programs of overlapping calls. A fetch may return nothing only if there is a reason for it.
func searchOverlap(t *testing.T, v variant, programs int) *overlap.Report {
	t.Helper()
	deny := append([]oracle.Freedom{"F5"}, promised...)
	report, err := overlap.Search(shared(t, v), overlap.Options{Programs: programs, Oracle: oracle.Options{Deny: deny}})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestOverlap(t *testing.T) {
	const programs = 60
	report := searchOverlap(t, right, programs)
	if report.Finding != nil {
		t.Fatal(report.Finding.Story)
	}
	if decided := report.Made - report.Undecided - report.Alone; decided < programs/2 {
		t.Errorf("only %d of %d programs were judged", decided, programs)
	}
}

// TestManyOpen opens a new file several times at once, as nodes do that start together.
func TestManyOpen(t *testing.T) {
	file := filepath.Join(t.TempDir(), "store.db")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			p, err := Open(t.Context(), file, everything, nil)
			if err != nil {
				t.Error(err)
				return
			}
			shut(t, p)
		})
	}
	all.Wait()
}
