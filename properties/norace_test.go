//go:build !race

package properties_test

// shrinkEvery is of how many bugs one is shrunk by TestShrinkEveryBug, tryEvery of how many cases of the other long tables
// one is tried.
const (
	shrinkEvery = 1
	tryEvery    = 1
)
