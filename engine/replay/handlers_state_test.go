package replay

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/durosim/durosim/engine/orch"
)

// The orchestrations used by the stories about queues, state, limits, sessions, tags, system activities and retries.
func init() {
	for name, h := range map[string]orch.Handler{
		"dequeue": func(c *orch.Context, _ string) (string, error) { return c.DequeueEvent("jobs").Await() },
		"dequeue-two": func(c *orch.Context, _ string) (string, error) {
			one, _ := c.DequeueEvent("jobs").Await()
			two, _ := c.DequeueEvent("jobs").Await()
			return one + " " + two, nil
		},
		"dequeue-late": func(c *orch.Context, in string) (string, error) {
			c.ScheduleActivity("a", in).Await()
			return c.DequeueEvent("jobs").Await()
		},
		// reads the second of two dequeues first, and then drops the first
		"dequeue-out-of-order": func(c *orch.Context, _ string) (string, error) {
			a, b := c.DequeueEvent("jobs"), c.DequeueEvent("jobs")
			second, _ := b.Await()
			a.Drop()
			c.ScheduleTimer(time.Second).Await()
			third, _ := c.DequeueEvent("jobs").Await()
			return second + " " + third, nil
		},
		// a dequeue or a timer, followed by another dequeue
		"dequeue-or-timer": func(c *orch.Context, _ string) (string, error) {
			if i, v, _ := orch.Select(c.DequeueEvent("jobs"), c.ScheduleTimer(5*time.Second)); i == 0 {
				return v, nil
			}
			v, _ := c.DequeueEvent("jobs").Await()
			return c.ScheduleActivity("late", v).Await()
		},
		// after a timer, a value freed by one drop makes the code drop another future
		"drop-chain": func(c *orch.Context, _ string) (string, error) {
			a, b, x := c.DequeueEvent("jobs"), c.DequeueEvent("jobs"), c.DequeueEvent("notes")
			c.ScheduleTimer(time.Second).Await()
			a.Drop()
			first, _ := b.Await()
			x.Drop()
			y, _ := c.DequeueEvent("notes").Await()
			return c.ScheduleActivity("done", first+y).Await()
		},
		// continues as new with a dequeue that it never reads
		"dequeue-and-continue": func(c *orch.Context, in string) (string, error) {
			read := c.DequeueEvent("jobs")
			c.DequeueEvent("jobs")
			c.ScheduleTimer(time.Second).Await()
			v, _ := read.Await()
			c.SetCustomStatus("read " + v)
			c.ContinueAsNew(in)
			return "", nil
		},
		"continue-at-timer": func(c *orch.Context, in string) (string, error) {
			c.ScheduleTimer(time.Second).Await()
			c.ContinueAsNew(in)
			return "", nil
		},
		"queue-and-wait": func(c *orch.Context, in string) (string, error) {
			c.DequeueEvent("jobs")
			c.ScheduleWait("go")
			c.DequeueEvent("notes")
			return c.ScheduleActivity("a", in).Await()
		},
		"status": func(c *orch.Context, in string) (string, error) {
			before, had := c.CustomStatus()
			c.SetCustomStatus("working")
			c.ScheduleActivity("a", in).Await()
			now, _ := c.CustomStatus()
			c.ResetCustomStatus()
			c.ScheduleActivity("b", in).Await()
			_, has := c.CustomStatus()
			return fmt.Sprint(before, had, now, has), nil
		},
		"keys": func(c *orch.Context, in string) (string, error) {
			old, found := c.KVValue("old")
			c.SetKVValue("new", in)
			c.ScheduleActivity("a", in).Await()
			v, _ := c.KVValue("new")
			c.SetKVValue("new", v+"!")
			c.ClearKVValue("old")
			c.ClearKVValue("absent")
			text := fmt.Sprint(old, found, c.KVAllValues())
			c.ClearAllKVValues()
			return fmt.Sprint(text, len(c.KVAllValues())), nil
		},
		// clears keys older than the time in the input; the second prune is in a later turn
		"prune": func(c *orch.Context, in string) (string, error) {
			ms, _ := strconv.ParseUint(in, 10, 64)
			c.SetKVValue("mine", "")
			c.ScheduleActivity("a", "").Await()
			n := c.PruneKVValuesUpdatedBefore(ms)
			c.ScheduleActivity("b", strconv.Itoa(n)).Await()
			return fmt.Sprint(c.KVAllValues()), nil
		},
		"placed": func(c *orch.Context, in string) (string, error) {
			return c.ScheduleActivity("a", in, orch.OnSession("s1"), orch.WithTag("gpu")).Await()
		},
		// exceeds the named limit; the parent receives the failure
		"limits": func(c *orch.Context, in string) (string, error) {
			c.ScheduleActivity("held", "")
			c.ScheduleSubOrchestration("Child", "")
			c.ScheduleTimer(time.Second).Await()
			kind, n, _ := strings.Cut(in, ":")
			size, _ := strconv.Atoi(n)
			text := strings.Repeat("x", size)
			switch kind {
			case "status":
				c.SetCustomStatus(text)
			case "status-twice":
				c.SetCustomStatus(text)
				c.SetCustomStatus("short")
			case "tag":
				c.ScheduleActivity("tagged", "", orch.WithTag(text))
			case "value":
				c.SetKVValue("k", text)
			case "keys":
				for i := range size {
					c.SetKVValue(strconv.Itoa(i), "")
				}
			case "keys-slowly":
				for i := range size / 2 {
					c.SetKVValue("a"+strconv.Itoa(i), "")
				}
				c.ScheduleTimer(time.Second).Await()
				for i := range size - size/2 {
					c.SetKVValue("b"+strconv.Itoa(i), "")
				}
			case "continue":
				c.SetKVValue("k", text)
				c.ContinueAsNew("")
			}
			return "done", nil
		},
		"syscalls": func(c *orch.Context, _ string) (string, error) {
			id, err := c.NewGUID()
			if err != nil {
				return "", err
			}
			now, err := c.UTCNowMs()
			if err != nil {
				return "", err
			}
			v, found, err := c.RemoteKVValue("other", "k\"")
			return fmt.Sprint(id, " ", now, " ", v, found), err
		},
		"retry": func(c *orch.Context, in string) (string, error) {
			p := orch.DefaultRetryPolicy()
			p.Timeout, _ = time.ParseDuration(in)
			return c.ScheduleActivityWithRetry("a", in, p)
		},
		"detached-versioned": func(c *orch.Context, in string) (string, error) {
			c.StartOrchestrationVersioned("Other", "3.0.0", "other-1", in)
			return c.ScheduleSubOrchestrationVersionedWithID("Child", "2.0.0", "child-1", in).Await()
		},
	} {
		handlers[name] = h
	}
}
