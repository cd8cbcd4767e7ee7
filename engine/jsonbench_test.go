package engine

import (
	"encoding/json"
	"testing"
)

// stdEvent is an event as encoding/json would take it, for the benchmarks only.
type stdEvent struct {
	EventID         uint64  `json:"event_id"`
	SourceEventID   *uint64 `json:"source_event_id"`
	InstanceID      string  `json:"instance_id"`
	ExecutionID     uint64  `json:"execution_id"`
	TimestampMs     uint64  `json:"timestamp_ms"`
	DuroxideVersion string  `json:"duroxide_version"`
	Type            string  `json:"type"`
	Name            *string `json:"name,omitempty"`
	Input           *string `json:"input,omitempty"`
	Result          *string `json:"result,omitempty"`
	FireAtMs        *uint64 `json:"fire_at_ms,omitempty"`
}

var (
	benchEvent = envelope(ActivityScheduled{Name: "charge-card", Input: `{"order":"o-17","cents":4200}`})
	benchStd   = stdEvent{
		EventID: 3, SourceEventID: ptr(uint64(2)), InstanceID: "i-1", ExecutionID: 1, TimestampMs: 99, DuroxideVersion: "2.0.0",
		Type: "ActivityScheduled", Name: ptr("charge-card"), Input: ptr(`{"order":"o-17","cents":4200}`),
	}
)

func BenchmarkEncodeEvent(b *testing.B) {
	b.Run("codec", func(b *testing.B) {
		codec := allCodec()
		var buf []byte
		b.ReportAllocs()
		for b.Loop() {
			buf, _ = codec.AppendEvent(buf[:0], benchEvent)
		}
	})
	b.Run("encoding-json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = json.Marshal(&benchStd)
		}
	})
}

func BenchmarkDecodeEvent(b *testing.B) {
	codec := allCodec()
	text, err := codec.AppendEvent(nil, benchEvent)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("codec", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := codec.DecodeEvent(text); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoding-json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var e stdEvent
			if err := json.Unmarshal(text, &e); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkWorkItem(b *testing.B) {
	codec := allCodec()
	item := ActivityExecuteItem{Instance: "i-1", ExecutionID: 1, ID: 2, Name: "charge-card", Input: `{"order":"o-17","cents":4200}`}
	text, err := codec.AppendWorkItem(nil, item)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("encode", func(b *testing.B) {
		var buf []byte
		var w WorkItem = item
		b.ReportAllocs()
		for b.Loop() {
			buf, _ = codec.AppendWorkItem(buf[:0], w)
		}
	})
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := codec.DecodeWorkItem(text); err != nil {
				b.Fatal(err)
			}
		}
	})
}
