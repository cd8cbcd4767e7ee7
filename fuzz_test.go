package durosim

import (
	"encoding/hex"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/properties/gen"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/scenario"
	"github.com/durosim/durosim/sim/shrink"
	"github.com/durosim/durosim/sim/workload"
)

// The environment variables that FuzzPlan reads.
const (
	// envBug turns on the planted bugs that the fuzzer must find, separated by commas.
	envBug = "DUROSIM_BUG"
	// envFuzz is a single input, in the form that a failure prints.
	envFuzz = "DUROSIM_FUZZ"
)

// fuzzSteps is the step budget for one execution. A plan that needs more steps does not count as a failure.
const fuzzSteps = 10_000

// workerSteps limits how many steps a fuzz worker spends on shrinking a failure, which takes about ten seconds. go test
// waits for a worker that is minimizing an input, but kills a worker that is still busy a second after fuzztime. To
// shrink the failure completely, run the input again with the printed command.
const workerSteps = 2_000_000

// FuzzPlan runs mutated plans with every property checked. An input is a base plan, a seed and a list of edits. Every
// input gives a valid plan, so no execution is wasted.
//
//	go test . -run '^$' -fuzz='^FuzzPlan$' -fuzztime=60s
//
// finds nothing. With a planted bug turned on, it fails within that time:
//
//	DUROSIM_BUG=provider/filter-ignored go test . -run '^$' -fuzz='^FuzzPlan$' -fuzztime=60s
//
// The same is true of engine/activity-failure-as-result. It is also true of engine/select-winner-not-replayed,
// engine/writes-newer-kind and duroxide-0.1.26/poison-on-old-execution, which the plans that it starts with do not
// show. Such a run leaves a plan in testdata/fuzz that shows the bug and passes without it.
func FuzzPlan(f *testing.F) {
	target := newFuzzTarget(f)
	if text := os.Getenv(envFuzz); text != "" {
		input := sample.Must(parseFuzzInput(text))(f)
		f.Add(input.base, input.seed, input.edits)
	} else {
		for i, b := range target.bases {
			if b.seeded {
				f.Add(b.hash, uint16(i), []byte{})
			}
		}
	}
	f.Fuzz(func(t *testing.T, base, seed uint16, edits []byte) { target.run(t, fuzzInput{base, seed, edits}) })
}

type fuzzTarget struct {
	bases []fuzzBase // sorted by hash
	space *plan.EditSpace
	bugs  []faults.BugID
	// reports records, per property, how the first failing plan that violates it was shrunk. The fuzzer runs a failing
	// input many times to make it shorter, and these runs are not shrunk again.
	reports map[string]string
}

// fuzzBase is a plan that inputs start from. An input refers to a base by a number, which selects the next base by
// hash, so adding a base changes only a few inputs.
type fuzzBase struct {
	name   string
	hash   uint16
	plan   *plan.Plan
	seeded bool // whether the fuzzer starts with it
}

// ownSemantics reports whether the plan declares builds with different replay semantics. An edit may upgrade a node
// from such a build to a shipped one, or the other way round. The two builds would then run pins of the same version
// under different semantics, which violates S10.
func ownSemantics(p *plan.Plan) bool {
	return slices.ContainsFunc(p.Builds, func(b plan.Build) bool { return len(b.Semantics) > 0 })
}

type fuzzInput struct {
	base, seed uint16
	edits      []byte
}

// String formats the input for use in envFuzz.
func (i fuzzInput) String() string {
	return fmt.Sprintf("%d,%d,%s", i.base, i.seed, hex.EncodeToString(i.edits))
}

func parseFuzzInput(text string) (i fuzzInput, err error) {
	parts := strings.Split(text, ",")
	if len(parts) != 3 {
		return i, fmt.Errorf("%s=%s: expected BASE,SEED,EDITS as a failure prints it", envFuzz, text)
	}
	for n, to := range []*uint16{&i.base, &i.seed} {
		v, err := strconv.ParseUint(parts[n], 10, 16)
		if err != nil {
			return i, fmt.Errorf("%s=%s: %w", envFuzz, text, err)
		}
		*to = uint16(v)
	}
	i.edits, err = hex.DecodeString(parts[2])
	return i, err
}

// generatedBases is how many of the bases are generated plans.
const generatedBases = 40

func newFuzzTarget(t testing.TB) *fuzzTarget {
	t.Helper()
	target := &fuzzTarget{space: workload.EditSpace(), reports: map[string]string{}}
	if list := os.Getenv(envBug); list != "" {
		for id := range strings.SplitSeq(list, ",") {
			target.bugs = append(target.bugs, faults.BugID(id))
		}
	}
	add := func(name string, plan *plan.Plan, seeded bool) {
		if ownSemantics(plan) {
			return
		}
		plan.Bugs, plan.StepBudget = target.bugs, fuzzSteps
		sample.OK(t, plan.Validate(workload.Known()))
		h := fnv.New32a()
		h.Write([]byte(name))
		sum := h.Sum32()
		target.bases = append(target.bases, fuzzBase{name, uint16(sum ^ sum>>16), plan, seeded})
	}
	for _, n := range scenario.Builtin() {
		s := sample.Must(scenario.Lookup(n.Name))(t)
		small := scenario.Overrides{}
		if s.Load != nil {
			small.Instances = 6
		}
		plan := sample.Must(s.Expand(1, small))(t)
		add(n.Name, plan, true)
	}
	files, err := filepath.Glob(filepath.Join("testdata", "seeds", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("stored runs: %v, %d files", err, len(files))
	}
	for _, file := range files {
		data := sample.Must(os.ReadFile(file))(t)
		e := sample.Must(scenario.ParseEntry(file, data))(t)
		add(filepath.Base(file), e.Plan, false)
	}
	draw := gen.PlanFrom(gen.Space{}.Plan())
	for seed := range uint64(generatedBases) {
		plan := sample.Must(draw(seed))(t)
		add(plan.Name, plan, false)
	}
	slices.SortFunc(target.bases, func(a, b fuzzBase) int {
		if a.hash != b.hash {
			return int(a.hash) - int(b.hash)
		}
		return strings.Compare(a.name, b.name)
	})
	return target
}

func (f *fuzzTarget) plan(i fuzzInput) *plan.Plan {
	at, _ := slices.BinarySearchFunc(f.bases, i.base, func(b fuzzBase, want uint16) int { return int(b.hash) - int(want) })
	return f.space.Apply(f.bases[at%len(f.bases)].plan, i.edits)
}

// run judges only the contract. An edited plan may lose work, because its expectations were written for the original
// plan.
func (f *fuzzTarget) run(t *testing.T, i fuzzInput) {
	plan := f.plan(i)
	choices := &sim.Recording{}
	config := cluster.Config{Plan: plan, Seed: uint64(i.seed), Monitor: func(w *cluster.World) cluster.Monitor {
		return properties.New(w, properties.Options{Without: ofPlan()})
	}}
	result, err := cluster.Run(config)
	if err != nil {
		t.Fatalf("input %s is not a valid plan: %v\n%s", i, err, scenario.Format(plan))
	}
	if result.Exhausted || len(result.Violations) == 0 {
		return
	}
	v := result.Violations[0]
	report, done := f.reports[v.Property]
	if !done {
		report = violationText("a fuzzed plan", v)
		config.Recording = choices
		if _, err = cluster.Run(config); err == nil {
			var small *Shrunk
			if small, err = Shrink(shrink.Concrete{Plan: plan, Choices: choices}, ShrinkOptions{Property: v.Property, MaxRuns: shrinkRuns(result.Steps)}); err == nil {
				report += small.report("", nil)
			}
		}
		if err != nil {
			report += "not shrunk: " + err.Error() + "\n"
		}
		words := envFuzz + "=" + i.String()
		if list := os.Getenv(envBug); list != "" {
			words += " " + envBug + "=" + list
		}
		report += "\nTo see it again, from the root of the module:\n" + words + " go test . -run '^FuzzPlan$'"
		f.reports[v.Property] = report
	}
	t.Fatal(report)
}

// ofPlan returns the properties of class plan, which judge the plan and not the contract.
func ofPlan() (ids []string) {
	for _, p := range properties.Catalogue() {
		if p.Class == cluster.ClassPlan {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

// TestFuzzedPlans runs FuzzPlan with inputs that are drawn from a single seed, so its result is always the same.
// Whether the fuzzer itself finds something within a few seconds is a matter of chance.
func TestFuzzedPlans(t *testing.T) {
	target := newFuzzTarget(t)
	draw := rand.New(rand.NewPCG(1, 0))
	inputs := make([]fuzzInput, 1500)
	for n := range inputs {
		edits := make([]byte, draw.IntN(3*plan.MaxEdits/2))
		for i := range edits {
			edits[i] = byte(draw.Uint32())
		}
		inputs[n] = fuzzInput{uint16(draw.Uint32()), uint16(n), edits}
	}
	for _, input := range sample.Of(inputs, 50) {
		t.Run(input.String(), func(t *testing.T) { target.run(t, input) })
	}
}

// shrinkRuns limits how many runs may be spent on shrinking a run with this many steps; 0 means no limit.
func shrinkRuns(steps uint64) int {
	if f := flag.Lookup("test.fuzzworker"); f == nil || f.Value.String() != "true" {
		return 0
	}
	return int(max(2, workerSteps/max(steps, 1)))
}

// TestFuzzInputs checks that every input gives a valid plan, that the same bytes give the same plan, and that each kind
// of edit affects some plan.
func TestFuzzInputs(t *testing.T) {
	target := newFuzzTarget(t)
	known, kinds := workload.Known(), plan.EditKinds()
	changed := make([]bool, len(kinds))
	for n, base := range sample.Of(target.bases, 4) {
		was := string(scenario.Format(base.plan))
		for kind := range kinds {
			edit := []byte{byte(kind), byte(n*29 + kind*7), byte(n*37 + kind)}
			p := target.space.Apply(base.plan, edit)
			if err := p.Validate(known); err != nil {
				t.Fatalf("%s with edit %v: %v", base.name, edit, err)
			}
			text := string(scenario.Format(p))
			changed[kind] = changed[kind] || text != was
			if n%8 == 0 && string(scenario.Format(target.space.Apply(base.plan, edit))) != text {
				t.Fatalf("%s with edit %v gives two plans", base.name, edit)
			}
		}
		if string(scenario.Format(base.plan)) != was {
			t.Fatalf("%s was changed", base.name)
		}
	}
	for kind, did := range changed {
		if !did {
			t.Errorf("edit %d (%s) never changes a plan", kind, kinds[kind])
		}
	}
	for _, text := range []string{"", "1,2", "x,2,00", "1,99999,00", "1,2,0"} {
		if _, err := parseFuzzInput(text); err == nil {
			t.Errorf("%q was read as an input", text)
		}
	}
	in := fuzzInput{7, 9, []byte{1, 2, 255}}
	if back, err := parseFuzzInput(in.String()); err != nil || back.String() != in.String() {
		t.Errorf("%s reads back as %s, %v", in, back, err)
	}
}
