package search

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties/oracle"
	"github.com/durosim/durosim/properties/undertest"
)

func TestMain(m *testing.M) { sample.Main(m) }

func searched(t *testing.T, f undertest.Factory, o Options) *Report {
	t.Helper()
	return sample.Must(Search(f, o))(t)
}

// TestSearch checks that Search finds nothing in a correct provider and the shortest sequence for a wrong one, and that
// the same seed finds the same sequence.
func TestSearch(t *testing.T) {
	done := 0
	if r := searched(t, inMemory(nil), Options{Sequences: 200, Done: func() { done++ }}); len(r.Findings) > 0 || r.Passed != 200 || r.Made != 200 || done != 200 {
		t.Errorf("%d done, %d passed: %v", done, r.Passed, r.Findings)
	}
	wrong := inMemory(wrongBy("provider/filter-ignored"))
	f := searched(t, wrong, Options{Sequences: 2000}).Unknown()
	if f == nil {
		t.Fatal("nothing found")
	}
	if len(f.Transcript) > mostCalls {
		t.Errorf("%d calls before the refused one", len(f.Transcript))
	}
	again := searched(t, wrong, Options{First: f.Seed, Sequences: 1}).Unknown()
	if diff := cmp.Diff(f.String(), again.String()); diff != "" {
		t.Errorf("seed %d finds something else the second time:\n%s", f.Seed, diff)
	}
	wrong.Alone = inMemory(nil).New
	left := searched(t, wrong, Options{Sequences: 2000}).Unknown()
	if !f.Shortest || f.First != f.Seed || left.Shortest || left.First != 1 || !strings.Contains(left.String(), "in another process") {
		t.Errorf("a store that earlier sequences have spoilt:\n%s\nand one that they have not:\n%s", left, f)
	}
}

// TestKeepGoing checks that refused answers are grouped into classes, each with a count and a short sequence of calls.
func TestKeepGoing(t *testing.T) {
	sequences := int(sample.Number(50, 300))
	wrong := inMemory(wrongBy("provider/filter-ignored", "provider/tags-ignored"))
	r := searched(t, wrong, Options{Sequences: sequences, KeepGoing: true})
	refused := 0
	classes := map[string]bool{}
	for _, f := range r.Findings {
		refused += f.Count
		if classes[f.Class] || len(f.Transcript) > 2*mostCalls {
			t.Errorf("class %q, %d sequences, %d calls", f.Class, f.Count, len(f.Transcript))
		}
		classes[f.Class] = true
	}
	if len(classes) < 2 || refused+r.Passed != sequences {
		t.Errorf("%d passed, %d refused, classes %v", r.Passed, refused, classes)
	}

	// Declare the same mistakes as known. Then nothing is left to find, and a known mistake that did not occur is
	// reported.
	var known []Known
	for class := range classes {
		known = append(known, Known{Class: class, Reason: "later"})
	}
	known = append(known, Known{Class: "it sings", Reason: "mended"})
	again := searched(t, wrong, Options{Sequences: sequences, Known: known})
	if f := again.Unknown(); f != nil || again.Passed != r.Passed {
		t.Errorf("%d passed, unknown: %v", again.Passed, f)
	}
	if diff := cmp.Diff([]Known{{Class: "it sings", Reason: "mended"}}, again.Unseen); diff != "" {
		t.Errorf("known and not seen: -want +got:\n%s", diff)
	}
}

// TestWarnings checks that answers that only a suspicious freedom makes legal are counted, and that they are refused if
// the freedom is denied.
func TestWarnings(t *testing.T) {
	sequences := int(sample.Number(120, 500))
	touches := inMemory(wrongBy("duroxide-0.1.26/abandon-touches-all"))
	r := searched(t, touches, Options{Sequences: sequences})
	if len(r.Findings) > 0 || len(r.Warnings) != 1 || r.Warnings[0].Freedom != "F9" || r.Warnings[0].Sequences == 0 {
		t.Errorf("findings %v, warnings %+v", r.Findings, r.Warnings)
	}
	r = searched(t, touches, Options{Sequences: sequences, Oracle: oracle.Options{Deny: []oracle.Freedom{"F9"}}})
	if r.Unknown() == nil || len(r.Warnings) > 0 {
		t.Errorf("denied: %v, warnings %+v", r.Unknown(), r.Warnings)
	}
	if r := searched(t, inMemory(nil), Options{Sequences: sequences}); len(r.Warnings) > 0 {
		t.Errorf("memprovider: %+v", r.Warnings)
	}
}

// TestSubsets checks that a provider gets a verdict on the methods that it has.
func TestSubsets(t *testing.T) {
	subset := func(whole undertest.Factory, methods ...string) undertest.Factory {
		return undertest.Factory{New: func() (*undertest.Store, error) {
			in, err := whole.New()
			in.Methods = methods
			return in, err
		}}
	}
	three := []string{"enqueue_for_orchestrator", "fetch_orchestration_item", "abandon_orchestration_item"}
	r := searched(t, subset(inMemory(nil), three...), Options{Sequences: 200})
	if left := strings.Join(r.LeftOut, "\n"); len(r.Findings) > 0 || strings.Count(left, "get_instance_stats") != 1 {
		t.Errorf("findings %v, left out %q", r.Findings, r.LeftOut)
	}
	// With acks there are pins, so the mistake shows.
	r = searched(t, subset(inMemory(wrongBy("provider/filter-ignored")), append(three, "ack_orchestration_item")...), Options{})
	if f := r.Unknown(); f == nil || !strings.Contains(f.Class, "fetch_orchestration_item") {
		t.Errorf("found %v", f)
	}
}

// TestSearchOfWhatPanics checks that a panic of the provider is a finding, with the shortest calls that lead to it and
// the stack, and that the search goes on behind it.
func TestSearchOfWhatPanics(t *testing.T) {
	right := inMemory(nil)
	panics := undertest.Factory{New: func() (*undertest.Store, error) {
		in, err := right.New()
		whole := in.Provider
		in.Provider = call.Through("panics", "1", true, func(ctx context.Context, c call.Call) call.Answer {
			a := call.Perform(ctx, whole, c)
			if a.Work != nil && a.Work.AttemptCount > 1 {
				panicAtSecondDelivery()
			}
			return a
		})
		return in, err
	}}
	const lines = 4 // enqueue, fetch, abandon; or a renewal, and a lock that runs out
	f := searched(t, panics, Options{Sequences: 100}).Unknown()
	if f == nil || f.Class != "fetch_work_item: the provider panicked" || len(f.Transcript) > lines {
		t.Fatalf("found %v", f)
	}
	for _, want := range []string{"answered   no valid answer", "but        the provider panicked: delivered twice", "search.panicAtSecondDelivery"} {
		if !strings.Contains(f.String(), want) {
			t.Errorf("no %q in\n%v", want, f)
		}
	}
	if r := searched(t, panics, Options{Sequences: 100, KeepGoing: true}); r.Made != 100 || len(r.Findings) != 1 || r.Findings[0].Count < 2 {
		t.Errorf("%d sequences, %v", r.Made, r.Findings)
	}
}

// TestNoCircles checks that no sequence, and none that is made shorter, gives an instance a descendant of its own as its
// parent: whoever follows parents may do so for ever.
func TestNoCircles(t *testing.T) {
	wrong := inMemory(wrongBy("provider/count-reset-by-abandon", "provider/filter-ignored"))
	follows := undertest.Factory{New: func() (*undertest.Store, error) {
		in, err := wrong.New()
		whole, owners := in.Provider, map[string]string{}
		in.Provider = call.Through("follows", "1", true, func(ctx context.Context, c call.Call) call.Answer {
			ack, _ := c.(call.AckOrchestrationItem)
			if parent := ack.Metadata.ParentInstanceID; parent != "" && parent != "ghost" && owners[ack.LockToken] != "" && parent >= owners[ack.LockToken] {
				t.Errorf("%s becomes the parent of %s", parent, owners[ack.LockToken])
			}
			a := call.Perform(ctx, whole, c)
			if a.Orchestration != nil {
				owners[a.Orchestration.LockToken] = a.Orchestration.Item.Instance
			}
			return a
		})
		return in, err
	}}
	if r := searched(t, follows, Options{Sequences: int(sample.Number(100, 300)), KeepGoing: true}); len(r.Findings) == 0 {
		t.Error("nothing was made shorter")
	}
}

func panicAtSecondDelivery() { panic("delivered twice") }

// If a store breaks down, there is no verdict.
func TestSearchOfWhatBreaks(t *testing.T) {
	right := inMemory(nil)
	breaks := undertest.Factory{New: func() (*undertest.Store, error) {
		in, err := right.New()
		in.Broken = func() error { return errors.New("it is gone") }
		return in, err
	}}
	if r, err := Search(breaks, Options{Sequences: 10}); r.Unknown() != nil || err == nil || !strings.Contains(err.Error(), "it is gone") {
		t.Errorf("found %v, %v", r, err)
	}
	ends := undertest.Factory{New: func() (*undertest.Store, error) {
		in, err := right.New()
		var ended error
		in.Broken = func() error { return ended }
		in.CorruptHistory = func(string, uint64, uint64) error { ended = undertest.ErrEnded; return ended }
		return in, err
	}}
	if f := searched(t, ends, Options{Sequences: 100}).Unknown(); f == nil || !f.Shortest || !strings.HasPrefix(f.Class, "corrupt_event: ") || f.Refusal.Number > 2 {
		t.Errorf("a process that ends while it damages an event: %v", f)
	}
}

// TestTokenOfNobody checks that a sequence becomes shorter in which no call gives the token of the wrong answer, and that
// only a token is left out of a class.
func TestTokenOfNobody(t *testing.T) {
	with := func(wrong func(c call.Call, a call.Answer) call.Answer) undertest.Factory {
		whole := inMemory(nil)
		return undertest.Factory{New: func() (*undertest.Store, error) {
			in, err := whole.New()
			inner := in.Provider
			in.Provider = call.Through("wrong", "1", true, func(ctx context.Context, c call.Call) call.Answer {
				return wrong(c, call.Perform(ctx, inner, c))
			})
			return in, err
		}}
	}
	f := searched(t, with(func(c call.Call, a call.Answer) call.Answer {
		if _, renewal := c.(call.RenewWorkItemLock); renewal {
			return call.Answer{}
		}
		return a
	}), Options{}).Unknown()
	if f == nil || f.Class != "renew_work_item_lock: token … names no holding" || len(f.Transcript) > 0 || !f.Shortest {
		t.Errorf("%+v", f)
	}
	f = searched(t, with(func(c call.Call, a call.Answer) call.Answer {
		if _, ack := c.(call.AckOrchestrationItem); ack && a.Err == nil {
			return call.Answer{Err: engine.Permanentf("ack", "no")}
		}
		return a
	}), Options{}).Unknown()
	if f == nil || f.Class != "ack_orchestration_item: the token is live and nothing is wrong with the ack" {
		t.Errorf("%+v", f)
	}
}
