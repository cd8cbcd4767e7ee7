// Package scenario reads and writes the text format of scenarios and of corpus entries: they describe a simulation so
// that it reads like a story.
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
// A statement is a line; its first word is its kind. Words are separated by spaces. A value that contains spaces, is
// empty, or begins with # is written in quotes, as a Go string; so is a value that would be read as a keyword. # at the
// start of a word begins a comment. The first comment line is the title. Indentation means nothing: option and handlers
// belong to the node above them, raise and cancel to the instance or mix above them, mix to the load above it. Only
// comments and empty lines may stand between them.
//
// Statements may come in any order. [Statements] lists them all, [Steps] the steps of a schedule; the switch that parses
// them describes each in more detail.
//
// # Times
//
// A time is a Go duration since the start of the run, "10s". "10s..15s" is a time that is drawn from the seed, in whole
// milliseconds, both ends included. The times of steps with "then" or "after" count from the step before them, and
// those of actions with "after" from the start of their instance, whatever times were drawn for these.
//
// # Scenarios and plans
//
// [Parse] returns a [Scenario]; [Scenario.Expand] draws what it leaves open and returns a concrete plan. Every draw is keyed
// by the name of its subject, so adding or removing an instance, a node or a step does not change the others' draws.
// [Format] writes a plan as the text that Parse reads back, [Scenario.Format] a scenario. Both write a canonical form:
// it keeps the order and drops all comments but the title, and a relative time becomes absolute where nothing is left
// to draw. [Builtin] lists the module's scenarios.
//
// # Expectations
//
// Expectations refer to events (see internal/facts) and their attributes.
//
//	expect never fetch in "step 1" where pin=2.0.0 node=B|C
//	expect always turn where first=yes build=2.0.0 has pin=2.0.0
//	expect sometimes wait where pin=9.9.9
//
// "never": no such event happens. "always": each event that "where" selects has the attributes after "has".
// "sometimes": some seed of a campaign of at least "seeds" runs shows one. "in" limits the expectation to a part of the
// story, from its mark to the next. A value may list several alternatives, separated by "|", and may end in ".x" for
// all versions with that prefix. "in PART:" may also stand before the event, and "where" may be omitted.
//
// # Corpus entries
//
// An [Entry] is a stored run. Its text is a header, which begins with "durosim corpus 1", then a concrete plan in the
// language of scenarios, then the recorded choices. An entry with another format version is refused.
//
// # Guarantees and limits
//
// Parse never panics, whatever its input; it reports the first error with file, line and what was expected. It checks
// what it can from the text alone: words, ranges, duplicate names, and references to nodes, parts of the story, builds,
// options and kinds of faults that do not exist. plan.Plan.Validate checks whether a node has a handler and whether a
// step makes sense. Times go up to 1000 hours. A plan that breaks these rules can be formatted, but Parse refuses its
// text.
package scenario
