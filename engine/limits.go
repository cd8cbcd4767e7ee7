package engine

import (
	"cmp"
	"fmt"
)

// Limits holds the limits in docs/contract/runtime.md#r4.1 that have changed between releases. A zero field means the
// contract's limit.
type Limits struct {
	// CarriedEvents limits how many unread queue messages are carried over a continue-as-new.
	CarriedEvents int
	// Keys and ValueBytes limit an instance's key-value state.
	Keys, ValueBytes int
}

// DefaultLimits returns the contract's limits.
func DefaultLimits() Limits {
	return Limits{CarriedEvents: MaxCarryForwardEvents, Keys: MaxKVKeys, ValueBytes: MaxKVValueBytes}
}

// or returns l with each zero field replaced by the field of d.
func (l Limits) or(d Limits) Limits {
	return Limits{cmp.Or(l.CarriedEvents, d.CarriedEvents), cmp.Or(l.Keys, d.Keys), cmp.Or(l.ValueBytes, d.ValueBytes)}
}

// The limits in docs/contract/runtime.md#r4.1. Sizes are in bytes of UTF-8, and all limits are inclusive.
const (
	// MaxCarryForwardEvents limits how many unread queue messages are carried over a continue-as-new. The oldest ones
	// are kept.
	MaxCarryForwardEvents = 20
	// MaxCustomStatusBytes limits the size of a custom status.
	MaxCustomStatusBytes = 262144
	// MaxKVKeys and MaxKVValueBytes limit an instance's key-value state.
	MaxKVKeys       = 100
	MaxKVValueBytes = 16384
)

// LimitsUnlike describes the limits that are not the same in another build, such as "100 keys on 1.5.0, 150 on 1.6.0".
func (b *Build) LimitsUnlike(other *Build) (all []string) {
	mine, theirs := b.Bounds(), other.Bounds()
	for _, l := range []struct {
		what        string
		mine, other int
	}{{"carried messages", mine.CarriedEvents, theirs.CarriedEvents}, {"keys", mine.Keys, theirs.Keys}, {"bytes of a value", mine.ValueBytes, theirs.ValueBytes}} {
		if l.mine != l.other {
			all = append(all, fmt.Sprintf("%d %s on %s, %d on %s", l.mine, l.what, b.Name(), l.other, other.Name()))
		}
	}
	return all
}
