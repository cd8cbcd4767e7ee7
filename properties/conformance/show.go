package conformance

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
)

// show formats an item as scripts write it. An activity includes its instance; other items do not.
func show(item engine.WorkItem) string {
	switch m := item.(type) {
	case engine.StartItem:
		return "start"
	case engine.ContinueAsNewItem:
		return "can"
	case engine.ExternalRaisedItem:
		return "ext:" + m.Name
	case engine.QueueMessageItem:
		return "queue:" + m.Name
	case engine.CancelInstanceItem:
		return "stop"
	case engine.ActivityCompletedItem:
		return "done:" + ofExecution(m.ExecutionID) + fmt.Sprint(m.ID)
	case engine.TimerFiredItem:
		return "timer"
	case engine.SubOrchCompletedItem:
		return fmt.Sprintf("childdone:%d", m.ParentID)
	case engine.SubOrchFailedItem:
		return fmt.Sprintf("childfailed:%d", m.ParentID)
	case engine.ActivityExecuteItem:
		text := fmt.Sprintf("%s:%s%d", m.Instance, ofExecution(m.ExecutionID), m.ID)
		if m.SessionID != "" {
			text += "@" + m.SessionID
		}
		if m.Tag != "" {
			text += "/" + m.Tag
		}
		return text
	case nil:
		return "nothing"
	}
	return string(item.Kind())
}

// ofExecution returns the suffix that marks items of an execution other than the first.
func ofExecution(id uint64) string {
	if id == engine.InitialExecutionID {
		return ""
	}
	return fmt.Sprintf("#%d.", id)
}

// showFetched returns `INSTANCE#EXECUTION xCOUNT [MESSAGES]`, followed by what the switches request: +name, +history,
// +kv, +kvtime. A history error is shown as HISTORY-ERROR, followed by the history if the provider returned one.
func showFetched(f *engine.FetchedOrchestration, a *arguments) string {
	var items []string
	for _, m := range f.Item.Messages {
		items = append(items, show(m))
	}
	text := fmt.Sprintf("%s#%d x%d %v", f.Item.Instance, f.Item.ExecutionID, f.AttemptCount, items)
	if f.Item.HistoryError != "" {
		text += " HISTORY-ERROR"
		if len(f.Item.History) > 0 {
			text += " with-history"
		}
	}
	if a.has("+name") {
		text += " " + f.Item.OrchestrationName + "@" + f.Item.Version
	}
	if a.has("+history") {
		text += " history " + showIDs(f.Item.History)
	}
	if a.has("+kv") || a.has("+kvtime") {
		var entries []string
		for _, e := range f.Item.KVSnapshot {
			entry := e.Key + "=" + e.Value
			if a.has("+kvtime") {
				entry += fmt.Sprintf("@%d", e.LastUpdatedAtMs)
			}
			entries = append(entries, entry)
		}
		text += " kv{" + strings.Join(entries, " ") + "}"
	}
	return text
}

func showIDs(events []engine.Event) string {
	ids := []uint64{}
	for _, e := range events {
		ids = append(ids, e.EventID)
	}
	return fmt.Sprint(ids)
}

func showKinds(events []engine.Event) string {
	kinds := []string{}
	for _, e := range events {
		text := fmt.Sprintf("%d:%s", e.EventID, e.Kind())
		if s, ok := e.Data.(eventdata.ActivityScheduled); ok {
			text += ":" + s.Name
		}
		kinds = append(kinds, text)
	}
	return fmt.Sprint(kinds)
}

func atLeast(got, at string) bool {
	n, err := strconv.ParseUint(got, 10, 64)
	least, err2 := strconv.ParseUint(at, 10, 64)
	return err == nil && err2 == nil && n >= least
}
