package engine

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// The encoder appends finished text: callers pass keys with their punctuation, as in `,"name":`.

func appendEvent(dst []byte, e *Event) ([]byte, error) {
	dst = appendNumber(dst, `{"event_id":`, e.EventID)
	dst = appendNumberOrNull(dst, `,"source_event_id":`, e.SourceEventID)
	dst = appendText(dst, `,"instance_id":`, e.InstanceID)
	dst = appendNumber(dst, `,"execution_id":`, e.ExecutionID)
	dst = appendNumber(dst, `,"timestamp_ms":`, e.TimestampMs)
	dst = appendText(dst, `,"duroxide_version":`, e.DuroxideVersion)
	dst = append(append(append(dst, `,"type":"`...), e.Data.kind()...), '"')

	var err error
	switch d := e.Data.(type) {
	case OrchestrationStarted:
		dst = appendText(dst, `,"name":`, d.Name)
		dst = appendText(dst, `,"version":`, d.Version)
		dst = appendText(dst, `,"input":`, d.Input)
		dst = appendTextOrNull(dst, `,"parent_instance":`, d.ParentInstance)
		dst = appendNumberOrNull(dst, `,"parent_id":`, d.ParentID)
		if len(d.CarryForwardEvents) > 0 {
			dst = appendCarried(dst, `,"carry_forward_events":`, d.CarryForwardEvents)
		}
		dst = appendOptText(dst, `,"initial_custom_status":`, d.InitialCustomStatus)
		dst = appendNumberUnlessZero(dst, `,"parent_execution_id":`, d.ParentExecutionID)
	case OrchestrationCompleted:
		dst = appendText(dst, `,"output":`, d.Output)
	case OrchestrationFailed:
		dst, err = appendDetails(append(dst, `,"details":`...), d.Details)
	case OrchestrationContinuedAsNew:
		dst = appendText(dst, `,"input":`, d.Input)
	case OrchestrationCancelRequested:
		dst = appendText(dst, `,"reason":`, d.Reason)
	case OrchestrationChained:
		dst = appendText(dst, `,"name":`, d.Name)
		dst = appendText(dst, `,"instance":`, d.Instance)
		dst = appendText(dst, `,"input":`, d.Input)
	case ActivityScheduled:
		dst = appendText(dst, `,"name":`, d.Name)
		dst = appendText(dst, `,"input":`, d.Input)
		dst = appendTextUnlessEmpty(dst, `,"session_id":`, d.SessionID)
		dst = appendTextUnlessEmpty(dst, `,"tag":`, d.Tag)
	case ActivityCompleted:
		dst = appendText(dst, `,"result":`, d.Result)
	case ActivityFailed:
		dst, err = appendDetails(append(dst, `,"details":`...), d.Details)
	case ActivityCancelRequested:
		dst = appendText(dst, `,"reason":`, d.Reason)
	case TimerCreated:
		dst = appendNumber(dst, `,"fire_at_ms":`, d.FireAtMs)
	case TimerFired:
		dst = appendNumber(dst, `,"fire_at_ms":`, d.FireAtMs)
	case ExternalSubscribed:
		dst = appendText(dst, `,"name":`, d.Name)
	case ExternalEvent:
		dst = appendText(dst, `,"name":`, d.Name)
		dst = appendText(dst, `,"data":`, d.Data)
	case ExternalSubscribedCancelled:
		dst = appendText(dst, `,"reason":`, d.Reason)
	case QueueSubscribed:
		dst = appendText(dst, `,"name":`, d.Name)
	case QueueEventDelivered:
		dst = appendText(dst, `,"name":`, d.Name)
		dst = appendText(dst, `,"data":`, d.Data)
	case QueueSubscriptionCancelled:
		dst = appendText(dst, `,"reason":`, d.Reason)
	case SubOrchestrationScheduled:
		dst = appendText(dst, `,"name":`, d.Name)
		dst = appendText(dst, `,"instance":`, d.Instance)
		dst = appendText(dst, `,"input":`, d.Input)
	case SubOrchestrationCompleted:
		dst = appendText(dst, `,"result":`, d.Result)
	case SubOrchestrationFailed:
		dst, err = appendDetails(append(dst, `,"details":`...), d.Details)
	case SubOrchestrationCancelRequested:
		dst = appendText(dst, `,"reason":`, d.Reason)
	case CustomStatusUpdated:
		if d.Status == nil {
			dst = append(dst, `,"status":null`...)
		} else {
			dst = appendText(dst, `,"status":`, *d.Status)
		}
	case KeyValueSet:
		dst = appendText(dst, `,"key":`, d.Key)
		dst = appendText(dst, `,"value":`, d.Value)
		dst = appendNumber(dst, `,"last_updated_at_ms":`, d.LastUpdatedAtMs)
	case KeyValueCleared:
		dst = appendText(dst, `,"key":`, d.Key)
	case KeyValuesCleared:
	case ExternalSubscribed2:
		dst = appendText(dst, `,"name":`, d.Name)
		dst = appendText(dst, `,"topic":`, d.Topic)
	case ExternalEvent2:
		dst = appendText(dst, `,"name":`, d.Name)
		dst = appendText(dst, `,"topic":`, d.Topic)
		dst = appendText(dst, `,"data":`, d.Data)
	case LegacyNote:
		dst = appendText(dst, `,"text":`, d.Text)
	default:
		err = fmt.Errorf("event data of type %T; data is held by value", e.Data)
	}
	return append(dst, '}'), err
}

func appendWorkItem(dst []byte, w WorkItem) ([]byte, error) {
	var err error
	dst = append(append(append(dst, `{"`...), w.Kind()...), `":`...)
	switch w := w.(type) {
	case StartItem:
		dst = appendText(dst, `{"instance":`, w.Instance)
		dst = appendText(dst, `,"orchestration":`, w.Orchestration)
		dst = appendText(dst, `,"input":`, w.Input)
		dst = appendTextOrNull(dst, `,"version":`, w.Version)
		dst = appendTextOrNull(dst, `,"parent_instance":`, w.ParentInstance)
		dst = appendNumberOrNull(dst, `,"parent_id":`, w.ParentID)
		dst = appendNumber(dst, `,"execution_id":`, w.ExecutionID)
		dst = appendNumberUnlessZero(dst, `,"parent_execution_id":`, w.ParentExecutionID)
	case ContinueAsNewItem:
		dst = appendText(dst, `{"instance":`, w.Instance)
		dst = appendText(dst, `,"orchestration":`, w.Orchestration)
		dst = appendText(dst, `,"input":`, w.Input)
		dst = appendTextOrNull(dst, `,"version":`, w.Version)
		dst = appendCarried(dst, `,"carry_forward_events":`, w.CarryForwardEvents)
		dst = appendOptText(dst, `,"initial_custom_status":`, w.InitialCustomStatus)
		dst = appendTextUnlessEmpty(dst, `,"parent_instance":`, w.ParentInstance)
		dst = appendNumberUnlessZero(dst, `,"parent_id":`, w.ParentID)
		dst = appendNumberUnlessZero(dst, `,"parent_execution_id":`, w.ParentExecutionID)
	case ActivityExecuteItem:
		dst = appendWorkID(dst, w.Instance, w.ExecutionID, w.ID)
		dst = appendText(dst, `,"name":`, w.Name)
		dst = appendText(dst, `,"input":`, w.Input)
		dst = appendTextUnlessEmpty(dst, `,"session_id":`, w.SessionID)
		dst = appendTextUnlessEmpty(dst, `,"tag":`, w.Tag)
	case ActivityCompletedItem:
		dst = appendWorkID(dst, w.Instance, w.ExecutionID, w.ID)
		dst = appendText(dst, `,"result":`, w.Result)
	case ActivityFailedItem:
		dst = appendWorkID(dst, w.Instance, w.ExecutionID, w.ID)
		dst, err = appendDetails(append(dst, `,"details":`...), w.Details)
	case TimerFiredItem:
		dst = appendWorkID(dst, w.Instance, w.ExecutionID, w.ID)
		dst = appendNumber(dst, `,"fire_at_ms":`, w.FireAtMs)
	case ExternalRaisedItem:
		dst = appendText(dst, `{"instance":`, w.Instance)
		dst = appendText(dst, `,"name":`, w.Name)
		dst = appendText(dst, `,"data":`, w.Data)
	case ExternalRaised2Item:
		dst = appendText(dst, `{"instance":`, w.Instance)
		dst = appendText(dst, `,"name":`, w.Name)
		dst = appendText(dst, `,"topic":`, w.Topic)
		dst = appendText(dst, `,"data":`, w.Data)
	case QueueMessageItem:
		dst = appendText(dst, `{"instance":`, w.Instance)
		dst = appendText(dst, `,"name":`, w.Name)
		dst = appendText(dst, `,"data":`, w.Data)
	case SubOrchCompletedItem:
		dst = appendParentID(dst, w.ParentInstance, w.ParentExecutionID, w.ParentID)
		dst = appendText(dst, `,"result":`, w.Result)
	case SubOrchFailedItem:
		dst = appendParentID(dst, w.ParentInstance, w.ParentExecutionID, w.ParentID)
		dst, err = appendDetails(append(dst, `,"details":`...), w.Details)
	case CancelInstanceItem:
		dst = appendText(dst, `{"instance":`, w.Instance)
		dst = appendText(dst, `,"reason":`, w.Reason)
	default:
		err = fmt.Errorf("work item of type %T; items are held by value", w)
	}
	return append(dst, `}}`...), err
}

func appendWorkID(dst []byte, instance string, executionID, id uint64) []byte {
	dst = appendText(dst, `{"instance":`, instance)
	dst = appendNumber(dst, `,"execution_id":`, executionID)
	return appendNumber(dst, `,"id":`, id)
}

func appendParentID(dst []byte, instance string, executionID, id uint64) []byte {
	dst = appendText(dst, `{"parent_instance":`, instance)
	dst = appendNumber(dst, `,"parent_execution_id":`, executionID)
	return appendNumber(dst, `,"parent_id":`, id)
}

func appendCarried(dst []byte, key string, events []CarriedEvent) []byte {
	dst = append(append(dst, key...), '[')
	for i, e := range events {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '[')
		dst = appendString(dst, e.Name)
		dst = append(dst, ',')
		dst = appendString(dst, e.Data)
		dst = append(dst, ']')
	}
	return append(dst, ']')
}

func appendNumber(dst []byte, key string, n uint64) []byte {
	return strconv.AppendUint(append(dst, key...), n, 10)
}

func appendNumberOrNull(dst []byte, key string, n uint64) []byte {
	if n == 0 {
		return append(append(dst, key...), "null"...)
	}
	return appendNumber(dst, key, n)
}

func appendNumberUnlessZero(dst []byte, key string, n uint64) []byte {
	if n == 0 {
		return dst
	}
	return appendNumber(dst, key, n)
}

func appendText(dst []byte, key, s string) []byte {
	return appendString(append(dst, key...), s)
}

func appendTextOrNull(dst []byte, key, s string) []byte {
	if s == "" {
		return append(append(dst, key...), "null"...)
	}
	return appendText(dst, key, s)
}

func appendTextUnlessEmpty(dst []byte, key, s string) []byte {
	if s == "" {
		return dst
	}
	return appendText(dst, key, s)
}

// appendOptText omits nil. A pointer to "" is written as an empty string.
func appendOptText(dst []byte, key string, s *string) []byte {
	if s == nil {
		return dst
	}
	return appendText(dst, key, *s)
}

func appendBool(dst []byte, key string, b bool) []byte {
	return strconv.AppendBool(append(dst, key...), b)
}

// appendString appends s in quotes with only the escapes that JSON demands. Each byte that is not UTF-8 becomes U+FFFD,
// written literally rather than escaped, so a text that is decoded and encoded again stays the same.
func appendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0 // everything before it has been appended
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				dst = append(append(dst, s[from:i]...), "\uFFFD"...)
				from = i + 1
			}
			i += size
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[from:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, `\b`...)
		case '\f':
			dst = append(dst, `\f`...)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\t':
			dst = append(dst, `\t`...)
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
		from = i
	}
	return append(append(dst, s[from:]...), '"')
}
