package scenario_test

import (
	"fmt"
	"strings"

	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/scenario"
)

const upgrade = `# A node is upgraded while an order waits for its approval.
nodes A B run 1.5.0

instance order-1 runs ProcessOrder at 1s..3s
  raise approval data yes after 5s

at 4s..6s mark "A is newer"
then upgrade A to 2.0.0

expect never turn in "A is newer" where pin=2.0.0 node=B
`

// A scenario is a family of plans; a seed picks one.
func Example() {
	s, err := scenario.Parse("upgrade.txt", []byte(upgrade))
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := s.Expand(42, scenario.Overrides{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s", scenario.Format(plan))
	// Output:
	// scenario upgrade
	//
	// node A runs 1.5.0
	// node B runs 1.5.0
	//
	// instance order-1 runs ProcessOrder at 1.238s
	//   raise approval data yes at 6.238s
	//
	// at 4.676s mark "A is newer"
	// at 4.676s upgrade A to 2.0.0
}

func ExampleParse() {
	_, err := scenario.Parse("upgrade.txt", []byte("node A runs 1.5.0\nat 10s upgade A to 2.0.0\n"))
	fmt.Println(err)
	// Output:
	// upgrade.txt:2: unknown step "upgade"; did you mean upgrade?
}

func ExampleScenario_Format() {
	s, err := scenario.Parse("x.txt", []byte("nodes A B run 1.5.0\nat 2s stop A\nafter 1s..3s start A\nthen stop B"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s", s.Format())
	// Output:
	// scenario x
	//
	// node A runs 1.5.0
	// node B runs 1.5.0
	//
	// at 2s stop A
	// at 3s..5s start A
	// then stop B
}

func ExampleLookup() {
	_, err := scenario.Lookup("rolling-upgrad")
	_, hint, _ := strings.Cut(err.Error(), "; ")
	fmt.Println(hint)
	// Output:
	// did you mean rolling-upgrade?
}

func ExampleBuiltin() {
	for _, n := range scenario.Builtin() {
		if strings.HasPrefix(n.Name, "rolling") {
			fmt.Println(n.Name)
		}
	}
	// Output:
	// rolling-0.1.26-to-0.1.32
	// rolling-0.1.30-to-0.1.32
	// rolling-upgrade
	// rolling-upgrade-risk
}

func ExampleEntry_Format() {
	e := scenario.Entry{
		Plan:    &plan.Plan{Name: "tiny", Nodes: []plan.Node{{Name: "A", Build: "1.5.0"}}},
		Seed:    42,
		Found:   "S04 provider/filter-after-decode",
		Verdict: scenario.Violates("S04"),
		Mode:    scenario.ModeSeeded,
	}
	fmt.Println(e.Name())
	fmt.Printf("%s", e.Format())
	// Output:
	// 80701c4e02f017dc.txt
	// durosim corpus 1
	// found S04 provider/filter-after-decode
	// verdict violates S04
	// seed 42
	// mode seeded
	//
	// scenario tiny
	//
	// node A runs 1.5.0
}

func ExampleParseEntry() {
	_, err := scenario.ParseEntry("0123456789abcdef.txt", []byte("durosim corpus 9\n"))
	fmt.Println(err)
	// Output:
	// 0123456789abcdef.txt:1: this entry is written in corpus format 9, and this durosim reads format 1: replay it with a durosim that reads that format
}

func ExampleStatements() {
	for _, s := range scenario.Statements()[10:13] {
		fmt.Printf("%-26s %s\n", s.Form, s.Meaning)
	}
	// Output:
	// scenario NAME              the name; by default, the file's name without directory and extension
	// seeds COUNT                the number of seeds from which on a campaign must reach the required coverage and show each "sometimes"
	// require coverage POINT... | matrix coverage points that a campaign of that many seeds must reach; matrix: each kind of fault must meet each feature of orchestrations, such as sessions or continue-as-new
}

func ExampleSteps() {
	fmt.Println(scenario.Steps()[1].Form)
	// Output:
	// upgrade NODE to BUILD
}

func ExampleNamedFaults() {
	p, err := scenario.NamedFaults("none")
	fmt.Println(len(p.Rates), err)
	_, err = scenario.NamedFaults("heavy")
	fmt.Println(err)
	// Output:
	// 0 <nil>
	// unknown fault plan "heavy": expected none, light, full or timing
}

// Each situation is a scenario of its own.
func ExampleSituations() {
	n := scenario.Situations()[0]
	fmt.Println(n.File)
	fmt.Println(n.Title)
	// Output:
	// situations/01-turn-outlives-lock.txt
	// Situation 1: a turn outlives its lock and nobody else has taken the work: its ack is refused, and the work comes again.
}
