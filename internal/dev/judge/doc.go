// Command judge runs all of durosim's judges in its own process, which may be a mutant. The judges are the conformance
// cases, the provider's specification applied to random calls, runs over stores with bugs, handlers that are not
// deterministic or that misuse their Context or block, and a few seeds of each built-in scenario, with and without full
// faults, and of some over a store that is not durosim's own. Its tests have tables of what no run shows: texts that no
// codec writes, the words in which a replay disagrees, what turns and nodes do for other callers, and random calls on a
// store, whose rows must be what its observations say. To run one judge:
//
//	go -C internal/dev run ./judge -only oracle
//
// It prints one line for each judge: the judge's name, the digest of the behavior, the number of seeds, the seconds
// taken, the objection, if any, and the mutants reached. Goroutines that a campaign leaves behind are an objection,
// too. Unless -all is given, it stops at the first objection.
//
// The monitors are compiled from the same sources, so a checker that uses a mutated package judges itself.
package main
