package machine

import (
	"strings"
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/internal/sample"
)

// TestPanics checks that the node panics if the driver makes a mistake.
func TestPanics(t *testing.T) {
	started := func() *Node {
		d := &driver{t: t}
		d.newNode(nil)
		d.node.Step(&Start{NowMs: 1})
		return d.node
	}
	work, _ := workFixture("charge")
	for _, c := range []struct {
		in   Input
		want string
	}{
		{&Start{}, "started twice"},
		{&Answer{Call: 0}, "answer to call 0, which was never made"},
		{&Answer{Call: 3}, "answer to call 3, which was never made"},
		{&Wake{Timer: 1}, "wake of timer 1, which was never set"},
		{&Finished{Job: 1}, "finish of job 1, which was never begun"},
		{&Answer{Call: 1, Work: &engine.FetchedWork{Item: work}}, "the other kind of work"},
		{nil, "unknown input"},
	} {
		sample.Panics(t, c.want, func() { started().Step(c.in) })
	}
}

func TestNewRefuses(t *testing.T) {
	if _, err := New(Config{Registry: node.NewRegistry(), Options: node.DefaultOptions()}); err == nil {
		t.Error("a node without a build is accepted")
	}
	if _, err := New(Config{Build: buildNamed(t, "3.0.0"), Registry: node.NewRegistry()}); err == nil {
		t.Error("options that are not valid are accepted")
	}
	n, err := New(Config{Name: "n", Build: buildNamed(t, "3.0.0"), Registry: node.NewRegistry(), Options: node.DefaultOptions()})
	if err != nil || n.Filter().String() != ">=1.0.0, <=3.0.0" {
		t.Errorf("%v, %v", n, err)
	}
}

// TestParentOfCorrupted checks that, if the provider does not report the parent, it is taken only from the start in the
// batch.
func TestParentOfCorrupted(t *testing.T) {
	item := batchFixture(t, "new-child")
	item.HistoryError = "message 2: unexpected end"
	d := &delivery{}
	d.read(&engine.FetchedOrchestration{Item: item}, DefaultRules())
	if want := (engine.ParentLink{Instance: "p", ExecutionID: 2, EventID: 7}); d.parent() == nil || *d.parent() != want {
		t.Errorf("parent %v, want %v", d.parent(), want)
	}
}

func TestEndOf(t *testing.T) {
	end, can := eventdata.OrchestrationFailed{}, eventdata.OrchestrationContinuedAsNew{}
	for _, c := range []struct {
		history []engine.EventData
		want    engine.Status
	}{
		{nil, ""},
		{[]engine.EventData{orderStarted, chargeAsked}, ""},
		{[]engine.EventData{orderStarted, can, eventdata.ActivityCancelRequested{}}, engine.StatusContinuedAsNew},
		{[]engine.EventData{orderStarted, can, end}, engine.StatusFailed},
		{[]engine.EventData{orderStarted, eventdata.OrchestrationCompleted{}, end}, engine.StatusCompleted},
		{[]engine.EventData{end}, engine.StatusFailed},
	} {
		if got := endOf(history(c.history...)); got != c.want {
			t.Errorf("%v: %q, want %q", c.history, got, c.want)
		}
	}
}

// TestPoisonMessage checks that the message is the batch as JSON, with only the kind of anything that the build does
// not write.
func TestPoisonMessage(t *testing.T) {
	d := &driver{t: t}
	d.newNode(nil)
	got := d.node.messagesText([]engine.WorkItem{ping, engine.ExternalRaised2Item{Instance: "a"}})
	if want := `[{"ExternalRaised":{"instance":"a","name":"ping","data":"x"}},"ExternalRaised2"]`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestDoubleCheck checks that the note names the nondeterministic handler.
func TestDoubleCheck(t *testing.T) {
	calls := 0
	r := node.NewRegistry()
	sample.OK(t, r.Register("Order", engine.V(1, 0, 0), func(ctx *orch.Context, _ string) (string, error) {
		calls++
		ctx.Trace("called")
		return strings.Repeat("x", calls), nil
	}))
	for _, double := range []bool{false, true} {
		n := sample.Must(New(Config{Build: buildNamed(t, "1.5.0"), Registry: r, Options: node.DefaultOptions(), DoubleCheck: double}))(t)
		n.Step(&Start{})
		traced := false
		for _, c := range n.Step(&Answer{Call: 1, Orchestration: &engine.FetchedOrchestration{Item: batchFixture(t, "new"), LockToken: "t", AttemptCount: 1}}) {
			switch c := c.(type) {
			case *Note:
				if (c.Turn.Nondeterministic != "") != double {
					t.Errorf("double check %v: verdict %q", double, c.Turn.Nondeterministic)
				}
			case *Log:
				traced = traced || c.Text == "called" && c.Instance == "a"
			}
		}
		if !traced {
			t.Error("what the handler traced is not logged")
		}
	}
}
