package coverage

import (
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
)

// features is a bit set of orchestration features.
type features uint32

// ofActivities are the features that belong to single activities. A fault that hits one activity counts only for that
// activity's own features.
var ofActivities = only(featureActivities) | only(featureRetries) | only(featureSessions) | only(featureTags) | only(featureSystemCalls)

// lasting are the features that outlast an execution.
var lasting = only(featureKeys) | only(featureStatus)

func only(f feature) features { return 1 << f }

// activityFeatures returns the features of an activity, except retries.
func activityFeatures(name, session, tag string) features {
	set := only(featureActivities)
	if session != "" {
		set |= only(featureSessions)
	}
	if tag != "" {
		set |= only(featureTags)
	}
	if strings.HasPrefix(name, "__duroxide_syscall:") {
		set |= only(featureSystemCalls)
	}
	return set
}

func eventFeatures(e *engine.Event) features {
	switch d := e.Data.(type) {
	case eventdata.ActivityScheduled:
		return activityFeatures(d.Name, d.SessionID, d.Tag)
	case eventdata.TimerCreated:
		return only(featureTimers)
	case eventdata.ExternalSubscribed, eventdata.ExternalSubscribed2, eventdata.ExternalEvent, eventdata.ExternalEvent2:
		return only(featureEvents)
	case eventdata.QueueSubscribed, eventdata.QueueEventDelivered:
		return only(featureQueues)
	case eventdata.KeyValueSet, eventdata.KeyValueCleared, eventdata.KeyValuesCleared:
		return only(featureKeys)
	case eventdata.CustomStatusUpdated:
		return only(featureStatus)
	case eventdata.SubOrchestrationScheduled:
		if strings.HasPrefix(d.Instance, eventdata.ChildPrefix) {
			return only(featureChildren)
		}
		return only(featureNamedChildren)
	case eventdata.OrchestrationChained:
		return only(featureDetached)
	case eventdata.OrchestrationCancelRequested:
		return only(featureCancels)
	case eventdata.SubOrchestrationCancelRequested:
		return only(featureCancels) | only(featureRaces)
	case eventdata.ActivityCancelRequested, eventdata.ExternalSubscribedCancelled, eventdata.QueueSubscriptionCancelled:
		return only(featureRaces)
	case eventdata.OrchestrationContinuedAsNew:
		return only(featureContinueAsNew)
	}
	return 0
}

func itemFeatures(item engine.WorkItem) features {
	switch m := item.(type) {
	case engine.StartItem:
		if m.Version != "" {
			return only(featureVersions)
		}
	case engine.ContinueAsNewItem:
		if m.Version != "" {
			return only(featureContinueAsNew) | only(featureVersions)
		}
		return only(featureContinueAsNew)
	case engine.ActivityExecuteItem:
		return activityFeatures(m.Name, m.SessionID, m.Tag)
	case engine.TimerFiredItem:
		return only(featureTimers)
	case engine.ExternalRaisedItem, engine.ExternalRaised2Item:
		return only(featureEvents)
	case engine.QueueMessageItem:
		return only(featureQueues)
	case engine.CancelInstanceItem:
		return only(featureCancels)
	}
	return 0
}
