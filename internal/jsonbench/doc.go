// Package jsonbench compares the hand-written codec of package engine with JSON libraries. It is a module of its own, so
// that nothing else depends on them:
//
//	cd internal/jsonbench && go test -bench . -benchmem
//
// The tests list the input that each library accepts and the contract's reader rejects; engine/jsoncodec.go draws the
// conclusions.
package jsonbench
