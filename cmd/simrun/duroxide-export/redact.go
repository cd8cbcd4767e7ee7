package main

import (
	"bytes"
	"encoding/json"
	"slices"
)

// kept are the fields whose texts say where work goes and what it waits for. All other texts of events and work items,
// those of fields that are not known here included, are what orchestrations process.
var kept = []string{
	"type", "kind", "instance", "instance_id", "parent_instance", "parent_instance_id", "orchestration", "orchestration_name",
	"orchestration_version", "name", "version", "topic", "tag", "session_id", "duroxide_version",
}

// redact leaves in a line what says where work goes and what it waits for, but no inputs, outputs or texts.
func redact(line map[string]any) (err error) {
	for _, field := range []string{"event_data", "work_item"} {
		switch data := line[field].(type) {
		case json.RawMessage:
			line[field], err = redacted(data)
		case string: // no JSON
			line[field] = ""
		}
		if err != nil {
			return err
		}
	}
	if line["output"] != nil {
		line["output"] = ""
	}
	return nil
}

// redacted empties the texts of an event or a work item that are not kept.
func redacted(data json.RawMessage) (json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return json.Marshal(withoutTexts("", v))
}

// withoutTexts empties the texts in v, the value of a field, that are not kept.
func withoutTexts(field string, v any) any {
	switch v := v.(type) {
	case string:
		if !slices.Contains(kept, field) {
			return ""
		}
	case []any:
		for i := range v {
			v[i] = withoutTexts(field, v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = withoutTexts(name, v[name])
		}
	}
	return v
}
