package program

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Op is the kind of a statement.
type Op string

// The statements. Ops lists their words and meanings.
const (
	OpSay       Op = "say"
	OpInput     Op = "input"
	OpCall      Op = "call"
	OpCallFails Op = "call-fails"
	OpFail      Op = "fail"
	OpPanic     Op = "panic"
	OpTimer     Op = "timer"
	OpWait      Op = "wait"
	OpChild     Op = "child"
	OpDetach    Op = "detach"
	OpDrop      Op = "drop"
	OpSeq       Op = "seq"
	OpJoin      Op = "join"
	OpSelect    Op = "select"
	OpTry       Op = "try"
	OpRepeat    Op = "repeat"
	OpAgain     Op = "again"
)

// Node is a statement. Fields that its Op does not name are zero.
type Node struct {
	Op Op
	// Name is the name of an event (wait) or of a program (child, detach).
	Name string
	// Text is the text to say, the input of an activity or a child, or the text of a failure. For wait it is the topic; a
	// wait with a topic is of the new generation.
	Text string
	// Delay is the delay of a timer, in whole milliseconds.
	Delay time.Duration
	// Count is how often a repeat runs its statements, and how often again continues as new.
	Count int
	// Kids are the statements of a block, the branches of a join or select, or the body of a try; Else is its catch.
	Kids, Else []Node
}

// Program is a named list of statements.
type Program struct {
	Name string
	Body []Node
}

// Version is the version under which programs are registered.
const Version = "1.0.0"

// The bounds of a program: anything larger makes a run longer and shows nothing more.
const (
	maxCount = 10
	maxDelay = 10 * 366 * 24 * time.Hour
	maxDepth = 20
	// maxWork bounds how much one instance may schedule, with everything that it starts.
	maxWork = 1000
	// maxWaits bounds the events that one instance waits for: in calm, clients raise only a few for each instance.
	maxWaits = 10
)

// Set is a list of programs, each of which may start those before it.
type Set []Program

// Lookup returns the program of that name, or nil if there is none.
func (s Set) Lookup(name string) *Program {
	for i := range s {
		if s[i].Name == name {
			return &s[i]
		}
	}
	return nil
}

// Clone returns a copy that shares nothing with s; nil stays nil.
func (s Set) Clone() Set {
	out := slices.Clone(s)
	for i := range out {
		out[i].Body = cloneNodes(out[i].Body)
	}
	return out
}

func cloneNodes(list []Node) []Node {
	out := slices.Clone(list)
	for i := range out {
		out[i].Kids, out[i].Else = cloneNodes(out[i].Kids), cloneNodes(out[i].Else)
	}
	return out
}

// Validate returns everything that is wrong with the programs as one error.
func (s Set) Validate() error {
	var errs []error
	for i := range s {
		c := check{set: s[:i]}
		if s[i].Name == "" {
			c.fail("a program without a name")
		}
		if s[:i].Lookup(s[i].Name) != nil {
			c.fail("there are two of that name")
		}
		if len(s[i].Body) == 0 {
			c.fail("it has no statements")
		}
		c.list(s[i].Body, 0, true)
		if work := s[i].work(s[:i]); len(c.errs) == 0 && work > maxWork {
			c.fail("it schedules %d things with all that it starts: want at most %d", work, maxWork)
		}
		if waits := s[i].waits(); len(c.errs) == 0 && waits > maxWaits {
			c.fail("it waits for %d events: want at most %d", waits, maxWaits)
		}
		for _, err := range c.errs {
			errs = append(errs, fmt.Errorf("program %s: %w", s[i].Name, err))
		}
	}
	return errors.Join(errs...)
}

// check is the validation of one program. set holds the programs that it may start.
type check struct {
	set  Set
	errs []error
}

func (c *check) fail(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf(format, args...))
}

func (c *check) list(list []Node, depth int, top bool) {
	if depth > maxDepth {
		c.fail("it is nested deeper than %d blocks", maxDepth)
		return
	}
	for i := range list {
		c.node(&list[i], depth, top)
	}
}

func (c *check) node(n *Node, depth int, top bool) {
	info, known := lookup(n.Op)
	if !known {
		c.fail("unknown statement %q", n.Op)
		return
	}
	if !utf8.ValidString(n.Name) || !utf8.ValidString(n.Text) {
		c.fail("%s: a text that is not UTF-8", n.Op)
	}
	if info.has(argName) && n.Name == "" || info.has(argText) && n.Text == "" {
		c.fail("%s: expected %s", n.Op, info.Form)
	}
	if info.has(argDelay) && (n.Delay < 0 || n.Delay > maxDelay || n.Delay%time.Millisecond != 0) {
		c.fail("%s %v: want whole milliseconds up to %v", n.Op, n.Delay, maxDelay)
	}
	if info.has(argCount) && (n.Count < 1 || n.Count > maxCount) {
		c.fail("%s %d: want a number from 1 to %d", n.Op, n.Count, maxCount)
	}
	if info.block && len(n.Kids) == 0 || n.Op == OpTry && len(n.Else) == 0 {
		c.fail("%s: a block without statements", n.Op)
	}
	switch {
	case n.Op == OpAgain && !top:
		c.fail("again stands in a block: want it among the statements of the program itself")
	case (n.Op == OpChild || n.Op == OpDetach) && c.set.Lookup(n.Name) == nil:
		c.fail("%s %s: want the name of a program before this one", n.Op, n.Name)
	case (n.Op == OpChild || n.Op == OpDetach) && !IsInput(n.Text):
		c.fail("%s %s: an input that begins with %q", n.Op, n.Name, carryMark)
	}
	c.list(n.Kids, depth+1, false)
	c.list(n.Else, depth+1, false)
}

// work returns how much an instance of the program schedules at most, with everything that it starts from the set. Large
// numbers are capped.
func (p *Program) work(set Set) int {
	memo := make([]int, len(set))
	for i := range set {
		memo[i] = set[i].workOver(set[:i], memo)
	}
	return p.workOver(set, memo)
}

func (p *Program) workOver(set Set, memo []int) int {
	var list func(list []Node) int
	list = func(nodes []Node) int {
		sum := 0
		for i := range nodes {
			n := &nodes[i]
			work := list(n.Kids) + list(n.Else)
			switch n.Op {
			case OpChild, OpDetach:
				work = 1
				if j := slices.IndexFunc(set, func(p Program) bool { return p.Name == n.Name }); j >= 0 {
					work += memo[j]
				}
			case OpRepeat:
				work *= max(n.Count, 1)
			case OpCall, OpCallFails, OpTimer, OpWait:
				work = 1
			}
			sum = min(sum+work, maxWork*maxCount)
		}
		return sum
	}
	return min(list(p.Body)*(1+agains(p.Body)), maxWork*maxCount)
}

// waits returns how many events an instance of the program itself waits for at most. Large numbers are capped.
func (p *Program) waits() int {
	var list func(list []Node) int
	list = func(nodes []Node) int {
		sum := 0
		for i := range nodes {
			n := &nodes[i]
			inside := list(n.Kids) + list(n.Else)
			switch n.Op {
			case OpWait:
				inside = 1
			case OpRepeat:
				inside *= max(n.Count, 1)
			}
			sum = min(sum+inside, maxWork)
		}
		return sum
	}
	return list(p.Body) * (1 + agains(p.Body))
}

// agains returns the maximum number of times that the statements continue as new.
func agains(body []Node) int {
	most := 0
	for i := range body {
		if body[i].Op == OpAgain {
			most = max(most, body[i].Count)
		}
	}
	return most
}

// Walk calls f for every statement of a list and of its blocks, each block before the statements in it.
func Walk(list []Node, f func(n *Node)) {
	for i := range list {
		f(&list[i])
		Walk(list[i].Kids, f)
		Walk(list[i].Else, f)
	}
}

// Waits returns the names of the events that the program itself waits for, in the order of their first wait.
func (p *Program) Waits() []string {
	var out []string
	Walk(p.Body, func(n *Node) {
		if n.Op == OpWait && !slices.Contains(out, n.Name) {
			out = append(out, n.Name)
		}
	})
	return out
}

// carryMark begins the input of an execution that a continue-as-new started.
const carryMark = "again:"

// IsInput reports whether an instance of a program may be given this input.
func IsInput(s string) bool { return utf8.ValidString(s) && !strings.HasPrefix(s, carryMark) }
