package oracle

import (
	"flag"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/sample"
)

// quiet is a test that may fail without failing the one around it.
type quiet struct {
	rapid.TB
	failed bool
}

func (q *quiet) Logf(string, ...any)   {}
func (q *quiet) Log(...any)            {}
func (q *quiet) Errorf(string, ...any) { q.failed = true }
func (q *quiet) Error(...any)          { q.failed = true }
func (q *quiet) Fail()                 { q.failed = true }
func (q *quiet) Failed() bool          { return q.failed }
func (q *quiet) FailNow()              { q.failed = true; runtime.Goexit() }

// rapidly sets a flag of rapid for the test.
func rapidly(t *testing.T, name, value string) {
	t.Helper()
	old := flag.Lookup("rapid." + name).Value.String()
	if err := flag.Set("rapid."+name, value); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = flag.Set("rapid."+name, old) })
}

// search makes sequences from a fixed seed until one is refused. It returns how many it took, and the refusal of the
// shrunk one, nil if none was refused.
func search(t *testing.T, f Factory, o Options, most string) (sequences int, refusal *Refusal) {
	rapidly(t, "nofailfile", "true")
	rapidly(t, "seed", "1")
	rapidly(t, "shrinktime", "1ns") // the shortest sequence is found without
	rapidly(t, "checks", most)
	done := make(chan struct{})
	go func() { // ends early when the test fails
		defer close(done)
		rapid.Check(&quiet{TB: t}, func(rt *rapid.T) {
			c := newChecker(t, f, o)
			if refusal == nil {
				sequences++
			}
			defer func() {
				if refusal == nil && c.refusal != nil {
					refusal, _, _ = replay(t, f, c.options, least(t, f, c.options, c.moves))
				}
			}()
			rt.Repeat(c.actions(rt))
		})
	}()
	<-done
	return sequences, refusal
}

// unseen are the bugs that no answer shows, with the reason.
var unseen = map[faults.BugID]string{
	"provider/decode-before-filter": "what is decoded in vain inside one call shows in no answer",
	"provider/count-after-decode":   "the order of steps inside one call, whose effects are the same",
}

// legal are the bugs that a freedom of the contract covers. They are seen once memprovider is held to what it promises.
var legal = map[faults.BugID]Freedom{
	// It takes an expired lock over and releases it; only the former holder's abandon can tell.
	"provider/filter-after-lock":                 F8ExpiredAbandon,
	"provider/packed-comparison":                 F23Packed,
	"duroxide-0.1.26/abandon-touches-all":        F9AbandonScope,
	"provider/contextless-batch-blocks":          F4OrphanStops,
	"provider/undecodable-work-blocks":           XUndecodableRow,
	"provider/orphan-dropped-while-start-queued": XOrphanBeforeStart,
}

// mostCalls is how long the shortest sequence that shows a bug may be.
const mostCalls = 10

func TestEachBugIsRefused(t *testing.T) {
	for _, b := range sample.Of(faults.BugsOf("memprovider"), 4) {
		t.Run(string(b.ID), func(t *testing.T) {
			wrong := inMemory(wrongBy(b.ID))
			sequences, refusal := search(t, wrong, Options{}, "1000")
			if why, ok := unseen[b.ID]; ok {
				if refusal != nil {
					t.Fatalf("%s, and yet\n%s", why, refusal)
				}
				return
			}
			if f, ok := legal[b.ID]; ok {
				if refusal != nil {
					t.Fatalf("freedom %s covers it, and yet\n%s", f, refusal)
				}
				sequences, refusal = search(t, wrong, Options{Deny: []Freedom{f}}, "1000")
			}
			if refusal == nil {
				t.Fatalf("not seen in %d sequences", sequences)
			}
			t.Logf("sequence %d, %d calls: %v", sequences, refusal.Number, refusal.Objections)
			if refusal.Number > mostCalls {
				t.Errorf("%d calls, more than %d", refusal.Number, mostCalls)
			}
			if len(refusal.Objections) == 0 {
				t.Errorf("refused without a reason: %s", refusal)
			}
		})
	}
	for id := range unseen {
		if !slices.ContainsFunc(faults.BugsOf("memprovider"), func(b faults.Bug) bool { return b.ID == id }) {
			t.Errorf("%s is no bug", id)
		}
	}
}
