package engine

import (
	"slices"
	"strings"
)

// CapabilityFilter declares which versions a node can replay (docs/contract/provider.md#p6.4). A nil filter means no
// filtering. A filter without ranges admits nothing, not even unpinned work. The type holds several ranges, but only
// the first one counts.
type CapabilityFilter struct {
	SupportedVersions []VersionRange `json:"supported_duroxide_versions"`
}

// FilterFor returns a filter with a single range.
func FilterFor(r VersionRange) *CapabilityFilter {
	return &CapabilityFilter{SupportedVersions: []VersionRange{r}}
}

// Admits reports whether a node that declares f may be given an execution with this pin; a nil pin means that the
// execution is unpinned. This is the first of the three relations in docs/architecture.md#relations, and the only
// definition that stores and nodes use. A nil filter admits everything and an empty filter admits nothing. Any other
// filter admits all unpinned work, and every pin within its first range. Versions compare as numeric triples, and both
// ends are inclusive.
func (f *CapabilityFilter) Admits(pin *Version) bool {
	if f == nil {
		return true
	}
	if len(f.SupportedVersions) == 0 {
		return false
	}
	return pin == nil || f.SupportedVersions[0].contains(pin)
}

// String returns the ranges joined by " | ", or "any" for a nil filter, or "none" for an empty one.
func (f *CapabilityFilter) String() string {
	if f == nil {
		return "any"
	}
	if len(f.SupportedVersions) == 0 {
		return "none"
	}
	parts := make([]string, len(f.SupportedVersions))
	for i, r := range f.SupportedVersions {
		parts[i] = r.String()
	}
	return strings.Join(parts, " | ")
}

// MaxWorkerTags limits the tags in a filter, and MaxTagNameBytes the length of a tag (docs/contract/runtime.md#r0).
const (
	MaxWorkerTags   = 5
	MaxTagNameBytes = 256
)

// TagFilter selects by tag which activities a worker takes (docs/contract/provider.md#p6.7). The zero value is
// DefaultOnly.
type TagFilter struct {
	Mode TagMode
	// Tags is used by TagTags and TagDefaultAnd. It has 1 to MaxWorkerTags tags, sorted.
	Tags []string
}

// TagMode determines how a TagFilter uses its tags.
type TagMode uint8

// The modes of a tag filter.
const (
	TagDefaultOnly TagMode = iota // untagged activities
	TagTags                       // activities whose tag is in Tags
	TagDefaultAnd                 // both
	TagAny                        // every activity
	TagNone                       // none
)

// Matches reports whether the filter accepts an activity with the given tag; "" means untagged. Tags are compared byte
// by byte.
func (f TagFilter) Matches(tag string) bool {
	in := slices.Contains(f.Tags, tag)
	switch f.Mode {
	case TagDefaultOnly:
		return tag == ""
	case TagTags:
		return tag != "" && in
	case TagDefaultAnd:
		return tag == "" || in
	case TagAny:
		return true
	}
	return false
}
