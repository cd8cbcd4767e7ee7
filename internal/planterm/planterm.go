package planterm

import (
	"fmt"
	"slices"
	"strings"
)

// Mode says how often a run must show the facts that an expectation selects.
type Mode string

// The modes of an expectation.
const (
	// ModeAlways: each fact that Where selects has the attributes in Has. It also holds if there is no such fact; use
	// ModeSometimes to require a fact.
	ModeAlways Mode = "always"
	// ModeNever: Where selects no fact.
	ModeNever Mode = "never"
	// ModeSometimes: Where selects at least one fact in the whole campaign.
	ModeSometimes Mode = "sometimes"
)

// Relief is a way of freeing work that no live node admits.
type Relief string

// The ways of relief. The zero value strands no work and moves no node above its own build: a node becomes the build
// that the work is pinned to, and work that no build takes is deleted. ReliefWiden makes every node admit every pin, as
// the documentation of release 0.1.26 told operators to do; release 0.1.32 forbids it (docs/contract/runtime.md#r15.2).
const (
	ReliefBuild Relief = ""
	ReliefWiden Relief = "widen"
)

// Strategy is a way of routing work that a node cannot run.
type Strategy string

// The strategies for routing work that a node cannot run (docs/strategies.md).
const (
	// StrategyFilter is the contract's strategy: the provider returns the work that the caller's filter admits, and
	// other work waits.
	StrategyFilter Strategy = "filter"
	// StrategyBounce makes nodes fetch without a filter and abandon work that they cannot replay, with growing delays,
	// until the work is poison.
	StrategyBounce Strategy = "bounce"
	// StrategySweeper is StrategyFilter, and each node ends work that it cannot replay once its passes have met the
	// work for the time Patience.
	StrategySweeper Strategy = "sweeper"
	// StrategyDeadletter is StrategyFilter, and the provider ends work that no fetch has admitted for the time
	// Patience.
	StrategyDeadletter Strategy = "deadletter"
)

// Strategies returns every Strategy, the contract's first.
func Strategies() []Strategy {
	return []Strategy{StrategyFilter, StrategyBounce, StrategySweeper, StrategyDeadletter}
}

// Filters reports whether the provider's filter gives nodes only work that they can replay, and nothing touches other
// work.
func (s Strategy) Filters() bool { return s == "" || s == StrategyFilter }

// Profile names the behavior that the nodes follow: the contract's, or a release's where the release differs.
type Profile string

// The profiles. A release's profile turns on all of the release's switches in faults.Profile at once.
const (
	ProfileContract Profile = "contract"
	ProfileDuroxide Profile = "duroxide-0.1.26"
	// ProfileDuroxide32 is the behavior of release 0.1.32: its unfixed defects, its treatment of executions that a
	// release before 0.1.31 began, and its decisions that differ from the contract.
	ProfileDuroxide32 Profile = "duroxide-0.1.32"
)

// Shape is the kind of a preloaded history.
type Shape string

// The shapes of preloaded histories.
const (
	ShapeWaiting     Shape = "waiting"      // healthy, waits for the event that the kick sends
	ShapeUnknownKind Shape = "unknown-kind" // holds an event kind that no build knows
	ShapeNewKind     Shape = "new-kind"     // holds a kind that builds read from 2.0.0 on
	ShapeLegacy      Shape = "legacy"       // holds the legacy kind of 0.8.0
	ShapeCorrupt     Shape = "corrupt"      // holds bytes that are not JSON
	// ShapeGarbled holds a text that no codec reads. The number at the end of the instance's name selects the text.
	ShapeGarbled Shape = "garbled"
	// ShapeRespelled is a history of Archivist in the JSON of another writer.
	ShapeRespelled Shape = "respelled"
	// ShapeDisagreeing is a history of Revised that disagrees with its code. The number at the end of the instance's
	// name selects the disagreement.
	ShapeDisagreeing Shape = "disagreeing"
)

// HardText contains the characters that JSON writers spell differently: every hexadecimal digit in a code point,
// characters with a short escape, control characters, and characters beyond 16 bits.
const HardText = "\u0123\u4567\u89ab\ucdef\uabcd\uef01 \"\\/\b\f\n\r\t\x00\x1f\x7f <&> \u2028 é 🜀\U0010ffff"

// Shapes returns every Shape.
func Shapes() []Shape {
	return []Shape{ShapeWaiting, ShapeUnknownKind, ShapeNewKind, ShapeLegacy, ShapeCorrupt, ShapeGarbled, ShapeRespelled, ShapeDisagreeing}
}

// End is the way in which an instance must end. It may list several of completed, failed and poison, separated by |;
// each of them is acceptable.
type End string

// The ends that a plan can require.
const (
	EndCompleted End = "completed"
	EndFailed    End = "failed"
	EndEternal   End = "eternal" // goes on until it is cancelled
	EndPoison    End = "poison"  // fails because its handler exists nowhere
	EndAny       End = "any"
)

// Ends returns every End that is a single way.
func Ends() []End { return []End{EndCompleted, EndFailed, EndEternal, EndPoison, EndAny} }

// Ways returns the ways that e allows, one if e has no |. The error names an invalid way.
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

// Allows reports whether e allows a way, or any.
func (e End) Allows(way End) bool {
	return e == EndAny || slices.Contains(strings.Split(string(e), "|"), string(way))
}

// Text returns e in words, such as "completed or failed".
func (e End) Text() string { return strings.ReplaceAll(string(e), "|", " or ") }
