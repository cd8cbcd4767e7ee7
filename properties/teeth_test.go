package properties_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/sim/scenario"
)

// tooth is a deviation that makes an expectation of a scenario fail: a planted bug, or a different line in the
// scenario's plan.
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
	{scenario: "two-phase", bug: "engine/emulator-writes-newer", expect: `never event in "the first phase, and back" where kind=ExternalSubscribed2|ExternalEvent2`},
	{scenario: "two-phase", line: "  after 3s..9s upgrade A to 1.5.0+2.0.0", by: "  after 3s..9s upgrade A to 2.0.0", expect: `never wait in "the first phase, and back"`},
	{scenario: "two-phase", line: "  after 3s..9s upgrade A to 1.5.0+2.0.0", by: "  after 3s..9s upgrade A to 2.0.0", expect: `never event in "the first phase, and back" where kind=ExternalSubscribed2|ExternalEvent2`},

	{scenario: "rolling-upgrade-risk", bug: "provider/filter-ignored", expect: `never fetch in "A is down" where node=B|C pin=2.0.0`},
	{scenario: "rolling-upgrade-risk", bug: "engine/filter-not-declared", expect: `never fetch in "A is down" where node=B|C pin=2.0.0`},
	{scenario: "rolling-upgrade-risk", line: "then crash A", by: "then pause A for 1s", expect: `never turn in "A is down" where pin=2.0.0`},

	{scenario: "versioned-handlers", bug: "provider/filter-ignored", expect: `never fetch in "step 1" where node=B|C pin=2.0.0`},
	{scenario: "versioned-handlers", bug: "provider/filter-after-lock", expect: `never lock in "step 1" where node=B|C pin=2.0.0`},
	{scenario: "versioned-handlers", bug: "provider/filter-after-decode", expect: `never decode in "step 1" where node=B|C pin=2.0.0`},
	{scenario: "versioned-handlers", bug: "provider/pin-inherited", expect: `always turn in "step 1" where node=A build=2.0.0 start=can has pin=2.0.0`},
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

	{scenario: "deadletter-returns", bug: "provider/dead-letter-at-second-sight", expect: `never end where instance=guest-1|guest-2|guest-3|guest-4|guest-5|guest-6|fresh status=Failed`},
	{scenario: "deadletter-returns", bug: "provider/pin-not-written", expect: `never end where instance=guest-1|guest-2|guest-3|guest-4|guest-5|guest-6|fresh status=Failed`},
	{scenario: "deadletter-returns", line: "at 74s..75s start B", by: "at 84s..85s start B", expect: `never end where instance=guest-1|guest-2|guest-3|guest-4|guest-5|guest-6|fresh status=Failed`},

	{scenario: "kept-executions", bug: "engine/code-input-changed", expect: `never turn where result=Failed`},
	{scenario: "kept-executions", bug: "engine/child-of-next-event", expect: `never turn where result=Failed`},
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

// TestScenariosHaveTeeth checks that a scenario's expectations fail when its subject goes wrong, and only then.
func TestScenariosHaveTeeth(t *testing.T) {
	for _, c := range sample.Of(teeth, 27) {
		t.Run(c.scenario+"/"+cmp.Or(string(c.bug), c.by), func(t *testing.T) {
			i := slices.IndexFunc(scenario.Builtin(), func(n scenario.Named) bool { return n.Name == c.scenario })
			d := deviation{old: c.line, new: c.by, expect: c.expect}
			if c.bug != "" {
				d.bugs = []faults.BugID{c.bug}
			}
			parseSmall(t, scenario.Builtin()[i].File, string(scenario.Builtin()[i].Text)).deviates(t, d)
		})
	}
}

// TestTeethAreEnough checks that each scenario with teeth, and each that quotes its source, has at least three, of both
// sorts.
func TestTeethAreEnough(t *testing.T) {
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
