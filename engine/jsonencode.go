package engine

import (
	"fmt"

	"github.com/durosim/durosim/engine/eventdata"
)

// The encoder's helpers append literal text: callers pass keys with their punctuation, as in `,"name":`.

func appendEvent(dst []byte, e *Event) ([]byte, error) {
	dst = eventdata.AppendNumber(dst, `{"event_id":`, e.EventID)
	dst = eventdata.AppendNumberOrNull(dst, `,"source_event_id":`, e.SourceEventID)
	dst = eventdata.AppendText(dst, `,"instance_id":`, e.InstanceID)
	dst = eventdata.AppendNumber(dst, `,"execution_id":`, e.ExecutionID)
	dst = eventdata.AppendNumber(dst, `,"timestamp_ms":`, e.TimestampMs)
	dst = eventdata.AppendText(dst, `,"duroxide_version":`, e.DuroxideVersion)
	dst = append(append(append(dst, `,"type":"`...), eventdata.KindOf(e.Data)...), '"')

	dst, err := eventdata.Append(dst, e.Data)
	return append(dst, '}'), err
}

func appendWorkItem(dst []byte, w WorkItem) ([]byte, error) {
	var err error
	dst = append(append(append(dst, `{"`...), w.Kind()...), `":`...)
	switch w := w.(type) {
	case StartItem:
		dst = eventdata.AppendText(dst, `{"instance":`, w.Instance)
		dst = eventdata.AppendText(dst, `,"orchestration":`, w.Orchestration)
		dst = eventdata.AppendText(dst, `,"input":`, w.Input)
		dst = eventdata.AppendTextOrNull(dst, `,"version":`, w.Version)
		dst = eventdata.AppendTextOrNull(dst, `,"parent_instance":`, w.ParentInstance)
		dst = eventdata.AppendNumberOrNull(dst, `,"parent_id":`, w.ParentID)
		dst = eventdata.AppendNumber(dst, `,"execution_id":`, w.ExecutionID)
		dst = eventdata.AppendNumberUnlessZero(dst, `,"parent_execution_id":`, w.ParentExecutionID)
	case ContinueAsNewItem:
		dst = eventdata.AppendText(dst, `{"instance":`, w.Instance)
		dst = eventdata.AppendText(dst, `,"orchestration":`, w.Orchestration)
		dst = eventdata.AppendText(dst, `,"input":`, w.Input)
		dst = eventdata.AppendTextOrNull(dst, `,"version":`, w.Version)
		dst = eventdata.AppendCarried(dst, `,"carry_forward_events":`, w.CarryForwardEvents)
		dst = eventdata.AppendOptText(dst, `,"initial_custom_status":`, w.InitialCustomStatus)
		dst = eventdata.AppendTextUnlessEmpty(dst, `,"parent_instance":`, w.ParentInstance)
		dst = eventdata.AppendNumberUnlessZero(dst, `,"parent_id":`, w.ParentID)
		dst = eventdata.AppendNumberUnlessZero(dst, `,"parent_execution_id":`, w.ParentExecutionID)
	case ActivityExecuteItem:
		dst = appendWorkID(dst, w.Instance, w.ExecutionID, w.ID)
		dst = eventdata.AppendText(dst, `,"name":`, w.Name)
		dst = eventdata.AppendText(dst, `,"input":`, w.Input)
		dst = eventdata.AppendTextUnlessEmpty(dst, `,"session_id":`, w.SessionID)
		dst = eventdata.AppendTextUnlessEmpty(dst, `,"tag":`, w.Tag)
	case ActivityCompletedItem:
		dst = appendWorkID(dst, w.Instance, w.ExecutionID, w.ID)
		dst = eventdata.AppendText(dst, `,"result":`, w.Result)
	case ActivityFailedItem:
		dst = appendWorkID(dst, w.Instance, w.ExecutionID, w.ID)
		dst, err = eventdata.AppendDetails(append(dst, `,"details":`...), w.Details)
	case TimerFiredItem:
		dst = appendWorkID(dst, w.Instance, w.ExecutionID, w.ID)
		dst = eventdata.AppendNumber(dst, `,"fire_at_ms":`, w.FireAtMs)
	case ExternalRaisedItem:
		dst = eventdata.AppendText(dst, `{"instance":`, w.Instance)
		dst = eventdata.AppendText(dst, `,"name":`, w.Name)
		dst = eventdata.AppendText(dst, `,"data":`, w.Data)
	case ExternalRaised2Item:
		dst = eventdata.AppendText(dst, `{"instance":`, w.Instance)
		dst = eventdata.AppendText(dst, `,"name":`, w.Name)
		dst = eventdata.AppendText(dst, `,"topic":`, w.Topic)
		dst = eventdata.AppendText(dst, `,"data":`, w.Data)
	case QueueMessageItem:
		dst = eventdata.AppendText(dst, `{"instance":`, w.Instance)
		dst = eventdata.AppendText(dst, `,"name":`, w.Name)
		dst = eventdata.AppendText(dst, `,"data":`, w.Data)
	case SubOrchCompletedItem:
		dst = appendParentID(dst, w.ParentInstance, w.ParentExecutionID, w.ParentID)
		dst = eventdata.AppendText(dst, `,"result":`, w.Result)
	case SubOrchFailedItem:
		dst = appendParentID(dst, w.ParentInstance, w.ParentExecutionID, w.ParentID)
		dst, err = eventdata.AppendDetails(append(dst, `,"details":`...), w.Details)
	case CancelInstanceItem:
		dst = eventdata.AppendText(dst, `{"instance":`, w.Instance)
		dst = eventdata.AppendText(dst, `,"reason":`, w.Reason)
	default:
		err = fmt.Errorf("a %T; want it by value", w)
	}
	return append(dst, `}}`...), err
}

func appendWorkID(dst []byte, instance string, executionID, id uint64) []byte {
	dst = eventdata.AppendText(dst, `{"instance":`, instance)
	dst = eventdata.AppendNumber(dst, `,"execution_id":`, executionID)
	return eventdata.AppendNumber(dst, `,"id":`, id)
}

func appendParentID(dst []byte, instance string, executionID, id uint64) []byte {
	dst = eventdata.AppendText(dst, `{"parent_instance":`, instance)
	dst = eventdata.AppendNumber(dst, `,"parent_execution_id":`, executionID)
	return eventdata.AppendNumber(dst, `,"parent_id":`, id)
}
