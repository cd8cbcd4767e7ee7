package jsonbench

import (
	"encoding/json"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	goccy "github.com/goccy/go-json"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
)

// event is an ActivityScheduled in the form best suited to libraries: one flat struct. This favours the libraries,
// because a real decoder must read the kind before it knows which fields to expect.
type event struct {
	EventID         uint64  `json:"event_id"`
	SourceEventID   *uint64 `json:"source_event_id"`
	InstanceID      string  `json:"instance_id"`
	ExecutionID     uint64  `json:"execution_id"`
	TimestampMs     uint64  `json:"timestamp_ms"`
	DuroxideVersion string  `json:"duroxide_version"`
	Type            string  `json:"type"`
	Name            string  `json:"name"`
	Input           string  `json:"input"`
}

// library encodes and decodes an event with a particular JSON library.
type library struct {
	name   string
	encode func(*event) ([]byte, error)
	decode func([]byte, *event) error
}

var libraries = []library{
	{"encoding-json", func(e *event) ([]byte, error) { return json.Marshal(e) }, func(b []byte, e *event) error { return json.Unmarshal(b, e) }},
	{"go-json-experiment", func(e *event) ([]byte, error) { return jsonv2.Marshal(e) }, func(b []byte, e *event) error { return jsonv2.Unmarshal(b, e) }},
	{"goccy", func(e *event) ([]byte, error) { return goccy.Marshal(e) }, func(b []byte, e *event) error { return goccy.Unmarshal(b, e) }},
}

func codec() engine.Codec {
	return engine.NewJSONCodec("bench", engine.Kinds2x(), engine.WorkItemKinds2x())
}

func engineEvent() engine.Event {
	return engine.Event{
		EventID: 3, SourceEventID: 2, InstanceID: "i-1", ExecutionID: 1, TimestampMs: 99, DuroxideVersion: "2.0.0",
		Data: eventdata.ActivityScheduled{Name: "charge-card", Input: `{"order":"o-17","cents":4200}`},
	}
}

func flatEvent() *event {
	source := uint64(2)
	return &event{
		EventID: 3, SourceEventID: &source, InstanceID: "i-1", ExecutionID: 1, TimestampMs: 99, DuroxideVersion: "2.0.0",
		Type: "ActivityScheduled", Name: "charge-card", Input: `{"order":"o-17","cents":4200}`,
	}
}

func BenchmarkEncode(b *testing.B) {
	b.Run("engine", func(b *testing.B) {
		c, e := codec(), engineEvent()
		var buf []byte
		b.ReportAllocs()
		for b.Loop() {
			buf, _ = c.AppendEvent(buf[:0], e)
		}
	})
	for _, l := range libraries {
		b.Run(l.name, func(b *testing.B) {
			e := flatEvent()
			b.ReportAllocs()
			for b.Loop() {
				_, _ = l.encode(e)
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	c := codec()
	text, err := c.AppendEvent(nil, engineEvent())
	if err != nil {
		b.Fatal(err)
	}
	b.Run("engine", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := c.DecodeEvent(text); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, l := range libraries {
		b.Run(l.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var e event
				if err := l.decode(text, &e); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
