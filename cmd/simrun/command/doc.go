// Package command is simrun as a library: your own program gives it builds and handlers, and gets its verbs for them.
//
//	func main() { command.Main(command.Program{Handlers: register, Scenario: "plans/upgrade.txt"}) }
//
// That program then has run, replay, why, shrink and list, as simrun does:
//
//	go run ./cmd/simorders run --seeds 500 plans/upgrade.txt
//	go run ./cmd/simorders replay --seed 7 plans/upgrade.txt
//
// Every report of a failure ends with a command line that reproduces it with the same program. A stored run names the
// orchestrations and activities that it needs; a program that lacks any of them rejects it. Program.Run is Main for
// tests: it takes the arguments and returns the exit status.
//
// Exit statuses, JSON fields, input and output are those of simrun: see the comment of cmd/simrun.
package command
