package oracle

import (
	"encoding/json"
	"errors"
	"fmt"

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

// zeroID marks an event without an id, which the contract's JSON has no form for.
type zeroID struct {
	WithoutID json.RawMessage `json:"without_id"`
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
		var z zeroID
		without := json.Unmarshal(text, &z) == nil && z.WithoutID != nil
		if without {
			text = z.WithoutID
		}
		e, err := everything.DecodeEvent(text)
		if err != nil {
			return err
		}
		if without {
			e.EventID = 0
		}
		*es = append(*es, e)
	}
	return nil
}

// canonical is an event's text. It fails for data that no codec writes.
func canonical(e engine.Event) (string, error) {
	if e.EventID != 0 {
		text, err := everything.AppendEvent(nil, e)
		return string(text), err
	}
	e.EventID = 1
	text, err := everything.AppendEvent(nil, e)
	if err != nil {
		return "", err
	}
	wrapped, err := json.Marshal(zeroID{text})
	return string(wrapped), err
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
	SupportedVersions []engine.VersionRange `json:"supported_versions"`
}

// Session is an engine.SessionFetchConfig with a JSON form.
type Session struct {
	OwnerID       string `json:"owner_id"`
	LockTimeoutMs int64  `json:"lock_timeout_ms"`
}

// Tags is an engine.TagFilter with a JSON form.
type Tags struct {
	Mode TagMode  `json:"mode"`
	Tags []string `json:"tags,omitempty"`
}

// TagMode is an engine.TagMode that is written as a word.
type TagMode engine.TagMode

var tagModes = []string{"default_only", "tags", "default_and", "any", "none"}

// MarshalText writes the mode's name.
func (m TagMode) MarshalText() ([]byte, error) {
	if int(m) >= len(tagModes) {
		return nil, fmt.Errorf("tag mode %d has no name", m)
	}
	return []byte(tagModes[m]), nil
}

// UnmarshalText reads what MarshalText writes.
func (m *TagMode) UnmarshalText(text []byte) error {
	for i, name := range tagModes {
		if name == string(text) {
			*m = TagMode(i)
			return nil
		}
	}
	return fmt.Errorf("tag mode %q: expected one of %q", text, tagModes)
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
	PinnedVersion        *engine.Version `json:"pinned_version,omitempty"`
}

// Fetched is an engine.FetchedOrchestration with a JSON form.
type Fetched struct {
	Instance          string             `json:"instance"`
	OrchestrationName string             `json:"orchestration_name"`
	ExecutionID       uint64             `json:"execution_id"`
	Version           string             `json:"version"`
	History           Events             `json:"history"`
	Messages          Items              `json:"messages"`
	HistoryError      string             `json:"history_error,omitempty"`
	KVSnapshot        []engine.KVEntry   `json:"kv_snapshot,omitempty"`
	CurrentStatus     engine.Status      `json:"current_status,omitempty"`
	Parent            *engine.ParentLink `json:"parent,omitempty"`
	Pin               *engine.Version    `json:"pin,omitempty"`
	Token             string             `json:"token"`
	AttemptCount      uint32             `json:"attempt_count"`
}

// Work is an engine.FetchedWork with a JSON form.
type Work struct {
	Item         Item   `json:"item"`
	Token        string `json:"token"`
	AttemptCount uint32 `json:"attempt_count"`
}
