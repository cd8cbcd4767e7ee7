package plan

import (
	"fmt"
	"slices"
	"strings"
)

// Mode specifies what an expectation requires of the facts that it selects.
type Mode string

// The modes of an expectation.
const (
	// ModeAlways requires every fact selected by Where to have the attributes in Has. It holds even if Where selects no
	// facts; to require one, use ModeSometimes.
	ModeAlways Mode = "always"
	// ModeNever requires that Where select no facts.
	ModeNever Mode = "never"
	// ModeSometimes requires that Where select at least one fact somewhere in the campaign.
	ModeSometimes Mode = "sometimes"
)

// Rescue is a way to free work that no live node admits.
type Rescue string

// The kinds of rescue. With the zero value, no work is left stranded, and no node's range is extended beyond its own
// build. A node is changed to the build to which the work is pinned, and work that no build takes is deleted.
// RescueWiden makes every node admit every pin, as the documentation of release 0.1.26 told operators to do. Release
// 0.1.32 forbids this (docs/contract/runtime.md#r15.2).
const (
	RescueBuild Rescue = ""
	RescueWiden Rescue = "widen"
)

// Strategy is a strategy for routing work that a node cannot run.
type Strategy string

// The strategies (docs/strategies.md).
const (
	// StrategyFilter is the contract's strategy. The provider returns only work that the caller's filter admits. Other
	// work waits.
	StrategyFilter Strategy = "filter"
	// StrategyBounce makes nodes fetch without a filter. They abandon work that they cannot replay, with growing
	// delays, until the work becomes poison.
	StrategyBounce Strategy = "bounce"
	// StrategyStall makes nodes fetch without a filter. They give back work that they cannot replay, uncounted, until a
	// node that can takes it. So do workflows of Dapr that are STALLED.
	StrategyStall Strategy = "stall"
	// StrategyExact is StrategyFilter with nodes that replay the pins of their own version alone, as those of DBOS do.
	StrategyExact Strategy = "exact"
	// StrategySweeper is StrategyFilter plus a sweeper in each node, which passes over all work. The sweeper ends work
	// that the node cannot replay once Patience has passed since the sweeper first saw that work.
	StrategySweeper Strategy = "sweeper"
	// StrategyDeadletter is StrategyFilter plus a provider that ends work that no fetch has admitted for Patience.
	StrategyDeadletter Strategy = "deadletter"
)

// Strategies returns all strategies, starting with the contract's.
func Strategies() []Strategy {
	return []Strategy{StrategyFilter, StrategyExact, StrategyStall, StrategyBounce, StrategySweeper, StrategyDeadletter}
}

// Filters reports whether the provider's filter limits nodes to work that they can replay, and other work is left
// alone.
func (s Strategy) Filters() bool { return s == "" || s == StrategyFilter || s == StrategyExact }

// Waits reports whether work that no node can replay waits until one can.
func (s Strategy) Waits() bool { return s.Filters() || s == StrategyStall }

// Profile names the behavior that nodes follow: the contract's or, where a release differs from the contract, the
// release's.
type Profile string

// The profiles. A release's profile turns on all of the release's switches in faults.Profile.
const (
	ProfileContract Profile = "contract"
	ProfileDuroxide Profile = "duroxide-0.1.26"
	// ProfileDuroxide32 is the behavior of release 0.1.32. It includes the release's unfixed defects, its treatment of
	// executions begun by a release before 0.1.31, and its deliberate differences from the contract.
	ProfileDuroxide32 Profile = "duroxide-0.1.32"
)

// Shape is the kind of history to preload.
type Shape string

// The shapes of preloaded histories.
const (
	ShapeWaiting     Shape = "waiting"      // healthy; waits for the event that the kick sends
	ShapeUnknownKind Shape = "unknown-kind" // has an event kind that no build knows
	ShapeNewKind     Shape = "new-kind"     // has a kind that builds before 2.0.0, and those like them, do not read
	ShapeLegacy      Shape = "legacy"       // has the legacy kind of 0.8.0
	ShapeCorrupt     Shape = "corrupt"      // has bytes that are not valid JSON
	// ShapeRespelled is a history of Archivist with JSON as another writer would format it.
	ShapeRespelled Shape = "respelled"
)

// HardText contains characters that JSON writers represent in different ways: code points with every hexadecimal digit,
// characters with a short escape, control characters, and characters outside the Basic Multilingual Plane.
const HardText = "\u0123\u4567\u89ab\ucdef\uabcd\uef01 \"\\/\b\f\n\r\t\x00\x1f\x7f <&> \u2028 é 🜀\U0010ffff"

// Shapes returns all shapes.
func Shapes() []Shape {
	return []Shape{ShapeWaiting, ShapeUnknownKind, ShapeNewKind, ShapeLegacy, ShapeCorrupt, ShapeRespelled}
}

// End is the way in which an instance must end. It may list several of completed, failed and poison, separated by |, in
// which case any of them is acceptable.
type End string

// The ends that a plan can require.
const (
	EndCompleted End = "completed"
	EndFailed    End = "failed"
	EndEternal   End = "eternal" // continues until it is cancelled
	EndPoison    End = "poison"  // fails because no node has its handler
	EndAny       End = "any"
)

// Ends returns every End that names a single way to end.
func Ends() []End { return []End{EndCompleted, EndFailed, EndEternal, EndPoison, EndAny} }

// Ways returns the ways to end that e allows. If e contains no |, that is just e. The error names an invalid way.
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

// Allows reports whether e allows way. EndAny allows every way.
func (e End) Allows(way End) bool {
	return e == EndAny || slices.Contains(strings.Split(string(e), "|"), string(way))
}

// Text returns e in words, as in "completed or failed".
func (e End) Text() string { return strings.ReplaceAll(string(e), "|", " or ") }
