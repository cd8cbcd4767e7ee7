package engine

import (
	"fmt"
	"strings"
)

// Contract holds the rules that differ between releases. Rules on which they agree, and rules that
// docs/contract-decisions.md decides for both, have no field.
type Contract struct {
	// Release is the release, such as 0.1.32.
	Release string
	// Stats requires a provider to have get_instance_stats (docs/contract/provider.md#p5.16).
	Stats bool
	// AbandonsBatch forbids an abandon to touch messages outside its batch (docs/contract/provider.md#f9).
	AbandonsBatch bool
	// Limits apply to builds that set none.
	Limits Limits
	// OwnChildIDs, CountsWaiting and Discards apply to builds; see Build for the first two. Builds use SemanticsDiscard
	// to replay executions that version Discards or a later one began; nil means that no build does.
	OwnChildIDs, CountsWaiting bool
	Discards                   *Version
}

// Contracts returns the contract of each release that has one of its own, in ascending order.
func Contracts() []Contract {
	since := V(0, 1, 31)
	return []Contract{
		{Release: "0.1.26", Limits: DefaultLimits()},
		{
			Release: "0.1.32", Stats: true, AbandonsBatch: true,
			Limits:      Limits{CarriedEvents: 100, Keys: 150, ValueBytes: 65536},
			OwnChildIDs: true, CountsWaiting: true, Discards: &since,
		},
	}
}

// ContractOf returns the contract of a release. It returns an error if there is none.
func ContractOf(release string) (*Contract, error) {
	var known []string
	for _, c := range Contracts() {
		if c.Release == release {
			return &c, nil
		}
		known = append(known, c.Release)
	}
	return nil, fmt.Errorf("contract %q: want %s", release, strings.Join(known, " or "))
}

// Build returns a copy of b that follows this contract wherever b sets nothing itself: its limits, and its semantics if
// all of them are standard. It does not change a released build.
func (c *Contract) Build(b *Build) *Build {
	if b.Release != "" {
		return b
	}
	made := *b
	made.Limits = b.Limits.or(c.Limits)
	made.OwnChildIDs, made.CountsWaiting = c.OwnChildIDs, c.CountsWaiting
	if c.Discards != nil && b.Semantics == SemanticsStandard && len(b.Changes) == 0 {
		made.Changes = []SemanticsChange{{Since: *c.Discards, Semantics: SemanticsDiscard}}
	}
	return &made
}
