package conduct

import (
	"encoding/json"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/eventdata"
)

// judgePoison asks that the error of poisoned work names it, its attempts and the cause, and shows its messages.
func (k *checker) judgePoison(n *nodeState, h *held, details engine.ErrorDetails) {
	p := details.Poison
	if p == nil {
		k.wrong(n, h.instance, "ends %s as poison with an error of category %q", h.instance, details.Category())
		return
	}
	want := eventdata.PoisonType{Kind: eventdata.PoisonOrchestration, Instance: h.instance, ExecutionID: h.want.execution, Cause: h.want.cause}
	switch {
	case h.work.Name != "":
		want.Kind, want.ActivityName, want.ActivityID = eventdata.PoisonActivity, h.work.Name, h.work.ID
	case h.undecoded != "":
		want.Kind, want.Cause, want.Error = eventdata.PoisonFailedDeserialization, "", h.undecoded
		if h.want.cause != "undecodable history" {
			want.Error = h.want.cause + ": " + h.undecoded
		}
	}
	if p.AttemptCount != h.count || p.MaxAttempts != k.options(n).Options.MaxAttempts || p.MessageType != want {
		k.wrong(n, h.instance, "ends %s as poison with %+v: expected attempt %d of %d and %+v", h.instance, *p, h.count, k.options(n).Options.MaxAttempts, want)
		return
	}
	switch {
	case h.undecoded != "" && p.Message != want.Error:
		k.wrong(n, h.instance, "ends %s as poison with the text %q: expected %q", h.instance, p.Message, want.Error)
	case h.undecoded == "" && h.work.Name == "":
		var shown []json.RawMessage
		if err := json.Unmarshal([]byte(p.Message), &shown); err != nil || len(shown) != h.messages {
			k.wrong(n, h.instance, "ends %s as poison and shows %s: expected its %d messages", h.instance, p.Message, h.messages)
		}
	case h.work.Name != "" && !json.Valid([]byte(p.Message)):
		k.wrong(n, h.instance, "ends an activity as poison and shows %s: expected it as JSON", p.Message)
	}
}
