package program

// Statements returns the number of statements in the programs, including those in blocks.
func (s Set) Statements() int {
	n := 0
	for i := range s {
		Walk(s[i].Body, func(*Node) { n++ })
	}
	return n
}

// Edit returns a copy after a call to change for one of its statements. Statements are numbered from 0 across all
// programs, in the order of Walk.
func (s Set) Edit(statement int, change func(n *Node)) Set {
	out, at := s.Clone(), 0
	for i := range out {
		Walk(out[i].Body, func(n *Node) {
			if at == statement {
				change(n)
			}
			at++
		})
	}
	return out
}

// Without returns a copy without the statements for which drop is true, their contents, and the blocks that become
// empty. A try that loses its catch becomes a seq. The copy need not be valid.
func (s Set) Without(drop []bool) Set {
	out, at := s.Clone(), 0
	var less func(list []Node, gone bool) []Node
	less = func(list []Node, gone bool) []Node {
		var kept []Node
		for _, n := range list {
			leave := gone || drop[at]
			at++
			info, _ := lookup(n.Op)
			n.Kids, n.Else = less(n.Kids, leave), less(n.Else, leave)
			if leave || info.block && len(n.Kids) == 0 {
				continue
			}
			if n.Op == OpTry && len(n.Else) == 0 {
				n.Op = OpSeq
			}
			kept = append(kept, n)
		}
		return kept
	}
	for i := range out {
		out[i].Body = less(out[i].Body, false)
	}
	return out
}

// Unblock returns a copy that replaces a block with its statements, and reports whether the statement is a block.
func (s Set) Unblock(statement int) (Set, bool) {
	at, found := 0, false
	var splice func(list []Node) []Node
	splice = func(list []Node) []Node {
		var out []Node
		for _, n := range list {
			here := at == statement
			at++
			n.Kids, n.Else = splice(n.Kids), splice(n.Else)
			if info, _ := lookup(n.Op); here && info.block {
				found = true
				out = append(out, n.Kids...)
				continue
			}
			out = append(out, n)
		}
		return out
	}
	out := s.Clone()
	for i := range out {
		out[i].Body = splice(out[i].Body)
	}
	return out, found
}
