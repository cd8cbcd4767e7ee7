package faults

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestTable checks that each row has a unique id and a sentence, and replaces one rule of the package that it names.
func TestTable(t *testing.T) {
	right := tablesOf(t)
	seen := map[BugID]bool{}
	for _, b := range Bugs() {
		if seen[b.ID] {
			t.Errorf("%s is in the table twice", b.ID)
		}
		seen[b.ID] = true
		if b.Summary == "" || b.Caught() != (b.Scenario != "") {
			t.Errorf("%s lacks its summary, or has properties without a scenario, or the reverse", b.ID)
		}
		alone := tablesOf(t)
		alone.apply(&b)
		names := changed(right, alone)
		if len(names) != 1 || b.as == "" && !strings.HasPrefix(names[0], tableOf[b.owner()]) {
			t.Errorf("%s replaces %v: expected one rule of %q", b.ID, names, b.owner())
		}
		if same, ok := Lookup(b.as); b.as != "" && (!ok || same.owner() == "" || !strings.HasPrefix(string(b.ID), ProfileFamily)) {
			t.Errorf("%s is %q: expected a switch of the profile, and a bug of another family", b.ID, b.as)
		}
		for _, companion := range b.With {
			if c, ok := Lookup(companion); !ok || !c.Caught() {
				t.Errorf("%s needs %s, which is not in the catalogue", b.ID, companion)
			}
		}
	}
	if len(seen) < 175 {
		t.Errorf("the table has %d rows", len(seen))
	}
}

var tableOf = map[string]string{"memprovider": "Provider.", "engine/machine": "Node.", "engine/replay": "Replay.", "engine/deadletter": "DeadLetters.", "sim/workload": "Code"}

// TestCatalogue checks that the catalogue is sorted, and omits bugs that no property catches.
func TestCatalogue(t *testing.T) {
	all := Catalogue()
	for i, b := range all {
		if i > 0 && all[i-1].ID >= b.ID {
			t.Errorf("%s stands after %s", b.ID, all[i-1].ID)
		}
		if b.ID == "provider/count-after-decode" {
			t.Errorf("%s is in the catalogue, and no property catches it", b.ID)
		}
	}
	if len(all) < 160 {
		t.Errorf("the catalogue has %d entries", len(all))
	}
}

func TestNewTables(t *testing.T) {
	if right := tablesOf(t); right.Provider != nil {
		t.Error("tables without a bug replace the rules of the store")
	}
	if wrong := tablesOf(t, "duroxide-0.1.26/version-check-first"); wrong.Provider == nil {
		t.Error("a bug with a companion in the provider leaves the rules of the store as they are")
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
		{AnswerLost, "A", 0, "1 in 10"}, {AnswerLost, "A", time.Second, "1 in 2"},
		{AnswerLost, "A", 2 * time.Second, "1 in 10"}, {AnswerLost, "B", time.Second, "1 in 10"},
		{RequestLost, "A", time.Second, "0 in 1"},
	} {
		num, den := p.Rate(tc.kind, tc.node, tc.at)
		if got := fmt.Sprintf("%d in %d", num, den); got != tc.want {
			t.Errorf("rate of %s on %s at %v is %s, want %s", tc.kind, tc.node, tc.at, got, tc.want)
		}
	}
}

// TestKindsAreListed: every kind that the named plans draw is listed, and the full plan or that of timing draws it.
func TestKindsAreListed(t *testing.T) {
	listed := map[Kind]bool{}
	for _, i := range Kinds() {
		listed[i.Kind] = true
		if full, timing := Full(), Timing(); !full.Has(i.Kind) && !timing.Has(i.Kind) {
			t.Errorf("no plan has %s", i.Kind)
		}
	}
	for _, p := range []Plan{None(), Light(), Full(), Timing()} {
		for _, r := range p.Rates {
			if !listed[r.Kind] {
				t.Errorf("%s is drawn and not listed", r.Kind)
			}
		}
	}
}
