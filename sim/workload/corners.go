package workload

import (
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/internal/planterm"
)

// cornerOrchestrations returns the shipped orchestrations that exercise corner cases: limits, ids that are taken, and
// messages that nobody has read yet. Each fails if it finds that a case was decided wrongly.
func cornerOrchestrations(v1, always engine.Version) []Orchestration {
	return []Orchestration{
		{"Guardian", v1, always, "a Hoarder with its input as a child, of whose failure it must be told", planterm.EndCompleted, guardian},
		{"Hoarder", v1, always, "sets as many keys as its input says (120) in two turns, which is refused above 100", planterm.EndFailed, hoarder},
		{"Namesake", v1, always, "a child Leaf under the id that its input says, which may be taken", planterm.EndCompleted, namesake},
		{"Sleeper", v1, always, "takes a message \"mail\", asks for another one and continues as new without looking; the next execution must have it", planterm.EndCompleted, sleeper},
		{"Tidy", v1, always, "sets keys, prunes them by their age, and works on", planterm.EndCompleted, tidy},
	}
}

func guardian(ctx *orch.Context, input string) (string, error) {
	if _, err := ctx.ScheduleSubOrchestration("Hoarder", input).Await(); err == nil {
		return "", errors.New("the child kept all that it wanted")
	}
	return "told", nil
}

func hoarder(ctx *orch.Context, input string) (string, error) {
	n := number(input, engine.MaxKVKeys+20)
	for i := range n {
		if i == n/2 {
			if _, err := ctx.ScheduleTimer(200 * time.Millisecond).Await(); err != nil {
				return "", err
			}
		}
		ctx.SetKVValue("thing-"+strconv.Itoa(i), "kept")
	}
	return strconv.Itoa(n) + " kept", nil
}

func namesake(ctx *orch.Context, input string) (string, error) {
	out, err := ctx.ScheduleSubOrchestrationWithID("Leaf", input, "").Await()
	if err != nil {
		return "refused", nil // it only waits for an answer; a refusal is one
	}
	return out, nil
}

func sleeper(ctx *orch.Context, input string) (string, error) {
	if input != "awake" {
		if _, err := ctx.DequeueEvent("mail").Await(); err != nil {
			return "", err
		}
		ctx.DequeueEvent("mail")
		if _, err := ctx.ScheduleTimer(2 * time.Second).Await(); err != nil {
			return "", err
		}
		ctx.ContinueAsNew("awake")
		return "", nil
	}
	i, mail, err := orch.Select(ctx.DequeueEvent("mail"), ctx.ScheduleTimer(10*time.Second))
	switch {
	case err != nil:
		return "", err
	case i == 1:
		return "", errors.New("the second message is gone")
	}
	return mail, nil
}

func tidy(ctx *orch.Context, _ string) (string, error) {
	ctx.SetKVValue("draft", "1")
	now, err := ctx.UTCNowMs()
	if err != nil {
		return "no clock", nil // a fault may make the activity panic
	}
	// The draft was set before the clock was read.
	ctx.PruneKVValuesUpdatedBefore(uint64(now) + 500)
	if _, err := ctx.ScheduleTimer(2 * time.Second).Await(); err != nil {
		return "", err
	}
	for _, key := range []string{"a", "b", "c"} {
		ctx.SetKVValue(key, key)
	}
	ctx.PruneKVValuesUpdatedBefore(math.MaxUint64)
	if _, err := ctx.ScheduleTimer(300 * time.Millisecond).Await(); err != nil {
		return "", err
	}
	return strconv.Itoa(len(ctx.KVAllValues())) + " left", nil
}
