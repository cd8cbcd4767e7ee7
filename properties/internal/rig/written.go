package rig

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/durosim/durosim/engine"
)

// This file parses events and messages of any kind:
//
//	5:ActivityScheduled,name:W,session_id:s      event 5; fields have the same names as in stored JSON
//	7<5:ActivityFailed                           event 7, which completes event 5
//	StartOrchestration,instance:y,version:1.0.0  a message
//
// If a field is left out, a text is empty, a number is 0, and a failure is an application failure.

// blank has a default value for each field that some kind requires.
var blank = map[string]any{
	"execution_id": 1, "id": 0, "fire_at_ms": 0, "parent_id": 0, "parent_execution_id": 0, "details": map[string]any{
		"Application": map[string]any{"kind": "ActivityFailed", "message": "no", "retryable": false},
	},
}

var blankTexts = strings.Fields("name version input output instance reason result data topic key value text orchestration parent_instance")

// fields returns the JSON fields that a word's parts give.
func (r *Rig) fields(parts []string) map[string]any {
	all := maps.Clone(blank)
	for _, name := range blankTexts {
		all[name] = ""
	}
	for _, part := range parts {
		name, text, ok := strings.Cut(part, ":")
		if !ok {
			r.t.Fatalf("%q: want NAME:VALUE", part)
		}
		if n, err := strconv.ParseUint(text, 10, 64); err == nil && !strings.HasPrefix(name, "version") {
			all[name] = n
		} else {
			all[name] = text
		}
	}
	return all
}

// event parses an event, which belongs to execution 1 unless the word says otherwise.
func (r *Rig) event(instance, word string) engine.Event {
	parts := strings.Split(word, ",")
	id, kind, _ := strings.Cut(parts[0], ":")
	id, source, _ := strings.Cut(id, "<")
	all := r.fields(parts[1:])
	all["event_id"], all["type"], all["source_event_id"] = r.number(id), kind, nil
	if source != "" {
		all["source_event_id"] = r.number(source)
	}
	all["instance_id"], all["timestamp_ms"], all["duroxide_version"] = instance, 0, "1.5.0"
	text := r.json(all)
	return byAny(r, func(c engine.Codec) (engine.Event, error) { return c.DecodeEvent(text) })
}

// item parses a message.
func (r *Rig) item(word string) engine.WorkItem {
	parts := strings.Split(word, ",")
	text := r.json(map[string]any{parts[0]: r.fields(parts[1:])})
	return byAny(r, func(c engine.Codec) (engine.WorkItem, error) { return c.DecodeWorkItem(text) })
}

// byAny returns the result of the first build's codec that succeeds.
func byAny[T any](r *Rig, use func(engine.Codec) (T, error)) T {
	var got T
	var err error
	for _, b := range slices.Backward(r.w.AllBuilds) {
		if got, err = use(b.Codec); err == nil {
			return got
		}
	}
	r.t.Fatal(err)
	return got
}

func (r *Rig) json(fields map[string]any) []byte {
	text, err := json.Marshal(fields)
	if err != nil {
		r.t.Fatal(err)
	}
	return text
}

func (r *Rig) encode(e engine.Event) []byte {
	return byAny(r, func(c engine.Codec) ([]byte, error) { return c.AppendEvent(nil, e) })
}

// delta parses the events and messages of an ack. A word that starts with a digit is an event.
func (r *Rig) delta(instance string, words []string) (events []engine.Event, items []engine.WorkItem) {
	for _, word := range words {
		if word[0] >= '0' && word[0] <= '9' {
			events = append(events, r.event(instance, word))
		} else {
			items = append(items, r.item(word))
		}
	}
	return events, items
}
