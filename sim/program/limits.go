package program

import (
	"fmt"
	"slices"

	"github.com/durosim/durosim/engine"
)

// tooLong reports whether statement n exceeds a limit under all bounds, in which case the program cannot complete once
// n has run. A custom status does not count, because the same turn may still replace it.
func (i *interpreter) tooLong(n *Node) bool {
	most := slices.MaxFunc(i.bounds(), func(a, b engine.Limits) int { return a.ValueBytes - b.ValueBytes })
	return n.Op == OpSet && len(n.value()) > most.ValueBytes || n.Op == OpCall && longTag(n)
}

func longTag(n *Node) bool { return len(n.Tag) > engine.MaxTagNameBytes }

func (i *interpreter) bounds() []engine.Limits {
	if len(i.c.Limits) > 0 {
		return i.c.Limits
	}
	return []engine.Limits{engine.DefaultLimits()}
}

// limits returns the failure texts of the limits that statement n may exceed (docs/contract/runtime.md#r4.1). A catch
// does not see these failures.
func (i *interpreter) limits(n *Node) (texts []string) {
	switch n.Op {
	case OpSet:
		for _, most := range i.bounds() {
			if size := len(n.value()); size > most.ValueBytes {
				texts = append(texts, fmt.Sprintf("KV value for key '%s' (%d bytes) exceeds limit (%d bytes)", n.Name, size, most.ValueBytes))
			}
		}
		texts = append(texts, i.keyCounts()...)
	case OpSetMany:
		texts = i.keyCounts()
	case OpCall:
		if longTag(n) {
			texts = append(texts, fmt.Sprintf("Activity '%s' tag size (%d bytes) exceeds limit (%d bytes)", ActivityCall, len(n.Tag), engine.MaxTagNameBytes))
		}
	case OpStatus:
		if size := len(n.value()); size > engine.MaxCustomStatusBytes {
			texts = append(texts, fmt.Sprintf("Custom status size (%d bytes) exceeds limit (%d bytes)", size, engine.MaxCustomStatusBytes))
		}
	}
	return texts
}

// walk calls f for every statement of the program, in all of its versions.
func (i *interpreter) walk(f func(n *Node)) {
	for _, p := range i.set.Versions(i.name, "") {
		Walk(p.Body, f)
	}
}

// keyCounts returns the failure text for each key count above the limit that the program can reach.
func (i *interpreter) keyCounts() (texts []string) {
	most, names := 0, map[string]bool{}
	i.walk(func(n *Node) {
		switch n.Op {
		case OpSetMany:
			most = max(most, n.Size)
		case OpSet:
			names[n.Name] = true
		}
	})
	for _, limit := range i.bounds() {
		for count := limit.Keys + 1; count <= most+len(names); count++ {
			texts = append(texts, fmt.Sprintf("KV key count (%d) exceeds limit (%d)", count, limit.Keys))
		}
	}
	return texts
}

// breaksLimit reports whether n, or a statement nested in it, may exceed a limit with a failure text that s begins
// with.
func (i *interpreter) breaksLimit(n *Node, s string, k then) bool {
	broken := false
	Walk([]Node{*n}, func(kid *Node) {
		broken = broken || slices.ContainsFunc(i.limits(kid), func(text string) bool { return literal(text, s, k) })
	})
	return broken
}
