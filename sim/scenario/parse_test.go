package scenario

import (
	"errors"
	"strings"
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/sample"
)

// TestErrors checks that each text is rejected with exactly this error.
func TestErrors(t *testing.T) {
	const nodes = "nodes A B run 1.5.0\n"
	for _, c := range []struct{ text, want string }{
		// Words.
		{`scenario "open`, `x.txt:1: unterminated string: expected a closing " on the same line, with \" for a quote inside`},
		{`upgade A to 2.0.0`, `x.txt:1: unknown statement "upgade"; did you mean upgrade?`},
		{`fault-phaze 10s`, `x.txt:1: unknown statement "fault-phaze"; did you mean fault-phase?`},
		{"\n# story\n  nod A runs 1.5.0", `x.txt:3: unknown statement "nod"; did you mean node?`},
		{`upgrade A to 2.0.0`, `x.txt:1: "upgrade" is a step of the schedule: expected a time before it, as in "at 10s upgrade ..."`},
		{`"scenario" x`, `x.txt:1: expected a statement, found the string "scenario"`},
		{`scenario`, `x.txt:1: the line ends too early: expected a name, as in: scenario NAME`},
		{`scenario a b`, `x.txt:1: unexpected "b": expected the end of the line, as in: scenario NAME`},
		{`scenario ""`, `x.txt:1: an empty name: expected a name, as in: scenario NAME`},
		{"scenario a\nscenario b", `x.txt:2: duplicate "scenario": line 1 has it`},
		{`verdict holds`, `x.txt:1: "verdict" belongs in a corpus entry, but this is read as a scenario: replay it instead`},
		// Programs.
		{"program P\n  input\nnodes A B run 1.5.0", `x.txt:3: "nodes" is no statement of a program: the program of line 1 must have its "end" above`},
		{"program P\n  jump a\nend", `x.txt:2: unknown statement "jump" of a program: expected say, input, call, call-fails, fail, panic, timer, wait, child, detach, drop, seq, join, select, try, repeat, again, dequeue, set, set-many, get, clear, clear-all, keys, prune, remote, status, status-reset, status-get, guid, now, catch or end`},
		{"program P\n  timer\nend", `x.txt:2: the line ends too early, as in: timer TIME`},
		{"program P\n  \"call\" a\nend", `x.txt:2: expected a statement of a program, found the string "call"`},
		{"program P\n  call a", `x.txt:2: the text ends within program P: expected "end"`},
		{"program P\nend", `x.txt:2: program P: it has no statements`},
		{"program P\n  child Q\nend", `x.txt:3: program P: child Q: want the name of an earlier program`},
		{"program P\n  input\nend\nprogram P", `x.txt:4: duplicate program "P": line 1 has it`},
		{"program Program-7.1\n  input\nend\nload 9 instances\n  mix 1 generated programs", `x.txt:1: program "Program-7.1" has a name that a generated program may get: expected another name`},
		// Numbers, times, ranges.
		{`seeds many`, `x.txt:1: "many": expected a number of seeds from 1 to 1000000000`},
		{`fault-phase 10`, `x.txt:1: "10": expected a time such as 250ms, 10s or 1m30s, or, where times are drawn, a range such as 10s..15s`},
		{`fault-phase 5s..10s`, `x.txt:1: "5s..10s": expected one duration here, not a range, such as 5s`},
		{`fault-phase -5s`, `x.txt:1: "-5s": expected a time at or after the start`},
		{`fault-phase 90000h`, `x.txt:1: "90000h": expected at most 87840h0m0s`},
		{`fault-phase 5ns`, `x.txt:1: "5ns": expected whole microseconds`},
		{`at 15s..10s crash A`, `x.txt:1: "15s..10s": the range ends before it begins`},
		{`at 1s..1500500us crash A`, `x.txt:1: "1s..1500500us": expected whole milliseconds in a range`},
		{`at +2s crash A`, `x.txt:1: "+2s": expected a time such as 250ms, 10s or 1m30s, or, where times are drawn, a range such as 10s..15s`},
		{`budget 100`, `x.txt:1: the line ends too early: expected "steps" or "turns", as in: budget COUNT steps | turns`},
		{`require coverage`, `x.txt:1: the line ends too early: expected a coverage point, as in: require coverage POINT... | matrix`},
		{`require point x`, `x.txt:1: expected "coverage" or "matrix", found "point", as in: require coverage POINT... | matrix`},
		{`require coverage rescue rescue`, `x.txt:1: duplicate coverage point "rescue": line 1 has it`},
		{`strategy filtr`, `x.txt:1: unknown strategy "filtr": expected filter, exact, stall, bounce, sweeper or deadletter; did you mean filter?`},
		{`profile duroxide`, `x.txt:1: unknown profile "duroxide": expected contract, duroxide-0.1.26 or duroxide-0.1.32`},
		{`bug provider/any-rang`, `x.txt:1: unknown bug "provider/any-rang"; did you mean provider/any-range?`},
		{`bug provider/any-range on`, `x.txt:1: the line ends too early: expected a build or a node, as in: bug ID... [on BUILD | on NODE]`},
		{`bug count`, `x.txt:1: unknown bug "count"`},
		// Faults.
		{`faults heavy`, `x.txt:1: unknown fault plan "heavy": expected none, light, full or timing`},
		{`fault crash-bevore-ack 1 in 5`, `x.txt:1: unknown fault "crash-bevore-ack"; did you mean crash-before-ack?`},
		{`fault pause 6 in 5`, `x.txt:1: 6 in 5: expected a first number that is not above the second`},
		{`fault pause 1 of 5`, `x.txt:1: expected "in", found "of", as in: fault KIND N in M [from TIME] [to TIME] [on NODE]`},
		{`fault pause 1 in 0`, `x.txt:1: "0": expected a number of opportunities from 1 to 4611686018427387904`},
		{`fault pause 1 in 5 from 5s to 5s`, `x.txt:1: from 5s to 5s: the window ends before it begins`},
		{`fault pause 1 in 5 on A on B`, `x.txt:1: "on" is given twice; the form is: fault KIND N in M [from TIME] [to TIME] [on NODE]`},
		{nodes + `fault pause 1 in 5 on C`, `x.txt:2: unknown node "C": expected A or B`},
		// Nodes.
		{`node A`, `x.txt:1: the line ends too early: expected "runs" and a build, as in: node NAME... runs BUILD [absent]`},
		{`node A runs 2.0`, `x.txt:1: unknown build "2.0": expected 0.1.26, 0.1.30, 0.1.32, 0.8.0, 1.5.0, 1.6.0, 2.0.0-rc.1, 2.0.0, 2.5.0 or 3.0.0`},
		{`node A runs seven`, `x.txt:1: unknown build "seven": expected 0.1.26, 0.1.30, 0.1.32, 0.8.0, 1.5.0, 1.6.0, 2.0.0-rc.1, 2.0.0, 2.5.0 or 3.0.0`},
		{nodes + `node A runs 1.5.0`, `x.txt:2: duplicate node "A": line 1 has it`},
		{`option max_attempts 3`, `x.txt:1: expected this line below a node, as in: option NAME VALUE`},
		{nodes + "faults none\noption max_attempts 3", `x.txt:3: expected this line below a node, as in: option NAME VALUE`},
		{nodes + `option max_attempt 3`, `x.txt:2: unknown option "max_attempt"; did you mean max_attempts?`},
		{nodes + `option max_attempts no`, `x.txt:2: option max_attempts: "no": expected a whole number from 1 to 4294967295`},
		{nodes + "option max_attempts 3\noption max_attempts 4", `x.txt:3: option max_attempts of node A is given twice`},
		{nodes + `option supported_replay_versions >=2.0.0, <1.0.0`, `x.txt:2: option supported_replay_versions: range ">=2.0.0, <1.0.0": admits nothing: no version is both at or above 2.0.0 and at or below 0.999.999; or "default" for the build's range`},
		{nodes + `handlers Leaf`, `x.txt:2: orchestration "Leaf": expected NAME@VERSION, such as Leaf@1.0.0`},
		{nodes + `handlers Leaf@1.0.0 Leaf@1.0.0`, `x.txt:2: orchestration Leaf@1.0.0 is given twice`},
		{nodes + `clock soon`, `x.txt:2: clock "soon": expected an offset such as +300ms or -1s`},
		{nodes + `clock +300ms drift 50`, `x.txt:2: drift "50": expected parts per million, such as 50ppm or -20ppm`},
		{nodes + "clock +300ms\nclock -1s", `x.txt:3: the clock of node A is given twice`},
		{`clock +300ms`, `x.txt:1: expected this line below a node, as in: clock OFFSET [drift PPM]`},
		{`store`, `x.txt:1: the line ends too early: expected a clause, as in: store [clock own | callers] [serial DURATION] [plain]`},
		{`store clock mine`, `x.txt:1: expected "own" or "callers", found "mine", as in: store [clock own | callers] [serial DURATION] [plain]`},
		{`fault-phase 0s`, `x.txt:1: fault-phase 0s: expected how long schedule and faults last`},
		{`store serial 0s`, `x.txt:1: serial 0s: expected how long the store is busy with each fetch`},
		// Steps.
		{nodes + `at 10s`, `x.txt:2: the line ends too early: expected a step, as in: at TIME STEP`},
		{nodes + `at 10s upgade A to 2.0.0`, `x.txt:2: unknown step "upgade"; did you mean upgrade?`},
		{nodes + `at 10s drain A`, `x.txt:2: unknown step "drain": expected mark, upgrade, rollback, stop, crash, start, pause, add, remove, widen, narrow, register, migrate, activate or deregister`},
		{nodes + `at 10s upgrade A 2.0.0`, `x.txt:2: expected "to", found "2.0.0", as in: upgrade NODE to BUILD`},
		{nodes + `at 10s upgrade A to 2.0.1`, `x.txt:2: unknown build "2.0.1"; did you mean 2.0.0?`},
		{nodes + "at 10s crash A\nat 12s start Z1", `x.txt:3: unknown node "Z1": expected A or B`},
		{nodes + `at 10s widen A to 1.x || 3.x`, `x.txt:2: range "1.x || 3.x": "||" gives alternatives: expected one contiguous range, a provider filter has no more`},
		{nodes + `at 10s pause A`, `x.txt:2: the line ends too early: expected "for", as in: pause NODE for TIME`},
		{nodes + `at 10s pause A for 0s`, `x.txt:2: pause for 0s: expected some time`},
		{nodes + `at 10s register Leaf on A`, `x.txt:2: orchestration "Leaf": expected NAME@VERSION, such as Leaf@1.0.0`},
		{nodes + `then crash A`, `x.txt:2: there is no earlier step: expected "at" and a time`},
		{nodes + "at 60000h crash A\nafter 60000h start A", `x.txt:3: this is 120000h0m0s after the start of the run: expected at most 87840h0m0s`},
		// Instances and histories.
		{`instance a ran Leaf`, `x.txt:1: expected "runs", found "ran", as in: instance ID runs NAME[@VERSION] [with INPUT] [at TIME] [expect END[|END]] [unaided]`},
		{`instance a runs Leaf@one`, `x.txt:1: orchestration Leaf: version "one": invalid semantic version; expected MAJOR.MINOR.PATCH such as 1.2.3 or 1.2.3-rc.1`},
		{nodes + "at 1s crash A\ncycle 3 times\nafter 40000h start A", `x.txt:4: this is 120000h0m1s after the start of the run: expected at most 87840h0m0s`},
		{nodes + "at 1s crash A\ncycle 3 times\nat 2s start A", `x.txt:3: the cycle has no steps: expected below it lines that begin with then or after`},
		{nodes + "cycle 3 times\nafter 2s start A", `x.txt:3: there is no earlier step: expected "at" and a time`},
		{`instance a runs Leaf@`, `x.txt:1: orchestration "Leaf@": expected a version after the @`},
		{`instance a runs Leaf expects failed`, `x.txt:1: unexpected "expects": expected with, at, expect or unaided; did you mean expect?`},
		{`instance a runs Leaf expect happy`, `x.txt:1: unknown end "happy": expected completed, failed, eternal, poison or any, or some of completed, failed and poison with | between them`},
		{`instance a runs Leaf expect failed|failed`, `x.txt:1: end "failed" is given twice: expected completed, failed, eternal, poison or any, or some of completed, failed and poison with | between them`},
		{`instance a runs Leaf expect failed|any`, `x.txt:1: "failed|any": any and eternal stand alone: expected completed, failed, eternal, poison or any, or some of completed, failed and poison with | between them`},
		{"instance a runs Leaf\nhistory a runs Leaf unpinned shape waiting", `x.txt:2: duplicate instance "a": line 1 has it`},
		{`raise go at 1s`, `x.txt:1: expected this line below an instance or a mix, as in: raise EVENT [topic TOPIC] [data DATA] at TIME | after TIME [unawaited] [blindly]`},
		{"instance a runs Leaf\nraise go", `x.txt:2: expected either "at" or "after" and a time, as in: raise EVENT [topic TOPIC] [data DATA] at TIME | after TIME [unawaited] [blindly]`},
		{"instance a runs Leaf at 5s\ncancel at 4s", `x.txt:2: cancel at 4s: expected a time at or after the start of a, which is 5s`},
		{"instance a runs Leaf\ncancel at 1s after 2s", `x.txt:2: expected either "at" or "after" and a time, as in: cancel [because REASON] at TIME | after TIME`},
		{`history h runs Leaf shape waiting`, `x.txt:1: history h: expected either "pinned" and a version, or "unpinned"`},
		{`history h runs Leaf pinned 1.5 shape waiting`, `x.txt:1: version "1.5": invalid semantic version; expected MAJOR.MINOR.PATCH such as 1.2.3 or 1.2.3-rc.1`},
		{`history h runs Leaf unpinned`, `x.txt:1: history h: expected "shape" and waiting, unknown-kind, new-kind, legacy, corrupt or respelled`},
		{`history h runs Leaf unpinned shape waitng`, `x.txt:1: unknown shape "waitng": expected waiting, unknown-kind, new-kind, legacy, corrupt or respelled; did you mean waiting?`},
		// Load.
		{`load 5 instances`, `x.txt:1: the load has no mix: expected below it mix WEIGHT NAME[@VERSION] | generated programs [with INPUT [or INPUT...]] [expect END[|END]] [unaided]`},
		{`load none`, `x.txt:1: "none": expected a number of instances from 1 to 100000`},
		{`mix 1 Leaf`, `x.txt:1: expected this line below a load, as in: mix WEIGHT NAME[@VERSION] | generated programs [with INPUT [or INPUT...]] [expect END[|END]] [unaided]`},
		{"load 5 instances\nmix 1 Chain with 6..2", `x.txt:2: input "6..2": the range ends before it begins`},
		{"instance Chain-3 runs Leaf\nload 5 instances\nmix 1 Chain", `x.txt:1: instance "Chain-3" has a name that an instance of the load may get: expected another name`},
		// Probes.
		{`probe P reads 2.0.0 filter 2.0`, ``},
		{`probe P reads 2.0.0 filter two`, `x.txt:1: filter "two": range "two": "two" is no version: expected comparators such as ">=1.0.0, <2.0.0", "^1.4", "~1.2.3", "1.x", "*" or "1.2 - 1.4.5"; expected none, any, or ranges separated by |`},
		{`probe P reads 2.0.0 filter any every 5us`, `x.txt:1: every 5µs: expected at least 1ms`},
		{`probe P reads 2.0.0 filter any does repin|ack to 1.5.0 holds before|after locks 2s delays 1s`, ``},
		{`probe P reads 2.0.0 filter any does repin`, `x.txt:1: probe P does repin: expected "to" and a version`},
		{`probe P reads 2.0.0 filter any to 1.5.0`, `x.txt:1: probe P: "to 1.5.0" is only for "does repin"`},
		{`probe P reads 2.0.0 filter any does renw`, `x.txt:1: unknown act "renw": expected one or more of abandon, renew, leave, ack, twice, forge, repin, behind or contradict, separated by |; did you mean renew?`},
		{`probe P reads 2.0.0 work does behind`, `x.txt:1: probe P fetches activities: repin, behind and contradict are only for turns`},
		{`probe P reads 2.0.0 work locks 1ms`, `x.txt:1: locks 1ms: expected at least 100ms`},
		{"instance order-1 runs Leaf\nprobe P reads 2.0.0 sends start order-2", `x.txt:2: unknown instance "order-2"; did you mean order-1?`},
		{`probe P reads 2.0.0 sends message nobody does ack`, `x.txt:1: probe P sends: expected no "does" or "holds", since it holds nothing`},
		{`probe P reads 2.0.0 sweeps executions does ack`, `x.txt:1: probe P sweeps: expected no "does" or "holds", since it holds nothing`},
		{"instance order-1 runs Leaf\n  delete twice after 1s", `x.txt:2: unexpected "twice": expected forced, alone, at or after`},
		{`delete after 1s`, `x.txt:1: expected this line below an instance or a mix, as in: delete [forced] [alone] at TIME | after TIME`},
		{`probe P reads 2.0.0 looks every 500ms times 20`, ``},
		{`probe P reads 2.0.0 looks does ack`, `x.txt:1: probe P looks: expected no "does" or "holds", since it holds nothing`},
		{`probe P sees 2.0.0 filter any`, `x.txt:1: expected "reads", found "sees", as in: probe NAME reads BUILD filter FILTER | work | sends start|message INSTANCE | sweeps instances|executions | looks [does ACT] [to VERSION] [holds CLASS] [locks DURATION] [delays DURATION] [from TIME] [every DURATION] [times COUNT] [ignore-attempt]`},
		// Expectations.
		{`expect nevr turn`, `x.txt:1: unknown mode "nevr": expected always, never, sometimes, panics or taken; did you mean never?`},
		{`expect never tun`, `x.txt:1: unknown event "tun"; did you mean turn?`},
		{`expect never turn where pin`, `x.txt:1: unexpected "pin": expected NAME=VALUE, as in: expect always | never | sometimes EVENT [in PART] [where NAME=VALUE...] [has NAME=VALUE...] | panics | taken [or late]`},
		{`expect never turn where pin=2`, `x.txt:1: turn pin=2: "2" is never the pin: expected a version such as 1.5.0, or 1.x, or none`},
		{`expect never turn where handler=Chain`, `x.txt:1: turn handler=Chain: "Chain" is never the handler: expected NAME@VERSION, as in ProcessOrder@1.0.0 or ProcessOrder@1.x`},
		{`expect never fetch where attempt=01`, `x.txt:1: fetch attempt=01: "01" is never the attempt: expected a number such as 1`},
		{`expect never turn where execution=0`, `x.txt:1: turn execution=0: "0" is never the execution: expected a number from 1 on`},
		{`expect never turn where pin=1.x pin=2.0.0`, `x.txt:1: turn pin=2.0.0: "pin" is given twice, and must then match both: expected one with alternatives, as in pin=1.x|2.0.0`},
		{`expect never turn where`, `x.txt:1: the line ends too early: expected NAME=VALUE, as in: expect always | never | sometimes EVENT [in PART] [where NAME=VALUE...] [has NAME=VALUE...] | panics | taken [or late]`},
		{`expect never turn where pins=2.0.0`, `x.txt:1: turn has no attribute "pins"; did you mean pin?`},
		{`expect always turn where pin=2.0.0`, `x.txt:1: always turn: expected "has" and what each such turn must have, or never`},
		{nodes + "at 2s upgrade A to 2.0.0\nexpect never turn where build=1.x|3.0.0", `x.txt:3: build=1.x|3.0.0: no node of this plan runs such a build: expected one of 1.5.0 or 2.0.0`},
		{nodes + `expect never up where 9.9.9=1`, `x.txt:2: 9.9.9=1: no node of this plan runs such a build: expected one of 1.5.0`},
		{nodes + `expect never turn where node=A|D1`, `x.txt:2: unknown node "D1": expected A or B`},
		{nodes + "at 1s mark \"step 1\"\nexpect never turn in \"step 2\"", `x.txt:3: unknown part of the story "step 2"; did you mean step 1?`},
	} {
		_, err := Parse("x.txt", []byte(c.text))
		if c.want == "" {
			if err != nil {
				t.Errorf("%q: %v", c.text, err)
			}
			continue
		}
		if err == nil || err.Error() != c.want {
			t.Errorf("%q\n got: %v\nwant: %s", c.text, err, c.want)
		}
		if e := (*Error)(nil); !errors.As(err, &e) {
			t.Errorf("%q: the error is a %T", c.text, err)
		}
	}
}

// TestSpellings checks texts that say the same in different words.
func TestSpellings(t *testing.T) {
	for _, c := range []struct{ a, b string }{
		{"nodes A B run 1.5.0\n  option max_attempts 3", "node A runs 1.5.0\noption max_attempts 3\nnode B runs 1.5.0\noption max_attempts 3"},
		{"node A runs 1.5.0\r\nat 1s crash A\r\n", "\tnode A\truns 1.5.0 # here\n\n   at 1s crash A"},
		{"node A runs 1.5.0\nat 1s crash A\nafter 2s start A\nthen pause A for 1s", "node A runs 1.5.0\nat 1s crash A\nat 3s start A\nat 3s pause A for 1s"},
		{"node A runs 1.5.0\nat 1s mark p\ncycle 3 times\n  after 2s..3s crash A\n\n  then start A\nthen nothing\nat 9m crash A", "node A runs 1.5.0\nat 1s mark p\nafter 2s..3s crash A\nthen start A\nafter 2s..3s crash A\nthen start A\nafter 2s..3s crash A\nthen start A\nthen nothing\nat 9m crash A"},
		{"node A runs 1.5.0\nat 1s mark p\ncycle 2 times\n  after 2s crash A\ncycle 1 time\n  after 1s start A", "node A runs 1.5.0\nat 1s mark p\nat 3s crash A\nat 5s crash A\nat 6s start A"},
		{"node A runs 1.5.0\nat 1s widen A to ^1.0.0", "node A runs 1.5.0\nat 1s widen A to \">=1.0.0, <2.0.0\""},
		{"instance a runs Leaf at 2s\nraise go after 3s", "instance a runs Leaf at 2s\nraise go at 5s"},
		{"instance a runs Leaf@1.0.0", "instance \"a\" runs \"Leaf\" version 1.0.0"},
		{"faults light\nfault pause 1 in 9", "fault pause 1 in 9\nfaults light"},
		{"node A runs 1.5.0\nat 1s mark rollback\nexpect never in rollback: turn node=A", "node A runs 1.5.0\nat 1s mark \"rollback\"\nexpect never turn in \"rollback\" where node=A"},
		{"node A runs 1.5.0\nat 1s mark \"a b\"\nexpect always in \"a b\": turn node=A has pin=2.0.0|1.x", "node A runs 1.5.0\nat 1s mark \"a b\"\nexpect always turn in \"a b\" where node=A has pin=\"2.0.0|1.x\""},
	} {
		a, err := Parse("x.txt", []byte(c.a))
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		b, err := Parse("x.txt", []byte(c.b))
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if string(a.Format()) != string(b.Format()) {
			t.Errorf("%s\nand\n%s\nare not the same: one is\n%s", c.a, c.b, a.Format())
		}
	}
}

// TestStatementExamples: the example of each statement begins with it or holds it, parses, and survives formatting;
// each statement and each step is known to the parser under its name.
func TestStatementExamples(t *testing.T) {
	const head = "durosim corpus 1\nverdict holds\nseed 1\nmode seeded\n"
	for _, s := range Statements() {
		if !strings.Contains("\n"+s.Example, "\n"+s.Name+" ") && !strings.Contains(s.Example, "\n  "+s.Name+" ") && !strings.Contains(s.Example, "\n    "+s.Name+" ") {
			t.Errorf("%s: the example %q does not show it", s.Name, s.Example)
		}
		if !strings.HasPrefix(s.Form, s.Name+" ") {
			t.Errorf("%s: the form is %q", s.Name, s.Form)
		}
		if !s.Corpus {
			parsed, err := Parse("x.txt", []byte(s.Example))
			if err != nil {
				t.Errorf("%s: %v", s.Name, err)
				continue
			}
			roundTrip(t, parsed)
			continue
		}
		text := head + s.Example
		if strings.Contains(s.Example, "recording ") {
			text = strings.Replace(text, "seeded", "recorded", 1)
		}
		for _, line := range strings.Split(strings.TrimSpace(head), "\n") {
			if strings.HasPrefix(s.Example, strings.Fields(line)[0]+" ") {
				text = strings.Replace(head, line, s.Example, 1)
			}
		}
		e, err := ParseEntry("x.txt", []byte(text))
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		entryRoundTrip(t, e)
	}
	for _, s := range Steps() {
		text := "node A runs 1.5.0\nat 1s " + s.Example
		if _, err := Parse("x.txt", []byte(text)); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
		if !strings.HasPrefix(s.Example, s.Name+" ") || !strings.HasPrefix(s.Form, s.Name+" ") {
			t.Errorf("%s: the form is %q and the example %q", s.Name, s.Form, s.Example)
		}
	}
}

func TestParseWithOtherBuilds(t *testing.T) {
	own := engine.ShippedBuilds()[:1]
	own[0].Version = engine.V(7, 1, 0)
	sample.Must(Parse("x.txt", []byte("node A runs 7.1.0"), own...))(t)
	_, err := Parse("x.txt", []byte("node A runs 1.5.0"), own...)
	if want := `x.txt:1: unknown build "1.5.0": expected 7.1.0`; err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

func TestNameAndTitle(t *testing.T) {
	s := sample.Must(Parse("some/dir/two-nodes.txt", []byte("#\n# Two nodes.\n# More.\nnode A runs 1.5.0 # not the title\n")))(t)
	if s.Name != "two-nodes" || s.Template.Name != "two-nodes" || s.Title != "Two nodes." || s.File != "some/dir/two-nodes.txt" {
		t.Errorf("name %q, in the plan %q, title %q, file %q", s.Name, s.Template.Name, s.Title, s.File)
	}
}

// FuzzParse checks that no text makes the parser panic, and that parsed texts format to the same text again, and
// expand.
func FuzzParse(f *testing.F) {
	for _, n := range Builtin() {
		f.Add(n.Text, uint64(1))
	}
	for _, s := range Statements() {
		f.Add([]byte(s.Example), uint64(2))
	}
	for _, s := range Steps() {
		f.Add([]byte("node A runs 1.5.0\nat 1s..2s mark \"p\"\nthen "+s.Example+"\nafter 1s..2s "+s.Example), uint64(3))
	}
	f.Add([]byte("durosim corpus 1\nverdict violates S01\nseed 0x10\nmode recorded\nrecording seed 1 unordered complete\nchoice a:1/b:x 3 1\npriority \"#0000000000000001\" 4\n"), uint64(4))
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		if e, err := ParseEntry("e.txt", data); err == nil {
			entryRoundTrip(t, e)
		}
		s, err := Parse("x.txt", data)
		if err != nil {
			return
		}
		roundTrip(t, s)
		if s.Load != nil {
			s.Load.Count = min(s.Load.Count, 50)
		}
		p, err := s.Expand(seed, Overrides{})
		if err != nil {
			t.Fatalf("it parses and does not expand: %v\n%s", err, data)
		}
		planRoundTrip(t, p)
	})
}

// TestOldNames reads statements as 0.1.0 called them, and writes them as they are called now.
func TestOldNames(t *testing.T) {
	s := sample.Must(Parse("old.txt", []byte("scenario old\nturbulence 5s\nrelief widen\nnode A runs 1.5.0\n")))(t)
	text := string(s.Format())
	for _, line := range []string{"\nfault-phase 5s\n", "\nrescue widen\n"} {
		if !strings.Contains(text, line) {
			t.Errorf("no line %q in\n%s", line, text)
		}
	}
}
