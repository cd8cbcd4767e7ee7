package engine

// The limits of docs/contract/runtime.md#r4.1. Sizes are bytes of UTF-8; the limits themselves are allowed.
const (
	// MaxCarryForwardEvents bounds the number of unread queue messages that cross a continue-as-new; the oldest do.
	MaxCarryForwardEvents = 20
	// MaxCustomStatusBytes bounds a custom status.
	MaxCustomStatusBytes = 262144
	// MaxKVKeys and MaxKVValueBytes bound an instance's key-value state.
	MaxKVKeys       = 100
	MaxKVValueBytes = 16384
)
