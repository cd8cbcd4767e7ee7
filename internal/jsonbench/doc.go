// Package jsonbench compares the hand-written codec of package engine with JSON libraries. It is a module of its own, so
// that nothing else depends on them:
//
//	cd internal/jsonbench && go test -bench . -benchmem
//
// The tests say what each library lets through that the contract's reader refuses; engine/jsoncodec.go says what follows
// from both.
package jsonbench
