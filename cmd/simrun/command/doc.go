// Package command is simrun as a library: a program of one's own gives it builds and handlers, and has its verbs on them.
//
//	func main() { command.Main(command.Program{Handlers: register, Scenario: "plans/upgrade.txt"}) }
//
// That program then has run, replay, why, shrink and list as simrun has them:
//
//	go run ./cmd/simorders run --seeds 500 plans/upgrade.txt
//	go run ./cmd/simorders replay --seed 7 plans/upgrade.txt
//
// Every failure that it reports ends with a line to paste that shows it again with the same program. A stored run names
// the orchestrations and activities that it needs; a program without them refuses it. Program.Run is Main for tests: it
// takes the arguments and returns the exit status.
//
// Exit statuses, JSON fields and what is read and written are those of simrun: see the comment of cmd/simrun.
package command
