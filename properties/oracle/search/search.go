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

// Options configures which sequences a search makes and how it judges them.
type Options struct {
	// Oracle describes what the provider promises beyond the contract. F5 is always denied, because a single caller
	// causes no contention.
	Oracle oracle.Options
	// First is the seed of the first sequence, and Sequences is the number of sequences. Zero means seed 1 and 1,000
	// sequences.
	First     uint64
	Sequences int
	// KeepGoing makes the search continue after a rejected answer. It runs all sequences and sorts the rejected ones
	// into classes.
	KeepGoing bool
	// Known lists known mistakes, which do not stop the search.
	Known []Known
	// Done, if not nil, is called after each sequence.
	Done func()
	// Context, if not nil, ends the search early: the sequence in progress is the last one.
	Context context.Context
}

func (o Options) prepared() Options {
	o.Oracle.Deny = append(o.Oracle.Deny[:len(o.Oracle.Deny):len(o.Oracle.Deny)], "F5")
	o.First, o.Sequences = cmp.Or(o.First, 1), cmp.Or(o.Sequences, 1000)
	if o.Context == nil {
		o.Context = context.Background()
	}
	return o
}

// Finding is the shortest sequence found in its class. The contract does not allow the answer to its last call.
type Finding struct {
	// Class is the text that all refusals for one mistake share: the method and the objection, without names and
	// numbers.
	Class string
	// Count is how many sequences ended with this finding.
	Count int
	// Seed is the sequence's seed. First is the seed to begin with if it is to be found again: that of an earlier sequence
	// if it needs what those have left.
	Seed, First uint64
	// Refusal explains why the last call's answer is rejected.
	Refusal *oracle.Refusal
	// Transcript lists the calls before the last one, each with its answer.
	Transcript []string
	// Shortest is set if no call can be removed. Otherwise the transcript begins with the reason why it is not made
	// shorter.
	Shortest bool
	// Known is the entry in Options.Known that covers this finding, or nil if there is none.
	Known *Known
}

// Heading returns what the story is called: the sequence, which is the shortest if no call can be removed.
func (f *Finding) Heading(sequence string) string {
	if f.Shortest {
		return "shortest " + sequence
	}
	return sequence
}

// String returns the transcript, followed by the refusal.
func (f *Finding) String() string {
	return strings.Join(append(f.Transcript[:len(f.Transcript):len(f.Transcript)], f.Refusal.Error()), "\n")
}

// Known is a mistake that is already known. The search continues when it finds one.
type Known struct {
	// Class is a substring of the Class of every finding that this entry covers.
	Class string
	// Reason says why the mistake remains. Link points to where that was decided.
	Reason, Link string
}

// Warning names a freedom of the contract that some answers needed. Such answers are legal, but usually not intended.
// To see a sequence that needs the freedom, deny it.
type Warning struct {
	Freedom   oracle.Freedom
	Summary   string
	Sequences int    // how many sequences needed the freedom
	Seed      uint64 // the seed of the first of them
}

// Report is the result of a search.
type Report struct {
	// Made is how many sequences were run.
	Made int
	// Passed is how many sequences had only allowed answers.
	Passed int
	// Findings are in the order in which they first occurred.
	Findings []*Finding
	// Unseen lists the known mistakes that did not occur.
	Unseen []Known
	// Warnings are in the order of the list suspicious.
	Warnings []Warning
	// Unanswered lists the calls of a sequence that has no verdict because its last call got no valid answer, as
	// Store.Broken says. The search has ended there.
	Unanswered []string
	// LeftOut lists what the store does not offer and what could therefore not be checked.
	LeftOut []string
}

// Unknown returns the first finding that Options.Known does not cover, or nil if there is none.
func (r *Report) Unknown() *Finding {
	for _, f := range r.Findings {
		if f.Known == nil {
			return f
		}
	}
	return nil
}

// Search runs the sequence of each seed on a fresh store. It stops when an answer is rejected for an unknown mistake,
// unless KeepGoing is set. An error comes from the factory, from Store.Broken, or from Options.Context. In that case
// there is no verdict on seed o.First+Made, and the report covers only the sequences before it. The report is nil if
// the factory cannot be used, or the provider has no method that a sequence called.
func Search(f undertest.Factory, o Options) (*Report, error) {
	denied, err := oracle.Denied(f.Contract)
	if err != nil {
		return nil, fmt.Errorf("Factory.Contract: %w", err)
	}
	if err := o.Oracle.Check(); err != nil {
		return nil, err
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
		before := len(r.report.Findings)
		if err := r.sequence(o.First + i); err != nil {
			if len(r.report.Findings) > before { // the next one has no verdict
				r.report.Made++
				if !o.KeepGoing {
					break
				}
			}
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
	if r.calls == 0 {
		return nil, errors.New("the provider has no method that a sequence called")
	}
	return r.report, nil
}

// sequence runs a seed's sequence and records its result. If it returns an error, there is no result.
func (r *reporter) sequence(seed uint64) error {
	if err := r.options.Context.Err(); err != nil {
		return err
	}
	c, err := sequence(r.factory, r.options.Oracle, seed, r.lacks, nil)
	if err != nil {
		if c != nil && len(c.moves) > 0 {
			r.report.Unanswered = c.transcript("not made shorter:")
			if !c.moves[len(c.moves)-1].was.Lost {
				r.report.Unanswered = append(r.report.Unanswered, "     the store as a whole → no valid answer")
			}
		}
		return err
	}
	r.calls += c.calls()
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

// usable makes a store and returns what cannot be checked on it, and which methods it lacks. It returns an error if the
// factory lacks something that every sequence needs.
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

// Check runs Search on a provider. If an answer is rejected, the test fails and shows the shortest sequence of calls
// that leads to it. Check also logs which features the store lacks.
func Check(t T, f undertest.Factory, o Options) {
	t.Helper()
	report, err := Search(f, o)
	if err != nil {
		if report != nil && report.Unanswered != nil {
			err = fmt.Errorf("%w\n%s", err, strings.Join(report.Unanswered, "\n"))
		}
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
		t.Fatalf("seed %d: the provider gave an answer that the contract does not allow; the %s:\n%s", finding.Seed, finding.Heading("rejected sequence"), finding)
	}
}
