package check_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/rig"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/record"
)

// clocks returns a plan in which A's clock is ahead by offset. This matters only if the store uses its callers' clocks.
func clocks(offset time.Duration, callers bool) *plan.Plan {
	p := &plan.Plan{Nodes: []plan.Node{{Name: "A"}, {Name: "B"}}}
	p.Nodes[0].Clock.Offset, p.Store.CallersClock = offset, callers
	return p
}

func TestJudges(t *testing.T) {
	for _, c := range []struct {
		offset  time.Duration
		callers bool
		id      string
		want    bool
	}{
		{0, true, "S22", true}, {time.Millisecond, true, "S22", false}, {time.Hour, false, "S22", true},
		{0, true, "L01", true}, {time.Second, true, "L01", true}, {time.Second + time.Millisecond, true, "L01", false},
		{time.Hour, true, "S01", true}, {time.Hour, false, "L01", true},
		{time.Hour, true, "S19", false}, {time.Hour, true, "S27", false}, {time.Hour, true, "L12", false}, {time.Hour, true, "L06", true},
	} {
		if got := check.Judges(clocks(c.offset, c.callers), c.id); got != c.want {
			t.Errorf("%s with clocks %v apart (%t): %t, want %t", c.id, c.offset, c.callers, got, c.want)
		}
	}
}

// newWorld returns a world with a node A, which is up in its first incarnation, and a node B, which never existed.
func newWorld(p *plan.Plan) *rig.FakeWorld {
	w := &rig.FakeWorld{ThePlan: *p, Now: rig.StartMs + 1500, AllBuilds: engine.ShippedBuilds()}
	for i, name := range []string{"A", "B"} {
		w.Infos = append(w.Infos, cluster.NodeInfo{Number: uint32(i + 1), Name: name, Build: w.AllBuilds[1], Incarnation: 1, Clock: p.Nodes[i].Clock})
	}
	return w
}

func everything(string) bool { return true }

func TestClocks(t *testing.T) {
	p := clocks(300*time.Millisecond, true)
	p.Nodes[1].Clock.Offset = 100 * time.Millisecond
	m := check.New(newWorld(p), everything)
	if got := fmt.Sprint(m.SkewMs(), m.AheadMs(0), m.AheadMs(1), m.AheadMs(2), m.AheadMs(3)); got != "300 0 300 100 0" {
		t.Errorf("skew, and how far client, A, B and a stranger are ahead: %s", got)
	}
	m = check.New(newWorld(clocks(300*time.Millisecond, false)), everything)
	if got := fmt.Sprint(m.SkewMs(), m.AheadMs(1)); got != "0 0" {
		t.Errorf("over a store with a clock of its own: %s", got)
	}
}

func TestEvidence(t *testing.T) {
	p := clocks(0, false)
	p.Probes = []plan.Probe{{Name: "one"}, {Name: "two"}}
	m := check.New(newWorld(p), everything)
	m.Record(&cluster.Record{Kind: record.NodeStarted, Node: 1, Incarnation: 1})
	m.Observe(&observe.Observation{Kind: observe.RowInserted, Queue: observe.QueueOrchestrator, Message: 1, Instance: 1, Item: engine.StartItem{Instance: "x"}})
	m.Observe(&observe.Observation{Kind: observe.RowInserted, Queue: observe.QueueWorker, Message: 2, Instance: 1, Item: engine.ActivityExecuteItem{Instance: "x", ExecutionID: 1, ID: 7}})
	caller := func(node, incarnation uint32) string {
		return m.Who(observe.Caller{Node: node, Incarnation: incarnation})
	}
	lock := model.Lock{Token: "o1", UntilMs: rig.StartMs + 9000, TakenMs: rig.StartMs + 4000, Holder: observe.Caller{Node: 1, Incarnation: 1}}
	got := strings.Join([]string{
		caller(0, 0), caller(0, 1), caller(0, 2), caller(0, 3), caller(1, 1), caller(1, 2), caller(2, 1), caller(9, 1),
		m.At(rig.StartMs + 2500), m.LockText(model.Lock{UntilMs: 5}), m.LockText(lock), m.BatchText([]observe.MessageNo{1, 2}), m.BatchText(nil),
	}, "\n")
	want := strings.Join([]string{
		"a client", "probe one", "probe two", "a client", "A (build 1.5.0, start 1)", "A (start 2)", "B (start 1)", "caller 9",
		"2.5s", "no lock", "token o1 of A (build 1.5.0, start 1), taken at 4s, until 9s", "StartOrchestration (message 1), ActivityExecute 1/7 (message 2)", "",
	}, "\n")
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestBreach(t *testing.T) {
	w := newWorld(clocks(0, false))
	w.Steps = 42
	m := check.New(w, func(id string) bool { return id != "S02" })
	m.Observe(&observe.Observation{Kind: observe.InstanceNamed, Instance: 1, Name: "x"})
	m.Safety("S01", 1, 1, "number %d", 1)
	m.Liveness("L01", 2, 0, "late")
	m.Safety("S02", 1, 1, "nobody asks")
	m.Apart = func(v cluster.Violation) int { return strings.Index(v.Message, "5") }
	for i := range 6 {
		m.Safety("S03", 9, 2, "again %d", i)
		m.Violate(check.Breach{Property: "expect", Expectation: "never turn", Name: "y", Item: "item", Class: cluster.ClassPlan})
		m.Violate(check.Breach{Property: "expect", Expectation: "never fetch", Instance: 1, Name: "y"})
	}
	var got []string
	for _, v := range m.Violations() {
		got = append(got, fmt.Sprintf("%s %s step %d at %d %s/%s/%s: %s%s", v.Property, v.Class, v.Step, v.VirtualMs, v.Node, v.Instance, v.WorkItem, v.Message, v.Expectation))
	}
	want := []string{"S01 safety step 42 at 1500 A/x/: number 1", "L01 liveness step 42 at 1500 B//: late"}
	for i := range 3 {
		want = append(want, fmt.Sprintf("S03 safety step 42 at 1500 //: again %d", i), "expect plan step 42 at 1500 /y/item: never turn", fmt.Sprintf("expect %s step 42 at 1500 /x/: never fetch", cluster.Class("")))
	}
	want = append(want, "S03 safety step 42 at 1500 //: again 5") // set apart from those like it
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestSecond checks that what the second judge finds is kept beside what a rule has found in the same step, about the same
// instance or about none, and is a violation of its own otherwise.
func TestSecond(t *testing.T) {
	for _, c := range []struct {
		rule, second check.Breach
		same         bool
	}{
		{check.Breach{Instance: 1}, check.Breach{Instance: 1, Step: 42}, true},
		{check.Breach{Instance: 1, Item: "y"}, check.Breach{Instance: 2, Step: 42}, false},
		{check.Breach{Instance: 1, Item: "y"}, check.Breach{Step: 42}, true},
		{check.Breach{Item: "y"}, check.Breach{Instance: 2, Step: 42}, true},
		{check.Breach{Instance: 1}, check.Breach{Instance: 1, Step: 41}, false},
		{check.Breach{Instance: 1, Class: cluster.ClassLiveness}, check.Breach{Instance: 1, Step: 42}, false},
	} {
		w := newWorld(clocks(0, false))
		w.Steps = 42
		m := check.New(w, everything)
		m.Observe(&observe.Observation{Kind: observe.InstanceNamed, Instance: 1, Name: "x"})
		m.Observe(&observe.Observation{Kind: observe.InstanceNamed, Instance: 2, Name: "y"})
		m.Violate(c.rule)
		c.second.Property, c.second.Message = "second", "judged"
		m.Second(c.second, "clause")
		m.Finish()
		v := m.Violations()
		if same := len(v) == 1 && v[0].Clause == "clause"; same != c.same || !same && (len(v) != 2 || v[0].Clause != "" || v[1].Message != "judged") {
			t.Errorf("%+v: %+v", c, v)
		}
	}
}

func TestSince(t *testing.T) {
	p := clocks(0, false)
	p.Schedule = []plan.Step{
		{At: time.Second, Verb: plan.VerbUpgrade, Node: "A", Build: "1.6.0"}, {At: time.Second, Verb: plan.VerbStop, Node: "A"}, {At: time.Second, Verb: plan.VerbUpgrade, Node: "B", Build: "2.0.0"},
		{At: 1500 * time.Millisecond, Verb: plan.VerbStart, Node: "A"}, {At: 2 * time.Second, Verb: plan.VerbUpgrade, Node: "A", Build: "2.0.0"},
	}
	w := newWorld(p)
	var got []string
	for _, at := range []int64{999, 1000, 1500, 1999, 2000} {
		w.Now = rig.StartMs + at
		got = append(got, check.New(w, everything).Since(1))
	}
	want := []string{"", ` since "upgrade A to 1.6.0" at 1s`, ` since "start A" at 1.5s`, ` since "start A" at 1.5s`, ` since "upgrade A to 2.0.0" at 2s`}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// log is a checker that records its calls.
type log struct {
	name     string
	told     *[]string
	open     bool
	untilMs  int64
	observes check.Set[observe.Kind]
	records  check.Set[record.Kind]
	of       check.Set[observe.CallKind] // the calls whose records it wants; zero for all
}

func (l *log) tell(format string, args ...any) {
	*l.told = append(*l.told, l.name+" "+fmt.Sprintf(format, args...))
}
func (l *log) Observes() check.Set[observe.Kind] { return l.observes }
func (l *log) Records() check.Set[record.Kind]   { return l.records }
func (l *log) Ends() check.Ends                  { return check.Ends{} }
func (l *log) StepDue() *bool                    { return nil }
func (l *log) Observe(o *observe.Observation)    { l.tell("observes %d", o.Kind) }
func (l *log) Record(r *cluster.Record)          { l.tell("records %s", r.Kind) }
func (l *log) Open(nowMs int64) (bool, int64)    { l.tell("open at %d", nowMs); return l.open, l.untilMs }
func (l *log) EndPhase(p cluster.Phase)          { l.tell("ends %s", p) }
func (l *log) Finish()                           { l.tell("finishes") }
func (l *log) RecordsOf(record.Kind) check.Set[observe.CallKind] {
	if l.of == 0 {
		return check.AnyCall
	}
	return l.of
}

// some also looks at the state between steps and at the ends of calls.
type some struct{ log }

func (s *some) AfterStep() { s.tell("steps") }
func (s *some) Ends() check.Ends {
	return check.Ends{
		Any: check.SetOf(observe.CallAckWorkItem), OK: check.SetOf(observe.CallAckOrchestrationItem),
		Nothing: check.SetOf(observe.CallFetchWorkItem, observe.CallFetchOrchestrationItem),
	}
}
func (s *some) Ended(c *model.Call, o *observe.Observation) {
	s.tell("ends %s of %d with %d", c.Kind, c.ID, o.Outcome)
}

// TestEnds checks that a checker is notified of the ends of calls that it subscribes to, by kind and outcome, and of no
// call that has not begun.
func TestEnds(t *testing.T) {
	m := check.New(newWorld(clocks(0, false)), everything)
	var told []string
	m.Add(&some{log{name: "some", told: &told}})
	// No kind of call has the number 32, and no outcome the number 8: these are the first without a place.
	for i, kind := range []observe.CallKind{observe.CallAckWorkItem, observe.CallAckOrchestrationItem, observe.CallFetchWorkItem, observe.CallRead, 32} {
		for _, outcome := range []observe.Outcome{observe.OutcomeOK, observe.OutcomeNothing, observe.OutcomePermanent, 8, 250} {
			call := uint64(10*i) + uint64(outcome)
			m.Observe(&observe.Observation{Kind: observe.CallBegin, Call: call, CallKind: kind})
			m.Observe(&observe.Observation{Kind: observe.CallEnd, Call: call + 1, CallKind: kind, Outcome: outcome})
			m.Observe(&observe.Observation{Kind: observe.CallEnd, Call: call, CallKind: kind, Outcome: outcome})
		}
	}
	want := []string{
		"some ends ack_work_item of 1 with 1", "some ends ack_work_item of 2 with 2", "some ends ack_work_item of 4 with 4",
		"some ends ack_orchestration_item of 11 with 1", "some ends fetch_work_item of 22 with 2",
	}
	if !slices.Equal(told, want) {
		t.Errorf("told\n%s\nwant\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
	}
}

func TestMonitorHandsOn(t *testing.T) {
	m := check.New(newWorld(clocks(0, false)), everything)
	var told []string
	all := &log{name: "all", told: &told, open: true, untilMs: 70, observes: 1<<32 - 1, records: 1<<32 - 1}
	picky := &some{log{name: "some", told: &told, untilMs: 10, observes: check.SetOf(observe.InstanceNamed), records: check.SetOf(record.NodePaused)}}
	third := &log{name: "third", told: &told, open: true, untilMs: 60}
	m.Add(all, picky)
	m.Observe(&observe.Observation{Kind: observe.InstanceNamed, Instance: 1, Name: "x"})
	m.Observe(&observe.Observation{Kind: observe.InstanceRemoved, Instance: 1})
	m.Observe(&observe.Observation{Kind: 32}) // the first without a place
	m.Observe(&observe.Observation{Kind: 250})
	m.Record(&cluster.Record{Kind: record.NodePaused, Node: 1})
	m.Record(&cluster.Record{Kind: record.PhaseEnded, Phase: cluster.PhaseRecovery})
	m.Record(&cluster.Record{Kind: 32})
	m.Record(&cluster.Record{Kind: 250})
	m.AfterStep()
	m.Add(third)
	open, until := m.Open(5)
	told = append(told, fmt.Sprint(open, until))
	m.Finish()
	all.open, third.open, picky.open = false, false, true
	open, until = m.Open(6)
	told = append(told, fmt.Sprint(open, until))
	want := []string{
		fmt.Sprint("all observes ", uint8(observe.InstanceNamed)), fmt.Sprint("some observes ", uint8(observe.InstanceNamed)), fmt.Sprint("all observes ", uint8(observe.InstanceRemoved)),
		"all records node paused", "some records node paused", "all records phase ended", "all ends recovery", "some ends recovery", "some steps",
		"all open at 5", "some open at 5", "third open at 5", "true 60", "all finishes", "some finishes", "third finishes",
		"all open at 6", "some open at 6", "third open at 6", "true 10",
	}
	if !slices.Equal(told, want) {
		t.Errorf("told\n%s\nwant\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
	}
}

func TestFacts(t *testing.T) {
	m := check.New(newWorld(clocks(0, false)), everything)
	m.Happened(check.FactWaitOver) // nobody listens yet
	var got []check.Fact
	m.OnFact(func(f check.Fact) { got = append(got, f) })
	m.Happened(check.FactTakenOver)
	if !slices.Equal(got, []check.Fact{check.FactTakenOver}) {
		t.Errorf("told of %v, want %v", got, check.FactTakenOver)
	}
}

// TestRecordsOf checks that a checker gets only the records about the kinds of calls that it subscribes to, in this run
// and the next, and that the others get all.
func TestRecordsOf(t *testing.T) {
	var memory any
	for range 2 {
		m := check.New(&remembering{FakeWorld: *newWorld(clocks(0, false)), memory: &memory}, everything)
		var told []string
		sent := check.SetOf(record.CallSent)
		m.Add(
			&log{name: "first", told: &told, records: sent},
			&log{name: "acks", told: &told, records: sent | check.SetOf(record.Log), of: check.SetOf(observe.CallNone, observe.CallAckWorkItem)},
			&log{name: "last", told: &told, records: sent},
		)
		for _, kind := range []observe.CallKind{observe.CallAckWorkItem, observe.CallFetchWorkItem, 250} {
			m.Record(&cluster.Record{Kind: record.CallSent, CallKind: kind})
		}
		m.Record(&cluster.Record{Kind: record.Log})
		want := []string{
			"first records call sent", "acks records call sent", "last records call sent", "first records call sent",
			"last records call sent", "acks records log",
		}
		if !slices.Equal(told, want) {
			t.Errorf("told\n%s\nwant\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
		}
	}
}

// TestTouched checks that a checker that asks for the ends of calls that have touched something gets those alone.
func TestTouched(t *testing.T) {
	m := check.New(newWorld(clocks(0, false)), everything)
	var told []string
	m.Add(&toucher{log{name: "toucher", told: &told}})
	for i, change := range []observe.Kind{observe.EventDecoded, observe.LockTaken, observe.RowInserted, observe.StatusSet, observe.SessionSet} {
		call := uint64(i + 1)
		m.Observe(&observe.Observation{Kind: observe.CallBegin, Call: call, CallKind: observe.CallRead})
		m.Observe(&observe.Observation{Kind: change, Call: call, Instance: 1, Execution: 1, Message: observe.MessageNo(i)})
		m.Observe(&observe.Observation{Kind: observe.CallEnd, Call: call, CallKind: observe.CallRead, Outcome: observe.OutcomePermanent})
	}
	want := []string{"toucher ends 2", "toucher ends 3", "toucher ends 4", "toucher ends 5"}
	if !slices.Equal(told, want) {
		t.Errorf("told\n%s\nwant\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
	}
}

type toucher struct{ log }

func (*toucher) Ends() check.Ends                              { return check.Ends{Touched: check.AnyCall} }
func (l *toucher) Ended(c *model.Call, _ *observe.Observation) { l.tell("ends %d", c.ID) }

// TestMemoryOfOneRun checks that the memory of checkers is used again by the next run, which does not know the checkers
// of the previous one, and that only one of two monitors of the same run gets it.
func TestMemoryOfOneRun(t *testing.T) {
	var memory any
	var told []string
	watch := func(m *check.Monitor, list ...check.Checker) {
		m.Add(list...)
		m.Observe(&observe.Observation{Kind: observe.InstanceNamed, Instance: 1, Name: "x"})
		m.Record(&cluster.Record{Kind: record.NodePaused, Node: 1})
		m.Observe(&observe.Observation{Kind: observe.CallBegin, Call: 1, CallKind: observe.CallAckWorkItem})
		m.Observe(&observe.Observation{Kind: observe.CallEnd, Call: 1, CallKind: observe.CallAckWorkItem, Outcome: observe.OutcomeOK})
	}
	checker := func(name string) check.Checker {
		return &some{log{name: name, told: &told, observes: check.SetOf(observe.InstanceNamed), records: check.SetOf(record.NodePaused)}}
	}
	first := &remembering{FakeWorld: *newWorld(clocks(0, false)), memory: &memory}
	a, b := check.New(first, everything), check.New(first, everything)
	if a.Arena == nil || b.Arena != nil {
		t.Errorf("of two monitors of a run the first has the memory: %v, %v", a.Arena != nil, b.Arena != nil)
	}
	watch(a, checker("one"), checker("two"))
	second := &remembering{FakeWorld: *newWorld(clocks(0, false)), memory: &memory}
	c := check.New(second, everything)
	if c.Arena != a.Arena {
		t.Error("the next run has other memory")
	}
	told = append(told, "the next run")
	watch(c, checker("three"))
	if a.Model.Instance(1) != c.Model.Instance(1) {
		t.Error("the next run does not use the memory of the first instance again")
	}
	watch(check.New(&remembering{FakeWorld: *newWorld(clocks(0, false)), memory: &memory}, everything))
	observes := fmt.Sprint("observes ", uint8(observe.InstanceNamed))
	want := []string{
		"one " + observes, "two " + observes, "one records node paused", "two records node paused",
		"one ends ack_work_item of 1 with 1", "two ends ack_work_item of 1 with 1",
		"the next run", "three " + observes, "three records node paused", "three ends ack_work_item of 1 with 1",
	}
	if !slices.Equal(told, want) {
		t.Errorf("told\n%s\nwant\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
	}
}

type remembering struct {
	rig.FakeWorld
	memory *any
}

func (r *remembering) MonitorArena() *any { return r.memory }
