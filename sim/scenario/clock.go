package scenario

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/durosim/durosim/sim/plan"
)

// clock parses `OFFSET [drift PPM]`.
func (p *parser) clock(owner ownerKind) {
	if !p.below(owner, "a node", ownerNode) {
		return
	}
	var c plan.Clock
	text := p.name("an offset, such as +300ms")
	if p.err != nil {
		return
	}
	offset, err := time.ParseDuration(text)
	if err != nil {
		p.failf("clock %q: expected an offset such as +300ms or -1s", text)
		return
	}
	c.Offset = offset
	if p.more() {
		p.keyword("drift")
		text := p.name("a drift, such as 50ppm")
		n, err := strconv.ParseInt(strings.TrimSuffix(text, "ppm"), 10, 64)
		if p.err == nil && (err != nil || !strings.HasSuffix(text, "ppm")) {
			p.failf("drift %q: expected parts per million, such as 50ppm or -20ppm", text)
			return
		}
		c.DriftPPM = n
	}
	for i := p.first; i < len(p.s.Template.Nodes); i++ {
		n := &p.s.Template.Nodes[i]
		if n.Clock != (plan.Clock{}) {
			p.failf("the clock of node %s is given twice", n.Name)
			return
		}
		n.Clock = c
	}
}

// store parses `[clock own | callers] [serial DURATION] [plain]`.
func (p *parser) store() {
	p.single("store")
	if p.err == nil && !p.more() {
		p.failf("the line ends too early: expected a clause, as in: %s", p.form)
	}
	for seen := map[string]bool{}; p.more(); {
		switch p.clause(seen, "clock", "serial", "plain") {
		case "clock":
			p.s.Template.Store.CallersClock = p.keyword("own", "callers") == "callers"
		case "serial":
			if p.s.Template.Store.Serial = p.duration("a duration"); p.err == nil && p.s.Template.Store.Serial == 0 {
				p.failf("serial 0s: expected how long the store is busy with each fetch")
			}
		case "plain":
			p.s.Template.Store.Plain = true
		}
	}
}

func formatPatience(p plan.Patience) string {
	if p.Every == 0 {
		return fmt.Sprintf("patience %v", p.After)
	}
	return fmt.Sprintf("patience %v every %v", p.After, p.Every)
}

func formatStore(s plan.StoreOptions) string {
	text := "store"
	if s.CallersClock {
		text += " clock callers"
	}
	if s.Serial != 0 {
		text += " serial " + s.Serial.String()
	}
	if s.Plain {
		text += " plain"
	}
	return text
}
