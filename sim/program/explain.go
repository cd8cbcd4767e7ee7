package program

import (
	"fmt"
	"slices"
	"strings"
)

// Explain returns a readable pattern for the output of the named program's completed instances. In the pattern, <a|b>
// stands for one of several texts, _ for any event data, $input for the input, $KEY for a key's value, and $status for
// the custom status. version is as in Allows: without it, the texts of several versions are alternatives. If the program
// cannot complete, Explain returns "nothing".
func (s Set) Explain(name, version string, c Circumstances) string {
	versions := s.Versions(name, version)
	if len(versions) == 0 {
		return "anything"
	}
	i := &interpreter{set: s, c: c, name: name}
	var texts []string
	for _, p := range versions {
		if text := i.explainBody(p); text != "nothing" && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	switch len(texts) {
	case 0:
		return "nothing"
	case 1:
		return texts[0]
	}
	return "<" + strings.Join(texts, "|") + ">"
}

func (i *interpreter) explainBody(p *Program) string {
	var once strings.Builder
	for j := range p.Body {
		n := &p.Body[j]
		if n.Op == OpAgain {
			return strings.Repeat(once.String(), n.Count+1) + i.explainList(p.Body[j+1:])
		}
		if !i.can(n) || i.tooLong(n) {
			return "nothing"
		}
		once.WriteString(i.explain(n) + ";")
	}
	return once.String()
}

func (i *interpreter) explainList(list []Node) string {
	var out strings.Builder
	for j := range list {
		if list[j].Op != OpAgain {
			out.WriteString(i.explain(&list[j]) + ";")
		}
	}
	return out.String()
}

func (i *interpreter) explain(n *Node) string {
	switch n.Op {
	case OpSay:
		return n.Text
	case OpInput:
		return "$input"
	case OpCall:
		return "call(" + n.Text + ")"
	case OpCallFails, OpFail, OpPanic:
		return "(fails)"
	case OpWait, OpDequeue:
		return "_"
	case OpGet, OpRemote:
		return "$" + n.Name
	case OpKeys:
		return "$keys"
	case OpPrune:
		return "$count"
	case OpStatusGet:
		return "$status"
	case OpGUID:
		return saidGUID
	case OpNow:
		return saidNow
	case OpChild:
		child, versions := i.child(n)
		return child.explainBody(versions[0])
	case OpSeq:
		return "{" + i.explainList(n.Kids) + "}"
	case OpRepeat:
		return "{" + strings.Repeat(i.explainList(n.Kids), n.Count) + "}"
	case OpJoin:
		out := "("
		for j := range n.Kids {
			if kid := &n.Kids[j]; kid.Op == OpCallFails {
				out += "!failed(" + kid.Text + ")|"
			} else {
				out += i.explain(kid) + "|"
			}
		}
		return out + ")"
	case OpSelect:
		var out []string
		for j := range n.Kids {
			out = append(out, fmt.Sprintf("%d:%s", j, i.explain(&n.Kids[j])))
		}
		return "<" + strings.Join(out, "|") + ">"
	case OpTry:
		return "<{" + i.explainList(n.Kids) + "}|~failure>{" + i.explainList(n.Else) + "}>"
	}
	return ""
}
