// Package fuzz hunts for failing runs of a scenario: it edits plans, alternates choosers, and goes back to moments that
// few runs reach to try other continuations.
//
//	report, err := fuzz.Run(fuzz.Options{Plain: expand, Config: config, Shrink: shrink, Space: planedit.Shipped(), Seed: 1, Runs: 10_000})
//
// A hunt keeps a population of inputs. An input is a plan, a seed and a chooser, and determines one run. A run reports
// its coverage: the points that it reached, how often, and which of them together. An input joins the population if its
// run shows coverage that no earlier run showed. Inputs with rare coverage are parents more often.
//
// The hunt shrinks each failure. Two failures are the same find if they violate the same rule and their smallest plans
// consist of the same kinds of parts.
//
// If the budget is a number of runs, the result depends only on the options and the seed, not on the number of workers.
package fuzz
