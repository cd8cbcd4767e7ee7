package oracle

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/durosim/durosim/engine"
)

// Call is one call of a provider, as plain data.
type Call struct {
	// Build is the name of the codec of the handle that made the call; it says what the caller can decode. Empty is a
	// caller that decodes everything that is not damaged.
	Build string
	Args  Args
}

// Methods are the arguments of every call, zero, in the order of the interfaces; what is no call stands last.
func Methods() []Args {
	return []Args{
		EnqueueForOrchestrator{}, FetchOrchestrationItem{}, AckOrchestrationItem{}, AbandonOrchestrationItem{}, RenewOrchestrationItemLock{},
		Read{}, ReadWithExecution{}, AppendWithExecution{}, EnqueueForWorker{}, FetchWorkItem{}, AckWorkItem{}, RenewWorkItemLock{},
		AbandonWorkItem{}, RenewSessionLock{}, CleanupOrphanedSessions{}, GetCustomStatus{}, GetKVValue{}, GetKVAllValues{}, GetInstanceStats{},
		ListInstances{}, ListInstancesByStatus{}, ListExecutions{}, ReadHistoryWithExecutionID{}, ReadHistory{}, LatestExecutionID{},
		GetInstanceInfo{}, GetExecutionInfo{}, GetSystemMetrics{}, GetQueueDepths{}, ListChildren{}, GetParentID{}, GetInstanceTree{},
		DeleteInstance{}, DeleteInstancesAtomic{}, DeleteInstanceBulk{}, PruneExecutions{}, PruneExecutionsBulk{},
		Plant{}, CorruptEvent{}, CorruptMessage{},
	}
}

// ParseArgs reads the parameters of a method from JSON: one object, with every needed field and no unknown one.
func ParseArgs(m Method, params []byte) (Args, error) {
	for _, a := range Methods() {
		if a.Method() != m {
			continue
		}
		if len(params) == 0 {
			params = []byte("{}")
		}
		v := reflect.New(reflect.TypeOf(a))
		if err := decode(params, v.Interface(), "params", true); err != nil {
			return nil, err
		}
		return v.Elem().Interface().(Args), nil
	}
	return nil, &UnknownMethodError{m}
}

// UnknownMethodError says that there is no such method.
type UnknownMethodError struct{ Method Method }

func (e *UnknownMethodError) Error() string { return fmt.Sprintf("unknown method %q", e.Method) }

// String is the call as a transcript shows it: the method and its parameters in JSON.
func (c Call) String() string {
	params, err := json.Marshal(c.Args)
	if err != nil {
		params = []byte(fmt.Sprintf("%+v", c.Args))
	}
	text := string(c.Args.Method()) + " " + string(params)
	if c.Build != "" {
		text += " by build " + c.Build
	}
	return text
}

// ErrorAnswer is a failed call.
type ErrorAnswer struct {
	Retryable bool
	Message   string
}

// The codes of a failed call in JSON.
const (
	CodeRetryable = 1
	CodePermanent = 2
)

type errorJSON struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// MarshalJSON writes code and message.
func (e ErrorAnswer) MarshalJSON() ([]byte, error) {
	if e.Retryable {
		return json.Marshal(errorJSON{CodeRetryable, e.Message})
	}
	return json.Marshal(errorJSON{CodePermanent, e.Message})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (e *ErrorAnswer) UnmarshalJSON(data []byte) error {
	var in errorJSON
	if err := decode(data, &in, "error", false); err != nil {
		return err
	}
	if in.Code != CodeRetryable && in.Code != CodePermanent {
		return fmt.Errorf("error.code: want %d (retryable) or %d (permanent), got %d", CodeRetryable, CodePermanent, in.Code)
	}
	*e = ErrorAnswer{in.Code == CodeRetryable, in.Message}
	return nil
}

// Answer is what a call returned: an error, or the field that the method fills. A field that is absent is nothing, no
// value, or an empty list.
type Answer struct {
	Err *ErrorAnswer
	// Lost says that nobody knows whether the call took effect: the answer never came.
	Lost bool

	Item         *Fetched
	Work         *Work
	Events       Events
	Count        int
	CustomStatus *engine.CustomStatus
	Value        *string
	Pairs        []engine.KVPair
	Stats        *engine.SystemStats
	IDs          []string
	Executions   []uint64
	Latest       uint64
	Parent       string
	Info         *engine.InstanceInfo
	Execution    *engine.ExecutionInfo
	Metrics      *engine.SystemMetrics
	Depths       *engine.QueueDepths
	Tree         *engine.InstanceTree
	Deleted      *engine.DeleteInstanceResult
	Pruned       *engine.PruneResult

	// cause is the error as it was returned, for whoever passes it on.
	cause error
}

// describe is the answer to a call of a method as a transcript shows it.
func (a Answer) describe(m Method) string {
	switch {
	case a.Lost:
		return "no answer came"
	case a.Err != nil && a.Err.Retryable:
		return "retryable error: " + a.Err.Message
	case a.Err != nil:
		return "permanent error: " + a.Err.Message
	}
	if _, ok := forms[m]; !ok {
		return "done"
	}
	data, err := EncodeResult(m, a)
	if err != nil {
		return fmt.Sprintf("a result that has no JSON form: %v", err)
	}
	return string(data)
}
