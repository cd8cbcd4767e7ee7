package engine

// The limits of docs/contract/runtime.md#r4.1. Sizes are bytes of UTF-8; what is as large as a limit is allowed.
const (
	// MaxCarryForwardEvents is how many unread queue messages cross a continue-as-new: the oldest.
	MaxCarryForwardEvents = 20
	// MaxCustomStatusBytes bounds a custom status.
	MaxCustomStatusBytes = 262144
	// MaxKVKeys and MaxKVValueBytes bound an instance's key-value state.
	MaxKVKeys       = 100
	MaxKVValueBytes = 16384
)
