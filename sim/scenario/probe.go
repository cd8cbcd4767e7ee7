package scenario

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/sim/plan"
)

// probeEvery is the default time between two acts of a probe.
const probeEvery = time.Second

// probe parses a probe: NAME reads BUILD, its target, and then its clauses in any order.
func (p *parser) probe() {
	var b plan.Probe
	b.Name = p.name("a probe's name")
	p.unique("probe", b.Name)
	p.keyword("reads")
	b.Build = p.build()
	switch p.keyword("filter", "work", "sends", "sweeps", "looks") {
	case "filter":
		b.Filter = p.probeFilter()
	case "work":
		b.Work = true
	case "sends":
		b.Send = plan.Send(p.oneOf("message of a probe", texts(plan.Sends())))
		b.Instance = p.name("an instance")
	case "sweeps":
		b.Sweep = plan.Sweep(p.oneOf("sweep of a probe", texts(plan.Sweeps())))
	case "looks":
		b.Look = true
	}
	b.Every, b.Count = probeEvery, 1
	for seen := map[string]bool{}; p.more(); {
		p.probeClause(&b, p.clause(seen, "does", "to", "holds", "locks", "delays", "from", "every", "times", "ignore-attempt"))
	}
	switch repins := slices.Contains(b.Does, plan.ActRepin); {
	case p.err != nil:
	case b.Work && slices.ContainsFunc(b.Does, plan.Act.ForTurns):
		p.failf("probe %s fetches activities: repin, behind and contradict are only for turns", b.Name)
	case b.Sweep != "" && len(b.Does)+len(b.Holds) > 0:
		p.failf("probe %s sweeps: expected no \"does\" or \"holds\", since it holds nothing", b.Name)
	case b.Look && len(b.Does)+len(b.Holds) > 0:
		p.failf("probe %s looks: expected no \"does\" or \"holds\", since it holds nothing", b.Name)
	case b.Send != "" && len(b.Does)+len(b.Holds) > 0:
		p.failf("probe %s sends: expected no \"does\" or \"holds\", since it holds nothing", b.Name)
	case repins && b.Pin == nil:
		p.failf("probe %s does repin: expected \"to\" and a version", b.Name)
	case !repins && b.Pin != nil:
		p.failf("probe %s: \"to %s\" is only for \"does repin\"", b.Name, b.Pin)
	}
	p.s.Template.Probes = append(p.s.Template.Probes, b)
	p.probeLines = append(p.probeLines, p.line)
}

func (p *parser) probeClause(b *plan.Probe, clause string) {
	switch clause {
	case "does":
		b.Does = alternatives[plan.Act](p, "act", texts(plan.Acts()))
	case "to":
		v := p.version()
		b.Pin = &v
	case "holds":
		b.Holds = alternatives[plan.Hold](p, "class of times", texts(plan.Holds()))
	case "locks":
		b.Lock = p.duration("a duration")
		if p.err == nil && b.Lock < plan.LockLeast {
			p.failf("locks %v: expected at least %v", b.Lock, plan.LockLeast)
		}
	case "delays":
		b.Delay = p.duration("a duration")
	case "from":
		lo, hi := p.span("a time")
		b.From = lo
		p.draw(openTime{Of: openProbe, Index: len(p.s.Template.Probes), Lo: lo, Hi: hi})
	case "every":
		b.Every = p.duration("a duration")
		if p.err == nil && b.Every < time.Millisecond {
			p.failf("every %v: expected at least 1ms", b.Every)
		}
	case "times":
		b.Count = int(p.number("a number of fetches", 0, maxTimes))
	case "ignore-attempt":
		b.IgnoreAttempt = true
	}
}

func (p *parser) probeFilter() string {
	filter := p.name("a filter: none, any, or ranges separated by |")
	if filter != "none" && filter != "any" {
		for _, r := range strings.Split(filter, "|") {
			if _, err := engine.ParseRange(r); err != nil && p.err == nil {
				p.failf("filter %s: %v; expected none, any, or ranges separated by |", strconv.Quote(filter), err)
			}
		}
	}
	return filter
}

// alternatives parses known words separated by "|".
func alternatives[T ~string](p *parser, what string, known []string) (list []T) {
	for word := range strings.SplitSeq(p.name(orList(known)), "|") {
		if p.err == nil && !slices.Contains(known, word) {
			p.failf("unknown %s %q: expected one or more of %s, separated by |%s", what, word, orList(known), pretty.Hint(word, known))
		}
		list = append(list, T(word))
	}
	return list
}

// finishProbes checks the names in probes against the whole plan.
func (p *parser) finishProbes() {
	var ids []string
	for i := range p.s.Template.Instances {
		ids = append(ids, p.s.Template.Instances[i].ID)
	}
	for i, b := range p.s.Template.Probes {
		p.line = p.probeLines[i]
		if b.Send == plan.SendStart {
			p.known("instance", b.Instance, ids)
		}
	}
}

func formatProbe(b *bytes.Buffer, p *plan.Probe, from string) {
	fmt.Fprintf(b, "probe %s reads %s", quote(p.Name), quote(p.Build))
	switch {
	case p.Work:
		b.WriteString(" work")
	case p.Look:
		b.WriteString(" looks")
	case p.Sweep != "":
		fmt.Fprintf(b, " sweeps %s", p.Sweep)
	case p.Send != "":
		fmt.Fprintf(b, " sends %s %s", p.Send, quote(p.Instance))
	default:
		b.WriteString(" filter " + quote(p.Filter))
	}
	if len(p.Does) > 0 {
		b.WriteString(" does " + strings.Join(texts(p.Does), "|"))
	}
	if p.Pin != nil {
		fmt.Fprintf(b, " to %s", p.Pin)
	}
	if len(p.Holds) > 0 {
		b.WriteString(" holds " + strings.Join(texts(p.Holds), "|"))
	}
	if p.Lock != 0 {
		fmt.Fprintf(b, " locks %v", p.Lock)
	}
	if p.Delay != 0 {
		fmt.Fprintf(b, " delays %v", p.Delay)
	}
	if from != "0s" {
		b.WriteString(" from " + from)
	}
	if p.Every != probeEvery {
		fmt.Fprintf(b, " every %v", p.Every)
	}
	if p.Count != 1 {
		fmt.Fprintf(b, " times %d", p.Count)
	}
	if p.IgnoreAttempt {
		b.WriteString(" ignore-attempt")
	}
	b.WriteByte('\n')
}

// texts converts values of a named string type to strings.
func texts[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = string(x)
	}
	return out
}
