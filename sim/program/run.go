package program

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/durosim/durosim/engine/orch"
)

// The activities that programs call. Both return immediately. ActivityCall returns "call(INPUT)". ActivityFail fails
// with "failed(INPUT)".
const (
	ActivityCall = "program.call"
	ActivityFail = "program.fail"
)

// Activities returns the activities that programs call. The caller must register them by name.
func Activities() []Activity {
	return []Activity{
		{ActivityCall, func(input string) (string, error) { return "call(" + input + ")", nil }},
		{ActivityFail, func(input string) (string, error) { return "", errors.New("failed(" + input + ")") }},
	}
}

// Activity is an activity that programs call.
type Activity struct {
	Name string
	Run  func(input string) (string, error)
}

// Handler returns orchestration code that executes the program. The program must belong to a valid set.
func (p *Program) Handler() orch.Handler {
	return func(ctx *orch.Context, input string) (string, error) {
		c := carried(input)
		r := &runner{input: c.input}
		for i := range p.Body {
			n := &p.Body[i]
			if n.Op == OpAgain {
				if c.executions < n.Count {
					c.executions++
					ctx.ContinueAsNewVersioned(n.Version, c.String())
				}
				continue
			}
			value, err := r.exec(ctx, n)
			if err != nil {
				return "", err
			}
			c.said += value + ";"
		}
		return c.said, nil
	}
}

// carry is the state passed from one execution to the next.
type carry struct {
	executions  int
	input, said string
}

// String returns the input for the next execution.
func (c carry) String() string {
	return fmt.Sprintf("%s%d:%d:%s%s", carryMark, c.executions, len(c.input), c.input, c.said)
}

// carried parses an execution's input. An input that is not a carry is the input of the first execution.
func carried(s string) carry {
	rest, ok := strings.CutPrefix(s, carryMark)
	executions, rest, ok1 := strings.Cut(rest, ":")
	length, rest, ok2 := strings.Cut(rest, ":")
	n, err1 := strconv.Atoi(executions)
	size, err2 := strconv.Atoi(length)
	if !ok || !ok1 || !ok2 || err1 != nil || err2 != nil || size < 0 || size > len(rest) {
		return carry{input: s}
	}
	return carry{executions: n, input: rest[:size], said: rest[size:]}
}

// runner executes a program for one turn.
type runner struct {
	input string
	ids   int // number of ids created by this execution
}

// base returns the prefix of ids that the code assigns. It is the instance's own id without the marker for automatic
// ids, which is reserved since 0.1.32.
func base(ctx *orch.Context) string { return strings.ReplaceAll(ctx.InstanceID(), "::sub::", "/") }

// id returns an id that no other instance uses.
func (r *runner) id(ctx *orch.Context) string {
	r.ids++
	return fmt.Sprintf("%s/%d.%d", base(ctx), ctx.ExecutionID(), r.ids)
}

// exec executes a statement and waits for its outcome.
func (r *runner) exec(ctx *orch.Context, n *Node) (string, error) {
	switch n.Op {
	case OpSay:
		return n.Text, nil
	case OpInput:
		return r.input, nil
	case OpFail:
		return "", errors.New(n.Text)
	case OpPanic:
		panic(n.Text)
	case OpCall, OpCallFails, OpTimer, OpWait, OpDequeue, OpChild:
		return r.start(ctx, n).Await()
	case OpDetach:
		ctx.StartOrchestrationVersioned(n.Name, n.Version, r.id(ctx), n.Text)
		return "", nil
	case OpDrop:
		for i := range n.Kids {
			r.start(ctx, &n.Kids[i]).Drop()
		}
		return "", nil
	case OpSeq:
		return r.sequence(ctx, n.Kids, 1)
	case OpRepeat:
		return r.sequence(ctx, n.Kids, n.Count)
	case OpJoin:
		var out strings.Builder
		out.WriteByte('(')
		for _, o := range orch.Join(r.startAll(ctx, n.Kids)...) {
			if o.Err != nil {
				out.WriteString("!" + o.Err.Error())
			}
			out.WriteString(o.Value + "|")
		}
		return out.String() + ")", nil
	case OpSelect:
		i, value, err := orch.Select(r.startAll(ctx, n.Kids)...)
		if err != nil {
			return "", err
		}
		return strconv.Itoa(i) + ":" + value, nil
	case OpTry:
		value, err := r.sequence(ctx, n.Kids, 1)
		if err == nil {
			return value, nil
		}
		other, otherErr := r.sequence(ctx, n.Else, 1)
		if otherErr != nil {
			return "", otherErr
		}
		return "~" + err.Error() + ">" + other, nil
	}
	return state(ctx, n)
}

// sequence executes the statements in list in order; times is the number of repetitions.
func (r *runner) sequence(ctx *orch.Context, list []Node, times int) (string, error) {
	out := "{"
	for range times {
		for i := range list {
			value, err := r.exec(ctx, &list[i])
			if err != nil {
				return "", err
			}
			out += value + ";"
		}
	}
	return out + "}", nil
}

func (r *runner) startAll(ctx *orch.Context, list []Node) []*orch.Future {
	futures := make([]*orch.Future, len(list))
	for i := range list {
		futures[i] = r.start(ctx, &list[i])
	}
	return futures
}

// start starts statement n. If the API can schedule it, start does so. If not, start runs it as a coroutine.
func (r *runner) start(ctx *orch.Context, n *Node) *orch.Future {
	switch n.Op {
	case OpCall:
		return ctx.ScheduleActivity(ActivityCall, n.Text, orch.OnSession(n.Session), orch.WithTag(n.Tag))
	case OpCallFails:
		return ctx.ScheduleActivity(ActivityFail, n.Text)
	case OpTimer:
		return ctx.ScheduleTimer(n.Delay)
	case OpWait:
		if n.Text != "" {
			return ctx.ScheduleWait2(n.Name, n.Text)
		}
		return ctx.ScheduleWait(n.Name)
	case OpDequeue:
		return ctx.DequeueEvent(n.Name)
	case OpChild:
		return r.child(ctx, n)
	}
	return ctx.Go(func(ctx *orch.Context) (string, error) { return r.exec(ctx, n) })
}

// child starts the child in statement n. Without an id or a version, the runtime chooses it.
func (r *runner) child(ctx *orch.Context, n *Node) *orch.Future {
	id := ""
	switch {
	case n.ID != "":
		id = base(ctx) + "/" + n.ID
	case ctx.ExecutionID() > 1:
		// Automatic ids are derived from event numbers, so a later execution would request the same child as an earlier
		// one.
		id = r.id(ctx)
	}
	return ctx.ScheduleSubOrchestrationVersionedWithID(n.Name, n.Version, id, n.Text)
}
