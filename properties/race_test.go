//go:build race

package properties_test

// shrinkEvery and tryEvery are of how many cases of the long tables one is tried: with the race detector on, which runs
// without goroutines do not need, a few.
const (
	shrinkEvery = 12
	tryEvery    = 6
)
