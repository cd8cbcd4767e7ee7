package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/properties/oracle"
	"github.com/durosim/durosim/properties/undertest"
)

// Options say which sequences are made, and how they are judged.
type Options struct {
	// Oracle describes what the provider promises beyond the contract. A single caller meets no contention, so F5 is
	// always denied.
	Oracle oracle.Options
	// First is the seed of the first sequence, and Sequences their number; zeros mean seed 1 and 1,000 sequences.
	First     uint64
	Sequences int
	// KeepGoing makes all sequences, and sorts the rejected ones into classes.
	KeepGoing bool
	// Known lists mistakes that do not stop the search.
	Known []Known
	// Done is called after each sequence. It may be nil.
	Done func()
	// Context ends the search early, after the sequence that is running. It may be nil.
	Context context.Context
}

func (o Options) prepared() Options {
	o.Oracle.Deny = append(o.Oracle.Deny[:len(o.Oracle.Deny):len(o.Oracle.Deny)], "F5")
	if o.First == 0 {
		o.First = 1
	}
	if o.Sequences == 0 {
		o.Sequences = 1000
	}
	if o.Context == nil {
		o.Context = context.Background()
	}
	return o
}

// Finding is the shortest sequence of its class: calls of which the last has an answer that the contract does not allow,
// and of which none can be removed.
type Finding struct {
	// Class is the text that the refusals of one mistake share: the method and the objection, without names and numbers.
	Class string
	// Count is the number of sequences that ended with this finding.
	Count int
	// Seed is the seed of the sequence.
	Seed uint64
	// Refusal explains why the answer to the last call is rejected.
	Refusal *oracle.Refusal
	// Transcript lists the calls before the last one, with their answers.
	Transcript []string
	// Known is the entry of Options.Known that expected it, nil if none did.
	Known *Known
}

// String returns the transcript with the refusal.
func (f *Finding) String() string {
	return strings.Join(append(f.Transcript[:len(f.Transcript):len(f.Transcript)], f.Refusal.Error()), "\n")
}

// Known is a mistake that is known already: the search continues after it.
type Known struct {
	// Class is a part of the class of each finding that the entry covers.
	Class string
	// Reason explains why the mistake remains, and Link leads to the decision.
	Reason, Link string
}

// Warning names a freedom of the contract without which an answer would be wrong: the answer is legal, but usually not
// intended. Deny the freedom to see a sequence.
type Warning struct {
	Freedom   oracle.Freedom
	Summary   string
	Sequences int    // number that needed the freedom
	Seed      uint64 // of the first of them
}

// Report is the result of a search.
type Report struct {
	// Made is the number of sequences that were made.
	Made int
	// Passed is the number of sequences in which every answer was allowed.
	Passed int
	// Findings are in order of first occurrence.
	Findings []*Finding
	// Unseen lists the known mistakes that did not occur.
	Unseen []Known
	// Warnings are in the order of suspicious.
	Warnings []Warning
	// LeftOut lists what the store does not offer, and what was therefore not checked.
	LeftOut []string
}

// Unknown returns the first finding that was not known, nil if there is none.
func (r *Report) Unknown() *Finding {
	for _, f := range r.Findings {
		if f.Known == nil {
			return f
		}
	}
	return nil
}

// Search makes the sequence of each seed on a fresh store, until an answer is rejected for an unknown mistake; with
// KeepGoing it makes all of them. An error comes from the factory, from Store.Broken, or from Options.Context: then
// there is no verdict on the seed o.First+Made, and the report covers the sequences before it. The report is nil if the
// factory cannot be used.
func Search(f undertest.Factory, o Options) (*Report, error) {
	denied, err := oracle.Denied(f.Contract)
	if err != nil {
		return nil, fmt.Errorf("Factory.Contract: %w", err)
	}
	o.Oracle.Deny = slices.Concat(o.Oracle.Deny, denied)
	o = o.prepared()
	leftOut, declared, err := usable(f)
	if err != nil {
		return nil, err
	}
	r := &reporter{factory: f, options: o, lacks: map[string]bool{}, declared: declared, report: &Report{LeftOut: leftOut}}
	defer r.finish()
	for i := range uint64(o.Sequences) {
		if err := r.sequence(o.First + i); err != nil {
			return r.report, cmp.Or(o.Context.Err(), err)
		}
		r.report.Made++
		if o.Done != nil {
			o.Done()
		}
		if r.report.Unknown() != nil && !o.KeepGoing {
			break
		}
	}
	return r.report, nil
}

// sequence makes the sequence of a seed and records its result. An error means that there is no result.
func (r *reporter) sequence(seed uint64) error {
	if err := r.options.Context.Err(); err != nil {
		return err
	}
	c, err := sequence(r.factory, r.options.Oracle, seed, r.lacks, nil)
	if err != nil {
		return err
	}
	if c.refusal != nil {
		if err := r.found(c, seed); err != nil {
			return err
		}
	} else {
		r.report.Passed++
	}
	r.warn(c, seed)
	return nil
}

// usable makes a store and returns what cannot be checked on it, and which methods it does not have. The error names a
// need of every sequence that the factory does not meet.
func usable(f undertest.Factory) (leftOut, lacks []string, err error) {
	in, err := f.Make()
	if err != nil {
		return nil, nil, fmt.Errorf("the factory cannot be used: %w", err)
	}
	defer in.Release()
	if in.NowMs == nil {
		return nil, nil, errors.New("the factory cannot be used: Store.NowMs is not set; it must return the clock that the store's locks use, to the millisecond")
	}
	return in.LeftOut(), in.Lacks(), nil
}

// T lists the methods of a *testing.T that Check needs.
type T interface {
	Helper()
	Logf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Check runs Search on a provider. If an answer is rejected, the test fails with the shortest sequence of calls that
// shows it. Check logs which features the store does not have.
func Check(t T, f undertest.Factory, o Options) {
	t.Helper()
	report, err := Search(f, o)
	if err != nil {
		t.Fatalf("no verdict: %v", err)
		return
	}
	for _, what := range report.LeftOut {
		t.Logf("not checked: %s", what)
	}
	for _, w := range report.Warnings {
		t.Logf("warning: %d sequences, the first that of seed %d, are allowed only by freedom %s, %s", w.Sequences, w.Seed, w.Freedom, w.Summary)
	}
	for _, k := range report.Unseen {
		t.Logf("known, but not seen: %s (%s)", k.Class, k.Reason)
	}
	if finding := report.Unknown(); finding != nil {
		t.Fatalf("seed %d: the provider gave an answer that the contract does not allow; the shortest rejected sequence:\n%s", finding.Seed, finding)
	}
}
