package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine/eventdata"
)

// Field is an optional field of an event or work item that was added after its kind was introduced. A build that lacks
// the field ignores it when reading, as decoders ignore all unknown fields, and therefore drops it when writing.
type Field string

// The fields that builds may lack (docs/contract/runtime.md#r15.1; for the older ones, #r1 and #r2).
const (
	// fieldParentExecution is parent_execution_id of StartOrchestration, ContinueAsNew and OrchestrationStarted.
	fieldParentExecution Field = "parent-execution"
	// fieldContinuedParent is the parent's link in ContinueAsNew.
	fieldContinuedParent Field = "continued-parent"
	// fieldInitialStatus is initial_custom_status of ContinueAsNew and OrchestrationStarted.
	fieldInitialStatus Field = "initial-custom-status"
	// fieldTag is the tag of ActivityScheduled and ActivityExecute.
	fieldTag Field = "tag"
	// fieldSession is session_id of ActivityScheduled and ActivityExecute.
	fieldSession Field = "session"
)

// Fields returns every Field.
func Fields() []Field {
	return []Field{fieldParentExecution, fieldContinuedParent, fieldInitialStatus, fieldTag, fieldSession}
}

// ForgetfulCodec is a Codec that lacks some fields. It leaves them empty both when reading and when writing.
type ForgetfulCodec interface {
	Codec
	// Lacks returns the missing fields in ascending order.
	Lacks() []Field
}

// WithoutFields returns a codec that works like c but also lacks the given fields. It returns an error for an unknown
// field.
func WithoutFields(c Codec, lacks ...Field) (Codec, error) {
	for _, f := range lacks {
		if !slices.Contains(Fields(), f) {
			return nil, fmt.Errorf("field %q: want one of %s", f, fieldNames())
		}
	}
	if before, ok := c.(*forgetfulCodec); ok {
		c, lacks = before.Codec, slices.Concat(before.lacks, lacks)
	}
	if len(lacks) == 0 {
		return c, nil
	}
	return &forgetfulCodec{Codec: c, lacks: slices.Compact(slices.Sorted(slices.Values(lacks)))}, nil
}

func fieldNames() string {
	var names []string
	for _, f := range Fields() {
		names = append(names, string(f))
	}
	return strings.Join(names, ", ")
}

type forgetfulCodec struct {
	Codec
	lacks []Field
}

func (c *forgetfulCodec) Lacks() []Field { return slices.Clone(c.lacks) }

func (c *forgetfulCodec) AppendEvent(dst []byte, e Event) ([]byte, error) {
	return c.Codec.AppendEvent(dst, c.event(e))
}

func (c *forgetfulCodec) DecodeEvent(data []byte) (Event, error) {
	e, err := c.Codec.DecodeEvent(data)
	return c.event(e), err
}

func (c *forgetfulCodec) AppendWorkItem(dst []byte, w WorkItem) ([]byte, error) {
	return c.Codec.AppendWorkItem(dst, c.item(w))
}

func (c *forgetfulCodec) DecodeWorkItem(data []byte) (WorkItem, error) {
	w, err := c.Codec.DecodeWorkItem(data)
	return c.item(w), err
}

// event returns e without the missing fields.
func (c *forgetfulCodec) event(e Event) Event {
	switch d := e.Data.(type) {
	case eventdata.OrchestrationStarted:
		forget(c, fieldParentExecution, &d.ParentExecutionID)
		forget(c, fieldInitialStatus, &d.InitialCustomStatus)
		e.Data = d
	case eventdata.ActivityScheduled:
		forget(c, fieldTag, &d.Tag)
		forget(c, fieldSession, &d.SessionID)
		e.Data = d
	}
	return e
}

// item returns w without the missing fields.
func (c *forgetfulCodec) item(w WorkItem) WorkItem {
	switch m := Known(w).(type) {
	case StartItem:
		forget(c, fieldParentExecution, &m.ParentExecutionID)
		return m
	case ContinueAsNewItem:
		forget(c, fieldParentExecution, &m.ParentExecutionID)
		forget(c, fieldContinuedParent, &m.ParentInstance)
		forget(c, fieldContinuedParent, &m.ParentID)
		forget(c, fieldContinuedParent, &m.ParentExecutionID)
		forget(c, fieldInitialStatus, &m.InitialCustomStatus)
		return m
	case ActivityExecuteItem:
		forget(c, fieldTag, &m.Tag)
		forget(c, fieldSession, &m.SessionID)
		return m
	}
	return w
}

// forget empties a field if the codec lacks it.
func forget[T any](c *forgetfulCodec, f Field, value *T) {
	if slices.Contains(c.lacks, f) {
		*value = *new(T)
	}
}
