package safety

import (
	"testing"

	"github.com/durosim/durosim/engine"
)

// TestWhoWrote describes the writers of a history and the events of an ack.
func TestWhoWrote(t *testing.T) {
	by := func(versions ...string) (history []engine.Event) {
		for i, v := range versions {
			history = append(history, engine.Event{EventID: uint64(i + 3), DuroxideVersion: v})
		}
		return history
	}
	for want, history := range map[string][]engine.Event{
		"": nil, "build 1.5.0 (event 3)": by("1.5.0"), "build 1.5.0 (events 3 to 4)": by("1.5.0", "1.5.0"),
		"build 1.5.0 (event 3), build 2.0.0 (events 4 to 5), build 1.5.0 (event 6)": by("1.5.0", "2.0.0", "2.0.0", "1.5.0"),
	} {
		if got := writers(history); got != want {
			t.Errorf("writers are %q, want %q", got, want)
		}
	}
	for want, ack := range map[string]lastAck{
		", which appended nothing": {}, ", which appended event 4": {first: 4, to: 4}, ", which appended events 4 to 6": {first: 4, to: 6},
	} {
		if got := ack.events(); got != want {
			t.Errorf("%+v: %q, want %q", ack, got, want)
		}
	}
}
