package planterm

import (
	"fmt"
	"slices"
	"strings"
)

// Mode says how often a run must show the facts selected by an expectation.
type Mode string

// The modes that an expectation can have.
const (
	// ModeAlways requires every fact selected by Where to have the attributes in Has. It also holds if Where selects no
	// facts; to require one, use ModeSometimes.
	ModeAlways Mode = "always"
	// ModeNever requires that Where select no facts.
	ModeNever Mode = "never"
	// ModeSometimes requires that Where select at least one fact somewhere in the campaign.
	ModeSometimes Mode = "sometimes"
)

// Relief says how to free work that no live node admits.
type Relief string

// The kinds of relief. With the zero value, no work is left stranded, and no node's range is extended beyond its own
// build: a node is changed to the build that the work is pinned to, and work that no build takes is deleted.
// ReliefWiden makes every node admit every pin, as the documentation of release 0.1.26 told operators to do. Release
// 0.1.32 forbids this (docs/contract/runtime.md#r15.2).
const (
	ReliefBuild Relief = ""
	ReliefWiden Relief = "widen"
)

// Strategy says how to route work that a node cannot run.
type Strategy string

// The strategies for routing work that a node cannot run (docs/strategies.md).
const (
	// StrategyFilter is the contract's strategy. The provider returns only work that the caller's filter admits, and
	// other work waits.
	StrategyFilter Strategy = "filter"
	// StrategyBounce makes nodes fetch without a filter. They abandon work that they cannot replay, with growing
	// delays, until the work becomes poison.
	StrategyBounce Strategy = "bounce"
	// StrategySweeper is StrategyFilter plus a sweeper in each node, which makes passes over all work. It ends work
	// that the node cannot replay once it has been seeing that work for Patience.
	StrategySweeper Strategy = "sweeper"
	// StrategyDeadletter is StrategyFilter plus a provider that ends work once no fetch has admitted it for Patience.
	StrategyDeadletter Strategy = "deadletter"
)

// Strategies returns every Strategy, starting with the contract's.
func Strategies() []Strategy {
	return []Strategy{StrategyFilter, StrategyBounce, StrategySweeper, StrategyDeadletter}
}

// Filters reports whether the provider's filter limits nodes to work that they can replay, and nothing touches the
// rest.
func (s Strategy) Filters() bool { return s == "" || s == StrategyFilter }

// Profile names the behavior that nodes follow. It is either the contract's or, where a release differs from the
// contract, that release's.
type Profile string

// The profiles. A release's profile turns on all of that release's switches in faults.Profile at once.
const (
	ProfileContract Profile = "contract"
	ProfileDuroxide Profile = "duroxide-0.1.26"
	// ProfileDuroxide32 is the behavior of release 0.1.32. It includes the release's unfixed defects, its treatment of
	// executions begun by a release before 0.1.31, and its deliberate differences from the contract.
	ProfileDuroxide32 Profile = "duroxide-0.1.32"
)

// Shape says what kind of history to preload.
type Shape string

// The shapes of preloaded histories.
const (
	ShapeWaiting     Shape = "waiting"      // healthy; waits for the event that the kick sends
	ShapeUnknownKind Shape = "unknown-kind" // has an event kind that no build knows
	ShapeNewKind     Shape = "new-kind"     // has a kind that only builds from 2.0.0 on read
	ShapeLegacy      Shape = "legacy"       // has the legacy kind of 0.8.0
	ShapeCorrupt     Shape = "corrupt"      // has bytes that are not JSON
	// ShapeGarbled has text that no codec reads. The number at the end of the instance's name selects the text.
	ShapeGarbled Shape = "garbled"
	// ShapeRespelled is a history of Archivist with JSON as another writer would format it.
	ShapeRespelled Shape = "respelled"
	// ShapeDisagreeing is a history of Revised that disagrees with the code. The number at the end of the instance's
	// name selects the disagreement.
	ShapeDisagreeing Shape = "disagreeing"
)

// HardText contains characters that JSON writers represent in different ways: code points with every hexadecimal digit,
// characters with a short escape, control characters, and characters beyond 16 bits.
const HardText = "\u0123\u4567\u89ab\ucdef\uabcd\uef01 \"\\/\b\f\n\r\t\x00\x1f\x7f <&> \u2028 é 🜀\U0010ffff"

// Shapes returns every Shape.
func Shapes() []Shape {
	return []Shape{ShapeWaiting, ShapeUnknownKind, ShapeNewKind, ShapeLegacy, ShapeCorrupt, ShapeGarbled, ShapeRespelled, ShapeDisagreeing}
}

// End says how an instance must end. It may list several of completed, failed and poison, separated by |, and any of
// these is then acceptable.
type End string

// The ends that a plan can require.
const (
	EndCompleted End = "completed"
	EndFailed    End = "failed"
	EndEternal   End = "eternal" // continues until it is cancelled
	EndPoison    End = "poison"  // fails because no node has its handler
	EndAny       End = "any"
)

// Ends returns every End that names a single way of ending.
func Ends() []End { return []End{EndCompleted, EndFailed, EndEternal, EndPoison, EndAny} }

// Ways returns the ways of ending that e allows. If e contains no |, that is just e. The error names an invalid way.
func (e End) Ways() ([]End, error) {
	var ways []End
	for word := range strings.SplitSeq(string(e), "|") {
		way := End(word)
		switch {
		case !slices.Contains(Ends(), way):
			return nil, fmt.Errorf("unknown end %q", word)
		case slices.Contains(ways, way):
			return nil, fmt.Errorf("end %q is given twice", word)
		}
		ways = append(ways, way)
	}
	if len(ways) > 1 && (slices.Contains(ways, EndAny) || slices.Contains(ways, EndEternal)) {
		return nil, fmt.Errorf("%q: any and eternal stand alone", string(e))
	}
	return ways, nil
}

// Allows reports whether e allows the given way of ending, or allows any.
func (e End) Allows(way End) bool {
	return e == EndAny || slices.Contains(strings.Split(string(e), "|"), string(way))
}

// Text returns e in words, as in "completed or failed".
func (e End) Text() string { return strings.ReplaceAll(string(e), "|", " or ") }
