package model_test

import (
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/properties/internal/model"
)

// TestLetGo checks which pages of rows may be released, and what is left of their rows.
func TestLetGo(t *testing.T) {
	removed := func(s *store, no observe.MessageNo) {
		s.Observe(&observe.Observation{Kind: observe.RowRemoved, Message: no, Instance: 1, Reason: observe.RemovedAcked})
	}
	for _, test := range []struct {
		name  string
		story func(s *store)
		want  bool
	}{
		{"queued", func(*store) {}, false},
		{"gone", func(s *store) { removed(s, 1) }, true},
		{"gone, under a lock", func(s *store) { s.lock(0, 10); removed(s, 1) }, false},
		{"gone, and never inserted", func(s *store) { removed(s, 1); s.Row(2) }, true},
		{"the last of the page queued", func(s *store) {
			removed(s, 1)
			s.Observe(&observe.Observation{Kind: observe.RowInserted, Message: model.RowsPerPage, Instance: 1, Item: raised})
		}, false},
		{"the first of the next page queued", func(s *store) {
			removed(s, 1)
			s.Observe(&observe.Observation{Kind: observe.RowInserted, Message: model.RowsPerPage + 1, Instance: 1, Item: raised})
		}, true},
	} {
		s := newStore()
		r := s.insert(raised, 90)
		test.story(s)
		if bare := len(s.Bare) > 0; bare != (len(s.Instances[1].Queue) > 0) {
			t.Errorf("%s: listed as waiting without a pin: %t", test.name, bare)
		}
		if got := s.LetGo(0); got != test.want {
			t.Errorf("%s: %t, want %t", test.name, got, test.want)
		}
		if got := s.Row(1); (got == r) == test.want || got.No != 1 {
			t.Errorf("%s: the row is kept %t, and its number is %d", test.name, got == r, got.No)
		}
	}
	s := newStore()
	if s.Row(0) != nil || s.Pages() != 0 {
		t.Error("there is no row 0, and asking for it makes none")
	}
	if r := s.Row(2*model.RowsPerPage + 1); r.No != 2*model.RowsPerPage+1 || s.Pages() != 3 || s.Row(model.RowsPerPage).No != model.RowsPerPage {
		t.Errorf("row %d of page 3, %d pages", r.No, s.Pages())
	}
}

// TestIdentify checks which schedule a message completes, and what its text says.
func TestIdentify(t *testing.T) {
	for _, test := range []struct {
		item  engine.WorkItem
		bytes string
		want  string
	}{
		{engine.ActivityExecuteItem{ExecutionID: 2, ID: 3}, "", "ActivityExecute 2/3 (message 1)"},
		{engine.ActivityCompletedItem{ExecutionID: 2, ID: 3}, "", "ActivityCompleted 2/3 (message 1)"},
		{engine.ActivityFailedItem{ExecutionID: 2, ID: 3}, "", "ActivityFailed 2/3 (message 1)"},
		{engine.TimerFiredItem{ExecutionID: 2, ID: 3, FireAtMs: 7}, "", "TimerFired 2/3 (message 1)"},
		{engine.SubOrchCompletedItem{ParentExecutionID: 2, ParentID: 3}, "", "SubOrchCompleted 2/3 (message 1)"},
		{engine.SubOrchFailedItem{ParentExecutionID: 2, ParentID: 3}, "", "SubOrchFailed 2/3 (message 1)"},
		{raised, "", "ExternalRaised (message 1)"},
		{nil, `{"Unheard":{"id":7}}`, "Unheard (message 1)"},
		{nil, `"Bare"`, "Bare (message 1)"},
		{nil, `{"Open`, "message of unknown kind (message 1)"},
		{nil, `?`, "message of unknown kind (message 1)"},
	} {
		s := newStore()
		s.Observe(&observe.Observation{Kind: observe.RowInserted, Message: 1, Instance: 1, Item: test.item, Bytes: []byte(test.bytes)})
		r := s.Row(1)
		if got := model.ItemText(r); got != test.want {
			t.Errorf("%+v %s: %s, want %s", test.item, test.bytes, got, test.want)
		}
	}
}
