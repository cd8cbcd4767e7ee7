package program

import (
	"slices"
	"strings"
)

// can reports whether statement n can produce a text, as opposed to always failing or panicking.
func (i *interpreter) can(n *Node) bool {
	each := func(list []Node) bool { return !slices.ContainsFunc(list, func(kid Node) bool { return !i.can(&kid) }) }
	switch n.Op {
	case OpFail, OpPanic, OpCallFails:
		return false
	case OpChild:
		child, versions := i.child(n)
		return slices.ContainsFunc(versions, func(p *Program) bool { return child.canComplete(p, 0) })
	case OpSeq, OpRepeat:
		return each(n.Kids)
	case OpSelect:
		return slices.ContainsFunc(n.Kids, func(kid Node) bool { return i.can(&kid) })
	case OpJoin:
		return !slices.ContainsFunc(n.Kids, func(kid Node) bool { return !i.can(&kid) && !i.canFail([]Node{kid}) })
	case OpTry:
		return each(n.Kids) || i.canFail(n.Kids) && each(n.Else)
	}
	return true
}

// canComplete reports whether an execution of p that follows so many others may complete, or one that it continues as.
func (i *interpreter) canComplete(p *Program, executions int) bool {
	for j := range p.Body {
		n := &p.Body[j]
		if n.Op == OpAgain && executions < n.Count {
			return slices.ContainsFunc(i.set.Versions(i.name, n.Version), func(next *Program) bool { return i.canComplete(next, executions+1) })
		}
		if !i.can(n) {
			return false
		}
	}
	return true
}

// reaches reports whether something may happen in one of the statements in list, none of which follows one that cannot
// produce a text.
func (i *interpreter) reaches(list []Node, happens func(n *Node) bool) bool {
	for j := range list {
		if happens(&list[j]) {
			return true
		}
		if !i.can(&list[j]) {
			return false
		}
	}
	return false
}

// canFail reports whether one of the statements in list may fail. A panic does not count as a failure.
func (i *interpreter) canFail(list []Node) bool { return i.reaches(list, i.mayFail) }

// mayFail reports whether statement n may fail, with any text. A child that panics counts as failed for its parent.
func (i *interpreter) mayFail(n *Node) bool {
	switch n.Op {
	case OpFail, OpCallFails:
		return true
	case OpCall, OpRemote, OpGUID, OpNow:
		return i.c.ActivityPanic != ""
	case OpChild:
		child, _ := i.child(n)
		return n.ID != "" || slices.ContainsFunc(i.set.Versions(n.Name, ""), child.endsBadly)
	case OpSeq, OpRepeat:
		return i.canFail(n.Kids)
	case OpSelect:
		return slices.ContainsFunc(n.Kids, func(kid Node) bool { return i.mayFail(&kid) })
	case OpTry:
		return i.canFail(n.Kids) && i.canFail(n.Else)
	}
	return false
}

// endsBadly reports whether an instance of p may fail or panic, with any text.
func (i *interpreter) endsBadly(p *Program) bool {
	ends := false
	Walk(p.Body, func(kid *Node) { ends = ends || kid.Op == OpPanic || len(i.limits(kid)) > 0 })
	return ends || i.canFail(p.Body)
}

// child returns an interpreter for the program that n starts, and the versions of that program that may run first.
func (i *interpreter) child(n *Node) (*interpreter, []*Program) {
	c := i.c
	c.Input, c.Events, c.Messages = n.Text, nil, nil
	return &interpreter{set: i.set, c: c, name: n.Name, effort: i.effort}, i.set.Versions(n.Name, n.Version)
}

// isRefused reports whether s may begin with the failure of a child whose id another statement or instance uses, too.
// The runtime refuses such a child as a duplicate. If the code drops one of the two, the runtime may also cancel the child.
func (i *interpreter) isRefused(n *Node, s string, k then) bool {
	if n.ID == "" {
		return false
	}
	reused := i.reuses(n.ID)
	if reused && literal(droppedText, s, k) {
		return true
	}
	rest, ok := strings.CutPrefix(s, refusedText)
	ends := []string{""}
	if !ok {
		if rest, ok = strings.CutPrefix(s, releasedRefusedText); !ok {
			return false
		}
		ends = releasedRefusedEnds
	}
	for _, end := range ends {
		for at := 0; reused && at < len(rest); at++ {
			if literal("/"+n.ID+end, rest[at:], k) {
				return true
			}
		}
		for _, id := range i.c.Taken {
			if strings.HasSuffix(id, "/"+n.ID) && literal(id+end, rest, k) {
				return true
			}
		}
	}
	return false
}

// reuses reports whether the program may start two children with the same id.
func (i *interpreter) reuses(id string) bool {
	times := 0
	for _, p := range i.set.Versions(i.name, "") {
		each := 1
		Walk(p.Body, func(n *Node) {
			if n.Op == OpAgain || n.Op == OpRepeat {
				each = 2
			}
		})
		Walk(p.Body, func(n *Node) {
			if n.ID == id {
				times += each
			}
		})
	}
	return times > 1
}
