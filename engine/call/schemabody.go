package call

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
)

// items and events hold one value of each kind that has a JSON form.
var (
	items = []engine.WorkItem{
		engine.StartItem{}, engine.ContinueAsNewItem{}, engine.ActivityExecuteItem{}, engine.ActivityCompletedItem{}, engine.ActivityFailedItem{},
		engine.TimerFiredItem{}, engine.ExternalRaisedItem{}, engine.ExternalRaised2Item{}, engine.QueueMessageItem{},
		engine.SubOrchCompletedItem{}, engine.SubOrchFailedItem{}, engine.CancelInstanceItem{},
	}
	events = []eventdata.Data{
		eventdata.OrchestrationStarted{}, eventdata.OrchestrationCompleted{}, eventdata.OrchestrationFailed{},
		eventdata.OrchestrationContinuedAsNew{}, eventdata.OrchestrationCancelRequested{}, eventdata.OrchestrationChained{},
		eventdata.ActivityScheduled{}, eventdata.ActivityCompleted{}, eventdata.ActivityFailed{}, eventdata.ActivityCancelRequested{},
		eventdata.TimerCreated{}, eventdata.TimerFired{},
		eventdata.ExternalSubscribed{}, eventdata.ExternalEvent{}, eventdata.ExternalSubscribedCancelled{},
		eventdata.QueueSubscribed{}, eventdata.QueueEventDelivered{}, eventdata.QueueSubscriptionCancelled{},
		eventdata.SubOrchestrationScheduled{}, eventdata.SubOrchestrationCompleted{}, eventdata.SubOrchestrationFailed{},
		eventdata.SubOrchestrationCancelRequested{},
		eventdata.CustomStatusUpdated{}, eventdata.KeyValueSet{}, eventdata.KeyValueCleared{}, eventdata.KeyValuesCleared{},
		eventdata.ExternalSubscribed2{}, eventdata.ExternalEvent2{}, eventdata.LegacyNote{},
	}
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

	value string // an example
}

// ItemBodies returns the JSON form of each kind of work item. It fails if a kind has none.
func ItemBodies() ([]Body, error) {
	var list []Body
	for _, item := range items {
		fields, err := fieldsOfBody(reflect.TypeOf(item), func(v any, _ bool) (string, error) {
			text, err := ItemText(v.(engine.WorkItem))
			if err != nil {
				return "", err
			}
			_, body, err := eventdata.ScanTagged(text)
			return body, err
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", item.Kind(), err)
		}
		list = append(list, Body{string(item.Kind()), fields})
	}
	return list, nil
}

// EventBodies returns the JSON form of each kind of event. The first entry has the kind "" and lists the fields shared
// by all events. EventBodies fails if a kind has no JSON form.
func EventBodies() ([]Body, error) {
	var list []Body
	common := []string{}
	// KeyValuesCleared has no fields of its own, so its fields are the shared ones.
	for i, data := range append([]eventdata.Data{eventdata.KeyValuesCleared{}}, events...) {
		fields, err := fieldsOfBody(reflect.TypeOf(data), func(v any, full bool) (string, error) {
			e := filled(reflect.TypeFor[engine.Event](), full).Interface().(engine.Event)
			e.Data = v.(eventdata.Data)
			e.EventID = 1
			return EventText(e)
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", eventdata.KindOf(data), err)
		}
		if i == 0 {
			for _, f := range fields {
				common = append(common, f.Name)
			}
			list = append(list, Body{"", fields})
			continue
		}
		fields = slices.DeleteFunc(fields, func(f BodyField) bool { return slices.Contains(common, f.Name) })
		list = append(list, Body{string(eventdata.KindOf(data)), fields})
	}
	return list, nil
}

// fieldsOfBody returns the fields that encode writes for values of type t.
func fieldsOfBody(t reflect.Type, encode func(v any, full bool) (string, error)) ([]BodyField, error) {
	var least, most eventdata.Object
	for _, o := range []*eventdata.Object{&least, &most} {
		full := o == &most
		text, err := encode(filled(t, full).Interface(), full)
		if err != nil {
			return nil, err
		}
		o.Scan(text)
		if o.Err != nil {
			return nil, o.Err
		}
	}
	var list []BodyField
	for _, name := range most.Names() {
		f := BodyField{Name: name, value: most.Get(name, false)}
		f.Type = shapeSchema(f.value)["type"].(string)
		f.Optional = !slices.Contains(least.Names(), name)
		f.Nullable = !f.Optional && least.Get(name, false) == ""
		list = append(list, f)
	}
	return list, nil
}

// schema returns the schema for JSON objects of this form.
func (b Body) schema() Schema {
	properties, required := Schema{}, []string{}
	for _, f := range b.Fields {
		s := shapeSchema(f.value)
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

// shapeSchema returns the schema for JSON values with the same shape as value.
func shapeSchema(value string) Schema {
	switch value[0] {
	case '"':
		return Schema{"type": "string"}
	case 't', 'f':
		return Schema{"type": "boolean"}
	case '{':
		return Schema{"type": "object"}
	case '[':
		if elements, err := eventdata.ScanArray(value); err == nil && len(elements) > 0 {
			return Schema{"type": "array", "items": shapeSchema(elements[0])}
		}
		return Schema{"type": "array"}
	}
	return number()
}

// filled returns a value of type t. If full is set, every field has a value; if not, the fields are empty. Error
// details are required, so they always have a value.
func filled(t reflect.Type, full bool) reflect.Value {
	v := reflect.New(t).Elem()
	if t == reflect.TypeFor[eventdata.ErrorDetails]() {
		v.Set(reflect.ValueOf(eventdata.Nondeterminism("m")))
		return v
	}
	switch {
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			v.Field(i).Set(filled(t.Field(i).Type, full))
		}
	case !full:
	case t.Kind() == reflect.String:
		v.SetString("x")
	case t.Kind() == reflect.Bool:
		v.SetBool(true)
	case t.Kind() == reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		v.Elem().Set(filled(t.Elem(), full))
	case t.Kind() == reflect.Slice:
		v.Set(reflect.Append(v, filled(t.Elem(), full)))
	case v.CanUint():
		v.SetUint(1)
	case v.CanInt():
		v.SetInt(1)
	}
	return v
}
