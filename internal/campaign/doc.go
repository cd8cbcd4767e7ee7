// Package campaign runs many simulations, on every core, and summarizes them.
//
//	sum, err := campaign.Run(campaign.Options{Plan: expand, First: 1, Count: 1000, KeepGoing: true})
//
// A run is single-threaded and shares nothing, so a campaign runs seeds in parallel. Its result does not depend on the
// number or the speed of workers: results are merged in the order of the seeds, and when a campaign stops early it
// stops at the first failing seed in that order; results of later seeds are discarded.
//
// Memory is bounded: no worker runs ahead of the merge by more than a fixed number of seeds, and for each run only
// sums, a 32-byte digest and a limited number of violations are kept.
//
// A defect of durosim does not end a campaign: a panic inside a run becomes an entry in Summary.Internal, with the seed
// and the stack.
//
// Apart from real-time adapters, only this package and the command line start goroutines.
package campaign
