package turn_test

import (
	"slices"
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/orch"
)

// TestDisagreementsAreNamed changes the code between two turns. The failure that the second turn records is right; any
// other failure is wrong.
func TestDisagreementsAreNamed(t *testing.T) {
	activity := func(input string) func(*orch.Context) {
		return func(ctx *orch.Context) { _, _ = ctx.ScheduleActivity("Work", input).Await() }
	}
	dropped := func(ctx *orch.Context) { ctx.ScheduleActivity("Work", "in").Drop(); activity("more")(ctx) }
	both := func(ctx *orch.Context) { ctx.ScheduleActivity("Work", "in"); activity("more")(ctx) }
	many := func(second bool) func(*orch.Context) {
		return func(ctx *orch.Context) {
			ctx.ScheduleActivity("Work", "one").Drop()
			if two := ctx.ScheduleActivity("Work", "two"); second {
				two.Drop()
			}
			activity("more")(ctx)
		}
	}
	for _, c := range []struct {
		name    string
		was, is func(*orch.Context)
		text    string
		lies    []string
	}{
		{"another input", activity("was"), activity("is"), `schedule mismatch: action=Activity(name="Work", input="is") vs event=ActivityScheduled(name="Work", input="was")`,
			[]string{"history schedule but no emitted action", `schedule mismatch: action=Activity("Work", "is") vs event=ActivityScheduled("Work", "is")`,
				`schedule mismatch: action=Activity(name="Work", input="was") vs event=ActivityScheduled(name="Work", input="is")`,
				`kv set mismatch: action=Activity("Work", "is") vs event=ActivityScheduled("Work", "was")`, "completion without open schedule",
				`schedule mismatch: action=Activity(name="Work", input="is", tag="is") vs event=ActivityScheduled(name="Work", input="was")`,
				`schedule mismatch: action=Activity(name="Work", input="is") vs event=ActivityScheduled(name="Work", input="was", tag="was`}},
		{"less", both, activity("in"), "history schedule but no emitted action",
			[]string{"history OrchestrationChained but no emitted action", "cancellation mismatch (activities): baseline_dropped_future_cancel_requests={2} ctx_cancelled_in_replayed_segment={}"}},
		{"no longer dropped", dropped, both, "cancellation mismatch (activities): baseline_dropped_future_cancel_requests={2} ctx_cancelled_in_replayed_segment={}",
			[]string{"cancellation mismatch (external waits): baseline_dropped_future_cancel_requests={2} ctx_cancelled_in_replayed_segment={}",
				"cancellation mismatch (activities): baseline_dropped_future_cancel_requests={3} ctx_cancelled_in_replayed_segment={}", "completion kind mismatch: expected activity"}},
		{"less dropped", many(true), many(false), "cancellation mismatch (activities): baseline_dropped_future_cancel_requests={2, 3} ctx_cancelled_in_replayed_segment={2}",
			[]string{"cancellation mismatch (activities): baseline_dropped_future_cancel_requests={2, 3} ctx_cancelled_in_replayed_segment={}",
				"cancellation mismatch (activities): baseline_dropped_future_cancel_requests={2, 3} ctx_cancelled_in_replayed_segment={2, 3}",
				"cancellation mismatch (activities): baseline_dropped_future_cancel_requests={23} ctx_cancelled_in_replayed_segment={2}"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			code := c.was
			handler := func(ctx *orch.Context, _ string) (string, error) { code(ctx); return "", nil }
			turns := history(t, handler, begins, func(find) []engine.WorkItem {
				code = c.is
				return []engine.WorkItem{engine.ExternalRaisedItem{Instance: "i", Name: "go"}}
			})
			j := turns[1]
			if wrong := j.wrong(); len(wrong) > 0 {
				t.Fatalf("as it is: %q", wrong)
			}
			end := &engine.Event{}
			for i := range j.turn.Ack.HistoryDelta {
				if e := &j.turn.Ack.HistoryDelta[i]; e.Kind() == eventdata.KindOrchestrationFailed {
					end = e
				}
			}
			if d, ok := end.Data.(eventdata.OrchestrationFailed); !ok || d.Details.Display() != "nondeterministic: "+c.text {
				t.Fatalf("the turn ends with %+v, want %q", end.Data, c.text)
			}
			for _, lie := range c.lies {
				end.Data = eventdata.OrchestrationFailed{Details: eventdata.Nondeterminism(lie)}
				if wrong := j.wrong(); len(wrong) == 0 {
					t.Errorf("%q passes", lie)
				}
			}
			j.turn.Ack.HistoryDelta = slices.DeleteFunc(j.turn.Ack.HistoryDelta, func(e engine.Event) bool { return e.Kind() == eventdata.KindOrchestrationFailed })
			if wrong := j.wrong(); len(wrong) == 0 {
				t.Error("a turn that goes on passes")
			}
		})
	}
}
