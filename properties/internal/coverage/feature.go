package coverage

import "strings"

// feature is a feature that orchestrations can use, by its index in Features.
type feature uint8

// Features lists the features that orchestrations can use. It does not change once the variables below are made.
var Features []Point

func newFeature(name, summary string) feature {
	Features = append(Features, Point{name, summary})
	return feature(len(Features) - 1)
}

var (
	featureActivities    = newFeature("activities", "an activity is scheduled")
	featureRetries       = newFeature("retries", "an activity that failed is scheduled again, with the same input")
	featureSessions      = newFeature("sessions", "an activity runs on a session")
	featureTags          = newFeature("tags", "an activity has a tag")
	featureSystemCalls   = newFeature("system-calls", "the code asks for the time, an id, or a key of another instance")
	featureTimers        = newFeature("timers", "a timer is set")
	featureEvents        = newFeature("events", "the code waits for an event, or one has come")
	featureQueues        = newFeature("queues", "the code takes from a queue, or a queue message has come")
	featureKeys          = newFeature("keys", "a key was set or cleared, in this execution or an earlier one")
	featureStatus        = newFeature("status", "the custom status was set, in this execution or an earlier one")
	featureChildren      = newFeature("children", "a child is started under an automatic id")
	featureNamedChildren = newFeature("named-children", "a child is started under an id that the code chose")
	featureDetached      = newFeature("detached", "a detached orchestration is started")
	featureVersions      = newFeature("versions", "a start asks for a version of its handler")
	featureCancels       = newFeature("cancels", "an orchestration is asked to end, by a client or by its parent")
	featureContinueAsNew = newFeature("continue-as-new", "an execution continues as new, or is not the first")
	featureRaces         = newFeature("races", "the loser of a race is abandoned: an activity, a wait, a child")
)

// between separates the names of the fault and the feature in a cell's name.
const between = " meets "

// Met returns the name of the coverage point that is reached when fault hits feature.
func Met(fault, feature string) string { return "fault " + fault + between + feature }

// IsMet reports whether coverage point point is a cell of the matrix.
func IsMet(point string) bool { return strings.Contains(point, between) }
