package eventdata

import (
	"fmt"
)

// Parse builds the data of an event of that kind from scanned event o. It reports errors in o.Err.
func Parse(kind Kind, o *Object) Data {
	switch kind {
	case KindOrchestrationStarted:
		return OrchestrationStarted{
			Name:                o.Text("name"),
			Version:             o.Text("version"),
			Input:               o.Text("input"),
			ParentInstance:      o.OptText("parent_instance"),
			ParentID:            o.OptNumber("parent_id"),
			ParentExecutionID:   o.OptNumber("parent_execution_id"),
			CarryForwardEvents:  Carried(o, "carry_forward_events"),
			InitialCustomStatus: o.TextPointer("initial_custom_status"),
		}
	case KindOrchestrationCompleted:
		return OrchestrationCompleted{o.Text("output")}
	case KindOrchestrationFailed:
		return OrchestrationFailed{ParseDetails(o, "details")}
	case KindOrchestrationContinuedAsNew:
		return OrchestrationContinuedAsNew{o.Text("input")}
	case KindOrchestrationCancelRequested:
		return OrchestrationCancelRequested{o.Text("reason")}
	case KindOrchestrationChained:
		return OrchestrationChained{Name: o.Text("name"), Instance: o.Text("instance"), Input: o.Text("input")}
	case KindActivityScheduled:
		return ActivityScheduled{
			Name:      o.Text("name"),
			Input:     o.Text("input"),
			SessionID: o.OptText("session_id"),
			Tag:       o.OptText("tag"),
		}
	case KindActivityCompleted:
		return ActivityCompleted{o.Text("result")}
	case KindActivityFailed:
		return ActivityFailed{ParseDetails(o, "details")}
	case KindActivityCancelRequested:
		return ActivityCancelRequested{o.Text("reason")}
	case KindTimerCreated:
		return TimerCreated{o.Number("fire_at_ms")}
	case KindTimerFired:
		return TimerFired{o.Number("fire_at_ms")}
	case KindExternalSubscribed:
		return ExternalSubscribed{o.Text("name")}
	case KindExternalEvent:
		return ExternalEvent{Name: o.Text("name"), Data: o.Text("data")}
	case KindExternalSubscribedCancelled:
		return ExternalSubscribedCancelled{o.Text("reason")}
	case KindQueueSubscribed:
		return QueueSubscribed{o.Text("name")}
	case KindQueueEventDelivered:
		return QueueEventDelivered{Name: o.Text("name"), Data: o.Text("data")}
	case KindQueueSubscriptionCancelled:
		return QueueSubscriptionCancelled{o.Text("reason")}
	case KindSubOrchestrationScheduled:
		return SubOrchestrationScheduled{Name: o.Text("name"), Instance: o.Text("instance"), Input: o.Text("input")}
	case KindSubOrchestrationCompleted:
		return SubOrchestrationCompleted{o.Text("result")}
	case KindSubOrchestrationFailed:
		return SubOrchestrationFailed{ParseDetails(o, "details")}
	case KindSubOrchestrationCancelRequested:
		return SubOrchestrationCancelRequested{o.Text("reason")}
	case KindCustomStatusUpdated:
		return CustomStatusUpdated{o.TextPointer("status")}
	case KindKeyValueSet:
		return KeyValueSet{Key: o.Text("key"), Value: o.Text("value"), LastUpdatedAtMs: o.OptNumber("last_updated_at_ms")}
	case KindKeyValueCleared:
		return KeyValueCleared{o.Text("key")}
	case KindKeyValuesCleared:
		return KeyValuesCleared{}
	case KindExternalSubscribed2:
		return ExternalSubscribed2{Name: o.Text("name"), Topic: o.Text("topic")}
	case KindExternalEvent2:
		return ExternalEvent2{Name: o.Text("name"), Topic: o.Text("topic"), Data: o.Text("data")}
	case KindLegacyNote:
		return LegacyNote{o.Text("text")}
	}
	panic(fmt.Sprintf("event kind %q is in a codec's set and has no case", kind))
}

// Carried parses [[name,data],…]. It returns nil for an empty list.
func Carried(o *Object, name string) []CarriedEvent {
	value := o.Get(name, false)
	if value == "" {
		return nil
	}
	rows, err := ScanArray(value)
	if err != nil {
		o.Fail(name, err)
		return nil
	}
	var out []CarriedEvent
	for _, row := range rows {
		pair, err := ScanArray(row)
		if err != nil || len(pair) != 2 {
			o.Fail(name, fmt.Errorf("want [name,data], got %s", Describe(row)))
			return nil
		}
		out = append(out, CarriedEvent{Name: o.ToText(name, pair[0]), Data: o.ToText(name, pair[1])})
	}
	return out
}

// AppendCarried is the inverse of Carried.
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
		err = fmt.Errorf("event data of type %T; data is held by value", data)
	}
	return dst, err
}
