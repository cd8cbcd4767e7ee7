package eventdata

import "fmt"

// AppendCarried appends a key and [[name,data],…].
func AppendCarried(dst []byte, key string, events []CarriedEvent) []byte {
	dst = append(append(dst, key...), '[')
	for i, e := range events {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '[')
		dst = AppendString(dst, e.Name)
		dst = append(dst, ',')
		dst = AppendString(dst, e.Data)
		dst = append(dst, ']')
	}
	return append(dst, ']')
}

// Append appends the fields specific to data's kind, without the rest of the event. data must be a struct, not a
// pointer.
func Append(dst []byte, data Data) ([]byte, error) {
	var err error
	switch d := data.(type) {
	case OrchestrationStarted:
		dst = AppendText(dst, `,"name":`, d.Name)
		dst = AppendText(dst, `,"version":`, d.Version)
		dst = AppendText(dst, `,"input":`, d.Input)
		dst = AppendTextOrNull(dst, `,"parent_instance":`, d.ParentInstance)
		dst = AppendNumberOrNull(dst, `,"parent_id":`, d.ParentID)
		if len(d.CarryForwardEvents) > 0 {
			dst = AppendCarried(dst, `,"carry_forward_events":`, d.CarryForwardEvents)
		}
		dst = AppendOptText(dst, `,"initial_custom_status":`, d.InitialCustomStatus)
		dst = AppendNumberUnlessZero(dst, `,"parent_execution_id":`, d.ParentExecutionID)
	case OrchestrationCompleted:
		dst = AppendText(dst, `,"output":`, d.Output)
	case OrchestrationFailed:
		dst, err = AppendDetails(append(dst, `,"details":`...), d.Details)
	case OrchestrationContinuedAsNew:
		dst = AppendText(dst, `,"input":`, d.Input)
	case OrchestrationCancelRequested:
		dst = AppendText(dst, `,"reason":`, d.Reason)
	case OrchestrationChained:
		dst = AppendText(dst, `,"name":`, d.Name)
		dst = AppendText(dst, `,"instance":`, d.Instance)
		dst = AppendText(dst, `,"input":`, d.Input)
	case ActivityScheduled:
		dst = AppendText(dst, `,"name":`, d.Name)
		dst = AppendText(dst, `,"input":`, d.Input)
		dst = AppendTextUnlessEmpty(dst, `,"session_id":`, d.SessionID)
		dst = AppendTextUnlessEmpty(dst, `,"tag":`, d.Tag)
	case ActivityCompleted:
		dst = AppendText(dst, `,"result":`, d.Result)
	case ActivityFailed:
		dst, err = AppendDetails(append(dst, `,"details":`...), d.Details)
	case ActivityCancelRequested:
		dst = AppendText(dst, `,"reason":`, d.Reason)
	case TimerCreated:
		dst = AppendNumber(dst, `,"fire_at_ms":`, d.FireAtMs)
	case TimerFired:
		dst = AppendNumber(dst, `,"fire_at_ms":`, d.FireAtMs)
	case ExternalSubscribed:
		dst = AppendText(dst, `,"name":`, d.Name)
	case ExternalEvent:
		dst = AppendText(dst, `,"name":`, d.Name)
		dst = AppendText(dst, `,"data":`, d.Data)
	case ExternalSubscribedCancelled:
		dst = AppendText(dst, `,"reason":`, d.Reason)
	case QueueSubscribed:
		dst = AppendText(dst, `,"name":`, d.Name)
	case QueueEventDelivered:
		dst = AppendText(dst, `,"name":`, d.Name)
		dst = AppendText(dst, `,"data":`, d.Data)
	case QueueSubscriptionCancelled:
		dst = AppendText(dst, `,"reason":`, d.Reason)
	case SubOrchestrationScheduled:
		dst = AppendText(dst, `,"name":`, d.Name)
		dst = AppendText(dst, `,"instance":`, d.Instance)
		dst = AppendText(dst, `,"input":`, d.Input)
	case SubOrchestrationCompleted:
		dst = AppendText(dst, `,"result":`, d.Result)
	case SubOrchestrationFailed:
		dst, err = AppendDetails(append(dst, `,"details":`...), d.Details)
	case SubOrchestrationCancelRequested:
		dst = AppendText(dst, `,"reason":`, d.Reason)
	case CustomStatusUpdated:
		if d.Status == nil {
			dst = append(dst, `,"status":null`...)
		} else {
			dst = AppendText(dst, `,"status":`, *d.Status)
		}
	case KeyValueSet:
		dst = AppendText(dst, `,"key":`, d.Key)
		dst = AppendText(dst, `,"value":`, d.Value)
		dst = AppendNumber(dst, `,"last_updated_at_ms":`, d.LastUpdatedAtMs)
	case KeyValueCleared:
		dst = AppendText(dst, `,"key":`, d.Key)
	case KeyValuesCleared:
	case ExternalSubscribed2:
		dst = AppendText(dst, `,"name":`, d.Name)
		dst = AppendText(dst, `,"topic":`, d.Topic)
	case ExternalEvent2:
		dst = AppendText(dst, `,"name":`, d.Name)
		dst = AppendText(dst, `,"topic":`, d.Topic)
		dst = AppendText(dst, `,"data":`, d.Data)
	case LegacyNote:
		dst = AppendText(dst, `,"text":`, d.Text)
	default:
		err = fmt.Errorf("a %T; want it by value", data)
	}
	return dst, err
}
