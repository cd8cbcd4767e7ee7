package coverage

import "strings"

// feature is a feature that orchestrations can use, by its index in Features.
type feature uint8

// The features.
const (
	featureActivities feature = iota
	featureRetries
	featureSessions
	featureTags
	featureSystemCalls
	featureTimers
	featureEvents
	featureQueues
	featureKeys
	featureStatus
	featureChildren
	featureNamedChildren
	featureDetached
	featureVersions
	featureCancels
	featureContinueAsNew
	featureRaces
	featureCount
)

// Features lists the features that orchestrations can use.
var Features = [...]Point{
	featureActivities:    {"activities", "an activity is scheduled"},
	featureRetries:       {"retries", "an activity that failed is scheduled again, with the same input"},
	featureSessions:      {"sessions", "an activity runs on a session"},
	featureTags:          {"tags", "an activity has a tag"},
	featureSystemCalls:   {"system-calls", "the code asks for the time, an id, or a key of another instance"},
	featureTimers:        {"timers", "a timer is set"},
	featureEvents:        {"events", "the code waits for an event, or one has come"},
	featureQueues:        {"queues", "the code takes from a queue, or a queue message has come"},
	featureKeys:          {"keys", "a key was set or cleared, in this execution or an earlier one"},
	featureStatus:        {"status", "the custom status was set, in this execution or an earlier one"},
	featureChildren:      {"children", "a child is started under an automatic id"},
	featureNamedChildren: {"named-children", "a child is started under an id that the code chose"},
	featureDetached:      {"detached", "a detached orchestration is started"},
	featureVersions:      {"versions", "a start asks for a version of its handler"},
	featureCancels:       {"cancels", "an orchestration is asked to end, by a client or by its parent"},
	featureContinueAsNew: {"continue-as-new", "an execution continues as new, or is not the first"},
	featureRaces:         {"races", "the loser of a race is abandoned: an activity, a wait, a child"},
}

// between separates the names of the fault and the feature in a cell's name.
const between = " meets "

// Met returns the name of the coverage point that is reached when fault hits feature.
func Met(fault, feature string) string { return "fault " + fault + between + feature }

// IsMet reports whether coverage point point is a cell of the matrix.
func IsMet(point string) bool { return strings.Contains(point, between) }
