// Package scenario parses and formats the text of scenarios and of corpus entries. A scenario describes a simulation in
// a form that reads like a story.
//
//	# A node is upgraded while an order waits for its approval.
//	nodes A B run 1.5.0
//
//	instance order-1 runs ProcessOrder at 1s..3s
//	  raise approval data yes after 5s
//
//	at 4s..6s mark "A is newer"
//	then upgrade A to 2.0.0
//
//	expect never turn in "A is newer" where pin=2.0.0 node=B
//
// # Lines and words
//
// Each line is a statement, and its first word is its kind. Words are separated by spaces. A value that contains
// spaces, is empty, or begins with # is written in quotes, as a Go string; so is a value that could be mistaken for a
// keyword. A # at the start of a word begins a comment. The first comment line is the title. Indentation has no
// meaning: option and handlers belong to the node above them, raise and cancel to the instance or mix above them, and
// mix to the load above it. Only comments and empty lines may come between them.
//
// Statements may come in any order. [Statements] lists them all, and [Steps] lists the steps of a schedule. Each is a
// row of one table (statements.go): its meaning, an example, and a pattern, which is bound to fields of the plan. The
// pattern reads a line, writes it, and is its form in documentation and in errors.
//
// # Times
//
// A time is a Go duration since the start of the run, such as "10s". "10s..15s" is a time drawn from the seed, in whole
// milliseconds, with both ends included. Steps with "then" or "after" are relative to the previous step, and actions
// with "after" are relative to the start of their instance, at whatever times these happen.
//
// # Scenarios and plans
//
// [Parse] returns a [Scenario]. [Scenario.Expand] draws what the scenario leaves open and returns a concrete plan.
// Every draw is keyed by the name of its subject, so adding or removing an instance, a node or a step does not change
// other draws. [Format] writes a plan as text that Parse can parse, and [Scenario.Format] does the same for a scenario.
// Both write a canonical form, which keeps the order, drops all comments except the title, and turns relative times
// into absolute ones where nothing is left to draw. [Builtin] lists the module's scenarios.
//
// # Expectations
//
// Expectations refer to events (see sim/plan) and their attributes.
//
//	expect never fetch in "step 1" where pin=2.0.0 node=B|C
//	expect always turn where first=yes build=2.0.0 has pin=2.0.0
//	expect sometimes wait where pin=9.9.9
//
// "never" means that no such event happens. "always" means that each event selected by "where" has the attributes after
// "has". "sometimes" means that the event happens in at least one seed of a campaign of at least "seeds" runs. "in"
// limits the expectation to a part of the story, from its mark to the next. A value may list alternatives separated by
// "|", and may end in ".x" to mean all versions with that prefix. "in PART:" may also come before the event, and
// "where" may be omitted.
//
// # Corpus entries
//
// An [Entry] is a stored run. Its text consists of a header, which begins with "durosim corpus 1", a concrete plan in
// the language of scenarios, and the recorded choices. An entry with another format version is rejected.
//
// # Guarantees and limits
//
// Parse never panics, whatever its input. It reports the first error with the file, the line and what was expected. It
// checks everything that can be checked from the text alone: words, ranges, duplicate names, and references to nodes,
// parts of the story, builds, options and kinds of faults that do not exist. plan.Plan.Validate checks whether a node
// has a handler and whether a step makes sense. Times are at most 1000 hours. A plan that breaks these rules can be
// formatted, but Parse rejects its text.
package scenario
