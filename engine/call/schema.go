package call

import (
	"encoding"
	"math"
	"reflect"

	"github.com/durosim/durosim/engine"
)

// Schema is a JSON Schema (draft 2020-12), ready for encoding with encoding/json.
type Schema map[string]any

func refer(name string) Schema { return Schema{"$ref": "#/$defs/" + name} }

// ParamsSchema returns the schema of a call's parameters. Like all schemas in this package, it is derived from the
// encoder and the decoder, refers to Definitions, and allows null for an optional field.
func ParamsSchema(c Call) Schema {
	s := TypeSchema(reflect.TypeOf(c))
	s["additionalProperties"] = false
	return s
}

// ResultSchema returns the schema of a method's result.
func ResultSchema(method string) Schema {
	form, ok := results[method]
	if !ok {
		return Schema{"type": "null"}
	}
	t := reflect.TypeOf(form.field(&Answer{})).Elem()
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if form.null {
		return orNull(TypeSchema(t))
	}
	return TypeSchema(t)
}

func orNull(s Schema) Schema {
	if name, simple := s["type"].(string); simple {
		s["type"] = []string{name, "null"}
		return s
	}
	return Schema{"anyOf": []Schema{s, {"type": "null"}}}
}

// TypeSchema returns the schema for values of type t.
func TypeSchema(t reflect.Type) Schema {
	switch t {
	case typeItem:
		return refer("work_item")
	case typeEvent:
		return refer("event")
	case typeTags:
		return refer("tag_filter")
	case typeDuration:
		return number()
	case typePairs:
		return Schema{"type": "object", "additionalProperties": Schema{"type": "string"}}
	case typeEntries:
		return Schema{"type": "object", "additionalProperties": Schema{"type": "object",
			"properties": Schema{"value": Schema{"type": "string"}, "last_updated_at_ms": number()},
			"required":   []string{"value", "last_updated_at_ms"}}}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return orNull(TypeSchema(t.Elem()))
	case reflect.Slice:
		return Schema{"type": "array", "items": TypeSchema(t.Elem())}
	case reflect.String:
		return Schema{"type": "string"}
	case reflect.Bool:
		return Schema{"type": "boolean"}
	case reflect.Struct:
		if t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
			return Schema{"type": "string"}
		}
		return fieldsSchema(t)
	}
	return number()
}

func number() Schema { return Schema{"type": "integer", "minimum": 0, "maximum": int64(math.MaxInt64)} }

func fieldsSchema(t reflect.Type) Schema {
	properties, required := Schema{}, []string{}
	for _, f := range fieldsOf(t) {
		s := TypeSchema(t.Field(f.index).Type)
		if (f.optional || f.nullable) && t.Field(f.index).Type.Kind() != reflect.Pointer {
			s = orNull(s)
		}
		properties[f.name] = s
		if !f.optional {
			required = append(required, f.name)
		}
	}
	return Schema{"type": "object", "properties": properties, "required": required}
}

// Definitions returns the definitions to which the other schemas refer, keyed by name.
func Definitions() Schema {
	bodies := Schema{}
	for _, item := range ItemBodies() {
		bodies[item.Kind] = item.schema()
	}
	events := EventBodies()
	event, kinds := events[0].schema(), []Schema{}
	for _, kind := range events[1:] {
		kinds = append(kinds, Schema{"if": Schema{"properties": Schema{"type": Schema{"const": kind.Kind}}}, "then": kind.schema()})
	}
	event["description"], event["allOf"] = "Unknown types and unknown fields are kept as they are.", kinds
	return Schema{
		"work_item": Schema{"description": "One field, which names the kind. Unknown kinds and unknown fields are kept as they are.",
			"type": "object", "minProperties": 1, "maxProperties": 1, "properties": bodies},
		"event":      event,
		"tag_filter": tagsSchema(),
	}
}

func tagsSchema() Schema {
	names, sets := []string{}, Schema{}
	for mode, name := range tagModes {
		names = append(names, name)
		for _, with := range tagSets {
			if engine.TagMode(mode) == with {
				names = names[:len(names)-1]
				sets[name] = Schema{"type": "array", "items": Schema{"type": "string"}}
			}
		}
	}
	return Schema{"anyOf": []Schema{{"enum": names},
		{"type": "object", "properties": sets, "additionalProperties": false, "minProperties": 1, "maxProperties": 1}}}
}
