package engine

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/durosim/durosim/engine/eventdata"
)

// OpaqueItem is a work item together with the text it was decoded from. A codec made by Opaque writes that text back
// byte for byte, including fields and kinds that this package does not know. Other codecs write only the fields they
// know. Known returns the item without its text.
type OpaqueItem struct {
	WorkItem
	Text string
}

// Known returns the item without its text. If the kind is unknown, only the kind and the target remain.
func Known(w WorkItem) WorkItem {
	if o, ok := w.(OpaqueItem); ok {
		return o.WorkItem
	}
	return w
}

// unknownItem is an item whose kind has no struct in this package.
type unknownItem struct {
	kind   WorkItemKind
	target string
}

func (u unknownItem) Kind() WorkItemKind { return u.kind }
func (u unknownItem) Target() string     { return u.target }
func (unknownItem) isWorkItem()          {}

// Opaque returns a codec that preserves what c does not know: unknown fields and kinds are not errors and are written
// back byte for byte. It is meant for code that stores and forwards events and work items without interpreting them,
// such as a provider that serves callers of any build. Data in exactly the form written by c is decoded as by c, and
// its text is not kept.
func Opaque(c Codec) Codec { return opaqueCodec{c} }

type opaqueCodec struct{ Codec }

func (c opaqueCodec) AppendWorkItem(dst []byte, w WorkItem) ([]byte, error) {
	if o, ok := w.(OpaqueItem); ok {
		return append(dst, o.Text...), nil
	}
	return c.Codec.AppendWorkItem(dst, w)
}

func (c opaqueCodec) DecodeWorkItem(data []byte) (WorkItem, error) {
	w, err := c.Codec.DecodeWorkItem(data)
	switch {
	case errors.Is(err, ErrUnknownKind):
		tag, body, err := eventdata.ScanTagged(string(data))
		if err != nil {
			return nil, err
		}
		var o eventdata.Object
		if o.Scan(body); o.Err != nil {
			return nil, fmt.Errorf("codec %s: work item %s: %w", c.Name(), tag, o.Err)
		}
		target := o.OptText("instance")
		if target == "" {
			target = o.OptText("parent_instance")
		}
		if target == "" {
			return nil, fmt.Errorf("codec %s: work item of the unknown kind %s: neither instance nor parent_instance says where it belongs", c.Name(), tag)
		}
		return OpaqueItem{unknownItem{WorkItemKind(tag), target}, string(data)}, nil
	case err != nil:
		return nil, err
	}
	if again, err := c.Codec.AppendWorkItem(nil, w); err == nil && bytes.Equal(again, data) {
		return w, nil
	}
	return OpaqueItem{w, string(data)}, nil
}

func (c opaqueCodec) AppendEvent(dst []byte, e Event) ([]byte, error) {
	if o, ok := e.Data.(eventdata.Opaque); ok {
		return append(dst, o.Text...), nil
	}
	return c.Codec.AppendEvent(dst, e)
}

func (c opaqueCodec) DecodeEvent(data []byte) (Event, error) {
	e, err := c.Codec.DecodeEvent(data)
	switch {
	case errors.Is(err, ErrUnknownKind):
		var o eventdata.Object
		o.Scan(string(data))
		e, kind := envelopeOf(&o)
		e.Data = eventdata.Opaque{Data: eventdata.Unknown(kind), Text: string(data)}
		return e, o.Err
	case err != nil:
		return Event{}, err
	}
	if again, err := c.Codec.AppendEvent(nil, e); err == nil && bytes.Equal(again, data) {
		return e, nil
	}
	e.Data = eventdata.Opaque{Data: e.Data, Text: string(data)}
	return e, nil
}
