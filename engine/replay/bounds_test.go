package replay

import (
	"strings"
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/orch"
)

// TestEndlessCode ends code that calls its context for ever, also where it recovers what is raised against it.
func TestEndlessCode(t *testing.T) {
	try := func(f func()) {
		defer func() { _ = recover() }()
		f()
	}
	for _, c := range []struct {
		name string
		want string
		h    orch.Handler
	}{
		{"over a ready future", tooManyCallsText, func(c *orch.Context, _ string) (string, error) {
			ready := c.Go(func(*orch.Context) (string, error) { return "", nil })
			for {
				if _, err := ready.Await(); err != nil {
					return "", err
				}
			}
		}},
		{"over a ready future, stubbornly", exitedText, func(c *orch.Context, _ string) (string, error) {
			for {
				try(func() { c.IsReplaying() })
			}
		}},
		{"over child coroutines", tooManyText, func(c *orch.Context, _ string) (string, error) {
			for {
				c.Go(nil)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			leaves(t, func() {
				out := mustTurn(t, input(c.h))
				if out.Result != ResultFailed || out.Details.Display() != "orchestration panicked: "+c.want {
					t.Errorf("got %v %q", out.Result, out.Details.Display())
				}
			})
		})
	}
}

// TestTextsAreComparedAsStored: bytes that are no UTF-8 come back from a history as U+FFFD, one each, and still match.
func TestTextsAreComparedAsStored(t *testing.T) {
	in := input(func(c *orch.Context, _ string) (string, error) {
		return c.ScheduleActivity("a\xff\xfe", "b\xff").Await()
	})
	first := mustTurn(t, in)
	if want := (engine.ActivityScheduled{Name: "a\uFFFD\uFFFD", Input: "b\uFFFD"}); first.Delta[1].Data != want {
		t.Errorf("recorded %+v, want %+v", first.Delta[1].Data, want)
	}
	for _, e := range first.Delta {
		data, err := in.Build.Codec.AppendEvent(nil, e)
		if err != nil {
			t.Fatal(err)
		}
		if e, err = in.Build.Codec.DecodeEvent(data); err != nil {
			t.Fatal(err)
		}
		in.History = append(in.History, e)
	}
	in.Messages = []engine.WorkItem{engine.ActivityCompletedItem{Instance: "p", ExecutionID: 1, ID: 2, Result: "done"}}
	if out := mustTurn(t, in); out.Result != ResultCompleted {
		t.Errorf("got %v %q", out.Result, out.Details.Display())
	}
}

// TestUnsupported names what a turn does not do yet, and FindUnsupported says the same without running it.
func TestUnsupported(t *testing.T) {
	status, carried := "", []engine.CarriedEvent{{Name: "q"}}
	stored := func(data engine.EventData) func(*Input) {
		return func(in *Input) { in.History = append(started(), engine.Event{EventID: 2, Data: data}) }
	}
	begins := func(s engine.OrchestrationStarted) func(*Input) {
		return func(in *Input) { in.History = []engine.Event{{EventID: 1, Data: s}} }
	}
	continues := func(m engine.ContinueAsNewItem) func(*Input) {
		return func(in *Input) { in.ExecutionID, in.Messages = 2, []engine.WorkItem{m} }
	}
	for _, c := range []struct {
		name   string
		change func(*Input)
		want   string
	}{
		{"nothing", func(*Input) {}, ""},
		{"message", func(in *Input) { in.Messages = []engine.WorkItem{engine.QueueMessageItem{}} }, queueEvents},
		{"subscribed", stored(engine.QueueSubscribed{}), queueEvents},
		{"delivered", stored(engine.QueueEventDelivered{}), queueEvents},
		{"cancelled", stored(engine.QueueSubscriptionCancelled{}), queueEvents},
		{"status", stored(engine.CustomStatusUpdated{}), customStatus},
		{"set", stored(engine.KeyValueSet{}), keyValueState},
		{"cleared", stored(engine.KeyValueCleared{}), keyValueState},
		{"all cleared", stored(engine.KeyValuesCleared{}), keyValueState},
		{"began with queue messages", begins(engine.OrchestrationStarted{CarryForwardEvents: carried}), queueEvents},
		{"began with a status", begins(engine.OrchestrationStarted{InitialCustomStatus: &status}), customStatus},
		{"begins with queue messages", func(in *Input) { in.Start.CarryForwardEvents = carried }, queueEvents},
		{"begins with a status", func(in *Input) { in.Start.InitialCustomStatus = &status }, customStatus},
		{"continues with queue messages", continues(engine.ContinueAsNewItem{CarryForwardEvents: carried}), queueEvents},
		{"continues with a status", continues(engine.ContinueAsNewItem{InitialCustomStatus: &status}), customStatus},
		{"a start that counts for nothing", func(in *Input) {
			in.Messages = []engine.WorkItem{engine.StartItem{}, engine.ContinueAsNewItem{InitialCustomStatus: &status}}
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := input(oneActivity)
			c.change(&in)
			text := func(err error) string {
				u, _ := err.(*Unsupported)
				switch {
				case err == nil:
					return ""
				case u == nil || !strings.HasPrefix(err.Error(), "not supported: "):
					t.Fatalf("another error: %v", err)
				}
				return u.What
			}
			_, err := Turn(in)
			if got, found := text(err), text(FindUnsupported(in)); got != c.want || found != c.want {
				t.Errorf("a turn says %q, FindUnsupported %q; want %q", got, found, c.want)
			}
		})
	}
}
