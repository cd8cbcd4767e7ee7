package model

import (
	"cmp"

	"github.com/durosim/durosim/engine"
)

// Admits reports whether a filter lets an execution of a pin through: docs/contract/provider.md#p4. It states the rule
// apart from engine.CapabilityFilter, which store and nodes follow: without a filter everything, with an empty one nothing,
// otherwise what is unpinned and what lies within the first range. Pre-release parts do not count.
func Admits(f *engine.CapabilityFilter, pin *engine.Version) bool {
	switch {
	case f == nil:
		return true
	case len(f.SupportedVersions) == 0:
		return false
	case pin == nil:
		return true
	}
	first := &f.SupportedVersions[0]
	return !before(pin, &first.Min) && !before(&first.Max, pin)
}

func before(a, b *engine.Version) bool {
	return cmp.Or(cmp.Compare(a.Major, b.Major), cmp.Compare(a.Minor, b.Minor), cmp.Compare(a.Patch, b.Patch)) < 0
}
