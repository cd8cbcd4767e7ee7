// Package campaign carries out many runs of a simulation, on every core, and adds them up.
//
//	sum, err := campaign.Run(campaign.Options{Plan: expand, First: 1, Count: 1000, KeepGoing: true})
//
// A run is single-threaded and shares nothing, so a campaign is parallel by seed. Its result does not depend on how many
// workers there are nor on which of them is fastest: results are merged in the order of the seeds, and when a campaign
// stops early it stops at the first failing seed in that order; results of later seeds are discarded.
//
// Memory is bounded: no worker runs ahead of the merge by more than a fixed number of seeds, and of each run only sums,
// a digest of 32 bytes and its violations are kept, these up to a limit.
//
// A defect of durosim does not end a campaign: a panic inside a run becomes an entry in Summary.Internal, with the seed
// and the stack.
//
// Apart from real-time adapters, only this package and the command line start goroutines.
package campaign
