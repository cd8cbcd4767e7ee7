package workload

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/sim/plan"
)

// edgeCaseOrchestrations returns the shipped orchestrations that exercise corner cases: limits, ids that already exist,
// and unread messages. Each of them fails if it finds that the runtime has handled a case incorrectly.
func edgeCaseOrchestrations(v1, always engine.Version) []Orchestration {
	return []Orchestration{
		{"Auditor", v1, always, "runs a child Auditor, whose own child Leaf has an explicit id that begins with the Auditor's, which is automatic", plan.EndCompleted, auditor, false},
		{"Chooser", v1, always, "after 3s, takes one of two dequeues of \"box\" that both have a message by then; the next must get the other message", plan.EndCompleted, chooser, false},
		{"Guardian", v1, always, "runs a Hoarder with its input as a child, and must be told of its failure", plan.EndCompleted, guardian, false},
		{"Hoarder", v1, always, "sets as many keys as its input says (120) in two turns, which fails above 100", plan.EndFailed, hoarder, false},
		{"Stopwatch", v1, always, "gives each attempt of an activity that nobody takes 2s, and must give up after the first; or makes as many attempts as its input says", plan.EndCompleted, stopwatch, true},
		{"Mirror", v1, always, "gives and gets empty texts and long ones: inputs, results, a key, the custom status, and the message \"words\"", plan.EndCompleted, mirror, false},
		{"Namesake", v1, always, "runs a child Leaf with the id in its input, which may already exist", plan.EndCompleted, namesake, false},
		{"Napper", v1, always, "as many times as its input says (3), drops an activity that sleeps for 4s, and must get the right result of the next", plan.EndCompleted, napper, false},
		{"Notary", v1, always, "waits for the event \"sign\" after a timer; a start that names no version gets exactly this one", plan.EndCompleted, notary, false},
		{"Notary", engine.Version{Major: 1, Patch: 1, Pre: "rc.1"}, always, "is a release candidate of 1.0.1, which is another version", plan.EndCompleted, notary, false},
		{"Notary", engine.V(1, 0, 1), always, "runs an activity instead of the timer", plan.EndCompleted, notaryPatched, false},
		{"Scribbler", v1, always, "makes calls with texts that are not UTF-8, awaits and drops futures that have a result, and waits for as many events as its input says (8), of which \"w-0\" arrives", plan.EndCompleted, scribbler, false},
		{"Skipper", v1, always, "races a long timer, which it names first, with an activity and with what has a result already, then continues as new with a text that is not UTF-8", plan.EndCompleted, skipper, true},
		{"Sleeper", v1, always, "takes a message \"mail\", sets keys, dequeues another message and continues as new without awaiting it; the next execution must get it, and clears a key", plan.EndCompleted, sleeper, false},
		{"Tidy", v1, always, "sets keys and prunes them by age, in the turn that sets them and in later ones", plan.EndCompleted, tidy, false},
	}
}

func auditor(ctx *orch.Context, input string) (string, error) {
	if input != "child" {
		return ctx.ScheduleSubOrchestration("Auditor", "child").Await()
	}
	return ctx.ScheduleSubOrchestrationWithID("Leaf", ctx.InstanceID()+"-audit", "").Await()
}

func chooser(ctx *orch.Context, _ string) (string, error) {
	left, right := ctx.DequeueEvent("box"), ctx.DequeueEvent("box")
	sleep(ctx, 3*time.Second)
	_, one, err := orch.Select(left, right, left, right)
	if err != nil {
		return "", err
	}
	other, err := ctx.DequeueEvent("box").Await()
	return one + " and " + other, err
}

func stopwatch(ctx *orch.Context, input string) (string, error) {
	if input != "" {
		return attempts(ctx, number(input, 2))
	}
	const patience = 2 * time.Second
	attempts := ctx.Go(func(ctx *orch.Context) (string, error) {
		return ctx.ScheduleActivityWithRetry("Work", "", orch.RetryPolicy{MaxAttempts: 3, Timeout: patience}, orch.WithTag("nobody"))
	})
	begun := false
	ctx.Go(func(*orch.Context) (string, error) {
		begun = true
		return "", nil
	}).Drop()
	sleep(ctx, 100*time.Millisecond) // the first attempt's timer comes first
	switch i, _, err := orch.Select(attempts, ctx.ScheduleTimer(2*patience)); {
	case begun:
		return "", errors.New("code that was dropped before it began has begun")
	case i == 1:
		return "", errors.New("an attempt that timed out was followed by another")
	case !errors.Is(err, orch.ErrActivityTimeout):
		return "", fmt.Errorf("the attempt ends with %v", err)
	}
	return "gave up", nil
}

// pauses are the policies of the attempts, and how long each pauses after each failure.
var pauses = []struct {
	orch.Backoff
	afterMs [4]int64
}{
	{orch.FixedBackoff(10 * time.Millisecond), [4]int64{10, 10, 10, 10}},
	{orch.LinearBackoff(20*time.Millisecond, 50*time.Millisecond), [4]int64{20, 40, 50, 50}},
	{orch.ExponentialBackoff(10*time.Millisecond, 3, 80*time.Millisecond), [4]int64{10, 30, 80, 80}},
	{orch.DefaultRetryPolicy().Backoff, [4]int64{100, 200, 400, 800}},
}

// attempts fails as often as it may, and counts that by the ids of the activities before and after: each attempt is a
// schedule and its failure, and each pause between two of them a timer and its end.
func attempts(ctx *orch.Context, most int) (string, error) {
	before, err := ctx.ScheduleActivity("Who", "before").Await()
	if err != nil {
		return "", err
	}
	policy := pauses[most%len(pauses)]
	for i, want := range policy.afterMs {
		if pause := policy.Backoff(i + 1).Milliseconds(); pause != want {
			return "", fmt.Errorf("the pause after attempt %d is %dms: expected %dms", i+1, pause, want)
		}
	}
	if _, err := ctx.ScheduleActivityWithRetry("Boom", "whose", orch.RetryPolicy{MaxAttempts: most, Backoff: policy.Backoff}, orch.OnSession("fuse")); err == nil {
		return "", errors.New("an activity that fails has a result")
	} else if text := err.Error(); strings.HasPrefix(text, burstless) && text != burstless+"whose fuse" {
		return "", fmt.Errorf("the last attempt was on another session: %s", text)
	}
	after, err := ctx.ScheduleActivity("Who", "after").Await()
	if err != nil {
		return "", err
	}
	id := func(who string) int { text, _, _ := strings.Cut(who, " "); return number(text, 0) }
	if events := id(after) - id(before); events != 4*most {
		return "", fmt.Errorf("%d events for %d attempts: expected %d", events, most, 4*most)
	}
	return "gave up", nil
}

func napper(ctx *orch.Context, input string) (string, error) {
	for i := range number(input, 3) {
		_, _, _ = orch.Select(ctx.ScheduleActivity("Nap", "4s"), ctx.ScheduleTimer(500*time.Millisecond)) // a fault may make it panic
		const untilWorkerGivesUp = 2 * time.Second
		sleep(ctx, untilWorkerGivesUp)
		round := strconv.Itoa(i)
		if out, err := work(ctx, round); err == nil && out != "Work("+round+")" {
			return "", fmt.Errorf("the result of activity %s is %s", round, out)
		}
	}
	return "rested", nil
}

func notary(ctx *orch.Context, _ string) (string, error) {
	sleep(ctx, time.Second)
	return ctx.ScheduleWait("sign").Await()
}

func notaryPatched(ctx *orch.Context, _ string) (string, error) {
	if _, err := work(ctx, ""); err != nil {
		return "", err
	}
	return ctx.ScheduleWait("sign").Await()
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
			sleep(ctx, 200*time.Millisecond)
		}
		ctx.SetKVValue("thing-"+strconv.Itoa(i), "kept")
	}
	return strconv.Itoa(n) + " kept", nil
}

func mirror(ctx *orch.Context, input string) (string, error) {
	long := strings.Repeat("é", 33_000) // above 64 KiB, beyond which many a queue takes no message
	switch input {
	case "child":
		return "", nil
	case "":
		return ctx.DequeueEvent("words").Await()
	case long:
		if value, ok := ctx.KVValue("blank"); !ok || value != "" {
			return "", fmt.Errorf("the key has %q: %t", value, ok)
		}
		if status, ok := ctx.CustomStatus(); !ok || status != "" {
			return "", fmt.Errorf("the custom status is %q: %t", status, ok)
		}
		ctx.ContinueAsNew("")
	}
	policy := orch.DefaultRetryPolicy()
	policy.MaxAttempts = 20
	for _, text := range []string{"", long} {
		if got, err := ctx.ScheduleActivityWithRetry("Echo", text, policy); err != nil || got != text {
			return "", fmt.Errorf("the activity gives %q, %w", got, err)
		}
	}
	if got, err := ctx.ScheduleSubOrchestration("Mirror", "child").Await(); err != nil || got != "" {
		return "", fmt.Errorf("the child gives %q, %w", got, err)
	}
	ctx.SetKVValue("blank", "")
	ctx.SetCustomStatus("")
	ctx.ContinueAsNew(long)
	return "", nil
}

func namesake(ctx *orch.Context, input string) (string, error) {
	out, err := ctx.ScheduleSubOrchestrationWithID("Leaf", input, "").Await()
	if err != nil {
		return "refused", nil // any answer is acceptable, even a refusal
	}
	return out, nil
}

// scribbler makes calls in unusual but permitted ways and checks the results.
func scribbler(ctx *orch.Context, input string) (string, error) {
	const raw = "raw\xff\xc3"
	ctx.SetCustomStatus(raw)
	ctx.SetKVValue("key "+raw, raw)
	ctx.ClearKVValue("never set")
	var waits []*orch.Future
	for i := range number(input, 8) {
		waits = append(waits, ctx.ScheduleWait("w-"+strconv.Itoa(i)))
	}
	ctx.ScheduleWait(raw).Drop()
	ctx.DequeueEvent(raw).Drop()
	ctx.ScheduleWait2("w-0", raw).Drop()
	first := ctx.ScheduleActivity("Reserve", raw, orch.OnSession(raw))
	told, err := first.Await()
	if err != nil {
		return "no activity", nil // a fault may make it panic
	}
	first.Drop() // has no effect, because it has a result
	again, _ := first.Await()
	if _, _, err := orch.Select(first, ctx.ScheduleActivity("Charge", raw), first); err != nil {
		return "", err
	}
	sleep(ctx, -time.Second)
	event, _ := waits[0].Await()
	same, _ := waits[0].Await()
	if told != again || event != same {
		return "", errors.New("a second look finds something else")
	}
	for _, w := range waits {
		w.Drop()
	}
	return event + " for " + ctx.Name() + "@" + ctx.Version() + " " + ctx.InstanceID(), nil
}

func skipper(ctx *orch.Context, input string) (string, error) {
	const raw, stored = "raw\xff", "raw\ufffd"
	if input == stored {
		return ctx.ScheduleActivity("Work", input).Await()
	}
	tick := ctx.ScheduleActivity("Tick", input)
	for range 2 { // the second time, the activity has a result already
		if i, value, _ := orch.Select(ctx.ScheduleTimer(time.Hour), tick); i != 1 {
			return "", fmt.Errorf("the timer wins, with %q", value)
		}
	}
	ctx.ContinueAsNew(raw)
	return "", nil
}

func sleeper(ctx *orch.Context, input string) (string, error) {
	if input != "awake" {
		if _, err := ctx.DequeueEvent("mail").Await(); err != nil {
			return "", err
		}
		ctx.SetKVValue("dream", "1")
		ctx.SetKVValue("memory", "1")
		ctx.DequeueEvent("mail")
		sleep(ctx, 2*time.Second)
		ctx.ContinueAsNew("awake")
		return "", nil
	}
	ctx.SetCustomStatus("awake")
	i, mail, err := orch.Select(ctx.DequeueEvent("mail"), ctx.ScheduleTimer(10*time.Second))
	switch {
	case err != nil:
		return "", err
	case i == 1:
		return "", errors.New("the second message is gone")
	}
	// The first change of the keys that the instance began this execution with.
	ctx.ClearKVValue("dream")
	if keys := ctx.KVAllValues(); len(keys) != 1 || keys[0].Key != "memory" {
		return "", fmt.Errorf("the keys left are %v", keys)
	}
	return mail, nil
}

func tidy(ctx *orch.Context, _ string) (string, error) {
	ctx.SetKVValue("draft", "1")
	now, err := ctx.UTCNowMs()
	if err != nil {
		return "no clock", nil // a fault may make the activity panic
	}
	// The draft was set before the clock was read. It goes a millisecond after the one in which it was set, not in that one.
	for ms := uint64(now) - 1000; ctx.PruneKVValuesUpdatedBefore(ms) == 0 && ms < uint64(now)+500; ms++ {
	}
	sleep(ctx, 2*time.Second)
	for _, key := range []string{"a", "b", "c"} {
		ctx.SetKVValue(key, key)
	}
	ctx.PruneKVValuesUpdatedBefore(math.MaxUint64)
	ctx.SetKVValue("old", "1")
	ctx.SetKVValue("renewed", "1")
	if now, err = ctx.UTCNowMs(); err != nil {
		return "no clock", nil
	}
	// Of three keys, two set before the clock was read and one long after it, only the first is old, in this turn and in
	// those that replay it: the second is set again, although to the same value.
	sleep(ctx, 2*time.Second)
	ctx.SetKVValue("new", "1")
	ctx.SetKVValue("renewed", "1")
	for range 2 {
		ctx.PruneKVValuesUpdatedBefore(uint64(now) + 500)
		sleep(ctx, 300*time.Millisecond)
	}
	if _, found := ctx.KVValue("renewed"); !found {
		return "", errors.New("a key that has just been set is pruned as old")
	}
	return strconv.Itoa(len(ctx.KVAllValues())) + " left", nil
}
