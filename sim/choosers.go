package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// NamedChooser returns a function that makes a new chooser with the given name for each run. The same name and seed
// always give the same chooser. The names are as follows, with D from 1 to 8:
//
//	random       as Random
//	fifo         as FIFO
//	pct:D        as Random, but each actor has a speed, and at D moments one actor becomes the slowest (see below)
//	delay:D      every choice is benign except for D choices, drawn from the seed
//	enumerate:D  the same, with all sets of D choices in turn: the seed is the number of the set, from 1
//	reseed:N:S   as Random, but from draw N on with seed S; more pairs of N and S may follow, N ascending
//	portfolio    the chooser that PortfolioMember names
//
// pct is probabilistic concurrency testing, adapted to simulation in virtual time. Two events are rarely due at the
// same virtual time, so priorities among them would have little effect, and pct varies durations instead. The first
// segment of a key names the actor, such as a node. Each actor draws its durations from one quarter of their range,
// chosen by a rank that depends on the seed. At D moments, the actor that is asking is demoted: from then on, each of
// its durations is the longest possible, and it comes last among events due at the same time.
//
// delay and enumerate make every choice benign, except for D of the weighted choices, where a fault happens or a
// duration falls into another class. The amount requested next is drawn at random (delay) or is the largest
// (enumerate). enumerate orders the sets by their last choice, so the "M choose D" sets among a run's first M weighted
// choices come first.
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
				panic(err) // portfolio has an invalid entry
			}
			return member(seed)
		}, nil
	}
	return nil, fmt.Errorf("chooser %q: expected random, fifo, pct:D, delay:D, enumerate:D, reseed:N:SEED or portfolio, where D is a number such as 3", name)
}

// portfolio lists the choosers that successive seeds use in turn.
var portfolio = []string{"random", "pct:1", "delay:2", "random", "pct:3", "delay:4"}

// Portfolio returns the names of the choosers in the portfolio, without duplicates.
func Portfolio() []string {
	names := slices.Clone(portfolio)
	slices.Sort(names)
	return slices.Compact(names)
}

// PortfolioMember returns the name of the chooser that the portfolio uses for a seed.
func PortfolioMember(seed uint64) string { return portfolio[seed%uint64(len(portfolio))] }

// moments returns d distinct indexes of questions in ascending order. The length of a run is unknown when it begins, so
// short and long runs get equal weight: each index is below 2^e, where e is drawn first, from 6 to 16.
func moments(r *random, d int) []uint64 {
	at := make([]uint64, 0, d)
	for i := uint64(0); len(at) < d; i++ {
		raw := Mix(r.draw + Mix(r.salt+i))
		place := scale(Mix(raw), 1<<(6+scale(raw, 11)))
		if !slices.Contains(at, place) {
			at = append(at, place)
		}
	}
	slices.Sort(at)
	return at
}

// pct is the chooser that NamedChooser calls pct.
type pct struct {
	random
	asked   uint64
	at      []uint64            // questions at which the asking actor is demoted, sorted
	demoted map[uint64]struct{} // by actor
}

func newPCT(seed uint64, d int) *pct {
	p := &pct{random: *newRandom(seed), demoted: map[uint64]struct{}{}}
	p.at = moments(&p.random, d)
	return p
}

// speeds is the number of ranks.
const speeds = 4

// ask counts a question, demotes its actor if it is one of the chosen moments, and reports whether the actor is
// demoted.
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
	rank := scale(Mix(Mix(k.actor^p.salt)+p.order), speeds)
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

// deviations is the chooser behind delay and enumerate: its choices are benign except at certain questions.
type deviations struct {
	fifo
	asked uint64
	at    []uint64 // ascending
	// most selects the largest possible amounts; otherwise amounts are drawn.
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

// combination returns the n-th set of d numbers, in ascending order, when all sets of d numbers are sorted by their
// largest number, then by the next largest. This is the combinatorial number system.
func combination(n uint64, d int) []uint64 {
	at := make([]uint64, d)
	for i := d; i > 0; i-- {
		c := uint64(i - 1) // the smallest number from which i can be chosen
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

// choose returns the number of ways to choose d of n, capped at the largest uint64.
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

// other returns an outcome other than 0: the last possible one if last is set, otherwise a drawn one. At least one must
// be possible.
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

// reseed is the chooser that NamedChooser calls reseed.
type reseed struct {
	random
	drawn uint64
	now   random
	later []fork // ascending
}

// fork changes the seed before draw number at, counting from 0.
type fork struct{ at, seed uint64 }

func parseReseed(name, text string) (func(seed uint64) Chooser, error) {
	wrong := fmt.Errorf("chooser %q: expected reseed: and pairs of a draw's number and a seed, such as reseed:1200:7, with ascending draws", name)
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

// next counts a draw and switches to another seed at a fork. The order of simultaneous events always follows the first
// seed.
func (r *reseed) next() *random {
	for len(r.later) > 0 && r.drawn >= r.later[0].at {
		r.now = *newRandom(r.later[0].seed)
		r.later = r.later[1:]
	}
	r.drawn++
	return &r.now
}

func (r *reseed) Choose(k Key, n uint64) uint64 { return r.next().Choose(k, n) }

// Weigh implements Chooser.
func (r *reseed) Weigh(k Key, odds Odds) uint64 { return r.next().Weigh(k, odds) }
