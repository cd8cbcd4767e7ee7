package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/durosim/durosim/sim/internal/mix"
)

// NamedChooser returns what makes the chooser of a name, a new one for each run. The same name and seed always give the
// same chooser. The names, with D from 1 to 8:
//
//	random       as Random
//	fifo         as FIFO
//	pct:D        as Random, but whoever acts has a speed, and at D moments one of them becomes slowest (see below)
//	delay:D      nothing happens by chance, but for D choices, drawn from the seed
//	enumerate:D  the same, with all sets of D choices in turn: the seed is the number of the set, from 1
//	reseed:N:S   as Random, but from draw N on with seed S; more pairs of N and S may follow, N ascending
//	portfolio    the chooser that PortfolioMember names
//
// pct is probabilistic concurrency testing for a simulation in virtual time. Two events are rarely due at the same moment
// there, so that an order of priority among them would decide little: what decides is how long things take. The first
// segment of a key says who acts, a node for instance. Each actor draws its durations from one quarter of their range, by
// a rank that follows from the seed. At D moments the actor that is asking is demoted: from then on it takes the longest in
// everything, and is last where events are due at the same time.
//
// delay and enumerate leave everything at its benign value, but for D of the choices made by weight: a fault then happens,
// or a duration is of another class. The amount that is asked for next is drawn (delay) or the largest (enumerate).
// enumerate lists the sets in the order of their last choice: among the first M such choices of a run there are
// "M choose D" sets, and those come first.
func NamedChooser(name string) (func(seed uint64) Chooser, error) {
	kind, rest, numbered := strings.Cut(name, ":")
	if kind == "reseed" && numbered {
		return parseReseed(name, rest)
	}
	d, err := uint64(0), error(nil)
	if numbered {
		if d, err = strconv.ParseUint(rest, 10, 8); err != nil || d < 1 || d > 8 {
			return nil, fmt.Errorf("chooser %q: expected %s:N, N from 1 to 8", name, kind)
		}
	}
	switch {
	case kind == "random" && !numbered:
		return Random, nil
	case kind == "fifo" && !numbered:
		return FIFO, nil
	case kind == "pct" && numbered:
		return func(seed uint64) Chooser { return newPCT(seed, int(d)) }, nil
	case kind == "delay" && numbered:
		return func(seed uint64) Chooser { return newDelays(seed, int(d)) }, nil
	case kind == "enumerate" && numbered:
		return func(seed uint64) Chooser { return newEnumerated(seed, int(d)) }, nil
	case kind == "portfolio" && !numbered:
		return func(seed uint64) Chooser {
			member, err := NamedChooser(PortfolioMember(seed))
			if err != nil {
				panic(err) // a wrong entry of portfolio
			}
			return member(seed)
		}, nil
	}
	return nil, fmt.Errorf("chooser %q: expected random, fifo, pct:D, delay:D, enumerate:D, reseed:N:SEED or portfolio, where D is a number such as 3", name)
}

// portfolio are the choosers that take turns, by seed.
var portfolio = []string{"random", "pct:1", "delay:2", "random", "pct:3", "delay:4"}

// Portfolio returns the choosers of which a portfolio consists, each once.
func Portfolio() []string {
	names := slices.Clone(portfolio)
	slices.Sort(names)
	return slices.Compact(names)
}

// PortfolioMember returns the name of the chooser that a portfolio uses for a seed.
func PortfolioMember(seed uint64) string { return portfolio[seed%uint64(len(portfolio))] }

// moments returns d different places in the order of questions, ascending. How long a run will be is not known when it
// begins, so short runs and long ones are equally likely: a place is below 2^e for an e from 6 to 16, drawn first.
func moments(r *random, d int) []uint64 {
	at := make([]uint64, 0, d)
	for i := uint64(0); len(at) < d; i++ {
		raw := mix.Bits(r.draw + mix.Bits(r.salt+i))
		place := scale(mix.Bits(raw), 1<<(6+scale(raw, 11)))
		if !slices.Contains(at, place) {
			at = append(at, place)
		}
	}
	slices.Sort(at)
	return at
}

// pct is the chooser of that name.
type pct struct {
	random
	asked   uint64
	at      []uint64            // when somebody is demoted, ascending
	demoted map[uint64]struct{} // by actor
}

func newPCT(seed uint64, d int) *pct {
	p := &pct{random: *newRandom(seed), demoted: map[uint64]struct{}{}}
	p.at = moments(&p.random, d)
	return p
}

// speeds is the number of ranks.
const speeds = 4

// ask counts a question, demotes its actor if it is time, and reports whether the actor is demoted.
func (p *pct) ask(k Key) bool {
	if len(p.at) > 0 && p.asked >= p.at[0] {
		p.at = p.at[1:]
		p.demoted[k.actor] = struct{}{}
	}
	p.asked++
	_, last := p.demoted[k.actor]
	return last
}

func (p *pct) Choose(k Key, n uint64) uint64 {
	mustN(k, n)
	if p.ask(k) {
		return n - 1
	}
	rank := scale(mix.Bits(mix.Bits(k.actor^p.salt)+p.order), speeds)
	least, below := n/speeds*rank, n/speeds*(rank+1)
	if rank == speeds-1 || below == 0 {
		below = n
	}
	return least + scale(p.raw(k), below-least)
}

func (p *pct) Weigh(k Key, odds Odds) uint64 {
	p.ask(k)
	return p.random.Weigh(k, odds)
}

func (p *pct) Priority(k Key) uint64 {
	if p.ask(k) {
		return ^uint64(0)
	}
	return p.random.Priority(k)
}

// deviations is the chooser that makes the benign choice but at some places: those of delay and enumerate.
type deviations struct {
	fifo
	asked uint64
	at    []uint64 // ascending
	// most has amounts be the largest; else they are drawn.
	most bool
	// deviated reports whether the last weighed choice was a deviation.
	deviated bool
}

func newDelays(seed uint64, d int) *deviations {
	c := &deviations{fifo: fifo{*newRandom(seed)}}
	c.at = moments(&c.random, d)
	return c
}

func newEnumerated(seed uint64, d int) *deviations {
	return &deviations{fifo: fifo{*newRandom(seed)}, at: combination(max(seed, 1)-1, d), most: true}
}

// combination returns the d numbers, ascending, that come at place n when all sets of d numbers are sorted by their
// largest, then by the next. This is the combinatorial number system.
func combination(n uint64, d int) []uint64 {
	at := make([]uint64, d)
	for i := d; i > 0; i-- {
		c := uint64(i - 1) // the least of which i can be chosen at all
		for step := uint64(1) << 62; step > 0; step >>= 1 {
			if c+step >= c && choose(c+step, i) <= n {
				c += step
			}
		}
		at[i-1] = c
		n -= choose(c, i)
	}
	return at
}

// choose returns how many sets of d there are among n numbers, or the largest number if there are more.
func choose(n uint64, d int) uint64 {
	sets := uint64(1)
	for i := range uint64(d) {
		if n < i+1 {
			return 0
		}
		f := n - i
		if sets > ^uint64(0)/f {
			return ^uint64(0)
		}
		sets = sets * f / (i + 1)
	}
	return sets
}

func (c *deviations) Choose(k Key, n uint64) uint64 {
	mustN(k, n)
	switch {
	case !c.deviated:
		return 0
	case c.most:
		return n - 1
	}
	return c.fifo.Choose(k, n)
}

func (c *deviations) Weigh(k Key, odds Odds) uint64 {
	c.deviated = false
	if odds.benign() {
		return 0
	}
	place := c.asked
	c.asked++
	if len(c.at) == 0 || place != c.at[0] {
		return 0
	}
	c.at, c.deviated = c.at[1:], true
	return odds.other(c.raw(k), c.most)
}

// other returns an outcome that is not 0: the last possible one, or one drawn. There must be one.
func (o Odds) other(raw uint64, last bool) uint64 {
	if o.weights == nil {
		return 1
	}
	rest := slices.Clone(o.weights)
	rest[0] = 0
	if last {
		for i := len(rest) - 1; ; i-- {
			if rest[i] > 0 {
				return uint64(i)
			}
		}
	}
	return Weights(rest).Outcome(raw)
}

// reseed is the chooser of that name.
type reseed struct {
	random
	drawn uint64
	now   random
	later []fork // ascending
}

// fork is a change of seeds, before the draw of that number, counted from 0.
type fork struct{ at, seed uint64 }

func parseReseed(name, text string) (func(seed uint64) Chooser, error) {
	wrong := fmt.Errorf("chooser %q: expected reseed: and pairs of the number of a draw and a seed, such as reseed:1200:7, the draws ascending", name)
	words := strings.Split(text, ":")
	if len(words)%2 != 0 {
		return nil, wrong
	}
	var forks []fork
	for i := 0; i < len(words); i += 2 {
		at, errAt := strconv.ParseUint(words[i], 10, 64)
		seed, errSeed := strconv.ParseUint(words[i+1], 10, 64)
		if errAt != nil || errSeed != nil || i > 0 && at <= forks[i/2-1].at {
			return nil, wrong
		}
		forks = append(forks, fork{at, seed})
	}
	return func(seed uint64) Chooser {
		r := newRandom(seed)
		return &reseed{random: *r, now: *r, later: forks}
	}, nil
}

// next counts a draw and changes the seed when it is time. The order of simultaneous events stays that of the first seed.
func (r *reseed) next() *random {
	for len(r.later) > 0 && r.drawn >= r.later[0].at {
		r.now = *newRandom(r.later[0].seed)
		r.later = r.later[1:]
	}
	r.drawn++
	return &r.now
}

// Choose implements Chooser.
func (r *reseed) Choose(k Key, n uint64) uint64 { return r.next().Choose(k, n) }

// Weigh implements Chooser.
func (r *reseed) Weigh(k Key, odds Odds) uint64 { return r.next().Weigh(k, odds) }
