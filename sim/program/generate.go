package program

import (
	"strconv"
	"time"
)

// Generate generates a random program called name, preceded by the programs that it may start, whose names have the
// prefix name. It makes every decision by calling choose, which returns a number from 0 to n-1; 0 is the simplest
// choice. The resulting set is valid.
func Generate(name string, choose func(n int) int) Set {
	g := &generator{choose: choose}
	for i := range choose(3) {
		g.program(name+"."+strconv.Itoa(i+1), 6)
	}
	g.program(name, 14)
	return g.set
}

// program generates a program with at most size statements, in one version or two.
func (g *generator) program(name string, size int) {
	g.versions = []string{""}
	if g.rarely(8) {
		g.versions = []string{"", "1.1.0"}
	}
	var made []Program
	for _, version := range g.versions {
		g.left = size
		made = append(made, Program{Name: name, Version: version, Body: g.body()})
	}
	for i := range made {
		g.shorten(&made[i])
	}
	g.set = append(g.set, made...)
}

// maxGenerated is the maximum number of operations that an instance of a generated program schedules, including
// everything that it starts.
const maxGenerated = 40

// shorten reduces a program that would schedule more than maxGenerated operations. It first removes all repetition, and
// then replaces children and detached programs with calls. If the program exceeds the limit on waits, shorten replaces
// all of its waits with timers.
func (g *generator) shorten(p *Program) {
	large := func() bool { return p.work(g.set) > maxGenerated }
	if large() {
		Walk(p.Body, func(n *Node) { n.Count = min(n.Count, 1) })
	}
	if large() {
		Walk(p.Body, func(n *Node) {
			if n.Op == OpChild || n.Op == OpDetach {
				*n = Node{Op: OpCall, Text: n.Text}
			}
		})
	}
	if p.waits() > maxWaits {
		Walk(p.Body, func(n *Node) {
			if n.Op == OpWait || n.Op == OpDequeue {
				*n = Node{Op: OpTimer, Delay: time.Second}
			}
		})
	}
}

// generator generates programs. Invariant: the programs in set are valid, and the program in progress may start them.
type generator struct {
	choose func(n int) int
	set    Set
	// left is the number of statements that the current program may still get. texts is the number of texts generated
	// so far.
	left, texts int
	// versions lists the current program's versions. An empty string means the default version.
	versions []string
}

// generatedOps lists the statements that the generator can choose, with their weights, simplest first. Blocks are
// chosen only while there is room.
var generatedOps = []struct {
	op     Op
	weight int
}{
	{OpCall, 20},
	{OpSay, 2},
	{OpTimer, 6},
	{OpInput, 2},
	{OpWait, 6},
	{OpJoin, 10},
	{OpSelect, 10},
	{OpTry, 6},
	{OpSeq, 4},
	{OpRepeat, 3},
	{OpChild, 8},
	{OpDetach, 2},
	{OpDrop, 3},
	{OpCallFails, 4},
	{OpFail, 1},
	{OpPanic, 1},
	{OpDequeue, 6},
	{OpSet, 8},
	{OpGet, 6},
	{OpKeys, 2},
	{OpClear, 2},
	{OpClearAll, 1},
	{OpPrune, 1},
	{OpSetMany, 1},
	{OpRemote, 2},
	{OpStatus, 4},
	{OpStatusGet, 3},
	{OpStatusReset, 1},
	{OpGUID, 1},
	{OpNow, 1},
}

func (g *generator) body() []Node {
	var out []Node
	for range 1 + g.choose(5) {
		out = append(out, g.node(0))
	}
	if g.rarely(4) {
		n := Node{Op: OpAgain, Count: 1 + g.choose(3)}
		if g.rarely(4) {
			n.Version = g.version(g.versions)
		}
		out = append(out, n)
		if g.rarely(2) {
			out = append(out, g.node(2))
		}
	}
	return out
}

// deepest is the maximum depth at which the generator creates blocks.
const deepest = 3

func (g *generator) node(depth int) Node {
	g.left--
	n := Node{Op: g.op()}
	info, _ := lookup(n.Op)
	if info.block && (depth >= deepest || g.left < 2) {
		n.Op = OpCall
	}
	if (n.Op == OpChild || n.Op == OpDetach) && len(g.set) == 0 {
		n.Op = OpCall
	}
	g.fill(&n, depth)
	return n
}

// fill chooses the arguments of statement n.
func (g *generator) fill(n *Node, depth int) {
	switch n.Op {
	case OpSay, OpCallFails, OpFail, OpPanic:
		n.Text = g.text()
	case OpCall:
		n.Text = g.text()
		g.placed(n)
	case OpTimer:
		n.Delay = []time.Duration{0, 100, 300, 1000, 3000}[g.choose(5)] * time.Millisecond
	case OpWait:
		n.Name = g.among(eventNames)
		if g.rarely(3) {
			n.Text = g.among(topics)
		}
	case OpDequeue:
		n.Name = g.among(queueNames)
	case OpSet, OpGet, OpClear, OpRemote:
		n.Name = g.among(keyNames)
		if n.Op == OpSet {
			n.Text, n.Size = g.value(), g.size(keySizes)
		}
	case OpStatus:
		n.Text, n.Size = g.value(), g.size(statusSizes)
	case OpSetMany:
		n.Size = manySizes[g.choose(len(manySizes))]
	case OpChild, OpDetach:
		g.started(n)
	case OpJoin, OpSelect:
		n.Kids = g.list(2+g.choose(2), depth)
	case OpRepeat:
		n.Count = 2 + g.choose(2)
		n.Kids = g.list(1+g.choose(2), depth)
	case OpSeq, OpDrop:
		n.Kids = g.list(1+g.choose(2), depth)
	case OpTry:
		n.Kids = g.list(1+g.choose(2), depth)
		n.Kids = append(n.Kids, Node{Op: OpCallFails, Text: g.text()})
		n.Else = g.list(1, depth)
	}
}

// rarely returns true once in every in calls on average, but never for the simplest choice.
func (g *generator) rarely(in int) bool { return g.choose(in) == in-1 }

func (g *generator) list(size, depth int) []Node {
	var out []Node
	for range size {
		out = append(out, g.node(depth+1))
	}
	return out
}

func (g *generator) op() Op {
	sum := 0
	for _, o := range generatedOps {
		sum += o.weight
	}
	at := g.choose(sum)
	for _, o := range generatedOps {
		if at -= o.weight; at < 0 {
			return o.op
		}
	}
	return OpCall
}
