package engine

import "strings"

// CapabilityFilter declares the versions that a node can replay (docs/contract/provider.md#p6.4). A nil filter is no
// filter; a filter without ranges admits nothing, not even unpinned work. Only the first range counts, although the
// type holds several.
type CapabilityFilter struct {
	SupportedVersions []VersionRange `json:"supported_duroxide_versions"`
}

// FilterFor returns the filter of one range.
func FilterFor(r VersionRange) *CapabilityFilter {
	return &CapabilityFilter{SupportedVersions: []VersionRange{r}}
}

// Admits reports whether an execution with the given pin may be handed to a node that declares f; a nil pin means that
// the execution is unpinned. It is the first of the three relations of docs/architecture.md#relations, and the only
// definition that stores and nodes use: no filter admits everything, the empty filter nothing, any other filter all
// unpinned work and the pins within its first range, compared as numeric triples, both ends inclusive.
func (f *CapabilityFilter) Admits(pin *Version) bool {
	if f == nil {
		return true
	}
	if len(f.SupportedVersions) == 0 {
		return false
	}
	return pin == nil || f.SupportedVersions[0].contains(pin)
}

// String returns the ranges joined by " | ", "any" for no filter and "none" for the empty one.
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

// MaxWorkerTags and MaxTagNameBytes bound a tag filter and a tag (docs/contract/runtime.md#r0).
const (
	MaxWorkerTags   = 5
	MaxTagNameBytes = 256
)

// TagFilter selects the activities that a worker takes, by their tag (docs/contract/provider.md#p6.7). The zero value is
// DefaultOnly.
type TagFilter struct {
	Mode TagMode
	// Tags is the set for the modes TagTags and TagDefaultAnd: 1 to MaxWorkerTags tags, sorted.
	Tags []string
}

// TagMode is the shape of a TagFilter.
type TagMode uint8

// The modes of a tag filter.
const (
	TagDefaultOnly TagMode = iota // untagged activities
	TagTags                       // activities whose tag is in the set
	TagDefaultAnd                 // both
	TagAny                        // every activity
	TagNone                       // none
)

// Matches reports whether the filter takes an activity with the given tag, "" for untagged. Tags compare byte by byte.
func (f TagFilter) Matches(tag string) bool {
	in := false
	for _, t := range f.Tags {
		in = in || t == tag
	}
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
