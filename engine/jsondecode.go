package engine

import (
	"fmt"

	"github.com/durosim/durosim/engine/eventdata"
)

// workItem builds a work item from its scanned body. It leaves errors in o.
func workItem(kind WorkItemKind, o *eventdata.Object) WorkItem {
	switch kind {
	case ItemStartOrchestration:
		return StartItem{
			Instance:          o.Text("instance"),
			Orchestration:     o.Text("orchestration"),
			Input:             o.Text("input"),
			Version:           o.OptText("version"),
			ParentInstance:    o.OptText("parent_instance"),
			ParentID:          o.OptNumber("parent_id"),
			ParentExecutionID: o.OptNumber("parent_execution_id"),
			ExecutionID:       o.Number("execution_id"),
		}
	case ItemContinueAsNew:
		return ContinueAsNewItem{
			Instance:            o.Text("instance"),
			Orchestration:       o.Text("orchestration"),
			Input:               o.Text("input"),
			Version:             o.OptText("version"),
			CarryForwardEvents:  eventdata.Carried(o, "carry_forward_events"),
			InitialCustomStatus: o.TextPointer("initial_custom_status"),
			ParentInstance:      o.OptText("parent_instance"),
			ParentID:            o.OptNumber("parent_id"),
			ParentExecutionID:   o.OptNumber("parent_execution_id"),
		}
	case ItemActivityExecute:
		return ActivityExecuteItem{
			Instance:    o.Text("instance"),
			ExecutionID: o.Number("execution_id"),
			ID:          o.Number("id"),
			Name:        o.Text("name"),
			Input:       o.Text("input"),
			SessionID:   o.OptText("session_id"),
			Tag:         o.OptText("tag"),
		}
	case ItemActivityCompleted:
		return ActivityCompletedItem{
			Instance:    o.Text("instance"),
			ExecutionID: o.Number("execution_id"),
			ID:          o.Number("id"),
			Result:      o.Text("result"),
		}
	case ItemActivityFailed:
		return ActivityFailedItem{
			Instance:    o.Text("instance"),
			ExecutionID: o.Number("execution_id"),
			ID:          o.Number("id"),
			Details:     eventdata.ParseDetails(o, "details"),
		}
	case ItemTimerFired:
		return TimerFiredItem{
			Instance:    o.Text("instance"),
			ExecutionID: o.Number("execution_id"),
			ID:          o.Number("id"),
			FireAtMs:    o.Number("fire_at_ms"),
		}
	case ItemExternalRaised:
		return ExternalRaisedItem{Instance: o.Text("instance"), Name: o.Text("name"), Data: o.Text("data")}
	case ItemExternalRaised2:
		return ExternalRaised2Item{
			Instance: o.Text("instance"),
			Name:     o.Text("name"),
			Topic:    o.Text("topic"),
			Data:     o.Text("data"),
		}
	case ItemQueueMessage:
		return QueueMessageItem{Instance: o.Text("instance"), Name: o.Text("name"), Data: o.Text("data")}
	case ItemSubOrchCompleted:
		return SubOrchCompletedItem{
			ParentInstance:    o.Text("parent_instance"),
			ParentExecutionID: o.Number("parent_execution_id"),
			ParentID:          o.Number("parent_id"),
			Result:            o.Text("result"),
		}
	case ItemSubOrchFailed:
		return SubOrchFailedItem{
			ParentInstance:    o.Text("parent_instance"),
			ParentExecutionID: o.Number("parent_execution_id"),
			ParentID:          o.Number("parent_id"),
			Details:           eventdata.ParseDetails(o, "details"),
		}
	case ItemCancelInstance:
		return CancelInstanceItem{Instance: o.Text("instance"), Reason: o.Text("reason")}
	}
	panic(fmt.Sprintf("work item kind %q is in a codec's set and has no case", kind))
}
