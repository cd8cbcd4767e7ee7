package engine_test

import (
	"strings"
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
)

// TestOpaque checks that unknown data come back byte for byte, and that the known parts can be read.
func TestOpaque(t *testing.T) {
	plain := engine.NewJSONCodec("x", engine.Kinds1x(), engine.WorkItemKinds1x())
	opaque := engine.Opaque(plain)
	for _, c := range []struct {
		text, target string
		kind         engine.WorkItemKind
		opaque       bool
	}{
		{`{"ExternalRaised":{"instance":"A","name":"n","data":"d"}}`, "A", engine.ItemExternalRaised, false},
		{`{"ExternalRaised":{"instance":"A","name":"n","data":"d","priority":{"a":[1, 2]}}}`, "A", engine.ItemExternalRaised, true},
		{` { "ExternalRaised" : {"data":"d","instance":"A","name":"n"} }`, "A", engine.ItemExternalRaised, true},
		{`{"Teleport":{"instance":"A","to":"mars"}}`, "A", "Teleport", true},
		{`{"Answered":{"parent_instance":"P"}}`, "P", "Answered", true},
	} {
		w, err := opaque.DecodeWorkItem([]byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if _, is := w.(engine.OpaqueItem); is != c.opaque || w.Kind() != c.kind || w.Target() != c.target {
			t.Errorf("%s is read as %#v", c.text, w)
		}
		if known, is := engine.Known(w).(engine.ExternalRaisedItem); c.kind == engine.ItemExternalRaised && (!is || known.Data != "d") {
			t.Errorf("%s: known is %#v", c.text, engine.Known(w))
		}
		if again, err := opaque.AppendWorkItem(nil, w); err != nil || string(again) != c.text {
			t.Errorf("%s is written as %s, %v", c.text, again, err)
		}
	}
	for text, want := range map[string]string{
		`{"Teleport":{"to":"mars"}}`:                  "neither instance nor parent_instance",
		`{"Teleport":7}`:                              "Teleport",
		`{"ExternalRaised":{"instance":"A"}}`:         `field "name": missing`,
		`{"Teleport":{"instance":"A"},"Another":{}}`:  "2 fields",
		`{"ExternalRaised":{"instance":7,"name":"n"}`: "",
	} {
		if w, err := opaque.DecodeWorkItem([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %#v, %v; want an error that contains %q", text, w, err, want)
		}
	}
}

// TestOpaqueEvents does the same for events.
func TestOpaqueEvents(t *testing.T) {
	opaque := engine.Opaque(engine.NewJSONCodec("x", engine.Kinds1x(), engine.WorkItemKinds1x()))
	const head = `{"event_id":3,"source_event_id":null,"instance_id":"A","execution_id":1,"timestamp_ms":5,"duroxide_version":"9.0.0","type":`
	for text, isOpaque := range map[string]bool{
		head + `"TimerCreated","fire_at_ms":7}`:                false,
		head + `"TimerCreated","fire_at_ms":7,"extra":[true]}`: true,
		head + `"Teleported","to":"mars"}`:                     true,
	} {
		e, err := opaque.DecodeEvent([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if _, is := e.Data.(eventdata.Opaque); is != isOpaque || e.EventID != 3 || e.InstanceID != "A" {
			t.Errorf("%s is read as %#v", text, e)
		}
		if again, err := opaque.AppendEvent(nil, e); err != nil || string(again) != text {
			t.Errorf("%s is written as %s, %v", text, again, err)
		}
	}
	if e, err := opaque.DecodeEvent([]byte(`{"event_id":3,"type":"Teleported"}`)); err == nil {
		t.Errorf("an event without its instance: %#v", e)
	}
}
