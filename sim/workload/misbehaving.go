package workload

import (
	"errors"
	"fmt"
	"iter"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/record"
)

// misbehavingOrchestrations returns the shipped orchestrations whose code does forbidden things, or does things in an
// unusual order. In every case, the code must get correct results and its node must keep running.
func misbehavingOrchestrations(v1, always engine.Version) []Orchestration {
	return []Orchestration{
		{"Clinger", v1, always, "recovers every panic and goes on with calls of each kind, so that only runtime.Goexit ends its code", plan.EndCompleted, clinger, false},
		{"Daredevil", v1, always, "calls activities that fail or panic in several ways; it must be told in which", plan.EndCompleted, daredevil, false},
		{"Envoy", v1, always, "asks activities who they are, on a session and with a tag", plan.EndCompleted, envoy, false},
		{"Forwarder", v1, always, "continues as new at the event \"go\" without a look at its queue, twice; the last execution must have the custom status and the message \"parcel\"", plan.EndCompleted, forwarder, false},
		{"Glutton", v1, always, "asks for as much as the contract of 0.1.32 allows, and then for a byte more of what its input names: status, tag or value", plan.EndFailed, glutton, false},
		{"Impostor", v1, always, "asks for a child and for a detached start under ids that are reserved, or for a child in what its input names, if that has a dot and is no version", plan.EndAny, impostor, false},
		{"Rascal", v1, always, "ends its code in the way that its input names: text, value, error, mute, quit, stray, onward, leaving, deluge, desert, thrift, sip or thirst", plan.EndFailed, rascal, false},
		{"Splitter", v1, always, "continues as new from one coroutine while others ask for more", plan.EndCompleted, splitter, false},
		{"Warden", v1, always, "a Rascal as a child for each way to end, of which it must be told; with an input, for that alone", plan.EndCompleted, warden, false},
	}
}

func misbehavingActivities(r *node.Registry) error {
	if err := r.RegisterActivity("Boom", boom); err != nil {
		return err
	}
	return r.RegisterActivity("Who", who)
}

// unreadable is an error whose text cannot be read.
type unreadable struct{}

func (unreadable) Error() string { panic("no text") }

// burst panics or ends its goroutine in the named way.
func burst(how string) {
	switch how {
	case "text":
		panic("a text")
	case "value":
		panic(len(how))
	case "error":
		panic(errors.New("an error"))
	case "mute":
		panic(unreadable{})
	case "quit":
		runtime.Goexit()
	}
}

func boom(ctx node.ActivityContext, input string) (string, error) {
	burst(input)
	switch input {
	case "silence":
		return "", errors.New("")
	case "whose":
		input += " " + ctx.SessionID
	}
	return "", errors.New(burstless + input)
}

// burstless begins the failure of Boom if its input names no way to burst.
const burstless = "no way to burst: "

func daredevil(ctx *orch.Context, _ string) (string, error) {
	for _, way := range [][2]string{
		{"text", "activity panicked: a text"}, {"value", "activity panicked: with a value that has no text"},
		{"error", "activity panicked: an error"}, {"mute", "activity panicked: with a value that has no text"},
		{"quit", "activity panicked: called runtime.Goexit"}, {"nothing", "no way to burst: nothing"}, {"silence", ""},
	} {
		_, err := ctx.ScheduleActivity("Boom", way[0]).Await()
		switch {
		case err == nil:
			return "", errors.New("an activity that fails has a result")
		case err.Error() != way[1] && err.Error() != record.ActivityPanicText:
			return "", fmt.Errorf("an activity fails with %q: expected %q", err, way[1])
		}
	}
	return "told", nil
}

func who(a node.ActivityContext, input string) (string, error) {
	if a.Attempt == 0 {
		return "", errors.New("attempt 0")
	}
	return fmt.Sprintf("%d %s", a.ActivityID, identity(a.Instance, a.ExecutionID, a.Name, a.SessionID, a.Tag, input)), nil
}

func identity(instance string, execution uint64, name, session, tag, input string) string {
	return fmt.Sprintf("%s/%d %s session=%q tag=%q input=%q", instance, execution, name, session, tag, input)
}

func envoy(ctx *orch.Context, input string) (string, error) {
	ctx.Trace("sent by " + ctx.Name())
	session := "session of " + ctx.InstanceID()
	one, other := ctx.ScheduleActivity("Who", input, orch.OnSession(session)), ctx.ScheduleActivity("Who", "again", orch.WithTag("gpu"))
	of := []string{
		identity(ctx.InstanceID(), ctx.ExecutionID(), "Who", session, "", input),
		identity(ctx.InstanceID(), ctx.ExecutionID(), "Who", "", "gpu", "again"),
	}
	last := 0
	for i, o := range orch.Join(one, other) {
		if o.Err != nil && o.Err.Error() == record.ActivityPanicText {
			return "no answer", nil
		} else if o.Err != nil {
			return "", o.Err
		}
		id, told, _ := strings.Cut(o.Value, " ")
		n, err := strconv.Atoi(id)
		if told != of[i] || err != nil || i > 0 && n != last+1 {
			return "", fmt.Errorf("activity %d after %d says that it is %s: expected %s", n, last, told, of[i])
		}
		last = n
	}
	ctx.Trace(fmt.Sprint("told of activity ", last))
	if input != "again" {
		ctx.ContinueAsNew("again")
	}
	return "told", nil
}

func forwarder(ctx *orch.Context, input string) (string, error) {
	switch input {
	case "forwarded":
		if status, _ := ctx.CustomStatus(); status != "on its way" {
			return "", fmt.Errorf("the custom status is %q", status)
		}
	case "halfway":
		ctx.ContinueAsNew("forwarded")
	default:
		if _, err := ctx.ScheduleWait("go").Await(); err != nil {
			return "", err
		}
		ctx.SetCustomStatus("on its way")
		ctx.ContinueAsNew("halfway")
	}
	return ctx.DequeueEvent("parcel").Await()
}

func glutton(ctx *orch.Context, input string) (string, error) {
	ask := func(what string, more int) {
		text := func(most int) string { // limits count bytes, not characters
			most += more
			return strings.Repeat("ä", most/2) + strings.Repeat(".", most%2)
		}
		switch what {
		case "status":
			ctx.SetCustomStatus(text(engine.MaxCustomStatusBytes))
		case "value":
			ctx.SetKVValue("long", text(4*engine.MaxKVValueBytes))
		case "tag":
			ctx.ScheduleActivity("Work", "", orch.WithTag(text(engine.MaxTagNameBytes))).Drop()
		}
	}
	for _, what := range [...]string{"status", "value", "tag"} {
		ask(what, 0)
	}
	sleep(ctx, 100*time.Millisecond)
	ask(input, 1) // nothing else in this turn has a limit
	return "it was allowed", nil
}

func impostor(ctx *orch.Context, input string) (string, error) {
	if strings.Contains(input, ".") {
		if _, err := ctx.ScheduleSubOrchestrationVersioned("Leaf", input, input).Await(); err == nil {
			return "", fmt.Errorf("the child runs in %s, which is no version", input)
		}
		return "refused", nil
	}
	own, err := ctx.ScheduleSubOrchestrationWithID("Leaf", "sub::7", input).Await()
	if err != nil {
		own = err.Error()
	}
	switch input {
	case "detached": // builds that generate such ids themselves panic here
		ctx.StartOrchestration("Leaf", ctx.InstanceID()+"::sub::9", input)
	case "bare": // and here
		ctx.StartOrchestration("Leaf", "sub::9", input)
	case "plain":
		ctx.StartOrchestration("Leaf", ctx.InstanceID()+": sub::9", input)
	}
	return own, nil
}

func rascal(ctx *orch.Context, input string) (string, error) {
	suspended := true
	if input == "leaving" { // only when the code is torn down
		defer func() {
			if suspended {
				_, _ = elsewhere(func() { ctx.Trace("stray") })
			}
		}()
	}
	first, second := ctx.ScheduleTimer(100*time.Millisecond), ctx.ScheduleTimer(100*time.Millisecond)
	if _, err := first.Await(); err != nil {
		return "", err
	}
	suspended = false
	switch input {
	case "stray":
		return strays(ctx)
	case "deluge":
		return elsewhere(func() {
			for range 2000 { // it ends long before that
				ctx.Trace("stray")
			}
		})
	case "desert":
		return elsewhere(func() { ctx.ContinueAsNew("stray") }) // it does not return
	case "onward": // the code has a result to get in the same turn, but is not run any more
		_, _ = elsewhere(func() { ctx.Trace("stray") })
		if _, err := second.Await(); err != nil {
			return "", err
		}
		panic("it went on")
	case "sip", "thirst": // messages that wait already, each with a poll of its own; 100 polls are too many
		messages := map[string]int{"sip": 99, "thirst": 100}[input]
		sleep(ctx, 8*time.Second)
		_, text, err := orch.Select(ctx.Go(func(ctx *orch.Context) (string, error) {
			for range messages {
				if _, err := ctx.DequeueEvent(input).Await(); err != nil {
					return "", err
				}
			}
			return "full", nil
		}), ctx.ScheduleTimer(10*time.Second))
		return text, err
	case "thrift": // the turn does not record the key, since the code panics
		ctx.SetKVValue("late", input)
		panic(strconv.Itoa(ctx.PruneKVValuesUpdatedBefore(1)) + " pruned")
	}
	// Deferred calls run when the code panics and when it is torn down, and must have no effect.
	defer ctx.ScheduleActivity("Work", "too late")
	burst(input)
	return "not in this way", nil
}

func warden(ctx *orch.Context, input string) (string, error) {
	if input != "" { // what is no failure of the child's code must end its parent, too
		_, err := ctx.ScheduleSubOrchestrationWithID("Rascal", ctx.InstanceID()+"/child", input).Await()
		return fmt.Sprint("told ", err), nil
	}
	for _, way := range [][2]string{
		{"text", "a text"}, {"value", "orchestration panicked"}, {"error", "an error"}, {"mute", "orchestration panicked"},
		{"quit", "orchestration code called runtime.Goexit"},
		{"stray", "orch: a Context was used from another goroutine than its orchestration's"},
		{"onward", "orch: a Context was used from another goroutine than its orchestration's"},
		{"leaving", "orch: a Context was used from another goroutine than its orchestration's"},
		{"deluge", "orchestration code called runtime.Goexit"}, {"desert", "orchestration code called runtime.Goexit"},
	} {
		_, err := ctx.ScheduleSubOrchestration("Rascal", way[0]).Await()
		if want := "orchestration panicked: " + way[1]; err == nil || err.Error() != want {
			return "", fmt.Errorf("the child with %s ends with %v: expected %q", way[0], err, want)
		}
	}
	return "told", nil
}

// strays uses its Context from a goroutine other than the orchestration's. None of the calls may have an effect.
func strays(ctx *orch.Context) (string, error) {
	next, stop := iter.Pull(func(yield func(string) bool) {
		defer func() {
			if r := recover(); r != nil {
				yield(fmt.Sprint("panics: ", r))
			}
		}()
		ctx.Trace("stray")
		ctx.SetCustomStatus("stray")
		ctx.SetKVValue("stray", "stray")
		ctx.ScheduleActivity("Work", "stray").Drop()
		ctx.StartOrchestration("Leaf", ctx.InstanceID()+"/stray", "stray")
		ctx.Go(func(*orch.Context) (string, error) { return "stray", nil })
		_, status := ctx.CustomStatus()
		_, waited := ctx.ScheduleTimer(time.Second).Await()
		if ctx.InstanceID() != "" || ctx.IsReplaying() || status || waited == nil || len(ctx.KVAllValues()) > 0 || ctx.PruneKVValuesUpdatedBefore(1<<60) > 0 {
			yield("told")
		}
	})
	defer stop()
	if answer, any := next(); any {
		panic("a stray is " + answer)
	}
	return "strayed", nil
}

// elsewhere runs code on a goroutine other than the orchestration's.
func elsewhere(code func()) (string, error) {
	next, stop := iter.Pull(func(func(string) bool) { code() })
	defer stop()
	next()
	return "back", nil
}

func clinger(ctx *orch.Context, _ string) (string, error) {
	timer := ctx.ScheduleTimer(300 * time.Millisecond)
	over := true
	// When the code is torn down, no call returns, and after some of them the code is ended. Each deferred call goes on
	// where the one before it has been ended.
	for _, call := range []func(){
		timer.Drop,
		func() { ctx.Trace(ctx.InstanceID()) },
		func() { ctx.IsReplaying() },
		func() { ctx.ScheduleActivity("Work", "too late") },
		func() { ctx.Go(func(*orch.Context) (string, error) { return "too late", nil }) },
		func() { _, _, _ = orch.Select(timer) },
		func() { ctx.SetCustomStatus("too late") },
		func() { ctx.CustomStatus() },
		func() { ctx.KVAllValues() },
		func() { ctx.PruneKVValuesUpdatedBefore(1) },
		func() { ctx.ContinueAsNew("too late") },
	} {
		defer func() {
			for over {
				attempt(call)
			}
		}()
	}
	for over {
		attempt(func() {
			if _, err := timer.Await(); err == nil {
				over = false
			}
		})
	}
	return ctx.ScheduleActivity("Work", "at last").Await()
}

// attempt makes a call and recovers its panic.
func attempt(call func()) {
	defer func() { _ = recover() }()
	call()
}

func splitter(ctx *orch.Context, input string) (string, error) {
	switch input {
	case "astray":
		return "", errors.New("the second continue-as-new of a turn was taken")
	case "split":
		if _, err := ctx.ScheduleSubOrchestration("Leaf", input).Await(); err != nil {
			return "", err
		}
		return ctx.ScheduleActivity("Work", input).Await()
	}
	sleep(ctx, 100*time.Millisecond)
	ctx.SetKVValue("before", input)
	for _, name := range []string{"first", "second", "third"} {
		ctx.Go(func(ctx *orch.Context) (string, error) {
			switch name {
			case "first":
				ctx.ContinueAsNew("split")
			case "third":
				ctx.ContinueAsNew("astray")
			}
			ctx.SetCustomStatus(name)
			return ctx.ScheduleActivity("Work", name).Await()
		})
	}
	return ctx.ScheduleWait("never").Await()
}
