package shrink

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/plan"
)

// kind is one kind of part that can be removed from a concrete plan.
type kind struct {
	name string
	// path leads from the plan to the part's field, and through the elements of each list on the way.
	path []int
	// whole means that the part is the field's whole value. Otherwise its parts are the elements of the field's list.
	whole bool
}

// statements is the kind of part that programs consist of: a statement, along with what is inside it.
const statements = "Plan.Programs.Body"

// before lists the kinds whose removal removes the most other parts.
var before = []string{"Plan.Instances", "Plan.Histories", "Plan.Probes", "Plan.Nodes", "Plan.Schedule", "Plan.Faults.Rates", "Expect"}

// planKinds and choiceKinds are what a concrete plan consists of, in the order in which it is tried, and the chooser's
// decisions. They are found by walking the types: a new field of a plan is among them. They never change.
var planKinds, choiceKinds = func() (parts, choices []kind) {
	for _, k := range kindsOf(reflect.TypeFor[Concrete](), "", nil) {
		if strings.HasPrefix(k.name, "Choices.") {
			choices = append(choices, k)
		} else {
			parts = append(parts, k)
		}
	}
	rank := func(k kind) int {
		if i := slices.Index(before, k.name); i >= 0 {
			return i
		}
		return len(before)
	}
	slices.SortStableFunc(parts, func(a, b kind) int { return cmp.Compare(rank(a), rank(b)) })
	return parts, choices
}()

func kindsOf(t reflect.Type, name string, path []int) (kinds []kind) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("shrink")
		k := kind{strings.TrimPrefix(name+"."+f.Name, "."), append(slices.Clip(path), i), tag == "drop"}
		of := f.Type
		if of.Kind() == reflect.Pointer && len(path) == 0 {
			of = of.Elem()
		}
		if !f.IsExported() {
			continue
		}
		if k.whole {
			kinds = append(kinds, k)
		}
		switch of.Kind() {
		case reflect.Slice:
			if elements := k; tag != "keep" || k.name == statements {
				elements.whole = false
				kinds = append(kinds, elements)
			}
			if of.Elem().Kind() == reflect.Struct && tag != "keep" {
				kinds = append(kinds, kindsOf(of.Elem(), k.name, k.path)...)
			}
		case reflect.Struct:
			kinds = append(kinds, kindsOf(of, k.name, k.path)...)
		}
	}
	return kinds
}

// fields returns a kind's fields in a concrete plan, in order.
func (k *kind) fields(c *Concrete) []reflect.Value {
	at := []reflect.Value{reflect.ValueOf(c).Elem()}
	for _, i := range k.path {
		var next []reflect.Value
		for _, v := range at {
			switch v.Kind() {
			case reflect.Slice:
				for j := range v.Len() {
					next = append(next, v.Index(j).Field(i))
				}
			case reflect.Pointer:
				next = append(next, v.Elem().Field(i))
			default:
				next = append(next, v.Field(i))
			}
		}
		at = next
	}
	return at
}

// count returns how many parts of the kind there are.
func (k *kind) count(c Concrete) int {
	if k.name == statements {
		return c.Plan.Programs.Statements()
	}
	n := 0
	for _, f := range k.fields(&c) {
		n += parts(f, k.whole)
	}
	return n
}

func parts(f reflect.Value, whole bool) int {
	switch {
	case !whole:
		return f.Len()
	case f.IsZero():
		return 0
	}
	return 1
}

// without returns a copy without the parts from from to to, and without what makes no sense without them.
func (k *kind) without(was Concrete, from, to int) Concrete {
	c := was.clone()
	if k.name == statements {
		drop := make([]bool, k.count(c))
		for i := from; i < to; i++ {
			drop[i] = true
		}
		c.Plan.Programs = c.Plan.Programs.Without(drop)
		return c
	}
	at := 0
	for _, f := range k.fields(&c) {
		n := parts(f, k.whole)
		lo, hi := max(from-at, 0), min(to-at, n)
		switch at += n; {
		case lo >= hi:
		case k.whole:
			f.SetZero()
		default: // empty, not nil: a node with a nil list of handlers has all of its build's handlers
			f.Set(reflect.AppendSlice(f.Slice3(0, lo, lo), f.Slice(hi, n)))
		}
	}
	repair(c.Plan, was.Plan)
	return c
}

// repair removes the steps and faults of nodes that are gone, makes what named a build that is gone name the build that
// it was declared like, and makes probes pin to a version only if they repin.
func repair(p, was *plan.Plan) {
	gone := func(node string) bool {
		named := func(n plan.Node) bool { return n.Name == node }
		return slices.ContainsFunc(was.Nodes, named) && !slices.ContainsFunc(p.Nodes, named)
	}
	p.Schedule = slices.DeleteFunc(p.Schedule, func(s plan.Step) bool { return gone(s.Node) })
	trim(p, was)
	p.Faults.Rates = slices.DeleteFunc(p.Faults.Rates, func(r faults.Rate) bool { return gone(r.Node) })
	became := map[string]string{} // never iterated over, so map order does not matter
	now := func(name *string) {
		if to, gone := became[*name]; gone {
			*name = to
		}
	}
	for i := range was.Builds {
		b := was.Builds[i]
		if now(&b.Like); p.Declared(b.Name) == nil {
			became[b.Name] = b.Like
		}
	}
	for i := range p.Builds {
		now(&p.Builds[i].Like)
	}
	for i := range p.Nodes {
		now(&p.Nodes[i].Build)
	}
	for i := range p.Schedule {
		now(&p.Schedule[i].Build)
	}
	for i := range p.Probes {
		b := &p.Probes[i]
		if now(&b.Build); !slices.Contains(b.Does, plan.ActRepin) {
			b.Pin = nil
		}
	}
	for i, id := range p.Bugs {
		if bug, whose := id.On(); whose != "" {
			now(&whose)
			p.Bugs[i] = faults.BugID(string(bug) + "@" + whose)
		}
	}
}

// trim takes the instances of p's Contents that are gone from the plan, and the messages for them, out of the store.
func trim(p, was *plan.Plan) {
	if p.Contents == nil || len(p.Instances) == len(was.Instances) {
		return
	}
	left := map[string]bool{} // never iterated over, so map order does not matter
	for i := range p.Instances {
		left[p.Instances[i].ID] = true
	}
	p.Contents = &plan.Contents{
		Instances:  slices.DeleteFunc(slices.Clone(p.Contents.Instances), func(in memprovider.PreloadedInstance) bool { return !left[in.Instance] }),
		Messages:   slices.DeleteFunc(slices.Clone(p.Contents.Messages), func(m plan.Message) bool { return !left[m.Item.Target()] }),
		Incomplete: p.Contents.Incomplete,
	}
}

// clone returns a copy that shares nothing that a search changes.
func (c Concrete) clone() Concrete {
	r := *c.Choices
	r.Choices, r.Priorities = slices.Clone(r.Choices), slices.Clone(r.Priorities)
	return Concrete{Plan: c.Plan.Clone(), Choices: &r, Expect: slices.Clone(c.Expect)}
}

func edit(c Concrete, change func(p *plan.Plan)) Concrete {
	c.Plan = c.Plan.Clone()
	change(c.Plan)
	return c
}

// onlyFaults returns a recording with only the choices about faults, in the order of arrival.
func onlyFaults(r *sim.Recording) *sim.Recording {
	notFault := func(c sim.RecordedChoice) bool { return !isFault(c.Key) }
	return &sim.Recording{Choices: slices.DeleteFunc(slices.Clone(r.Choices), notFault)}
}
