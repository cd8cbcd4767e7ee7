// Package jsonbench compares package engine's hand-written codec with JSON libraries. It is a separate module, so that
// nothing else depends on these libraries:
//
//	go -C internal/dev test ./jsonbench -bench . -benchmem
//
// The tests list input that each library accepts but the contract's reader rejects. See engine/jsoncodec.go for the
// conclusions.
package jsonbench
