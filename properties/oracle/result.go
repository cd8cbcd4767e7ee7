package oracle

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/durosim/durosim/engine"
)

// resultForm says which field of an answer is a method's result in JSON.
type resultForm struct {
	field func(a *Answer) any // a pointer to the field
	null  bool                // that there is nothing is a result, null
}

// forms are the results by method. A method that is not here has none, which is null in JSON.
var forms = map[Method]resultForm{
	FetchOrchestrationItem{}.Method():     {func(a *Answer) any { return &a.Item }, true},
	Read{}.Method():                       {func(a *Answer) any { return &a.Events }, false},
	ReadWithExecution{}.Method():          {func(a *Answer) any { return &a.Events }, false},
	FetchWorkItem{}.Method():              {func(a *Answer) any { return &a.Work }, true},
	RenewSessionLock{}.Method():           {func(a *Answer) any { return &a.Count }, false},
	CleanupOrphanedSessions{}.Method():    {func(a *Answer) any { return &a.Count }, false},
	GetCustomStatus{}.Method():            {func(a *Answer) any { return &a.CustomStatus }, true},
	GetKVValue{}.Method():                 {func(a *Answer) any { return &a.Value }, true},
	GetKVAllValues{}.Method():             {func(a *Answer) any { return (*pairs)(&a.Pairs) }, false},
	GetInstanceStats{}.Method():           {func(a *Answer) any { return &a.Stats }, true},
	ListInstances{}.Method():              {func(a *Answer) any { return (*List[string])(&a.IDs) }, false},
	ListInstancesByStatus{}.Method():      {func(a *Answer) any { return (*List[string])(&a.IDs) }, false},
	ListExecutions{}.Method():             {func(a *Answer) any { return (*List[uint64])(&a.Executions) }, false},
	ReadHistoryWithExecutionID{}.Method(): {func(a *Answer) any { return &a.Events }, false},
	ReadHistory{}.Method():                {func(a *Answer) any { return &a.Events }, false},
	LatestExecutionID{}.Method():          {func(a *Answer) any { return &a.Latest }, false},
	GetInstanceInfo{}.Method():            {func(a *Answer) any { return &a.Info }, false},
	GetExecutionInfo{}.Method():           {func(a *Answer) any { return &a.Execution }, false},
	GetSystemMetrics{}.Method():           {func(a *Answer) any { return &a.Metrics }, false},
	GetQueueDepths{}.Method():             {func(a *Answer) any { return &a.Depths }, false},
	ListChildren{}.Method():               {func(a *Answer) any { return (*List[string])(&a.IDs) }, false},
	GetParentID{}.Method():                {func(a *Answer) any { return (*maybeText)(&a.Parent) }, true},
	GetInstanceTree{}.Method():            {func(a *Answer) any { return &a.Tree }, false},
	DeleteInstance{}.Method():             {func(a *Answer) any { return &a.Deleted }, false},
	DeleteInstancesAtomic{}.Method():      {func(a *Answer) any { return &a.Deleted }, false},
	DeleteInstanceBulk{}.Method():         {func(a *Answer) any { return &a.Deleted }, false},
	PruneExecutions{}.Method():            {func(a *Answer) any { return &a.Pruned }, false},
	PruneExecutionsBulk{}.Method():        {func(a *Answer) any { return &a.Pruned }, false},
}

// EncodeResult is the result of a method in JSON, from an answer that is no error.
func EncodeResult(m Method, a Answer) ([]byte, error) {
	form, ok := forms[m]
	if !ok {
		return []byte("null"), nil
	}
	return json.Marshal(form.field(&a))
}

// DecodeResult makes an answer of a result in JSON. Errors say where in it something is wrong; fields that the method
// does not have are ignored, since a provider may tell more than is asked. What a method without a result returns is
// ignored, too.
func DecodeResult(m Method, result []byte) (Answer, error) {
	var a Answer
	form, ok := forms[m]
	switch {
	case !ok:
		return a, nil
	case len(result) == 0:
		return a, errors.New("result: missing")
	case string(result) == "null" && !form.null:
		return a, errors.New("result: null, where there is always a result")
	}
	return a, decode(result, form.field(&a), "result", false)
}

// List is a slice that is never null in JSON.
type List[T any] []T

// MarshalJSON writes an array.
func (l List[T]) MarshalJSON() ([]byte, error) { return json.Marshal(append([]T{}, l...)) }

// maybeText is a text that is null when it is empty.
type maybeText string

// MarshalJSON writes the text or null.
func (t maybeText) MarshalJSON() ([]byte, error) {
	if t == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(t))
}

// pairs are key-value pairs, sorted by key, that are an object in JSON.
type pairs []engine.KVPair

// MarshalJSON writes an object.
func (p pairs) MarshalJSON() ([]byte, error) {
	object := map[string]string{}
	for _, pair := range p {
		if _, twice := object[pair.Key]; twice {
			return nil, fmt.Errorf("the key %q is there twice", pair.Key)
		}
		object[pair.Key] = pair.Value
	}
	return json.Marshal(object)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (p *pairs) UnmarshalJSON(data []byte) error {
	var object map[string]string
	if err := json.Unmarshal(data, &object); err != nil {
		return err
	}
	*p = nil
	for _, key := range slices.Sorted(maps.Keys(object)) {
		*p = append(*p, engine.KVPair{Key: key, Value: object[key]})
	}
	return nil
}
