package scenario

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/program"
)

// TestPlanRoundTrip checks that any plan that the language can express reads back from its text unchanged, in order.
func TestPlanRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { planRoundTrip(t, drawPlan(t)) })
}

// TestScenarioRoundTrip checks the same for expanded plans that are read as scenarios again.
func TestScenarioRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := drawPlan(rt)
		s := sample.Must(Parse("plan.txt", Format(p)))(rt)
		again := sample.Must(s.Expand(rapid.Uint64().Draw(rt, "seed"), Overrides{}))(rt)
		if string(Format(again)) != string(Format(p)) {
			rt.Fatalf("a plan without open times expands to another:\n%s\n%s", Format(p), Format(again))
		}
	})
}

// drawBuilds draws declared builds, each like a known one or an earlier one; one may have the name of a known one.
func drawBuilds(t *rapid.T, known []string) []plan.Build {
	handlers := func(what string) []string {
		return rapid.SliceOfN(rapid.SampledFrom([]string{"Ship", "Leaf@1.0.0", "with", "none", "a b", `q"q`}), 0, 1).Draw(t, what)
	}
	var builds []plan.Build
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"1.0.0", "2.0.0", "2.1.0-rc.1", "3.1.0+2.0.0"}), 0, 3, rapid.ID).Draw(t, "builds") {
		b := plan.Build{Name: name, Like: rapid.SampledFrom(known).Draw(t, "like")}
		if rapid.Bool().Draw(t, "ranged") {
			b.Range = &engine.VersionRange{Min: engine.V(rapid.Uint32Range(0, 3).Draw(t, "min"), 0, 0), Max: engine.V(3, rapid.Uint32().Draw(t, "max"), 0)}
		}
		for _, k := range plan.VariableKinds() {
			switch rapid.IntRange(0, 4).Draw(t, "kind") {
			case 0:
				b.Reads.With = append(b.Reads.With, k)
			case 1:
				b.Reads.With, b.Writes.With = append(b.Reads.With, k), append(b.Writes.With, k)
			case 2:
				b.Reads.Without = append(b.Reads.Without, k)
			case 3:
				b.Writes.Without = append(b.Writes.Without, k)
			}
		}
		if rapid.Bool().Draw(t, "threshold") {
			b.Semantics = []engine.SemanticsChange{{Semantics: engine.SemanticsEagerTimers}, {Since: engine.V(2, 0, 0), Semantics: engine.SemanticsDiscard}}
		}
		if rapid.Bool().Draw(t, "limited") {
			b.Limits = engine.Limits{CarriedEvents: 1, ValueBytes: rapid.IntRange(0, 9).Draw(t, "bytes")}
		}
		if rapid.Bool().Draw(t, "schema") {
			b.Schema = &plan.Schema{Version: 2, Takes: time.Second, Destructive: rapid.Bool().Draw(t, "destructive"), Invalidates: rapid.Bool().Draw(t, "invalidates"), RefusesNewer: true}
		}
		b.OwnChildIDs = rapid.Bool().Draw(t, "names")
		b.AwaitsActivation = b.Name != b.Like && rapid.Bool().Draw(t, "waits")
		if rapid.Bool().Draw(t, "forgets") {
			b.Lacks = []engine.Field{"tag", "session"}
		}
		if rapid.Bool().Draw(t, "only") {
			b.Handlers.Only = append([]string{}, handlers("handlers")...)
		}
		if b.Handlers.Only == nil {
			b.Handlers.With = append(b.Handlers.With, handlers("more")...)
		}
		if len(b.Handlers.With) == 0 && len(b.Handlers.Only) == 0 {
			b.Handlers.Without = append(b.Handlers.Without, handlers("fewer")...)
		}
		builds, known = append(builds, b), append(known, name)
	}
	return builds
}

func drawPlan(t *rapid.T) *plan.Plan {
	builds := []string{"0.8.0", "1.5.0", "2.0.0-rc.1", "2.0.0", "3.0.0"}
	// Names are deliberately awkward: keywords, quotes, comments, spaces, invalid UTF-8.
	name := rapid.OneOf(
		rapid.SampledFrom([]string{"A", "run", "runs", "none", "at", "#1", "a b", "x@1.0.0", `q"q`, `back\`, "a:", "\xff", "\u00a0", "ä", "7"}),
		rapid.StringN(1, 6, 12),
	)
	value := rapid.OneOf(rapid.Just(""), name)
	at := rapid.Custom(func(t *rapid.T) time.Duration {
		return time.Duration(rapid.Int64Range(0, 200_000_000).Draw(t, "us")) * time.Microsecond
	})
	declared := drawBuilds(t, builds)
	for _, b := range declared {
		builds = append(builds, b.Name)
	}
	build := rapid.SampledFrom(builds)
	version := rapid.SampledFrom([]string{"", "1.0.0", "2.0.0-rc.1"})
	handler := rapid.Map(name, func(s string) string { return s + "@1.0.0" })
	triple := rapid.Custom(func(t *rapid.T) engine.Version {
		n := rapid.Uint32Range(0, 1500)
		return engine.V(n.Draw(t, "major"), n.Draw(t, "minor"), n.Draw(t, "patch"))
	})

	p := &plan.Plan{
		Name:       name.Draw(t, "name"),
		Builds:     declared,
		Strategy:   plan.Strategy(rapid.SampledFrom(strategies).Draw(t, "strategy")),
		Profile:    plan.Profile(rapid.SampledFrom(profiles).Draw(t, "profile")),
		FaultPhase: at.Draw(t, "fault phase"),
		StepBudget: rapid.Uint64Range(0, maxBudget).Draw(t, "budget"),
		Until:      time.Duration(rapid.IntRange(0, 100).Draw(t, "until")) * time.Hour,
		Unaided:    rapid.Bool().Draw(t, "unaided"),
		TurnBudget: rapid.Uint64Range(0, maxBudget).Draw(t, "turns"),
	}
	p.Store.CallersClock = rapid.Bool().Draw(t, "callers")
	p.Store.Serial = time.Duration(rapid.IntRange(0, 2).Draw(t, "serial")) * time.Second
	var nodes []string
	for _, n := range rapid.SliceOfNDistinct(name, 1, 4, rapid.ID).Draw(t, "nodes") {
		nodes = append(nodes, n)
		np := plan.Node{Name: n, Build: build.Draw(t, "build"), Absent: rapid.Bool().Draw(t, "absent")}
		np.Options = append(np.Options, rapid.SliceOfNDistinct(rapid.SampledFrom([]plan.Setting{
			{Name: "max_attempts", Value: "3"}, {Name: "supported_replay_versions", Value: ">=1.0.0,  <2.0.0"},
			{Name: "worker_tag_filter", Value: "Tags(a,b c)"}, {Name: "worker_node_id", Value: ""},
		}), 0, 3, func(s plan.Setting) string { return s.Name }).Draw(t, "options")...)
		if rapid.Bool().Draw(t, "limited") {
			np.Handlers = append([]string{}, rapid.SliceOfNDistinct(handler, 0, 3, rapid.ID).Draw(t, "handlers")...)
		}
		if rapid.Bool().Draw(t, "clocked") {
			np.Clock.Offset = time.Duration(rapid.IntRange(-5000, 5000).Draw(t, "offset")) * time.Millisecond
			np.Clock.DriftPPM = rapid.Int64Range(-100, 100).Draw(t, "drift")
		}
		p.Nodes = append(p.Nodes, np)
	}
	if rapid.Bool().Draw(t, "old clients") {
		p.Clients = build.Draw(t, "clients")
	}
	node := rapid.SampledFrom(nodes)
	for range rapid.IntRange(0, 6).Draw(t, "steps") {
		s := plan.Step{At: at.Draw(t, "at"), Verb: plan.Verb(rapid.SampledFrom(names(stepRows())).Draw(t, "verb"))}
		switch s.Verb {
		case plan.VerbMark:
			s.Mark = name.Draw(t, "mark")
		case plan.VerbMigrate:
			s.Schema = rapid.Uint64Range(1, 9).Draw(t, "schema")
		case plan.VerbActivate:
			s.Build = build.Draw(t, "active")
		default:
			s.Node = node.Draw(t, "node")
		}
		switch s.Verb {
		case plan.VerbUpgrade, plan.VerbRollback:
			s.Build = build.Draw(t, "build")
		case plan.VerbPause:
			s.For = time.Microsecond + at.Draw(t, "for")
		case plan.VerbWiden, plan.VerbNarrow:
			if rapid.Bool().Draw(t, "ranged") {
				s.Range = &engine.VersionRange{Min: triple.Draw(t, "min"), Max: triple.Draw(t, "max")}
			}
		case plan.VerbRegister, plan.VerbDeregister:
			s.Handler = handler.Draw(t, "handler")
		}
		p.Schedule = append(p.Schedule, s)
	}
	for _, n := range rapid.SliceOfNDistinct(name, 0, 2, rapid.ID).Draw(t, "programs") {
		taken := slices.ContainsFunc(p.Programs, func(have program.Program) bool {
			return strings.HasPrefix(have.Name, n+".") || strings.HasPrefix(n, have.Name)
		})
		if !taken && utf8.ValidString(n) {
			p.Programs = append(p.Programs, program.Generate(n, func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "program") })...)
		}
	}
	ids := rapid.SliceOfNDistinct(name, 0, 6, rapid.ID).Draw(t, "ids")
	for i, id := range ids {
		if i%2 == 0 {
			in := plan.Instance{
				ID: id, Orchestration: name.Draw(t, "orchestration"), Version: version.Draw(t, "version"), Input: value.Draw(t, "input"),
				StartAt: at.Draw(t, "start"), Expect: rapid.SampledFrom(append(plan.Ends(), "")).Draw(t, "expect"), Unaided: rapid.Bool().Draw(t, "alone"),
			}
			for range rapid.IntRange(0, 2).Draw(t, "actions") {
				a := plan.Action{At: in.StartAt + at.Draw(t, "at"), Verb: plan.ActionCancel}
				switch rapid.IntRange(0, 3).Draw(t, "verb") {
				case 0:
					a.Data = value.Draw(t, "reason")
				case 1:
					a.Verb, a.Name, a.Topic, a.Data = plan.ActionRaise, name.Draw(t, "event"), value.Draw(t, "topic"), value.Draw(t, "data")
					a.Unawaited, a.Blind = rapid.Bool().Draw(t, "unawaited"), rapid.Bool().Draw(t, "blind")
				case 2:
					a.Verb, a.Forced, a.Alone = plan.ActionDelete, rapid.Bool().Draw(t, "forced"), rapid.Bool().Draw(t, "alone")
				case 3:
					a.Verb = plan.ActionPrune
				}
				in.Actions = append(in.Actions, a)
			}
			p.Instances = append(p.Instances, in)
			continue
		}
		h := plan.History{
			Instance: id,
			Shape:    plan.Shape(rapid.SampledFrom(texts(plan.Shapes())).Draw(t, "shape")), KickAt: at.Draw(t, "kick"),
		}
		if rapid.Bool().Draw(t, "named") {
			h.Orchestration, h.Version = name.Draw(t, "orchestration"), version.Draw(t, "version")
		}
		if rapid.Bool().Draw(t, "pinned") {
			v := triple.Draw(t, "pin")
			h.Pin = &v
		}
		p.Histories = append(p.Histories, h)
	}
	for _, n := range rapid.SliceOfNDistinct(name, 0, 2, rapid.ID).Draw(t, "probes") {
		p.Probes = append(p.Probes, drawProbe(t, n, name, p.Instances))
	}
	for range rapid.IntRange(0, 4).Draw(t, "rates") {
		r := faults.Rate{Kind: faults.Kind(rapid.SampledFrom(faultKinds()).Draw(t, "fault")), Den: rapid.Uint64Range(1, 999).Draw(t, "den"), From: at.Draw(t, "from")}
		r.Num = rapid.Uint64Range(0, r.Den).Draw(t, "num")
		if rapid.Bool().Draw(t, "ends") {
			r.To = r.From + time.Microsecond + at.Draw(t, "to")
		}
		if rapid.Bool().Draw(t, "one") {
			r.Node = node.Draw(t, "on")
		}
		p.Faults.Rates = append(p.Faults.Rates, r)
	}
	for _, id := range rapid.SliceOfNDistinct(rapid.SampledFrom(bugIDs()), 0, 3, rapid.ID).Draw(t, "bugs") {
		p.Bugs = append(p.Bugs, faults.BugID(id+rapid.SampledFrom([]string{"", "@1.5.0", "@a node"}).Draw(t, "whose")))
	}
	return p
}
