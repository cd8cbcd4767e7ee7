package overlap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/properties/oracle"
	"github.com/durosim/durosim/properties/undertest"
)

// Options configures a search.
type Options struct {
	// Oracle describes what the provider promises beyond the contract.
	Oracle oracle.Options
	// First is the seed of the first program, and Programs is how many programs are run. The defaults are 1 and 1,000.
	First    uint64
	Programs int
	// Patience is how long a call may take before it counts as one that never ends. Zero means ten seconds.
	Patience time.Duration
	// Done, if not nil, is called after each program.
	Done func()
	// Context, if not nil, ends the search early: the program in progress is the last one.
	Context context.Context
}

func (o Options) prepared() Options {
	o.First, o.Programs, o.Patience = cmp.Or(o.First, 1), cmp.Or(o.Programs, 1000), cmp.Or(o.Patience, 10*time.Second)
	if o.Context == nil {
		o.Context = context.Background()
	}
	if o.Done == nil {
		o.Done = func() {}
	}
	return o
}

// Report is the result of a search.
type Report struct {
	// Made is how many programs were run. Undecided is how many of them could not be decided because the search for an
	// order took too long.
	Made, Undecided int
	// Alone is how many programs fail even if their callers run one after another. Package search is better at showing
	// such mistakes.
	Alone int
	// Empty is how many programs made no call, because the provider lacks the methods.
	Empty int
	// Lacks lists, in ascending order, the methods that the provider lacks. Calls to these methods were skipped.
	Lacks []string
	// Finding is the mistake found in overlapping calls, or nil if none was found.
	Finding *Finding
}

func (r *Report) lacks(methods []string) {
	r.Lacks = append(r.Lacks, methods...)
	slices.Sort(r.Lacks)
	r.Lacks = slices.Compact(r.Lacks)
}

// Finding is a mistake in overlapping calls.
type Finding struct {
	// Seed is the program's seed.
	Seed uint64
	// Class is NoOrder, NoAnswer, Ended or WrongForm.
	Class string
	// Calls is how many calls were made. Story lists them together with the mistake.
	Calls int
	Story string
}

// The classes of findings.
const (
	// NoOrder means that no order of the calls makes every answer right.
	NoOrder = "no order"
	// NoAnswer means that a call did not end in time. The store cannot be used again after that.
	NoAnswer = "no answer"
	// Ended means that the provider's process ended during a call.
	Ended = "process ended"
	// WrongForm means that an answer has the wrong form.
	WrongForm = "wrong form"
)

// ErrSequential is returned by a search on a store whose calls must not overlap.
var ErrSequential = errors.New("calls of this store must not overlap")

// Search runs programs until one of them shows a mistake, and then shortens that program. An error means that there is
// no verdict, because the factory or the connection to the provider failed.
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
		// The store is not released, because a call is still running in it.
		return &Finding{Class: NoAnswer, Calls: len(out.history) + len(out.unanswered), Story: out.story() + out.deadlock(o.Patience)}, false, nil
	}
	store.Release()
	if len(out.history) == 0 {
		report.Empty++
	}
	if store.Broken != nil {
		switch err := store.Broken(); {
		case engine.Mistaken(err) && o.Context.Err() == nil:
			class := Ended
			if errors.Is(err, engine.ErrForm) {
				class = WrongForm
			}
			return &Finding{Class: class, Calls: len(out.history), Story: out.story() + err.Error()}, false, nil
		case err != nil:
			return nil, false, err
		}
	}
	wrong, undecided := judge(o.Oracle, out.history)
	if wrong == "" {
		return nil, undecided, nil
	}
	return &Finding{Class: NoOrder, Calls: len(out.history), Story: out.story() + wrong}, false, nil
}

// wrongAlone reports whether a program fails even if each caller begins only after the previous one has ended, in order
// or in reverse.
func wrongAlone(f undertest.Factory, o Options, p program) (bool, error) {
	p.inTurn, p.callers = true, slices.Clone(p.callers)
	for range 2 {
		if finding, _, err := try(f, o, p, &Report{}); finding != nil || err != nil {
			return finding != nil, err
		}
		slices.Reverse(p.callers)
	}
	return false, nil
}

// repeats is how often a shorter program is tried, because its calls overlap differently each time.
const repeats = 25

// shorten removes steps for as long as the remaining program still fails.
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

// again runs a program up to repeats times, until it fails. It returns nil if the program never fails.
func again(f undertest.Factory, o Options, p program) *Finding {
	for range repeats {
		finding, _, err := try(f, o, p, &Report{})
		if err != nil || o.Context.Err() != nil {
			return nil
		}
		if finding != nil && finding.Class == NoOrder {
			if alone, err := wrongAlone(f, o, p); err != nil || alone {
				return nil // the program shows a different mistake this time
			}
			return finding
		}
	}
	return nil
}

// story lists the calls that a program made.
func (o course) story() string {
	var b strings.Builder
	for i, op := range o.history {
		switch {
		case i == o.first:
			b.WriteString("  at the same time, each call from one tick to another:\n")
		case i == 0:
			b.WriteString("  one after another:\n")
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

// deadlock lists the calls that never ended.
func (o course) deadlock(patience time.Duration) string {
	var b strings.Builder
	for i, e := range o.unanswered {
		fmt.Fprintf(&b, "   %2d %s\n       → no answer within %v\n", len(o.history)+i+1, e, patience)
	}
	if len(o.unanswered) == 1 {
		return b.String() + "this call never ends"
	}
	return b.String() + "these calls wait for each other: none of them ends"
}
