package oracle

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/eventdata"
)

// delivery is the answer that a fetch must return for a batch.
type delivery struct {
	instance  string
	kind      contextKind
	name      string
	version   string
	execution uint64
	history   []stored
	messages  []engine.WorkItem
	damaged   bool // history_error must be set
	either    bool // history_error may be set (X5)
	half      bool // name and version may be missing (F20)
	snapshot  []entry
	count     uint32
	status    engine.Status
	parent    engine.ParentLink
	pin       *engine.Version
}

// delivery follows docs/contract/provider.md#p5.2, steps 4 to 8. ok is false if the batch is not delivered.
func (s *State) delivery(j *judge, c *candidate, batch []int) (d delivery, ok bool) {
	in := c.in
	d = delivery{instance: in.id, kind: s.contextOf(j, in, batch), execution: engine.InitialExecutionID, snapshot: in.store}
	for _, i := range batch {
		m := &s.queue[i]
		d.count = max(d.count, m.count+1)
		if !j.decodesItem(m.item, m.corrupt) {
			d.damaged = true
			continue
		}
		d.messages = append(d.messages, j.item(m.item))
	}
	switch d.kind {
	case contextRow:
		d.fromRow(in)
	case contextHistory:
		d.history = in.events(in.latest())
		for _, h := range d.history {
			if start, is := eventdata.Known(h.event.Data).(eventdata.OrchestrationStarted); is && j.decodes(&h) {
				d.name, d.version = start.Name, start.Version
			}
		}
	case contextStart:
		d.name, d.version = startNamed(d.messages)
		// A history without a readable start is not delivered, so damage to it may go unnoticed.
		if hidden := !j.decodesAll(in.events(in.latest())); hidden && j.grants(xRowlessUndecodable) {
			d.either = true
		} else if hidden {
			d.damaged = true
		}
	case contextUnknown:
		if !j.grants(xRowlessUndecodable) {
			return d, false
		}
		d.damaged = true
	default:
		return d, false
	}
	d.damaged = d.damaged || !j.decodesAll(d.history)
	return d, true
}

// fromRow fills in what an instance's row says.
func (d *delivery) fromRow(in *instance) {
	d.name, d.version, d.execution = in.name, orUnknown(in.version), in.current
	d.history, d.parent, d.half = in.events(in.current), in.parent, in.half
	if e := in.execution(in.current); e != nil {
		d.status, d.pin = e.status, e.pin
	}
}

func startNamed(messages []engine.WorkItem) (name, version string) {
	for _, m := range messages {
		switch start := engine.Known(m).(type) {
		case engine.StartItem:
			return start.Orchestration, orUnknown(start.Version)
		case engine.ContinueAsNewItem:
			return start.Orchestration, orUnknown(start.Version)
		}
	}
	return "", ""
}

func orUnknown(version string) string { return cmp.Or(version, "unknown") }

// differs describes how the returned delivery differs from d. The text is empty if they are equal.
func (d *delivery) differs(j *judge, got *engine.FetchedOrchestration) (string, clause) {
	if !slices.EqualFunc(got.Item.Messages, d.messages, sameItem) {
		return fmt.Sprintf("the batch is not exactly the instance's visible messages: %sexpected %s, got %s", d.orphan(j, got.Item.Messages), shown{d.messages}, shown{got.Item.Messages}), by("5.2", "I3 I4")
	}
	if got.AttemptCount != d.count {
		return fmt.Sprintf("attempt count %d, expected %d, the maximum over the batch", got.AttemptCount, d.count), by("6.3", "I5 I6")
	}
	if d.damaged != (got.Item.HistoryError != "") && !d.either {
		if d.damaged {
			what := "a message"
			if h := j.undecodable(d.history); h != nil {
				what = fmt.Sprintf("event %d", h.event.EventID)
			}
			return "history_error is not set, although " + what + " cannot be decoded", by("5.2", "I7")
		}
		return fmt.Sprintf("history_error is %q, although everything can be decoded", got.Item.HistoryError), by("5.2", "I7")
	}
	if d.damaged {
		if len(got.Item.History) > 0 {
			return "a history in addition to history_error", by("5.2", "I7")
		}
	} else if d.kind == contextStart && len(got.Item.History) > 0 {
		return "a history is delivered, although the instance has no row and no OrchestrationStarted in its history: then the history is empty, whatever is stored; got " + shown{got.Item.History}.String(), by("5.2", "I7")
	} else if !j.sameEvents(got.Item.History, d.history) {
		return "the history is not what was stored: " + j.firstUnlike(got.Item.History, d.history), by("5.2", "I7")
	}
	if got.LockToken == "" {
		return "the answer has no token", by("2", "I1")
	}
	return d.contextDiffers(j, got)
}

// orphan says which fetch had to drop a message that the provider still has.
func (d *delivery) orphan(j *judge, got []engine.WorkItem) string {
	for _, m := range got {
		text, err := call.ItemText(m)
		if at := j.orphans[text]; err == nil && at > 0 && !slices.ContainsFunc(d.messages, func(want engine.WorkItem) bool { return sameItem(m, want) }) {
			return fmt.Sprintf("%s was an orphan, without an instance or a start, which the fetch of call %d had to drop; ", text, at)
		}
	}
	return ""
}

// contextDiffers compares the parts of the answer that describe the instance.
func (d *delivery) contextDiffers(j *judge, got *engine.FetchedOrchestration) (string, clause) {
	loose := d.kind == contextHistory || d.kind == contextUnknown || (d.damaged || d.either && got.Item.HistoryError != "") && d.kind != contextRow
	if !loose || !j.grants(f14RowlessContext) && d.kind == contextHistory {
		if !d.half && (got.Item.OrchestrationName != d.name && d.name != "" || got.Item.Version != d.version) {
			return fmt.Sprintf("the instance runs %s %s, got %s %s", d.name, d.version, got.Item.OrchestrationName, got.Item.Version), by("5.2", "")
		}
		if got.Item.ExecutionID != d.execution && d.kind != contextHistory {
			return fmt.Sprintf("the current execution is %d, got %d", d.execution, got.Item.ExecutionID), by("5.2", "I9")
		}
	}
	if !d.damaged && !slices.EqualFunc(got.Item.KVSnapshot, d.snapshot, func(g engine.KVEntry, e entry) bool { return g == e.entry() }) {
		return fmt.Sprintf("kv_snapshot is not the state at the last boundary: expected %s, got %s", shown{kvEntries(d.snapshot)}, shown{got.Item.KVSnapshot}), by("6.9", "I14")
	}
	if got.Item.CurrentStatus != "" && d.kind == contextRow && got.Item.CurrentStatus != d.status {
		return fmt.Sprintf("status %s, expected %s", got.Item.CurrentStatus, d.status), by("3.2", "")
	}
	if got.Item.Parent != nil && d.kind == contextRow && *got.Item.Parent != d.parent {
		return fmt.Sprintf("parent %+v, expected %+v", *got.Item.Parent, d.parent), by("3.2", "")
	}
	if got.Item.Pin != nil && d.kind == contextRow && (d.pin == nil || got.Item.Pin.Triple() != d.pin.Triple()) {
		return fmt.Sprintf("pin %s, expected %s", got.Item.Pin, shown{d.pin}), by("6.5", "I19")
	}
	return "", clause{}
}

// String formats the delivery as an allowed answer.
func (d delivery) String() string {
	text := fmt.Sprintf("instance %q, execution %d (%s %s), messages %s, attempt count %d", d.instance, d.execution, d.name, d.version, shown{d.messages}, d.count)
	if d.damaged {
		return text + ", history_error set and no history"
	}
	return fmt.Sprintf("%s, history of %d events, snapshot of %d keys", text, len(d.history), len(d.snapshot))
}

func kvEntries(list []entry) []engine.KVEntry {
	var out []engine.KVEntry
	for _, e := range list {
		out = append(out, e.entry())
	}
	return out
}

func (e *entry) entry() engine.KVEntry {
	return engine.KVEntry{Key: e.key, Value: e.value, LastUpdatedAtMs: e.updatedMs}
}
