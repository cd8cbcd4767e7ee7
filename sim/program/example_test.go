package program_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/durosim/durosim/sim/program"
)

// The possible results of a program follow from its syntax tree.
func ExampleSet_Allows() {
	p := program.NewParser("greet", "")
	for _, line := range []string{"join", "call left", "call right", "end", "select", "wait approval", "timer 2s", "end"} {
		if _, err := p.Line(strings.Fields(line)); err != nil {
			fmt.Println(err)
		}
	}
	set := program.Set{p.Program()}
	c := program.Circumstances{Events: func(string) []string { return []string{"yes"} }}
	fmt.Println(set.Explain("greet", "", c))
	for _, output := range []string{
		"(call(left)|call(right)|);0:yes;",
		"(call(left)|call(right)|);1:;",
		"(call(right)|call(left)|);0:yes;", // the results are swapped
	} {
		fmt.Println(set.Allows("greet", "", c, program.Outcome{Completed: true, Text: output}))
	}
	// Output:
	// (call(left)|call(right)|);<0:_|1:>;
	// true
	// true
	// false
}

// The caller makes the choices. Here it always makes the simplest one.
func ExampleGenerate() {
	set := program.Generate("simple", func(int) int { return 0 })
	set[0].Format(os.Stdout, strconv.Quote)
	// Output:
	// program "simple"
	//   call "t1"
	// end
}

// Mistakes in a program are reported before anything runs.
func ExampleSet_Validate() {
	fmt.Println(program.Set{{Name: "loop", Body: []program.Node{{Op: program.OpChild, Name: "loop"}}}}.Validate())
	// Output:
	// program loop: child loop: want the name of an earlier program
}
