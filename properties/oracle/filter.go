package oracle

import (
	"fmt"

	"github.com/Masterminds/semver/v3"

	"github.com/durosim/durosim/engine"
)

// admits applies the filter to the current execution's pin (docs/contract/provider.md#p6.4).
func (j *judge) admits(f *engine.CapabilityFilter, in *instance) truth {
	switch {
	case f == nil:
		return known(true)
	case len(f.SupportedVersions) == 0:
		return known(false)
	}
	pin := in.pin()
	if pin == nil {
		return known(true)
	}
	first := f.SupportedVersions[0]
	triple := func(v engine.Version) [3]uint64 { return [3]uint64{uint64(v.Major), uint64(v.Minor), uint64(v.Patch)} }
	atMost := func(a, b [3]uint64) bool {
		for i := range a {
			if a[i] != b[i] {
				return a[i] < b[i]
			}
		}
		return true
	}
	pack := func(v engine.Version) uint64 {
		t := triple(v)
		return t[0]*1_000_000 + t[1]*1000 + t[2]
	}
	admitted := known(atMost(triple(first.Min), triple(*pin)) && atMost(triple(*pin), triple(first.Max)))
	or := func(admits bool) { admitted = truth{admitted.may || admits, admitted.must && admits} }
	if j.grants(f23Packed) {
		or(pack(first.Min) <= pack(*pin) && pack(*pin) <= pack(first.Max))
	}
	if j.grants(xPreRelease) && first.Min.Pre+pin.Pre+first.Max.Pre != "" {
		full := func(v engine.Version) *semver.Version {
			return semver.New(uint64(v.Major), uint64(v.Minor), uint64(v.Patch), v.Pre, "")
		}
		or(full(first.Min).Compare(full(*pin)) <= 0 && full(*pin).Compare(full(first.Max)) <= 0)
	}
	return admitted
}

// excludedBy says why a filter does not admit the instance.
func (c *candidate) excludedBy(f *engine.CapabilityFilter) string {
	if len(f.SupportedVersions) == 0 {
		return "a filter without ranges admits nothing, not even unpinned work"
	}
	counts := "its range is"
	if len(f.SupportedVersions) > 1 {
		counts = "of several ranges only the first counts (docs/contract/provider.md#d3), here"
	}
	return fmt.Sprintf("the filter does not admit the pin of its current execution, %s: %s %s", c.in.pin(), counts, f.SupportedVersions[0])
}
