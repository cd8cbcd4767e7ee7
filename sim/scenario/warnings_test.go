package scenario_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
	"github.com/durosim/durosim/sim/workload"
)

// TestWarnings checks that probable mistakes are reported with their lines, and uncertain ones are not.
func TestWarnings(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       []string
	}{
		{"upgrade to a lower version, rollback to a higher one", "at 2s upgrade A to 0.8.0\nthen rollback B to 2.0.0", []string{"w.txt:2: upgrade A to 0.8.0: it runs 1.5.0 by then, which is newer; use rollback", "w.txt:3: rollback B to 2.0.0: it runs 1.5.0 by then, which is older; use upgrade"}},
		{"a rollback to a higher application", "build 1.5.0+1.0.0 like 1.5.0\nbuild 1.5.0+2.0.0 like 1.5.0\nat 2s upgrade A to 1.5.0+1.0.0\nat 5s rollback A to 1.5.0+2.0.0", []string{"w.txt:5: rollback A to 1.5.0+2.0.0: it runs 1.5.0+1.0.0 by then, which is older; use upgrade"}},
		{"the same build, in another order than the text", "at 6s rollback A to 1.5.0\nat 5s start A\nat 2s upgrade A to 1.5.0", []string{"w.txt:2: rollback A to 1.5.0: it already runs that build", "w.txt:3: start A: it is already running", "w.txt:4: upgrade A to 1.5.0: it already runs that build"}},
		{"start of what runs", "at 2s start A\nat 3s stop A\nat 4s start A\nat 5s start A", []string{"w.txt:5: start A: it is already running"}},
		{"stop of what is down", "at 2s stop C\nat 2s stop A\nat 3s crash A\nat 5s add C", []string{"w.txt:2: stop C: it is not running at that time", "w.txt:4: crash A: it is not running at that time"}},
		{"a range above its own build", "at 2s upgrade A to 1.6.0\nat 5s widen A to >=0.0.0, <=1.6.1", []string{"w.txt:3: widen A to >=0.0.0, <=1.6.1: that is above 1.6.0, the build that it runs by then: it would replay by its own rules what newer builds began, which releases since 0.1.32 forbid"}},
		{"there and back; a range up to its own build", "at 2s upgrade A to 2.0.0-rc.1\nat 5s widen A to >=0.0.0, <=2.0.0\nat 6s narrow A to >=1.0.0, <=1.5.0\nat 2s upgrade B to 2.0.0\nat 5s rollback B to 1.5.0", nil},
		{"a range that stays", "at 2s narrow A to >=1.0.0, <=1.5.0\nat 5s upgrade A to 2.0.0\nnode D runs 2.0.0\n  option supported_replay_versions >=1.0.0, <=2.0.0\nat 5s rollback D to 1.5.0", []string{
			`w.txt:3: upgrade A to 2.0.0: its range stays >=1.0.0, <=1.5.0, which leaves out 2.0.0, so that it cannot continue what it starts; "widen A to default" ends that`,
			"w.txt:6: rollback D to 1.5.0: its range stays >=1.0.0, <=2.0.0: that is above 1.5.0, the build that it runs then: it would replay by its own rules what newer builds began, which releases since 0.1.32 forbid",
		}},
		{"a range that is given back", "at 2s narrow A to >=1.0.0, <=1.5.0\nat 5s upgrade A to 2.0.0\nat 9s widen A to default\nat 2s narrow B to >=1.0.0, <=1.5.0\nat 3s widen B to default\nat 5s upgrade B to 2.0.0", nil},
		{"a narrower range that is none", "at 2s narrow A to >=1.0.0, <=1.4.0\nat 5s narrow A to >=0.9.0, <=1.4.0", []string{"w.txt:3: narrow A to >=0.9.0, <=1.4.0: that takes what its range >=1.0.0, <=1.4.0 leaves out; use widen"}},
		{"a narrower range that is none, above its own build", "at 2s narrow A to >=1.0.0, <=1.4.0\nat 5s narrow A to >=1.0.0, <=1.6.0", []string{
			"w.txt:3: narrow A to >=1.0.0, <=1.6.0: that takes what its range >=1.0.0, <=1.4.0 leaves out; use widen",
			"w.txt:3: narrow A to >=1.0.0, <=1.6.0: that is above 1.5.0, the build that it runs by then: it would replay by its own rules what newer builds began, which releases since 0.1.32 forbid",
		}},
		{"starts that are none", "at 2s upgrade C to 2.0.0\nat 3s remove C\nat 4s rollback C to 1.5.0\nat 2s stop A\nat 3s upgrade A to 2.0.0\nat 4s crash A\nat 5s narrow A to 1.x", []string{"w.txt:2: upgrade C to 2.0.0: it is absent until it is added, and this starts it", `w.txt:4: rollback C to 1.5.0: it is down since "remove C", and this starts it`, `w.txt:8: narrow A to >=1.0.0, <=1.999.999: it is down since "crash A", and this starts it`}},
		{"what comes after the end", "until 1m\ninstance i runs Approval with 2h at 1s..2s\n  raise approval after 59s\n  cancel at 59s\nload 2 instances from 30s over 40s\n  mix 1 Approval\n    raise approval after 20s..40s\n    cancel at 61s", []string{"w.txt:4: raise approval: it comes at 1m0s at the earliest, and the run ends at 1m0s", "w.txt:6: load: its last instance starts at 1m10s at the latest, and the run ends at 1m0s", "w.txt:9: cancel: it comes at 1m1s at the earliest, and the run ends at 1m0s"}},
		{"a graceful stop of what is frozen", "at 2s..3s pause A for 1m\nat 1m1s remove A\nat 5s pause B for 1m\nat 6s crash B\nat 7s start B\nat 8s stop B", []string{"w.txt:3: remove A: it is frozen by then, and a graceful stop ends that: it finishes what it holds, which a crash loses"}},
		{"migrated back too early", "build 1.6.0 like 1.6.0\n  schema 1\nbuild 2.0.0 like 2.0.0\n  schema 2 reversible\nnode D runs 1.6.0\nat 2s upgrade D to 2.0.0\nthen upgrade A to 2.0.0\nat 4s migrate to 1\nat 5s stop D\nthen rollback A to 1.5.0\nat 6s migrate to 1", []string{"w.txt:9: migrate to 1: A runs 2.0.0 by then, which needs schema 2, and migrates to that anew: stop it before", "w.txt:9: migrate to 1: D runs 2.0.0 by then, which needs schema 2, and migrates to that anew: stop it before"}},
		{"handlers changed twice", "at 2s register Leaf@1.0.0 on A\nat 3s upgrade A to 2.0.0\nat 4s register Leaf@1.0.0 on A\nat 5s deregister Leaf@1.0.0 on A\nat 6s deregister Chain@1.0.0 on A\nat 7s deregister Leaf@1.0.0 on A\nat 8s deregister Leaf@9.0.0 on B", []string{"w.txt:4: register Leaf@1.0.0 on A: an earlier step has done that", "w.txt:7: deregister Leaf@1.0.0 on A: an earlier step has done that", "w.txt:2: register Leaf@1.0.0 on A: 1.5.0 has that already", "w.txt:8: deregister Leaf@9.0.0 on B: 1.5.0 does not have that"}},
		{"an uncertain order, and a certain one", "at 2s..9s stop A\nat 5s stop A\nat 2s..9s stop B\nafter 0s..3s stop B", []string{"w.txt:5: stop B: it is not running at that time"}},
		{"two parts of one name", "at 2s mark \"risk\"\nat 5s mark \"risk\"", []string{`w.txt:3: the part "risk" also begins in line 2: an expectation about it applies to both`}},
		{"ranges above builds from the start", "build 1.5.1 like 1.5.0\n  range >=0.0.0, <=1.6.0\nnode D runs 1.5.1\n  option supported_replay_versions 1.x\nnode F runs 1.5.1\n  option supported_replay_versions 1.5.x", []string{"w.txt:3: range >=0.0.0, <=1.6.0: that is above 1.5.1, its build: it would replay by its own rules what newer builds began, which releases since 0.1.32 forbid", "w.txt:5: node D: 1.x: that is above 1.5.1, its build: it would replay by its own rules what newer builds began, which releases since 0.1.32 forbid"}},
		{"a part of a cycle", "at 2s mark \"start\"\ncycle 3 times\n  after 2s mark \"risk\"\n  then crash A\n  after 1s start A\nat 40s mark \"risk\"", []string{`w.txt:7: the part "risk" also begins in line 4: an expectation about it applies to both`}},
		{"loops that are to complete", "instance e runs Eternal with 3\ninstance f runs Eternal with 3\n  cancel at 3s\ninstance g runs Eternal expect eternal\nload 3 instances over 2s\n  mix 1 Eternal expect any\n  mix 1 Eternal\n  mix 1 Eternal\n    cancel after 1s", []string{`w.txt:2: Eternal runs until it is cancelled: write "expect eternal" after it`, `w.txt:8: Eternal runs until it is cancelled: write "expect eternal" after it`}},
		{"inputs that are no number, no duration", "instance c runs Chain with abc\ninstance d runs Approval with 5", []string{`w.txt:2: Chain takes a number from 0, which the input "abc" is not: it runs as if without input`, `w.txt:3: Approval takes a duration such as 5s, which the input "5" is not: it runs as if without input`}},
		{"a mix", "load 3 instances over 2s\n  mix 1 Chain with 2..6\n  mix 1 Chain with two", []string{`w.txt:4: Chain takes a number from 0, which the input "two" is not: it runs as if without input`}},
		{"a pin that no build has", "instance c runs Chain\nexpect never turn where pin=9.9.9|1.x", []string{`w.txt:3: pin=9.9.9|1.x: no build of this plan pins an execution to 9.9.9, so the expectation sees nothing, unless the contents of a store have that pin`}},
		{"a pin to have that no build has", "instance c runs Chain\nexpect always turn where node=A has pin=9.9.9", []string{`w.txt:3: pin=9.9.9: no build of this plan pins an execution to 9.9.9, so nothing has that, unless the contents of a store have that pin`}},
		{"a pin of a candidate", "build 2.1.0-rc.1 like 2.0.0\nnode D runs 2.1.0-rc.1\ninstance c runs Chain\nexpect never turn where pin=2.1.0-rc.1\nexpect never turn where pin=2.1.0 node=A", []string{`w.txt:5: pin=2.1.0-rc.1: no build of this plan pins an execution to 2.1.0-rc.1, so the expectation sees nothing: a pin has three numbers, and no pre-release`}},
		{"a pin of a history's candidate", "history old pinned 2.1.0-rc.1 shape waiting\nexpect never turn where pin=2.1.0-rc.1\nexpect never turn where pin=2.1.0", []string{`w.txt:3: pin=2.1.0-rc.1: no build of this plan pins an execution to 2.1.0-rc.1, so the expectation sees nothing: a pin has three numbers, and no pre-release`}},
		{"steps between candidates", "build 2.1.0-rc.9 like 2.0.0\nbuild 2.1.0-rc.10 like 2.0.0\nnode D runs 2.1.0-rc.10\nat 1s upgrade D to 2.1.0-rc.9\nat 2s rollback D to 2.1.0-rc.10", []string{
			"w.txt:5: upgrade D to 2.1.0-rc.9: it runs 2.1.0-rc.10 by then, which is newer; use rollback",
			"w.txt:6: rollback D to 2.1.0-rc.10: it runs 2.1.0-rc.9 by then, which is older; use upgrade",
		}},
		{"a range below a candidate", "build 2.1.0-rc.1 like 2.0.0\nnode D runs 2.1.0-rc.1\n  option supported_replay_versions <2.1.0-rc.2", []string{"w.txt:4: node D: <2.1.0-rc.2: that excludes 2.1.0-rc.1, its build, so it may be unable to continue what it starts"}},
		{"executions that nobody keeps", "fault execution-forgotten 1 in 2\nexpect never turn where resumed=yes\nexpect always turn where resumed=no has build=1.5.0", []string{
			"w.txt:2: fault execution-forgotten: it never happens, since no node keeps executions between turns (option kept_executions)",
			"w.txt:3: resumed=yes: it selects nothing, since no node keeps executions between turns (option kept_executions)",
		}},
		{"faults that an earlier line has", "fault crash-before-ack 1 in 9 to 5s\nfault crash-before-ack 1 in 2 to 6s on B\nfault crash-before-ack 1 in 3 from 1s to 4s on B\nfault crash-before-ack 0 in 1\nfault crash-before-ack 1 in 1 from 9s\nfault request-lost 1 in 1", []string{
			"w.txt:4: fault crash-before-ack: it has no effect, since line 2 is about the same and comes first",
			"w.txt:6: fault crash-before-ack: it has no effect, since line 5 is about the same and comes first",
		}},
		{"executions that one keeps", "fault execution-forgotten 1 in 2\nnode D runs 1.5.0\n  option kept_executions 1\nexpect never turn where resumed=yes first=yes", nil},
		{"a node that nobody adds", "node D runs 1.5.0 absent\nat 2s stop D", []string{"w.txt:2: node D: it is absent, and no step adds it", "w.txt:3: stop D: it is not running at that time"}},
		{"a pin of a history", "history old-1 pinned 0.8.0 shape legacy\nexpect never turn where pin=0.8.0 build=0.x", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			text := "nodes A B run 1.5.0\n" + tc.text + "\n"
			if strings.Contains(tc.text, " C\n") || strings.Contains(tc.text, " C ") {
				text += "node C runs 1.5.0 absent\n"
			}
			s := sample.Must(scenario.Parse("w.txt", []byte(text)))(t)
			var got []string
			for _, w := range slices.Concat(s.Warnings(), s.WarningsOf(workload.InputWarnings), s.WarningsOfHandlers(cluster.Config{Plan: &s.Template}.Registered)) {
				got = append(got, w.Error())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

// TestBuiltinWithoutWarnings checks that built-in scenarios have no warnings, except those that show what comes
// of widening, and of ranges that leave out a node's own build.
func TestBuiltinWithoutWarnings(t *testing.T) {
	widened := map[string]int{"bad-history": 2, "continue-as-new": 1, "draining-by-widening": 1, "old-node-widened": 1, "other-writers": 2, "two-ranges": 1, "version-edges": 17, "without-filtering": 2}
	for _, n := range append(scenario.Builtin(), scenario.Situations()...) {
		s := sample.Must(scenario.Parse(n.File, n.Text))(t)
		for _, w := range slices.Concat(s.Warnings(), s.WarningsOf(workload.InputWarnings), s.WarningsOfHandlers(cluster.Config{Plan: &s.Template}.Registered)) {
			if widened[n.Name]--; widened[n.Name] < 0 || !strings.Contains(w.Msg, ": that is above ") && !strings.Contains(w.Msg, ": that excludes ") {
				t.Error(w)
			}
		}
		if widened[n.Name] > 0 {
			t.Errorf("%s: fewer warnings about a range than expected", n.Name)
		}
	}
}

// TestNoText checks that a binary file is rejected as such, and is not echoed.
func TestNoText(t *testing.T) {
	_, err := scenario.Parse("core", []byte("\x7fELF\x02\x01\x01\x00\x00"))
	if err == nil || err.Error() != "core: this is not text: byte 4 is 0x02" {
		t.Errorf("error is %v", err)
	}
}
