package monitor_test

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/internal/rig"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties/internal/monitor"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/program"
	"github.com/durosim/durosim/sim/scenario"
)

// Story runs a story from a file NAME.txt. It returns the lines that the story printed, followed by all violations in
// full. A story titled NAME_ok must not violate NAME, and one titled NAME_bad must. In an exact story, ok is without any
// violation, and NAME comes first. Lines that start with "plan" define the plan:
//
//	plan instance x [of=ORCHESTRATION] [expect=failed] [cancel::REASON] [delete] [unaided] [raise:NAME:DATA] [enqueue:NAME:DATA:unawaited]
//	plan Order: call a, wait go, again 2   instances of Order run that program
//	plan strategy bounce [after=30000] [every=5000]
//	plan rate activity-panic / plan probe P [BUILD] / plan node A [offset=MS] / plan store clocks / plan store serial=MS
//	plan later A start                     a step of its schedule
//	plan expect never turn where build=1.x an expectation
//	plan released|counting 1.5.0           that build is a released runtime, or counts the attempts of input that waits for its start
//	plan carries 1.5.0 2                   that build carries over at most 2 queue messages
//	plan like 1.6.0 3.0.0                  a second build of the first version reads what the other one reads
//
// Before the story starts, Story calls begun with the Rig.
func Story(t testing.TB, file, title, text string, o monitor.Options, exact bool, begun func(r *Rig)) string {
	t.Helper()
	story, p, builds, expect := planOf(t, text)
	o.Expectations = expect
	r := newOf(t, p, o, builds, []string{"A", "B", "C"})
	if exact {
		r = exactly(t, p, o, builds, story)
	}
	if begun != nil {
		begun(r)
	}
	r.Tell(story)
	if r.exact {
		r.M.Finish()
	}
	found, name := r.M.Violations(), strings.TrimSuffix(filepath.Base(file), ".txt")
	bad := slices.ContainsFunc(found, func(v cluster.Violation) bool { return v.Property == name })
	if r.exact {
		bad = len(found) > 0 && (found[0].Property == name || title != name+"_bad")
	}
	if title != name+"_ok" && title != name+"_bad" || bad != (title == name+"_bad") {
		t.Errorf("%s: a title begins with %s_ok if no violation of it is found, else with %s_bad", file, name, name)
	}
	r.Print("%s", rig.Found(found))
	return strings.Join(r.Out, "\n")
}

func planOf(t testing.TB, text string) (_ string, p plan.Plan, builds []*engine.Build, expect []plan.Expectation) {
	var story strings.Builder
	builds = engine.ShippedBuilds()
	for line := range strings.Lines(text) {
		words, value := options(strings.Fields(line))
		if len(words) < 2 || words[0] != "plan" {
			story.WriteString(line)
			continue
		}
		ms := func(key string) time.Duration {
			var n int64
			if _, err := fmt.Sscan(value[key], &n); err != nil {
				t.Fatalf("%q: %s: %v", line, key, err)
			}
			return time.Duration(n) * time.Millisecond
		}
		if name, ok := strings.CutSuffix(words[1], ":"); ok {
			parser := program.NewParser(name, "")
			for s := range strings.SplitSeq(strings.Join(words[2:], " "), ", ") {
				if _, err := parser.Line(strings.Fields(s)); err != nil {
					t.Fatalf("%q: %v", line, err)
				}
			}
			p.Programs = append(p.Programs, parser.Program())
			continue
		}
		switch words[1] {
		case "released", "counting", "carries", "like":
			builds = changed(t, builds, words[1], words[2:])
		case "expect":
			_, text, _ := strings.Cut(strings.TrimSpace(line), "expect ")
			expect = append(expect, ExpectOf(t, len(expect)+1, text))
		case "instance":
			in := plan.Instance{ID: words[2], Orchestration: cmp.Or(value["of"], "H"), Expect: plan.End(value["expect"])}
			for _, w := range words[3:] {
				if w == "unaided" {
					in.Unaided = true
				} else {
					a := append(strings.Split(w, ":"), "", "", "")
					in.Actions = append(in.Actions, plan.Action{Verb: plan.ActionVerb(a[0]), Name: a[1], Data: a[2], Unawaited: a[3] != ""})
				}
			}
			p.Instances = append(p.Instances, in)
		case "strategy":
			p.Strategy = plan.Strategy(words[2])
			if value["after"] != "" {
				p.Patience = plan.Patience{After: ms("after"), Every: ms("every")}
			}
		case "rate":
			p.Faults.Rates = append(p.Faults.Rates, faults.Rate{Kind: faults.Kind(words[2]), Num: 1, Den: 2})
		case "probe":
			p.Probes = append(p.Probes, plan.Probe{Name: words[2], Build: strings.Join(words[3:], "")})
		case "node":
			n := plan.Node{Name: words[2], Build: "1.5.0"}
			if value["offset"] != "" {
				n.Clock.Offset = ms("offset")
			}
			for _, w := range words[3:] {
				if w == "absent" {
					n.Absent = true
				} else {
					n.Build = w
				}
			}
			p.Nodes = append(p.Nodes, n)
		case "later": // NODE VERB
			p.Schedule = append(p.Schedule, plan.Step{Node: words[2], Verb: plan.Verb(words[3])})
		case "store":
			p.Store.CallersClock = len(words) > 2
			if value["serial"] != "" {
				p.Store.Serial = ms("serial")
			}
		default:
			t.Fatalf("%q: no such line of a plan", line)
		}
	}
	sample.OK(t, p.Programs.Validate())
	return story.String(), p, builds, expect
}

// changed returns the builds with what a line of a plan says of them.
func changed(t testing.TB, builds []*engine.Build, what string, of []string) []*engine.Build {
	for i, had := range builds {
		b := *had
		switch {
		case what == "counting" && b.Name() == of[0]:
			b.CountsWaiting = true
		case what == "carries" && b.Name() == of[0]:
			sample.Must(fmt.Sscan(of[1], &b.Limits.CarriedEvents))(t)
		case what == "released" && b.Name() == of[0]:
			b.Release = "duroxide-" + of[0]
		case what == "like" && b.Name() == of[1]:
			b.Version = engine.MustParseVersion(of[0])
			builds = append(builds, &b)
			continue
		}
		builds[i] = &b
	}
	return builds
}

// ExpectOf parses an expectation, such as "never turn in late where build=1.x has pin=none", as scenarios do.
func ExpectOf(t testing.TB, line int, text string) plan.Expectation {
	t.Helper()
	story := "build 9.9.9 like 3.0.0\nnode A runs 1.5.0\nnode B runs 2.0.0\nnode C runs 3.0.0\nnode D runs 9.9.9\n"
	if _, in, ok := strings.Cut(text, " in "); ok {
		story += "at 1s mark " + strings.Fields(in)[0] + "\n"
	}
	e := sample.Must(scenario.Parse("story.txt", []byte(story+"expect "+text)))(t).Expect[0]
	e.Line, e.Text = line, text
	return e
}

// show executes the commands that print something.
func (r *Rig) show(verb string, words []string) {
	switch verb {
	case "fates":
		for _, f := range r.M.Told().Fates {
			helped := ""
			if f.Owes != "" || f.Rescued {
				helped = fmt.Sprintf(", owes %q, rescued %t", f.Owes, f.Rescued)
			}
			r.Print("fate %s: %s, cause %q, as expected %t%s, ended %d by %s %s after %q",
				f.Instance, f.End, f.Cause, f.AsExpected, helped, f.EndedMs, f.Node, f.Build, f.Step)
		}
		for _, w := range r.M.Told().Waits {
			r.Print("wait %s: pin %s from %d for %d after %q, open %t", w.Instance, w.Pin, w.FromMs, w.ForMs, w.After, w.Open)
		}
		for _, m := range r.M.Told().Remarks {
			r.Print("%s of %q: %s%s", m.Kind, m.Instance, m.About, m.Detail)
		}
	case "points":
		for _, p := range r.M.Coverage() {
			r.Print("%s: %d", p.Name, p.Count)
		}
	case "tick":
		text := "nothing open"
		if open, until := r.M.Open(r.w.Now); open {
			text = "open until " + pretty.Duration(until-rig.StartMs)
		}
		r.Print("%s: %s", pretty.Duration(r.w.Now-rig.StartMs), text)
	default:
		if r.Shows[verb] == nil {
			r.t.Fatalf("unknown command %q", verb)
		}
		r.Print("%s", r.Shows[verb](words))
	}
}

// Print adds a line to the story's output.
func (r *Rig) Print(format string, args ...any) { r.Out = append(r.Out, fmt.Sprintf(format, args...)) }
