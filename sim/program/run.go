package program

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/durosim/durosim/engine/orch"
)

// The activities of programs. They answer at once: ActivityCall gives "call(INPUT)", and ActivityFail fails with
// "failed(INPUT)".
const (
	ActivityCall = "program.call"
	ActivityFail = "program.fail"
)

// Activities returns the activities that programs call. The caller registers them by name.
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

// Handler returns the program of that name as the code of an orchestration. The programs must be valid, and one of them
// must have that name.
func (s Set) Handler(name string) orch.Handler {
	p := s.Lookup(name)
	return func(ctx *orch.Context, input string) (string, error) {
		c := carried(input)
		r := &runner{input: c.input}
		for i := range p.Body {
			n := &p.Body[i]
			if n.Op == OpAgain {
				if c.executions < n.Count {
					c.executions++
					ctx.ContinueAsNew(c.String())
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

// carry is the state that one execution hands to the next.
type carry struct {
	executions  int
	input, said string
}

// String returns the input of the next execution.
func (c carry) String() string {
	return fmt.Sprintf("%s%d:%d:%s%s", carryMark, c.executions, len(c.input), c.input, c.said)
}

// carried parses the input of an execution. An input that does not parse as handed on is a first input.
func carried(s string) carry {
	rest, ok := strings.CutPrefix(s, carryMark)
	executions, rest, ok1 := strings.Cut(rest, ":")
	length, rest, ok2 := strings.Cut(rest, ":")
	c := carry{}
	size := 0
	var err1, err2 error
	c.executions, err1 = strconv.Atoi(executions)
	size, err2 = strconv.Atoi(length)
	if !ok || !ok1 || !ok2 || err1 != nil || err2 != nil || size < 0 || size > len(rest) {
		return carry{input: s}
	}
	c.input, c.said = rest[:size], rest[size:]
	return c
}

// runner carries out one turn of a program.
type runner struct {
	input string
	ids   int // the number of ids made in this execution
}

// id returns an id that no other instance has, without the mark of automatic ids: releases from 0.1.32 on reserve it.
func (r *runner) id(ctx *orch.Context) string {
	r.ids++
	return fmt.Sprintf("%s/%d.%d", strings.ReplaceAll(ctx.InstanceID(), "::sub::", "/"), ctx.ExecutionID(), r.ids)
}

// exec carries out a statement and waits for its outcome.
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
	case OpCall, OpCallFails, OpTimer, OpWait, OpChild:
		return r.start(ctx, n).Await()
	case OpDetach:
		ctx.StartOrchestration(n.Name, r.id(ctx), n.Text)
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
	panic(fmt.Sprintf("program: a statement %q", n.Op)) // Validate has refused it
}

// sequence carries out statements one after the other, and repeats this the given number of times.
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

// start begins a statement: it schedules it if the API can, and otherwise runs it as a coroutine.
func (r *runner) start(ctx *orch.Context, n *Node) *orch.Future {
	switch n.Op {
	case OpCall:
		return ctx.ScheduleActivity(ActivityCall, n.Text)
	case OpCallFails:
		return ctx.ScheduleActivity(ActivityFail, n.Text)
	case OpTimer:
		return ctx.ScheduleTimer(n.Delay)
	case OpWait:
		if n.Text != "" {
			return ctx.ScheduleWait2(n.Name, n.Text)
		}
		return ctx.ScheduleWait(n.Name)
	case OpChild:
		if ctx.ExecutionID() == 1 {
			return ctx.ScheduleSubOrchestration(n.Name, n.Text)
		}
		// Automatic ids count events, so that a later execution would ask for a child that an earlier one had.
		return ctx.ScheduleSubOrchestrationWithID(n.Name, r.id(ctx), n.Text)
	}
	return ctx.Go(func(ctx *orch.Context) (string, error) { return r.exec(ctx, n) })
}
