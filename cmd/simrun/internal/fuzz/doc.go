// Package fuzz hunts for failing runs of a scenario: it edits plans, takes choosers in turn, and goes back to moments that
// few runs reach, to try other futures of them.
//
//	report, err := fuzz.Run(fuzz.Options{Plain: expand, Config: config, Shrink: shrink, Space: planedit.Shipped(), Seed: 1, Runs: 10_000})
//
// What it has is a population of inputs. An input is a plan, a seed and a chooser, and gives one run. A run tells its
// coverage: the points that it reached, how often, and which it reached together. An input whose run shows something that
// no run before it did joins the population, and those that show what few others do are parents more often.
//
// A failure is made small. Two are the same find if they violate the same rule and their smallest plans consist of the
// same kinds of parts.
//
// With a number of runs for a budget, everything is a function of options and seed, whatever the number of workers.
package fuzz
