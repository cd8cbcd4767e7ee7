package oracle

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
)

// everything is the codec that reads all kinds. It gives events and work items their canonical text, by which they are
// compared.
var everything = engine.NewJSONCodec("oracle", engine.Kinds2x(), engine.WorkItemKinds2x())

// Item is a work item with a JSON form; an Item without a work item is null.
type Item struct{ engine.WorkItem }

// Items are work items with a JSON form.
type Items []engine.WorkItem

// Events are events with a JSON form.
type Events []engine.Event

// MarshalJSON writes the item as the contract does.
func (i Item) MarshalJSON() ([]byte, error) {
	if i.WorkItem == nil {
		return []byte("null"), nil
	}
	return everything.AppendWorkItem(nil, i.WorkItem)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (i *Item) UnmarshalJSON(data []byte) (err error) {
	if string(data) == "null" {
		i.WorkItem = nil
		return nil
	}
	i.WorkItem, err = everything.DecodeWorkItem(data)
	return err
}

// MarshalJSON writes a list of items.
func (is Items) MarshalJSON() ([]byte, error) {
	list := make([]Item, len(is))
	for i, item := range is {
		list[i] = Item{item}
	}
	return json.Marshal(list)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (is *Items) UnmarshalJSON(data []byte) error {
	var list []Item
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	*is = nil
	for _, item := range list {
		*is = append(*is, item.WorkItem)
	}
	return nil
}

// MarshalJSON writes a list of events.
func (es Events) MarshalJSON() ([]byte, error) {
	list := make([]json.RawMessage, len(es))
	for i, e := range es {
		text, err := canonical(e)
		if err != nil {
			return nil, err
		}
		list[i] = json.RawMessage(text)
	}
	return json.Marshal(list)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (es *Events) UnmarshalJSON(data []byte) error {
	var list []json.RawMessage
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	*es = nil
	for _, text := range list {
		e, err := decodeEvent(text)
		if err != nil {
			return err
		}
		*es = append(*es, e)
	}
	return nil
}

// The codec has no text for an event without an id, which a provider must refuse. Here its id is 0.
const firstID, noID = `{"event_id":1,`, `{"event_id":0,`

// canonical is an event's text. It fails for data that no codec writes.
func canonical(e engine.Event) (string, error) {
	without := e.EventID == 0
	if without {
		e.EventID = 1
	}
	text, err := everything.AppendEvent(nil, e)
	if without && err == nil {
		rest, ok := strings.CutPrefix(string(text), firstID)
		if !ok {
			return "", fmt.Errorf("an event's text does not begin with its id: %s", text)
		}
		return noID + rest, nil
	}
	return string(text), err
}

// decodeEvent reads what canonical writes, in any order and spacing.
func decodeEvent(text []byte) (engine.Event, error) {
	e, err := everything.DecodeEvent(text)
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

// canonicalItem is a work item's text. It fails for data that no codec writes.
func canonicalItem(w engine.WorkItem) (string, error) {
	if w == nil {
		return "", errors.New("no work item")
	}
	text, err := everything.AppendWorkItem(nil, w)
	return string(text), err
}

// Filter is an engine.CapabilityFilter with a JSON form.
type Filter struct {
	SupportedVersions []engine.VersionRange
}

type filterJSON struct {
	SupportedVersions []rangeJSON `json:"supported_duroxide_versions"`
}

type rangeJSON struct {
	Min engine.Version `json:"min"`
	Max engine.Version `json:"max"`
}

// MarshalJSON writes the ranges.
func (f Filter) MarshalJSON() ([]byte, error) {
	out := filterJSON{SupportedVersions: []rangeJSON{}}
	for _, r := range f.SupportedVersions {
		out.SupportedVersions = append(out.SupportedVersions, rangeJSON(r))
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (f *Filter) UnmarshalJSON(data []byte) error {
	var in filterJSON
	if err := decode(data, &in, "filter", true); err != nil {
		return err
	}
	f.SupportedVersions = nil
	for _, r := range in.SupportedVersions {
		f.SupportedVersions = append(f.SupportedVersions, engine.VersionRange(r))
	}
	return nil
}

// Session is an engine.SessionFetchConfig with a JSON form.
type Session struct {
	OwnerID       string `json:"owner_id"`
	LockTimeoutMs int64  `json:"lock_timeout_ms"`
}

// Tags is an engine.TagFilter with a JSON form: "DefaultOnly", "Any", "None", {"Tags": [...]} or {"DefaultAnd": [...]}.
type Tags struct {
	Mode TagMode
	Tags []string
}

// TagMode is an engine.TagMode that is written as a word.
type TagMode engine.TagMode

// tagModes are the contract's names of the modes; those in tagSets come with a set.
var (
	tagModes = []string{engine.TagDefaultOnly: "DefaultOnly", engine.TagTags: "Tags", engine.TagDefaultAnd: "DefaultAnd", engine.TagAny: "Any", engine.TagNone: "None"}
	tagSets  = []engine.TagMode{engine.TagTags, engine.TagDefaultAnd}
)

var errTags = errors.New(`want a tag filter: "DefaultOnly", "Any", "None", {"Tags": [...]} or {"DefaultAnd": [...]}`)

// MarshalJSON writes the filter as the contract does.
func (t Tags) MarshalJSON() ([]byte, error) {
	if int(t.Mode) >= len(tagModes) {
		return nil, fmt.Errorf("tag mode %d has no name", t.Mode)
	}
	name := tagModes[t.Mode]
	if slices.Contains(tagSets, engine.TagMode(t.Mode)) {
		return json.Marshal(map[string][]string{name: append([]string{}, t.Tags...)})
	}
	return json.Marshal(name)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (t *Tags) UnmarshalJSON(data []byte) error {
	var (
		name string
		sets map[string][]string
		tags []string
	)
	if json.Unmarshal(data, &name) != nil {
		if json.Unmarshal(data, &sets) != nil || len(sets) != 1 {
			return errTags
		}
		name = slices.Sorted(maps.Keys(sets))[0]
		tags = sets[name]
	}
	mode := slices.Index(tagModes, name)
	if mode < 0 || slices.Contains(tagSets, engine.TagMode(mode)) != (sets != nil) {
		return errTags
	}
	*t = Tags{Mode: TagMode(mode), Tags: tags}
	return nil
}

// Activity names an activity.
type Activity struct {
	Instance    string `json:"instance"`
	ExecutionID uint64 `json:"execution_id"`
	ActivityID  uint64 `json:"activity_id"`
}

// Metadata is engine.ExecutionMetadata with a JSON form.
type Metadata struct {
	Status               engine.Status   `json:"status,omitempty"`
	Output               *string         `json:"output,omitempty"`
	OrchestrationName    string          `json:"orchestration_name,omitempty"`
	OrchestrationVersion string          `json:"orchestration_version,omitempty"`
	ParentInstanceID     string          `json:"parent_instance_id,omitempty"`
	ParentExecutionID    uint64          `json:"parent_execution_id,omitempty"`
	ParentEventID        uint64          `json:"parent_event_id,omitempty"`
	PinnedVersion        *engine.Version `json:"pinned_duroxide_version,omitempty"`
}

// Fetched is an engine.FetchedOrchestration with a JSON form.
type Fetched struct {
	Instance          string
	OrchestrationName string
	ExecutionID       uint64
	Version           string
	History           Events
	Messages          Items
	HistoryError      string
	KVSnapshot        []engine.KVEntry
	CurrentStatus     engine.Status
	Parent            *engine.ParentLink
	Pin               *engine.Version
	Token             string
	AttemptCount      uint32
}

type fetchedJSON struct {
	Item         itemJSON `json:"item"`
	Token        string   `json:"lock_token"`
	AttemptCount uint32   `json:"attempt_count"`
}

type itemJSON struct {
	Instance          string               `json:"instance"`
	OrchestrationName string               `json:"orchestration_name"`
	ExecutionID       uint64               `json:"execution_id"`
	Version           string               `json:"version"`
	History           Events               `json:"history"`
	Messages          Items                `json:"messages"`
	HistoryError      string               `json:"history_error,omitempty"`
	KVSnapshot        map[string]entryJSON `json:"kv_snapshot,omitempty"`
	CurrentStatus     engine.Status        `json:"current_status,omitempty"`
	Parent            *parentJSON          `json:"parent,omitempty"`
	Pin               *engine.Version      `json:"pinned_duroxide_version,omitempty"`
}

type entryJSON struct {
	Value           string `json:"value"`
	LastUpdatedAtMs uint64 `json:"last_updated_at_ms"`
}

type parentJSON struct {
	Instance    string `json:"instance"`
	ExecutionID uint64 `json:"execution_id"`
	EventID     uint64 `json:"event_id"`
}

// MarshalJSON writes the item with its token and its count.
func (f Fetched) MarshalJSON() ([]byte, error) {
	out := fetchedJSON{Token: f.Token, AttemptCount: f.AttemptCount, Item: itemJSON{
		Instance: f.Instance, OrchestrationName: f.OrchestrationName, ExecutionID: f.ExecutionID, Version: f.Version, History: f.History,
		Messages: f.Messages, HistoryError: f.HistoryError, CurrentStatus: f.CurrentStatus, Parent: (*parentJSON)(f.Parent), Pin: f.Pin,
	}}
	for _, e := range f.KVSnapshot {
		if out.Item.KVSnapshot == nil {
			out.Item.KVSnapshot = map[string]entryJSON{}
		}
		out.Item.KVSnapshot[e.Key] = entryJSON{e.Value, e.LastUpdatedAtMs}
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON writes, and ignores fields that it does not know.
func (f *Fetched) UnmarshalJSON(data []byte) error {
	var in fetchedJSON
	if err := decode(data, &in, "result", false); err != nil {
		return err
	}
	*f = Fetched{
		Instance: in.Item.Instance, OrchestrationName: in.Item.OrchestrationName, ExecutionID: in.Item.ExecutionID, Version: in.Item.Version,
		History: in.Item.History, Messages: in.Item.Messages, HistoryError: in.Item.HistoryError, CurrentStatus: in.Item.CurrentStatus,
		Parent: (*engine.ParentLink)(in.Item.Parent), Pin: in.Item.Pin, Token: in.Token, AttemptCount: in.AttemptCount,
	}
	for _, key := range slices.Sorted(maps.Keys(in.Item.KVSnapshot)) {
		e := in.Item.KVSnapshot[key]
		f.KVSnapshot = append(f.KVSnapshot, engine.KVEntry{Key: key, Value: e.Value, LastUpdatedAtMs: e.LastUpdatedAtMs})
	}
	return nil
}

// Work is an engine.FetchedWork with a JSON form.
type Work struct {
	Item         Item   `json:"item"`
	Token        string `json:"lock_token"`
	AttemptCount uint32 `json:"attempt_count"`
}
