// Package command is simrun as a library. Your own program passes it builds and handlers, and gets simrun's verbs for
// them.
//
//	func main() { command.Main(command.Program{Handlers: register, Scenario: "plans/upgrade.txt"}) }
//
// That program then has all verbs of simrun:
//
//	go run ./cmd/simorders run --seeds 500 plans/upgrade.txt
//	go run ./cmd/simorders replay --seed 7 plans/upgrade.txt
//
// Every failure report ends with a command line that reproduces the failure with the same program. A stored run names
// the orchestrations and activities that it needs; a program that lacks any of them rejects it. Program.Run is like
// Main but for use in tests: it takes the arguments and returns the exit status.
//
// Exit statuses, JSON fields, input and output are the same as for simrun. They are documented in cmd/simrun.
package command
