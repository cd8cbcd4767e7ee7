package engine

import (
	"fmt"
	"strings"
)

// Contract holds the rules that differ between releases. It has no fields for rules on which releases agree, or for
// rules that docs/contract-decisions.md settles for all of them.
type Contract struct {
	// Release is the version of the release, such as 0.1.32.
	Release string
	// Stats requires providers to implement get_instance_stats (docs/contract/provider.md#p5.16).
	Stats bool
	// AbandonsBatch forbids an abandon call to touch messages outside the batch (docs/contract/provider.md#f9).
	AbandonsBatch bool
	// Limits are the defaults for builds that set none.
	Limits Limits
	// OwnChildIDs and CountsWaiting are build settings; see Build. Discards is the first version whose executions are
	// replayed with SemanticsDiscard; nil means none.
	OwnChildIDs, CountsWaiting bool
	Discards                   *Version
}

// Contracts returns the contracts of all releases that have their own, in ascending order.
func Contracts() []Contract {
	var out []Contract
	for _, b := range ReleasedBuilds() {
		c := Contract{Release: b.Version.String(), Limits: b.Bounds(), OwnChildIDs: b.OwnChildIDs, CountsWaiting: b.CountsWaiting}
		switch c.Release {
		case "0.1.30":
			continue
		case "0.1.32":
			c.Stats, c.AbandonsBatch, c.Discards = true, true, &b.Changes[0].Since
		}
		out = append(out, c)
	}
	return out
}

// ContractOf returns the contract of the given release, or an error if the release has none.
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

// Build returns a copy of b with this contract's settings wherever b has none of its own: its limits, and its semantics
// if all of them are standard. Released builds are returned unchanged.
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
