package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/internal/eventdata"
)

// Field is an optional field of events and work items that is younger than their kind. A build that lacks it ignores it in
// what it reads, as all decoders ignore what they do not know, and so writes on without it.
type Field string

// The fields that builds may lack (docs/contract/runtime.md#r15.1, and #r1 to #r2 for those that are older).
const (
	// FieldParentExecution is parent_execution_id of StartOrchestration, ContinueAsNew and OrchestrationStarted.
	FieldParentExecution Field = "parent-execution"
	// FieldContinuedParent is the parent's link in ContinueAsNew.
	FieldContinuedParent Field = "continued-parent"
	// FieldInitialStatus is initial_custom_status of ContinueAsNew and OrchestrationStarted.
	FieldInitialStatus Field = "initial-custom-status"
	// FieldTag is the tag of ActivityScheduled and ActivityExecute.
	FieldTag Field = "tag"
	// FieldSession is session_id of both.
	FieldSession Field = "session"
)

// Fields returns every Field.
func Fields() []Field {
	return []Field{FieldParentExecution, FieldContinuedParent, FieldInitialStatus, FieldTag, FieldSession}
}

// ForgetfulCodec is a Codec that lacks fields: what it writes and reads has them empty.
type ForgetfulCodec interface {
	Codec
	// Lacks returns the fields, ascending.
	Lacks() []Field
}

// WithoutFields returns a codec like c, but of a build that lacks these fields, too. It returns an error if a field is
// unknown.
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

// event returns an event without the fields.
func (c *forgetfulCodec) event(e Event) Event {
	switch d := e.Data.(type) {
	case eventdata.OrchestrationStarted:
		if c.lack(FieldParentExecution) {
			d.ParentExecutionID = 0
		}
		if c.lack(FieldInitialStatus) {
			d.InitialCustomStatus = nil
		}
		e.Data = d
	case eventdata.ActivityScheduled:
		if c.lack(FieldTag) {
			d.Tag = ""
		}
		if c.lack(FieldSession) {
			d.SessionID = ""
		}
		e.Data = d
	}
	return e
}

// item returns a work item without the fields.
func (c *forgetfulCodec) item(w WorkItem) WorkItem {
	switch m := Known(w).(type) {
	case StartItem:
		if c.lack(FieldParentExecution) {
			m.ParentExecutionID = 0
		}
		return m
	case ContinueAsNewItem:
		if c.lack(FieldParentExecution) {
			m.ParentExecutionID = 0
		}
		if c.lack(FieldContinuedParent) {
			m.ParentInstance, m.ParentID, m.ParentExecutionID = "", 0, 0
		}
		if c.lack(FieldInitialStatus) {
			m.InitialCustomStatus = nil
		}
		return m
	case ActivityExecuteItem:
		if c.lack(FieldTag) {
			m.Tag = ""
		}
		if c.lack(FieldSession) {
			m.SessionID = ""
		}
		return m
	}
	return w
}

func (c *forgetfulCodec) lack(f Field) bool { return slices.Contains(c.lacks, f) }
