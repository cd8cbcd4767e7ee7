package search

import (
	"slices"
	"testing"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties/oracle"
	"github.com/durosim/durosim/properties/undertest"
)

// find makes a thousand sequences, or as many as it takes. It returns how many, and the refusal, nil if there is none.
func find(t *testing.T, f undertest.Factory, deny ...oracle.Freedom) (sequences int, refusal *oracle.Refusal) {
	t.Helper()
	r, err := Search(f, Options{Oracle: oracle.Options{Deny: deny}, Done: func() { sequences++ }})
	if err != nil {
		t.Fatal(err)
	}
	if finding := r.Unknown(); finding != nil {
		return sequences, finding.Refusal
	}
	return sequences, nil
}

const onlyWaiting = "it takes a call that waits in the store while another takes effect; here one call follows the other"

// unseen are the bugs that no answer shows, with the reason.
var unseen = map[faults.BugID]string{
	"provider/decode-before-filter": "what is decoded in vain inside one call shows in no answer",
	"provider/count-after-decode":   "the order of steps inside one call, whose effects are the same",
	"provider/lease-from-arrival":   onlyWaiting,
	"provider/ack-checks-early":     onlyWaiting,
	"provider/renewal-checks-early": onlyWaiting,
	"provider/claim-not-retried":    onlyWaiting,
	"provider/delete-looks-early":   onlyWaiting,
}

// legal are the bugs that a freedom of the contract covers. They are seen once memprovider is held to what it promises.
var legal = map[faults.BugID]oracle.Freedom{
	// It takes an expired lock over and releases it; only the former holder's abandon can tell.
	"provider/filter-after-lock":                 "F8",
	"provider/packed-comparison":                 "F23",
	"duroxide-0.1.26/abandon-touches-all":        "F9",
	"provider/contextless-batch-blocks":          "F4",
	"provider/undecodable-work-blocks":           "X2",
	"provider/orphan-dropped-while-start-queued": "X1",
}

// mostCalls is how long the shortest sequence that shows a bug may be.
const mostCalls = 10

func TestEachBugIsRefused(t *testing.T) {
	for _, b := range sample.Of(faults.BugsOf("memprovider"), 40) {
		t.Run(string(b.ID), func(t *testing.T) {
			wrong := inMemory(wrongBy(b.ID))
			sequences, refusal := find(t, wrong)
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
				sequences, refusal = find(t, wrong, f)
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
