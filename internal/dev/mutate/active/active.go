package active

import (
	"os"
	"slices"
	"strconv"
)

// Variable is the name of the environment variable that holds the number of the active mutant.
const Variable = "DUROSIM_MUTANT"

var on, _ = strconv.Atoi(os.Getenv(Variable))

// reached records the mutants that execution has reached. It is nil if recording is off.
var reached []bool

// Is reports whether mutant id is active. Mutated code calls it whenever execution reaches that mutant.
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

// Pick returns other if on is true, and own if it is false.
func Pick[T any](on bool, other, own T) T {
	if on {
		return other
	}
	return own
}

// Watch clears the record of reached mutants and turns recording on.
func Watch() { reached = make([]bool, 1) }

// Reached returns the mutants reached since the last call to Watch.
func Reached() []int {
	var ids []int
	for id, was := range slices.Clone(reached) {
		if was {
			ids = append(ids, id)
		}
	}
	return ids
}
