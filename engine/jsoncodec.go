package engine

// Why the JSON is written by hand
//
// The codec must refuse what the contract's reader refuses, ignore the unknown fields that it ignores, write canonical
// bytes, and be cheap, since every history that a node fetches is decoded. internal/dev/jsonbench measured (Go 1.26, one
// event, shared core, best of six; the last column lists what a library accepts although the contract refuses it):
//
//	                         decode    encode    accepts
//	this codec               2.4 µs    0.6 µs    nothing
//	go-json-experiment (v2)  2.9 µs    3.5 µs    a missing field, null for a number
//	goccy/go-json            0.7 µs    0.4 µs    also duplicate fields and names in another case, with no option against it
//	encoding/json            8.2 µs    2.5 µs    as goccy
//
// The default campaign spends 3.6 % of its time on encoding and 1.5 % on decoding: with go-json-experiment it would take
// a sixth longer. This is the only JSON parser of ours.
//
// The libraries decode into one flat struct, which flatters them: a real decoder must know the kind before the fields.
// The hand-written code can be deleted once encoding/json/v2 is in the standard library without an experiment, and a
// decoder based on it, which checks presence by pointer fields, is at most a quarter slower than this one. The
// benchmarks of internal/dev/jsonbench show whether it is.

import (
	"errors"
	"fmt"

	"github.com/durosim/durosim/engine/eventdata"
)

// ErrUnknownKind is wrapped by the error that a Codec returns for an event or work item of a kind it does not know.
// With errors.Is, callers can tell data from a newer build from corrupt data.
var ErrUnknownKind = errors.New("unknown kind")

// NewJSONCodec returns the codec of a build that reads and writes the given kinds, in the JSON format of
// docs/contract/runtime.md#r1 to #r3. The name appears in every error; builds use their version. NewJSONCodec panics if
// this package has no data type for a kind.
//
// The encoding is canonical: fields in the contract's order followed by our extensions, no spaces, and only the escapes
// that JSON requires. Encoded data can always be decoded, and the decoded value encodes to the same bytes. It equals
// the original with three exceptions: an empty slice of carried events decodes as nil, each byte that is not UTF-8
// becomes U+FFFD, and an empty string or zero that stands for "absent" decodes as absent. The encoder rejects data that
// could not be decoded again: an event without an id, or error details with no variant, with two variants, or with
// fields of another kind.
//
// Decoding is as strict as the contract's own reader: field names must match exactly, numbers must be whole, duplicate
// fields are errors, and all non-optional fields must be present. Field order and white space do not matter, and fields
// that the kind does not have are ignored.
func NewJSONCodec(name string, kinds KindSet, items WorkItemKindSet) Codec {
	c := &jsonCodec{name: name, kinds: kinds}
	for _, k := range kinds.kinds {
		form := eventForms.find(string(k))
		if form == nil {
			panic(fmt.Sprintf("codec %s: no event data has the kind %q", name, k))
		}
		c.reads.add(form)
	}
	for _, k := range items.kinds {
		form := itemForms.find(string(k))
		if form == nil {
			panic(fmt.Sprintf("codec %s: no work item has the kind %q", name, k))
		}
		c.takes.add(form)
	}
	return c
}

// The forms of all kinds that there are.
var (
	eventForms = setOf(eventdata.Forms())
	itemForms  = setOf(ItemForms())
)

func setOf(forms []*eventdata.Form) *formSet {
	var s formSet
	for _, f := range forms {
		s.add(f)
	}
	return &s
}

// jsonCodec is immutable, so all nodes of a build may share it.
type jsonCodec struct {
	name  string
	kinds KindSet
	reads formSet // the same kinds, for fast lookup
	takes formSet
}

func (c *jsonCodec) Name() string   { return c.name }
func (c *jsonCodec) Kinds() KindSet { return c.kinds }

// RereadsEvent implements Rereader. All codecs of this type decode the kinds they share in the same way.
func (c *jsonCodec) RereadsEvent(from Codec, e Event) bool {
	other, alike := from.(*jsonCodec)
	return other == c || alike && c.reads.find(string(e.Kind())) != nil
}

func (c *jsonCodec) RereadsWorkItem(from Codec, w WorkItem) bool {
	other, alike := from.(*jsonCodec)
	return other == c || alike && w != nil && c.takes.find(string(w.Kind())) != nil
}

// AppendEvent implements Codec. On error it returns dst unchanged.
func (c *jsonCodec) AppendEvent(dst []byte, e Event) ([]byte, error) {
	e.Data = eventdata.Known(e.Data)
	if e.Data == nil {
		return dst, c.eventError(e, errors.New("no data"))
	}
	kind := e.Kind()
	form := c.reads.find(string(kind))
	switch {
	case e.EventID == 0:
		return dst, c.eventError(e, fmt.Errorf("%s without an event_id", kind))
	case form == nil:
		return dst, c.eventError(e, fmt.Errorf("%w %q", ErrUnknownKind, kind))
	}
	out, err := appendEvent(dst, form, &e)
	if err != nil {
		return dst, c.eventError(e, fmt.Errorf("%s: %w", kind, err))
	}
	return out, nil
}

// appendEvent and appendWorkItem append literal text: the helpers take a key with its punctuation, as in `,"name":`.
func appendEvent(dst []byte, form *eventdata.Form, e *Event) ([]byte, error) {
	dst = eventdata.AppendNumber(dst, `{"event_id":`, e.EventID)
	dst = eventdata.AppendNumberOrNull(dst, `,"source_event_id":`, e.SourceEventID)
	dst = eventdata.AppendText(dst, `,"instance_id":`, e.InstanceID)
	dst = eventdata.AppendNumber(dst, `,"execution_id":`, e.ExecutionID)
	dst = eventdata.AppendNumber(dst, `,"timestamp_ms":`, e.TimestampMs)
	dst = eventdata.AppendText(dst, `,"duroxide_version":`, e.DuroxideVersion)
	dst = append(append(append(dst, `,"type":"`...), form.Kind...), '"')
	dst, err := form.Append(dst, e.Data)
	return append(dst, '}'), err
}

func (c *jsonCodec) DecodeEvent(data []byte) (Event, error) {
	var o eventdata.Object
	o.Scan(string(data))
	if o.Err != nil {
		return Event{}, fmt.Errorf("codec %s: event: %w", c.name, o.Err)
	}
	e, kind := envelopeOf(&o)
	form := c.reads.find(string(kind))
	switch {
	case o.Err != nil && kind != "":
		return Event{}, c.eventError(e, fmt.Errorf("%s: %w", kind, o.Err))
	case o.Err != nil:
		return Event{}, c.eventError(e, o.Err)
	case e.EventID == 0:
		return Event{}, c.eventError(e, fmt.Errorf("%s without an event_id", kind))
	case form == nil:
		return Event{}, c.eventError(e, fmt.Errorf("%w %q", ErrUnknownKind, kind))
	}
	e.Data = form.Read(&o).(EventData)
	if o.Err != nil {
		return Event{}, c.eventError(e, fmt.Errorf("%s: %w", kind, o.Err))
	}
	return e, nil
}

// envelopeOf returns the event of scanned object o without its data, and its kind. It leaves errors in o.
func envelopeOf(o *eventdata.Object) (Event, EventKind) {
	return Event{
		EventID: o.Number("event_id"), SourceEventID: o.OptNumber("source_event_id"), InstanceID: o.Text("instance_id"),
		ExecutionID: o.Number("execution_id"), TimestampMs: o.Number("timestamp_ms"), DuroxideVersion: o.Text("duroxide_version"),
	}, EventKind(o.Text("type"))
}

// AppendWorkItem implements Codec. On error it returns dst unchanged.
func (c *jsonCodec) AppendWorkItem(dst []byte, w WorkItem) ([]byte, error) {
	w = Known(w)
	if w == nil {
		return dst, fmt.Errorf("codec %s: no work item", c.name)
	}
	kind := w.Kind()
	form := c.takes.find(string(kind))
	if form == nil {
		return dst, fmt.Errorf("codec %s: work item for %q: %w %q", c.name, w.Target(), ErrUnknownKind, kind)
	}
	out, err := appendWorkItem(dst, form, w)
	if err != nil {
		return dst, fmt.Errorf("codec %s: work item for %q: %s: %w", c.name, w.Target(), kind, err)
	}
	return out, nil
}

func appendWorkItem(dst []byte, form *eventdata.Form, w WorkItem) ([]byte, error) {
	dst = append(append(append(dst, `{"`...), form.Kind...), `":`...)
	body := len(dst)
	dst, err := form.Append(dst, w)
	if err == nil {
		dst[body] = '{' // in place of the comma
	}
	return append(dst, `}}`...), err
}

func (c *jsonCodec) DecodeWorkItem(data []byte) (WorkItem, error) {
	tag, body, err := eventdata.ScanTagged(string(data))
	if err != nil {
		return nil, fmt.Errorf("codec %s: work item: %w", c.name, err)
	}
	form := c.takes.find(tag)
	if form == nil {
		return nil, fmt.Errorf("codec %s: work item: %w %q", c.name, ErrUnknownKind, tag)
	}
	var o eventdata.Object
	o.Scan(body)
	w := form.Read(&o)
	if o.Err != nil {
		return nil, fmt.Errorf("codec %s: work item: %s: %w", c.name, tag, o.Err)
	}
	return w.(WorkItem), nil
}

// eventError adds what is known about the event to the error.
func (c *jsonCodec) eventError(e Event, err error) error {
	return fmt.Errorf("codec %s: event %d of %q, execution %d: %w", c.name, e.EventID, e.InstanceID, e.ExecutionID, err)
}
