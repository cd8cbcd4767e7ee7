package program

import (
	"strconv"
	"time"
)

// Generate draws a program of that name, preceded by those that it may start, whose names begin with its own. choose draws
// a number from 0 to n-1, where 0 is the simplest choice; it decides everything. The set is valid.
func Generate(name string, choose func(n int) int) Set {
	g := &generator{choose: choose}
	for i := range choose(3) {
		helper := Program{Name: name + "." + strconv.Itoa(i+1)}
		g.left = 6
		helper.Body = g.body()
		g.add(helper)
	}
	g.left = 14
	g.add(Program{Name: name, Body: g.body()})
	return g.set
}

// maxGenerated bounds how much an instance of a drawn program schedules, with everything that it starts.
const maxGenerated = 40

// add adds a program and makes it smaller if it would schedule too much: first it removes all repetition, then it replaces
// children and detached programs by calls. If the program waits too often, add replaces all its waits by timers.
func (g *generator) add(p Program) {
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
			if n.Op == OpWait {
				*n = Node{Op: OpTimer, Delay: time.Second}
			}
		})
	}
	g.set = append(g.set, p)
}

// generator draws programs. Invariant: the programs in set are valid; the program being drawn may start them.
type generator struct {
	choose func(n int) int
	set    Set
	// left is how many more statements the current program may have; texts is the number of texts so far.
	left, texts int
}

// generatedOps are the statements that can be drawn, by weight, the simplest first. Blocks are drawn while there is room.
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
}

func (g *generator) body() []Node {
	var out []Node
	for range 1 + g.choose(5) {
		out = append(out, g.node(0))
	}
	if g.choose(4) == 1 {
		out = append(out, Node{Op: OpAgain, Count: 1 + g.choose(3)})
		if g.choose(2) == 1 {
			out = append(out, g.node(2))
		}
	}
	return out
}

// deepest is the greatest depth at which blocks are drawn.
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
	switch n.Op {
	case OpSay, OpCall, OpCallFails, OpFail, OpPanic:
		n.Text = g.text()
	case OpTimer:
		n.Delay = []time.Duration{0, 100, 300, 1000, 3000}[g.choose(5)] * time.Millisecond
	case OpWait:
		n.Name = []string{"go", "stop"}[g.choose(2)]
		if g.choose(3) == 1 {
			n.Text = "topic"
		}
	case OpChild, OpDetach:
		n.Name = g.set[g.choose(len(g.set))].Name
		n.Text = g.text()
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
	return n
}

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

// text returns a text that no other statement has, so that a result that goes astray shows.
func (g *generator) text() string {
	g.texts++
	return "t" + strconv.Itoa(g.texts)
}
