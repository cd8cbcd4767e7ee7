package model

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
)

// RangeOf returns the range of pins that a node replays: that of its options, whatever it is, or else that of its build.
func RangeOf(o *node.Options, b *engine.Build) engine.VersionRange {
	if o.SupportedReplayVersions == nil {
		return b.DefaultRange
	}
	return *o.SupportedReplayVersions
}

// Admits reports whether a filter admits an execution with a given pin; see docs/contract/provider.md#p4. It states the
// rule independently of engine.CapabilityFilter, which the store and the nodes use. A nil filter admits everything, and
// an empty one admits nothing. Any other filter admits unpinned executions and the pins within its first range.
// Pre-release parts are ignored.
func Admits(f *engine.CapabilityFilter, pin *engine.Version) bool {
	switch {
	case f == nil:
		return true
	case len(f.SupportedVersions) == 0:
		return false
	case pin == nil:
		return true
	}
	return Within(&f.SupportedVersions[0], pin)
}

// Within reports whether a range has the pin.
func Within(r *engine.VersionRange, pin *engine.Version) bool {
	return !before(pin, &r.Min) && !before(&r.Max, pin)
}

func before(a, b *engine.Version) bool {
	switch {
	case a.Major != b.Major:
		return a.Major < b.Major
	case a.Minor != b.Minor:
		return a.Minor < b.Minor
	}
	return a.Patch < b.Patch
}
