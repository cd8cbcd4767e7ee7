package conformance_test

import (
	"strings"
	"testing"
	"time"

	"github.com/durosim/durosim/properties/conformance"
)

// realTime makes stores without a clock to set, of which the broken ones answer "nothing" to a second fetch, after
// taking a while if they are slow. It counts the stores made.
func realTime(second time.Duration, made *int, broken func(store int) bool, takes time.Duration) conformance.Factory {
	right := memory(nil)
	return conformance.Factory{New: func(t testing.TB) *conformance.Instance {
		in := right.New(t)
		in.Advance, in.Second = nil, second
		*made++
		if broken(*made) {
			fetches := 0
			in.Provider = wrong{in.Provider, on("FetchOrchestrationItem", func(c *call) {
				if fetches++; fetches == 2 {
					for begin := time.Now(); time.Since(begin) < takes; {
						fetches = 2 // a slow machine, not an idle one
					}
					return
				}
				c.do()
			})}
		}
		return in
	}}
}

// TestLateFailuresAreAskedAgain has a machine that is late while the provider is asked first.
func TestLateFailuresAreAskedAgain(t *testing.T) {
	made := 0
	r := conformance.Ask(t, realTime(10*time.Millisecond, &made, func(store int) bool { return store == 1 }, 5*time.Millisecond), "LX-02")[0]
	if r.Failure != "" || made != 2 {
		t.Errorf("after %d stores: %s", made, r.Failure)
	}
}

// TestFailuresInTimeCount has a provider that is wrong in time, once; and one that is wrong however long its seconds are.
func TestFailuresInTimeCount(t *testing.T) {
	made := 0
	r := conformance.Ask(t, realTime(time.Hour, &made, func(store int) bool { return store == 1 }, 0), "LX-02")[0]
	if !strings.Contains(r.Failure, "want A#1 x2 [start]") || made != 1 {
		t.Errorf("wrong in time, after %d stores: %q", made, r.Failure)
	}
	made = 0
	r = conformance.Ask(t, realTime(10*time.Millisecond, &made, func(int) bool { return true }, 20*time.Millisecond), "LX-02")[0]
	if !strings.Contains(r.Failure, "want A#1 x2 [start]") || made != 3 {
		t.Errorf("always wrong and late, after %d stores: %q", made, r.Failure)
	}
}

// TestWhatIsMissingIsSaid has a store that can do nothing beyond the calls, and a provider without management surface.
func TestWhatIsMissingIsSaid(t *testing.T) {
	bare := conformance.Factory{New: func(t testing.TB) *conformance.Instance {
		in := memory(nil).New(t)
		return &conformance.Instance{Provider: unmanaged{wrong{in.Provider, func(c *call) { c.do() }}}, Advance: in.Advance, Sequential: true}
	}}
	for id, want := range map[string]string{
		"CF-39": "Instance.CorruptHistory", "LP-02": "Instance.LongPolls", "BP-151": "Instance.Sequential", "DL-01": "Provider.Admin", "IL-01": "",
	} {
		r := conformance.Ask(t, bare, id)[0]
		if r.Failure != "" || !strings.Contains(r.Skipped, want) || (want == "") != (r.Skipped == "") {
			t.Errorf("%s: skipped: %q, failure: %s", id, r.Skipped, r.Failure)
		}
	}
}
