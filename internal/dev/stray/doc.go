// Package stray runs stored histories that get messages which do not belong to them, or that have an unusual start:
// completions of what was never scheduled, or of another kind; duplicates; starts of what has begun. With others the code
// disagrees, or no codec can read them. They are for mutants of the engine that nothing else tells from it. No store of a
// user has them, so they are no scenario of simrun.
//
//	plan, err := stray.Expand(seed, scenario.Overrides{})
//	stray.Run().Configure(&cfg, stray.Options())
package stray
