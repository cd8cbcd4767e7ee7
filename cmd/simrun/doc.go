// Command simrun runs simulated clusters of mixed versions and reports which properties held.
//
//	go run ./cmd/simrun                              1,000 seeds of the built-in rolling upgrade
//	go run ./cmd/simrun run --seeds 50 my.txt        50 seeds of your own scenario
//	go run ./cmd/simrun run --bug ID                 a planted bug, in the scenario that shows it
//	go run ./cmd/simrun replay --seed 7              one seed as a story
//	go run ./cmd/simrun why --seed 7 --at 20s order-3     what an instance waits for at that time
//	go run ./cmd/simrun list bugs                    the planted bugs
//
// The report of a failure ends with a command line that reproduces it. With --json a verb prints one object on standard
// output and nothing else. Progress is shown on standard error, and only on a terminal.
//
// Exit status: 0 all holds; 1 a safety property is violated; 2 usage or bad input; 3 a liveness property is violated;
// 4 two runs of one seed differ; 5 a campaign did not reach what its scenario requires;
// 6 a handler is not deterministic (asked for with --double-check);
// 7 the contract holds, but work did not end as the plan expects;
// 70 an internal error of durosim; 130 interrupted, whatever was found before.
// Where several apply, the first of 70, 4, 6, 1, 3, 7, 5 counts.
package main
