package upgrade_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/durosim/durosim/cmd/simrun/internal/upgrade"
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/sim/scenario"
)

func TestMain(m *testing.M) { sample.Main(m) }

func config(t *testing.T, text string, store bool) upgrade.Config {
	t.Helper()
	s := sample.Must(scenario.Parse("plan.txt", []byte(text), engine.ShippedBuilds()...))(t)
	c := upgrade.Config{Scenario: s, Builds: engine.ShippedBuilds(), First: 1, Seeds: 3}
	if store {
		c.Snapshot = sample.Must(upgrade.Read(os.DirFS("../../duroxide-export/testdata"), "orders.jsonl", c.Builds))(t)
	}
	return c
}

const own = `build 0.1.26 like 1.5.0
build 0.1.32 like 1.5.0
nodes A B run 0.1.32
node C runs 0.1.26
`

// TestStoreGoesOn checks that the stored work continues in the plan's cluster and that the contract holds.
func TestStoreGoesOn(t *testing.T) {
	r := sample.Must(upgrade.Try(config(t, own+"at 5s upgrade C to 0.1.32\n", true)))(t)
	if !r.Holds() || r.NoReturn != 0 || len(r.Hazards) != 0 {
		t.Errorf("holds %v, no return %d, hazards %v, properties %v\n%s", r.Holds(), r.NoReturn, r.Hazards, r.Whole.Properties, r.Text())
	}
	if r.End.Open.Most != 1 || r.End.Open.Example != "render-1" {
		t.Errorf("open: %+v; want render-1, whose activity wants a tag that no node has", r.End.Open)
	}
}

// Nobody is told to take the steps of a plan that takes the only worker of a tag away, or the last node.
func TestAdvice(t *testing.T) {
	for _, c := range []struct {
		text  string
		store bool
		want  string
	}{
		{own + "node G runs 0.1.32\n  option worker_tag_filter DefaultAnd(gpu)\nat 0s stop G\nat 5s upgrade C to 0.1.32\n", true, "change the plan: it loses up to 1 instance, such as render-1 "},
		{"nodes A B run 1.5.0\ninstance x runs Chain with 99\nat 2s crash B\nat 3s remove A\n", false, "change the plan: no node is up after its last step, and all that has not ended by then waits until somebody starts one; it loses up to 1 instance, such as x "},
	} {
		cfg := config(t, c.text, c.store)
		r := sample.Must(upgrade.Try(cfg))(t)
		orders := sample.Must(upgrade.TryOrders(cfg, 1, &r.Stops[0]))(t)
		if do := r.Actions(); c.store && orders[1].Lost.Total == 0 || len(do) == 0 || !strings.HasPrefix(do[0].Do, c.want) || r.Stops[0].Lost.Total != 0 || r.End.Open.Total != 0 {
			t.Errorf("want %q, not %v\n%s", c.want, do, r.Text())
		}
	}
}

// TestHazards checks that each mistake in a plan is reported with its step.
func TestHazards(t *testing.T) {
	for _, c := range sample.Of([]struct{ name, steps, want string }{
		{"pins left behind", "build 0.3.0 like 1.5.0\n  range >=0.1.30, <=0.3.0\nat 5s upgrade A to 0.3.0\nthen upgrade B to 0.3.0\nthen upgrade C to 0.3.0\n",
			"family-1, family-1::sub::2, family-1::sub::3, mailbox-1, and 3 more (pin 0.1.26) from step 3, upgrade C to 0.3.0, to the end waits: no node admits it; needs a node that runs 0.1.26 or 0.1.32"},
		{"nobody for a while", "at 5s stop A\nthen stop B\nat 9s start A\n",
			"(pin 0.1.32) from step 2, stop B, to step 3 waits: no node admits it"},
		{"rollback of pins", "at 5s rollback A to 0.1.26\nthen rollback B to 0.1.26\n",
			"(pin 0.1.32) from step 2, rollback B to 0.1.26, to the end waits"},
	}, 3) {
		r, err := upgrade.Try(config(t, own+c.steps, true))
		if err != nil {
			t.Fatal(c.name, err)
		}
		if text := r.Preflight() + r.Text(); !strings.Contains(text, c.want) {
			t.Errorf("%s: want %q in\n%s", c.name, c.want, text)
		}
	}
}

// TestPointOfNoReturn checks that the report names the step after which a rollback is no longer possible. This is the
// first step after which new work is pinned to the new build.
func TestPointOfNoReturn(t *testing.T) {
	c := config(t, `nodes A B run 1.5.0
load 12 instances over 30s
  mix 1 ProcessOrder
    raise approval data yes after 4s..8s
at 2s widen A to >=0.0.0, <=1.9.0
at 8s upgrade A to 2.0.0
at 20s upgrade B to 2.0.0
`, false)
	r := sample.Must(upgrade.Try(c))(t)
	if r.NoReturn != 2 || !r.Holds() {
		t.Errorf("no return %d, holds %v; want 2, upgrade A\n%s", r.NoReturn, r.Holds(), r.Text())
	}
	if back := r.Backs[3]; back.Stranded.Total == 0 || back.Untaken.Total != 0 {
		t.Errorf("rolling back all: %+v; want work stranded that a node of its build takes", back)
	}
	if r.Stops[3].Stranded.Total != 0 || r.Stops[0].Waited.Total != 0 {
		t.Errorf("stops: %+v", r.Stops)
	}
}

// TestReport checks what the report says of plans that have misled its readers.
func TestReport(t *testing.T) {
	const approval = "instance new-1 runs Approval with 5m at 12s\n  raise approval after 60s\nat 10s upgrade A to 2.0.0\n"
	for _, c := range []struct{ name, plan, want string }{
		{"what waits already hides nothing", "node A runs 1.5.0\nhistory old-1 pinned 2.0.0 shape new-kind\nhistory old-2 pinned 2.0.0 shape new-kind\n" + approval + "at 15s pause A for 1s\n", `
  1 upgrade A to 2.0.0  2          10.4s    -         -     1         -               -
point of no return: step 1, upgrade A to 2.0.0 at 10s.
  Rolling back from there strands up to 1 instance, such as new-1 (pin 2.0.0, seed 1), until a node admits that pin again.
  Before any step, up to 2 instances are already stranded, such as old-1 (pin 2.0.0, seed 1); no step is to blame for that, and it is not counted here.
  before 1 upgrade A to 2.0.0: decide whether to go on, and do not go back after it: that strands up to 1 instance, such as new-1 (pin 2.0.0, seed 1). To go back all the same, keep a node that takes pin 2.0.0 up until such work has ended`},
		{"an instance that waits twice is one", "nodes A B run 1.5.0\ninstance loop-1 runs Eternal expect eternal\nat 1s upgrade A to 2.0.0\nat 10s crash A\nat 15s start A\nat 20s crash A\nat 25s start A\n", `
  5 start A             1          2.558s   -         -     1         -               -`},
		{"steps of one time have one way back", "nodes A B run 1.5.0\n" + approval + "then pause B for 1s\nat 40s upgrade B to 2.0.0\n", `
point of no return: step 1, upgrade A to 2.0.0 at 10s.`},
		{"a bridge is a way back", "build 1.9.0 like 2.0.0\n  range >=0.0.0, <=2.0.0\nnode A runs 1.5.0\nat 5s upgrade A to 1.9.0\n" + approval, `
  Rolling back no further than to 1 upgrade A to 1.9.0 strands and loses nothing.
  before 2 upgrade A to 2.0.0: decide whether to go on, and do not go back further than to 1 upgrade A to 1.9.0 after it: that strands up to 1 instance, such as new-1 (pin 2.0.0, seed 1). To go back all the same, keep a node that takes pin 2.0.0 up until such work has ended`},
		{"a build took what its node lacks the program of", `node A runs 1.5.0
  handlers order@1.0.0
program order version 1.0.0
  call pick
end
program order version 2.0.0
  timer 60s
end
instance o1 runs order@2.0.0 at 22s
at 20s upgrade A to 2.0.0
at 21s register order@2.0.0 on A
at 30s pause A for 1s
`, `
  3 pause A for 1s             -          -        -         -     1         -               -
no point of no return in 10 seeds: rolling back strands and loses nothing but what is stranded or lost before any step.
  Before any step, up to 1 instance is already lost, such as o1 (pin 1.5.0, seed 1); no step is to blame for that, and it is not counted here.`},
		{"stopping can lose work", `nodes A B run 1.5.0
  handlers order@1.0.0
program order version 1.0.0
  call pick
end
program order version 1.1.0
  call pick
end
instance o1 runs order at 22s
instance o2 runs order at 23s
instance o3 runs order at 24s
at 20s register order@1.1.0 on A
at 60s register order@1.1.0 on B
`, `
  before 2 register order@1.1.0 on B: do not stop here: without this step up to 3 instances, such as o1 (pin 1.5.0, seed 8) would be lost: build 1.5.0 has no handler for it (handler missing: order@1.1.0)`},
		{"a load that is over", "nodes A B run 1.5.0\nload 2 instances over 5s\n  mix 1 Leaf\nat 10s upgrade A to 2.0.0\n", `
no point of no return in 10 seeds: rolling back strands and loses nothing, from any step. The last work starts before step 1, upgrade A to 2.0.0: under a longer load a way back from there can leave more behind.`},
		{"what rescue ends would not end", "nodes A B run 1.5.0\n" + approval + "at 15s remove A\n", `
  new-1 (pin 2.0.0) from 1m12s until rescue, after remove A, seed 1
        8  after remove A: none ended; the longest is new-1 (pin 2.0.0) from 1m12s until rescue, seed 1`},
	} {
		cfg := config(t, c.plan, false)
		cfg.Seeds = 10
		r := sample.Must(upgrade.Try(cfg))(t)
		text := r.Text() + r.Whole.Fate.Text(false)
		for want := range strings.SplitSeq(strings.TrimPrefix(c.want, "\n"), "\n") {
			if !strings.Contains(text, "\n"+want+"\n") {
				t.Errorf("%s: want\n%s\nin\n%s", c.name, want, text)
			}
		}
	}
	one := sample.Must(config(t, "nodes A B run 1.5.0\n"+approval+"at 15s register Chain@1.0.0 on B\nat 20s rollback A to 1.5.0\nat 1h upgrade B to 2.0.0\n", false).One("back-3", 1))(t)
	narrowed := sample.Must(config(t, "nodes A B run 1.5.0\n"+approval+"at 15s narrow A to 2.0.0\n", false).One("back-2", 1))(t)
	if all := narrowed.Plan.Schedule; len(all) != 4 || all[2].String() != "widen A to default" { // or 1.5.0 would begin with the range of 2.0.0
		t.Errorf("back from a narrower range: %v", all)
	}
	if all := one.Plan.Schedule; all[3].String() != "upgrade A to 2.0.0" || len(all) != 5 || all[4].At > time.Hour+time.Minute { // B had Chain before
		t.Errorf("back from a rollback, after a soak: %v", all)
	}
}

// TestOrders checks that starting the second node of the new build first costs least, and that the plan that stops the
// only node comes last.
func TestOrders(t *testing.T) {
	c := config(t, `node A runs 2.0.0
node B runs 1.5.0
load 12 instances over 20s
  mix 1 ProcessOrder
    raise approval data yes after 1s..3s
at 5s stop A
at 15s upgrade B to 2.0.0
`, false)
	orders := sample.Must(upgrade.TryOrders(c, 3, nil))(t)
	if len(orders) != 2 || orders[0].Text != "upgrade B to 2.0.0, stop A" || orders[0].WaitedMs >= orders[1].WaitedMs {
		t.Errorf("orders: %+v", orders)
	}
}

// TestOrdersAreSampled checks that if there are too many orders to try, a sample is tried that includes the plan's own
// order. Steps for the same node must keep their order.
func TestOrdersAreSampled(t *testing.T) {
	c := config(t, `nodes A B C run 1.5.0
instance i runs Leaf
at 1s upgrade A to 1.6.0
then upgrade B to 1.6.0
then upgrade C to 1.6.0
then upgrade A to 2.0.0
then upgrade B to 2.0.0
then upgrade C to 2.0.0
then pause A for 1s
`, false)
	orders := sample.Must(upgrade.TryOrders(c, 1, nil))(t)
	ownOrder := 0
	for _, o := range orders {
		if strings.Index(o.Text, "upgrade A to 1.6.0") > strings.Index(o.Text, "upgrade A to 2.0.0") {
			t.Errorf("%s: A goes to 2.0.0 before 1.6.0", o.Text)
		}
		if strings.HasPrefix(o.Text, "upgrade A to 1.6.0, upgrade B to 1.6.0, upgrade C to 1.6.0, upgrade A to 2.0.0, upgrade B to 2.0.0, upgrade C") {
			ownOrder++
		}
	}
	if ownOrder != 1 || len(orders) < 20 || len(orders) > 40 {
		t.Errorf("%d orders, %d of them the plan's own", len(orders), ownOrder)
	}
}

// TestUntaken checks what becomes of work in the store whose pin no node admits. If no build in the plan admits the pin
// either, the work is stranded, and only a deletion ends it. If some build does, the work is stranded but not lost.
func TestUntaken(t *testing.T) {
	const plan = "build 0.3.0 like 1.5.0\n  range >=0.1.30, <=0.3.0\nnodes A B run 0.3.0\nat 5s stop B\n"
	for _, c := range []struct {
		plan    string
		untaken bool
	}{
		{plan, true},
		{"build 0.1.26 like 1.5.0\n" + plan + "node old runs 0.1.26\nthen stop old\n", false},
	} {
		r := sample.Must(upgrade.Try(config(t, c.plan, true)))(t)
		if e := r.End; e.Stranded.Total == 0 || (e.Untaken.Total > 0) != c.untaken {
			t.Errorf("stranded %v, taken by no build %v, want some: %v\n%s", e.Stranded, e.Untaken, c.untaken, r.Text())
		}
	}
}

// TestNoRowStopsAPlan puts strange values into the rows of an export, one at a time. The export can then be unreadable as
// a whole, but if it is read, there is a report.
func TestNoRowStopsAPlan(t *testing.T) {
	data := sample.Must(os.ReadFile("../../duroxide-export/testdata/orders.jsonl"))(t)
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	c := config(t, "build 0.1.26 like 1.5.0\nbuild 0.1.32 like 1.5.0\nnodes A B run 0.1.32\nfaults none\n", false)
	c.Seeds = 1
	changed := uint64(0)
	for i, line := range lines {
		var row any
		sample.OK(t, json.Unmarshal([]byte(line), &row))
		strange(row, func(what string) {
			named := i >= len(lines)-6 && slices.Contains([]string{"name: ", "instance: "}, what) // has stopped it once
			if changed++; changed%sample.Number(1201, 31) != 0 && !named {
				return
			}
			text := sample.Must(json.Marshal(row))(t)
			all := slices.Clone(lines)
			all[i] = string(text)
			var err error
			c.Snapshot, err = upgrade.Read(fstest.MapFS{"x.jsonl": {Data: []byte(strings.Join(all, "\n"))}}, "x.jsonl", c.Builds)
			if err != nil {
				t.Fatalf("line %d, %s: %v", i+1, what, err)
			}
			if _, err := upgrade.Try(c); err != nil {
				t.Errorf("line %d, %s: %v\n%s", i+1, what, err, text)
			}
		})
	}
}

// strange replaces each value in row by each of some strange ones, and calls see.
func strange(row any, see func(what string)) {
	in, _ := row.(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(in)) {
		was := in[key]
		for _, v := range []any{nil, "", "unknown", "a@b c\n", -1, 0, 2, uint64(1) << 62, uint64(math.MaxUint64), []any{}} {
			in[key] = v
			see(fmt.Sprintf("%s: %v", key, v))
		}
		in[key] = was
		strange(was, see)
	}
}
