package upgrade

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/sim/campaign"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// Report is the result of trying an upgrade. Its JSON is the part of what simrun plan --json prints that is about
// steps.
type Report struct {
	// Steps lists the steps of the first seed's plan.
	Steps []plan.Step `json:"-"`
	// Hazards lists the work in the store that no node can run after some step. Work that is only delayed comes last.
	Hazards []Hazard `json:"hazards"`
	// Expected counts the work in the store by its expected end.
	Expected []Expected `json:"store_expected,omitempty"`
	// Load reports whether work starts during the upgrade. If not, the report is only about the work in the store, or
	// the instances of the plan if there is no Store.
	Load bool `json:"load"`
	// LastMs has the same meaning as in Procedures.
	LastMs int64     `json:"last_start_ms"`
	Store  *Snapshot `json:"-"`
	// Whole summarizes the campaign over the whole plan, with the scenario's expectations.
	Whole *campaign.Summary `json:"-"`
	// End is the whole plan's effect on the work.
	End Effect `json:"-"`
	// Stops[i] is the effect of stopping after i steps, and Backs[i] is the effect of rolling back from there.
	Stops []Effect `json:"stops"`
	Backs []Effect `json:"rollbacks"`
	// NoReturn is the first step after which rolling back strands or loses an instance that is neither stranded nor lost
	// in that seed without any step, or no node starts as its old build; Barred then says why none does. It is 0 if
	// every step can be undone, as far as was tried.
	NoReturn int    `json:"-"`
	Barred   string `json:"-"`
	// Sooner is the first step before NoReturn from which the way back does harm, too, if it begins as late as from there.
	Sooner *Sooner `json:"sooner,omitempty"`
	// Kept is the last step from which, and from each step since NoReturn, a way back to just before NoReturn does no harm,
	// such as to a bridge. It is 0 if there is none.
	Kept int `json:"back_to_before_point_of_no_return,omitempty"`
	// Down is set if no node is up after the last step.
	Down bool `json:"-"`
	// Schemas is set if builds have schemas, and Drawn if the steps come at other times in other seeds.
	Schemas bool `json:"-"`
	Drawn   bool `json:"-"`
	// Waits lists all waits for a build in the runs of the whole plan, longest first.
	Waits []Waiting `json:"waits"`
	// Orders lists the step orders that were tried, best first.
	Orders []Order `json:"orders,omitempty"`
	// Runs is the number of runs, and Done how many of them are finished. Interrupted is set if something is missing.
	Runs        uint64 `json:"-"`
	Done        uint64 `json:"-"`
	Interrupted bool   `json:"-"`
}

// Sooner is a way back that began StayMs after step Step, later than the next step. Back is its effect.
type Sooner struct {
	Step   int    `json:"step"`
	StayMs int64  `json:"stay_ms"`
	Back   Effect `json:"rollback"`
}

// Tried reports whether every step was tried, so that NoReturn is known even if it is 0.
func (r *Report) Tried() bool { return len(r.Stops) > len(r.Steps) }

// Expected counts the instances in the store that are expected to end in a certain way.
type Expected struct {
	End     plan.End `json:"expected_to"`
	Why     string   `json:"why"`
	Count   int      `json:"count"`
	Example string   `json:"example"`
}

// Waiting is a wait, with the seed of its run.
type Waiting struct {
	Seed uint64 `json:"seed,string"`
	cluster.Wait
}

// Effect totals a variant's effect on the work over all seeds.
type Effect struct {
	Seeds uint64 `json:"seeds"`
	Work  uint64 `json:"work"`
	harm
	// Open counts the work from the store that is still running because it waits for an event that the plan does not
	// send, so that it does not end without any step either. Work that would end then is lost.
	Open Count `json:"open"`
	// Waited counts the work that waited for a build temporarily. LongestMs is the longest wait, WaitedMs the total of
	// all waits, and MostWaitedMs that of the waits of one run, the most of any.
	Waited       Count `json:"waited"`
	LongestMs    int64 `json:"longest_ms"`
	WaitedMs     int64 `json:"waited_ms"`
	MostWaitedMs int64 `json:"most_waited_ms"`
	// Violated lists the properties of the contract that were violated.
	Violated []string `json:"violated"`

	left   map[inRun]bool // what is stranded or lost
	opened map[inRun]bool // what is open
	since  *Effect        // the effect of no step, or nil if this is it
	fresh  harm           // what is stranded or lost, and is neither since
}

// inRun is an instance in the run of a seed.
type inRun struct {
	seed     uint64
	instance string
}

// harm counts what does not end as the plan expects.
type harm struct {
	// Stranded counts the work that waits for a build until rescue. Kinds and Pins in this count describe that work,
	// and Example is one of the instances.
	Stranded Count `json:"stranded"`
	// Untaken counts the stranded work that no build in the plan can run. Rescue deletes such work, unless a build that
	// admits it could not read it, and has poisoned it.
	Untaken Count `json:"untaken"`
	// Lost counts the work that was not stranded but did not end as the plan expects.
	Lost Count `json:"lost"`
}

// note notes, in the counts of one run, an instance that stands for n: as lost, unless it is stranded.
func (h *harm) note(f *cluster.Fate, example, pin string, n uint64, stored, stranded, untaken bool) {
	if untaken {
		h.Untaken.note(f, example, pin, n, stored)
	}
	if !stranded {
		h.Lost.note(f, example, pin, n, stored)
		return
	}
	h.Stranded.note(f, example, pin, n, stored)
}

func (h *harm) add(one *harm, seed uint64) {
	h.Stranded.add(&one.Stranded, seed)
	h.Untaken.add(&one.Untaken, seed)
	h.Lost.add(&one.Lost, seed)
}

// worst returns what is stranded or, if nothing is, what is lost, and the verb for it.
func (h *harm) worst() (c Count, what string) {
	if h.Stranded.Total > 0 {
		return h.Stranded, "strands"
	}
	return h.Lost, "loses"
}

// Count counts instances over all seeds.
type Count struct {
	// Total is the number of instances over all seeds, Most is the maximum in any one seed, and Seeds is the number of
	// seeds with at least one instance.
	Total uint64 `json:"total"`
	Most  uint64 `json:"most"`
	Seeds uint64 `json:"seeds"`
	// Example is in ExampleSeed's run an affected instance, or the child of one that holds it up. Pin is its pin, and Why
	// says how the affected instance ended or why it waits.
	Example     string `json:"example"`
	Pin         string `json:"pin"`
	Why         string `json:"why"`
	ExampleSeed uint64 `json:"example_seed,string"`
	// Instances lists those that are affected in that run, without what they stand for.
	Instances []string `json:"instances,omitempty"`

	stored []string // the instances of the store among them, in all seeds
}

// note notes, in the count of one run, an instance that stands for n, and as an example of them what holds it up. stored
// is set if they are of the store.
func (c *Count) note(f *cluster.Fate, example, pin string, n uint64, stored bool) {
	if c.Most == 0 {
		c.Example, c.Pin, c.Why = example, pin, cmp.Or(f.Cause, string(f.End))
	}
	c.Most += n
	c.Instances = append(c.Instances, f.Instance)
	if stored {
		c.stored = append(c.stored, f.Instance)
	}
}

func (c *Count) add(one *Count, seed uint64) {
	if one.Most == 0 {
		return
	}
	c.Total += one.Most
	c.Seeds++
	if one.Most > c.Most {
		c.Most, c.Example, c.Pin, c.Why, c.ExampleSeed, c.Instances = one.Most, one.Example, one.Pin, one.Why, seed, one.Instances
	}
	for _, id := range one.stored {
		if !slices.Contains(c.stored, id) {
			c.stored = append(c.stored, id)
		}
	}
}

// String formats the count for a table: the number of instances per run, and the number of runs affected.
func (c Count) String() string {
	if c.Total == 0 {
		return "-"
	}
	return strconv.FormatUint(c.Most, 10)
}

// such names the example, and upTo says how many there are at most in one run, too.
func (c Count) such() string {
	return fmt.Sprintf("such as %s (pin %s, seed %d)", c.Example, c.Pin, c.ExampleSeed)
}

func (c Count) upTo() string { return fmt.Sprintf("up to %s, %s", instances(c.Most), c.such()) }

// add adds the effect of run r of plan p, which begins with store.
func (e *Effect) add(store *Snapshot, p *plan.Plan, r *cluster.Result) {
	seed := r.Seed
	e.Seeds++
	var all, fresh harm
	var waited, open Count
	if e.left == nil {
		e.left, e.opened = map[inRun]bool{}, map[inRun]bool{}
	}
	note := func(f *cluster.Fate, pin string, n uint64, stored, stranded, untaken bool) {
		in, example := inRun{seed, f.Instance}, f.Instance
		if w := holdsUp(r, f.Instance); stranded && w != nil {
			example, pin = w.Instance, w.Pin
		}
		e.left[in] = true
		all.note(f, example, pin, n, stored, stranded, untaken)
		if e.since != nil && !e.since.left[in] {
			fresh.note(f, example, pin, n, stored, stranded, untaken)
		}
	}
	waits := func(f *cluster.Fate) bool {
		return slices.ContainsFunc(r.Waits, func(w cluster.Wait) bool { return w.Open && w.Instance == f.Instance })
	}
	down := leftDown(p, r)
	for i := range r.Fates {
		f := &r.Fates[i]
		pin, stored := pinOf(r, f.Instance, i), i < len(p.Instances) && p.Instances[i].Existing
		n := uint64(store.Weight(f.Instance))
		e.Work += n
		switch gone := deletedByRescue(r, f); {
		case gone || f.Rescued || f.End == cluster.StillRunning && waits(f):
			note(f, pin, n, stored, true, gone || f.Unread)
		case f.End == cluster.StillRunning && stored:
			if e.since != nil && !e.since.opened[inRun{seed, f.Instance}] {
				note(f, pin, n, stored, false, false) // it ends without any step
				break
			}
			e.opened[inRun{seed, f.Instance}] = true
			open.note(f, f.Instance, pin, n, stored) // it waits for an event that the plan does not send
		case !f.AsExpected:
			note(f, pin, n, stored, false, false)
		case f.EndedMs > down:
			waited := *f
			waited.Cause = "no node is up"
			note(&waited, pin, n, stored, false, false)
		}
	}
	for i := range r.Stored { // the plan expects no end of them, but they must not wait for ever
		f := &r.Stored[i]
		if gone := deletedByRescue(r, f); gone || f.Rescued || waits(f) {
			note(f, pinOf(r, f.Instance, len(p.Instances)+i), 1, false, true, gone || f.Unread)
		}
	}
	e.harm.add(&all, seed)
	e.fresh.add(&fresh, seed)
	e.Open.add(&open, seed)
	var longest *cluster.Wait
	seen, sum := map[string]bool{}, int64(0)
	for i := range r.Waits {
		w := &r.Waits[i]
		if w.Open {
			continue // already counted as stranded
		}
		if longest == nil || w.ForMs > longest.ForMs {
			longest = w
		}
		n := store.Weight(w.Instance)
		if sum += w.ForMs * int64(n); !seen[w.Instance] {
			seen[w.Instance] = true
			waited.Most += uint64(n)
			waited.Instances = append(waited.Instances, w.Instance)
		}
	}
	if longest != nil {
		waited.Example, waited.Pin, waited.Why = longest.Instance, longest.Pin, "it waited for "+pretty.Duration(longest.ForMs)
		e.LongestMs, e.MostWaitedMs, e.WaitedMs = max(e.LongestMs, longest.ForMs), max(e.MostWaitedMs, sum), e.WaitedMs+sum
	}
	e.Waited.add(&waited, r.Seed)
	for _, v := range r.Violations {
		if v.Class != cluster.ClassPlan && !slices.Contains(e.Violated, v.Property) {
			e.Violated = append(e.Violated, v.Property)
		}
	}
}

// leftDown returns when recovery started the first node again, in milliseconds since the start of the run, if the plan
// leaves none up: what ended later would have waited until somebody did that.
func leftDown(p *plan.Plan, r *cluster.Result) int64 {
	i := slices.IndexFunc(r.Help, func(h cluster.Help) bool { return h.Kind == cluster.HelpStart && h.Phase == cluster.PhaseRecovery })
	if i < 0 || stateAfter(p, Steps(p), nil).anyUp() {
		return math.MaxInt64
	}
	return r.Help[i].VirtualMs
}

func deletedByRescue(r *cluster.Result, f *cluster.Fate) bool {
	return f.End == cluster.EndedDeleted && slices.ContainsFunc(r.Help, func(h cluster.Help) bool { return deletes(h, f.Instance) })
}

func deletes(h cluster.Help, instance string) bool {
	return h.Kind == cluster.HelpDelete && (h.Name == instance || strings.HasPrefix(instance, h.Name+"::"))
}

// holdsUp returns the wait until rescue that holds instance up: its own, or that of a child. It is nil if none does.
func holdsUp(r *cluster.Result, instance string) (wait *cluster.Wait) {
	for i := range r.Waits {
		switch w := &r.Waits[i]; {
		case w.Open && w.Instance == instance:
			return w
		case wait == nil && w.Open && strings.HasPrefix(w.Instance, instance+"::"):
			wait = w
		}
	}
	return wait
}

// pinOf returns the pin of instance i, or, if it has been deleted, the one that it last waited with, or was deleted for.
func pinOf(r *cluster.Result, instance string, i int) string {
	if i < len(r.FinalStates) && r.FinalStates[i].Instance == instance && r.FinalStates[i].Pin != nil {
		return r.FinalStates[i].Pin.String()
	}
	for _, w := range slices.Backward(r.Waits) {
		if w.Instance == instance {
			return w.Pin
		}
	}
	for _, h := range r.Help {
		if deletes(h, instance) {
			return h.Text
		}
	}
	return "none"
}

// expected counts the work in the store by its expected end.
func expected(c *Config, p *plan.Plan) (all []Expected) {
	if c.Snapshot == nil {
		return nil
	}
	stored := map[string]plan.End{}
	for _, in := range c.Snapshot.Instances() {
		stored[in.ID] = in.Expect
	}
	for i := range p.Instances {
		in := &p.Instances[i]
		if !in.Existing {
			continue
		}
		why := ""
		if stored[in.ID] != in.Expect {
			why = "as the plan says"
		}
		e := entry(&all, func(e Expected) bool { return e.End == in.Expect && e.Why == why }, Expected{End: in.Expect, Why: why, Example: in.ID})
		e.Count += c.Snapshot.Weight(in.ID)
	}
	for i := range all {
		e := &all[i]
		switch {
		case e.Why != "":
		case e.End == plan.EndEternal:
			e.Why = "since an execution of its orchestration has continued as new"
		case e.End == EndCancelled:
			e.Why = "since a cancel request is under way"
		}
		e.End = cmp.Or(e.End, plan.EndCompleted)
	}
	slices.SortStableFunc(all, func(a, b Expected) int { return cmp.Compare(b.Count, a.Count) })
	return all
}

// Try tries the whole plan, each prefix of it, and a rollback from each prefix.
func Try(c Config) (*Report, error) {
	first, builds, err := c.planned(c.First)
	if err != nil {
		return nil, err
	}
	r := &Report{
		Steps: Steps(first), Hazards: preflight(first, builds, c.Snapshot), Expected: expected(&c, first), Load: c.Scenario.Load != nil, LastMs: lastStart(first).Milliseconds(), Store: c.Snapshot,
		Stops: []Effect{}, Backs: []Effect{}, Waits: []Waiting{},
	}
	r.Down = !stateAfter(first, r.Steps, builds).anyUp()
	second, err := c.Plan(c.First + 1)
	if err != nil {
		return nil, err
	}
	r.Schemas, r.Drawn = first.FirstSchema() != 0, !slices.EqualFunc(r.Steps, Steps(second), func(a, b plan.Step) bool { return a.At == b.At })
	r.Runs = uint64(2*len(r.Steps)+1) * c.Seeds
	if c.OnPreflight != nil {
		c.OnPreflight(r)
	}
	if err = r.run(&c, builds); errors.Is(err, context.Canceled) {
		r.Interrupted = true
		return r, nil
	}
	return r, err
}

// run adds the runs to the report. If it is interrupted, the report covers those that were finished, and only the steps
// of which both variants were.
func (r *Report) run(c *Config, builds []*engine.Build) (err error) {
	tick := func() {
		if r.Done++; c.OnProgress != nil {
			c.OnProgress(r.Done, r.Runs)
		}
	}
	stopped := func(k int) trial {
		return trial{cfg: c, change: func(p *plan.Plan, _ uint64) { Stop(p, k) }, done: tick}
	}
	whole, without := trial{cfg: c, expect: c.Scenario.Expect, done: tick}, stopped(0)
	none, err := without.effect(nil)
	if err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	r.End.since = &none
	r.Whole, err = whole.run(c.Seeds, func(p *plan.Plan, res *cluster.Result) {
		r.End.add(c.Snapshot, p, res)
		for _, w := range res.Waits {
			r.Waits = append(r.Waits, Waiting{res.Seed, w})
		}
	})
	slices.SortStableFunc(r.Waits, func(a, b Waiting) int { return b.Compare(&a.Wait) })
	if err != nil {
		return err
	}
	r.Stops, r.Backs = append(r.Stops, none), append(r.Backs, none)
	for k := 1; k <= len(r.Steps); k++ {
		stop, back := stopped(k), trial{cfg: c, change: func(p *plan.Plan, _ uint64) { c.Back(p, k, 0, builds) }, done: tick}
		end, err := stop.effect(&none)
		if err != nil {
			return err
		}
		e, err := back.effect(&none)
		if err != nil {
			return err
		}
		r.Stops, r.Backs = append(r.Stops, end), append(r.Backs, e)
		if r.NoReturn > 0 {
			continue
		}
		first, err := c.Plan(c.First)
		if err != nil {
			return err
		}
		if bar := barred(first, 0, k, builds); bar != "" || e.leaves() {
			r.NoReturn, r.Barred = k, bar
			if err := errors.Join(r.sooner(c, first, &none, builds), r.partWay(c, first, &none, builds)); err != nil {
				return err
			}
		}
	}
	return nil
}

// sooner looks for a step before the point of no return that owes it only to the next step that it is none.
func (r *Report) sooner(c *Config, first *plan.Plan, none *Effect, builds []*engine.Build) error {
	_, stay := gap(first, r.Steps, r.NoReturn)
	for k := 1; k < r.NoReturn && r.Barred == ""; k++ {
		if _, own := gap(first, r.Steps, k); own >= stay {
			continue
		}
		back := trial{cfg: c, change: func(p *plan.Plan, _ uint64) { c.Back(p, k, stay, builds) }}
		if e, err := back.effect(none); err != nil {
			return err
		} else if e.leaves() {
			r.Sooner = &Sooner{k, stay.Milliseconds(), e}
			return nil
		}
	}
	return nil
}

// partWay looks for the steps from which the way back to just before the point of no return does no harm.
func (r *Report) partWay(c *Config, first *plan.Plan, none *Effect, builds []*engine.Build) error {
	before, kept := r.NoReturn-1, 0
	for k := r.NoReturn; k <= len(r.Steps) && before > 0 && barred(first, before, k, builds) == ""; k++ {
		back := trial{cfg: c, change: func(p *plan.Plan, _ uint64) { c.backTo(p, before, k, 0, 0, builds) }}
		if e, err := back.effect(none); err != nil {
			return err
		} else if e.leaves() {
			break
		}
		kept = k
	}
	r.Kept = kept
	return nil
}

// leaves reports whether a way back with effect e does harm that not having begun does not.
func (e *Effect) leaves() bool { return e.fresh.Stranded.Total+e.fresh.Lost.Total > 0 }

// loses compares what two variants violate, lose and strand.
func (e *Effect) loses(o *Effect) int {
	return cmp.Or(cmp.Compare(len(e.Violated), len(o.Violated)), cmp.Compare(e.Lost.Total, o.Lost.Total), cmp.Compare(e.Stranded.Total, o.Stranded.Total))
}

// effect returns the trial's effect, of which fresh is what that of no step, since, has not.
func (t *trial) effect(since *Effect) (Effect, error) {
	e := Effect{since: since}
	_, err := t.run(t.cfg.Seeds, func(p *plan.Plan, res *cluster.Result) { e.add(t.cfg.Snapshot, p, res) })
	return e, err
}
