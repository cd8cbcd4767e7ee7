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
	return s.rebuilt(func(at int, n Node) []Node {
		if at == statement {
			change(&n)
		}
		return []Node{n}
	})
}

// rebuilt returns a copy of s in which each statement is replaced by what f makes of it, after those inside it.
func (s Set) rebuilt(f func(at int, n Node) []Node) Set {
	at := 0
	var each func(list []Node) []Node
	each = func(list []Node) (made []Node) {
		for _, n := range list {
			here := at
			at++
			n.Kids, n.Else = each(n.Kids), each(n.Else)
			made = append(made, f(here, n)...)
		}
		return made
	}
	out := s.Clone()
	for i := range out {
		out[i].Body = each(out[i].Body)
	}
	return out
}

// Without returns a copy of s without the statements whose drop element is true. It also omits the contents of these
// statements, and any blocks left empty. A try that loses its catch becomes a seq. The copy may be invalid.
func (s Set) Without(drop []bool) Set {
	return s.rebuilt(func(at int, n Node) []Node {
		if info, _ := lookup(n.Op); drop[at] || info.block && len(n.Kids) == 0 {
			return nil
		}
		if n.Op == OpTry && len(n.Else) == 0 {
			n.Op = OpSeq
		}
		return []Node{n}
	})
}

// Unblock returns a copy of s in which the block with that number is replaced by the statements inside it. It returns
// false if the statement is not a block.
func (s Set) Unblock(statement int) (out Set, found bool) {
	out = s.rebuilt(func(at int, n Node) []Node {
		if info, _ := lookup(n.Op); at == statement && info.block {
			found = true
			return n.Kids
		}
		return []Node{n}
	})
	return out, found
}
