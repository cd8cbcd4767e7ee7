package feature

import "strings"

// Info describes a feature.
type Info struct {
	Name    string
	Summary string
}

// Number identifies a feature by its index in All.
type Number uint8

// The features.
const (
	Activities Number = iota
	Retries
	Sessions
	Tags
	SystemCalls
	Timers
	Events
	Queues
	Keys
	Status
	Children
	NamedChildren
	Detached
	Versions
	Cancels
	ContinueAsNew
	Races
	Count
)

// All lists the features, indexed by number.
var All = [Count]Info{
	Activities:    {"activities", "an activity is scheduled"},
	Retries:       {"retries", "an activity that failed is scheduled again, with the same input"},
	Sessions:      {"sessions", "an activity runs on a session"},
	Tags:          {"tags", "an activity has a tag"},
	SystemCalls:   {"system-calls", "the code asks for the time, an id, or a key of another instance"},
	Timers:        {"timers", "a timer is set"},
	Events:        {"events", "the code waits for an event, or one has come"},
	Queues:        {"queues", "the code takes from a queue, or a queue message has come"},
	Keys:          {"keys", "a key was set or cleared, in this execution or an earlier one"},
	Status:        {"status", "the custom status was set, in this execution or an earlier one"},
	Children:      {"children", "a child is started under an automatic id"},
	NamedChildren: {"named-children", "a child is started under an id that the code chose"},
	Detached:      {"detached", "a detached orchestration is started"},
	Versions:      {"versions", "a start asks for a version of its handler"},
	Cancels:       {"cancels", "an orchestration is asked to end, by a client or by its parent"},
	ContinueAsNew: {"continue-as-new", "an execution continues as new, or is not the first"},
	Races:         {"races", "the loser of a race is abandoned: an activity, a wait, a child"},
}

// between separates the names of the fault and the feature in a cell's name.
const between = " meets "

// Met returns the name of the coverage point that is reached when fault hits feature.
func Met(fault, feature string) string { return "fault " + fault + between + feature }

// IsMet reports whether coverage point point is a cell of the matrix.
func IsMet(point string) bool { return strings.Contains(point, between) }
