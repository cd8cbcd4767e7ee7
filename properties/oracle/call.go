package oracle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/durosim/durosim/engine"
)

// Call is one call of a provider, as plain data. In JSON it is {"method", "params", "build"}.
type Call struct {
	// Build is the name of the codec of the handle that made the call; it says what the caller can decode. Empty is a
	// caller that decodes everything that is not damaged.
	Build string
	Args  Args
}

// wireCall is a Call in JSON.
type wireCall struct {
	Method Method          `json:"method"`
	Params json.RawMessage `json:"params"`
	Build  string          `json:"build,omitempty"`
}

// MarshalJSON writes the method and its parameters. It fails for work items and events that have no JSON form.
func (c Call) MarshalJSON() ([]byte, error) {
	if c.Args == nil {
		return nil, fmt.Errorf("a call without arguments")
	}
	params, err := json.Marshal(c.Args)
	if err != nil {
		return nil, err
	}
	return json.Marshal(wireCall{c.Args.Method(), params, c.Build})
}

// UnmarshalJSON reads what MarshalJSON writes. Unknown methods and parameters are errors.
func (c *Call) UnmarshalJSON(data []byte) error {
	var w wireCall
	if err := strict(data, &w); err != nil {
		return err
	}
	args, err := ParseArgs(w.Method, w.Params)
	if err != nil {
		return err
	}
	*c = Call{Build: w.Build, Args: args}
	return nil
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

// ParseArgs reads the parameters of a method from JSON.
func ParseArgs(m Method, params []byte) (Args, error) {
	for _, a := range Methods() {
		if a.Method() != m {
			continue
		}
		v := reflect.New(reflect.TypeOf(a))
		if len(params) > 0 {
			if err := strict(params, v.Interface()); err != nil {
				return nil, fmt.Errorf("parameters of %s: %w", m, err)
			}
		}
		return v.Elem().Interface().(Args), nil
	}
	return nil, fmt.Errorf("unknown method %q", m)
}

// strict reads one JSON value without unknown fields.
func strict(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if d.More() {
		return fmt.Errorf("something follows the JSON value")
	}
	return nil
}

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
	Retryable bool   `json:"retryable"`
	Message   string `json:"message"`
}

// Answer is what a call returned: an error, or the field that the method fills. A field that is absent is nothing, no
// value, or an empty list.
type Answer struct {
	Err *ErrorAnswer `json:"error,omitempty"`
	// Lost says that nobody knows whether the call took effect: the answer never came.
	Lost bool `json:"lost,omitempty"`

	Item         *Fetched                     `json:"item,omitempty"`
	Work         *Work                        `json:"work,omitempty"`
	Events       Events                       `json:"events,omitempty"`
	Count        int                          `json:"count,omitempty"`
	CustomStatus *engine.CustomStatus         `json:"custom_status,omitempty"`
	Value        *string                      `json:"value,omitempty"`
	Pairs        []engine.KVPair              `json:"pairs,omitempty"`
	Stats        *engine.SystemStats          `json:"stats,omitempty"`
	IDs          []string                     `json:"ids,omitempty"`
	Executions   []uint64                     `json:"executions,omitempty"`
	Latest       uint64                       `json:"latest,omitempty"`
	Parent       string                       `json:"parent,omitempty"`
	Info         *engine.InstanceInfo         `json:"info,omitempty"`
	Execution    *engine.ExecutionInfo        `json:"execution,omitempty"`
	Metrics      *engine.SystemMetrics        `json:"metrics,omitempty"`
	Depths       *engine.QueueDepths          `json:"depths,omitempty"`
	Tree         *engine.InstanceTree         `json:"tree,omitempty"`
	Deleted      *engine.DeleteInstanceResult `json:"deleted,omitempty"`
	Pruned       *engine.PruneResult          `json:"pruned,omitempty"`

	// cause is the error as it was returned, for whoever passes it on.
	cause error
}

// String is the answer as a transcript shows it: its JSON, or "{}" for success without a result.
func (a Answer) String() string {
	data, err := json.Marshal(a)
	if err != nil {
		return fmt.Sprintf("an answer that has no JSON form: %v", err)
	}
	return string(data)
}
