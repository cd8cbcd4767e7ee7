package model_test

import (
	"fmt"
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/properties/internal/model"
)

func TestAdmits(t *testing.T) {
	between := func(low, high string) engine.VersionRange {
		return engine.VersionRange{Min: engine.MustParseVersion(low), Max: engine.MustParseVersion(high)}
	}
	some := []engine.VersionRange{between("1.2.3", "3.2.1"), between("5.0.0", "5.9.9")} // only the first counts
	for _, test := range []struct {
		filter  *engine.CapabilityFilter
		in, out []string
	}{
		{nil, []string{"none", "0.0.1", "9.0.0"}, nil},
		{&engine.CapabilityFilter{}, nil, []string{"none", "0.0.1", "9.0.0"}},
		{&engine.CapabilityFilter{SupportedVersions: some},
			[]string{"none", "1.2.3", "1.2.3-rc.1", "1.2.4", "1.3.0", "2.0.0", "3.1.9", "3.2.0", "3.2.1", "3.2.1-rc.1"},
			[]string{"0.9.9", "1.1.9", "1.2.2", "3.2.2", "3.3.0", "4.0.0", "5.0.0"}},
	} {
		for want, pins := range map[bool][]string{true: test.in, false: test.out} {
			for _, text := range pins {
				if got := model.Admits(test.filter, pinOf(text)); got != want {
					t.Errorf("%s admits %s: %t, want %t", test.filter, text, got, want)
				}
			}
		}
	}
}

func pinOf(text string) *engine.Version {
	v, err := engine.ParseVersion(text)
	if err != nil {
		return nil
	}
	return &v
}

func TestTakesTag(t *testing.T) {
	for _, test := range []struct {
		filter engine.TagFilter
		want   string // for no tag, "a" and "b"
	}{
		{engine.TagFilter{Mode: engine.TagAny}, "[true true true]"},
		{engine.TagFilter{Mode: engine.TagNone, Tags: []string{"a"}}, "[false false false]"},
		{engine.TagFilter{Mode: engine.TagTags, Tags: []string{"c", "a"}}, "[false true false]"},
		{engine.TagFilter{Mode: engine.TagTags, Tags: []string{"", "a"}}, "[false true false]"},
		{engine.TagFilter{Mode: engine.TagDefaultAnd, Tags: []string{"a", "c"}}, "[true true false]"},
		{engine.TagFilter{Tags: []string{"a"}}, "[true false false]"},
	} {
		got := fmt.Sprint([]bool{model.TakesTag(test.filter, ""), model.TakesTag(test.filter, "a"), model.TakesTag(test.filter, "b")})
		if got != test.want {
			t.Errorf("%+v takes none, a and b: %s, want %s", test.filter, got, test.want)
		}
	}
}

// store feeds a model with observations. Its only instance has the number 1.
type store struct{ *model.Shadow }

func newStore() *store {
	s := &store{model.New(engine.ShippedBuilds(), nil)}
	s.Observe(&observe.Observation{Kind: observe.InstanceNamed, Instance: 1, Name: "x"})
	return s
}

func (s *store) insert(item engine.WorkItem, visibleMs int64) *model.Row {
	queue := observe.QueueOrchestrator
	if item.Kind() == engine.ItemActivityExecute {
		queue = observe.QueueWorker
	}
	no := s.last() + 1
	s.Observe(&observe.Observation{Kind: observe.RowInserted, Queue: queue, Message: no, Instance: 1, Item: item, UntilMs: visibleMs})
	return s.Row(no)
}

func (s *store) last() observe.MessageNo {
	return observe.MessageNo(len(s.Instances[1].Queue) + len(s.Instances[1].Work))
}

func (s *store) create(pin string) {
	s.Observe(&observe.Observation{Kind: observe.InstanceCreated, Instance: 1, Execution: 1, Name: "H", Token: "1.0.0"})
	s.Observe(&observe.Observation{Kind: observe.ExecutionCreated, Instance: 1, Execution: 1, Status: engine.StatusRunning})
	s.Observe(&observe.Observation{Kind: observe.PinSet, Instance: 1, Execution: 1, Pin: pinOf(pin)})
}

func (s *store) event(id uint64, kind engine.EventKind) {
	s.Observe(&observe.Observation{Kind: observe.EventAppended, Instance: 1, Execution: 1, EventID: id, Bytes: []byte(`{"type":"` + string(kind) + `"}`)})
}

func (s *store) damage(event uint64, message observe.MessageNo) {
	s.Observe(&observe.Observation{Kind: observe.Damaged, Instance: 1, Execution: 1, EventID: event, Message: message, Bytes: []byte("?")})
}

func (s *store) lock(message observe.MessageNo, untilMs int64) {
	s.Observe(&observe.Observation{Kind: observe.LockTaken, Instance: 1, Message: message, Token: "t", UntilMs: untilMs})
}

var (
	start  = engine.StartItem{Instance: "x", Orchestration: "H"}
	again  = engine.ContinueAsNewItem{Instance: "x", Orchestration: "H"}
	raised = engine.ExternalRaisedItem{Instance: "x", Name: "go"}
	queued = engine.QueueMessageItem{Instance: "x", Name: "q"}
)

// TestEligible checks, at 100 ms, whether a fetch by a node that admits 1.x could deliver an instance, and whether a
// fetch would drop its messages as orphans.
func TestEligible(t *testing.T) {
	const never = model.NeverMs
	filter := engine.FilterFor(engine.VersionRange{Min: engine.V(1, 0, 0), Max: engine.V(1, 9, 9)})
	for _, test := range []struct {
		name     string
		story    func(s *store)
		now      bool
		atMs     int64
		orphaned bool
	}{
		{"nothing queued", func(s *store) { s.create("1.5.0") }, false, never, false},
		{"visible", func(s *store) { s.create("1.5.0"); s.insert(raised, 100) }, true, 100, false},
		{"visible later", func(s *store) { s.create("1.5.0"); s.insert(raised, 101) }, false, 101, false},
		{"visible at two times", func(s *store) { s.create("1.5.0"); s.insert(raised, 120); s.insert(raised, 150) }, false, 120, false},
		{"visible at two times, the later first", func(s *store) { s.create("1.5.0"); s.insert(raised, 150); s.insert(raised, 120) }, false, 120, false},
		{"one visible, one later", func(s *store) { s.create("1.5.0"); s.insert(raised, 150); s.insert(raised, 90) }, true, 100, false},
		{"another pin", func(s *store) { s.create("2.0.0"); s.insert(raised, 100) }, false, never, false},
		{"no pin", func(s *store) { s.create("none"); s.insert(raised, 100) }, true, 100, false},
		{"locked", func(s *store) { s.create("1.5.0"); s.insert(raised, 100); s.lock(0, 101) }, false, 101, false},
		{"lock expired", func(s *store) { s.create("1.5.0"); s.insert(raised, 100); s.lock(0, 100) }, true, 100, false},
		{"damaged", func(s *store) { s.create("1.5.0"); s.insert(raised, 100); s.damage(0, 1) }, true, 100, false},

		{"no instance row", func(s *store) { s.insert(raised, 100) }, false, never, false},
		{"a start", func(s *store) { s.insert(start, 100) }, true, 100, false},
		{"a continue-as-new", func(s *store) { s.insert(raised, 90); s.insert(again, 100) }, true, 100, false},
		{"a start later", func(s *store) { s.insert(raised, 90); s.insert(start, 101) }, false, 101, false},
		{"a damaged start", func(s *store) { s.insert(start, 100); s.damage(0, 1) }, false, never, false},
		{"history alone", func(s *store) { s.insert(raised, 100); s.event(1, eventdata.KindOrchestrationStarted) }, true, 100, false},
		{"history without a start", func(s *store) { s.insert(raised, 100); s.event(1, eventdata.KindTimerCreated) }, false, never, false},
		{"damaged history", func(s *store) {
			s.insert(start, 100)
			s.event(1, eventdata.KindOrchestrationStarted)
			s.event(2, eventdata.KindTimerCreated)
			s.damage(2, 0)
		}, false, never, false},

		{"an orphan", func(s *store) { s.insert(queued, 100) }, false, never, true},
		{"an orphan later", func(s *store) { s.insert(queued, 101) }, false, 101, false},
		{"an orphan and another message", func(s *store) { s.insert(queued, 100); s.insert(raised, 100) }, false, never, false},
		{"an orphan and another message later", func(s *store) { s.insert(queued, 100); s.insert(raised, 101) }, false, 101, true},
		{"an orphan and a start later", func(s *store) { s.insert(queued, 100); s.insert(start, 101) }, false, 101, false},
		{"an orphan and a start", func(s *store) { s.insert(queued, 100); s.insert(start, 100) }, true, 100, false},
		{"a held orphan", func(s *store) { s.insert(queued, 100); s.lock(0, 101) }, false, 101, false},
		{"an orphan after its lock", func(s *store) { s.insert(queued, 100); s.lock(0, 100) }, false, never, true},
		{"a damaged orphan", func(s *store) { s.insert(queued, 100); s.damage(0, 1) }, false, never, false},
		{"an orphan of a damaged history", func(s *store) { s.insert(queued, 100); s.event(1, eventdata.KindTimerCreated); s.damage(1, 0) }, false, never, false},
		{"a queue message of an instance", func(s *store) { s.create("1.5.0"); s.insert(queued, 100) }, true, 100, false},
	} {
		s := newStore()
		test.story(s)
		now, atMs := s.Eligible(s.Instances[1], filter, 100)
		if orphaned := s.Orphaned(s.Instances[1], 100); now != test.now || atMs != test.atMs || orphaned != test.orphaned {
			t.Errorf("%s: eligible %t, %d, orphaned %t; want %t, %d, %t", test.name, now, atMs, orphaned, test.now, test.atMs, test.orphaned)
		}
	}
}

// TestEligibleWork is like TestEligible, for an activity and the owner A of sessions.
func TestEligibleWork(t *testing.T) {
	const never = model.NeverMs
	mine := &engine.SessionFetchConfig{OwnerID: "A"}
	claimed := func(s *store, id, owner string, untilMs int64) {
		s.Observe(&observe.Observation{Kind: observe.SessionSet, Name: id, Token: owner, UntilMs: untilMs})
	}
	activity, ofSession := engine.ActivityExecuteItem{Instance: "x", Name: "W"}, engine.ActivityExecuteItem{Instance: "x", Name: "W", SessionID: "s"}
	tagged := engine.ActivityExecuteItem{Instance: "x", Name: "W", Tag: "gpu"}
	for _, test := range []struct {
		name    string
		item    engine.WorkItem
		visible int64
		story   func(s *store)
		session *engine.SessionFetchConfig
		now     bool
		atMs    int64
	}{
		{"visible", activity, 100, nil, nil, true, 100},
		{"visible before", activity, 90, nil, mine, true, 90},
		{"visible later", activity, 101, nil, nil, false, 101},
		{"locked", activity, 90, func(s *store) { s.lock(1, 101) }, nil, false, 101},
		{"lock expired", activity, 90, func(s *store) { s.lock(1, 100) }, nil, true, 90},
		{"locked, and visible later", activity, 150, func(s *store) { s.lock(1, 101) }, nil, false, 150},
		{"no activity", raised, 90, nil, nil, false, never},
		{"gone", activity, 90, func(s *store) { s.Observe(&observe.Observation{Kind: observe.RowRemoved, Message: 1, Instance: 1}) }, nil, false, never},
		{"tagged", tagged, 90, nil, mine, false, never},
		{"of a session, for nobody", ofSession, 90, nil, nil, false, never},
		{"of a session", ofSession, 90, nil, mine, true, 90},
		{"of a session of A", ofSession, 90, func(s *store) { claimed(s, "s", "A", 200) }, mine, true, 90},
		{"of a session of B", ofSession, 90, func(s *store) { claimed(s, "s", "B", 101) }, mine, false, 101},
		{"of a session that B has lost", ofSession, 90, func(s *store) { claimed(s, "s", "B", 100) }, mine, true, 90},
		{"of another session of B", ofSession, 90, func(s *store) { claimed(s, "r", "B", 200) }, mine, true, 90},
		{"of a session of B among others", ofSession, 90, func(s *store) {
			for _, id := range []string{"t", "r", "s", "q", "u"} {
				claimed(s, id, map[bool]string{true: "B", false: "A"}[id == "s"], 101)
			}
		}, mine, false, 101},
		{"of a session of B, and visible later", ofSession, 150, func(s *store) { claimed(s, "s", "B", 101) }, mine, false, 150},
		{"without a session, beside one of B", activity, 90, func(s *store) { claimed(s, "s", "B", 200) }, mine, true, 90},
	} {
		s := newStore()
		r := s.insert(test.item, test.visible)
		if test.story != nil {
			test.story(s)
		}
		if now, atMs := s.EligibleWork(r, test.session, engine.TagFilter{}, 100); now != test.now || atMs != test.atMs {
			t.Errorf("%s: %t, %d; want %t, %d", test.name, now, atMs, test.now, test.atMs)
		}
	}
}
