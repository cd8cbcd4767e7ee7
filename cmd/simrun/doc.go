// Command simrun simulates clusters of mixed versions and reports which properties held.
//
//	go run ./cmd/simrun                              1,000 seeds of the built-in rolling upgrade
//	go run ./cmd/simrun run --seeds 50 my.txt        50 seeds of your own scenario
//	go run ./cmd/simrun run --bug ID                 a planted bug, in the scenario that shows it
//	go run ./cmd/simrun replay --seed 7              one seed as a story
//	go run ./cmd/simrun why --seed 7 --at 20s order-3     what an instance waits for at that time
//	go run ./cmd/simrun list bugs                    the planted bugs
//
// Every failure report ends with a command line that reproduces the failure. With --json, a command prints a single
// object on standard output and nothing else. Progress appears on standard error, and only on a terminal.
//
// Exit status: 0 everything held; 1 a safety property was violated; 2 usage error or bad input; 3 a liveness property
// was violated; 4 two runs of one seed differ; 5 the campaign did not reach what its scenario requires; 6 a handler is
// not deterministic (checked with --double-check), or does not return; 7 the contract held, but work did not end as the
// plan expects; 70 internal error in durosim; 130 interrupted, regardless of what had been found. If several apply, the
// exit status is the first of 70, 4, 6, 1, 3, 7, 5.
package main
