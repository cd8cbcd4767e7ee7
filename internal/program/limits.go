package program

import (
	"fmt"
	"slices"

	"github.com/durosim/durosim/engine"
)

// tooLong reports whether a statement breaks a limit wherever it runs, so that nothing completes after it. A custom status
// may still be replaced in the same turn.
func tooLong(n *Node) bool {
	return n.Op == OpSet && len(n.value()) > engine.MaxKVValueBytes || n.Op == OpCall && len(n.Tag) > engine.MaxTagNameBytes
}

// limits returns the texts with which a statement may fail the execution, since it breaks a limit
// (docs/contract/runtime.md#r4.1). No catch sees such a failure.
func (i *interpreter) limits(n *Node) (texts []string) {
	switch n.Op {
	case OpSet:
		if size := len(n.value()); size > engine.MaxKVValueBytes {
			texts = append(texts, fmt.Sprintf("KV value for key '%s' (%d bytes) exceeds limit (%d bytes)", n.Name, size, engine.MaxKVValueBytes))
		}
		if i.manyKeys() {
			texts = append(texts, i.keyCounts()...)
		}
	case OpSetMany:
		texts = i.keyCounts()
	case OpCall:
		if tooLong(n) {
			texts = append(texts, fmt.Sprintf("Activity '%s' tag size (%d bytes) exceeds limit (%d bytes)", ActivityCall, len(n.Tag), engine.MaxTagNameBytes))
		}
	case OpStatus:
		if size := len(n.value()); size > engine.MaxCustomStatusBytes {
			texts = append(texts, fmt.Sprintf("Custom status size (%d bytes) exceeds limit (%d bytes)", size, engine.MaxCustomStatusBytes))
		}
	}
	return texts
}

// manyKeys reports whether the program has a statement that sets many keys.
func (i *interpreter) manyKeys() (many bool) {
	for _, p := range i.set.Versions(i.name, "") {
		Walk(p.Body, func(n *Node) { many = many || n.Op == OpSetMany })
	}
	return many
}

// keyCounts returns the failures of all counts of keys above the limit that the program can reach.
func (i *interpreter) keyCounts() (texts []string) {
	most, names := 0, map[string]bool{}
	for _, p := range i.set.Versions(i.name, "") {
		Walk(p.Body, func(n *Node) {
			switch n.Op {
			case OpSetMany:
				most = max(most, n.Size)
			case OpSet:
				names[n.Name] = true
			}
		})
	}
	for count := engine.MaxKVKeys + 1; count <= most+len(names); count++ {
		texts = append(texts, fmt.Sprintf("KV key count (%d) exceeds limit (%d)", count, engine.MaxKVKeys))
	}
	return texts
}

// breaksLimit reports whether a statement, or one inside it, may fail the execution with the text of a limit that s begins
// with.
func (i *interpreter) breaksLimit(n *Node, s string, k then) bool {
	broken := false
	Walk([]Node{*n}, func(kid *Node) {
		broken = broken || slices.ContainsFunc(i.limits(kid), func(text string) bool { return literal(text, s, k) })
	})
	return broken
}
