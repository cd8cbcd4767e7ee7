package planedit

import (
	"slices"
	"time"

	"github.com/durosim/durosim/internal/faultkind"
	"github.com/durosim/durosim/sim/plan"
)

// Most bounds the edits of one input.
const Most = 32

// Horizon is the latest time that an edit puts into a plan. Only what is scheduled relative to a start may come later.
const Horizon = 20 * time.Second

// Space is what edits may put into a plan, and how large it may get.
type Space struct {
	// Known are the builds and orchestrations that a valid plan may name.
	Known plan.Known
	// Builds are those that nodes may be given; there must be one.
	Builds []string
	// Work are the instances to add, by their orchestration: times count from the start of the instance.
	Work []plan.Instance
	// Handlers are those that a node may forget, as "Name@1.0.0".
	Handlers []string
	Faults   []faultkind.Kind
	// NoPrograms adds no generated programs.
	NoPrograms bool
	// Nodes, Instances, Steps and Statements bound the plan; 0 is no bound. A plan that begins beyond a bound may shrink.
	Nodes, Instances, Steps, Statements int
}

// Apply applies edits to a copy of a plan. Three bytes are one edit: its kind, its place and its value. It leaves out an
// edit that would make no sense, so that every list of bytes gives a valid plan. The same plan, space and bytes always give
// the same plan.
func (s *Space) Apply(base *plan.Plan, data []byte) *plan.Plan {
	best := clone(base)
	for n := 0; n < Most && len(data) > 0; n++ {
		e := edit{space: s, place: at(data, 1), value: at(data, 2), n: n}
		kind := int(data[0]) % len(edits)
		data = data[min(3, len(data)):]
		next := clone(best)
		edits[kind].do(next, e)
		slices.SortStableFunc(next.Schedule, func(a, b plan.Step) int { return int(a.At - b.At) })
		if s.grows(best, next) || next.Validate(s.Known) != nil || !Reasonable(next, best) {
			continue
		}
		best = next
	}
	return best
}

// Kinds returns the names of the kinds of edits: the first byte of an edit is a place in this list.
func Kinds() []string {
	names := make([]string, len(edits))
	for i, e := range edits {
		names[i] = e.name
	}
	return names
}

// grows reports whether an edit takes the plan beyond a bound, or further beyond it.
func (s *Space) grows(was, now *plan.Plan) bool {
	beyond := func(bound, was, now int) bool { return bound > 0 && now > bound && now > was }
	return beyond(s.Nodes, len(was.Nodes), len(now.Nodes)) || beyond(s.Steps, len(was.Schedule), len(now.Schedule)) ||
		beyond(s.Instances, len(was.Instances)+len(was.Histories), len(now.Instances)+len(now.Histories)) ||
		beyond(s.Statements, was.Programs.Statements(), now.Programs.Statements())
}

func at(data []byte, i int) int {
	if i < len(data) {
		return int(data[i])
	}
	return 0
}

// clone shares nothing with p that an edit writes to.
func clone(p *plan.Plan) *plan.Plan {
	c := *p
	c.Nodes, c.Schedule, c.Histories, c.Probes = slices.Clone(p.Nodes), slices.Clone(p.Schedule), slices.Clone(p.Histories), slices.Clone(p.Probes)
	c.Instances, c.Programs, c.Faults.Rates = slices.Clone(p.Instances), p.Programs.Clone(), slices.Clone(p.Faults.Rates)
	for i := range c.Instances {
		c.Instances[i].Actions = slices.Clone(c.Instances[i].Actions)
	}
	return &c
}

// edit has the place and the value of an edit; n is its number, for names.
type edit struct {
	space           *Space
	place, value, n int
}

// time is a time within the plan.
func (e edit) time() time.Duration { return time.Duration(e.value) * Horizon / 256 }

// pick is the element of a list that the place means; there must be one.
func pick[T any](list []T, place int) *T { return &list[place%len(list)] }

// before inserts a zero element before all others and returns it.
func before[T any](list *[]T) *T {
	var zero T
	*list = slices.Insert(*list, 0, zero)
	return &(*list)[0]
}

func without[T any](list []T, place int) []T {
	if len(list) == 0 {
		return list
	}
	return slices.Delete(list, place%len(list), place%len(list)+1)
}
