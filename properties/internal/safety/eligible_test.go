package safety_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/rig"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/properties/internal/monitor"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/record"
)

// lateSink passes observations to a monitor that is created after the store.
type lateSink struct{ m *monitor.Monitor }

func (s *lateSink) Observe(o *observe.Observation) {
	if s.m != nil {
		s.m.Observe(o)
	}
}

// conserveRig is a real store with parked fetches.
type conserveRig struct {
	w       *rig.FakeWorld
	m       *monitor.Monitor
	calls   uint64
	cadence time.Duration
	token   string // of the last take
}

func newConserveRig(rules *memprovider.Rules) *conserveRig {
	sink := &lateSink{}
	w := &rig.FakeWorld{
		Now: rig.StartMs, AllBuilds: engine.ShippedBuilds(), Infos: []cluster.NodeInfo{{Number: 1, Name: "A"}, {Number: 2, Name: "B"}},
		RealStore: memprovider.New(memprovider.Options{Sink: sink, Rules: rules, StartMs: rig.StartMs}),
	}
	r := &conserveRig{w: w, m: monitor.New(w, monitor.Options{Properties: []string{"S22"}}), calls: 40, cadence: 100 * time.Millisecond}
	sink.m = r.m
	return r
}

// at runs functions in one step, at the given time.
func (r *conserveRig) at(ms int64, do ...func()) {
	r.w.Now = rig.StartMs + ms
	r.w.RealStore.SetNow(r.w.Now)
	for _, f := range do {
		f()
	}
	r.m.AfterStep()
}

// start queues a start for an instance. It becomes visible after delay.
func (r *conserveRig) start(instance string, delay time.Duration) func() {
	return func() {
		p := r.w.RealStore.Handle(r.w.AllBuilds[1].Codec, observe.Caller{})
		_ = p.EnqueueForOrchestrator(context.Background(), engine.StartItem{Instance: instance, Orchestration: "H", ExecutionID: 1}, delay)
	}
}

// lost stands for a start that the store has accepted but that its index lacks, so the store never reports it.
func (r *conserveRig) lost() {
	r.m.Observe(&observe.Observation{Kind: observe.InstanceNamed, Instance: 1, Name: "x"})
	r.m.Observe(&observe.Observation{
		Kind: observe.RowInserted, Queue: observe.QueueOrchestrator, Message: 1, Instance: 1, AtMs: r.w.Now, UntilMs: r.w.Now,
		Item: engine.StartItem{Instance: "x", Orchestration: "H", ExecutionID: 1},
	})
}

// queueMessage queues a message for an instance that no client has started.
func (r *conserveRig) queueMessage() {
	p := r.w.RealStore.Handle(r.w.AllBuilds[1].Codec, observe.Caller{})
	_ = p.EnqueueForOrchestrator(context.Background(), engine.QueueMessageItem{Instance: "x", Name: "q"}, 0)
}

// work queues an activity.
func (r *conserveRig) work() {
	p := r.w.RealStore.Handle(r.w.AllBuilds[1].Codec, observe.Caller{})
	_ = p.EnqueueForWorker(context.Background(), engine.ActivityExecuteItem{Instance: "x", ExecutionID: 1, ID: 2, Name: "W"})
}

// take locks an instance for a second, and giveBack releases it.
func (r *conserveRig) take() {
	p := r.w.RealStore.Handle(r.w.AllBuilds[1].Codec, observe.Caller{})
	if f, _ := p.FetchOrchestrationItem(context.Background(), time.Second, 0, upTo2.Filter); f != nil {
		r.token = f.LockToken
	}
}

func (r *conserveRig) giveBack() {
	p := r.w.RealStore.Handle(r.w.AllBuilds[1].Codec, observe.Caller{})
	_ = p.AbandonOrchestrationItem(context.Background(), r.token, 0, false)
}

func (r *conserveRig) say(kind record.Kind, nodeNo uint32, q call.Call) func() {
	return func() {
		if kind == record.Parked {
			r.calls++
		}
		rec := cluster.Record{Kind: kind, AtMs: r.w.Now, Node: nodeNo, Incarnation: 7, Call: r.calls, Request: q, Cadence: r.cadence}
		if q != nil {
			rec.CallKind = call.Kind(q)
		}
		if kind == record.CallExecuted {
			rec.Outcome = observe.OutcomeNothing
		}
		r.m.Record(&rec)
	}
}

var (
	// upTo2 is a fetch with a filter for everything below 3.0.0. nobody is a fetch with an empty filter.
	upTo2  = call.FetchOrchestrationItem{Filter: engine.FilterFor(engine.VersionRange{Max: engine.V(2, 9, 9)})}
	nobody = call.FetchOrchestrationItem{Filter: &engine.CapabilityFilter{}}
	worker = call.FetchWorkItem{}
)

func TestWorkConserving(t *testing.T) {
	tests := []struct {
		name string
		run  func(r *conserveRig)
		want string // "NODE INSTANCE: MESSAGE" of each violation
	}{
		{"nothing_ok_empty_store", func(r *conserveRig) { r.at(0, r.say(record.CallExecuted, 1, upTo2)) }, ""},
		{"nothing_bad", func(r *conserveRig) { r.at(0, r.start("x", 0), r.say(record.CallExecuted, 1, upTo2)) }, "A x: the fetch of A (call 40, filter >=0.0.0, <=2.9.9) returned nothing although x is eligible: pin none, StartOrchestration (message 1) visible since 0s, no lock"},
		{"nothing_ok_delayed", func(r *conserveRig) { r.at(0, r.start("x", time.Second), r.say(record.CallExecuted, 1, upTo2)) }, ""},
		{"nothing_ok_empty_filter", func(r *conserveRig) { r.at(0, r.start("x", 0), r.say(record.CallExecuted, 1, nobody)) }, ""},
		{"nothing_bad_activity", func(r *conserveRig) { r.at(0, r.work, r.say(record.CallExecuted, 1, worker)) }, "A x: the fetch of A (call 40) returned nothing although activity message 1 of x is eligible: ActivityExecute 1/2 (message 1) visible since 0s, no lock"},
		{"parked_ok_woken_at_its_cadence", func(r *conserveRig) {
			r.at(0, r.say(record.Parked, 1, upTo2))
			r.at(10, r.start("x", 0))
			r.at(110, r.say(record.Woken, 1, upTo2))
			r.at(500)
		}, ""},
		{"parked_ok_until_its_cadence", func(r *conserveRig) {
			r.at(0, r.say(record.Parked, 1, upTo2))
			r.at(10, r.start("x", 0))
			r.at(112)
		}, ""},
		{"parked_bad_past_its_cadence", func(r *conserveRig) {
			r.at(0, r.say(record.Parked, 1, upTo2))
			r.at(10, r.start("x", 0))
			r.at(113)
		}, "A x: 1 fetches with filter >=0.0.0, <=2.9.9 stay parked, the first that of A, although x has been eligible since 10ms: bound 102ms = 100ms poll cadence + 2ms rounding, overdue by 1ms. Its pin is none, StartOrchestration (message 1) visible since 10ms, no lock"},
		{"parked_bad_when_time_makes_it_eligible", func(r *conserveRig) {
			r.at(0, r.say(record.Parked, 1, upTo2), r.start("x", 500*time.Millisecond))
			r.at(500)
			r.at(603)
		}, "A x: 1 fetches with filter >=0.0.0, <=2.9.9 stay parked, the first that of A, although x has been eligible since 500ms: bound 102ms = 100ms poll cadence + 2ms rounding, overdue by 1ms. Its pin is none, StartOrchestration (message 1) visible since 500ms, no lock"},
		{"parked_bad_given_back_with_no_other_change", func(r *conserveRig) {
			r.at(0, r.say(record.Parked, 1, upTo2))
			r.at(10, r.start("x", 0), r.take)
			r.at(20, r.giveBack)
			r.at(123)
		}, "A x: 1 fetches with filter >=0.0.0, <=2.9.9 stay parked, the first that of A, although x has been eligible since 20ms: bound 102ms = 100ms poll cadence + 2ms rounding, overdue by 1ms. Its pin is none, StartOrchestration (message 1) visible since 10ms, no lock"},
		{"parked_bad_after_more_changes_than_are_kept", func(r *conserveRig) {
			r.at(0, r.say(record.Parked, 1, upTo2), r.start("x", 0), r.take)
			for ms := range int64(1500) {
				r.at(ms/2, r.start("x", time.Hour), r.start("y", time.Hour))
			}
			r.at(800, r.giveBack)
			r.at(903)
		}, "A x: 1 fetches with filter >=0.0.0, <=2.9.9 stay parked, the first that of A, although x has been eligible since 800ms: bound 102ms = 100ms poll cadence + 2ms rounding, overdue by 1ms. Its pin is none, StartOrchestration (message 1) visible since 0s, no lock"},
		{"parked_ok_paused", func(r *conserveRig) {
			r.at(0, r.say(record.Parked, 1, upTo2), r.say(record.NodePaused, 1, nil))
			r.at(10, r.start("x", 0))
			r.at(1000)
		}, ""},
		{"parked_bad_resumed", func(r *conserveRig) {
			r.at(0, r.say(record.Parked, 1, upTo2), r.say(record.NodePaused, 1, nil))
			r.at(10, r.start("x", 0))
			r.at(1000, r.say(record.NodeResumed, 1, nil))
			r.at(1103)
		}, "A x: 1 fetches with filter >=0.0.0, <=2.9.9 stay parked, the first that of A, although x has been eligible since 1s: bound 102ms = 100ms poll cadence + 2ms rounding, overdue by 1ms. Its pin is none, StartOrchestration (message 1) visible since 10ms, no lock"},
		{"parked_ok_one_of_the_group_at_a_time", func(r *conserveRig) {
			r.at(0, r.say(record.Parked, 2, upTo2), r.say(record.Parked, 1, upTo2))
			r.at(10, r.start("x", 0), r.start("y", 0))
			r.at(100, r.say(record.Woken, 1, upTo2))
			r.at(190)
		}, ""},
		{"parked_ok_taken_back", func(r *conserveRig) {
			r.at(0, r.say(record.Parked, 1, upTo2))
			r.at(10, r.start("x", 0), r.say(record.Unparked, 1, upTo2))
			r.at(1000)
		}, ""},
		{"parked_ok_empty_filter", func(r *conserveRig) {
			r.at(0, r.say(record.Parked, 1, nobody))
			r.at(10, r.start("x", 0))
			r.at(1000)
		}, ""},
		{"nothing_bad_lost_from_the_index", func(r *conserveRig) { r.at(0, r.lost, r.say(record.CallExecuted, 1, upTo2)) }, "A x: the fetch of A (call 40, filter >=0.0.0, <=2.9.9) returned nothing although x is eligible: pin none, StartOrchestration (message 1) visible since 0s, no lock"},
		{"parked_bad_lost_from_the_index", func(r *conserveRig) {
			r.at(0, r.say(record.Parked, 1, upTo2))
			r.at(10, r.lost)
			r.at(113)
		}, "A x: 1 fetches with filter >=0.0.0, <=2.9.9 stay parked, the first that of A, although x has been eligible since 10ms: bound 102ms = 100ms poll cadence + 2ms rounding, overdue by 1ms. Its pin is none, StartOrchestration (message 1) visible since 10ms, no lock"},
		{"nothing_ok_orphan_to_come", func(r *conserveRig) {
			r.at(0, r.queueMessage, r.start("x", time.Second), r.say(record.CallExecuted, 1, upTo2))
		}, ""},
		{"nothing_bad_orphan_kept", func(r *conserveRig) { r.at(0, r.queueMessage, r.say(record.CallExecuted, 1, upTo2)) }, "A x: a fetch of A (call 40) returned nothing and left the orphaned queue messages of x in the queue: expected a fetch to drop them"},
		{"parked_bad_activity", func(r *conserveRig) {
			r.at(0, r.say(record.Parked, 1, worker))
			r.at(10, r.work)
			r.at(113)
		}, "A x: 1 fetches of activities stay parked, the first that of A, although message 1 of x has been eligible since 10ms: bound 102ms = 100ms poll cadence + 2ms rounding, overdue by 1ms. ActivityExecute 1/2 (message 1) visible since 10ms, no lock"},
		{"parked_bad_waiting_again", func(r *conserveRig) {
			r.at(0, r.say(record.Parked, 1, upTo2), r.say(record.Woken, 1, upTo2))
			r.at(500, r.start("x", 0))
			r.at(700, r.say(record.Parked, 1, upTo2))
			r.at(802)
			r.at(803)
			r.at(900)
		}, "A x: 1 fetches with filter >=0.0.0, <=2.9.9 stay parked, the first that of A, although x has been eligible since 700ms: bound 102ms = 100ms poll cadence + 2ms rounding, overdue by 1ms. Its pin is none, StartOrchestration (message 1) visible since 500ms, no lock"},
		{"parked_bad_longest_cadence", func(r *conserveRig) {
			r.at(0, r.say(record.Parked, 2, upTo2))
			r.cadence = 300 * time.Millisecond
			r.at(0, r.say(record.Parked, 1, upTo2))
			r.at(10, r.start("x", 0))
			r.at(312)
			r.at(320)
		}, "B x: 2 fetches with filter >=0.0.0, <=2.9.9 stay parked, the first that of B, although x has been eligible since 10ms: bound 302ms = 300ms poll cadence + 2ms rounding, overdue by 8ms. Its pin is none, StartOrchestration (message 1) visible since 10ms, no lock"},
		{"parked_ok_paused_with_the_longest_cadence", func(r *conserveRig) {
			r.at(0, r.say(record.Parked, 2, upTo2))
			r.cadence = 300 * time.Millisecond
			r.at(0, r.say(record.Parked, 1, upTo2), r.say(record.NodePaused, 2, nil))
			r.at(10, r.start("x", 0))
			r.at(312)
		}, ""},
		{"parked_bad_another_node_paused", func(r *conserveRig) {
			r.at(0, r.say(record.Parked, 1, upTo2), r.say(record.NodePaused, 2, nil))
			r.at(10, r.start("x", 0))
			r.at(120)
		}, "A x: 1 fetches with filter >=0.0.0, <=2.9.9 stay parked, the first that of A, although x has been eligible since 10ms: bound 102ms = 100ms poll cadence + 2ms rounding, overdue by 8ms. Its pin is none, StartOrchestration (message 1) visible since 10ms, no lock"},
		{"parked_ok_another_filter", func(r *conserveRig) {
			r.at(0, r.say(record.Parked, 1, nobody))
			r.at(10, r.start("x", 0), r.work)
			r.at(500)
			r.at(600, r.say(record.Parked, 2, worker))
			r.at(700)
		}, ""},
		{"parked_bad_a_group_of_two", func(r *conserveRig) {
			r.at(0, r.say(record.Parked, 2, upTo2), r.say(record.Parked, 1, upTo2), r.say(record.Parked, 1, nobody))
			r.at(10, r.start("x", 0), r.start("y", 0))
			r.at(150)
		}, "B x: 2 fetches with filter >=0.0.0, <=2.9.9 stay parked, the first that of B, although x has been eligible since 10ms: bound 102ms = 100ms poll cadence + 2ms rounding, overdue by 38ms. Its pin is none, StartOrchestration (message 1) visible since 10ms, no lock"},
		{"nothing_bad_any_filter", func(r *conserveRig) {
			r.at(0, r.start("x", 0), r.say(record.CallExecuted, 2, call.FetchOrchestrationItem{}))
		}, "B x: the fetch of B (call 40, filter any) returned nothing although x is eligible: pin none, StartOrchestration (message 1) visible since 0s, no lock"},
		{"nothing_ok_another_call", func(r *conserveRig) {
			r.at(0, r.start("x", 0), r.say(record.CallExecuted, 2, call.CleanupOrphanedSessions{}))
		}, ""},
		{"nothing_ok_orphan_and_empty_filter", func(r *conserveRig) { r.at(0, r.queueMessage, r.say(record.CallExecuted, 1, nobody)) }, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := newConserveRig(nil)
			test.run(r)
			var lines []string
			for _, v := range r.m.Violations() {
				lines = append(lines, v.Node+" "+v.Instance+": "+v.Message)
			}
			if got := strings.Join(lines, "\n"); got != test.want {
				t.Errorf("found %s\nwant  %s", got, test.want)
			}
		})
	}
}

// TestWorkConservingByRightRules checks that eligibility is decided by the model, not by the provider.
func TestWorkConservingByRightRules(t *testing.T) {
	rules := memprovider.DefaultRules()
	rules.Admits = func(f *engine.CapabilityFilter, pin *engine.Version) bool { return pin != nil && f.Admits(pin) }
	r := newConserveRig(rules)
	r.at(0, r.say(record.Parked, 1, upTo2))
	r.at(10, r.start("x", 0))
	r.at(113)
	if v := r.m.Violations(); len(v) != 1 || v[0].Property != "S22" || v[0].Instance != "x" || v[0].Node != "A" {
		t.Fatalf("violations %+v", v)
	}
	const want = "1 fetches with filter >=0.0.0, <=2.9.9 stay parked, the first that of A, although x has been eligible since 10ms: " +
		"bound 102ms = 100ms poll cadence + 2ms rounding, overdue by 1ms. Its pin is none, StartOrchestration (message 1) visible since 10ms, no lock"
	if got := r.m.Violations()[0].Message; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
