package cluster

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/internal/watchdog"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/plan"
)

// Totals are the figures of a run that add up over the runs of a campaign. A report shows each of them in every form.
type Totals struct {
	Steps   uint64 `json:"steps"`      // kernel events that changed something or made a call
	Turns   uint64 `json:"turns"`      // computed by nodes, committed or not
	Calls   uint64 `json:"calls"`      // made by nodes; a parked fetch counts once
	Virtual int64  `json:"virtual_ms"` // virtual milliseconds
}

// Add adds the totals of another run.
func (t *Totals) Add(o Totals) {
	t.Steps += o.Steps
	t.Turns += o.Turns
	t.Calls += o.Calls
	t.Virtual += o.Virtual
}

// Figure is a row of a report's table of totals.
type Figure struct {
	Name  string
	Count uint64
}

// Figures returns the totals that the table of a report shows.
func (t *Totals) Figures() []Figure { return []Figure{{"steps", t.Steps}, {"turns", t.Turns}} }

// Result is the result of a run. Its JSON is the line of the seed in a file of results, which leaves out what a report
// of a campaign does not need; coverage is at the end of that file.
type Result struct {
	Seed   uint64     `json:"-"`
	Digest sim.Digest `json:"digest"` // digest of the whole trace
	Totals
	// Violations are in the order in which they were found.
	Violations []Violation `json:"violations,omitempty"`
	Coverage   []Point     `json:"-"`
	// Exhausted is set if the run was ended by the step budget, which also violates "run-ends".
	Exhausted bool `json:"-"`
	// Early is set if the run ended before its work could be judged, such as at a wrong answer of Config.Store.
	Early bool `json:"early,omitempty"`
	// FinalStates has the states of the plan's instances followed by those of its preloaded histories, each in the
	// plan's order.
	FinalStates []FinalState `json:"-"`
	// Help lists, in order, what recovery and rescue did beyond the plan. Some work may have ended only because of it.
	Help []Help `json:"help,omitempty"`
	// Told is provided by the monitor if it is a FateTeller.
	Told
	// Marks holds the trace's running hashes if KeepTrace was set.
	Marks []sim.Mark `json:"-"`
}

// unjudged returns the part of the run's result that needs no judgement.
func (w *World) unjudged() *Result {
	return &Result{
		Seed: w.cfg.Seed, FinalStates: w.FinalStates(),
		Totals: Totals{Steps: w.kernel.Steps(), Turns: w.fleet.turns, Calls: uint64(w.network.calls.n), Virtual: w.nowMs() - w.startMs()},
	}
}

func (w *World) result() *Result {
	r := w.unjudged()
	r.Exhausted, r.Early, r.Marks = w.kernel.Exhausted(), !w.finished, w.marks
	r.Help = slices.DeleteFunc(w.help, func(h Help) bool { // a cancel does nothing for work that never begins
		p, _ := w.store.Peek(h.Name)
		return h.Kind == HelpCancel && !p.Created && !w.deleted(h.Name)
	})
	r.Violations = w.internal
	if w.monitor != nil {
		r.Violations = append(r.Violations, w.monitor.Violations()...)
		r.Coverage = w.monitor.Coverage()
		if t, ok := w.monitor.(FateTeller); ok {
			r.Told = t.Told()
			r.Remarks = append(r.Remarks, w.clients.refused...)
		}
	}
	r.Digest = w.trace.Digest()
	return r
}

// PropertyHandlerReturns is violated if code does not come back. Each such run leaves code behind that cannot be
// stopped.
const PropertyHandlerReturns = "handler-returns"

// givenUp returns the result of a run whose code did not come back. Nothing but that code runs any more.
func (w *World) givenUp(s *watchdog.Stuck) *Result {
	r := w.unjudged()
	w.internal = nil
	w.violated(Violation{Property: PropertyHandlerReturns, Class: ClassHandler, Instance: s.Instance, Message: s.Message})
	r.Early, r.Violations = true, w.internal
	return r
}

// Counters returns the counters of a node's current incarnation, or false if the node is down.
func (w *World) Counters(node uint32) (Counters, bool) {
	if n := w.fleet.list[node-1]; n.machine != nil {
		return n.machine.Counters(), true
	}
	return Counters{}, false
}

// FinalStates returns the current states of the plan's instances followed by those of its preloaded histories, each in
// the plan's order. The caller owns the slice.
func (w *World) FinalStates() []FinalState {
	var all []FinalState
	for _, id := range w.instanceNames() {
		o := FinalState{Instance: id, Deleted: w.deleted(id)}
		if p, ok := w.store.Peek(id); ok {
			o.Status, o.Execution, o.Pin = p.Status, p.Execution, p.Pin
			if p.Output != nil {
				o.Output = *p.Output
			}
		}
		all = append(all, o)
	}
	return all
}

// instanceNames returns the names of the plan's instances followed by those of its preloaded histories.
func (b *base) instanceNames() (names []string) {
	for i := range b.plan.Instances {
		names = append(names, b.plan.Instances[i].ID)
	}
	for i := range b.plan.Histories {
		names = append(names, b.plan.Histories[i].Instance)
	}
	return names
}

// Fate describes how one of the plan's instances ended.
type Fate struct {
	Instance string `json:"instance"`
	// Expect is the ending that the plan expects. Empty means the default, completed.
	Expect plan.End `json:"expected,omitempty"`
	End    Ending   `json:"end"`
	// Cause briefly says why the instance ended as it did, or what it is waiting for. It mentions no times, so
	// that alike fates can be counted across many runs. It is empty for a completed instance.
	Cause string `json:"cause,omitempty"`
	// AsExpected reports whether the plan expects this ending.
	AsExpected bool `json:"as_expected,omitempty"`
	// Known means that a campaign ignores its violation.
	Known bool `json:"known,omitempty"`
	// Owes describes what recovery or rescue did for the instance: raised an event, cancelled it, widened nodes. It is
	// empty if they did nothing.
	Owes string `json:"owes,omitempty"`
	// Rescued means that the instance could end only because rescue widened nodes. Until then no live node admitted
	// it.
	Rescued bool `json:"rescued,omitempty"`
	// Unread means that it was poisoned by a build that could not read it.
	Unread bool `json:"-"`
	Place
}

// varying matches inputs and numbers in a cause, with their units.
var varying = regexp.MustCompile(`input="(?:[^"\\]|\\.)*"|[0-9][0-9a-zµ.]*`)

// Alike returns the cause without what differs between instances that ended for one reason: their names, inputs,
// durations and numbers. Versions stay.
func (f *Fate) Alike() string {
	if f.Cause == "" {
		return ""
	}
	mask := func(text string) string {
		return varying.ReplaceAllStringFunc(text, func(s string) string {
			if _, err := engine.ParseVersion(s); err == nil {
				return s
			}
			return "#"
		})
	}
	return replaceWord(mask(f.Cause), mask(f.Instance), "INSTANCE")
}

// replaceWord replaces each occurrence of a name that is not part of a longer one.
func replaceWord(text, name, by string) string {
	if name == "" || !strings.Contains(text, name) {
		return text
	}
	longer := func(r rune, _ int) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("#_-", r)
	}
	parts := strings.Split(text, name)
	text = parts[0]
	for _, next := range parts[1:] {
		if longer(utf8.DecodeLastRuneInString(text)) || longer(utf8.DecodeRuneInString(next)) {
			text += name + next
		} else {
			text += by + next
		}
	}
	return text
}

// Place says when and where an instance ended.
type Place struct {
	// EndedMs is when the instance ended, in milliseconds since the start of the run, or 0 if it has not ended. The
	// other fields describe the ack that ended it: Node is the node that made it, Build is the build the node was
	// running, and Step is the schedule step that put this build on the node. Each is empty if it does not apply.
	EndedMs int64  `json:"ended_ms"`
	Node    string `json:"node"`
	Build   string `json:"build"`
	Step    string `json:"step"`
}

// Ending is how an instance ended, or its state if it has not ended.
type Ending string

// The endings.
const (
	EndedCompleted Ending = "completed"
	EndedFailed    Ending = "failed"    // because of its code, an activity, a child, a limit or a panic
	EndedCancelled Ending = "cancelled" // by a cancel request
	EndedPoisoned  Ending = "poisoned"  // the instance or its activity was delivered too often
	EndedDeleted   Ending = "deleted"
	StillRunning   Ending = "running"
	NeverBegun     Ending = "never begun"
)

// In a violation, how work failed that ended as planned: no code of the run waits for what a client sends, or none takes
// it although the plan says "expect taken".
const (
	Unawaited Ending = "unawaited"
	Untaken   Ending = "untaken"
)

// Wait is a period in which an instance's visible work waited because no live node admitted its pin.
type Wait struct {
	Instance string `json:"instance"`
	Pin      string `json:"pin"`
	FromMs   int64  `json:"from_ms"` // since the start of the run
	ForMs    int64  `json:"for_ms"`
	// After is the schedule step that preceded the wait, or empty. Open is set if nothing of the plan ended the wait: it
	// lasted until the end of the run, or Rescue ended it.
	After  string `json:"after"`
	Open   bool   `json:"open"`
	Rescue bool   `json:"rescue,omitempty"`
}

// Compare compares waits by how long they are. Open ones are the longest.
func (w *Wait) Compare(o *Wait) int {
	if w.Open != o.Open {
		if w.Open {
			return 1
		}
		return -1
	}
	return cmp.Compare(w.ForMs, o.ForMs)
}

// Until says when the wait ended.
func (w *Wait) Until() string {
	switch {
	case w.Rescue:
		return "until rescue"
	case w.Open:
		return "to the end"
	}
	return "until " + pretty.Duration(w.FromMs+w.ForMs)
}

// Remark is something about work, or the plan, that an author should know, although it may be as the plan expects.
// Remarks of the same Kind and About tell the same of another instance; Detail says more of this one.
type Remark struct {
	Kind     RemarkKind `json:"kind"`
	About    string     `json:"about"`
	Detail   string     `json:"detail,omitempty"`
	Instance string     `json:"instance"` // "" if it is about none
}

// RemarkKind is the kind of a Remark.
type RemarkKind string

// The kinds of remarks.
const (
	// RemarkChild is about a child that ended otherwise than its code said: by a panic, a misuse of its Context or
	// poison.
	RemarkChild RemarkKind = "child"
	// RemarkUntaken is about an event, a queue's message or a cancel of the plan that no code took.
	RemarkUntaken RemarkKind = "untaken"
	// RemarkOperator is about a delete or a prune of the plan that the store refused.
	RemarkOperator RemarkKind = "operator"
	// RemarkGrowth is about a history, an input or a custom status that grows until it will meet a limit.
	RemarkGrowth RemarkKind = "growth"
	// RemarkWithdrawn is about an activity or a child that code schedules in the turn in which it ends.
	RemarkWithdrawn RemarkKind = "withdrawn"
	// RemarkStart is about an independent start that was dropped, since an instance had the id.
	RemarkStart RemarkKind = "start"
	// RemarkActivation is about an activation that waited for a node until the fault phase ended. It names no instance.
	RemarkActivation RemarkKind = "activation"
	// RemarkRefused is about a node that did not start, because of the store's schema or of an activation. It names no
	// instance.
	RemarkRefused RemarkKind = "refused"
)

// Told describes how work ended. Fates are those of the plan's instances, in the plan's order, and of the independent
// ones that code has started, and Stored those of the plan's histories, of which it expects no end: AsExpected is false if they were poisoned, or waited for a build until rescue
// or the end. Waits are the periods during which work waited for a build, ordered by start time.
type Told struct {
	Fates   []Fate   `json:"fates,omitempty"`
	Stored  []Fate   `json:"stored,omitempty"`
	Waits   []Wait   `json:"waits,omitempty"`
	Remarks []Remark `json:"remarks,omitempty"`
}

// FateTeller is a Monitor that knows how work ended. Told is called after Finish, and its result becomes part of the
// Result.
type FateTeller interface{ Told() Told }

// Why returns what an instance is waiting for now: the rule that applies, in words. It returns nil if the instance is
// unknown.
func (w *World) Why(instance string) *Explanation {
	x, err := (&explainer{w, w.store.Now()}).explain(instance, 0)
	if err != nil {
		return nil
	}
	return x
}
