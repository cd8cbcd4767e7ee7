package engine

import "fmt"

// eventData builds the data of a kind from a scanned event. Errors are in o.
func eventData(kind EventKind, o *object) EventData {
	switch kind {
	case KindOrchestrationStarted:
		return OrchestrationStarted{
			Name:                o.text("name"),
			Version:             o.text("version"),
			Input:               o.text("input"),
			ParentInstance:      o.optText("parent_instance"),
			ParentID:            o.optNumber("parent_id"),
			ParentExecutionID:   o.optNumber("parent_execution_id"),
			CarryForwardEvents:  o.carried("carry_forward_events"),
			InitialCustomStatus: o.textPointer("initial_custom_status"),
		}
	case KindOrchestrationCompleted:
		return OrchestrationCompleted{o.text("output")}
	case KindOrchestrationFailed:
		return OrchestrationFailed{o.details("details")}
	case KindOrchestrationContinuedAsNew:
		return OrchestrationContinuedAsNew{o.text("input")}
	case KindOrchestrationCancelRequested:
		return OrchestrationCancelRequested{o.text("reason")}
	case KindOrchestrationChained:
		return OrchestrationChained{Name: o.text("name"), Instance: o.text("instance"), Input: o.text("input")}
	case KindActivityScheduled:
		return ActivityScheduled{
			Name:      o.text("name"),
			Input:     o.text("input"),
			SessionID: o.optText("session_id"),
			Tag:       o.optText("tag"),
		}
	case KindActivityCompleted:
		return ActivityCompleted{o.text("result")}
	case KindActivityFailed:
		return ActivityFailed{o.details("details")}
	case KindActivityCancelRequested:
		return ActivityCancelRequested{o.text("reason")}
	case KindTimerCreated:
		return TimerCreated{o.number("fire_at_ms")}
	case KindTimerFired:
		return TimerFired{o.number("fire_at_ms")}
	case KindExternalSubscribed:
		return ExternalSubscribed{o.text("name")}
	case KindExternalEvent:
		return ExternalEvent{Name: o.text("name"), Data: o.text("data")}
	case KindExternalSubscribedCancelled:
		return ExternalSubscribedCancelled{o.text("reason")}
	case KindQueueSubscribed:
		return QueueSubscribed{o.text("name")}
	case KindQueueEventDelivered:
		return QueueEventDelivered{Name: o.text("name"), Data: o.text("data")}
	case KindQueueSubscriptionCancelled:
		return QueueSubscriptionCancelled{o.text("reason")}
	case KindSubOrchestrationScheduled:
		return SubOrchestrationScheduled{Name: o.text("name"), Instance: o.text("instance"), Input: o.text("input")}
	case KindSubOrchestrationCompleted:
		return SubOrchestrationCompleted{o.text("result")}
	case KindSubOrchestrationFailed:
		return SubOrchestrationFailed{o.details("details")}
	case KindSubOrchestrationCancelRequested:
		return SubOrchestrationCancelRequested{o.text("reason")}
	case KindCustomStatusUpdated:
		return CustomStatusUpdated{o.textPointer("status")}
	case KindKeyValueSet:
		return KeyValueSet{Key: o.text("key"), Value: o.text("value"), LastUpdatedAtMs: o.optNumber("last_updated_at_ms")}
	case KindKeyValueCleared:
		return KeyValueCleared{o.text("key")}
	case KindKeyValuesCleared:
		return KeyValuesCleared{}
	case KindExternalSubscribed2:
		return ExternalSubscribed2{Name: o.text("name"), Topic: o.text("topic")}
	case KindExternalEvent2:
		return ExternalEvent2{Name: o.text("name"), Topic: o.text("topic"), Data: o.text("data")}
	case KindLegacyNote:
		return LegacyNote{o.text("text")}
	}
	panic(fmt.Sprintf("event kind %q is in a codec's set and has no case", kind))
}

// workItem builds a work item from its scanned body. Errors are in o.
func workItem(kind WorkItemKind, o *object) WorkItem {
	switch kind {
	case ItemStartOrchestration:
		return StartItem{
			Instance:          o.text("instance"),
			Orchestration:     o.text("orchestration"),
			Input:             o.text("input"),
			Version:           o.optText("version"),
			ParentInstance:    o.optText("parent_instance"),
			ParentID:          o.optNumber("parent_id"),
			ParentExecutionID: o.optNumber("parent_execution_id"),
			ExecutionID:       o.number("execution_id"),
		}
	case ItemContinueAsNew:
		return ContinueAsNewItem{
			Instance:            o.text("instance"),
			Orchestration:       o.text("orchestration"),
			Input:               o.text("input"),
			Version:             o.optText("version"),
			CarryForwardEvents:  o.carried("carry_forward_events"),
			InitialCustomStatus: o.textPointer("initial_custom_status"),
			ParentInstance:      o.optText("parent_instance"),
			ParentID:            o.optNumber("parent_id"),
			ParentExecutionID:   o.optNumber("parent_execution_id"),
		}
	case ItemActivityExecute:
		return ActivityExecuteItem{
			Instance:    o.text("instance"),
			ExecutionID: o.number("execution_id"),
			ID:          o.number("id"),
			Name:        o.text("name"),
			Input:       o.text("input"),
			SessionID:   o.optText("session_id"),
			Tag:         o.optText("tag"),
		}
	case ItemActivityCompleted:
		return ActivityCompletedItem{
			Instance:    o.text("instance"),
			ExecutionID: o.number("execution_id"),
			ID:          o.number("id"),
			Result:      o.text("result"),
		}
	case ItemActivityFailed:
		return ActivityFailedItem{
			Instance:    o.text("instance"),
			ExecutionID: o.number("execution_id"),
			ID:          o.number("id"),
			Details:     o.details("details"),
		}
	case ItemTimerFired:
		return TimerFiredItem{
			Instance:    o.text("instance"),
			ExecutionID: o.number("execution_id"),
			ID:          o.number("id"),
			FireAtMs:    o.number("fire_at_ms"),
		}
	case ItemExternalRaised:
		return ExternalRaisedItem{Instance: o.text("instance"), Name: o.text("name"), Data: o.text("data")}
	case ItemExternalRaised2:
		return ExternalRaised2Item{
			Instance: o.text("instance"),
			Name:     o.text("name"),
			Topic:    o.text("topic"),
			Data:     o.text("data"),
		}
	case ItemQueueMessage:
		return QueueMessageItem{Instance: o.text("instance"), Name: o.text("name"), Data: o.text("data")}
	case ItemSubOrchCompleted:
		return SubOrchCompletedItem{
			ParentInstance:    o.text("parent_instance"),
			ParentExecutionID: o.number("parent_execution_id"),
			ParentID:          o.number("parent_id"),
			Result:            o.text("result"),
		}
	case ItemSubOrchFailed:
		return SubOrchFailedItem{
			ParentInstance:    o.text("parent_instance"),
			ParentExecutionID: o.number("parent_execution_id"),
			ParentID:          o.number("parent_id"),
			Details:           o.details("details"),
		}
	case ItemCancelInstance:
		return CancelInstanceItem{Instance: o.text("instance"), Reason: o.text("reason")}
	}
	panic(fmt.Sprintf("work item kind %q is in a codec's set and has no case", kind))
}
