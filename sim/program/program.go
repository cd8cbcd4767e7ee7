package program

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Op identifies a kind of statement.
type Op string

// The statements. Ops describes their syntax and meaning.
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

// Node is a statement. Fields that do not apply to its Op are zero.
type Node struct {
	Op Op
	// Name is the name of an event (wait), a queue (dequeue), a key (set, get, clear, remote) or a program (child,
	// detach).
	Name string
	// Text is the text to say, an activity's or child's input, the text of a failure, or the new value of a key or the
	// custom status. For a wait, it is the topic; a wait with a topic is second-generation.
	Text string
	// Session and Tag restrict where a call may run. Empty means no restriction.
	Session, Tag string
	// ID is the last part of a child's id; the first part is its parent's id. Empty means an automatic id.
	ID string
	// Version is the version that a child, a detached start or the next execution runs. If empty, the registry's policy
	// chooses the version.
	Version string
	// Size, if not 0, is the minimum length in bytes of the new value of a key or the custom status; a shorter value is
	// padded with dots. For set-many, Size is the number of keys.
	Size int `shrink:"number 1"`
	// Delay is a timer's delay, in whole milliseconds.
	Delay time.Duration `shrink:"number 0"`
	// Count is the number of times that repeat runs its statements, or that again continues as new.
	Count int `shrink:"number 1"`
	// Kids holds the statements in a block, the branches of a join or select, or the body of a try. Else holds a try's
	// catch.
	Kids, Else []Node `shrink:"keep"`
}

// Program is a named list of statements.
type Program struct {
	Name string
	// Version is the version under which the program is registered. Empty means DefaultVersion.
	Version string
	Body    []Node `shrink:"keep"`
}

// DefaultVersion is the version of a program that does not specify one.
const DefaultVersion = "1.0.0"

// At returns the version under which the program is registered.
func (p *Program) At() string { return cmp.Or(p.Version, DefaultVersion) }

// Limits on the size of a program. A larger program would only prolong a run without showing anything new.
const (
	maxCount = 10
	maxDelay = 10 * 366 * 24 * time.Hour
	maxDepth = 20
	// maxWork is the maximum number of operations that one instance may schedule, including everything that it starts.
	maxWork = 1000
	// maxWaits is the maximum number of events for which one instance waits. It is small because, during recovery,
	// clients raise only a limited number of events per instance.
	maxWaits = 10
	// maxSize is the maximum length of a padded text in bytes. It slightly exceeds the limit for a custom status.
	maxSize = 300_000
)

// Set is a list of programs. A program may start any earlier program with a different name. A program's versions are
// adjacent and in ascending order.
type Set []Program

// Lookup returns the first program called name, or nil.
func (s Set) Lookup(name string) *Program {
	for i := range s {
		if s[i].Name == name {
			return &s[i]
		}
	}
	return nil
}

// Versions returns the programs called name. If version is not empty, it returns only the program with that version.
func (s Set) Versions(name, version string) []*Program {
	var out []*Program
	for i := range s {
		if s[i].Name == name && (version == "" || s[i].At() == version) {
			out = append(out, &s[i])
		}
	}
	return out
}

// Clone returns a deep copy of s, or nil if s is nil.
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

// agains returns the maximum number of times that the statements can continue as new.
func agains(body []Node) int {
	most := 0
	for i := range body {
		if body[i].Op == OpAgain {
			most = max(most, body[i].Count)
		}
	}
	return most
}

// Walk calls f for every statement in list and, recursively, in its blocks. It visits a block before the statements
// inside it.
func Walk(list []Node, f func(n *Node)) {
	for i := range list {
		f(&list[i])
		Walk(list[i].Kids, f)
		Walk(list[i].Else, f)
	}
}

// used returns the distinct values of the statements that have one, in order of first use.
func used[T comparable](p *Program, value func(n *Node) (v T, has bool)) (out []T) {
	Walk(p.Body, func(n *Node) {
		if v, has := value(n); has && !slices.Contains(out, v) {
			out = append(out, v)
		}
	})
	return out
}

// Waits returns the names of the events that the program itself waits for, in order of first use.
func (p *Program) Waits() []string {
	return used(p, func(n *Node) (string, bool) { return n.Name, n.Op == OpWait })
}

// Queues returns the names of the queues that the program itself reads, in order of first use.
func (p *Program) Queues() []string {
	return used(p, func(n *Node) (string, bool) { return n.Name, n.Op == OpDequeue })
}

// Delays returns the distinct delays of the program's timers and timeouts, in order of first use.
func (p *Program) Delays() []time.Duration {
	return used(p, func(n *Node) (time.Duration, bool) { return n.Delay, n.Delay > 0 })
}

// value returns the value that n assigns to a key or the custom status.
func (n *Node) value() string {
	return n.Text + strings.Repeat(".", max(0, n.Size-len(n.Text)))
}

// carryMark is the prefix of the input of an execution that a continue-as-new started.
const carryMark = "again:"

// IsInput reports whether s is a possible input of a program's instance.
func IsInput(s string) bool { return utf8.ValidString(s) && !strings.HasPrefix(s, carryMark) }
