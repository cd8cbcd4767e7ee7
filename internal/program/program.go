package program

import (
	"cmp"
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

	OpDequeue     Op = "dequeue"
	OpSet         Op = "set"
	OpSetMany     Op = "set-many"
	OpGet         Op = "get"
	OpClear       Op = "clear"
	OpClearAll    Op = "clear-all"
	OpKeys        Op = "keys"
	OpPrune       Op = "prune"
	OpRemote      Op = "remote"
	OpStatus      Op = "status"
	OpStatusReset Op = "status-reset"
	OpStatusGet   Op = "status-get"
	OpGUID        Op = "guid"
	OpNow         Op = "now"
)

// Node is a statement. Fields that its Op does not name are zero.
type Node struct {
	Op Op
	// Name is the name of an event (wait), of a queue (dequeue), of a key (set, get, clear, remote) or of a program (child,
	// detach).
	Name string
	// Text is the text to say, the input of an activity or a child, the text of a failure, or the new value of a key or
	// the custom status. For wait it is the topic; a wait with a topic is of the second generation.
	Text string
	// Session and Tag restrict where a call may run; empty means no restriction.
	Session, Tag string
	// ID is the end of a child's id, which begins with its parent's id; empty means an automatic id.
	ID string
	// Version is the version of the program that a child, a detached start or the next execution runs; empty leaves the
	// choice to the policy.
	Version string
	// Size, if not 0, is the minimum length in bytes of the new value of a key or the custom status, padded with dots.
	// For set-many it is the number of keys.
	Size int
	// Delay is the delay of a timer, in whole milliseconds.
	Delay time.Duration
	// Count is how often repeat runs its statements, or how often again continues as new.
	Count int
	// Kids are the statements of a block, the branches of a join or select, or the body of a try; Else is its catch.
	Kids, Else []Node
}

// Program is a named list of statements.
type Program struct {
	Name string
	// Version is the version under which the program is registered; empty means DefaultVersion.
	Version string
	Body    []Node
}

// DefaultVersion is the version of programs that name none.
const DefaultVersion = "1.0.0"

// At returns the version under which the program is registered.
func (p *Program) At() string { return cmp.Or(p.Version, DefaultVersion) }

// The bounds of a program. A larger program makes a run longer but shows nothing more.
const (
	maxCount = 10
	maxDelay = 10 * 366 * 24 * time.Hour
	maxDepth = 20
	// maxWork bounds the operations that one instance may schedule, including everything that it starts.
	maxWork = 1000
	// maxWaits bounds the events that one instance waits for, since clients raise only a few events for each instance
	// in calm.
	maxWaits = 10
	// maxSize bounds a padded text: a little more than a custom status may have.
	maxSize = 300_000
)

// Set is a list of programs. Each may start the programs before it that have another name. The versions of a program
// follow each other in ascending order.
type Set []Program

// Lookup returns the first program with that name, or nil.
func (s Set) Lookup(name string) *Program {
	for i := range s {
		if s[i].Name == name {
			return &s[i]
		}
	}
	return nil
}

// Versions returns the programs with that name, or only the one with the given version if version is not empty.
func (s Set) Versions(name, version string) []*Program {
	var out []*Program
	for i := range s {
		if s[i].Name == name && (version == "" || s[i].At() == version) {
			out = append(out, &s[i])
		}
	}
	return out
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

// Waits returns the names of the events that the program itself waits for, in order of the first wait.
func (p *Program) Waits() []string {
	var out []string
	Walk(p.Body, func(n *Node) {
		if n.Op == OpWait && !slices.Contains(out, n.Name) {
			out = append(out, n.Name)
		}
	})
	return out
}

// Queues returns the names of the queues that the program itself reads, in order of the first dequeue.
func (p *Program) Queues() []string {
	var out []string
	Walk(p.Body, func(n *Node) {
		if n.Op == OpDequeue && !slices.Contains(out, n.Name) {
			out = append(out, n.Name)
		}
	})
	return out
}

// Delays returns the delays of the program's timers and timeouts, each once, in the order of the text.
func (p *Program) Delays() []time.Duration {
	var out []time.Duration
	Walk(p.Body, func(n *Node) {
		if n.Delay > 0 && !slices.Contains(out, n.Delay) {
			out = append(out, n.Delay)
		}
	})
	return out
}

// value returns the value that a statement gives to a key or the custom status.
func (n *Node) value() string {
	return n.Text + strings.Repeat(".", max(0, n.Size-len(n.Text)))
}

// carryMark begins the input of an execution that a continue-as-new starts.
const carryMark = "again:"

// IsInput reports whether an instance of a program may have this input.
func IsInput(s string) bool { return utf8.ValidString(s) && !strings.HasPrefix(s, carryMark) }
