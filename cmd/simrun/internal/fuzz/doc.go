// Package fuzz searches for failing runs near a scenario. It edits plans, alternates choosers, and returns to rarely
// reached moments to try other continuations.
//
//	report, err := fuzz.Run(fuzz.Options{Plain: expand, Config: config, Shrink: shrink, Space: workload.EditSpace(), Seed: 1, Runs: 10_000})
//
// A hunt maintains a population of inputs. An input is a plan, a seed and a chooser, which together determine a single
// run. A run reports its coverage: which points it reached, how often, and in which combinations. If a run shows new
// coverage, its input joins the population. Inputs with rare coverage are chosen as parents more often.
//
// The hunt shrinks each failure. Two failures count as the same find if they violate the same rule and the kinds of
// parts of one smallest plan include those of the other.
//
// If the budget is a number of runs, the result depends only on the options and the seed, not on the number of workers.
//
// Exhaust tries every order of a small scenario's steps instead.
package fuzz
