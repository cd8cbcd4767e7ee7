package call

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/internal/pretty"
)

// everything is a codec for all kinds. opaque also preserves unknown kinds and fields.
var (
	everything = engine.NewJSONCodec("oracle", engine.Kinds2x(), engine.WorkItemKinds2x())
	opaque     = engine.Opaque(everything)
)

// EncodeCall encodes a call's parameters as JSON. It fails for work items and events without a JSON form.
func EncodeCall(c Call) ([]byte, error) { return appendValue(nil, reflect.ValueOf(c)) }

// Text formats a value from engine or engine/call as JSON, for use in messages. If the value has no JSON form, Text
// formats it as Go does.
func Text(v any) string {
	data, err := appendValue(nil, reflect.ValueOf(v))
	if err != nil {
		return pretty.Value(v) // never prints an address
	}
	return string(data)
}

// CallText returns the form of c in a transcript: the method and its parameters.
func CallText(c Call) string { return Method(c) + " " + Text(c) }

// AnswerText returns the form of a method's answer in a transcript.
func AnswerText(method string, a Answer) string {
	if a.Err != nil {
		e := ErrorOf(a.Err)
		return e.class() + ": " + e.Message
	}
	if _, ok := results[method]; !ok {
		return "done"
	}
	data, err := EncodeResult(method, a)
	if err != nil {
		return fmt.Sprintf("a result without a JSON form: %v", err)
	}
	return string(data)
}

// EventText returns an event's canonical text, for comparing events. It fails if no codec can encode the event.
func EventText(e engine.Event) (string, error) {
	// The codec cannot encode an event without an id. A call may contain one, which the provider must reject. It is
	// written with id 0.
	const firstID, noID = `{"event_id":1,`, `{"event_id":0,`
	if o, ok := e.Data.(eventdata.Opaque); ok {
		known := e
		known.Data = o.Data
		if text, err := everything.AppendEvent(nil, known); err == nil {
			return string(text), nil
		}
		return o.Text, nil
	}
	without := e.EventID == 0
	if without {
		e.EventID = 1
	}
	text, err := everything.AppendEvent(nil, e)
	if without && err == nil {
		rest, ok := strings.CutPrefix(string(text), firstID)
		if !ok {
			return "", fmt.Errorf("an event's text does not begin with its id: %s", text)
		}
		return noID + rest, nil
	}
	return string(text), err
}

// ItemText returns a work item's canonical text, for comparing items. It fails if no codec can encode the item.
func ItemText(w engine.WorkItem) (string, error) {
	if w == nil {
		return "", errors.New("no work item")
	}
	text, err := everything.AppendWorkItem(nil, engine.Known(w))
	if o, ok := w.(engine.OpaqueItem); ok && err != nil {
		return o.Text, nil // an item of an unknown kind
	}
	return string(text), err
}

var (
	typeItem     = reflect.TypeFor[engine.WorkItem]()
	typeEvent    = reflect.TypeFor[engine.Event]()
	typeDuration = reflect.TypeFor[time.Duration]()
	typeTags     = reflect.TypeFor[engine.TagFilter]()
	typePairs    = reflect.TypeFor[[]engine.KVPair]()
	typeEntries  = reflect.TypeFor[[]engine.KVEntry]()
)

func appendValue(b []byte, v reflect.Value) ([]byte, error) {
	if !v.IsValid() {
		return append(b, "null"...), nil
	}
	switch v.Type() {
	case typeItem:
		if v.IsNil() {
			return append(b, "null"...), nil
		}
		return opaque.AppendWorkItem(b, v.Interface().(engine.WorkItem))
	case typeEvent:
		e := v.Interface().(engine.Event)
		if o, ok := e.Data.(eventdata.Opaque); ok {
			return append(b, o.Text...), nil
		}
		text, err := EventText(e)
		return append(b, text...), err
	case typeDuration:
		ms := max(v.Interface().(time.Duration).Milliseconds(), 0)
		if v.Int() == math.MaxInt64 { // what a reader makes of every time that is longer
			ms = math.MaxInt64
		}
		return strconv.AppendInt(b, ms, 10), nil
	case typeTags:
		return appendTags(b, v.Interface().(engine.TagFilter))
	case typePairs, typeEntries:
		return appendByKey(b, v)
	}
	if item, ok := v.Interface().(engine.WorkItem); ok && v.Kind() == reflect.Struct {
		return opaque.AppendWorkItem(b, item)
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return append(b, "null"...), nil
		}
		return appendValue(b, v.Elem())
	case reflect.Slice:
		b = append(b, '[')
		for i := range v.Len() {
			var err error
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = appendValue(b, v.Index(i)); err != nil {
				return b, err
			}
		}
		return append(b, ']'), nil
	case reflect.Struct:
		if t, ok := v.Interface().(encoding.TextMarshaler); ok {
			text, err := t.MarshalText()
			return appendText(b, string(text)), err
		}
		return appendFields(b, v)
	case reflect.String:
		return appendText(b, v.String()), nil
	}
	data, err := json.Marshal(v.Interface()) // a number or a boolean
	return append(b, data...), err
}

func appendText(b []byte, text string) []byte {
	data, _ := json.Marshal(text) // a string can always be encoded
	return append(b, data...)
}

// field describes a struct field's representation in JSON.
type field struct {
	index    int
	name     string
	optional bool // omitted if zero
	nullable bool // a nil list is written as null, an empty list as []
}

// fieldsOf returns the fields of a struct that have a JSON tag. The tag `form:"nullable"` marks a field as nullable.
func fieldsOf(t reflect.Type) []field {
	var list []field
	for i := range t.NumField() {
		tag := t.Field(i).Tag
		name, option, _ := strings.Cut(tag.Get("json"), ",")
		if name != "" {
			list = append(list, field{i, name, option == "omitempty", tag.Get("form") == "nullable"})
		}
	}
	return list
}

func appendFields(b []byte, v reflect.Value) ([]byte, error) {
	b = append(b, '{')
	first := true
	for _, f := range fieldsOf(v.Type()) {
		value := v.Field(f.index)
		if f.optional && (value.IsZero() || value.Kind() == reflect.Slice && value.Len() == 0) {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(appendText(b, f.name), ':')
		var err error
		if f.nullable && value.IsZero() {
			b = append(b, "null"...)
		} else if b, err = appendValue(b, value); err != nil {
			return b, fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return append(b, '}'), nil
}

// appendByKey writes a slice of pairs or entries as an object, preserving the order. Each element's key becomes a field
// name, and the rest of the element becomes the field's value.
func appendByKey(b []byte, v reflect.Value) ([]byte, error) {
	b = append(b, '{')
	var keys []string
	for i := range v.Len() {
		e := v.Index(i)
		key := e.Field(0).String()
		if slices.Contains(keys, key) {
			return b, fmt.Errorf("duplicate key %q", key)
		}
		keys = append(keys, key)
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendText(b, key), ':')
		switch e := e.Interface().(type) {
		case engine.KVPair:
			b = appendText(b, e.Value)
		case engine.KVEntry:
			b = append(appendText(append(b, `{"value":`...), e.Value), `,"last_updated_at_ms":`...)
			b = append(strconv.AppendUint(b, e.LastUpdatedAtMs, 10), '}')
		}
	}
	return append(b, '}'), nil
}

// The contract's names for tag filter modes: tagModes for modes without a set of tags, tagSets for modes with one.
var (
	tagModes = []string{engine.TagDefaultOnly: "DefaultOnly", engine.TagTags: "Tags", engine.TagDefaultAnd: "DefaultAnd", engine.TagAny: "Any", engine.TagNone: "None"}
	tagSets  = []engine.TagMode{engine.TagTags, engine.TagDefaultAnd}
)

func appendTags(b []byte, f engine.TagFilter) ([]byte, error) {
	if int(f.Mode) >= len(tagModes) {
		return b, fmt.Errorf("tag mode %d has no name", f.Mode)
	}
	name := tagModes[f.Mode]
	if !slices.Contains(tagSets, f.Mode) {
		return appendText(b, name), nil
	}
	b = append(appendText(append(b, '{'), name), ':')
	b, err := appendValue(b, reflect.ValueOf(append([]string{}, f.Tags...)))
	return append(b, '}'), err
}
