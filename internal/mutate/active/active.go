package active

import (
	"os"
	"slices"
	"strconv"
)

// Variable names the environment variable that holds the number of the active mutant.
const Variable = "DUROSIM_MUTANT"

var on, _ = strconv.Atoi(os.Getenv(Variable))

// reached records the mutants that execution has reached; nil if recording is off.
var reached []bool

// Is reports whether mutant id is active. The mutated code calls it each time it is reached.
func Is(id int) bool {
	if reached != nil {
		note(id)
	}
	return id == on
}

func note(id int) {
	if id >= len(reached) {
		reached = append(reached, make([]bool, id+1-len(reached))...)
	}
	reached[id] = true
}

// Pick returns other if on is true, else own.
func Pick[T any](on bool, other, own T) T {
	if on {
		return other
	}
	return own
}

// Watch clears the record of reached mutants and starts recording.
func Watch() { reached = make([]bool, 1) }

// Reached returns the mutants that execution has reached since the last Watch.
func Reached() []int {
	var ids []int
	for id, was := range slices.Clone(reached) {
		if was {
			ids = append(ids, id)
		}
	}
	return ids
}
