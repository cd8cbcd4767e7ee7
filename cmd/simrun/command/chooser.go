package command

import (
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/campaign"
)

// The choosers that need special handling.
const (
	enumerated = "enumerate:"
	portfolio  = "portfolio"
)

// choose sets the chooser for the subject's runs. An empty name selects the default chooser.
func (s *subject) choose(name string) (err error) {
	if name != "" {
		s.chooser, err = sim.NamedChooser(name)
	}
	return err
}

// memberCount counts the results of one of a portfolio's choosers.
type memberCount struct {
	Chooser   string   `json:"chooser"`
	Seeds     uint64   `json:"seeds"`
	Failed    uint64   `json:"failed"`
	FirstSeed uint64   `json:"first_seed,omitempty"`
	Rules     []string `json:"found,omitempty"` // the rules that this chooser was the first to violate
}

// portfolioCounts counts results by chooser. Results must arrive in seed order.
type portfolioCounts struct {
	members []memberCount
	known   map[string]bool // the rules violated so far; never iterated over
}

func newPortfolioCounts() *portfolioCounts {
	c := &portfolioCounts{known: map[string]bool{}}
	for _, name := range sim.Portfolio() {
		c.members = append(c.members, memberCount{Chooser: name})
	}
	return c
}

func (c *portfolioCounts) add(r campaign.SeedResult) {
	name := sim.PortfolioMember(r.Seed)
	for i := range c.members {
		m := &c.members[i]
		if m.Chooser != name {
			continue
		}
		m.Seeds++
		if r.Result == nil || len(r.Result.Violations) == 0 {
			return
		}
		if m.Failed++; m.Failed == 1 {
			m.FirstSeed = r.Seed
		}
		for _, v := range r.Result.Violations {
			if !c.known[v.Rule()] {
				c.known[v.Rule()] = true
				m.Rules = append(m.Rules, ruleName(v))
			}
		}
	}
}

func (a *app) printPortfolio(members []memberCount) {
	if len(members) == 0 {
		return
	}
	a.printf("\nby chooser:\n")
	for _, m := range members {
		a.printf("  %-10s %s of %s failed", m.Chooser, grouped(m.Failed), plural(m.Seeds, "seed", "seeds"))
		if m.Failed > 0 {
			a.printf(", first seed %d", m.FirstSeed)
		}
		for i, rule := range m.Rules {
			sep := ", "
			if i == 0 {
				sep = "; found first: "
			}
			a.printf("%s%s", sep, rule)
		}
		a.printf("\n")
	}
}

// alsoOn returns a function that passes each result to first and then to then.
func alsoOn(first, then func(campaign.SeedResult)) func(campaign.SeedResult) {
	if first == nil {
		return then
	}
	return func(r campaign.SeedResult) {
		first(r)
		then(r)
	}
}
