//go:build race

package properties_test

// shrinkEvery is of how many bugs one is shrunk by TestShrinkEveryBug: with the race detector on, which a shrinker without
// goroutines does not need, a few.
const shrinkEvery = 12
