package planterm

import (
	"fmt"
	"slices"
	"strings"
)

// Mode is how often a run must show the facts that an expectation selects.
type Mode string

// The modes of an expectation.
const (
	// ModeAlways: each fact that Where selects has the attributes in Has. It holds if there is no such fact; use
	// ModeSometimes to require one.
	ModeAlways Mode = "always"
	// ModeNever: no fact is selected.
	ModeNever Mode = "never"
	// ModeSometimes: over the campaign, at least one fact is selected.
	ModeSometimes Mode = "sometimes"
)

// Relief is a way of freeing work that no live node admits.
type Relief string

// The ways of relief. The zero value strands nothing and takes no node above its own build: a node becomes the build that
// the work is pinned to, and what no build takes is deleted. ReliefWiden has every node admit every pin; that is what the
// documentation of release 0.1.26 told operators to do, and release 0.1.32 forbids (docs/contract/runtime.md#r15.2).
const (
	ReliefBuild Relief = ""
	ReliefWiden Relief = "widen"
)

// Strategy is a way of routing work that a node cannot run.
type Strategy string

// The strategies for routing work that a node cannot run (docs/strategies.md).
const (
	// StrategyFilter is the contract's: the provider hands out what the caller's filter admits, and the rest waits.
	StrategyFilter Strategy = "filter"
	// StrategyBounce has nodes fetch without a filter, and give back with growing delays what they cannot replay, until that
	// is poison.
	StrategyBounce Strategy = "bounce"
	// StrategySweeper is filter, and each node ends what it cannot replay and has met at each of its passes for as long as
	// Patience says.
	StrategySweeper Strategy = "sweeper"
	// StrategyDeadletter is filter, and the provider ends what no fetch has admitted for as long as Patience says.
	StrategyDeadletter Strategy = "deadletter"
)

// Strategies returns every Strategy, the contract's first.
func Strategies() []Strategy {
	return []Strategy{StrategyFilter, StrategyBounce, StrategySweeper, StrategyDeadletter}
}

// Filters reports whether nodes get by the provider's filter only what they can replay, and nothing else touches the rest.
func (s Strategy) Filters() bool { return s == "" || s == StrategyFilter }

// Profile is the release whose behaviour the nodes follow where it differs from the contract.
type Profile string

// The profiles of behaviour. A release's profile turns on all the switches of faults.Profile for it at once.
const (
	ProfileContract Profile = "contract"
	ProfileDuroxide Profile = "duroxide-0.1.26"
	// ProfileDuroxide32 is the behaviour of release 0.1.32: defects that it has not mended, its treatment of executions that
	// a release before 0.1.31 began, and decisions that differ from the contract.
	ProfileDuroxide32 Profile = "duroxide-0.1.32"
)

// Shape is the form of a preloaded history.
type Shape string

// The shapes of preloaded histories.
const (
	ShapeWaiting     Shape = "waiting"      // healthy, waits for the event that the kick sends
	ShapeUnknownKind Shape = "unknown-kind" // holds an event kind that no build knows
	ShapeNewKind     Shape = "new-kind"     // holds a kind that builds read from 2.0.0 on
	ShapeLegacy      Shape = "legacy"       // holds the legacy kind of 0.8.0
	ShapeCorrupt     Shape = "corrupt"      // holds bytes that are not JSON
	// ShapeGarbled holds a text that no codec reads, another one for each number at the end of the instance's name.
	ShapeGarbled Shape = "garbled"
	// ShapeRespelled is of Archivist, in the JSON of another writer.
	ShapeRespelled Shape = "respelled"
	// ShapeDisagreeing is of Revised, whose code asks for something else, in another way for each such number.
	ShapeDisagreeing Shape = "disagreeing"
)

// HardText has what writers of JSON spell in different ways: every hexadecimal digit in a code point, characters with an escape
// of their own, control characters, and characters beyond 16 bits.
const HardText = "\u0123\u4567\u89ab\ucdef\uabcd\uef01 \"\\/\b\f\n\r\t\x00\x1f\x7f <&> \u2028 é 🜀\U0010ffff"

// Shapes returns every Shape.
func Shapes() []Shape {
	return []Shape{ShapeWaiting, ShapeUnknownKind, ShapeNewKind, ShapeLegacy, ShapeCorrupt, ShapeGarbled, ShapeRespelled, ShapeDisagreeing}
}

// End is the way in which an instance must end, or several of completed, failed and poison with | between them, each of
// which is as good.
type End string

// The ends that a plan can ask for.
const (
	EndCompleted End = "completed"
	EndFailed    End = "failed"
	EndEternal   End = "eternal" // goes on until it is cancelled
	EndPoison    End = "poison"  // fails because its handler exists nowhere
	EndAny       End = "any"
)

// Ends returns every End that is one way.
func Ends() []End { return []End{EndCompleted, EndFailed, EndEternal, EndPoison, EndAny} }

// Ways returns the ways that e allows, one if e has no |. The error names what cannot stand there.
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

// Text returns e in words: completed or failed.
func (e End) Text() string { return strings.ReplaceAll(string(e), "|", " or ") }
