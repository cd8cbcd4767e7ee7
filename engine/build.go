package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/internal/eventdata"
)

// Build is a version of the runtime as deployed: the kinds it reads, the kinds it writes and how it replays them.
//
// Invariant: Emits is a subset of what Codec decodes.
type Build struct {
	// Release names the released runtime, such as duroxide-0.1.32; it is empty for builds that durosim models.
	Release string
	// Application is the version of the application deployed with the runtime, if builds differ by it. It decides only
	// which handlers a node registers.
	Application string
	// Version is stamped on the events that the build writes; on an execution's first event it becomes the pin.
	Version Version
	// Codec decodes and encodes events and work items; a kind that the build does not know is an error.
	Codec Codec
	// Emits are the event kinds that the build writes into executions pinned to it.
	Emits KindSet
	// Introduced lists the kinds that are younger than the format, each with the first version that reads it. It is all
	// that a build knows about its predecessors.
	Introduced []Introduction
	// DefaultRange is the range that a node of this build declares when its options name none.
	DefaultRange VersionRange
	// Semantics names the build's replay semantics for the executions that no entry of Changes covers. Builds of
	// different semantics compute different actions from one history although they read the same kinds.
	Semantics Semantics
	// Changes lists the replay semantics of executions that newer builds began: an entry applies to executions begun by
	// version Since or a later one. Entries are in ascending order of Since (docs/contract/runtime.md#r15.2).
	Changes []SemanticsChange
	// Limits bound what an execution may carry forward and store. A zero field takes its value from DefaultLimits.
	Limits Limits
	// OwnChildIDs reserves child ids that begin with "sub::" for the build: an automatic id names its execution from
	// the second one on (sub::2_5), and the build refuses code that asks for such an id
	// (docs/contract/runtime.md#r7.10). If it is false, automatic ids are sub::5 in every execution, and code may
	// choose such an id.
	OwnChildIDs bool
	// CountsWaiting makes the node count an attempt each time it abandons input that waits for a continue-as-new start,
	// with the backoff of a missing handler, so such input can end as poison (docs/contract/runtime.md#r2.2). If it is
	// false, these attempts do not count.
	CountsWaiting bool
}

// SemanticsChange is the replay semantics of the executions that a build of version Since or newer began.
type SemanticsChange struct {
	Since     Version
	Semantics Semantics
}

// SemanticsOf returns the semantics with which the build replays an execution whose first event carries the stamp; nil
// means that the stamp is not a valid version. A pre-release sorts before its release, unlike in filters.
func (b *Build) SemanticsOf(stamp *Version) Semantics {
	of := b.Semantics
	for _, c := range b.Changes {
		if stamp != nil && (stamp.Compare(c.Since) > 0 || stamp.Compare(c.Since) == 0 && (stamp.Pre == "" || c.Since.Pre != "")) {
			of = c.Semantics
		}
	}
	return of
}

// Bounds returns the build's limits with every field set.
func (b *Build) Bounds() Limits { return b.Limits.filled() }

// Introduction records that builds from version Since on read Kind.
type Introduction struct {
	Kind  EventKind
	Since Version
}

// Writes reports whether the build writes a kind into an execution with the given pin: it must emit the kind, and the
// pinned build must read it (docs/contract-decisions.md#versions-and-filters, S23). Into an unpinned execution it writes
// only kinds that are as old as the format. A build knows its predecessors, not its successors, so it cannot know that a
// later build has dropped a kind.
func (b *Build) Writes(k EventKind, pin *Version) bool {
	if !b.Emits.Has(k) {
		return false
	}
	for _, in := range b.Introduced {
		if in.Kind == k && (pin == nil || pin.Compare(in.Since) < 0) {
			return false
		}
	}
	return true
}

// Semantics is a variant of replay.
type Semantics uint8

// The replay semantics of the shipped builds.
const (
	// SemanticsStandard is the replay that docs/contract/runtime.md#r7 describes.
	SemanticsStandard Semantics = iota
	// SemanticsEagerTimers schedules every timer twice, as an incompatible replay engine might. It exists to show
	// what a pin protects against; only scenarios that ask for it use it.
	SemanticsEagerTimers
	// SemanticsDiscard discards the event that a wait has been given when the wait is dropped; under SemanticsStandard
	// the event passes to the next wait (docs/contract/runtime.md#r15.2, rule 5).
	SemanticsDiscard
)

// String returns the name of the semantics in scenarios: standard, eager-timers, discard.
func (s Semantics) String() string { return semanticsNames[s] }

var semanticsNames = [...]string{"standard", "eager-timers", "discard"}

// ParseSemantics returns the semantics of that name.
func ParseSemantics(name string) (Semantics, error) {
	if i := slices.Index(semanticsNames[:], name); i >= 0 {
		return Semantics(i), nil
	}
	return 0, fmt.Errorf("semantics %q: want one of %s", name, strings.Join(semanticsNames[:], ", "))
}

// Name returns the name that plans use for the build: its release, or else its version, followed by "+" and the
// application's version if it has one.
func (b *Build) Name() string {
	name := b.Version.String()
	if b.Release != "" {
		name = b.Release
	}
	if b.Application != "" {
		name += "+" + b.Application
	}
	return name
}

// Reads reports whether the build decodes every kind in the history. It is the second of the three relations of
// docs/architecture.md#relations. No build reads an event without data.
func (b *Build) Reads(history []Event) bool {
	for _, e := range history {
		if !b.Codec.Kinds().Has(e.Kind()) {
			return false
		}
	}
	return true
}

// Kinds1x returns the kinds of the 1.x builds, including the legacy kind, which 1.x and 2.x still read.
func Kinds1x() KindSet {
	return Kinds(
		eventdata.KindOrchestrationStarted, eventdata.KindOrchestrationCompleted, eventdata.KindOrchestrationFailed, eventdata.KindOrchestrationContinuedAsNew,
		eventdata.KindOrchestrationCancelRequested, eventdata.KindOrchestrationChained,
		eventdata.KindActivityScheduled, eventdata.KindActivityCompleted, eventdata.KindActivityFailed, eventdata.KindActivityCancelRequested,
		eventdata.KindTimerCreated, eventdata.KindTimerFired,
		eventdata.KindExternalSubscribed, eventdata.KindExternalEvent, eventdata.KindExternalSubscribedCancelled,
		eventdata.KindQueueSubscribed, eventdata.KindQueueEventDelivered, eventdata.KindQueueSubscriptionCancelled,
		eventdata.KindSubOrchestrationScheduled, eventdata.KindSubOrchestrationCompleted, eventdata.KindSubOrchestrationFailed, eventdata.KindSubOrchestrationCancelRequested,
		eventdata.KindCustomStatusUpdated, eventdata.KindKeyValueSet, eventdata.KindKeyValueCleared, eventdata.KindKeyValuesCleared,
		eventdata.KindLegacyNote,
	)
}

// Kinds2x returns the kinds of the 2.x builds.
func Kinds2x() KindSet {
	return Kinds1x().With(eventdata.KindExternalSubscribed2, eventdata.KindExternalEvent2)
}

// ShippedBuilds returns the builds that come with the module, in ascending order of version. Each call makes new ones, so
// runs share nothing.
func ShippedBuilds() []*Build {
	one, two := Kinds1x(), Kinds2x()
	old := one.Without(eventdata.KindLegacyNote)
	items1 := WorkItemKinds1x()
	items2 := WorkItemKinds2x()
	upTo := func(v Version) VersionRange { return VersionRange{Max: v.Triple()} }
	b := func(version string, reads, emits KindSet, items WorkItemKindSet) *Build {
		v := MustParseVersion(version)
		return &Build{
			Version: v, Codec: NewJSONCodec(version, reads, items), Emits: emits, DefaultRange: upTo(v),
			Introduced: []Introduction{{eventdata.KindExternalSubscribed2, V(2, 0, 0)}, {eventdata.KindExternalEvent2, V(2, 0, 0)}},
		}
	}
	v3 := b("3.0.0", two.Without(eventdata.KindLegacyNote), two.Without(eventdata.KindLegacyNote), items2)
	v3.DefaultRange.Min = V(1, 0, 0)
	variant := b("2.5.0", two, two.Without(eventdata.KindLegacyNote), items2)
	variant.Semantics = SemanticsEagerTimers
	return []*Build{
		b("0.8.0", one, one, items1),
		b("1.5.0", one, old, items1),
		b("1.6.0", one, old, items1),
		b("2.0.0-rc.1", two, two.Without(eventdata.KindLegacyNote), items2),
		b("2.0.0", two, two.Without(eventdata.KindLegacyNote), items2),
		variant,
		v3,
	}
}

// ReleasePrefix begins the name of every released build.
const ReleasePrefix = "duroxide-"

// ReleasedBuilds returns the released runtimes that nodes may run, in ascending order of version. Each call makes new ones.
func ReleasedBuilds() []*Build {
	kinds := Kinds1x().Without(eventdata.KindLegacyNote) // events with a topic are a feature of their own tests
	b := func(version string) *Build {
		v := MustParseVersion(version)
		return &Build{
			Release: ReleasePrefix + version, Version: v, Codec: NewJSONCodec(ReleasePrefix+version, kinds, WorkItemKinds1x()), Emits: kinds,
			DefaultRange: VersionRange{Max: v.Triple()},
		}
	}
	return []*Build{b("0.1.26"), b("0.1.30"), b("0.1.32")}
}
