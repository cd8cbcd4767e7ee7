package engine

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/internal/sample"
)

// TestWithoutFields checks that a codec that lacks a field neither reads nor writes it, and keeps all others.
func TestWithoutFields(t *testing.T) {
	status := "busy"
	events := []EventData{
		eventdata.OrchestrationStarted{Name: "O", Version: "1.0.0", ParentInstance: "p", ParentID: 2, ParentExecutionID: 3, InitialCustomStatus: &status},
		eventdata.ActivityScheduled{Name: "A", Input: "x", SessionID: "s", Tag: "gpu"},
	}
	items := []WorkItem{
		StartItem{Instance: "i", Orchestration: "O", ParentInstance: "p", ParentID: 2, ParentExecutionID: 3, ExecutionID: 1},
		ContinueAsNewItem{Instance: "i", Orchestration: "O", ParentInstance: "p", ParentID: 2, ParentExecutionID: 3, InitialCustomStatus: &status},
		ActivityExecuteItem{Instance: "i", ExecutionID: 1, ID: 2, Name: "A", SessionID: "s", Tag: "gpu"},
	}
	names := map[Field][]string{
		fieldParentExecution: {"parent_execution_id"},
		fieldContinuedParent: {"parent_instance", "parent_id", "parent_execution_id"}, // of ContinueAsNew
		fieldInitialStatus:   {"initial_custom_status"}, fieldTag: {"tag"}, fieldSession: {"session_id"},
	}
	whole := NewJSONCodec("whole", Kinds2x(), WorkItemKinds2x())
	for _, f := range Fields() {
		old := sample.Must(WithoutFields(whole, f))(t)
		check := func(kind string, text, written, again []byte, err error) {
			t.Helper()
			has := false
			sample.OK(t, err)
			if d := cmp.Diff(string(written), string(again)); d != "" {
				t.Errorf("%s of %s: what it writes differs from what it reads and writes:\n%s", f, kind, d)
			}
			for _, name := range names[f] {
				has = has || strings.Contains(string(text), `"`+name+`"`)
				if strings.Contains(string(written), `"`+name+`"`) && (f != fieldContinuedParent || kind == "ContinueAsNew") {
					t.Errorf("%s of %s: %s has %s", f, kind, written, name)
				}
			}
			if !has && string(written) != string(text) {
				t.Errorf("%s of %s: %s, want %s", f, kind, written, text)
			}
		}
		for _, d := range events {
			text, written, again, err := eventsOf(whole).through(eventsOf(old), envelope(d))
			check(string(eventdata.KindOf(d)), text, written, again, err)
		}
		for _, w := range items {
			text, written, again, err := itemsOf(whole).through(itemsOf(old), w)
			check(string(w.Kind()), text, written, again, err)
		}
	}
	if _, err := WithoutFields(whole, "colour"); err == nil {
		t.Error("an unknown field is taken")
	}
}

// through returns what f and old write of v, and what f writes of what old reads of f's text.
func (f form[T]) through(old form[T], v T) (text, written, again []byte, err error) {
	text, err1 := f.write(nil, v)
	written, err2 := old.write(nil, v)
	seen, err3 := old.read(text)
	again, err4 := f.write(nil, seen)
	return text, written, again, errors.Join(err1, err2, err3, err4)
}
