package faults

import (
	"fmt"
	"testing"
	"time"
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
