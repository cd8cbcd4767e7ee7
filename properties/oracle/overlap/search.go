package overlap

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/durosim/durosim/properties/oracle"
	"github.com/durosim/durosim/properties/undertest"
)

// Options configure a search.
type Options struct {
	// Oracle describes what the provider promises beyond the contract.
	Oracle oracle.Options
	// First is the seed of the first program, and Programs their number; zeros stand for seed 1 and 1,000 programs.
	First    uint64
	Programs int
	// Patience is how long a call may take before it counts as one that never ends; zero stands for ten seconds.
	Patience time.Duration
	// Done is called after each program. It may be nil.
	Done func()
	// Context ends the search early, after the program that is being carried out. It may be nil.
	Context context.Context
}

func (o Options) prepared() Options {
	if o.First == 0 {
		o.First = 1
	}
	if o.Programs == 0 {
		o.Programs = 1000
	}
	if o.Patience == 0 {
		o.Patience = 10 * time.Second
	}
	if o.Context == nil {
		o.Context = context.Background()
	}
	if o.Done == nil {
		o.Done = func() {}
	}
	return o
}

// Report is what a search has found.
type Report struct {
	// Made is how many programs were carried out, and Undecided of how many it was not found out whether there is an order.
	Made, Undecided int
	// Alone is how many programs are wrong when one caller follows the other, too, which random sequences tell better.
	Alone int
	// Lacks are the methods that the provider does not have, in ascending order: calls of them were left out.
	Lacks []string
	// Finding is nil if nothing is wrong with calls that overlap, as far as that was decided.
	Finding *Finding
}

func (r *Report) lacks(methods []string) {
	r.Lacks = append(r.Lacks, methods...)
	slices.Sort(r.Lacks)
	r.Lacks = slices.Compact(r.Lacks)
}

// Finding is something wrong with calls that overlap.
type Finding struct {
	// Seed is that of the program.
	Seed uint64
	// Class is NoOrder or NoAnswer.
	Class string
	// Calls is how many calls were made, and Story what they were and what is wrong with them.
	Calls int
	Story string
}

// The classes of findings.
const (
	// NoOrder says that no order of the calls makes each answer right.
	NoOrder = "no order"
	// NoAnswer says that a call did not end in time. The store cannot be asked again.
	NoAnswer = "no answer"
)

// ErrSequential is the error of a search on a store whose calls must not overlap.
var ErrSequential = errors.New("calls of this store must not overlap")

// Search carries out programs until one shows something wrong, and makes that one shorter. The error says why there is
// no verdict: the factory fails, or the connection to the provider does.
func Search(f undertest.Factory, o Options) (*Report, error) {
	o = o.prepared()
	report := &Report{}
	for i := range o.Programs {
		if o.Context.Err() != nil {
			return report, o.Context.Err()
		}
		seed := o.First + uint64(i)
		p := draw(seed)
		finding, undecided, err := try(f, o, p, report)
		alone := false
		if err == nil && finding != nil && finding.Class == NoOrder {
			if alone, err = wrongAlone(f, o, p); err == nil && !alone {
				finding = shorten(f, o, p, finding)
			}
		}
		if err != nil {
			return report, fmt.Errorf("seed %d: %w", seed, err)
		}
		report.Made++
		o.Done()
		switch {
		case undecided:
			report.Undecided++
		case alone:
			report.Alone++
		case finding != nil:
			finding.Seed = seed
			report.Finding = finding
			return report, nil
		}
	}
	return report, nil
}

// try carries out a program on a new store.
func try(f undertest.Factory, o Options, p program, report *Report) (finding *Finding, undecided bool, err error) {
	store, err := f.Make()
	if err != nil {
		return nil, false, err
	}
	if store.Sequential {
		store.Release()
		return nil, false, ErrSequential
	}
	out := run(store, p, o.Patience)
	report.lacks(slices.Concat(store.Lacks(), out.lacks))
	if len(out.unanswered) > 0 {
		// The store is not released: a call is still inside it.
		return &Finding{Class: NoAnswer, Calls: len(out.history) + len(out.unanswered), Story: out.story() + out.deadlock(o.Patience)}, false, nil
	}
	store.Release()
	if store.Broken != nil {
		if err := store.Broken(); err != nil {
			return nil, false, err
		}
	}
	wrong, undecided := judge(o.Oracle, out.history)
	if wrong == "" {
		return nil, undecided, nil
	}
	return &Finding{Class: NoOrder, Calls: len(out.history), Story: out.story() + wrong}, false, nil
}

// wrongAlone reports whether a program is wrong although no caller begins before another has ended.
func wrongAlone(f undertest.Factory, o Options, p program) (bool, error) {
	p.inTurn = true
	finding, _, err := try(f, o, p, &Report{})
	return finding != nil, err
}

// repeats is how often a shorter program is tried: calls overlap otherwise each time.
const repeats = 25

// shorten leaves steps out as long as what is left is wrong, too.
func shorten(f undertest.Factory, o Options, p program, found *Finding) *Finding {
	for i := 0; i < p.length(); {
		shorter := p.without(i)
		better := again(f, o, shorter)
		if better == nil {
			i++
			continue
		}
		p, found = shorter, better
	}
	return found
}

// again tries a program until it is wrong; nil if it never is.
func again(f undertest.Factory, o Options, p program) *Finding {
	for range repeats {
		finding, _, err := try(f, o, p, &Report{})
		if err != nil || o.Context.Err() != nil {
			return nil
		}
		if finding != nil && finding.Class == NoOrder {
			if alone, err := wrongAlone(f, o, p); err != nil || alone {
				return nil // something else is wrong here
			}
			return finding
		}
	}
	return nil
}

// story tells the calls of a program.
func (o course) story() string {
	var b strings.Builder
	for i, op := range o.history {
		switch {
		case i == o.first && i > 0:
			b.WriteString("  at the same time, each call from one tick to another:\n")
		case i == 0 && o.first > 0:
			b.WriteString("  one after the other:\n")
		}
		e := op.Input.(oracle.Exchange)
		who := ""
		if i >= o.first {
			who = fmt.Sprintf("caller %d, %d to %d: ", op.ClientId, op.Call, op.Return)
		}
		fmt.Fprintf(&b, "   %2d %s%s\n       → %s\n", i+1, who, e, e.AnswerText())
	}
	return b.String()
}

// deadlock tells the calls that never ended.
func (o course) deadlock(patience time.Duration) string {
	var b strings.Builder
	for _, e := range o.unanswered {
		fmt.Fprintf(&b, "      %s\n       → no answer within %v\n", e, patience)
	}
	if len(o.unanswered) == 1 {
		return b.String() + "a call never ends that was made while others were"
	}
	return b.String() + "these calls wait for each other: none of them ends"
}
