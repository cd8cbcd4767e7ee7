package properties_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/scenario"
)

// tooth is a deviation that makes an expectation of a walkthrough fail: a planted bug, or a different line in the
// walkthrough's plan.
type tooth struct {
	scenario string
	bug      faults.BugID
	line, by string // alternatively, the line to replace, and what replaces it
	expect   string // the expectation, as simrun prints it
}

var teeth = []tooth{
	{scenario: "rolling-upgrade", bug: "provider/filter-ignored", expect: `never fetch in "step 1" where node=B|C pin=2.0.0`},
	{scenario: "rolling-upgrade", bug: "provider/pin-inherited", expect: `always turn in "step 1" where node=A build=2.0.0 start=can has pin=2.0.0`},
	{scenario: "rolling-upgrade", bug: "engine/writes-newer-kind", expect: `never event where kind=ExternalSubscribed2|ExternalEvent2 pin=1.x|0.8.0|none`},
	{scenario: "rolling-upgrade", line: "then upgrade C to 2.0.0", by: "then upgrade C to 2.0.0\nthen narrow C to >=2.0.0, <=2.0.0",
		expect: `never skip in "step 3" where node=A|B|C build=2.0.0`},

	{scenario: "cycles", bug: "provider/filter-ignored", expect: `never fetch in "old again" where build=1.5.0 pin=2.0.0`},
	{scenario: "cycles", bug: "engine/filter-not-declared", expect: `never fetch in "old again" where build=1.5.0 pin=2.0.0`},
	{scenario: "cycles", line: "  after 1s..4s rollback B to 1.5.0", by: "  after 1s..4s pause B for 1s", expect: `never turn in "old again" where pin=2.0.0`},

	{scenario: "two-phase", bug: "engine/never-pins", expect: `always turn in "the first phase, and back" has pin=1.5.0`},
	{scenario: "two-phase", bug: "provider/pin-not-written", expect: `always turn in "the first phase, and back" has pin=1.5.0`},
	{scenario: "two-phase", bug: "engine/emulator-writes-newer", expect: `never event in "the first phase, and back" where kind=ExternalSubscribed2|ExternalEvent2`},
	{scenario: "two-phase", line: "  after 3s..9s upgrade A to 1.5.0+2.0.0", by: "  after 3s..9s upgrade A to 2.0.0", expect: `never wait in "the first phase, and back"`},
	{scenario: "two-phase", line: "  after 3s..9s upgrade A to 1.5.0+2.0.0", by: "  after 3s..9s upgrade A to 2.0.0", expect: `never event in "the first phase, and back" where kind=ExternalSubscribed2|ExternalEvent2`},

	{scenario: "rolling-upgrade-risk", bug: "provider/filter-ignored", expect: `never fetch in "A is down" where node=B|C pin=2.0.0`},
	{scenario: "rolling-upgrade-risk", bug: "engine/filter-not-declared", expect: `never fetch in "A is down" where node=B|C pin=2.0.0`},
	{scenario: "rolling-upgrade-risk", line: "then crash A", by: "then pause A for 1s", expect: `never turn in "A is down" where pin=2.0.0`},

	{scenario: "versioned-handlers", bug: "provider/filter-ignored", expect: `never fetch in "step 1" where node=B|C pin=2.0.0`},
	{scenario: "versioned-handlers", bug: "provider/filter-after-lock", expect: `never lock in "step 1" where node=B|C pin=2.0.0`},
	{scenario: "versioned-handlers", bug: "provider/filter-after-decode", expect: `never decode in "step 1" where node=B|C pin=2.0.0`},
	{scenario: "versioned-handlers", bug: "provider/pin-inherited", expect: `always turn in "step 1" where node=A start=can has pin=2.0.0`},
	{scenario: "versioned-handlers", bug: "engine/filter-not-declared", expect: `always node in "step 1" where node=B|C has filter=">=0.0.0, <=1.5.0"`},
	{scenario: "versioned-handlers", bug: "engine/backoff-doubles-forever", expect: `always abandon where reason=no-handler attempt=3|4 has delay=4s`},
	{scenario: "versioned-handlers", line: "then upgrade A to 2.0.0", by: "then upgrade A to 1.6.0",
		expect: `always node in "step 1" where node=A has build=2.0.0 ProcessOrder@1.0.0=yes ProcessOrder@2.0.0=yes`},
	{scenario: "versioned-handlers", line: "then deregister ProcessOrder@1.0.0 on B", by: "then deregister ProcessOrder@1.0.0 on A",
		expect: `always node in "step 4" has build=2.0.0 ProcessOrder@1.0.0=no ProcessOrder@2.0.0=yes`},
	{scenario: "versioned-handlers", line: "then deregister ProcessOrder@1.0.0 on C", by: "then register ProcessOrder@1.0.0 on C",
		expect: `never turn in "step 4" where handler=ProcessOrder@1.0.0|OrderDesk@1.0.0`},
	{scenario: "versioned-handlers", line: "instance explicit-2 runs ProcessOrder@1.0.0 at 53s..55s expect completed|poison", by: "instance explicit-2 runs ProcessOrder at 53s..55s expect completed|poison",
		expect: `always turn where instance=explicit-1|explicit-2|explicit-3 first=yes has pin=2.0.0 handler=ProcessOrder@1.0.0`},

	{scenario: "deadletter-returns", bug: "provider/dead-letter-at-second-sight", expect: `never end where status=Failed`},
	{scenario: "deadletter-returns", bug: "provider/pin-not-written", expect: `never end where status=Failed`},
	{scenario: "deadletter-returns", line: "at 74s..75s start B", by: "at 84s..85s start B", expect: `never end where status=Failed`},

	{scenario: "kept-executions", bug: "engine/code-input-changed", expect: `never end where status=Failed`},
	{scenario: "kept-executions", bug: "engine/child-of-next-event", expect: `never end where status=Failed`},
	{scenario: "kept-executions", line: "  option kept_executions 4", by: "  option kept_executions 4\n  option orchestration_concurrency 0", expect: `sometimes turn where node=A resumed=yes`},
	{scenario: "kept-executions", line: "node C runs 1.5.0", by: "node C runs 1.5.0\n  option kept_executions 8", expect: `never turn where node=C resumed=yes`},

	{scenario: "cycles", line: "  raise approval topic orders data yes after 0s..30ms blindly", by: "  raise approval data yes after 0s..30ms blindly",
		expect: `sometimes event where kind=ExternalEvent2 instance=early`},

	{scenario: "fine-print", bug: "engine/handler-of-latest", expect: `never end where status=Failed`},
	{scenario: "fine-print", bug: "provider/tag-lost", expect: `never end where status=Failed`},
	{scenario: "fine-print", line: "  limits carried 2", by: "  limits carried 2 keys 1", expect: `never end where status=Failed`},

	{scenario: "without-filtering", bug: "provider/filter-ignored", expect: `never fetch in "filter on" where build=1.5.0 pin=2.0.0`},
	{scenario: "without-filtering", bug: "provider/filter-after-lock", expect: `never lock in "filter on" where build=1.5.0 pin=2.0.0`},
	{scenario: "without-filtering", bug: "provider/filter-after-decode", expect: `never decode in "filter on" where build=1.5.0 pin=2.0.0`},
	{scenario: "without-filtering", bug: "provider/undecodable-event-skipped", expect: `always fetch where instance=broken has readable=no`},
	{scenario: "without-filtering", bug: "provider/count-lost-when-decoding-fails", expect: `sometimes fetch where instance=broken attempt=2`},
	{scenario: "without-filtering", bug: "engine/poison-off-by-one", expect: `never poison where queue=orchestrator attempt=1|2|3|4`},
	{scenario: "without-filtering", bug: "engine/count-ignored", expect: `never abandon where reason=history-error attempt=5|6|7|8`},
	{scenario: "without-filtering", line: "then widen C to >=0.0.0, <=99.0.0", by: "then widen C to >=0.0.0, <=1.6.0",
		expect: `always node in "filter off" where build=1.5.0 has filter=">=0.0.0, <=99.0.0"`},

	{scenario: "draining-by-widening", bug: "engine/filter-not-declared", expect: `never fetch in "stuck" where pin=99.0.0|3.0.0`},
	{scenario: "draining-by-widening", bug: "provider/filter-after-lock", expect: `never lock in "stuck" where pin=99.0.0|3.0.0`},
	{scenario: "draining-by-widening", bug: "provider/undecodable-event-skipped", expect: `always fetch where instance=alien-1|alien-2|late has readable=no`},
	{scenario: "draining-by-widening", bug: "engine/count-ignored", expect: `never abandon where reason=history-error attempt=4|5|6|7`},
	{scenario: "draining-by-widening", bug: "engine/history-error-ignores-attempt", expect: `sometimes poison in "A drains" where instance=alien-1 cause=unreadable attempt=4`},
	{scenario: "draining-by-widening", line: "then widen A to >=0.0.0, <=99.0.0", by: "then widen B to >=0.0.0, <=99.0.0",
		expect: `always fetch in "A drains" where pin=99.0.0|3.0.0 has node=A`},

	{scenario: "post-upgrade-cleanup", bug: "provider/filter-ignored", expect: `never fetch in "all are 3.0.0" where build=3.0.0 pin=0.8.0`},
	{scenario: "post-upgrade-cleanup", bug: "provider/filter-after-decode", expect: `never decode in "all are 3.0.0" where build=3.0.0 pin=0.8.0`},
	{scenario: "post-upgrade-cleanup", bug: "provider/undecodable-event-skipped", expect: `never turn where instance=legacy-1|legacy-2`},
	{scenario: "post-upgrade-cleanup", line: "then upgrade B to 3.0.0", by: "then upgrade B to 2.0.0",
		expect: `always node in "all are 3.0.0" has build=3.0.0 filter=">=1.0.0, <=3.0.0"`},
	{scenario: "post-upgrade-cleanup", line: "then widen A to >=0.0.0, <=3.0.0", by: "then widen B to >=0.0.0, <=3.0.0",
		expect: `always fetch where build=3.0.0 pin=0.8.0 has node=A`},

	{scenario: "rollback-first-node", bug: "provider/filter-ignored", expect: `never fetch where build=1.5.0 pin=2.0.0`},
	{scenario: "rollback-first-node", bug: "provider/filter-after-lock", expect: `never lock where build=1.5.0 pin=2.0.0`},
	{scenario: "rollback-first-node", bug: "provider/filter-after-decode", expect: `never decode where build=1.5.0 pin=2.0.0`},
	{scenario: "rollback-first-node", bug: "provider/pin-inherited", expect: `always turn where build=2.0.0 first=yes has pin=2.0.0`},
	{scenario: "rollback-first-node", line: "then rollback A to 1.5.0", by: "then rollback A to 1.6.0",
		expect: `always node in "A is old again" has build=1.5.0 filter=">=0.0.0, <=1.5.0"`},

	{scenario: "version-gone-and-back", bug: "provider/filter-ignored", expect: `never fetch in "2.0.0 is gone" where node=C|D pin=2.0.0`},
	{scenario: "version-gone-and-back", bug: "provider/filter-after-lock", expect: `never lock in "2.0.0 is gone" where pin=2.0.0 build=1.5.0`},
	{scenario: "version-gone-and-back", bug: "provider/filter-after-decode", expect: `never decode in "2.0.0 is gone" where node=C|D pin=2.0.0`},
	{scenario: "version-gone-and-back", bug: "provider/filter-after-count", expect: `never poison where pin=2.0.0 cause=crash`},
	{scenario: "version-gone-and-back", line: "then crash B", by: "then start B", expect: `never turn in "2.0.0 is gone again" where pin=2.0.0`},

	{scenario: "ladder", bug: "provider/filter-ignored", expect: `never abandon where reason=incompatible`},
	{scenario: "ladder", bug: "provider/pin-inherited", expect: `always turn where build=1.6.0 first=yes has pin=1.6.0`},
	{scenario: "ladder", line: "node C runs 2.0.0", by: "node C runs 2.5.0", expect: `always turn where pin=2.0.0 has build=2.0.0-rc.1|2.0.0|3.0.0`},

	{scenario: "self-stranded", bug: "provider/filter-ignored", expect: `never fetch in "B is narrowed" where node=B pin=2.0.0`},
	{scenario: "self-stranded", bug: "provider/filter-after-lock", expect: `never lock in "B is narrowed" where node=B pin=2.0.0`},
	{scenario: "self-stranded", line: "then stop A", by: "then pause A for 1s", expect: `never fetch in "A is away" where pin=2.0.0`},
	{scenario: "self-stranded", line: "then narrow B to >=1.0.0, <2.0.0", by: "then narrow B to >=1.0.0, <=2.0.0",
		expect: `never turn in "B is narrowed" where node=B pin=2.0.0 first=no`},
}

// TestWalkthroughsHaveTeeth checks that a walkthrough's expectations fail when its subject goes wrong, and only then.
func TestWalkthroughsHaveTeeth(t *testing.T) {
	for _, c := range sample.Of(teeth, 5) {
		name := string(c.bug)
		if name == "" {
			name = c.by
		}
		t.Run(c.scenario+"/"+name, func(t *testing.T) {
			sound := alone(t, c.scenario, c.expect, "", "")
			bad, on := sound, []faults.BugID{c.bug}
			if c.bug == "" {
				bad, on = alone(t, c.scenario, c.expect, c.line, c.by), nil
			}
			if sound.Expect[0].Mode == plan.ModeSometimes {
				if seed := metBy(t, bad, on); seed != 0 {
					t.Errorf("with %s, seed %d of %s shows %q all the same", name, seed, c.scenario, c.expect)
				}
				if metBy(t, sound, nil) == 0 {
					t.Errorf("no seed of %s shows %q", c.scenario, c.expect)
				}
				return
			}
			for seed := uint64(1); seed <= uint64(bad.Seeds.Count); seed++ {
				if len(expected(t, bad, seed, on).Violations) == 0 {
					continue
				}
				if v := expected(t, sound, seed, nil).Violations; len(v) > 0 {
					t.Errorf("seed %d of %s fails without %s, too: %s", seed, c.scenario, name, v[0].Message)
				}
				return
			}
			t.Errorf("with %s, %q holds in %d seeds of %s", name, c.expect, bad.Seeds.Count, c.scenario)
		})
	}
}

// TestEachWalkthroughHasTeeth checks that each walkthrough has at least three deviations, of both sorts. The same goes
// for every scenario that quotes its source.
func TestEachWalkthroughHasTeeth(t *testing.T) {
	var order []string
	for _, n := range scenario.Builtin() {
		if strings.Contains(string(n.Text), "\n#> ") {
			order = append(order, n.Name)
		}
	}
	for _, c := range teeth {
		if !slices.Contains(order, c.scenario) {
			order = append(order, c.scenario)
		}
	}
	for _, name := range order {
		bugs, plans := 0, 0
		for _, c := range teeth {
			switch {
			case c.scenario != name:
			case c.bug != "":
				bugs++
			default:
				plans++
			}
		}
		if bugs < 2 || plans < 1 {
			t.Errorf("%s: %d planted bugs and %d other plans, expected at least 2 and 1", name, bugs, plans)
		}
	}
}

// alone returns a built-in scenario with only one of its expectations. If a line is given, it is replaced.
func alone(t *testing.T, name, expectation, line, by string) *scenario.Scenario {
	t.Helper()
	for _, n := range scenario.Builtin() {
		if n.Name != name {
			continue
		}
		text := string(n.Text)
		if line != "" {
			if !strings.Contains(text, "\n"+line+"\n") {
				t.Fatalf("%s has no line %q", name, line)
			}
			text = strings.Replace(text, "\n"+line+"\n", "\n"+by+"\n", 1)
		}
		s := sample.Must(scenario.Parse(n.File, []byte(text)))(t)
		i := slices.IndexFunc(s.Expect, func(e plan.Expectation) bool { return e.Text == expectation })
		if i < 0 {
			t.Fatalf("%s does not expect %q", name, expectation)
		}
		s.Expect = s.Expect[i : i+1]
		return s
	}
	t.Fatalf("no scenario %q", name)
	return nil
}

// metBy returns the first seed that shows the scenario's only expectation, which is a sometimes. It returns 0 if no
// seed does.
func metBy(t *testing.T, s *scenario.Scenario, on []faults.BugID) uint64 {
	t.Helper()
	for seed := uint64(1); seed <= uint64(s.Seeds.Count); seed++ {
		if slices.ContainsFunc(expected(t, s, seed, on).Coverage, func(p cluster.Point) bool { return p.Name == s.Expect[0].PointName() }) {
			return seed
		}
	}
	return 0
}

// expected runs a seed of a scenario and judges only its expectations.
func expected(t *testing.T, s *scenario.Scenario, seed uint64, on []faults.BugID) *cluster.Result {
	t.Helper()
	return run(t, config(t, s, seed, scenario.Overrides{Bugs: on}, properties.Options{Properties: []string{}, Expectations: s.Expect}))
}
