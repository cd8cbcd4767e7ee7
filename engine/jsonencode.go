package engine

import (
	"fmt"

	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/jsonform"
)

// The encoder's helpers append literal text: callers pass keys with their punctuation, as in `,"name":`.

func appendEvent(dst []byte, e *Event) ([]byte, error) {
	dst = jsonform.AppendNumber(dst, `{"event_id":`, e.EventID)
	dst = jsonform.AppendNumberOrNull(dst, `,"source_event_id":`, e.SourceEventID)
	dst = jsonform.AppendText(dst, `,"instance_id":`, e.InstanceID)
	dst = jsonform.AppendNumber(dst, `,"execution_id":`, e.ExecutionID)
	dst = jsonform.AppendNumber(dst, `,"timestamp_ms":`, e.TimestampMs)
	dst = jsonform.AppendText(dst, `,"duroxide_version":`, e.DuroxideVersion)
	dst = append(append(append(dst, `,"type":"`...), eventdata.KindOf(e.Data)...), '"')

	dst, err := eventdata.Append(dst, e.Data)
	return append(dst, '}'), err
}

func appendWorkItem(dst []byte, w WorkItem) ([]byte, error) {
	var err error
	dst = append(append(append(dst, `{"`...), w.Kind()...), `":`...)
	switch w := w.(type) {
	case StartItem:
		dst = jsonform.AppendText(dst, `{"instance":`, w.Instance)
		dst = jsonform.AppendText(dst, `,"orchestration":`, w.Orchestration)
		dst = jsonform.AppendText(dst, `,"input":`, w.Input)
		dst = jsonform.AppendTextOrNull(dst, `,"version":`, w.Version)
		dst = jsonform.AppendTextOrNull(dst, `,"parent_instance":`, w.ParentInstance)
		dst = jsonform.AppendNumberOrNull(dst, `,"parent_id":`, w.ParentID)
		dst = jsonform.AppendNumber(dst, `,"execution_id":`, w.ExecutionID)
		dst = jsonform.AppendNumberUnlessZero(dst, `,"parent_execution_id":`, w.ParentExecutionID)
	case ContinueAsNewItem:
		dst = jsonform.AppendText(dst, `{"instance":`, w.Instance)
		dst = jsonform.AppendText(dst, `,"orchestration":`, w.Orchestration)
		dst = jsonform.AppendText(dst, `,"input":`, w.Input)
		dst = jsonform.AppendTextOrNull(dst, `,"version":`, w.Version)
		dst = eventdata.AppendCarried(dst, `,"carry_forward_events":`, w.CarryForwardEvents)
		dst = jsonform.AppendOptText(dst, `,"initial_custom_status":`, w.InitialCustomStatus)
		dst = jsonform.AppendTextUnlessEmpty(dst, `,"parent_instance":`, w.ParentInstance)
		dst = jsonform.AppendNumberUnlessZero(dst, `,"parent_id":`, w.ParentID)
		dst = jsonform.AppendNumberUnlessZero(dst, `,"parent_execution_id":`, w.ParentExecutionID)
	case ActivityExecuteItem:
		dst = appendWorkID(dst, w.Instance, w.ExecutionID, w.ID)
		dst = jsonform.AppendText(dst, `,"name":`, w.Name)
		dst = jsonform.AppendText(dst, `,"input":`, w.Input)
		dst = jsonform.AppendTextUnlessEmpty(dst, `,"session_id":`, w.SessionID)
		dst = jsonform.AppendTextUnlessEmpty(dst, `,"tag":`, w.Tag)
	case ActivityCompletedItem:
		dst = appendWorkID(dst, w.Instance, w.ExecutionID, w.ID)
		dst = jsonform.AppendText(dst, `,"result":`, w.Result)
	case ActivityFailedItem:
		dst = appendWorkID(dst, w.Instance, w.ExecutionID, w.ID)
		dst, err = eventdata.AppendDetails(append(dst, `,"details":`...), w.Details)
	case TimerFiredItem:
		dst = appendWorkID(dst, w.Instance, w.ExecutionID, w.ID)
		dst = jsonform.AppendNumber(dst, `,"fire_at_ms":`, w.FireAtMs)
	case ExternalRaisedItem:
		dst = jsonform.AppendText(dst, `{"instance":`, w.Instance)
		dst = jsonform.AppendText(dst, `,"name":`, w.Name)
		dst = jsonform.AppendText(dst, `,"data":`, w.Data)
	case ExternalRaised2Item:
		dst = jsonform.AppendText(dst, `{"instance":`, w.Instance)
		dst = jsonform.AppendText(dst, `,"name":`, w.Name)
		dst = jsonform.AppendText(dst, `,"topic":`, w.Topic)
		dst = jsonform.AppendText(dst, `,"data":`, w.Data)
	case QueueMessageItem:
		dst = jsonform.AppendText(dst, `{"instance":`, w.Instance)
		dst = jsonform.AppendText(dst, `,"name":`, w.Name)
		dst = jsonform.AppendText(dst, `,"data":`, w.Data)
	case SubOrchCompletedItem:
		dst = appendParentID(dst, w.ParentInstance, w.ParentExecutionID, w.ParentID)
		dst = jsonform.AppendText(dst, `,"result":`, w.Result)
	case SubOrchFailedItem:
		dst = appendParentID(dst, w.ParentInstance, w.ParentExecutionID, w.ParentID)
		dst, err = eventdata.AppendDetails(append(dst, `,"details":`...), w.Details)
	case CancelInstanceItem:
		dst = jsonform.AppendText(dst, `{"instance":`, w.Instance)
		dst = jsonform.AppendText(dst, `,"reason":`, w.Reason)
	default:
		err = fmt.Errorf("work item of type %T; items are held by value", w)
	}
	return append(dst, `}}`...), err
}

func appendWorkID(dst []byte, instance string, executionID, id uint64) []byte {
	dst = jsonform.AppendText(dst, `{"instance":`, instance)
	dst = jsonform.AppendNumber(dst, `,"execution_id":`, executionID)
	return jsonform.AppendNumber(dst, `,"id":`, id)
}

func appendParentID(dst []byte, instance string, executionID, id uint64) []byte {
	dst = jsonform.AppendText(dst, `{"parent_instance":`, instance)
	dst = jsonform.AppendNumber(dst, `,"parent_execution_id":`, executionID)
	return jsonform.AppendNumber(dst, `,"parent_id":`, id)
}
