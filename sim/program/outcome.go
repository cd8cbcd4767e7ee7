package program

import (
	"slices"
	"strconv"
	"strings"

	"github.com/durosim/durosim/engine"
)

// Circumstances holds the facts about a run that the interpreter needs.
type Circumstances struct {
	// Input is the instance's input.
	Input string
	// Events returns the data that clients may have sent to the instance in events called name; nil means none. Anyone
	// is the same for data that may have been sent to any waiting instance, including children.
	Events func(name string) []string
	Anyone []string
	// Messages returns the data of each message received by one of the instance's queues. If the same data was received
	// several times, it is listed, and may be taken, that many times. If Messages is nil, only Anyone is known.
	Messages func(queue string) []string
	// ActivityPanic is the text with which any activity may fail, or empty if no activity may fail.
	ActivityPanic string
	// Cancelled is set if someone may have cancelled the instance. Reasons lists the possible reasons; nil means any.
	Cancelled bool
	Reasons   []string
	// Taken lists the ids of instances that no parent starts. A child is refused if it gets one of them.
	Taken []string
	// Limits lists the limits of the builds that may run the instance. Nil means engine.DefaultLimits.
	Limits []engine.Limits
}

// Outcome is how an instance ended.
type Outcome struct {
	// Completed reports whether the instance completed rather than failed. Text is the output, or the displayed text of
	// the failure.
	Completed bool
	Text      string
}

// The prefixes of failures caused by the runtime rather than the program. Any instance may end as poison if enough
// faults hit it.
const (
	poisonText = "poison: "
	cancelText = "canceled: "
	panicText  = "orchestration panicked: "
	// refusedText is the prefix of a child's failure if the child's id is already taken.
	refusedText = "instance already exists: "
	// releasedRefusedText is the corresponding prefix in released runtimes.
	releasedRefusedText = "sub-orchestration instance id '"
	// droppedText is the failure of a child whose future its parent has dropped.
	droppedText = cancelText + "parent dropped sub-orchestration future"
)

// releasedRefusedEnds lists the possible suffixes of that failure in released runtimes, longest first.
var releasedRefusedEnds = []string{"' already exists and is terminal", "' already exists"}

// maxEffort is the maximum number of alternatives explored for one question. Beyond it, the interpreter allows the
// outcome.
const maxEffort = 1 << 20

// Allows reports whether an instance of the named program may end with outcome o. If version is empty, the registry's
// policy chose the version. The programs must be valid. A program that is not in the set allows everything.
func (s Set) Allows(name, version string, c Circumstances, o Outcome) bool {
	versions := s.Versions(name, version)
	if len(versions) == 0 {
		return true
	}
	i := &interpreter{set: s, c: c, name: name}
	switch {
	case o.Completed:
		return slices.ContainsFunc(versions, func(p *Program) bool { return i.completes(p, 0, 0, o.Text, atEnd) })
	case strings.HasPrefix(o.Text, poisonText):
		return true
	case c.Cancelled && strings.HasPrefix(o.Text, cancelText) && (c.Reasons == nil || slices.Contains(c.Reasons, strings.TrimPrefix(o.Text, cancelText))):
		return true
	}
	// A later execution may run a different version. The failure of a child that was cancelled becomes that of its parent.
	return i.anyEnds(s.Versions(name, ""), o.Text, atEnd)
}

// Executions returns the maximum number of executions of an instance of the named program.
func (s Set) Executions(name string) uint64 {
	most := 0
	for _, p := range s.Versions(name, "") {
		most = max(most, agains(p.Body))
	}
	return uint64(1 + most)
}

// interpreter works backwards from an outcome: it splits a text into the parts that could have produced it. Each
// question takes a continuation, of type then, which decides about the rest of the text. The answer is yes if the
// continuation accepts the rest for at least one way of splitting the text. In the comments below, "a text that s
// begins with" always implies that the continuation accepts the rest of s.
//
// state is the knowledge of the instance's state at the current point. Code that changes it for a continuation must
// restore it afterwards.
type interpreter struct {
	set    Set
	c      Circumstances
	name   string // the program's name
	state  known
	effort int
}

type then func(rest string) bool

func atEnd(rest string) bool { return rest == "" }

// literal reports whether s begins with text.
func literal(text, s string, k then) bool {
	rest, ok := strings.CutPrefix(s, text)
	return ok && k(rest)
}

// completes reports whether the program's statements, beginning with index from, may produce a text that s begins with.
// executions is the number of preceding executions.
func (i *interpreter) completes(p *Program, executions, from int, s string, k then) bool {
	if from == len(p.Body) {
		return k(s)
	}
	n := &p.Body[from]
	if n.Op == OpAgain {
		if executions < n.Count {
			return slices.ContainsFunc(i.set.Versions(i.name, n.Version), func(next *Program) bool {
				return i.completes(next, executions+1, 0, s, k)
			})
		}
		return i.completes(p, executions, from+1, s, k)
	}
	return i.gives(n, s, func(rest string) bool {
		return literal(";", rest, func(rest string) bool { return i.completes(p, executions, from+1, rest, k) })
	})
}

// anyEnds reports whether one of the programs in list may fail or panic with a displayed text that s begins with.
func (i *interpreter) anyEnds(list []*Program, s string, k then) bool {
	return slices.ContainsFunc(list, func(p *Program) bool { return i.ends(p, s, k) })
}

// ends reports whether p may fail or panic with a displayed text that s begins with. The last execution does not stop at
// an again; earlier executions fail in the same ways.
func (i *interpreter) ends(p *Program, s string, k then) bool {
	return i.reaches(p.Body, func(n *Node) bool { return i.fails(n, s, k) || i.panics(n, s, k) || i.breaksLimit(n, s, k) })
}

// gives reports whether statement n may produce a text that s begins with.
func (i *interpreter) gives(n *Node, s string, k then) bool {
	if i.effort++; i.effort > maxEffort {
		return true
	}
	switch n.Op {
	case OpSay:
		return literal(n.Text, s, k)
	case OpInput:
		return literal(i.c.Input, s, k)
	case OpCall:
		return !i.tooLong(n) && literal("call("+n.Text+")", s, k)
	case OpTimer, OpDetach, OpDrop:
		return k(s)
	case OpWait:
		return i.sent(i.c.Events, n.Name, s, k)
	case OpDequeue:
		return i.takes(n.Name, s, k)
	case OpChild:
		child, versions := i.child(n)
		return slices.ContainsFunc(versions, func(p *Program) bool {
			return child.completes(p, 0, 0, s, func(rest string) bool {
				i.effort = max(i.effort, child.effort)
				return k(rest)
			})
		})
	case OpSeq, OpRepeat:
		return i.inOrder(n.Kids, max(n.Count, 1), s, k)
	case OpJoin:
		return literal("(", s, func(rest string) bool {
			return i.concurrently(n.Kids, rest, k, func(rest string, k then) bool { return i.joins(n.Kids, rest, k) })
		})
	case OpSelect:
		return i.concurrently(n.Kids, s, k, func(s string, k then) bool {
			for j := range n.Kids {
				if literal(strconv.Itoa(j)+":", s, func(rest string) bool { return i.gives(&n.Kids[j], rest, k) }) {
					return true
				}
			}
			return false
		})
	case OpTry:
		return i.inOrder(n.Kids, 1, s, k) || literal("~", s, func(rest string) bool {
			return i.anyFails(n.Kids, rest, func(rest string) bool {
				return literal(">", rest, func(rest string) bool {
					return i.in(i.state.after(n.Kids), rest, func(rest string) bool { return i.inOrder(n.Else, 1, rest, k) })
				})
			})
		})
	case OpFail, OpPanic, OpCallFails:
		return false
	}
	return i.givesState(n, s, k)
}

// sent reports whether s begins with data that someone may have sent under name.
func (i *interpreter) sent(to func(name string) []string, name, s string, k then) bool {
	sent := i.c.Anyone
	if to != nil {
		sent = slices.Concat(sent, to(name))
	}
	return slices.ContainsFunc(sent, func(data string) bool { return literal(data, s, k) })
}

// inOrder reports whether the statements in list, repeated as often as times says, may produce a text that s begins
// with.
func (i *interpreter) inOrder(list []Node, times int, s string, k then) bool {
	var from func(j int, s string) bool
	from = func(j int, s string) bool {
		if j == len(list)*times {
			return literal("}", s, k)
		}
		return i.gives(&list[j%len(list)], s, func(rest string) bool {
			return literal(";", rest, func(rest string) bool { return from(j+1, rest) })
		})
	}
	return literal("{", s, func(rest string) bool { return from(0, rest) })
}

// joins reports whether s begins with possible outcomes of all branches in list, in order.
func (i *interpreter) joins(list []Node, s string, k then) bool {
	if len(list) == 0 {
		return literal(")", s, k)
	}
	next := func(rest string) bool {
		return literal("|", rest, func(rest string) bool { return i.joins(list[1:], rest, k) })
	}
	return i.gives(&list[0], s, next) || literal("!", s, func(rest string) bool { return i.fails(&list[0], rest, next) })
}

// fails reports whether statement n may fail with a text that s begins with.
func (i *interpreter) fails(n *Node, s string, k then) bool {
	if i.effort++; i.effort > maxEffort {
		return true
	}
	switch n.Op {
	case OpFail:
		return literal(n.Text, s, k)
	case OpCall, OpRemote, OpGUID, OpNow:
		return i.activityPanics(s, k)
	case OpCallFails:
		return literal("failed("+n.Text+")", s, k) || i.activityPanics(s, k)
	case OpChild:
		child, _ := i.child(n)
		return child.anyEnds(i.set.Versions(n.Name, ""), s, k) || i.isRefused(n, s, k)
	case OpSeq, OpRepeat:
		return i.anyFails(n.Kids, s, k)
	case OpSelect:
		return slices.ContainsFunc(n.Kids, func(kid Node) bool { return i.fails(&kid, s, k) })
	case OpTry:
		return i.canFail(n.Kids) && i.anyFails(n.Else, s, k)
	}
	return false // other statements never fail
}

// activityPanics reports whether s begins with the text of an activity's panic. Released runtimes wrap this text and
// add a task number, which may have any value.
func (i *interpreter) activityPanics(s string, k then) bool {
	if i.c.ActivityPanic == "" {
		return false
	}
	if rest, ok := strings.CutPrefix(s, "task "); ok {
		if numberless := strings.TrimLeft(rest, "0123456789"); len(numberless) < len(rest) {
			return literal(` panicked with message "`+i.c.ActivityPanic+`"`, numberless, k)
		}
	}
	return literal(i.c.ActivityPanic, s, k)
}

// anyFails reports whether a statement in list may be the first to fail, with a text that s begins with.
func (i *interpreter) anyFails(list []Node, s string, k then) bool {
	return i.reaches(list, func(n *Node) bool { return i.fails(n, s, k) })
}

// panics reports whether the program may panic in statement n with a text that s begins with.
func (i *interpreter) panics(n *Node, s string, k then) bool {
	switch n.Op {
	case OpPanic:
		return literal(panicText+n.Text, s, k)
	case OpJoin, OpSelect:
		return slices.ContainsFunc(n.Kids, func(kid Node) bool { return i.panics(&kid, s, k) })
	case OpSeq, OpRepeat:
		return i.anyPanics(n.Kids, s, k)
	case OpTry:
		return i.anyPanics(n.Kids, s, k) || i.canFail(n.Kids) && i.anyPanics(n.Else, s, k)
	}
	return false // dropped code never runs, and a child's panic does not reach its parent
}

func (i *interpreter) anyPanics(list []Node, s string, k then) bool {
	return i.reaches(list, func(n *Node) bool { return i.panics(n, s, k) })
}
