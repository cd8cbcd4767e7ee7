// Package campaign runs many simulations in parallel and summarizes them.
//
//	sum, err := campaign.Run(campaign.Options{Plan: expand, First: 1, Count: 1000, KeepGoing: true})
//
// Each run is single-threaded and shares nothing with other runs, so a campaign can run seeds in parallel. Its result
// does not depend on the number or speed of the workers. Results are merged in seed order. A campaign that stops early
// stops at the first failing seed in that order, and discards the results of later seeds.
//
// Memory is bounded. A worker can be only a fixed number of seeds ahead of the merge. Of each run, only counts, a
// 32-byte digest and a limited number of violations are kept.
//
// A defect in durosim, or in the caller's functions, does not end a campaign. A panic inside a run becomes an entry in
// Summary.Internal, with the seed and the stack.
//
// Apart from the adapters that work in real time, only this package and the command line start goroutines.
package campaign
