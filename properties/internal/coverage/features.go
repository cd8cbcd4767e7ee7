package coverage

import (
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/internal/feature"
)

// features is a bit set of orchestration features.
type features uint32

// ofActivities are the features that belong to single activities. A fault that hits one activity counts only for that
// activity's own features.
const ofActivities = features(1<<feature.Activities | 1<<feature.Retries | 1<<feature.Sessions | 1<<feature.Tags | 1<<feature.SystemCalls)

// lasting are the features that outlast an execution.
const lasting = features(1<<feature.Keys | 1<<feature.Status)

func only(f feature.Number) features { return 1 << f }

// activityFeatures returns the features of an activity, except retries.
func activityFeatures(name, session, tag string) features {
	set := only(feature.Activities)
	if session != "" {
		set |= only(feature.Sessions)
	}
	if tag != "" {
		set |= only(feature.Tags)
	}
	if strings.HasPrefix(name, "__duroxide_syscall:") {
		set |= only(feature.SystemCalls)
	}
	return set
}

// eventFeatures returns the features that appear in an event.
func eventFeatures(e *engine.Event) features {
	switch d := e.Data.(type) {
	case eventdata.ActivityScheduled:
		return activityFeatures(d.Name, d.SessionID, d.Tag)
	case eventdata.TimerCreated:
		return only(feature.Timers)
	case eventdata.ExternalSubscribed, eventdata.ExternalSubscribed2, eventdata.ExternalEvent, eventdata.ExternalEvent2:
		return only(feature.Events)
	case eventdata.QueueSubscribed, eventdata.QueueEventDelivered:
		return only(feature.Queues)
	case eventdata.KeyValueSet, eventdata.KeyValueCleared, eventdata.KeyValuesCleared:
		return only(feature.Keys)
	case eventdata.CustomStatusUpdated:
		return only(feature.Status)
	case eventdata.SubOrchestrationScheduled:
		if strings.HasPrefix(d.Instance, "sub::") {
			return only(feature.Children)
		}
		return only(feature.NamedChildren)
	case eventdata.OrchestrationChained:
		return only(feature.Detached)
	case eventdata.OrchestrationCancelRequested:
		return only(feature.Cancels)
	case eventdata.SubOrchestrationCancelRequested:
		return only(feature.Cancels) | only(feature.Races)
	case eventdata.ActivityCancelRequested, eventdata.ExternalSubscribedCancelled, eventdata.QueueSubscriptionCancelled:
		return only(feature.Races)
	case eventdata.OrchestrationContinuedAsNew:
		return only(feature.ContinueAsNew)
	}
	return 0
}

// itemFeatures returns the features that appear in a message.
func itemFeatures(item engine.WorkItem) features {
	switch m := item.(type) {
	case engine.StartItem:
		if m.Version != "" {
			return only(feature.Versions)
		}
	case engine.ContinueAsNewItem:
		if m.Version != "" {
			return only(feature.ContinueAsNew) | only(feature.Versions)
		}
		return only(feature.ContinueAsNew)
	case engine.ActivityExecuteItem:
		return activityFeatures(m.Name, m.SessionID, m.Tag)
	case engine.TimerFiredItem:
		return only(feature.Timers)
	case engine.ExternalRaisedItem, engine.ExternalRaised2Item:
		return only(feature.Events)
	case engine.QueueMessageItem:
		return only(feature.Queues)
	case engine.CancelInstanceItem:
		return only(feature.Cancels)
	}
	return 0
}
