package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine/eventdata"
)

// Build is a deployed version of the runtime: which kinds it reads, which it writes, and how it replays them.
//
// Invariant: Codec can decode every kind in Emits.
type Build struct {
	// Release names a released runtime, such as duroxide-0.1.32. It is empty for the builds that durosim models itself.
	Release string
	// Application is the version of the application that is deployed together with the runtime, for builds that differ
	// only in that. It determines which handlers a node registers and nothing else.
	Application string
	// Version is stamped on every event that the build writes. The stamp on an execution's first event is the
	// execution's pin.
	Version Version
	// Codec encodes and decodes events and work items. Decoding a kind that the build does not know is an error.
	Codec Codec
	// Emits are the event kinds that the build writes into executions pinned to it.
	Emits KindSet
	// Introduced lists the kinds that were added after the first version of the format, each with the first version
	// that reads it. This is all a build knows about its predecessors.
	Introduced []Introduction
	// DefaultRange is the range that a node of this build declares unless its options set one.
	DefaultRange VersionRange
	// Semantics names the replay semantics for executions that no entry of Changes covers. Builds with different
	// semantics compute different actions from the same history, even if they read the same kinds.
	Semantics Semantics
	// Changes lists the replay semantics for executions begun by newer builds: an entry applies to executions begun by
	// version Since or later. Entries are sorted by Since (docs/contract/runtime.md#r15.2).
	Changes []SemanticsChange
	// Limits bound what an execution may store and carry over a continue-as-new. Zero fields default to DefaultLimits.
	Limits Limits
	// OwnChildIDs reserves child ids that begin with "sub::" for the build. Automatic ids then include the execution
	// number from the second execution on (sub::2_5), and the build rejects code that asks for an id of this form
	// (docs/contract/runtime.md#r7.10). If OwnChildIDs is false, automatic ids are sub::5 in every execution, and code
	// may use such ids.
	OwnChildIDs bool
	// CountsWaiting controls what happens to input that arrives before its continue-as-new start. If it is true, the
	// node counts an attempt each time it abandons the input, and backs off as for a missing handler, so the input can
	// end as poison (docs/contract/runtime.md#r2.2). If it is false, those attempts do not count.
	CountsWaiting bool
}

// SemanticsChange sets the replay semantics of executions begun by version Since or later.
type SemanticsChange struct {
	Since     Version
	Semantics Semantics
}

// SemanticsOf returns the semantics with which the build replays an execution whose first event carries stamp. A nil
// stamp stands for a stored stamp that is not a valid version. Unlike in filters, a pre-release sorts before its
// release.
func (b *Build) SemanticsOf(stamp *Version) Semantics {
	of := b.Semantics
	for _, c := range b.Changes {
		if stamp != nil && stamp.Precedence(c.Since) >= 0 {
			of = c.Semantics
		}
	}
	return of
}

// Bounds returns the build's limits with defaults filled in.
func (b *Build) Bounds() Limits { return b.Limits.or(DefaultLimits()) }

// Introduction records the first version that reads a kind.
type Introduction struct {
	Kind  EventKind
	Since Version
}

// Writes reports whether the build writes events of kind k into an execution with the given pin. It does if it emits
// the kind and the pinned build can read it (docs/contract-decisions.md#versions-and-filters, S23). An unpinned
// execution gets only the kinds that have been in the format from the start. A build knows its predecessors but not its
// successors, so it cannot tell when a later build has dropped a kind.
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

// Semantics identifies a variant of replay.
type Semantics uint8

// The replay semantics of the shipped builds.
const (
	// SemanticsStandard is the replay that docs/contract/runtime.md#r7 describes.
	SemanticsStandard Semantics = iota
	// SemanticsEagerTimers schedules every timer twice, as an incompatible replay engine might. It exists to show what
	// pins protect against, and only scenarios that ask for it use it.
	SemanticsEagerTimers
	// SemanticsDiscard discards the event of a dropped wait. Under SemanticsStandard the event passes on to the next
	// wait (docs/contract/runtime.md#r15.2, rule 5).
	SemanticsDiscard
)

// String returns the name used in scenarios: standard, eager-timers or discard.
func (s Semantics) String() string { return semanticsNames[s] }

var semanticsNames = [...]string{"standard", "eager-timers", "discard"}

// ParseSemantics returns the semantics with the given name.
func ParseSemantics(name string) (Semantics, error) {
	if i := slices.Index(semanticsNames[:], name); i >= 0 {
		return Semantics(i), nil
	}
	return 0, fmt.Errorf("semantics %q: want one of %s", name, strings.Join(semanticsNames[:], ", "))
}

// Name returns the name by which plans refer to the build: the release if it has one, otherwise the version, followed
// by "+" and the application version if there is one.
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

// Reads reports whether the build can decode every event in the history. It is the second of the three relations in
// docs/architecture.md#relations. No build reads an event without data.
func (b *Build) Reads(history []Event) bool {
	for _, e := range history {
		if !b.Codec.Kinds().Has(e.Kind()) {
			return false
		}
	}
	return true
}

// Kinds1x returns the kinds of the 1.x builds. They include the legacy kind, which both 1.x and 2.x still read.
func Kinds1x() KindSet {
	kinds := allKinds
	for _, in := range introduced() {
		kinds = kinds.Without(in.Kind)
	}
	return kinds
}

// Kinds2x returns the kinds of the 2.x builds.
func Kinds2x() KindSet { return allKinds }

var allKinds = func() (all KindSet) {
	for _, form := range eventdata.Forms() {
		all = all.With(EventKind(form.Kind))
	}
	return all
}()

// introduced returns the kinds that were added after the first version of the format.
func introduced() []Introduction {
	return []Introduction{{eventdata.KindExternalSubscribed2, V(2, 0, 0)}, {eventdata.KindExternalEvent2, V(2, 0, 0)}}
}

// ShippedBuilds returns the builds that come with the module, in ascending order of version. Each call returns new
// values, so runs do not share them.
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
			Introduced: introduced(),
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

// ReleasePrefix is the prefix of every released build's name.
const ReleasePrefix = "duroxide-"

// ReleasedBuilds returns the released runtimes that nodes may run, in ascending order of version. Each call returns new
// values. What they say of a release is what its nodes show (docs/real-nodes.md#facts).
func ReleasedBuilds() []*Build {
	var out []*Build
	for _, version := range []string{"0.1.26", "0.1.30", "0.1.32"} {
		out = append(out, ofRelease(version, MustParseVersion(version)))
	}
	return out
}

// ReleasedBuild returns the released runtime of a version, such as 0.1.32. A version and a label, such as 0.1.33-head, name
// the runtime of a crate with that version that is not published: it is taken to be like the newest release up to it.
// ReleasedBuild returns nil for any other name.
func ReleasedBuild(name string) *Build {
	known := ReleasedBuilds()
	for _, b := range known {
		if b.Version.String() == name {
			return b
		}
	}
	label := strings.LastIndexByte(name, '-')
	if label < 0 || label == len(name)-1 {
		return nil
	}
	v, err := ParseVersion(name[:label])
	if err != nil || v.Compare(known[0].Version) < 0 {
		return nil
	}
	return ofRelease(name, v)
}

// ofRelease returns the build of a crate's version, under a name.
func ofRelease(name string, v Version) *Build {
	var lacks []Field
	since30 := v.Compare(V(0, 1, 30)) >= 0
	if !since30 {
		lacks = []Field{fieldContinuedParent, fieldParentExecution}
	}
	name = ReleasePrefix + name
	kinds := Kinds1x().Without(eventdata.KindLegacyNote) // events with a topic are a separate feature with their own tests
	codec, err := WithoutFields(NewJSONCodec(name, kinds, WorkItemKinds1x()), lacks...)
	if err != nil {
		panic(err)
	}
	b := &Build{Release: name, Version: v, Codec: codec, Emits: kinds, DefaultRange: VersionRange{Max: v.Triple()}, OwnChildIDs: since30}
	if since30 {
		b.Limits = Limits{CarriedEvents: 100, Keys: 150, ValueBytes: 65536}
	}
	if v.Compare(V(0, 1, 32)) >= 0 {
		b.CountsWaiting, b.Changes = true, []SemanticsChange{{Since: V(0, 1, 31), Semantics: SemanticsDiscard}}
	}
	return b
}
