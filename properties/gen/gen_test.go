package gen_test

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/properties/gen"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/scenario"
	"github.com/durosim/durosim/sim/workload"
)

func TestMain(m *testing.M) { sample.Main(m) }

// TestGeneratedPlansAreValid checks that Validate accepts every drawn plan, and that parsing the plan's text gives the
// same plan.
func TestGeneratedPlansAreValid(t *testing.T) {
	known := workload.Known()
	for name, space := range map[string]gen.Space{
		"shipped":     {},
		"no programs": {NoPrograms: true},
		"own work": {
			Work:   []plan.Instance{{ID: "refund", Orchestration: "Refund", Input: "5"}},
			Builds: func() []*engine.Build { return engine.ShippedBuilds()[1:3] },
		},
	} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				p := space.Plan().Draw(t, "plan")
				sample.OK(t, p.Validate(known))
				if len(p.Instances) == 0 {
					t.Fatal("a plan without an instance")
				}
				s := sample.Must(scenario.Parse("plan.txt", scenario.Format(p)))(t)
				if back := scenario.Format(&s.Template); string(back) != string(scenario.Format(p)) {
					t.Fatalf("another plan came back:\n%s\n%s", scenario.Format(p), back)
				}
			})
		})
	}
}

// TestGeneratedPlansHold checks that no drawn plan violates a property.
func TestGeneratedPlansHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := gen.Space{}.Plan().Draw(t, "plan")
		seed := rapid.Uint64().Draw(t, "seed")
		r := sample.Must(cluster.Run(cluster.Config{Plan: p, Seed: seed, Monitor: everything}))(t)
		if len(r.Violations) > 0 {
			t.Fatalf("seed %d: %s: %s\n%s", seed, r.Violations[0].Property, r.Violations[0].Message, scenario.Format(p))
		}
	})
}

// TestPlanFromIsAFunctionOfTheSeed checks that a seed always gives the same plan, and that different seeds give
// different plans.
func TestPlanFromIsAFunctionOfTheSeed(t *testing.T) {
	texts := map[string]bool{}
	const seeds = 50
	for seed := range uint64(seeds) {
		var text [2]string
		for i := range text {
			p := sample.Must(gen.PlanFrom(gen.Space{}.Plan())(seed))(t)
			text[i] = string(scenario.Format(p))
		}
		if text[0] != text[1] {
			t.Fatalf("seed %d gives two plans:\n%s\n%s", seed, text[0], text[1])
		}
		texts[text[0]] = true
	}
	if len(texts) != seeds {
		t.Errorf("%d seeds give %d plans", seeds, len(texts))
	}
}

// share says, for each point, how many of a thousand generated plans must reach it. The numbers are well below the
// actual share, and far above that of a generator that omits the feature.
var share = map[string]int{
	"two-builds-live":              250,
	"three-builds-live":            50,
	"served-by-other-build":        100,
	"upgrade-under-load":           50,
	"filtered-out":                 50,
	"rescue":                       20,
	"poison":                       20,
	"poison-through-history-error": 20,
	"can-on-newer-build":           10,
	"rollback-with-newer-pins":     5,
	"external-event-2-recorded":    50,
	"child-completed":              100,
	"crash-between-fetch-and-ack":  20,
	"lock-expired-and-taken-over":  20,
	"answer-lost-after-commit":     5,
}

// TestGeneratedPlansSpread checks that a fair share of generated plans reaches each important state.
func TestGeneratedPlansSpread(t *testing.T) {
	plans := int(sample.Number(200, 600))
	reached := map[string]int{}
	draw := gen.PlanFrom(gen.Space{}.Plan())
	for seed := range uint64(plans) {
		p := sample.Must(draw(seed))(t)
		r := sample.Must(cluster.Run(cluster.Config{Plan: p, Seed: seed, Monitor: everything}))(t)
		for _, c := range r.Coverage {
			reached[c.Name]++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(reached)) {
		t.Logf("%-32s %4d in 1000", name, reached[name]*1000/plans)
	}
	known := map[string]bool{}
	for _, p := range properties.CoveragePoints() {
		known[p.Name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(share)) {
		switch got := reached[name] * 1000 / plans; {
		case !known[name]:
			t.Errorf("there is no point %q", name)
		case got < share[name]:
			t.Errorf("%s is reached by %d of 1000 plans, want at least %d", name, got, share[name])
		}
	}
}

func everything(w *cluster.World) cluster.Monitor { return properties.New(w, properties.Options{}) }
