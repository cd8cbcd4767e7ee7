//go:build !race

package properties_test

// shrinkEvery is of how many bugs one is shrunk by TestShrinkEveryBug.
const shrinkEvery = 1
