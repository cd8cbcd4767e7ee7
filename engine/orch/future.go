package orch

// Future is the result of something that was scheduled.
type Future struct {
	host  Host
	token Token
}

// Await suspends the code until there is a result. Awaited again, a future gives the same result. The error of a failed
// activity or child has the text that the failure displays. To await a future that was dropped before it had a result
// panics.
func (f *Future) Await() (string, error) { return f.host.Await(f.token) }

// Drop abandons the future. Dropping a future that has a result, or that is already dropped, changes nothing.
func (f *Future) Drop() { f.host.Drop(f.token) }

// Outcome is the result of an awaited future.
type Outcome struct {
	Value string
	Err   error
}

// Select suspends the code until one of the futures has a result and returns its index with the result. If several
// have one at that moment, the first argument wins. The others are dropped. There must be at least one.
func Select(futures ...*Future) (index int, value string, err error) {
	if len(futures) == 0 {
		panic("orch: Select of no futures")
	}
	tokens := make([]Token, len(futures))
	for i, f := range futures {
		tokens[i] = f.token
	}
	index = futures[0].host.Select(tokens)
	value, err = futures[index].Await()
	return index, value, err
}

// Join suspends the code until every future has a result and returns the results in argument order.
func Join(futures ...*Future) []Outcome {
	out := make([]Outcome, len(futures))
	for i, f := range futures {
		out[i].Value, out[i].Err = f.Await()
	}
	return out
}
