package faults

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/memprovider"
)

// TestCatalogueIsWhole: every expectation is about a bug that a rule table offers, once, and the catalogue is sorted.
func TestCatalogueIsWhole(t *testing.T) {
	seen := map[BugID]bool{}
	for _, e := range expectations() {
		if seen[e.id] {
			t.Errorf("%s is expected twice", e.id)
		}
		seen[e.id] = true
		if _, ok := Lookup(e.id); !ok {
			t.Errorf("%s is expected, and no rule table offers it", e.id)
		}
		for _, companion := range e.with {
			if _, ok := Lookup(companion); !ok {
				t.Errorf("%s needs %s, which is not in the catalogue", e.id, companion)
			}
		}
	}
	all := Catalogue()
	if len(all) != len(seen) {
		t.Errorf("the catalogue has %d entries, want %d", len(all), len(seen))
	}
	for i, b := range all {
		if b.Summary == "" || b.Scenario == "" || len(b.Properties) == 0 {
			t.Errorf("%s lacks its summary, scenario or properties", b.ID)
		}
		if i > 0 && all[i-1].ID >= b.ID {
			t.Errorf("%s stands after %s", b.ID, all[i-1].ID)
		}
	}
}

func TestNewTables(t *testing.T) {
	right, err := NewTables()
	if err != nil || right.WrongProvider {
		t.Errorf("tables without a bug: %v, wrong provider %v", err, right.WrongProvider)
	}
	wrong, err := NewTables("duroxide-0.1.26/version-check-first")
	if err != nil || !wrong.WrongProvider {
		t.Errorf("a bug with a companion in the provider: %v, wrong provider %v", err, wrong.WrongProvider)
	}
	if _, err := NewTables("provider/no-such-bug"); err == nil {
		t.Error("an unknown bug is accepted")
	}
}

func TestRate(t *testing.T) {
	p := &Plan{Rates: []Rate{
		{Kind: AnswerLost, Num: 1, Den: 2, Node: "A", From: time.Second, To: 2 * time.Second},
		{Kind: AnswerLost, Num: 1, Den: 10},
	}}
	for _, tc := range []struct {
		kind Kind
		node string
		at   time.Duration
		want string
	}{
		{AnswerLost, "A", 0, "1 in 10"},
		{AnswerLost, "A", time.Second, "1 in 2"},
		{AnswerLost, "A", 2 * time.Second, "1 in 10"},
		{AnswerLost, "B", time.Second, "1 in 10"},
		{RequestLost, "A", time.Second, "0 in 1"},
	} {
		num, den := p.Rate(tc.kind, tc.node, tc.at)
		if got := fmt.Sprintf("%d in %d", num, den); got != tc.want {
			t.Errorf("rate of %s on %s at %v is %s, want %s", tc.kind, tc.node, tc.at, got, tc.want)
		}
	}
}

// TestKindsAreListed: every kind that the named plans draw is listed, and the full plan draws them all.
func TestKindsAreListed(t *testing.T) {
	listed := map[Kind]bool{}
	for _, i := range Kinds() {
		listed[i.Kind] = true
		if full := Full(); !full.Has(i.Kind) {
			t.Errorf("the full plan lacks %s", i.Kind)
		}
	}
	for _, p := range []Plan{None(), Light(), Full()} {
		for _, r := range p.Rates {
			if !listed[r.Kind] {
				t.Errorf("%s is drawn and not listed", r.Kind)
			}
		}
	}
}

// TestRefuse: a refused call does not reach the provider, whichever method it is.
func TestRefuse(t *testing.T) {
	ctx := context.Background()
	busy := engine.Retryablef("any", "busy")
	var asked []engine.CallKind
	store := memprovider.New(memprovider.Options{})
	codec := engine.ShippedBuilds()[0].Codec
	p := Refuse(store.Handle(codec, engine.Caller{}), func(k engine.CallKind) error {
		asked = append(asked, k)
		return busy
	})
	_, fetch := p.FetchOrchestrationItem(ctx, time.Second, 0, nil)
	_, work := p.FetchWorkItem(ctx, time.Second, 0, nil, engine.TagFilter{})
	item := engine.ActivityExecuteItem{Instance: "i", ExecutionID: 1, ID: 2, Name: "a"}
	for i, err := range []error{
		fetch, work,
		p.EnqueueForOrchestrator(ctx, engine.CancelInstanceItem{Instance: "i"}, 0),
		p.AckOrchestrationItem(ctx, engine.OrchestrationAck{}),
		p.AbandonOrchestrationItem(ctx, "", 0, false),
		p.RenewOrchestrationItemLock(ctx, "", 0),
		p.EnqueueForWorker(ctx, item),
		p.AckWorkItem(ctx, "", nil),
		p.RenewWorkItemLock(ctx, "", 0),
		p.AbandonWorkItem(ctx, "", 0, false),
	} {
		if !errors.Is(err, engine.ErrRetryable) {
			t.Errorf("call %d is answered with %v, want the refusal", i, err)
		}
	}
	if len(asked) != 10 {
		t.Errorf("asked about %v, want all ten queue calls", asked)
	}
	if depths, err := p.Admin().GetQueueDepths(ctx); err != nil || *depths != (engine.QueueDepths{}) {
		t.Errorf("a refused call has reached the store: %+v, %v", depths, err)
	}
}
