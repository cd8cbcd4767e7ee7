package search

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/properties/undertest"
)

// Search finds nothing in a right provider, and a wrong one's shortest sequence; the same seed finds the same.
func TestSearch(t *testing.T) {
	done := 0
	if f, err := Search(inMemory(nil), Options{Sequences: 200, Done: func() { done++ }}); f != nil || err != nil || done != 200 {
		t.Errorf("after %d sequences: %v, %v", done, f, err)
	}
	wrong := inMemory(wrongBy("provider/filter-ignored"))
	f, err := Search(wrong, Options{Sequences: 2000})
	if f == nil || err != nil {
		t.Fatalf("found %v, %v", f, err)
	}
	t.Log(f)
	if len(f.Transcript) > mostCalls {
		t.Errorf("%d calls before the refused one", len(f.Transcript))
	}
	again, err := Search(wrong, Options{First: f.Seed, Sequences: 1})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(f.String(), again.String()); diff != "" {
		t.Errorf("seed %d finds something else the second time:\n%s", f.Seed, diff)
	}
}

// A store that breaks gives no verdict.
func TestSearchOfWhatBreaks(t *testing.T) {
	right := inMemory(nil)
	breaks := undertest.Factory{New: func() (*undertest.Store, error) {
		in, err := right.New()
		in.Broken = func() error { return errors.New("it is gone") }
		return in, err
	}}
	if f, err := Search(breaks, Options{Sequences: 10}); f != nil || err == nil || !strings.Contains(err.Error(), "it is gone") {
		t.Errorf("found %v, %v", f, err)
	}
}
