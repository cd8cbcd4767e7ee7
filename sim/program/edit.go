package program

// Statements returns the number of statements in all programs, including those inside blocks.
func (s Set) Statements() int {
	n := 0
	for i := range s {
		Walk(s[i].Body, func(*Node) { n++ })
	}
	return n
}

// Edit returns a copy of s in which change has been applied to one statement. Statements are numbered from 0 across all
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

// Without returns a copy of s without the statements whose drop element is true. It also omits the contents of these
// statements, and any blocks left empty. A try that loses its catch becomes a seq. The copy may be invalid.
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

// Unblock returns a copy of s in which the block with that number is replaced by the statements inside it. It returns
// false if the statement is not a block.
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
