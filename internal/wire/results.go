package wire

import "github.com/durosim/durosim/engine"

// The results that are more than one of the contract's own structures.

type fetchedOrchestration struct {
	Item         orchestrationItem `json:"item"`
	LockToken    string            `json:"lock_token"`
	AttemptCount uint32            `json:"attempt_count"`
}

type orchestrationItem struct {
	Instance          string             `json:"instance"`
	OrchestrationName string             `json:"orchestration_name"`
	ExecutionID       uint64             `json:"execution_id"`
	Version           string             `json:"version"`
	History           []event            `json:"history"`
	Messages          []item             `json:"messages"`
	HistoryError      string             `json:"history_error,omitempty"`
	KVSnapshot        map[string]kvEntry `json:"kv_snapshot,omitempty"`
	CurrentStatus     engine.Status      `json:"current_status,omitempty"`
	Parent            *parentLink        `json:"parent,omitempty"`
	Pin               *engine.Version    `json:"pinned_duroxide_version,omitempty"`
}

type kvEntry struct {
	Value           string `json:"value"`
	LastUpdatedAtMs uint64 `json:"last_updated_at_ms"`
}

type parentLink struct {
	Instance    string `json:"instance"`
	ExecutionID uint64 `json:"execution_id"`
	EventID     uint64 `json:"event_id"`
}

func wrapFetched(f *engine.FetchedOrchestration) *fetchedOrchestration {
	if f == nil {
		return nil
	}
	out := &fetchedOrchestration{LockToken: f.LockToken, AttemptCount: f.AttemptCount, Item: orchestrationItem{
		Instance: f.Item.Instance, OrchestrationName: f.Item.OrchestrationName, ExecutionID: f.Item.ExecutionID,
		Version: f.Item.Version, History: wrapEvents(f.Item.History), Messages: wrapItems(f.Item.Messages),
		HistoryError: f.Item.HistoryError, CurrentStatus: f.Item.CurrentStatus, Pin: f.Item.Pin,
	}}
	if p := f.Item.Parent; p != nil {
		out.Item.Parent = &parentLink{p.Instance, p.ExecutionID, p.EventID}
	}
	for _, e := range f.Item.KVSnapshot {
		if out.Item.KVSnapshot == nil {
			out.Item.KVSnapshot = map[string]kvEntry{}
		}
		out.Item.KVSnapshot[e.Key] = kvEntry{e.Value, e.LastUpdatedAtMs}
	}
	return out
}

func (f *fetchedOrchestration) plain() *engine.FetchedOrchestration {
	if f == nil {
		return nil
	}
	out := &engine.FetchedOrchestration{LockToken: f.LockToken, AttemptCount: f.AttemptCount, Item: engine.OrchestrationItem{
		Instance: f.Item.Instance, OrchestrationName: f.Item.OrchestrationName, ExecutionID: f.Item.ExecutionID,
		Version: f.Item.Version, History: plainEvents(f.Item.History), Messages: plainItems(f.Item.Messages),
		HistoryError: f.Item.HistoryError, CurrentStatus: f.Item.CurrentStatus, Pin: f.Item.Pin,
	}}
	if p := f.Item.Parent; p != nil {
		out.Item.Parent = &engine.ParentLink{Instance: p.Instance, ExecutionID: p.ExecutionID, EventID: p.EventID}
	}
	for _, key := range sortedKeys(f.Item.KVSnapshot) {
		e := f.Item.KVSnapshot[key]
		out.Item.KVSnapshot = append(out.Item.KVSnapshot, engine.KVEntry{Key: key, Value: e.Value, LastUpdatedAtMs: e.LastUpdatedAtMs})
	}
	return out
}

type fetchedWork struct {
	Item         item   `json:"item"`
	LockToken    string `json:"lock_token"`
	AttemptCount uint32 `json:"attempt_count"`
}

type customStatus struct {
	Status  *string `json:"status"`
	Version uint64  `json:"version"`
}

func wrapPairs(pairs []engine.KVPair) map[string]string {
	out := map[string]string{}
	for _, p := range pairs {
		out[p.Key] = p.Value
	}
	return out
}

func plainPairs(pairs map[string]string) []engine.KVPair {
	var out []engine.KVPair
	for _, key := range sortedKeys(pairs) {
		out = append(out, engine.KVPair{Key: key, Value: pairs[key]})
	}
	return out
}

// Described is what a store says about itself when it is asked.
type Described struct {
	// Protocol is the version of the protocol, 1.
	Protocol int    `json:"protocol"`
	Name     string `json:"name"`
	Version  string `json:"version"`
	// Admin says that the methods of the management surface are there.
	Admin bool `json:"admin"`
	// VirtualClock says that the clock stands still between calls and is moved by clock_advance and clock_set.
	VirtualClock bool `json:"virtual_clock"`
	// CorruptHistory says that corrupt_history is there.
	CorruptHistory bool `json:"corrupt_history"`
}
