package engine

import "cmp"

// Limits are the limits of docs/contract/runtime.md#r4.1 that releases have changed. A zero field means the contract's.
type Limits struct {
	// CarriedEvents bounds the unread queue messages that cross a continue-as-new.
	CarriedEvents int
	// Keys and ValueBytes bound an instance's key-value state.
	Keys, ValueBytes int
}

// DefaultLimits are those of the contract.
func DefaultLimits() Limits {
	return Limits{CarriedEvents: MaxCarryForwardEvents, Keys: MaxKVKeys, ValueBytes: MaxKVValueBytes}
}

func (l Limits) filled() Limits { return l.or(DefaultLimits()) }

// or returns l with each zero field replaced by that of d.
func (l Limits) or(d Limits) Limits {
	return Limits{cmp.Or(l.CarriedEvents, d.CarriedEvents), cmp.Or(l.Keys, d.Keys), cmp.Or(l.ValueBytes, d.ValueBytes)}
}

// The limits of docs/contract/runtime.md#r4.1. Sizes are bytes of UTF-8; the limits themselves are allowed.
const (
	// MaxCarryForwardEvents bounds the number of unread queue messages that cross a continue-as-new; the oldest ones
	// cross.
	MaxCarryForwardEvents = 20
	// MaxCustomStatusBytes bounds a custom status.
	MaxCustomStatusBytes = 262144
	// MaxKVKeys and MaxKVValueBytes bound an instance's key-value state.
	MaxKVKeys       = 100
	MaxKVValueBytes = 16384
)
