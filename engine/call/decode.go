package call

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
)

// UnknownMethodError reports a nonexistent method.
type UnknownMethodError struct{ Method string }

// Error returns a message with the method's name.
func (e *UnknownMethodError) Error() string { return fmt.Sprintf("unknown method %q", e.Method) }

// byMethod maps each method to the type of its call. It is only used for lookups, so map order does not matter.
var byMethod = func() map[string]reflect.Type {
	types := map[string]reflect.Type{}
	for _, c := range All() {
		types[Method(c)] = reflect.TypeOf(c)
	}
	return types
}()

// DecodeCall decodes a method's parameters. They must be one JSON object with all required fields and no unknown
// fields. If the method does not exist, the error is an *UnknownMethodError.
func DecodeCall(method string, params []byte) (Call, error) {
	t, ok := byMethod[method]
	if !ok {
		return nil, &UnknownMethodError{method}
	}
	if len(params) == 0 {
		params = []byte("{}")
	}
	v := reflect.New(t).Elem()
	if err := decode(params, v, "params", true); err != nil {
		return nil, err
	}
	return v.Interface().(Call), nil
}

// Decode decodes a single JSON value into the value pointed to by into. A field is required unless its tag has
// omitempty. If strict is set, an unknown field is an error. If not, unknown fields are ignored, so a misspelled name
// silently leaves its field at the default.
func Decode(data []byte, into any, where string, strict bool) error {
	return decode(data, reflect.ValueOf(into).Elem(), where, strict)
}

func decode(data []byte, into reflect.Value, where string, strict bool) error {
	d := json.NewDecoder(bytes.NewReader(data))
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		return fmt.Errorf("%s: %s", where, strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: unexpected data after the value", where)
	}
	return reader{strict}.read(raw, into, where)
}

// reader decodes valid JSON. A strict reader decodes a call and rejects unknown fields in the call itself. In the
// call's work items and events, it preserves unknown fields and unknown kinds.
type reader struct{ strict bool }

func (r reader) codec() engine.Codec {
	if r.strict {
		return opaque
	}
	return everything
}

func (r reader) read(raw json.RawMessage, into reflect.Value, where string) error {
	if into.Type() == reflect.TypeFor[json.RawMessage]() {
		into.SetBytes(raw)
		return nil
	}
	if string(raw) == "null" {
		into.SetZero()
		return nil
	}
	switch into.Type() {
	case typeItem:
		return decoded(r, raw, into, where, engine.Codec.DecodeWorkItem)
	case typeEvent:
		return decoded(r, raw, into, where, decodeEvent)
	case typeDuration:
		var ms int64
		if err := r.read(raw, reflect.ValueOf(&ms).Elem(), where); err != nil {
			return err
		}
		into.SetInt(int64(duration(ms)))
		return nil
	case typeTags:
		return readTags(raw, into, where)
	case typePairs, typeEntries:
		return r.readByKey(raw, into, where)
	}
	if _, custom := into.Addr().Interface().(json.Unmarshaler); custom {
		err := json.Unmarshal(raw, into.Addr().Interface())
		var wrong *json.UnmarshalTypeError
		switch {
		case errors.As(err, &wrong) && wrong.Field == "":
			return wrongType(wrong.Type.Kind(), raw, where)
		case err != nil:
			return fmt.Errorf("%s: %s", where, strings.TrimPrefix(err.Error(), "json: "))
		}
		return nil
	}
	switch into.Kind() {
	case reflect.Pointer:
		into.Set(reflect.New(into.Type().Elem()))
		return r.read(raw, into.Elem(), where)
	case reflect.Slice:
		return r.readList(raw, into, where)
	case reflect.Struct:
		if t, ok := into.Addr().Interface().(encoding.TextUnmarshaler); ok {
			return readText(raw, t, where)
		}
		return r.readFields(raw, into, where)
	}
	if err := json.Unmarshal(raw, into.Addr().Interface()); err != nil {
		return wrongType(into.Kind(), raw, where)
	}
	return nil
}

// decoded decodes a work item or an event. One of an unknown kind keeps its text.
func decoded[T any](r reader, raw json.RawMessage, into reflect.Value, where string, decode func(engine.Codec, []byte) (T, error)) error {
	v, err := decode(r.codec(), raw)
	if errors.Is(err, engine.ErrUnknownKind) {
		v, err = decode(opaque, raw)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", where, err)
	}
	into.Set(reflect.ValueOf(v))
	return nil
}

// duration converts milliseconds to a duration. If ms is too large, the result is the maximum duration.
func duration(ms int64) time.Duration {
	if ms > math.MaxInt64/int64(time.Millisecond) {
		return math.MaxInt64
	}
	return time.Duration(ms) * time.Millisecond
}

func wrongType(want reflect.Kind, raw json.RawMessage, where string) error {
	const number = "a whole number"
	text := cmp.Or(map[reflect.Kind]string{
		reflect.String: "a text", reflect.Bool: "true or false", reflect.Slice: "an array", reflect.Struct: "an object", reflect.Map: "an object",
	}[want], number)
	got := cmp.Or(map[byte]string{'"': "string", '{': "object", '[': "array", 't': "bool", 'f': "bool"}[raw[0]], "number")
	if got == "number" && text == number {
		got += " " + string(raw)
	}
	return fmt.Errorf("%s: want %s, got %s", where, text, got)
}

func (r reader) readFields(raw json.RawMessage, into reflect.Value, where string) error {
	var given map[string]json.RawMessage
	if json.Unmarshal(raw, &given) != nil {
		return wrongType(reflect.Struct, raw, where)
	}
	fields := fieldsOf(into.Type())
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if r.strict && !slices.ContainsFunc(fields, func(f field) bool { return f.name == name }) {
			return fmt.Errorf("%s: unknown field %q", where, name)
		}
	}
	for _, f := range fields {
		value, ok := given[f.name]
		switch {
		case ok:
			if err := r.read(value, into.Field(f.index), where+"."+f.name); err != nil {
				return err
			}
		case !f.optional:
			return fmt.Errorf("%s.%s: missing", where, f.name)
		}
	}
	return nil
}

func (r reader) readList(raw json.RawMessage, into reflect.Value, where string) error {
	var elements []json.RawMessage
	if json.Unmarshal(raw, &elements) != nil {
		return wrongType(reflect.Slice, raw, where)
	}
	if len(elements) == 0 && into.Type().Elem().Kind() != reflect.String { // for ids, an empty list differs from a missing one
		into.SetZero()
		return nil
	}
	into.Set(reflect.MakeSlice(into.Type(), len(elements), len(elements)))
	for i, e := range elements {
		if err := r.read(e, into.Index(i), fmt.Sprintf("%s[%d]", where, i)); err != nil {
			return err
		}
	}
	return nil
}

// readByKey decodes an object into a slice of pairs or entries and sorts the slice by key.
func (r reader) readByKey(raw json.RawMessage, into reflect.Value, where string) error {
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil {
		return wrongType(reflect.Map, raw, where)
	}
	into.SetZero()
	for _, key := range slices.Sorted(maps.Keys(object)) {
		place := where + "." + key
		e := reflect.New(into.Type().Elem()).Elem()
		e.Field(0).SetString(key)
		if into.Type() == typePairs {
			if err := r.read(object[key], e.Field(1), place); err != nil {
				return err
			}
		} else {
			var value struct {
				Value           string `json:"value"`
				LastUpdatedAtMs uint64 `json:"last_updated_at_ms"`
			}
			if err := r.read(object[key], reflect.ValueOf(&value).Elem(), place); err != nil {
				return err
			}
			e.Set(reflect.ValueOf(engine.KVEntry{Key: key, Value: value.Value, LastUpdatedAtMs: value.LastUpdatedAtMs}))
		}
		into.Set(reflect.Append(into, e))
	}
	return nil
}

func readText(raw json.RawMessage, into encoding.TextUnmarshaler, where string) error {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return wrongType(reflect.String, raw, where)
	}
	if err := into.UnmarshalText([]byte(text)); err != nil {
		return fmt.Errorf("%s: %w", where, err)
	}
	return nil
}

func readTags(raw json.RawMessage, into reflect.Value, where string) error {
	wrong := fmt.Errorf(`%s: want a tag filter: "DefaultOnly", "Any", "None", {"Tags": [...]} or {"DefaultAnd": [...]}`, where)
	var (
		name string
		sets map[string][]string
		tags []string
	)
	if json.Unmarshal(raw, &name) != nil {
		if json.Unmarshal(raw, &sets) != nil || len(sets) != 1 {
			return wrong
		}
		name = slices.Sorted(maps.Keys(sets))[0]
		tags = sets[name]
	}
	mode := slices.Index(tagModes, name)
	if mode < 0 || slices.Contains(tagSets, engine.TagMode(mode)) != (sets != nil) {
		return wrong
	}
	into.Set(reflect.ValueOf(engine.TagFilter{Mode: engine.TagMode(mode), Tags: tags}))
	return nil
}

// decodeEvent decodes the output of EventText. The fields may be in any order, with any spacing.
func decodeEvent(codec engine.Codec, text []byte) (engine.Event, error) {
	e, err := codec.DecodeEvent(text)
	if err == nil {
		return e, nil
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(text, &fields) != nil || string(fields["event_id"]) != "0" {
		return e, err
	}
	fields["event_id"] = json.RawMessage("1")
	again, failed := json.Marshal(fields)
	if failed != nil {
		return e, err
	}
	if e, err = everything.DecodeEvent(again); err == nil {
		e.EventID = 0
	}
	return e, err
}
