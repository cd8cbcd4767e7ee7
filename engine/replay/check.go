package replay

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/durosim/durosim/engine"
)

// difference describes the first difference between two outputs of the same input. It returns "" if they are equal. It
// begins with how they disagree with the history, whose consequences say nothing about the code, and goes on with events,
// since most of an output follows from them.
func difference(a, b *Output) string {
	if x, y := a.Nondeterminism, b.Nondeterminism; !reflect.DeepEqual(x, y) {
		says := func(n *Nondeterminism) string {
			switch {
			case n == nil:
				return "code and history agree"
			case n.EventID == 0:
				return n.Text
			}
			return fmt.Sprintf("%s (event %d)", n.Text, n.EventID)
		}
		return fmt.Sprintf("in one, %s; in the other, %s", says(x), says(y))
	}
	if d := cmp.Or(
		listDifference("new event", a.Delta, b.Delta),
		listDifference("orchestrator item", a.OrchestratorItems, b.OrchestratorItems),
		listDifference("trace", a.Traces, b.Traces),
	); d != "" {
		return d
	}
	if !reflect.DeepEqual(a, b) {
		return "the turn's polls, the place of a panic, or what follows from its events differs"
	}
	return ""
}

func listDifference[T any](what string, a, b []T) string {
	for i := range max(len(a), len(b)) {
		one, other := "missing", "missing"
		if i < len(a) {
			one = show(a[i])
		}
		if i < len(b) {
			other = show(b[i])
		}
		if i >= len(a) || i >= len(b) || !reflect.DeepEqual(a[i], b[i]) {
			if one == other { // they differ in what the texts leave out
				one, other = exact(a[i]), exact(b[i])
			}
			return fmt.Sprintf("%s %d is %s and is %s", what, i+1, one, other)
		}
	}
	return ""
}

// show formats a value from an output. It prints no addresses, so equal outputs have equal text.
func show(v any) string {
	switch v := v.(type) {
	case engine.Event:
		return describeEvent(v.Data)
	case engine.WorkItem:
		return fmt.Sprintf("%s%+v", v.Kind(), v)
	}
	return fmt.Sprintf("%q", v)
}

// exact formats all of a value.
func exact(v any) string {
	text, _ := json.Marshal(v) // if that fails, the texts are equal, and no worse than an address
	return strings.TrimSpace(show(v) + " " + string(text))
}
