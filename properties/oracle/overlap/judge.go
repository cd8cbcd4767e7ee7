package overlap

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/durosim/durosim/properties/oracle"
)

// model returns the specification as a porcupine model. The model's states are the states of a store.
func model(o oracle.Options) porcupine.Model {
	m := porcupine.NondeterministicModel{
		Init: func() []any { return []any{&oracle.State{}} },
		Step: func(state, input, _ any) (next []any) {
			for _, s := range state.(*oracle.State).Next(o, input.(oracle.Exchange)) {
				next = append(next, s)
			}
			return next
		},
		Equal: func(a, b any) bool { return a.(*oracle.State).Equal(b.(*oracle.State)) },
	}
	return m.ToModel()
}

// mostThinking limits the search for an order. Since programs are short, the search normally takes milliseconds.
const mostThinking = 20 * time.Second

// judge describes what is wrong with a history, or returns "" if nothing is. undecided is set if the search for an
// order took too long.
func judge(o oracle.Options, history []porcupine.Operation) (wrong string, undecided bool) {
	given := map[string]string{}
	for _, op := range history {
		e := op.Input.(oracle.Exchange)
		token := oracle.Token(e.Answer)
		if token == "" {
			continue
		}
		if before, twice := given[token]; twice {
			return fmt.Sprintf("two fetches got the token %s: %s and %s", token, before, e), false
		}
		given[token] = e.String()
	}
	result, about := porcupine.CheckOperationsVerbose(model(o), history, mostThinking)
	switch result {
	case porcupine.Ok:
		return "", false
	case porcupine.Unknown:
		return "", true
	}
	order, rest := longest(about, history)
	return explain(o, history, order, rest), false
}

// longest returns the longest allowed order of calls, and the calls that are not in it.
func longest(about porcupine.LinearizationInfo, history []porcupine.Operation) (order, rest []porcupine.Operation) {
	for _, partition := range about.PartialLinearizationsOperations() {
		for _, one := range partition {
			if len(one) > len(order) {
				order = one
			}
		}
	}
	for _, op := range history {
		if !slices.ContainsFunc(order, func(in porcupine.Operation) bool { return in.Call == op.Call }) {
			rest = append(rest, op)
		}
	}
	return order, rest
}

// explain says why the call that ended first cannot come next in the longest allowed order. Calls have their numbers in
// the history, as in the story.
func explain(o oracle.Options, history, order, rest []porcupine.Operation) string {
	const none = "no order of these calls is allowed"
	specification := oracle.New(o)
	number := func(op porcupine.Operation) int {
		return 1 + slices.IndexFunc(history, func(in porcupine.Operation) bool { return in.Call == op.Call })
	}
	numbers := ""
	for _, op := range order {
		specification.Apply(op.Input.(oracle.Exchange))
		numbers += fmt.Sprintf(" %d", number(op))
	}
	if len(rest) == 0 {
		return none
	}
	next := slices.MinFunc(rest, func(a, b porcupine.Operation) int { return cmp.Compare(a.Return, b.Return) })
	refusal := specification.Apply(next.Input.(oracle.Exchange))
	if refusal == nil {
		return none
	}
	refusal.Number = number(next)
	return none + "; the longest allowed one is" + numbers + ", and cannot continue with\n" + refusal.Error()
}
