package workload

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/sim/plan"
)

// featureOrchestrations returns the shipped orchestrations that use features beyond a plain workflow: queue messages,
// custom status, key-value state, sessions, tags, system calls and retries. They check that they have lost nothing, and
// fail if they have.
func featureOrchestrations(v1, always engine.Version) []Orchestration {
	return []Orchestration{
		{"Clerk", v1, always, "gets an id, the time and a key of the instance that its input names, and retries an activity", plan.EndCompleted, clerk, false},
		{"Diarist", v1, always, "gets the time twice and passes it to an activity", plan.EndCompleted, diarist, false},
		{"Doorman", v1, always, "waits for the event \"knock\", at first for 300ms, and continues as new as often as its input says (2); with 0, drops a first wait after 2s, and waits again 2s later", plan.EndCompleted, doorman, false},
		{"Juggler", v1, always, "drops the second of three waits for the event \"ball\" and of three dequeues of \"pins\", and must get what comes for the others; with input \"pair\", two coroutines wait for one timer; with \"forward\", it waits for the first before the third, for ever", plan.EndCompleted, juggler, true},
		{"Ledger", v1, always, "stores as many messages \"entries\" as its input says (2) under one key each, one per execution", plan.EndCompleted, ledger, false},
		{"Picky", v1, always, "takes as many messages \"offers\" as its input says (2), each within 300ms or at the next attempt", plan.EndCompleted, picky, false},
		{"Studio", v1, always, "runs as many activities as its input says (3) on a session of its own, then one with the tag \"gpu\"", plan.EndCompleted, studio, false},
	}
}

func doorman(ctx *orch.Context, input string) (string, error) {
	left := number(input, 2)
	if left == 0 {
		early := ctx.ScheduleWait("knock")
		sleep(ctx, 2*time.Second)
		early.Drop()
		sleep(ctx, 2*time.Second)
		return ctx.ScheduleWait("knock").Await()
	}
	i, _, err := orch.Select(ctx.ScheduleWait("knock"), ctx.ScheduleTimer(300*time.Millisecond))
	if err == nil && i == 1 {
		// A knock that arrives at the same moment goes to the next wait, or is lost.
		_, err = ctx.ScheduleWait("knock").Await()
	}
	if err != nil {
		return "", err
	}
	if _, err := work(ctx, strconv.Itoa(i)); err != nil {
		return "", err
	}
	if left > 1 {
		ctx.ContinueAsNew(strconv.Itoa(left - 1))
	}
	return "let in", nil
}

func diarist(ctx *orch.Context, _ string) (string, error) {
	for range 2 {
		now, err := ctx.UTCNowMs()
		if err != nil {
			continue
		}
		if _, err := work(ctx, strconv.FormatInt(now, 10)); err != nil {
			return "", err
		}
	}
	return "noted", nil
}

func juggler(ctx *orch.Context, input string) (string, error) {
	ctx.Trace("throws for " + ctx.InstanceID())
	ctx.SetCustomStatus("up")
	var balls, pins []*orch.Future
	for range 3 {
		balls, pins = append(balls, ctx.ScheduleWait("ball")), append(pins, ctx.DequeueEvent("pins"))
	}
	flight := ctx.ScheduleTimer(500 * time.Millisecond)
	if input == "pair" {
		wait := func(*orch.Context) (string, error) { return flight.Await() }
		orch.Join(ctx.Go(wait), ctx.Go(wait))
	}
	if _, err := flight.Await(); err != nil {
		return "", err
	}
	ctx.ResetCustomStatus()
	if status, ok := ctx.CustomStatus(); ok {
		return "", fmt.Errorf("the custom status is still %q", status)
	}
	// What has come for these goes to the third, in this turn.
	balls[1].Drop()
	pins[1].Drop()
	caught := ""
	if input == "forward" {
		for _, f := range []*orch.Future{balls[0], balls[2]} {
			if _, err := f.Await(); err != nil {
				return "", err
			}
		}
	}
	for _, f := range []*orch.Future{balls[2], pins[2], pins[0], balls[0]} {
		ctx.Trace("waits after " + caught)
		i, what, err := orch.Select(f, ctx.ScheduleTimer(20*time.Second))
		if err != nil {
			return "", err
		}
		if caught += what; i == 1 {
			caught += "nothing"
		}
	}
	return work(ctx, caught)
}

func ledger(ctx *orch.Context, input string) (string, error) {
	left := number(input, 2)
	before, _ := ctx.CustomStatus()
	entry, err := ctx.DequeueEvent("entries").Await()
	if err != nil {
		return "", err
	}
	keys := len(ctx.KVAllValues())
	if want := strconv.Itoa(keys) + " entries"; keys > 0 && before != want {
		return "", fmt.Errorf("the custom status is %q with %s", before, want)
	}
	if keys+1 != int(ctx.ExecutionID()) {
		return "", fmt.Errorf("%d keys in execution %d", keys, ctx.ExecutionID())
	}
	ctx.SetKVValue("entry-"+strconv.Itoa(keys), entry)
	ctx.SetCustomStatus(strconv.Itoa(keys+1) + " entries")
	sleep(ctx, 200*time.Millisecond)
	if left > 1 {
		ctx.ContinueAsNew(strconv.Itoa(left - 1))
	}
	last, found := ctx.KVValue("entry-" + strconv.Itoa(keys))
	if !found || last != entry {
		return "", errors.New("the last entry is gone")
	}
	ctx.PruneKVValuesUpdatedBefore(1)
	ctx.ClearKVValue("entry-0")
	return strconv.Itoa(len(ctx.KVAllValues())+1) + " entries", nil
}

func picky(ctx *orch.Context, input string) (string, error) {
	taken, waited := 0, 0
	for taken < number(input, 2) {
		i, offer, err := orch.Select(ctx.DequeueEvent("offers"), ctx.ScheduleTimer(300*time.Millisecond))
		if err != nil {
			return "", err
		}
		if i == 1 {
			// The message may arrive in the same moment; the next attempt then gets it.
			waited++
			ctx.SetCustomStatus("waited " + strconv.Itoa(waited))
			if offer, err = ctx.DequeueEvent("offers").Await(); err != nil {
				return "", err
			}
		}
		taken++
		ctx.SetKVValue("offer", offer)
	}
	ctx.ResetCustomStatus()
	return strconv.Itoa(taken) + " offers", nil
}

func studio(ctx *orch.Context, input string) (string, error) {
	for i := range number(input, 3) {
		if _, err := work(ctx, strconv.Itoa(i), orch.OnSession(ctx.InstanceID())); err != nil {
			return "", err
		}
	}
	return work(ctx, "print", orch.WithTag("gpu"))
}

func clerk(ctx *orch.Context, input string) (string, error) {
	text := ""
	// System calls are activities, so a fault may make them panic as well.
	if id, err := ctx.NewGUID(); err == nil && len(id) != 36 {
		return "", fmt.Errorf("no id: %q", id)
	}
	if now, err := ctx.UTCNowMs(); err == nil && now <= 0 {
		return "", fmt.Errorf("no time: %d", now)
	}
	if value, found, err := ctx.RemoteKVValue(input, "entry-0"); err == nil && found {
		text = value
	}
	ctx.SetCustomStatus("found " + strconv.Quote(text))
	return work(ctx, text)
}
