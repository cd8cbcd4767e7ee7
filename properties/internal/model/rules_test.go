package model_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/eventdata"
	"github.com/durosim/durosim/internal/observe"
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
		{
			&engine.CapabilityFilter{SupportedVersions: some},
			[]string{"none", "1.2.3", "1.2.3-rc.1", "1.2.4", "1.3.0", "2.0.0", "3.1.9", "3.2.0", "3.2.1", "3.2.1-rc.1"},
			[]string{"0.9.9", "1.1.9", "1.2.2", "3.2.2", "3.3.0", "4.0.0", "5.0.0"},
		},
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

// TestWaitsForStart checks which messages are input for an execution whose start is still queued.
func TestWaitsForStart(t *testing.T) {
	for _, test := range []struct {
		name  string
		story func(s *store)
		want  bool
	}{
		{"no start", func(*store) {}, false},
		{"a running instance", func(s *store) { s.create("1.5.0") }, false},
		{"a start", func(s *store) { s.insert(start, 900) }, true},
		{"continued as new", func(s *store) {
			s.create("1.5.0")
			s.Observe(&observe.Observation{Kind: observe.StatusSet, Instance: 1, Execution: 1, Status: engine.StatusContinuedAsNew})
		}, true},
	} {
		s := newStore()
		r := s.insert(raised, 90)
		test.story(s)
		if got := model.WaitsForStart(s.Instances[1], r); got != test.want {
			t.Errorf("%s: %t, want %t", test.name, got, test.want)
		}
		if next := s.insert(again, 90); model.WaitsForStart(s.Instances[1], next) {
			t.Errorf("%s: a start waits for a start", test.name)
		}
	}
}

// TestUnreadable checks that a call names the first event or message that it could not decode.
func TestUnreadable(t *testing.T) {
	s := newStore()
	decoded := func(kind observe.Kind, queue observe.Queue, call uint64, instance observe.InstanceNo, event uint64, message observe.MessageNo, outcome observe.Outcome) {
		s.Observe(&observe.Observation{
			Kind: kind, Queue: queue, Call: call, Instance: instance, Execution: 4, EventID: event, Message: message, Outcome: outcome,
		})
	}
	s.Observe(&observe.Observation{Kind: observe.CallBegin, Call: 7, CallKind: observe.CallFetchOrchestrationItem})
	decoded(observe.EventDecoded, observe.QueueOrchestrator, 7, 1, 1, 0, observe.OutcomeOK)
	decoded(observe.MessageDecoded, observe.QueueOrchestrator, 7, 1, 0, 2, observe.OutcomeOK)
	decoded(observe.MessageDecoded, observe.QueueWorker, 7, 1, 0, 3, observe.OutcomePermanent)
	decoded(observe.EventDecoded, observe.QueueOrchestrator, 6, 1, 1, 0, observe.OutcomePermanent)
	c := s.Call(7)
	if c.Unreadable != 0 {
		t.Errorf("instance %d is unreadable, want none", c.Unreadable)
	}
	decoded(observe.EventDecoded, observe.QueueOrchestrator, 7, 2, 5, 0, observe.OutcomePermanent)
	decoded(observe.MessageDecoded, observe.QueueOrchestrator, 7, 3, 0, 6, observe.OutcomePermanent)
	if got, want := fmt.Sprint(c.Unreadable, c.UnreadableExecution, c.UnreadableEvent, c.UnreadableMessage), "2 4 5 0"; got != want {
		t.Errorf("unreadable are instance, execution, event and message %s, want %s", got, want)
	}
	s.Observe(&observe.Observation{Kind: observe.CallBegin, Call: 8, CallKind: observe.CallFetchOrchestrationItem})
	decoded(observe.MessageDecoded, observe.QueueOrchestrator, 8, 3, 0, 6, observe.OutcomePermanent)
	if got, want := fmt.Sprint(c.Unreadable, c.UnreadableExecution, c.UnreadableEvent, c.UnreadableMessage), "3 4 0 6"; got != want {
		t.Errorf("unreadable are instance, execution, event and message %s, want %s", got, want)
	}
}

// TestRepinned checks that an execution is pinned again only if somebody other than a node pins it after it has begun.
func TestRepinned(t *testing.T) {
	for _, test := range []struct {
		name   string
		node   uint32
		call   uint64
		events bool
		want   bool
	}{
		{"a client, after it has begun", 0, 1, true, true},
		{"a client, before it has begun", 0, 1, false, false},
		{"a node", 1, 1, true, false},
		{"before the run", 0, 0, true, false},
	} {
		s := newStore()
		s.create("1.5.0")
		if test.events {
			s.event(1, eventdata.KindOrchestrationStarted)
		}
		s.Observe(&observe.Observation{Kind: observe.CallBegin, Call: 1, CallKind: observe.CallAckOrchestrationItem, Caller: observe.Caller{Node: test.node}})
		s.Observe(&observe.Observation{Kind: observe.PinSet, Call: test.call, Instance: 1, Execution: 1, Pin: pinOf("2.0.0")})
		s.Observe(&observe.Observation{Kind: observe.CallBegin, Call: 2, Caller: observe.Caller{Node: 1}})
		s.Observe(&observe.Observation{Kind: observe.PinSet, Call: 2, Instance: 1, Execution: 1, Pin: pinOf("3.0.0")})
		if got := s.Instances[1].Execution(1).Repinned; got != test.want {
			t.Errorf("%s: pinned again %t, want %t", test.name, got, test.want)
		}
	}
}

// TestLatest checks which execution a fetch delivers, and which pin and status it has.
func TestLatest(t *testing.T) {
	execution := func(s *store, id uint64, pin string, row bool) {
		s.Observe(&observe.Observation{Kind: observe.PinSet, Instance: 1, Execution: id, Pin: pinOf(pin)})
		if row {
			s.Observe(&observe.Observation{Kind: observe.ExecutionCreated, Instance: 1, Execution: id, Status: engine.StatusRunning})
		}
	}
	current := func(s *store, id uint64) {
		s.Observe(&observe.Observation{Kind: observe.InstanceCreated, Instance: 1, Execution: id, Name: "H"})
	}
	for _, test := range []struct {
		name  string
		story func(s *store)
		want  string // the execution, 0 for none, the pin and the status
	}{
		{"nothing", func(*store) {}, "0 none "},
		{"an instance row alone", func(s *store) { current(s, 2) }, "0 none "},
		{"the current execution", func(s *store) {
			execution(s, 1, "1.0.0", true)
			execution(s, 2, "2.0.0", true)
			execution(s, 3, "3.0.0", true)
			current(s, 2)
		}, "2 2.0.0 Running"},
		{"a current execution without a row", func(s *store) {
			execution(s, 1, "1.0.0", true)
			execution(s, 2, "2.0.0", false)
			current(s, 2)
		}, "2 2.0.0 "},
		{"no instance row", func(s *store) {
			execution(s, 1, "1.0.0", true)
			execution(s, 2, "2.0.0", true)
			execution(s, 3, "3.0.0", false)
		}, "2 none "},
		{"only a later execution", func(s *store) { execution(s, 4, "4.0.0", true) }, "4 none "},
		{"no row at all", func(s *store) { execution(s, 1, "1.0.0", false); execution(s, 2, "2.0.0", false) }, "1 none "},
		{"no row at all, and no first execution", func(s *store) { execution(s, 2, "2.0.0", false) }, "0 none "},
	} {
		s := newStore()
		test.story(s)
		in, id := s.Instances[1], uint64(0)
		if ex := in.Latest(); ex != nil {
			id = ex.ID
		}
		if got := fmt.Sprintf("%d %s %s", id, model.PinText(in.Pin()), in.Status()); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestKindTable checks the numbers of kinds with names of any length, and what a full table says of further kinds.
func TestKindTable(t *testing.T) {
	k := &newStore().Kinds
	for _, n := range []int{1, 62, 63, 64, 65, 200} {
		name := engine.EventKind(strings.Repeat("k", n))
		if no, ok := k.Number(name); ok {
			t.Errorf("a name of %d bytes has the number %d before it is added", n, no)
		}
		added := k.Add(name)
		if no, ok := k.Number(name); !ok || no != added || k.Add(name) != added || k.Name(no) != string(name) {
			t.Errorf("a name of %d bytes has the number %d (%t) and the name %q, want %d", n, no, ok, k.Name(no), added)
		}
	}
	last := model.KindNo(0)
	for i := range 100 {
		if no := k.Add(engine.EventKind(fmt.Sprint("more", i))); no != model.KindForeign {
			last = no
		}
	}
	if last != model.KindDamaged-1 {
		t.Errorf("the last number is %d, want %d", last, model.KindDamaged-1)
	}
	if got, want := k.Name(model.KindDamaged)+", "+k.Name(model.KindForeign), "damaged event, event of unknown kind"; got != want {
		t.Errorf("the reserved numbers are called %s, want %s", got, want)
	}
	if got := k.First(model.MaskOf(last) | model.MaskOf(model.KindForeign)); got != k.Name(last) {
		t.Errorf("the first of two kinds is %s, want %s", got, k.Name(last))
	}
}

// TestRowsTwice checks that a row which is inserted or removed twice is in its queue once or not at all.
func TestRowsTwice(t *testing.T) {
	for _, item := range []engine.WorkItem{raised, engine.ActivityExecuteItem{Instance: "x", Name: "W", SessionID: "s"}} {
		s := newStore()
		r := s.insert(item, 90)
		for i, kind := range []observe.Kind{observe.RowRestored, observe.RowRemoved, observe.RowRemoved, observe.RowRestored} {
			s.Observe(&observe.Observation{Kind: kind, Message: 1, Instance: 1})
			want := 1
			if kind == observe.RowRemoved {
				want = 0
			}
			in := s.Instances[1]
			if got := len(in.Queue) + len(in.Work); got != want || len(s.Queued)+len(s.Work) != want || r.Present != (want > 0) {
				t.Errorf("%s after change %d: %d rows in the queues, %d lists, present %t; want %d", item.Kind(), i, got, len(s.Queued)+len(s.Work), r.Present, want)
			}
			if got := s.SessionWork; got != len(in.Work) {
				t.Errorf("%s after change %d: %d activities of sessions, want %d", item.Kind(), i, got, len(in.Work))
			}
		}
	}
}
