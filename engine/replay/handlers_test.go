package replay

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/durosim/durosim/engine/orch"
)

const second = time.Second

// handlers holds the orchestrations used by the stories.
var handlers = map[string]orch.Handler{
	"echo": func(_ *orch.Context, in string) (string, error) { return in, nil },
	"fail": func(*orch.Context, string) (string, error) { return "", errors.New("no luck") },

	// one activity; returns its result or its error
	"activity": oneActivity,
	"sleep":    func(c *orch.Context, _ string) (string, error) { return c.ScheduleTimer(5 * second).Await() },
	// activity a, then activity b, then returns both results
	"two-steps": func(c *orch.Context, in string) (string, error) {
		a, err := c.ScheduleActivity("a", in).Await()
		if err != nil {
			return "", err
		}
		b, err := c.ScheduleActivity("b", a).Await()
		return a + b, err
	},
	// dequeues one after another, as many as a turn allows or one more
	"dequeues": func(c *orch.Context, _ string) (string, error) { return dequeueAll(c, 100) },
	"activity-and-dequeues": func(c *orch.Context, in string) (string, error) {
		c.ScheduleActivity("a", in).Await()
		return dequeueAll(c, 99)
	},
	"traced": func(c *orch.Context, in string) (string, error) {
		c.Trace("before")
		c.ScheduleActivity("a", in).Await()
		c.Trace("between")
		c.ScheduleActivity("b", in).Await()
		c.Trace("after")
		return "", nil
	},
	// an activity or a timer, dropping the loser; then another activity
	"race": func(c *orch.Context, in string) (string, error) {
		i, v, _ := orch.Select(c.ScheduleActivity("slow", in), c.ScheduleTimer(5*second))
		after, err := c.ScheduleActivity("after", fmt.Sprint(i)).Await()
		return fmt.Sprintf("%d %s %s", i, v, after), err
	},
	// both futures are ready before Select is called
	"late-race": func(c *orch.Context, in string) (string, error) {
		a, b := c.ScheduleActivity("a", in), c.ScheduleActivity("b", in)
		c.ScheduleTimer(second).Await()
		i, v, _ := orch.Select(a, b)
		c.ScheduleActivity(fmt.Sprintf("after-%d", i), v).Await()
		return v, nil
	},
	"no-race": func(c *orch.Context, in string) (string, error) {
		c.ScheduleActivity("slow", in)
		c.ScheduleTimer(5 * second).Await()
		after, err := c.ScheduleActivity("after", "1").Await()
		return after, err
	},
	"join": func(c *orch.Context, in string) (string, error) {
		var text []string
		for _, o := range orch.Join(c.ScheduleActivity("a", in), c.ScheduleActivity("b", in), c.ScheduleActivity("c", in)) {
			text = append(text, fmt.Sprint(o.Value, o.Err))
		}
		return strings.Join(text, ", "), nil
	},
	"unawaited": func(c *orch.Context, in string) (string, error) {
		c.ScheduleActivity("a", in)
		c.ScheduleTimer(second)
		c.ScheduleSubOrchestration("Child", in)
		c.ScheduleWait("go")
		c.StartOrchestration("Other", "other-1", in)
		return "left", nil
	},
	"again": func(c *orch.Context, in string) (string, error) {
		f := c.ScheduleActivity("a", in)
		one, _ := f.Await()
		two, _ := f.Await()
		return one + two, nil
	},

	"wait": func(c *orch.Context, _ string) (string, error) { return c.ScheduleWait("go").Await() },
	"wait-two": func(c *orch.Context, _ string) (string, error) {
		a, b := c.ScheduleWait("go"), c.ScheduleWait("go")
		out := orch.Join(a, b)
		return out[0].Value + " " + out[1].Value, nil
	},
	"wait-after-activity": func(c *orch.Context, in string) (string, error) {
		c.ScheduleActivity("a", in).Await()
		return c.ScheduleWait("go").Await()
	},
	"approval": func(c *orch.Context, in string) (string, error) {
		if i, v, _ := orch.Select(c.ScheduleWait("go"), c.ScheduleTimer(5*second)); i == 0 {
			return v, nil
		}
		return c.ScheduleWait("go").Await()
	},
	"wait2": func(c *orch.Context, _ string) (string, error) { return c.ScheduleWait2("go", "eu").Await() },

	"child": func(c *orch.Context, in string) (string, error) {
		return c.ScheduleSubOrchestration("Child", in).Await()
	},
	"children": func(c *orch.Context, in string) (string, error) {
		orch.Join(
			c.ScheduleSubOrchestrationWithID("Child", "child-1", in),
			c.ScheduleSubOrchestrationWithID("Child", "sub::x", in),
			c.ScheduleSubOrchestrationVersioned("Child", "2.0.0", in),
		)
		return "", nil
	},
	"detached-reserved": func(c *orch.Context, in string) (string, error) {
		c.StartOrchestration("Free", "mine::sub::1", in)
		return "", nil
	},
	"child-race": func(c *orch.Context, in string) (string, error) {
		orch.Select(c.ScheduleSubOrchestration("Child", in), c.ScheduleTimer(second))
		return c.ScheduleActivity("after", in).Await()
	},
	"drop-at-once": func(c *orch.Context, in string) (string, error) {
		c.ScheduleActivity("a", in).Drop()
		c.ScheduleSubOrchestration("Child", in).Drop()
		c.ScheduleWait("go").Drop()
		c.ScheduleTimer(second).Drop()
		return c.ScheduleActivity("b", in).Await()
	},
	"drop-and-await": func(c *orch.Context, in string) (string, error) {
		f := c.ScheduleActivity("a", in)
		f.Drop()
		return f.Await()
	},

	"continue": func(c *orch.Context, in string) (string, error) {
		c.ScheduleTimer(second).Await()
		c.ContinueAsNewVersioned("2.0.0", in+"+")
		return "never", nil
	},
	// everything in flight, then continue-as-new
	// one coroutine continues as new, another lets the handler return, in one poll
	"continue-and-return": func(c *orch.Context, _ string) (string, error) {
		c.Go(func(c *orch.Context) (string, error) {
			c.ContinueAsNew("next")
			return "never", nil
		})
		return c.Go(func(*orch.Context) (string, error) { return "done", nil }).Await()
	},
	"continue-busy": func(c *orch.Context, in string) (string, error) {
		c.ScheduleActivity("a", in)
		c.ScheduleSubOrchestration("Child", in)
		c.ScheduleWait("go")
		c.ScheduleTimer(second).Await()
		c.ScheduleActivity("b", in)
		c.ScheduleSubOrchestration("Late", in)
		c.StartOrchestration("Other", "other-1", in)
		c.ContinueAsNew("next")
		return "never", nil
	},
	"busy": func(c *orch.Context, in string) (string, error) {
		c.ScheduleActivity("a", in)
		c.ScheduleSubOrchestration("Child", in)
		c.ScheduleWait("go")
		c.ScheduleTimer(second).Await()
		c.ScheduleActivity("b", in)
		c.ScheduleSubOrchestration("Late", in)
		c.ScheduleTimer(second).Await()
		return "done", nil
	},
	"busy-panic": func(c *orch.Context, in string) (string, error) {
		c.ScheduleActivity("a", in)
		c.ScheduleSubOrchestration("Child", in)
		c.ScheduleWait("go")
		c.ScheduleTimer(second).Await()
		panic("at the disco")
	},
	"odd-panic":    func(c *orch.Context, in string) (string, error) { panic(&struct{}{}) },
	"out-of-range": func(c *orch.Context, in string) (string, error) { return in[5:], nil },

	// two coroutines, each with two activities in a row
	"coroutines": func(c *orch.Context, in string) (string, error) {
		line := func(name string) *orch.Future {
			return c.Go(func(c *orch.Context) (string, error) {
				one, err := c.ScheduleActivity(name+"1", in).Await()
				if err != nil {
					return "", err
				}
				return c.ScheduleActivity(name+"2", one).Await()
			})
		}
		a, b := line("a"), line("b")
		out := orch.Join(a, b)
		return fmt.Sprint(out[0].Value, out[1].Value, out[0].Err, out[1].Err), nil
	},
	// a coroutine with a timeout; if it loses, its activity is dropped, too
	"coroutine-race": func(c *orch.Context, in string) (string, error) {
		work := c.Go(func(c *orch.Context) (string, error) {
			inner := c.Go(func(c *orch.Context) (string, error) { return c.ScheduleActivity("inner", in).Await() })
			return inner.Await()
		})
		i, _, _ := orch.Select(work, c.ScheduleTimer(second))
		return c.ScheduleActivity("after", fmt.Sprint(i)).Await()
	},
	"coroutine-panic": func(c *orch.Context, in string) (string, error) {
		c.Go(func(c *orch.Context) (string, error) { panic("inside") })
		return c.ScheduleActivity("a", in).Await()
	},
}

func dequeueAll(c *orch.Context, n int) (string, error) {
	for range n {
		c.DequeueEvent("jobs").Await()
	}
	return "all", nil
}
