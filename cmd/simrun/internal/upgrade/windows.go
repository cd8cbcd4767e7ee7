package upgrade

import (
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/timeline"
)

// Window is a period in which nodes of an older and a newer build are up at the same time, together with its risks.
// While it is open, each build handles all the work that it takes in its own way.
type Window struct {
	Old string `json:"old"`
	New string `json:"new"`
	// Opens and Closes are the schedule steps that open and close the window. Opens is empty if the window is open from
	// the start. Closes is empty if the window never closes.
	Opens  string   `json:"opens"`
	Closes string   `json:"closes"`
	Risks  []string `json:"risks"`
	// Mended lists the mistakes that the newer release has fixed. The old nodes still make them.
	Mended []Mistake `json:"mended,omitempty"`
}

// Mistake is a release's known mistake, represented by the planted bug that reproduces it.
type Mistake struct {
	// Bug is the planted bug, restricted to the older build, in the form accepted by --bug.
	Bug    faults.BugID `json:"bug"`
	Mended string       `json:"mended"`
	// Properties lists the properties that the bug violates. Scenario is the built-in scenario that shows it.
	Properties []string `json:"properties"`
	Scenario   string   `json:"scenario"`
}

// Windows returns the windows that open when p moves nodes to newer builds, in the order in which they open.
func Windows(p *plan.Plan, known []*engine.Build) ([]Window, error) {
	builds, err := p.AllBuilds(known)
	if err != nil {
		return nil, err
	}
	all := Steps(p)
	type open struct {
		Window
		pair   [2]*engine.Build
		states []nodeState // all nodes after each step while it is open, and after the one that closes it
	}
	var out []open
	for n := 0; n <= len(all); n++ {
		at := stateAfter(p, all[:n], builds)
		for i := range out {
			if w := &out[i]; w.Closes == "" && !at.beside(w.Old, w.New, all, n) {
				w.Closes, w.states = all[n-1].String(), append(w.states, at...)
			}
		}
		for _, pair := range at.pairs() {
			if slices.ContainsFunc(out, func(w open) bool { return w.Closes == "" && w.pair == pair }) {
				continue
			}
			w := open{Window: Window{Old: pair[0].Name(), New: pair[1].Name()}, pair: pair}
			if n > 0 {
				w.Opens = all[n-1].String()
			}
			out = append(out, w)
		}
		for i := range out {
			if w := &out[i]; w.Closes == "" {
				w.states = append(w.states, at...)
			}
		}
	}
	var risky []Window
	for _, w := range out {
		w.judge(p, w.states, w.pair[0], w.pair[1])
		if len(w.Risks)+len(w.Mended) > 0 {
			risky = append(risky, w.Window)
		}
	}
	return risky, nil
}

// beside reports whether the state after n of the steps has nodes of both builds. A node that is down counts if it will
// be back with its build.
func (s state) beside(old, young string, all []plan.Step, n int) bool {
	has := func(build string) bool {
		return slices.ContainsFunc(s, func(st nodeState) bool { return st.build == build && (st.up || comesBack(st.name, all, n)) })
	}
	return has(old) && has(young)
}

// comesBack reports whether a node that is down after n of the steps comes up again with the build that it has: a later
// step starts it, or it has crashed and nothing else happens to it.
func comesBack(node string, all []plan.Step, n int) bool {
	for _, s := range all[n:] {
		if s.Node == node && s.Verb.Starts() {
			return s.Verb != plan.VerbUpgrade && s.Verb != plan.VerbRollback
		}
	}
	for _, s := range slices.Backward(all[:n]) {
		if s.Node == node {
			return s.Verb == plan.VerbCrash
		}
	}
	return false
}

// pairs returns each pair of an older and a newer build that live nodes run, in node order.
func (s state) pairs() (all [][2]*engine.Build) {
	for _, a := range s {
		for _, b := range s {
			if a.up && b.up && a.runs != nil && b.runs != nil && a.runs.Version.Precedence(b.runs.Version) < 0 {
				all = append(all, [2]*engine.Build{a.runs, b.runs})
			}
		}
	}
	return all
}

// takes says which nodes of states run b and admit the pin v, and the range of the first. It returns "" if none does.
func takes(states []nodeState, b *engine.Build, v engine.Version) (first, text string) {
	var names []string
	var admits engine.VersionRange
	for _, n := range states {
		if n.runs == b && n.up && n.admits.Contains(v) && !slices.Contains(names, n.name) {
			if names = append(names, n.name); len(names) == 1 {
				admits = n.admits
			}
		}
	}
	if len(names) == 0 {
		return "", ""
	}
	like := ""
	if len(names) > 1 {
		like = fmt.Sprintf(" (like %s)", strings.Join(names[1:], ", "))
	}
	return names[0], fmt.Sprintf("%s%s, which admits %v, takes", names[0], like, admits)
}

// judge determines the risks of a window of old and young, in which the nodes have the given states.
func (w *Window) judge(p *plan.Plan, states []nodeState, old, young *engine.Build) {
	risk := func(format string, args ...any) { w.Risks = append(w.Risks, fmt.Sprintf(format, args...)) }
	wide, wideTakes := takes(states, old, young.Version)
	if kinds := strings.Join(newKinds(old, young), ", "); kinds != "" && wide != "" {
		risk("kinds: %s does not read %s; %s what %s began, and gives back what has such events until it is poisoned (outcome): narrow %s, or do not widen it", w.Old, kinds, wideTakes, w.New, wide)
	} else if kinds != "" {
		waits := "a newer node"
		if first, _ := takes(states, young, young.Version); first == "" {
			waits = "a node whose range takes that, which no node of " + w.New + " does"
		}
		risk("kinds: %s does not read %s; what %s began waits for %s (S01, S23)", w.Old, kinds, w.New, waits)
	}
	if a, b := old.SemanticsOf(&young.Version), young.SemanticsOf(&young.Version); a != b && wide != "" {
		risk("semantics: %s what %s begins by %s and replays it by %s (S10): narrow %s, or do not widen it", wideTakes, w.New, b, a, wide)
	} else if a != b {
		risk("semantics: %s would replay by %s what %s begins by %s (S10): widen no node of %[1]s to take that", w.Old, a, w.New, b)
	}
	if old.Version.Compare(young.Version) == 0 && wide != "" {
		risk("candidate: both are pinned to %v; %s what %s began: a node of duroxide gives that back until it is poisoned (L05), which --profile duroxide-0.1.32 shows", young.Version.Triple(), wideTakes, w.New)
	}
	if first, _ := takes(states, young, old.Version); first != "" {
		if kinds := newKinds(young, old); len(kinds) > 0 {
			risk("kinds: %s takes what %s began and does not read %s: it poisons what has that (outcome)", w.New, w.Old, strings.Join(kinds, ", "))
		}
		if a, b := young.SemanticsOf(&old.Version), old.SemanticsOf(&old.Version); a != b {
			risk("semantics: %s replays by %s what %s began by %s, until the last of that has ended (S10)", w.New, a, w.Old, b)
		}
	}
	if was, is := p.SchemaOf(w.Old), p.SchemaOf(w.New); was != nil && is != nil && was.Version < is.Version && (is.Destructive || was.RefusesNewer) {
		what := fmt.Sprintf("a node of %s that goes down does not start again", w.Old)
		if is.Destructive {
			what = fmt.Sprintf("the nodes of %s end at their next call, and do not start again", w.Old)
		}
		back := "nothing undoes it"
		if is.Reversible {
			back = fmt.Sprintf("to go back, stop the nodes of %s and migrate to %d first", w.New, was.Version)
		}
		risk("schema: %s migrates the store to schema %d: %s (S30); %s", w.New, is.Version, what, back)
	}
	lacks := func(name string) (all []string) {
		declared, _ := p.Ancestors(name)
		for _, d := range declared {
			for _, f := range d.Lacks {
				all = append(all, string(f))
			}
		}
		return all
	}
	for _, pair := range [...][2]string{{w.Old, w.New}, {w.New, w.Old}} {
		has := lacks(pair[1])
		for _, f := range lacks(pair[0]) {
			breaks := "L06"
			if f == "tag" || f == "session" {
				breaks = "S11"
			}
			if !slices.Contains(has, f) {
				risk("fields: %s drops %s of what passes through it (%s)", pair[0], f, breaks)
			}
		}
	}
	if young.OwnChildIDs && !old.OwnChildIDs {
		risk("children: %s names them by execution and refuses other ids that begin with sub::, %s does not: what an execution of %[2]s asks for by such an id does not replay on %[1]s (S11)", w.New, w.Old)
	}
	if differ := strings.Join(old.LimitsUnlike(young), "; "); differ != "" {
		risk(`limits: %s: above its own, a build drops messages ("expect taken" tells) or fails work (S11)`, differ)
	}
	for _, bug := range faults.Profile("duroxide-0.1.26") {
		mended, err := engine.ParseVersion(bug.Mended)
		if err == nil && old.Version.Compare(mended) < 0 && young.Version.Compare(mended) >= 0 && young.Version.Compare(engine.V(0, 2, 0)) < 0 {
			w.Mended = append(w.Mended, Mistake{bug.ID + faults.BugID("@"+w.Old), bug.Mended, bug.Properties, bug.Scenario})
		}
	}
}

// newKinds returns the event kinds that writer writes but reader cannot read.
func newKinds(reader, writer *engine.Build) (kinds []string) {
	for _, k := range writer.Emits.List() {
		if !reader.Codec.Kinds().Has(k) {
			kinds = append(kinds, string(k))
		}
	}
	return kinds
}

// windowsShown is the maximum number of windows described by WindowsText.
const windowsShown = 4

// open says from when to when the window is open.
func (w *Window) open() string {
	from, until := "from the start", "to the end: nothing closes it"
	if w.Opens != "" {
		from = "from " + w.Opens
	}
	if w.Closes != "" {
		until = "to " + w.Closes
	}
	return from + " " + until
}

// WindowTable returns the windows as a table, without the names of mistakes.
func WindowTable(all []Window) timeline.Table {
	t := timeline.Table{Title: "Windows, open until the last old node has gone", Open: true, Head: []string{"builds", "open", "risks"}}
	for i := range all {
		w := &all[i]
		risks := slices.Clone(w.Risks)
		if n := len(w.Mended); n > 0 {
			risks = append(risks, fmt.Sprintf("mistakes of %s that %s has mended: %d", w.Old, w.New, n))
		}
		t.Row(false, w.Old+" beside "+w.New, w.open(), strings.Join(risks, "\n"))
	}
	return t
}

// WindowsText describes the windows. try is the command that tries a mistake; it names the bug as `--bug ID`. Without it,
// the mistakes are only counted.
func WindowsText(all []Window, try string) string {
	var b strings.Builder
	if len(all) > 0 {
		b.WriteString("windows, open until the last old node has gone:\n")
	}
	for i := range all {
		w := &all[i]
		if i == windowsShown {
			fmt.Fprintf(&b, "  ... and %d more; --json has them all\n", len(all)-i)
			break
		}
		fmt.Fprintf(&b, "  %s beside %s, %s\n", w.Old, w.New, w.open())
		for _, r := range w.Risks {
			fmt.Fprintf(&b, "    %s\n", r)
		}
		if len(w.Mended) == 0 {
			continue
		}
		fmt.Fprintf(&b, "    %d mistakes of %s that %s has mended", len(w.Mended), w.Old, w.New)
		if try == "" {
			b.WriteString("; --details names them\n")
			continue
		}
		fmt.Fprintf(&b, ", and what shows them; to try one here: %s\n", try)
		for _, m := range w.Mended {
			fmt.Fprintf(&b, "      %s, until %s: scenario %s, %s\n", m.Bug, m.Mended, m.Scenario, strings.Join(m.Properties, ", "))
		}
	}
	return b.String()
}
