package conformance_test

import (
	"strings"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/properties/conformance"
)

// unmanaged is a provider that has no management surface.
type unmanaged struct{ engine.Provider }

func (unmanaged) Admin() engine.ProviderAdmin { return nil }

// realTime makes stores whose clock cannot be set, and counts them. In a broken store, the second fetch returns
// nothing, after some time if the store is slow.
func realTime(second time.Duration, made *int, broken func(store int) bool, takes time.Duration) conformance.Factory {
	right := memory(nil)
	return conformance.Factory{New: func() (*conformance.Store, error) {
		in, err := right.New()
		in.Advance, in.Second = nil, second
		*made++
		if broken(*made) {
			fetches := 0
			in.Provider = wrong(in.Provider, on("FetchOrchestrationItem", func(c *call) {
				if fetches++; fetches == 2 {
					for begin := time.Now(); time.Since(begin) < takes; {
						fetches = 2 // like a slow machine, not an idle one
					}
					return
				}
				c.do()
			}))
		}
		return in, err
	}}
}

// TestLateFailuresAreAskedAgain simulates a machine that is slow when a case first runs.
func TestLateFailuresAreAskedAgain(t *testing.T) {
	made := 0
	r := conformance.Ask(realTime(10*time.Millisecond, &made, func(store int) bool { return store == 1 }, 5*time.Millisecond), "LX-02")[0]
	if r.Failure != "" || made != 2 {
		t.Errorf("after %d stores: %s", made, r.Failure)
	}
}

// TestFailuresInTimeCount uses one provider that fails once, in time, and another that fails no matter how long its
// seconds are.
func TestFailuresInTimeCount(t *testing.T) {
	made := 0
	r := conformance.Ask(realTime(time.Hour, &made, func(store int) bool { return store == 1 }, 0), "LX-02")[0]
	if !strings.Contains(r.Failure, "want A#1 x2 [start]") || made != 1 {
		t.Errorf("wrong in time, after %d stores: %q", made, r.Failure)
	}
	made = 0
	r = conformance.Ask(realTime(10*time.Millisecond, &made, func(int) bool { return true }, 20*time.Millisecond), "LX-02")[0]
	if !strings.Contains(r.Failure, "want A#1 x2 [start]") || made != 3 {
		t.Errorf("always wrong and late, after %d stores: %q", made, r.Failure)
	}
}

// TestWhatIsMissingIsSaid uses a store that offers nothing but the calls, and a provider that has no management
// surface.
func TestWhatIsMissingIsSaid(t *testing.T) {
	bare := conformance.Factory{New: func() (*conformance.Store, error) {
		in, err := memory(nil).New()
		return &conformance.Store{Provider: unmanaged{in.Provider}, Advance: in.Advance, Sequential: true}, err
	}}
	for id, want := range map[string]string{
		"CF-39": "Store.CorruptHistory", "LP-02": "Store.LongPolls", "BP-151": "Store.Sequential", "DL-01": "Provider.Admin", "IL-01": "",
	} {
		r := conformance.Ask(bare, id)[0]
		if r.Failure != "" || !strings.Contains(r.Skipped, want) || (want == "") != (r.Skipped == "") {
			t.Errorf("%s: skipped: %q, failure: %s", id, r.Skipped, r.Failure)
		}
	}
}

// TestStorageFailures uses storage that fails on request, first without any effect, and then after the lock has been
// taken.
func TestStorageFailures(t *testing.T) {
	for _, keepsLock := range []bool{false, true} {
		failing := conformance.Factory{New: func() (*conformance.Store, error) {
			in, err := memory(nil).New()
			next := false
			in.FailNext = func() { next = true }
			in.Provider = wrong(in.Provider, func(c *call) {
				if !next || keepsLock {
					c.do()
				}
				if next {
					next, c.fetched, c.err = false, nil, engine.Retryablef("call", "storage failed")
				}
			})
			return in, err
		}}
		if r := conformance.Ask(failing, "BP-155")[0]; (r.Failure != "") != keepsLock {
			t.Errorf("the failing fetch keeps its lock: %v, failure: %q", keepsLock, r.Failure)
		}
	}
}

// TestMistakesInScripts uses scripts that check less than they appear to.
func TestMistakesInScripts(t *testing.T) {
	for script, want := range map[string]string{
		"fetsh":                 "no such operation",
		"abandon t ignor":       "2 plain words, abandon takes 1 to 1",
		"fetch t lok=1":         "fetch takes no lok=",
		"send what:A":           `no item "what:A"`,
		"ack t events=2:sett:k": `no event "2:sett:k"`,
		"wait soon":             "invalid syntax",
		"bulk before=never":     "no mark never",
	} {
		if got := conformance.Mistake(memory(nil), script); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", script, got, want)
		}
	}
}
