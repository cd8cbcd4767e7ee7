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
	// Stats asks a provider for get_instance_stats (docs/contract/provider.md#p5.16).
	Stats bool
	// AbandonsBatch forbids that an abandon touches messages outside its batch (docs/contract/provider.md#f9).
	AbandonsBatch bool
	// Limits are those of builds that name none.
	Limits Limits
	// OwnChildIDs, CountsWaiting and Discards are about builds; Build describes the first two. Discards has the builds
	// replay by SemanticsDiscard what a build of that version or a newer one began; nil stands for none.
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

// Build returns a build like b that keeps this contract where b says nothing itself: its limits, and its semantics if they
// are standard throughout. A released build stays as it is.
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
