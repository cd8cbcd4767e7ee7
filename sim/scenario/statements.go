package scenario

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/program"
)

// StatementInfo describes a statement in listings. Words in capitals are placeholders.
type StatementInfo struct {
	Name    string
	Form    string
	Meaning string
	// Below names the statements under which it may appear. If it is empty, the statement stands alone.
	Below string
	// Corpus statements may appear only in corpus entries, and Open ones only in scenarios.
	Corpus, Open bool
	// Example is a text that Parse accepts. For Corpus statements, ParseEntry accepts it after its header.
	Example string
}

// Statements returns all statements, in the order in which Format writes them. The caller owns the slice.
func Statements() []StatementInfo { return infosOf(table.statements) }

// Steps returns the steps of a schedule, which follow `at`, `then` or `after`. The caller owns the slice.
func Steps() []StatementInfo { return infosOf(table.steps) }

// row is all that the language says of one statement: documentation, and how its lines are read and written.
type row struct {
	StatementInfo
	// once rejects a second line.
	once bool
	// gap is where an empty line is written: before the first line, or before each.
	gap gap
	lines
}

type gap uint8

const (
	gapNone gap = iota
	gapFirst
	gapEach
)

// lines are the lines of one statement in a text.
type lines struct {
	// add returns the pattern of one more line, bound to what the line adds.
	add func(at place) []item
	// each calls line for all that the text has; a row without it is written by another row.
	each func(at place, line func(name string, index int, items []item))
}

// one is at most one line, which is written if set.
func one(set func(at place) bool, pattern func(at place) []item) lines {
	return lines{pattern, func(at place, line func(string, int, []item)) {
		if set(at) {
			line("", 0, pattern(at))
		}
	}}
}

// many is a line for each element of a list.
func many[T any](list func(at place) *[]T, pattern func(at place, x *T, index int) []item) lines {
	return lines{func(at place) []item {
		l := list(at)
		*l = append(*l, *new(T))
		return pattern(at, &(*l)[len(*l)-1], len(*l)-1)
	}, func(at place, line func(string, int, []item)) {
		l := *list(at)
		for i := range l {
			line("", i, pattern(at, &l[i], i))
		}
	}}
}

// vocabulary is the language's table: its statements, and the steps of schedules.
type vocabulary struct {
	statements []row
	steps      []row
}

var table = newVocabulary()

// newVocabulary makes the rows and derives their forms from their patterns.
func newVocabulary() *vocabulary {
	v := &vocabulary{statements: slices.Concat(corpusRows(), planRows(), buildRows(), nodeRows(), workRows(), storyRows(), recordingRows()), steps: stepRows()}
	for _, list := range [][]row{v.statements, v.steps} {
		for i := range list {
			r, s := &list[i], &Scenario{Load: &Load{Mix: make([]MixEntry, 1)}}
			s.Template.Builds, s.Template.Nodes, s.Template.Instances = make([]plan.Build, 1), make([]plan.Node, 1), make([]plan.Instance, 1)
			r.Form = strings.TrimSpace(r.Name + " " + formOfItems(r.add(place{s: s, e: &Entry{Recording: &sim.Recording{}}})))
		}
	}
	return v
}

func infosOf(rows []row) (out []StatementInfo) {
	for _, r := range rows {
		out = append(out, r.StatementInfo)
	}
	return out
}

func lookup(rows []row, name string) *row {
	if i := slices.IndexFunc(rows, func(r row) bool { return r.Name == name }); i >= 0 {
		return &rows[i]
	}
	return nil
}

func names(rows []row) []string { return pretty.Texts(rows, func(r row) string { return r.Name }) }

// stands reports whether lines of the statement may stand below those of the other one.
func (r *row) stands(below string) bool {
	return slices.Contains(strings.Split(r.Below, ", "), below)
}

const zeros = "0000000000000000000000000000000000000000000000000000000000000000"

func corpusRows() []row {
	return []row{
		{StatementInfo: StatementInfo{Name: "durosim", Corpus: true,
			Meaning: "begins a corpus entry and gives the version of its format", Example: "durosim corpus 1"},
			once: true, lines: one(func(at place) bool { return true }, func(at place) []item {
				return []item{word("corpus"), {"1", (*parser).formatVersion, func() string { return fmt.Sprint(formatVersion) }}}
			})},
		{StatementInfo: StatementInfo{Name: "found", Corpus: true,
			Meaning: "what the entry once showed: a property, or a property and a planted bug", Example: "found S04 provider/filter-after-decode"},
			once: true, lines: one(func(at place) bool { return at.e.Found != "" }, func(at place) []item {
				return []item{restOf(&at.e.Found, "TEXT", "a property")}
			})},
		{StatementInfo: StatementInfo{Name: "verdict", Corpus: true,
			Meaning: "the verdict that a replay must reach", Example: "verdict violates S04"},
			once: true, lines: one(func(at place) bool { return true }, func(at place) []item {
				return []item{{"holds | verdict violates PROPERTY...", (*parser).verdict, func() string { return at.e.Verdict }}}
			})},
		{StatementInfo: StatementInfo{Name: "digest", Corpus: true,
			Meaning: "the digest of the stored run's trace; a different digest causes a notice", Example: "digest sha256:" + zeros},
			once: true, lines: one(func(at place) bool { return at.e.Digest != "" }, func(at place) []item {
				return []item{named(&at.e.Digest, "sha256:HEX", "a digest"), check(func(p *parser) {
					if _, err := sim.ParseDigest(at.e.Digest); err != nil {
						p.failf("%v", err)
					}
				})}
			})},
		{StatementInfo: StatementInfo{Name: "seed", Corpus: true,
			Meaning: "the seed of the run, decimal or 0x-hex", Example: "seed 42"},
			once: true, lines: one(func(at place) bool { return true }, func(at place) []item { return []item{seedOf(&at.e.Seed)} })},
		{StatementInfo: StatementInfo{Name: "mode", Corpus: true,
			Meaning: "whether a replay takes choices from the recording or draws them from the seed", Example: "mode seeded"},
			once: true, lines: one(func(at place) bool { return true }, func(at place) []item {
				return []item{oneOf(&at.e.Mode, "recorded | mode seeded", "mode", []string{string(ModeRecorded), string(ModeSeeded)})}
			})},
		{StatementInfo: StatementInfo{Name: "chooser", Corpus: true,
			Meaning: "in mode seeded, the chooser: random (the default), fifo, pct:D, delay:D, enumerate:D, reseed:N:SEED or portfolio", Example: "chooser pct:3"},
			once: true, lines: one(func(at place) bool { return at.e.Chooser != "" }, func(at place) []item {
				return []item{named(&at.e.Chooser, "NAME", "a chooser"), check(func(p *parser) {
					if _, err := sim.NamedChooser(at.e.Chooser); err != nil {
						p.failf("%v", err)
					}
				})}
			})},
		{StatementInfo: StatementInfo{Name: "needs", Corpus: true,
			Meaning: "the orchestrations (NAME@VERSION) and activities that the run uses and durosim does not ship; only a program that registers them can replay it", Example: "needs Refund@1.0.0 PayBack"},
			once: true, lines: one(func(at place) bool { return len(at.e.Needs) > 0 }, func(at place) []item {
				return []item{several(&at.e.Needs, "HANDLER...", "an orchestration or an activity", "handler", nil)}
			})},
		{StatementInfo: StatementInfo{Name: "provider", Corpus: true,
			Meaning: "the command of the storage provider that the run was over, for replay --provider; Config.Store stands for that of a durosim.Test", Example: "provider python3 provider.py"},
			once: true, lines: one(func(at place) bool { return at.e.Provider != "" }, func(at place) []item {
				return []item{restOf(&at.e.Provider, "COMMAND", "a command")}
			})},
		{StatementInfo: StatementInfo{Name: "note", Corpus: true,
			Meaning: "what a reader should know", Example: "note the first plan that ever failed"},
			once: true, lines: one(func(at place) bool { return at.e.Note != "" }, func(at place) []item {
				return []item{restOf(&at.e.Note, "TEXT", "a text")}
			})},
	}
}

func planRows() []row {
	return []row{
		{StatementInfo: StatementInfo{Name: "scenario",
			Meaning: "the name; by default, the file's name without directory and extension", Example: "scenario rolling-upgrade"},
			once: true, lines: one(func(at place) bool { return at.s.Name != "" }, func(at place) []item {
				return []item{named(&at.s.Name, "NAME", "a name")}
			})},
		{StatementInfo: StatementInfo{Name: "seeds", Open: true,
			Meaning: "the number of seeds from which on a campaign must reach the required coverage and show each \"sometimes\"", Example: "seeds 200"},
			once: true, lines: one(func(at place) bool { return at.s.Seeds.Count != 0 }, func(at place) []item {
				return []item{count(&at.s.Seeds.Count, "COUNT", "a number of seeds", 1, maxSeeds)}
			})},
		{StatementInfo: StatementInfo{Name: "require", Open: true,
			Meaning: "coverage points that a campaign of that many seeds must reach; matrix: each kind of fault must meet each feature of orchestrations, such as sessions or continue-as-new", Example: "require coverage rescue three-builds-live\nrequire matrix"},
			lines: lines{func(at place) []item {
				return []item{oneClause(
					with("coverage", false, item{"POINT...", (*parser).coverage, nil}),
					flag("matrix", &at.s.Matrix))}
			}, func(at place, line func(string, int, []item)) {
				for _, point := range at.s.Require {
					line("", 0, []item{word("coverage"), named(&point, "", "")})
				}
				if at.s.Matrix {
					line("", 0, []item{word("matrix")})
				}
			}}},
		{StatementInfo: StatementInfo{Name: "fuzz", Open: true,
			Meaning: "for simrun fuzz: how large its plans may get, which faults it may add (by default all), and which builds nodes may get (by default those that the scenario names); statements limits the statements of programs, and 0 adds no programs; see docs/hunting.md", Example: "fuzz nodes 4 instances 10 steps 8\nfuzz faults crash-before-ack\nfuzz builds 1.5.0 2.0.0"},
			lines: fuzzLines()},
		{StatementInfo: StatementInfo{Name: "strategy",
			Meaning: "how work that a node cannot run is routed; by default filter", Example: "strategy filter"},
			once: true, lines: one(func(at place) bool {
				return at.s.Template.Strategy != "" && at.s.Template.Strategy != plan.StrategyFilter
			}, func(at place) []item {
				return []item{oneOf(&at.s.Template.Strategy, strings.Join(strategies, " | "), "strategy", strategies)}
			})},
		{StatementInfo: StatementInfo{Name: "patience",
			Meaning: "how long the strategies sweeper and deadletter let work that no node can run wait (by default 30s), and how often they check (5s)", Example: "patience 20s every 2s"},
			once: true, lines: one(func(at place) bool { return at.s.Template.Patience != plan.Patience{} }, func(at place) []item {
				p := &at.s.Template.Patience
				if p.After == 0 && p.Every != 0 { // a plan in Go, or a shrunk one, may leave the first out
					filled := p.Or()
					p = &filled
				}
				const wrong = "expected a duration above 0, not %v"
				return []item{period(&p.After, "DURATION", "a duration", 1, wrong), clauses(with("every", p.Every != 0, period(&p.Every, "DURATION", "a duration", 1, wrong)))}
			})},
		{StatementInfo: StatementInfo{Name: "profile",
			Meaning: "whose decisions the nodes follow; by default contract", Example: "profile contract"},
			once: true, lines: one(func(at place) bool {
				return at.s.Template.Profile != "" && at.s.Template.Profile != plan.ProfileContract
			}, func(at place) []item {
				return []item{oneOf(&at.s.Template.Profile, strings.Join(profiles, " | "), "profile", profiles)}
			})},
		{StatementInfo: StatementInfo{Name: "contract",
			Meaning: "the release whose contract applies where the two differ (docs/contract-decisions.md#contracts); by default, durosim's decisions apply", Example: "contract 0.1.32"},
			once: true, lines: one(func(at place) bool { return at.s.Template.Contract != "" }, func(at place) []item {
				return []item{oneOf(&at.s.Template.Contract, strings.Join(contracts(), " | "), "contract", contracts())}
			})},
		{StatementInfo: StatementInfo{Name: "store",
			Meaning: "whose clock the store uses (by default its own); serial makes it serve fetches one at a time, each for that long; with plain, it reports status, pin and parent only with a history that it cannot decode", Example: "store clock callers serial 200ms"},
			once: true, lines: one(func(at place) bool { return at.s.Template.Store != plan.StoreOptions{} }, func(at place) []item {
				o := &at.s.Template.Store
				return []item{anyClauses(
					with("clock", o.CallersClock, item{"own | callers", func(p *parser) { o.CallersClock = p.keyword("own", "callers") == "callers" }, func() string { return "callers" }}),
					with("serial", o.Serial != 0, period(&o.Serial, "DURATION", "a duration", 1, "serial %v: expected how long the store is busy with each fetch")),
					flag("plain", &o.Plain))}
			})},
		{StatementInfo: StatementInfo{Name: "fault-phase",
			Meaning: "how long schedule and faults last; by default, until one second after the last step or action", Example: "fault-phase 75s"},
			once: true, lines: one(func(at place) bool { return at.s.Template.FaultPhase != 0 }, func(at place) []item {
				return []item{period(&at.s.Template.FaultPhase, "DURATION", "a duration", 1, "fault-phase %v: expected how long schedule and faults last")}
			})},
		{StatementInfo: StatementInfo{Name: "until",
			Meaning: "when the run ends, even if work is still open; the run then has no recovery and no rescue", Example: "until 10m"},
			once: true, lines: one(func(at place) bool { return at.s.Template.Until != 0 }, func(at place) []item {
				return []item{period(&at.s.Template.Until, "DURATION", "a duration", 1, "until %v: expected how long the run takes")}
			})},
		{StatementInfo: StatementInfo{Name: "rescue",
			Meaning: "frees work that no node admits when recovery ends by widening every node to every pin, as the documentation of duroxide 0.1.26 recommended and that of 0.1.32 forbids; by default, a node becomes the build that the work is pinned to, and work that no build admits is deleted", Example: "rescue widen"},
			once: true, lines: one(func(at place) bool { return at.s.Template.Rescue != plan.RescueBuild }, func(at place) []item {
				return []item{word(string(plan.RescueWiden)), check(func(*parser) { at.s.Template.Rescue = plan.RescueWiden })}
			})},
		{StatementInfo: StatementInfo{Name: "budget",
			Meaning: "the steps after which a run is stopped (by default 400000, and 5000 more for each instance beyond 64), or the turns of one execution, the executions of one instance that is not eternal, or the levels of children, after which it is (by default 400, or twenty times the most of any that has ended)", Example: "budget 500000 steps\nbudget 5000 turns"},
			lines: lines{func(at place) []item {
				n := uint64(0)
				limit := func(unit string, of *uint64) clause {
					return with(unit, false, check(func(p *parser) { p.single("budget of " + unit); *of = n }))
				}
				return []item{count(&n, "COUNT", "a number of steps or turns", 1, maxBudget),
					oneClause(limit("steps", &at.s.Template.StepBudget), limit("turns", &at.s.Template.TurnBudget))}
			}, func(at place, line func(string, int, []item)) {
				if n := at.s.Template.StepBudget; n != 0 {
					line("", 0, []item{count(&n, "", "", 0, 0), word("steps")})
				}
				if n := at.s.Template.TurnBudget; n != 0 {
					line("", 0, []item{count(&n, "", "", 0, 0), word("turns")})
				}
			}}},
		{StatementInfo: StatementInfo{Name: "bug",
			Meaning: "planted bugs to switch on, for one build, for one node, or for all", Example: "bug provider/filter-after-decode on 1.5.0"},
			lines: lines{func(at place) []item { return []item{{"ID... [on BUILD | on NODE]", (*parser).bugs, nil}} },
				func(at place, line func(string, int, []item)) {
					for _, id := range at.s.Template.Bugs {
						bug, whose := id.On()
						line("", 0, []item{named((*string)(&bug), "", ""), clauses(with("on", whose != "", named(&whose, "", "")))})
					}
				}}},
		{StatementInfo: StatementInfo{Name: "faults",
			Meaning: "a whole fault plan by name; by default none", Example: "faults light"},
			once: true, lines: one(func(at place) bool { return at.common != "" }, func(at place) []item {
				name := at.common
				return []item{oneOf(&name, strings.Join(faultNames(), " | "), "fault plan", faultNames()), check(func(p *parser) {
					p.common, _ = NamedFaults(name)
					p.s.NoFaults = name == "none"
				})}
			})},
		{StatementInfo: StatementInfo{Name: "fault",
			Meaning: "one kind of fault, at N in M of its opportunities; it precedes the fault plan that faults names, and later lines of its kind", Example: "node A runs 1.5.0\nfault crash-before-ack 1 in 200 from 5s to 20s on A"},
			lines: lines{many(func(at place) *[]faults.Rate { return &at.s.Template.Faults.Rates }, faultPattern).add, func(at place, line func(string, int, []item)) {
				for i := range at.single {
					line("", i, faultPattern(at, &at.s.Template.Faults.Rates[i], i))
				}
			}}},
	}
}

func faultPattern(at place, r *faults.Rate, _ int) []item {
	return []item{
		named((*string)(&r.Kind), "KIND", "a kind of fault"),
		check(func(p *parser) { p.known("fault", string(r.Kind), faultKinds()) }),
		count(&r.Num, "N", "a number of times", 0, maxOdds), word("in"), count(&r.Den, "M", "a number of opportunities", 1, maxOdds),
		check(func(p *parser) {
			if p.err == nil && r.Num > r.Den {
				p.failf("%d in %d: expected a first number that is not above the second", r.Num, r.Den)
			}
		}),
		clauses(
			with("from", r.From != 0, period(&r.From, "TIME", "a time", 0, "")),
			with("to", r.To != 0, period(&r.To, "TIME", "a time", 1, "to %v: expected a time after the start")),
			with("on", r.Node != "", named(&r.Node, "NODE", "a node"))),
		check(func(p *parser) {
			if r.To != 0 && r.To <= r.From {
				p.failf("from %v to %v: the window ends before it begins", r.From, r.To)
			}
			p.faultLines = append(p.faultLines, p.line)
		}),
	}
}

// buildRows are the builds that a plan declares, and the lines below them.
func buildRows() []row {
	build := func(at place) *plan.Build { return &at.s.Template.Builds[at.outer] }
	below := func(name, meaning, example string, set func(b *plan.Build) bool, pattern func(b *plan.Build) []item) row {
		return row{StatementInfo: StatementInfo{Name: name, Below: "build", Meaning: meaning, Example: example},
			lines: one(func(at place) bool { return set(build(at)) }, func(at place) []item {
				once := check(func(p *parser) { p.unique(name+" of build", build(at).Name) })
				return append([]item{once}, pattern(build(at))...)
			})}
	}
	kinds := func(c *plan.KindChange) []item {
		known := texts(plan.VariableKinds())
		list := func(word string, of *[]engine.EventKind) clause {
			return with(word, len(*of) > 0, several(of, "KIND...", "a kind of event", "kind of event", func(p *parser, k string) {
				p.known("kind of event", k, known)
				if slices.Contains(slices.Concat(c.With, c.Without), engine.EventKind(k)) {
					p.failf("kind of event %s is given twice", k)
				}
			}, "with", "without"))
		}
		return []item{anyClauses(list("with", &c.With), list("without", &c.Without)), check((*parser).checkBuilds)}
	}
	return []row{
		{StatementInfo: StatementInfo{Name: "build",
			Meaning: "a build of your own, declared above the lines that name it: it equals another build except for the lines below it; NAME is its version, and replaces a shipped build with that name", Example: "build 2.1.0 like 2.0.0\nnodes A B run 1.5.0\nat 5s upgrade A to 2.1.0"},
			gap: gapEach, lines: many(func(at place) *[]plan.Build { return &at.s.Template.Builds }, func(at place, b *plan.Build, _ int) []item {
				like := buildOf(&b.Like)
				like.read = func(p *parser) {
					if model, ok := plan.Release(b.Name, p.builds); ok && p.accept(b.Name) {
						*b = model // no line declares the model that this one changes
						return
					}
					b.Like = p.build()
				}
				return []item{unique(&b.Name, "NAME", "a version, such as 2.1.0", "build"), word("like"), like, check(func(p *parser) {
					p.checkBuilds()
					if !slices.Contains(p.builds, b.Name) {
						p.builds = append(p.builds, b.Name)
					}
				})}
			})},
		below("range", "the pins that its nodes admit unless an option says otherwise; by default, up to its own version", "build 2.1.0 like 2.0.0\n  range >=2.0.0, <=2.1.0\nnode A runs 2.1.0",
			func(b *plan.Build) bool { return b.Range != nil }, func(b *plan.Build) []item {
				return []item{rangeOf(&b.Range), check(func(p *parser) { p.checkRange(b) })}
			}),
		below("reads", "event kinds that it reads although the other build does not (with), or the reverse (without): ExternalSubscribed2, ExternalEvent2, LegacyNote", "build 1.7.0 like 1.6.0\n  reads with ExternalSubscribed2 ExternalEvent2 without LegacyNote\nnode A runs 1.7.0",
			func(b *plan.Build) bool { return len(b.Reads.With)+len(b.Reads.Without) > 0 }, func(b *plan.Build) []item { return kinds(&b.Reads) }),
		below("writes", "the same for the kinds that it writes into executions that it began; it writes only kinds that it reads", "build 2.1.0 like 2.0.0\n  writes without ExternalSubscribed2\nnode A runs 2.1.0",
			func(b *plan.Build) bool { return len(b.Writes.With)+len(b.Writes.Without) > 0 }, func(b *plan.Build) []item { return kinds(&b.Writes) }),
		{StatementInfo: StatementInfo{Name: "semantics", Below: "build",
			Meaning: "the semantics with which it replays executions begun by builds of that version or newer, or all others; with discard, an event that a dropped wait was given is lost", Example: "build 2.1.0 like 2.0.0\n  semantics discard from 2.1.0\nnode A runs 2.1.0"},
			lines: many(func(at place) *[]engine.SemanticsChange { return &build(at).Semantics }, func(at place, c *engine.SemanticsChange, _ int) []item {
				return []item{
					{"standard | discard | eager-timers", func(p *parser) {
						var err error
						if c.Semantics, err = engine.ParseSemantics(p.name("semantics: standard, discard or eager-timers")); err != nil {
							p.failf("%v", err)
						}
					}, func() string { return c.Semantics.String() }},
					clauses(with("from", !c.Since.IsZero(), item{"VERSION", func(p *parser) { c.Since = p.version() }, func() string { return c.Since.String() }})),
					check(func(p *parser) { p.unique("semantics from "+c.Since.String()+" of build", build(at).Name) }),
				}
			})},
		below("limits", "how many unread queue messages cross a continue-as-new, how many keys an instance may have, and how many bytes a value", "build 2.1.0 like 2.0.0\n  limits carried 100 keys 150 bytes 65536\nnode A runs 2.1.0",
			func(b *plan.Build) bool { return b.Limits != engine.Limits{} }, func(b *plan.Build) []item {
				const most = 1 << 20
				l := &b.Limits
				return []item{anyClauses(
					with("carried", l.CarriedEvents > 0, count(&l.CarriedEvents, "COUNT", "carried messages", 1, most)),
					with("keys", l.Keys > 0, count(&l.Keys, "COUNT", "keys", 1, most)),
					with("bytes", l.ValueBytes > 0, count(&l.ValueBytes, "COUNT", "bytes of a value", 1, most)))}
			}),
		below("schema", "the version of the store's schema that it works with, and the migration to it, which the first of its nodes carries out before it starts; a destructive one keeps everybody out while it takes place, and builds of older schemas for ever; fails: how many attempts fail half-way; invalidates: nodes that are up when it ends get a permanent error for the next call of each kind on the queues, as from statements prepared before; reversible: a step may undo it; refuses newer: its nodes do not start on a newer schema; builds without this line work with every version", "build 1.6.0 like 1.5.0\n  schema 1 refuses newer\nbuild 2.1.0 like 2.0.0\n  schema 2 takes 20s fails 1 reversible\nnode A runs 1.6.0\nat 5s upgrade A to 2.1.0",
			func(b *plan.Build) bool { return b.Schema != nil }, func(b *plan.Build) []item {
				if b.Schema == nil {
					b.Schema = &plan.Schema{}
				}
				s := b.Schema
				return []item{count(&s.Version, "VERSION", "a schema's version", 1, 1<<20), clauses(
					with("takes", s.Takes != 0, period(&s.Takes, "DURATION", "a duration", 1, "takes %v: expected how long the migration takes")),
					with("fails", s.Fails != 0, count(&s.Fails, "COUNT", "attempts", 1, 100)),
					flag("destructive", &s.Destructive), flag("invalidates", &s.Invalidates), flag("reversible", &s.Reversible),
					with("refuses", s.RefusesNewer, word("newer"), check(func(*parser) { s.RefusesNewer = true })))}
			}),
		below("awaits", "its nodes run the build that it is like from the moment that a step activates that", "build 1.5.0+2.0.0 like 2.0.0\n  writes without ExternalSubscribed2 ExternalEvent2\n  awaits activation\nnode A runs 1.5.0\nat 5s upgrade A to 1.5.0+2.0.0\nat 9s activate 2.0.0",
			func(b *plan.Build) bool { return b.AwaitsActivation }, func(b *plan.Build) []item {
				return []item{word("activation"), check(func(p *parser) {
					if b.Name == b.Like {
						p.failf("build %s: awaits the activation of %[1]s, itself: want a name of its own, such as 1.5.0+%[1]s", b.Name)
					}
					b.AwaitsActivation = true
				})}
			}),
		below("names", "automatic ids of children name the execution that asks, from the second on, and code that gives a child an id that begins with sub:: fails", "build 1.6.0 like 1.5.0\n  names children by execution\nnode A runs 1.6.0",
			func(b *plan.Build) bool { return b.OwnChildIDs }, func(b *plan.Build) []item {
				return []item{word("children"), word("by"), word("execution"), check(func(*parser) { b.OwnChildIDs = true })}
			}),
		below("lacks", "optional fields that it does not know, and so drops when it reads and writes: parent-execution, continued-parent, initial-custom-status, tag, session", "build 1.4.0 like 1.5.0\n  lacks initial-custom-status\nnode A runs 1.4.0",
			func(b *plan.Build) bool { return len(b.Lacks) > 0 }, func(b *plan.Build) []item {
				known := texts(engine.Fields())
				return []item{several(&b.Lacks, "FIELD...", "a field", "field", func(p *parser, f string) { p.known("field", f, known) })}
			}),
	}
}

// nodeRows are the nodes, and the lines below them. A line that names several nodes makes several, and the lines below
// it are about all of them.
func nodeRows() []row {
	of := func(at place) *plan.Node { return &at.s.Template.Nodes[at.outer] }
	return []row{
		{StatementInfo: StatementInfo{Name: "node",
			Meaning: "one node or several (\"nodes A B run 1.5.0\"); an absent one waits for an add step; \"duroxide 0.1.32\" is a released runtime, which runs only programs", Example: "nodes A B run 1.5.0\nnode C runs 2.0.0 absent"},
			gap: gapFirst, lines: lines{func(at place) []item {
				n := &plan.Node{}
				return append(nodePattern(n), check(func(p *parser) {
					for i := p.first; i < len(at.s.Template.Nodes); i++ {
						at.s.Template.Nodes[i].Build, at.s.Template.Nodes[i].Absent = n.Build, n.Absent
					}
				}))
			}, func(at place, line func(string, int, []item)) {
				for i := range at.s.Template.Nodes {
					line("", i, nodePattern(&at.s.Template.Nodes[i]))
				}
			}}},
		{StatementInfo: StatementInfo{Name: "option", Below: "node",
			Meaning: "a node option by its contract name; it applies to each of several nodes", Example: "node A runs 1.5.0\n  option max_attempts 3"},
			lines: lines{func(at place) []item {
				o := &plan.Setting{}
				return append(optionPattern(o), check(func(p *parser) {
					options := node.DefaultOptions()
					if err := options.Set(o.Name, o.Value); err != nil {
						p.failf("%v", err)
					}
					p.toNodes(func(n *plan.Node) {
						if slices.ContainsFunc(n.Options, func(s plan.Setting) bool { return s.Name == o.Name }) {
							p.failf("option %s of node %s is given twice", o.Name, n.Name)
						}
						n.Options = append(n.Options, *o)
						if r, err := engine.ParseRange(o.Value); o.Name == "supported_replay_versions" && err == nil {
							p.warnRange("node "+n.Name+": "+o.Value, r, n.Build)
						}
					})
				}))
			}, func(at place, line func(string, int, []item)) {
				for i := range of(at).Options {
					line("", i, optionPattern(&of(at).Options[i]))
				}
			}}},
		{StatementInfo: StatementInfo{Name: "clock", Below: "node",
			Meaning: "how far the node's clock is ahead at the start, or behind (-300ms), and by how many millionths it is fast, or slow (at most 10000ppm), of which at most 200ms add up; by default the clock is correct", Example: "node A runs 1.5.0\n  clock +300ms drift -50ppm"},
			lines: lines{func(at place) []item {
				c := &plan.Clock{}
				return append(clockPattern(c), check(func(p *parser) {
					p.toNodes(func(n *plan.Node) {
						if n.Clock != (plan.Clock{}) {
							p.failf("the clock of node %s is given twice", n.Name)
						}
						n.Clock = *c
					})
				}))
			}, func(at place, line func(string, int, []item)) {
				if c := &of(at).Clock; *c != (plan.Clock{}) {
					line("", 0, clockPattern(c))
				}
			}}},
		{StatementInfo: StatementInfo{Name: "handlers", Below: "build, node",
			Meaning: "below a node, NAME@VERSION of the only orchestrations that it registers; by default, what its build ships. Below a build, all the orchestrations and activities that it ships, or those that it adds to (with) or removes from (without) what the other build ships; NAME alone is an activity, a program, or all versions of an orchestration",
			Example: "build 2.1.0 like 2.0.0\n  handlers without Ship ProcessOrder@1.0.0\nnode A runs 2.1.0\n  handlers Leaf@1.0.0 Parent@1.0.0"},
			lines: lines{func(at place) []item {
				return []item{{"none | handlers [with | without] NAME[@VERSION]...", func(p *parser) { p.handlers(at) }, nil}}
			}, func(at place, line func(string, int, []item)) {
				list := func(names []string, words ...string) {
					var items []item
					for _, w := range words {
						items = append(items, word(w))
					}
					if len(names) == 0 {
						items = append(items, word("none"))
					} else {
						items = append(items, several(&names, "", "", "", nil))
					}
					line("", 0, items)
				}
				if at.parent == "node" {
					if only := of(at).Handlers; only != nil {
						list(only)
					}
					return
				}
				h := &at.s.Template.Builds[at.outer].Handlers
				if h.Only != nil {
					list(h.Only)
				}
				if len(h.With) > 0 {
					list(h.With, "with")
				}
				if len(h.Without) > 0 {
					list(h.Without, "without")
				}
			}}},
		{StatementInfo: StatementInfo{Name: "clients",
			Meaning: "the build of clients and of the tools that delete and prune, which a bug on that build affects, too; by default the newest. One that does not know a wait's kind sends the event that it knows, which nobody takes", Example: "clients run 1.5.0"},
			once: true, lines: one(func(at place) bool { return at.s.Template.Clients != "" }, func(at place) []item {
				return []item{word("run"), buildOf(&at.s.Template.Clients), check(func(p *parser) { p.named["clients"] = p.line })}
			})},
	}
}

func nodePattern(n *plan.Node) []item {
	return []item{
		{"NAME... runs", (*parser).nodeNames, func() string { return quoteName(n.Name, "run", "runs") + " runs" }},
		buildOf(&n.Build), clauses(flag("absent", &n.Absent)),
	}
}

func optionPattern(o *plan.Setting) []item {
	return []item{
		named(&o.Name, "NAME", "an option"), check(func(p *parser) { p.known("option", o.Name, node.OptionNames()) }),
		{"VALUE", func(p *parser) { o.Value = p.rest("a value") }, func() string { return quote(o.Value) }},
	}
}

func clockPattern(c *plan.Clock) []item {
	return []item{{"OFFSET [drift PPM]", func(p *parser) { *c = p.clock() }, c.String}}
}

// workRows are what clients do, and what is there before them.
func workRows() []row {
	actions := func(name, meaning, example string, each func(at place, line func(string, int, []item))) row {
		return row{StatementInfo: StatementInfo{Name: name, Below: "instance, mix", Meaning: meaning, Example: example},
			lines: lines{func(at place) []item {
				t := &ActionTemplate{Action: plan.Action{Verb: plan.ActionVerb(name)}}
				return append(actionPattern(t, ""), check(func(p *parser) { p.addAction(at, t) }))
			}, each}}
	}
	return []row{
		{StatementInfo: StatementInfo{Name: "program",
			Meaning: "an orchestration as data, which every node has unless \"handlers\" names it without that version: the lines up to its end are its statements, one per line, and it may start the programs declared before it; its version is 1.0.0 by default, and versions of one program must follow each other",
			Example: "program greet\n  call hello\n  select\n    wait approval\n    timer 2s\n  end\nend\ninstance greet-1 runs greet"},
			gap: gapEach, lines: lines{func(at place) []item { return []item{{"NAME [version VERSION] ... end", (*parser).beginProgram, nil}} },
				func(at place, line func(string, int, []item)) {
					for i := range at.s.Template.Programs {
						line("", i, []item{{"", nil, func() string { return programText(&at.s.Template.Programs[i]) }}})
					}
				}}},
		{StatementInfo: StatementInfo{Name: "history",
			Meaning: "an execution of an earlier cluster, of shape waiting, unknown-kind, new-kind, legacy, corrupt or respelled, by default of Cancellable@1.0.0, ProcessOrder@2.0.0 for new-kind or Archivist@1.0.0 for respelled (the JSON of another writer); kick is when a client sends the event that it waits for, by default at the start; its end is not judged; poison and waits for ever are reported",
			Example: "history old-1 pinned 0.8.0 shape legacy kick at 5s..8s"},
			gap: gapFirst, lines: many(func(at place) *[]plan.History { return &at.s.Template.Histories }, historyPattern)},
		{StatementInfo: StatementInfo{Name: "instance",
			Meaning: "an instance that a client starts, by default at the start of the run, without VERSION as the node's highest, candidates included; it must end as completed (the default), failed, eternal, poison or any, or several of completed, failed and poison with | between them; recovery sends nothing to an unaided instance and its children",
			Example: "instance order-1 runs ProcessOrder@1.0.0 with \"3 books\" at 2s..4s expect any"},
			gap: gapFirst, lines: many(func(at place) *[]plan.Instance { return &at.s.Template.Instances }, func(at place, in *plan.Instance, i int) []item {
				return []item{unique(&in.ID, "ID", "an instance", "instance"), word("runs"), handlerOf(&in.Orchestration, &in.Version), clauses(
					with("with", in.Input != "", value(&in.Input, "INPUT", "an input")),
					with("at", at.s.time(openStart, i, 0, in.StartAt) != "0s", at.opened(&in.StartAt, openStart, i)),
					with("expect", in.Expect != "", endOf(&in.Expect)),
					flag("unaided", &in.Unaided))}
			})},
		actions("raise", "a client sends the instance an event, at a time of the run (or at the instance's start, if that is drawn later) or that long after the instance's start; unless it is unawaited, the plan fails if no code in a run waits for that event, or its own only for another that recovery sends; the client's event is of the kind and topic of the open wait for it, or has no topic; blindly, it has the topic that the line says, if the build of clients knows topics, whether or not a wait takes it (expect taken finds out) or a node reads it: an execution pinned below 2.0.0 takes it as an event without a topic, on a node that reads such events, and any other by a wait for the topic",
			"instance order-1 runs ProcessOrder\n  raise approval topic orders after 3s", eachAction),
		actions("enqueue", "a client sends the instance a queue message; the plan fails if no code in a run ever dequeues from that queue, unless it is unawaited",
			"instance ledger-1 runs Ledger with 1\n  enqueue entries data rent after 3s", nil),
		actions("cancel", "a client cancels the instance", "instance loop-1 runs Eternal expect eternal\n  cancel because \"shop closed\" at 30s", nil),
		actions("delete", "an operator deletes the instance and its tree; the store refuses while any of it is running, unless it is forced; or the instance alone, which the store refuses if that would orphan children. A deleted instance has no more obligations",
			"instance old-1 runs Chain\n  delete forced after 1s..4s", nil),
		actions("prune", "an operator removes the instance's executions that are neither current nor running", "instance loop-1 runs Eternal expect eternal\n  prune at 20s", nil),
		{StatementInfo: StatementInfo{Name: "load", Open: true,
			Meaning: "that many more instances, each started at a drawn time in that period and named after its orchestration and its number (Chain-7)", Example: "load 30 instances from 1s over 60s\n  mix 1 Chain with 2..6"},
			once: true, gap: gapFirst, lines: lines{func(at place) []item {
				at.s.Load = &Load{}
				return loadPattern(at.s.Load)
			}, func(at place, line func(string, int, []item)) {
				if at.s.Load != nil {
					line("", 0, loadPattern(at.s.Load))
				}
			}}},
		{StatementInfo: StatementInfo{Name: "mix", Open: true, Below: "load",
			Meaning: "the kinds of instances in the load, by weight; an input 2..6 or 1s..8s, or one of several, is drawn for each instance, and so is each generated program, along with events that it waits for", Example: "load 9 instances over 20s\n  mix 2 Chain with 2..6 or 20\n  mix 1 Eternal expect eternal\n    cancel after 8s..15s"},
			lines: many(func(at place) *[]MixEntry { return &at.s.Load.Mix }, mixPattern)},
		{StatementInfo: StatementInfo{Name: "probe",
			Meaning: "an actor that makes raw provider calls, in the fault phase only: it fetches turns with filter none (empty), any (no filter) or ranges separated by |, or activities (work), or sends the start of an instance of the plan or a queue message, or, as an operator, deletes all instances that have ended or prunes all old executions, or reads the list of instances and of each its history, statistics and keys (looks); by default once, and every second if times is above 1. It abandons what it gets, with ignore-attempt without counting the attempt, unless it does something else; see below",
			Example: "probe P reads 2.0.0 filter \">=1.0.0, <=1.5.0 | 3.x\" does abandon|renew holds least|after locks 2s from 1s every 500ms times 20 ignore-attempt\nprobe Q reads 2.0.0 filter any does repin to 2.0.0\nprobe R reads 1.5.0 work does twice delays 1s\nprobe S reads 1.5.0 sends message nobody\nprobe T reads 1.5.0 sweeps executions every 5s times 6"},
			gap: gapFirst, lines: many(func(at place) *[]plan.Probe { return &at.s.Template.Probes }, probePattern)},
	}
}

func endOf(x *plan.End) item {
	return item{"END[|END]", func(p *parser) { *x = p.expectedEnd() }, func() string { return string(*x) }}
}

func historyPattern(at place, h *plan.History, i int) []item {
	pins := 0
	pinned := check(func(*parser) { pins++ })
	return []item{unique(&h.Instance, "INSTANCE", "an instance", "instance"),
		clauses(
			with("runs", h.Orchestration != "", handlerOf(&h.Orchestration, &h.Version)),
			with("pinned", h.Pin != nil, pinned, versionOf(&h.Pin)).required(),
			with("unpinned", h.Pin == nil, pinned).instead(),
			with("shape", true, oneOf(&h.Shape, "SHAPE", "shape", texts(plan.Shapes()))).required(),
			with("kick", at.s.time(openKick, i, 0, h.KickAt) != "0s", word("at"), at.opened(&h.KickAt, openKick, i))),
		check(func(p *parser) {
			if pins != 1 {
				p.failf("history %s: expected either \"pinned\" and a version, or \"unpinned\"", h.Instance)
			}
			if h.Shape == "" {
				p.failf("history %s: expected \"shape\" and %s", h.Instance, orList(texts(plan.Shapes())))
			}
		})}
}

// actionPattern is the pattern of a client's action. when is the text of its time.
func actionPattern(t *ActionTemplate, when string) []item {
	a, times := &t.Action, 0
	moment := func(word string, relative bool) clause {
		return with(word, t.Relative == relative, item{"TIME", func(p *parser) {
			t.Lo, t.Hi = p.span("a time")
			t.Relative = relative
			times++
		}, func() string { return when }})
	}
	var items []item
	var list []clause
	switch a.Verb {
	case plan.ActionRaise:
		items = []item{named(&a.Name, "EVENT", "the name of an event")}
		list = []clause{with("topic", a.Topic != "", value(&a.Topic, "TOPIC", "a topic")), with("data", a.Data != "", value(&a.Data, "DATA", "data"))}
	case plan.ActionEnqueue:
		items = []item{named(&a.Name, "NAME", "the name of a queue")}
		list = []clause{with("data", a.Data != "", value(&a.Data, "DATA", "data"))}
	case plan.ActionCancel:
		list = []clause{with("because", a.Data != "", value(&a.Data, "REASON", "a reason"))}
	case plan.ActionDelete:
		list = []clause{flag("forced", &a.Forced), flag("alone", &a.Alone)}
	}
	list = append(list, moment("at", false).required(), moment("after", true).instead())
	if a.Verb == plan.ActionRaise || a.Verb == plan.ActionEnqueue {
		list = append(list, flag("unawaited", &a.Unawaited))
	}
	if a.Verb == plan.ActionRaise {
		list = append(list, flag("blindly", &a.Blind))
	}
	return append(items, clauses(list...), check(func(p *parser) {
		if times != 1 {
			p.failf("expected either \"at\" or \"after\" and a time, as in: %s", p.form)
		}
	}))
}

func eachAction(at place, line func(string, int, []item)) {
	if at.parent == "mix" {
		for i := range at.s.Load.Mix[at.outer].Actions {
			a := &at.s.Load.Mix[at.outer].Actions[i]
			line(string(a.Action.Verb), i, actionPattern(a, formatSpan(a.Lo, a.Hi)))
		}
		return
	}
	for j, a := range at.s.Template.Instances[at.outer].Actions {
		d, _ := at.s.drawOf(openAction, at.outer, j)
		t := &ActionTemplate{Action: a, Relative: d.Relative}
		line(string(a.Verb), j, actionPattern(t, at.s.time(openAction, at.outer, j, a.At)))
	}
}

func loadPattern(l *Load) []item {
	return []item{count(&l.Count, "COUNT", "a number of instances", 1, maxLoad), word("instances", "instance"), clauses(
		with("from", l.From != 0, period(&l.From, "TIME", "a time", 0, "")),
		with("over", l.Over != 0, period(&l.Over, "DURATION", "a duration", 0, ""))), check(func(p *parser) {
		if l.From%time.Millisecond != 0 || l.Over%time.Millisecond != 0 {
			p.failf("expected whole milliseconds")
		}
	})}
}

func mixPattern(at place, m *MixEntry, i int) []item {
	what := handlerOf(&m.Orchestration, &m.Version)
	return []item{count(&m.Weight, "WEIGHT", "a weight", 1, maxWeight),
		{what.form + " | generated programs", func(p *parser) {
			if len(p.words) > 1 && p.words[0].is("generated") && p.words[1].is("programs") {
				p.words = p.words[2:]
				m.Generated, m.Orchestration = true, generatedName
			} else {
				what.read(p)
			}
		}, func() string {
			if m.Generated {
				return "generated programs"
			}
			return what.write()
		}},
		clauses(
			with("with", m.Input != "" || len(m.Or) > 0, value(&m.Input, "INPUT", "an input"),
				item{"[or INPUT...]", func(p *parser) {
					for p.err == nil && p.more() && p.words[0].is("or") {
						p.words = p.words[1:]
						m.Or = append(m.Or, p.next("an input").text)
					}
				}, func() string {
					return strings.Join(pretty.Texts(m.Or, func(input string) string { return "or " + quote(input) }), " ")
				}},
				check(func(p *parser) {
					for _, input := range m.inputs() {
						if _, err := parseInputRange(input); err != nil {
							p.failf("%v", err)
						}
					}
				})),
			with("expect", m.Expect != "", endOf(&m.Expect)),
			flag("unaided", &m.Unaided)),
		check(func(p *parser) { p.named[fmt.Sprintf("mix %d", i)] = p.line }),
	}
}

// inputs lists the inputs of which one is drawn.
func (m *MixEntry) inputs() []string { return append([]string{m.Input}, m.Or...) }

// probeEvery is the default time between two acts of a probe.
const probeEvery = time.Second

func probePattern(at place, b *plan.Probe, i int) []item {
	if b.Name == "" { // a new line
		b.Every, b.Count = probeEvery, 1
	}
	from := at.s.time(openProbe, i, 0, b.From)
	filter := item{"FILTER", func(p *parser) { b.Filter = p.probeFilter() }, func() string { return quote(b.Filter) }}
	return []item{unique(&b.Name, "NAME", "a probe's name", "probe"), word("reads"), buildOf(&b.Build),
		oneClause(
			with("filter", !b.Work && !b.Look && b.Sweep == "" && b.Send == "", filter),
			flag("work", &b.Work),
			with("sends", b.Send != "", oneOf(&b.Send, "start|message", "message of a probe", texts(plan.Sends())), named(&b.Instance, "INSTANCE", "an instance")),
			with("sweeps", b.Sweep != "", oneOf(&b.Sweep, "instances|executions", "sweep of a probe", texts(plan.Sweeps()))),
			flag("looks", &b.Look)),
		clauses(
			with("does", len(b.Does) > 0, someOf(&b.Does, "ACT", "act", texts(plan.Acts()))),
			with("to", b.Pin != nil, versionOf(&b.Pin)),
			with("holds", len(b.Holds) > 0, someOf(&b.Holds, "CLASS", "class of times", texts(plan.Holds()))),
			with("locks", b.Lock != 0, period(&b.Lock, "DURATION", "a duration", plan.LockLeast, "locks %v: expected at least "+plan.LockLeast.String())),
			with("delays", b.Delay != 0, period(&b.Delay, "DURATION", "a duration", 0, "")),
			with("from", from != "0s", at.opened(&b.From, openProbe, i)),
			with("every", b.Every != probeEvery, period(&b.Every, "DURATION", "a duration", time.Millisecond, "every %v: expected at least 1ms")),
			with("times", b.Count != 1, count(&b.Count, "COUNT", "a number of fetches", 0, maxTimes)),
			flag("ignore-attempt", &b.IgnoreAttempt)),
		check(func(p *parser) { p.checkProbe(b) }),
	}
}

func storyRows() []row {
	step := func(from item, relative bool) []item {
		var lo, hi time.Duration
		return []item{{"TIME", func(p *parser) { lo, hi = p.span("a time") }, nil}, {"STEP", func(p *parser) { p.step(lo, hi, relative) }, nil}}
	}
	return []row{
		{StatementInfo: StatementInfo{Name: "at",
			Meaning: "a step of the schedule at a time of the run", Example: "node A runs 1.5.0\nat 10s..15s crash A"},
			gap: gapFirst, lines: lines{func(at place) []item { return step(item{form: "TIME"}, false) }, eachStep}},
		{StatementInfo: StatementInfo{Name: "then",
			Meaning: "a step at the same time as the step before it; or, with nothing, no recovery and no rescue after the fault phase: the run ends when nothing more can happen", Example: "node A runs 1.5.0\nat 10s mark \"step 1\"\nthen upgrade A to 2.0.0"},
			lines: lines{func(at place) []item {
				return []item{{"STEP | nothing", func(p *parser) {
					if len(p.words) != 1 || !p.words[0].is("nothing") {
						p.step(0, 0, true)
						return
					}
					p.words = nil
					p.single("then nothing")
					at.s.Template.Unaided = true
				}, nil}}
			}, func(at place, line func(string, int, []item)) {
				if at.s.Template.Unaided {
					line("", 0, []item{word("nothing")})
				}
			}}},
		{StatementInfo: StatementInfo{Name: "after",
			Meaning: "a step that long after the step before it", Example: "node A runs 1.5.0\nat 10s crash A\nafter 2s..4s start A"},
			lines: lines{add: func(at place) []item { return step(item{form: "TIME"}, true) }}},
		{StatementInfo: StatementInfo{Name: "cycle", Open: true,
			Meaning: "the steps below it happen that often, one time after the other: those that begin with then or after, up to the next other statement; each time has its own drawn times, and a mark begins its part anew", Example: "node A runs 1.5.0\nat 5s mark \"cycles\"\ncycle 20 times\n  after 10s..30s upgrade A to 2.0.0\n  after 10s..30s rollback A to 1.5.0"},
			lines: lines{add: func(place) []item {
				c := cycle{}
				return []item{count(&c.times, "COUNT", "a number of times", 1, maxCycles), word("times", "time"), check(func(p *parser) { p.cycle = cycle{times: c.times, line: p.line} })}
			}}},
		{StatementInfo: StatementInfo{Name: "expect",
			Meaning: "attributes that each such event must have, an event that must never happen, or one that some seed of the campaign must show; in limits it to a part of the story that a mark begins; or, with panics, that a user's code may panic, and with taken, that code takes each event, queue message and cancel of the plan that is not unawaited; or late: at least no event comes before the wait for it",
			Example: "nodes A B run 1.5.0\nat 5s mark \"step 1\"\nexpect panics\nexpect taken\nexpect never turn in \"step 1\" where pin=2.0.0 node=A|B"},
			gap: gapFirst, lines: lines{func(at place) []item {
				return []item{{"always | never | sometimes EVENT [in PART] [where NAME=VALUE...] [has NAME=VALUE...] | panics | taken [or late]", func(p *parser) {
					for _, f := range wholePlan(at) {
						if slices.EqualFunc(p.words, strings.Fields(f.word), func(w token, is string) bool { return w.is(is) }) {
							p.words = nil
							p.single("expect " + f.word)
							*f.on = true
							return
						}
					}
					p.expect()
				}, nil}}
			}, func(at place, line func(string, int, []item)) {
				for _, f := range wholePlan(at) {
					if *f.on {
						line("", 0, []item{word(f.word)})
					}
				}
				for _, e := range at.s.Expect {
					line("", 0, []item{{"", nil, func() string { return formatExpectation(e) }}})
				}
			}}},
	}
}

// planFlag is a word of an expectation about the whole plan.
type planFlag struct {
	word string
	on   *bool
}

func wholePlan(at place) []planFlag {
	return []planFlag{{"panics", &at.s.Template.Panics}, {"taken", &at.s.Template.Taken}, {"taken or late", &at.s.Template.TakenOrLate}}
}

func eachStep(at place, line func(string, int, []item)) {
	for i := range at.s.Template.Schedule {
		t := &at.s.Template.Schedule[i]
		d, _ := at.s.drawOf(openStep, i, 0)
		name, when := "at", at.s.time(openStep, i, 0, t.At)
		switch {
		case !d.Relative:
		case d.Lo == 0 && d.Hi == 0:
			name, when = "then", ""
		default:
			name = "after"
		}
		items := []item{{"", nil, func() string { return when }}, word(string(t.Verb))}
		line(name, i, append(items, stepPattern(at, t, i)...))
	}
}

func stepRows() []row {
	step := func(verb plan.Verb, meaning, example string) row {
		return row{StatementInfo: StatementInfo{Name: string(verb), Meaning: meaning, Example: example},
			lines: lines{add: func(at place) []item { return stepPattern(at, &plan.Step{Verb: verb}, 0) }}}
	}
	return []row{
		step(plan.VerbMark, "no effect: begins the part of the story that expectations name", "mark \"step 1\""),
		step(plan.VerbUpgrade, "stop gracefully, then start the build", "upgrade A to 2.0.0"),
		step(plan.VerbRollback, "like upgrade, to an older build", "rollback A to 1.5.0"),
		step(plan.VerbStop, "stop gracefully", "stop A"),
		step(plan.VerbCrash, "stop at once, with loss of memory", "crash A"),
		step(plan.VerbStart, "start after stop, crash or remove; a node whose first step is start or add is down until then", "start A"),
		step(plan.VerbPause, "freeze for a while", "pause A for 2s..8s"),
		step(plan.VerbAdd, "start an absent node for the first time", "add A"),
		step(plan.VerbRemove, "like stop: down, also in recovery and rescue, unless a later step starts it", "remove A"),
		step(plan.VerbWiden, "restart gracefully with a wider range of pins, which later builds keep; default is that of the build, and today's documentation forbids more", "widen A to >=0.0.0, <=99.0.0"),
		step(plan.VerbNarrow, "restart gracefully with a narrower range of pins", "narrow A to 1.x"),
		step(plan.VerbRegister, "add an orchestration to a node", "register Leaf@1.0.0 on A"),
		step(plan.VerbMigrate, "undo migrations of the store until its schema has that version, as an operator's tool does. Nodes that need a newer one end at their next call, and migrate anew when they start: stop them before", "migrate to 1"),
		step(plan.VerbActivate, "let all nodes run the build, as soon as each of them runs that, a newer one, or one that awaits its activation; from then on no node starts as anything older. It waits for the last node until the fault phase ends", "activate 2.0.0"),
		step(plan.VerbDeregister, "remove an orchestration from a node", "deregister Leaf@1.0.0 on A"),
	}
}

func stepPattern(at place, s *plan.Step, index int) []item {
	name := named(&s.Node, "NODE", "a node")
	switch s.Verb {
	case plan.VerbMark:
		return []item{{"PART", func(p *parser) { s.Mark = p.name("a part's name") }, func() string { return fmt.Sprintf("%q", s.Mark) }}}
	case plan.VerbMigrate:
		return []item{word("to"), count(&s.Schema, "VERSION", "a schema's version", 1, 1<<20)}
	case plan.VerbActivate:
		return []item{buildOf(&s.Build)}
	case plan.VerbUpgrade, plan.VerbRollback:
		return []item{name, word("to"), buildOf(&s.Build)}
	case plan.VerbPause:
		return []item{name, word("for"), at.opened(&s.For, openFor, index), check(func(p *parser) {
			if s.For == 0 {
				p.failf("pause for 0s: expected some time")
			}
		})}
	case plan.VerbWiden, plan.VerbNarrow:
		return []item{name, word("to"), stepRange(&s.Range)}
	case plan.VerbRegister, plan.VerbDeregister:
		return []item{named(&s.Handler, "NAME@VERSION", "an orchestration"), check(func(p *parser) { p.registered(s.Handler) }), word("on"), name}
	}
	return []item{name}
}

func recordingRows() []row {
	recorded := func(at place, c *sim.RecordedChoice) item {
		return item{"KEY", func(p *parser) { *c = p.recorded() }, func() string { return quote(c.Key.String()) }}
	}
	choices := func(list func(at place) *[]sim.RecordedChoice, values func(c *sim.RecordedChoice) []item) lines {
		return lines{func(at place) []item {
			c := &sim.RecordedChoice{}
			return append(append([]item{recorded(at, c)}, values(c)...), check(func(p *parser) {
				if p.err == nil {
					*list(at) = append(*list(at), *c)
				}
			}))
		}, func(at place, line func(string, int, []item)) {
			for i := range *list(at) {
				c := &(*list(at))[i]
				line("", i, append([]item{recorded(at, c)}, values(c)...))
			}
		}}
	}
	return []row{
		{StatementInfo: StatementInfo{Name: "recording", Corpus: true,
			Meaning: "begins the recorded choices: the seed of the order of simultaneous events (unordered: first come, first served), and whether choices of value 0 are also listed", Example: "recording seed 42"},
			once: true, gap: gapFirst, lines: lines{func(at place) []item {
				r := &sim.Recording{SeededOrder: true}
				return append(recordingPattern(r), check(func(*parser) { at.e.Recording = r }))
			}, func(at place, line func(string, int, []item)) {
				if at.e.Recording != nil {
					line("", 0, recordingPattern(at.e.Recording))
				}
			}}},
		{StatementInfo: StatementInfo{Name: "choice", Corpus: true,
			Meaning: "a recorded choice: its key, the number of values, and the value chosen", Example: "recording seed 42\nchoice node:A/call:7/lost 2 1"},
			lines: choices(func(at place) *[]sim.RecordedChoice { return &at.e.recording().Choices }, func(c *sim.RecordedChoice) []item {
				return []item{count(&c.N, "N", "a number of values", 1, 1<<64-1),
					{"VALUE", func(p *parser) { c.Value = p.number("a value", 0, c.N-1) }, func() string { return fmt.Sprint(c.Value) }}}
			})},
		{StatementInfo: StatementInfo{Name: "priority", Corpus: true,
			Meaning: "a recorded place in the order of simultaneous events", Example: "recording seed 42\npriority schedule:1 7"},
			lines: choices(func(at place) *[]sim.RecordedChoice { return &at.e.recording().Priorities }, func(c *sim.RecordedChoice) []item {
				return []item{count(&c.Value, "VALUE", "a value", 0, 1<<64-1)}
			})},
	}
}

func recordingPattern(r *sim.Recording) []item {
	unordered := !r.SeededOrder
	return []item{word("seed"), seedOf(&r.Seed), clauses(flag("unordered", &unordered), flag("complete", &r.Complete)),
		check(func(*parser) { r.SeededOrder = !unordered })}
}

func seedOf(x *uint64) item {
	return item{"NUMBER", func(p *parser) { *x = p.seed() }, func() string { return fmt.Sprint(*x) }}
}

// programText returns a program's lines after their first word.
func programText(p *program.Program) string {
	var b strings.Builder
	p.Format(&b, quote)
	return strings.TrimSuffix(strings.TrimPrefix(b.String(), "program "), "\n")
}
