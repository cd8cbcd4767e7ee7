package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/durosim/durosim/engine"
)

// codec reads and writes every kind: what a provider stores is opaque to it, so the wire is as wide as the vocabulary.
var codec = engine.NewJSONCodec("wire", engine.Kinds2x(), engine.WorkItemKinds2x())

// event is an engine.Event in the JSON of contract/runtime.md section 1.
type event struct{ engine.Event }

func (e event) MarshalJSON() ([]byte, error) { return codec.AppendEvent(nil, e.Event) }

func (e *event) UnmarshalJSON(data []byte) (err error) {
	e.Event, err = codec.DecodeEvent(data)
	return err
}

func wrapEvents(events []engine.Event) []event {
	out := make([]event, len(events))
	for i, e := range events {
		out[i] = event{e}
	}
	return out
}

func plainEvents(events []event) []engine.Event {
	var out []engine.Event
	for _, e := range events {
		out = append(out, e.Event)
	}
	return out
}

// item is an engine.WorkItem in the JSON of contract/runtime.md section 2, or null.
type item struct{ engine.WorkItem }

func (w item) MarshalJSON() ([]byte, error) {
	if w.WorkItem == nil {
		return []byte("null"), nil
	}
	return codec.AppendWorkItem(nil, w.WorkItem)
}

func (w *item) UnmarshalJSON(data []byte) (err error) {
	if string(data) == "null" {
		w.WorkItem = nil
		return nil
	}
	w.WorkItem, err = codec.DecodeWorkItem(data)
	return err
}

func wrapItems(items []engine.WorkItem) []item {
	out := make([]item, len(items))
	for i, w := range items {
		out[i] = item{w}
	}
	return out
}

func plainItems(items []item) []engine.WorkItem {
	var out []engine.WorkItem
	for _, w := range items {
		out = append(out, w.WorkItem)
	}
	return out
}

// millis is a duration in whole milliseconds, rounded up: a positive duration is never 0.
type millis int64

func wrapDuration(d time.Duration) millis {
	return millis((d + time.Millisecond - 1) / time.Millisecond)
}

// plain is the duration; what does not fit is the longest one.
func (m millis) plain() time.Duration {
	if most := millis(1<<63-1) / millis(time.Millisecond); m > most {
		m = most
	}
	return time.Duration(m) * time.Millisecond
}

func (m *millis) UnmarshalJSON(data []byte) error {
	var n int64
	if err := json.Unmarshal(data, &n); err != nil {
		return fmt.Errorf("want whole milliseconds, got %s", data)
	}
	if n < 0 {
		return fmt.Errorf("want milliseconds from 0, got %d", n)
	}
	*m = millis(n)
	return nil
}

type filter struct {
	SupportedVersions []versionRange `json:"supported_duroxide_versions"`
}

type versionRange struct {
	Min engine.Version `json:"min"`
	Max engine.Version `json:"max"`
}

func wrapFilter(f *engine.CapabilityFilter) *filter {
	if f == nil {
		return nil
	}
	out := &filter{SupportedVersions: []versionRange{}}
	for _, r := range f.SupportedVersions {
		out.SupportedVersions = append(out.SupportedVersions, versionRange{r.Min, r.Max})
	}
	return out
}

func (f *filter) plain() *engine.CapabilityFilter {
	if f == nil {
		return nil
	}
	out := &engine.CapabilityFilter{}
	for _, r := range f.SupportedVersions {
		out.SupportedVersions = append(out.SupportedVersions, engine.VersionRange{Min: r.Min, Max: r.Max})
	}
	return out
}

// tagFilter is "DefaultOnly", "Any", "None", {"Tags": [...]} or {"DefaultAnd": [...]}.
type tagFilter struct{ engine.TagFilter }

var plainTagModes = map[string]engine.TagMode{"DefaultOnly": engine.TagDefaultOnly, "Any": engine.TagAny, "None": engine.TagNone}

var setTagModes = map[string]engine.TagMode{"Tags": engine.TagTags, "DefaultAnd": engine.TagDefaultAnd}

var errTagFilter = errors.New(`want a tag filter: "DefaultOnly", "Any", "None", {"Tags": [...]} or {"DefaultAnd": [...]}`)

func (f tagFilter) MarshalJSON() ([]byte, error) {
	for name, mode := range plainTagModes {
		if f.Mode == mode {
			return json.Marshal(name)
		}
	}
	for name, mode := range setTagModes {
		if f.Mode == mode {
			return json.Marshal(map[string][]string{name: append([]string{}, f.Tags...)})
		}
	}
	return nil, fmt.Errorf("tag filter of mode %d", f.Mode)
}

func (f *tagFilter) UnmarshalJSON(data []byte) error {
	var name string
	if json.Unmarshal(data, &name) == nil {
		mode, ok := plainTagModes[name]
		f.TagFilter = engine.TagFilter{Mode: mode}
		if !ok {
			return errTagFilter
		}
		return nil
	}
	var sets map[string][]string
	if json.Unmarshal(data, &sets) != nil || len(sets) != 1 {
		return errTagFilter
	}
	for name, tags := range sets {
		mode, ok := setTagModes[name]
		f.TagFilter = engine.TagFilter{Mode: mode, Tags: tags}
		if !ok {
			return errTagFilter
		}
	}
	return nil
}
