package shrink

import (
	"slices"
	"strconv"
	"time"

	"github.com/durosim/durosim/sim/plan"
)

// value is a number in a concrete plan that can be made simpler. Zero is the simplest value.
type value struct {
	get func(c Concrete) int64
	set func(c Concrete, v int64) Concrete
	// units lists the units to which the value can be rounded down, the largest first.
	units []int64
	// least is the simplest value that makes sense.
	least int64
}

// simplerValues simplifies every number that it can, and reports whether it changed anything.
func (s *search) simplerValues() (changed bool) {
	for _, v := range values(s.best) {
		changed = s.simplerValue(v) || changed
	}
	return changed
}

func (s *search) simplerValue(v value) bool {
	now := v.get(s.best)
	last := now
	for _, to := range v.simpler(now) {
		if to >= now || to < v.least || to == last {
			continue
		}
		last = to
		if s.try(v.set(s.best, to)) {
			return true
		}
	}
	return false
}

// simpler returns the values to try instead of the current one, the simplest first.
func (v value) simpler(now int64) []int64 {
	out := []int64{v.least}
	for _, u := range v.units {
		if now%u == 0 && now != v.least { // already a multiple: try a smaller one
			out = append(out, now/u/2*u)
			return out
		}
		out = append(out, now/u*u)
	}
	return out
}

var (
	timeUnits = []int64{
		int64(time.Minute), int64(10 * time.Second), int64(time.Second), int64(100 * time.Millisecond), int64(10 * time.Millisecond), int64(time.Millisecond),
	}
	countUnits = []int64{100_000, 10_000, 1000, 100, 10, 1}
)

// values returns all numbers in a concrete plan: the times of steps, starts, actions, kicks and probes, numeric inputs,
// and choices that have more than two values.
func values(c Concrete) []value {
	var out []value
	duration := func(field func(p *plan.Plan) *time.Duration, least time.Duration) {
		out = append(out, value{
			get:   func(c Concrete) int64 { return int64(*field(c.Plan)) },
			set:   func(c Concrete, v int64) Concrete { return setDuration(c, field, time.Duration(v)) },
			units: timeUnits, least: int64(least),
		})
	}
	duration(func(p *plan.Plan) *time.Duration { return &p.Turbulence }, 0)
	for i := range c.Plan.Schedule {
		duration(func(p *plan.Plan) *time.Duration { return &p.Schedule[i].At }, 0)
		if c.Plan.Schedule[i].For > 0 {
			duration(func(p *plan.Plan) *time.Duration { return &p.Schedule[i].For }, time.Millisecond)
		}
	}
	for i := range c.Plan.Instances {
		duration(func(p *plan.Plan) *time.Duration { return &p.Instances[i].StartAt }, 0)
		for j := range c.Plan.Instances[i].Actions {
			duration(func(p *plan.Plan) *time.Duration { return &p.Instances[i].Actions[j].At }, 0)
		}
		if n, err := strconv.ParseInt(c.Plan.Instances[i].Input, 10, 64); err == nil && n > 0 {
			out = append(out, input(i))
		}
	}
	for i := range c.Plan.Histories {
		duration(func(p *plan.Plan) *time.Duration { return &p.Histories[i].KickAt }, 0)
	}
	for i := range c.Plan.Probes {
		duration(func(p *plan.Plan) *time.Duration { return &p.Probes[i].From }, 0)
		duration(probeDelay(i), 0)
		out = append(out, probeCount(i))
	}
	out = append(out, programValues(c.Plan.Programs)...)
	for i := range c.Choices.Choices {
		if c.Choices.Choices[i].N > 2 {
			out = append(out, choice(i))
		}
	}
	return out
}

// setDuration sets a duration in a copy of the plan.
func setDuration(c Concrete, field func(p *plan.Plan) *time.Duration, d time.Duration) Concrete {
	return edit(c, func(p *plan.Plan) {
		p.Schedule = slices.Clone(p.Schedule)
		p.Histories = slices.Clone(p.Histories)
		p.Probes = slices.Clone(p.Probes)
		p.Instances = slices.Clone(p.Instances)
		for i := range p.Instances {
			p.Instances[i].Actions = slices.Clone(p.Instances[i].Actions)
		}
		*field(p) = d
	})
}

// input accesses an instance's input if that is an integer.
func input(i int) value {
	return value{
		get: func(c Concrete) int64 {
			n, _ := strconv.ParseInt(c.Plan.Instances[i].Input, 10, 64) // 0, which is the simplest value, if it is not a number
			return n
		},
		set: func(c Concrete, v int64) Concrete {
			return edit(c, func(p *plan.Plan) {
				p.Instances = slices.Clone(p.Instances)
				p.Instances[i].Input = strconv.FormatInt(v, 10)
			})
		},
		units: countUnits, least: 1,
	}
}

func probeCount(i int) value {
	return value{
		get: func(c Concrete) int64 { return int64(c.Plan.Probes[i].Count) },
		set: func(c Concrete, v int64) Concrete {
			return edit(c, func(p *plan.Plan) {
				p.Probes = slices.Clone(p.Probes)
				p.Probes[i].Count = int(v)
			})
		},
		units: countUnits, least: 1,
	}
}

// choice accesses a recorded choice that has many values. It leaves zero, which means no choice, to the passes that
// remove choices.
func choice(i int) value {
	return value{
		get: func(c Concrete) int64 { return int64(c.Choices.Choices[i].Value) },
		set: func(c Concrete, v int64) Concrete {
			r := *c.Choices
			r.Choices = slices.Clone(r.Choices)
			r.Choices[i].Value = uint64(v)
			c.Choices = &r
			return c
		},
		units: countUnits, least: 1,
	}
}
