package call

import (
	"maps"
	"reflect"
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
)

// Body describes the JSON form of a kind of work item or event.
type Body struct {
	Kind   string
	Fields []BodyField
}

// BodyField describes one field of a Body. A Body lists its fields in the order in which they are written.
type BodyField struct {
	Name string
	// Type is the JSON type of the value: string, integer, boolean, object, or array.
	Type string
	// Optional is set if an empty value is omitted. Nullable is set if an empty value is written as null.
	Optional, Nullable bool

	schema Schema
}

// ItemBodies returns the JSON form of each kind of work item.
func ItemBodies() []Body { return bodiesOf(engine.ItemForms()) }

// EventBodies returns the JSON form of each kind of event. The first entry has the kind "" and lists the fields shared
// by all events.
func EventBodies() []Body {
	list := bodiesOf(slices.Insert(eventdata.Forms(), 0, eventdata.NewForm("", engine.Event{})))
	list[0].Fields = append(list[0].Fields, BodyField{Name: "type", Type: "string", schema: Schema{"type": "string"}})
	return list
}

func bodiesOf(forms []*eventdata.Form) []Body {
	var list []Body
	for _, form := range forms {
		body := Body{Kind: form.Kind}
		for _, f := range form.Fields() {
			s := bodySchema(f.Type)
			body.Fields = append(body.Fields, BodyField{Name: f.Name, Type: s["type"].(string), Optional: f.Optional, Nullable: f.Nullable, schema: s})
		}
		list = append(list, body)
	}
	return list
}

// bodySchema returns the schema for the values of a field of a work item or event.
func bodySchema(t reflect.Type) Schema {
	switch {
	case t == reflect.TypeFor[eventdata.ErrorDetails]():
		return Schema{"type": "object"}
	case t == reflect.TypeFor[[]eventdata.CarriedEvent]():
		return Schema{"type": "array", "items": Schema{"type": "array", "items": Schema{"type": "string"}}}
	case t.Kind() == reflect.Pointer:
		return bodySchema(t.Elem())
	}
	return TypeSchema(t)
}

// schema returns the schema for JSON objects of this form.
func (b Body) schema() Schema {
	properties, required := Schema{}, []string{}
	for _, f := range b.Fields {
		s := maps.Clone(f.schema)
		if f.Optional || f.Nullable {
			s = orNull(s)
		}
		properties[f.Name] = s
		if !f.Optional {
			required = append(required, f.Name)
		}
	}
	return Schema{"type": "object", "properties": properties, "required": required}
}
