package command

import (
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/callform"
	"github.com/durosim/durosim/internal/eventdata"
)

// TestProtocolFields: the page lists the fields of every work item, and says which may be missing.
func TestProtocolFields(t *testing.T) {
	page := readPage(t)
	text := "x"
	details := engine.ErrorDetails{Application: &eventdata.ApplicationError{Kind: eventdata.AppActivityFailed}}
	carried := []engine.CarriedEvent{{Name: "n"}}
	for _, c := range []struct{ empty, full engine.WorkItem }{
		{engine.StartItem{}, engine.StartItem{Version: "1", ParentInstance: "p", ParentID: 1, ParentExecutionID: 1}},
		{engine.ContinueAsNewItem{}, engine.ContinueAsNewItem{CarryForwardEvents: carried, InitialCustomStatus: &text, ParentInstance: "p", ParentID: 1, ParentExecutionID: 1}},
		{engine.ActivityExecuteItem{}, engine.ActivityExecuteItem{SessionID: "s", Tag: "t"}},
		{engine.ActivityCompletedItem{}, nil}, {engine.ActivityFailedItem{Details: details}, nil}, {engine.TimerFiredItem{}, nil},
		{engine.ExternalRaisedItem{}, nil}, {engine.ExternalRaised2Item{}, nil}, {engine.QueueMessageItem{}, nil},
		{engine.SubOrchCompletedItem{}, nil}, {engine.SubOrchFailedItem{Details: details}, nil}, {engine.CancelInstanceItem{}, nil},
	} {
		if c.full == nil {
			c.full = c.empty
		}
		kind := string(c.empty.Kind())
		_, row, ok := strings.Cut(page, "\n| `"+kind+"` | ")
		if row, _, _ = strings.Cut(row, "\n"); !ok {
			t.Errorf("no row for %s", kind)
			continue
		}
		listed := map[string]bool{} // and whether it may be left out
		for _, m := range regexp.MustCompile("(\\[?)`([a-z_]+)`").FindAllStringSubmatch(row, -1) {
			listed[m[2]] = m[1] == "["
		}
		want := map[string]bool{}
		for name := range fieldsOfItem(t, c.full) {
			want[name] = true
		}
		for name := range fieldsOfItem(t, c.empty) {
			want[name] = false
		}
		if !reflect.DeepEqual(listed, want) {
			t.Errorf("%s: the page lists %v, the item has %v", kind, slices.Sorted(maps.Keys(listed)), slices.Sorted(maps.Keys(want)))
		}
	}
}

func fieldsOfItem(t *testing.T, w engine.WorkItem) map[string]json.RawMessage {
	t.Helper()
	text, err := callform.ItemText(w)
	var item map[string]map[string]json.RawMessage
	if err == nil {
		err = json.Unmarshal([]byte(text), &item)
	}
	if err != nil {
		t.Fatal(err)
	}
	return item[string(w.Kind())]
}
