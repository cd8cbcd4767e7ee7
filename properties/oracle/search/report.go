package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/properties/oracle"
	"github.com/durosim/durosim/properties/undertest"
)

// reporter collects the results of a search's sequences.
type reporter struct {
	factory undertest.Factory
	options Options
	lacks   map[string]bool // methods that have answered engine.ErrUnsupported
	calls   int             // how many calls were judged
	// declared lists the methods that are known to be missing before any call is made.
	declared []string
	report   *Report
}

// storiesPerClass limits how many findings in a class are shortened.
const storiesPerClass = 4

// found adds the rejected sequence to its class, and keeps its story if it is the shortest so far.
func (r *reporter) found(c *checker, seed uint64) error {
	class := classOf(c.refusal)
	at := slices.IndexFunc(r.report.Findings, func(f *Finding) bool { return f.Class == class })
	if at >= 0 && r.report.Findings[at].Count >= storiesPerClass {
		r.report.Findings[at].Count++
		return nil
	}
	s := &shrinker{factory: r.factory, options: r.options.Oracle, class: class, context: r.options.Context}
	least := s.least(c.moves)
	refusal, transcript, _, shortest := s.fails(least)
	switch {
	case errors.Is(s.err, context.Canceled):
		refusal, transcript, shortest = c.refusal, c.transcript("it was not made shorter, since that was interrupted:"), false
	case s.err != nil:
		shortest = false
		refusal, transcript = c.refusal, c.transcript(fmt.Sprintf("it could not be made shorter: %v", s.err))
	case refusal == nil && attempts(least) > 1:
		refusal, transcript = c.refusal, c.transcript("the same calls on other stores were allowed: what a kill leaves depends on its moment")
	case refusal == nil: // the provider is nondeterministic, or its stores share state
		why := "the same calls on another store were allowed: the provider is not deterministic, or its stores share state"
		if c.restarted {
			why += ", or a restart undoes what made the store empty"
		}
		refusal, transcript = c.refusal, c.transcript(why)
	}
	first := seed
	if s.err == nil && refusal != c.refusal && r.needsMore(s, least) {
		first = r.options.First
		transcript, shortest = slices.Concat([]string{"in another process, where nothing came before, these calls were allowed: reset seems not to undo all that other sequences did"}, transcript), false
	}
	f := &Finding{Class: class, Count: 1, Seed: seed, First: first, Refusal: refusal, Transcript: transcript, Shortest: shortest, Known: r.known(class)}
	if at < 0 {
		r.report.Findings = append(r.report.Findings, f)
		return s.err
	}
	have := r.report.Findings[at]
	if have.Count++; len(f.Transcript) < len(have.Transcript) && s.err == nil {
		f.Count = have.Count
		r.report.Findings[at] = f
	}
	return s.err
}

// needsMore reports whether moves are allowed on a store that shares nothing with those of the other sequences. It asks
// twice, and the other stores in between, since a provider may be wrong only now and then.
func (r *reporter) needsMore(shared *shrinker, moves []move) bool {
	if r.factory.Alone == nil {
		return false
	}
	alone := *shared
	alone.factory.New = r.factory.Alone
	for range 2 {
		if _, _, _, failed := alone.fails(moves); failed {
			return false
		}
		if alone.err != nil { // it may not run twice at a time, and is not asked again
			r.factory.Alone = nil
			return false
		}
		if _, _, _, again := shared.fails(moves); !again {
			return false
		}
	}
	return true
}

func (r *reporter) known(class string) *Known {
	if i := slices.IndexFunc(r.options.Known, func(k Known) bool { return strings.Contains(class, k.Class) }); i >= 0 {
		return &r.options.Known[i]
	}
	return nil
}

// finish adds the results that are known only once the search has ended.
func (r *reporter) finish() {
	for i, k := range r.options.Known {
		if !slices.ContainsFunc(r.report.Findings, func(f *Finding) bool { return f.Known == &r.options.Known[i] }) {
			r.report.Unseen = append(r.report.Unseen, k)
		}
	}
	undeclared := slices.DeleteFunc(slices.Sorted(maps.Keys(r.lacks)), func(m string) bool { return slices.Contains(r.declared, m) })
	if len(undeclared) > 0 {
		r.report.LeftOut = append(r.report.LeftOut, "methods that the provider does not support: "+strings.Join(undeclared, ", "))
	}
}

// The parts in which two refusals for the same mistake may differ.
var (
	quoted  = regexp.MustCompile(`"[^"]*"`)
	numbers = regexp.MustCompile(`\d+(\.\.\d+)?`)
)

// classOf returns the text that all refusals for the same mistake have in common.
func classOf(r *oracle.Refusal) string {
	text := "not what the contract allows"
	if r.Call == nil {
		return "restart: the provider does not go on"
	}
	if len(r.Objections) > 0 {
		// The token goes first: it may have a colon, as that of a shorter sequence in which nothing gives it (see retoken).
		text = strings.ReplaceAll(r.Objections[0].Text, "token "+cmp.Or(call.LockToken(r.Call), "…")+" ", "token … ")
		text, _, _ = strings.Cut(text, ":")
		text, _, _ = strings.Cut(text, " {")
	}
	text = numbers.ReplaceAllString(quoted.ReplaceAllString(text, "…"), "n")
	return fmt.Sprintf("%s: %s", call.Method(r.Call), text)
}

// suspicious lists freedoms that are more often a sign of a mistake than of a deliberate choice.
var suspicious = []oracle.Freedom{
	"F4", "F9", "F21", "F23", "X1",
}

func denying(o oracle.Options, more ...oracle.Freedom) oracle.Options {
	o.Deny = slices.Concat(o.Deny, more)
	return o
}

// warn records which suspicious freedoms a sequence's answers needed.
func (r *reporter) warn(c *checker, seed uint64) {
	if c.strict != nil {
		return // the answers needed no suspicious freedom
	}
	for _, f := range suspicious {
		judge := oracle.New(denying(r.options.Oracle, f))
		if slices.Contains(r.options.Oracle.Deny, f) || !slices.ContainsFunc(c.exchanges, func(e oracle.Exchange) bool { return judge.Apply(e) != nil }) {
			continue
		}
		at := slices.IndexFunc(r.report.Warnings, func(w Warning) bool { return w.Freedom == f })
		if at < 0 {
			at = len(r.report.Warnings)
			r.report.Warnings = append(r.report.Warnings, Warning{Freedom: f, Summary: summary(f), Seed: seed})
		}
		r.report.Warnings[at].Sequences++
	}
}

func summary(f oracle.Freedom) string {
	for _, info := range oracle.Freedoms() {
		if info.ID == f {
			return info.Summary
		}
	}
	return ""
}
