package turn_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/asked"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/orch"
)

// taking is the second turn of code that takes n messages, one after the other. The first one waits since the first turn.
func taking(t *testing.T, n int) judged {
	code := func(ctx *orch.Context, _ string) (string, error) {
		for range n {
			if _, err := ctx.DequeueEvent("jobs").Await(); err != nil {
				return "", err
			}
		}
		return "", nil
	}
	return history(t, code, begins, func(find) (messages []engine.WorkItem) {
		for i := range n {
			messages = append(messages, engine.QueueMessageItem{Instance: "i", Name: "jobs", Data: fmt.Sprint(i)})
		}
		return messages
	})[1]
}

// TestPolls judges turns that take as many messages as they may, and one more.
func TestPolls(t *testing.T) {
	tooOften := func(message string, retryable bool) engine.Event {
		details := engine.ErrorDetails{Infrastructure: &eventdata.InfrastructureError{Operation: "quiescence_loop", Message: message, Retryable: retryable}}
		return engine.Event{Data: eventdata.OrchestrationFailed{Details: details}}
	}
	right := "quiescence loop exceeded 100 iterations —" + strings.Repeat(" ", 22) + "orchestration is emitting unbounded persistent event subscriptions"
	without := func(list []engine.Event) []engine.Event {
		return slices.DeleteFunc(list, func(e engine.Event) bool {
			return e.Kind() == eventdata.KindOrchestrationFailed || e.Kind() == eventdata.KindOrchestrationCompleted
		})
	}
	for _, c := range []struct {
		name string
		n    int
		lie  func(list []engine.Event) []engine.Event
		want string
	}{
		{"one fewer", 100, nil, ""},
		{"as many", 101, nil, ""},
		{"the end is left out", 101, without, "the results of 100 waits"},
		{"another text", 101, func(list []engine.Event) []engine.Event { return append(without(list), tooOften(right+"!", false)) }, "expected the text"},
		{"a retryable error", 101, func(list []engine.Event) []engine.Event { return append(without(list), tooOften(right, true)) }, "expected the text"},
		{"too early", 50, func(list []engine.Event) []engine.Event { return append(without(list), tooOften(right, false)) }, "after 49 waits: expected at least 100"},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := taking(t, c.n)
			if c.lie != nil {
				j.turn.Ack.HistoryDelta = c.lie(slices.Clone(j.turn.Ack.HistoryDelta))
			}
			wrong := j.wrong()
			if (len(wrong) == 0) != (c.want == "") || c.want != "" && !strings.Contains(wrong[0], c.want) {
				t.Errorf("got %q, want %q", wrong, c.want)
			}
		})
	}
}

// TestReplaying gives code the other answer to each question whether it is replaying.
func TestReplaying(t *testing.T) {
	code := func(ctx *orch.Context, _ string) (string, error) {
		ctx.Trace("begins")
		if _, err := ctx.ScheduleWait("one").Await(); err != nil {
			return "", err
		}
		ctx.SetCustomStatus("new")
		ctx.IsReplaying()
		return ctx.ScheduleWait("two").Await()
	}
	raise := func(name string) func(find) []engine.WorkItem {
		return func(find) []engine.WorkItem {
			return []engine.WorkItem{engine.ExternalRaisedItem{Instance: "i", Name: name}}
		}
	}
	for turn := range 3 {
		questions := 0
		for n := 0; ; n++ {
			j := history(t, code, begins, raise("one"), raise("other"))[turn]
			if wrong := j.wrong(); len(wrong) > 0 {
				t.Fatalf("turn %d as it is: %q", turn, wrong)
			}
			i := nth(j.calls, asked.ReadReplaying, n)
			if i < 0 {
				break
			}
			questions++
			j.calls[i].N = 1 - j.calls[i].N
			if wrong := j.wrong(); len(wrong) == 0 || !strings.Contains(wrong[0], "told that it is replaying") {
				t.Errorf("turn %d, question %d with the other answer: %q", turn, n, wrong)
			}
		}
		if questions == 0 {
			t.Errorf("turn %d has no question", turn)
		}
	}
}

// nth returns the index of the n-th call of a kind, counted from 0, or -1.
func nth(calls []asked.Call, k asked.Kind, n int) int {
	for i := range calls {
		if calls[i].Kind == k {
			if n == 0 {
				return i
			}
			n--
		}
	}
	return -1
}
