package properties

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/program"
	"github.com/durosim/durosim/internal/shrink"
	"github.com/durosim/durosim/properties/gen"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/workload"
)

// maxEdits bounds the edits of one input.
const maxEdits = 32

// editPlan applies edits to a copy of a plan: of each three bytes the first says what is done, the second where, the third
// with which value. An edit that would make no sense is left out, so that every list of bytes gives a valid plan.
func editPlan(base *plan.Plan, edits []byte) *plan.Plan {
	best := copyPlan(base)
	known := workload.Known()
	for n := 0; n < maxEdits && len(edits) > 0; n++ {
		e := planEdit{place: at(edits, 1), value: at(edits, 2), n: n}
		kind := int(edits[0]) % len(planEdits)
		edits = edits[min(3, len(edits)):]
		next := copyPlan(best)
		planEdits[kind].do(next, e)
		slices.SortStableFunc(next.Schedule, func(a, b plan.Step) int { return int(a.At - b.At) })
		if next.Validate(known) == nil && shrink.Reasonable(next, best) {
			best = next
		}
	}
	return best
}

func at(data []byte, i int) int {
	if i < len(data) {
		return int(data[i])
	}
	return 0
}

// copyPlan shares nothing with p that an edit writes to.
func copyPlan(p *plan.Plan) *plan.Plan {
	c := *p
	c.Nodes, c.Schedule, c.Histories, c.Probes = slices.Clone(p.Nodes), slices.Clone(p.Schedule), slices.Clone(p.Histories), slices.Clone(p.Probes)
	c.Instances, c.Programs, c.Faults.Rates = slices.Clone(p.Instances), p.Programs.Clone(), slices.Clone(p.Faults.Rates)
	for i := range c.Instances {
		c.Instances[i].Actions = slices.Clone(c.Instances[i].Actions)
	}
	return &c
}

// planEdit is where and with what: n is the number of the edit, for names.
type planEdit struct{ place, value, n int }

// time is a time within the plan.
func (e planEdit) time() time.Duration { return time.Duration(e.value) * gen.Horizon / 256 }

// pick is the element of a list that the place means; there must be one.
func pick[T any](list []T, place int) *T { return &list[place%len(list)] }

func without[T any](list []T, place int) []T {
	if len(list) == 0 {
		return list
	}
	return slices.Delete(list, place%len(list), place%len(list)+1)
}

var planEdits = []struct {
	name string
	do   func(p *plan.Plan, e planEdit)
}{
	{"add a fault", func(p *plan.Plan, e planEdit) {
		kinds := faults.Kinds()
		den := []uint64{200, 100, 50, 20, 10, 5}[e.value%6]
		kind := pick(kinds, e.place).Kind
		if kind == faults.Unavailable || kind == faults.CorruptEvent || kind == faults.CorruptMessage {
			den *= 10
		}
		p.Faults.Rates = slices.Insert(p.Faults.Rates, 0, faults.Rate{Kind: kind, Num: 1, Den: den})
	}},
	{"leave a fault out", func(p *plan.Plan, e planEdit) { p.Faults.Rates = without(p.Faults.Rates, e.place) }},
	{"move a step", func(p *plan.Plan, e planEdit) {
		if len(p.Schedule) > 0 {
			pick(p.Schedule, e.place).At = e.time()
		}
	}},
	{"leave a step out", func(p *plan.Plan, e planEdit) { p.Schedule = without(p.Schedule, e.place) }},
	{"stop a node", func(p *plan.Plan, e planEdit) {
		node := pick(p.Nodes, e.place).Name
		verb := []plan.Verb{plan.VerbCrash, plan.VerbStop}[e.value%2]
		p.Schedule = append(p.Schedule, plan.Step{At: e.time(), Verb: verb, Node: node},
			plan.Step{At: e.time() + time.Duration(e.place)*30*time.Millisecond, Verb: plan.VerbStart, Node: node})
	}},
	{"freeze a node", func(p *plan.Plan, e planEdit) {
		p.Schedule = append(p.Schedule, plan.Step{At: e.time(), Verb: plan.VerbPause, Node: pick(p.Nodes, e.place).Name, For: time.Duration(1+e.place/8) * 500 * time.Millisecond})
	}},
	{"upgrade a node", func(p *plan.Plan, e planEdit) {
		p.Schedule = append(p.Schedule, plan.Step{At: e.time(), Verb: plan.VerbUpgrade, Node: pick(p.Nodes, e.place).Name, Build: (*pick(fuzzBuilds(), e.place/4)).Name()})
	}},
	{"narrow a node", func(p *plan.Plan, e planEdit) {
		r := &engine.VersionRange{Min: engine.V(uint32(e.place/4%3), 0, 0), Max: engine.V(uint32(1+e.place/16%3), 5, 0)}
		p.Schedule = append(p.Schedule, plan.Step{At: e.time(), Verb: plan.VerbNarrow, Node: pick(p.Nodes, e.place).Name, Range: r})
	}},
	{"build of a node", func(p *plan.Plan, e planEdit) {
		pick(p.Nodes, e.place).Build = (*pick(fuzzBuilds(), e.value)).Name()
	}},
	{"options of a node", func(p *plan.Plan, e planEdit) {
		n := pick(p.Nodes, e.place)
		n.Options = gen.Space{}.NodeOptions().Example(e.value)
	}},
	{"one more node", func(p *plan.Plan, e planEdit) {
		n := *pick(p.Nodes, e.place)
		n.Name = "node-" + strconv.Itoa(e.n)
		n.Build = (*pick(fuzzBuilds(), e.value)).Name()
		p.Nodes = append(p.Nodes, n)
	}},
	{"one more instance", func(p *plan.Plan, e planEdit) {
		in := *pick(gen.ShippedWork(), e.place)
		in.ID, in.StartAt = fmt.Sprintf("%s-fuzz-%d", in.ID, e.n), e.time()
		in.Actions = slices.Clone(in.Actions)
		for i := range in.Actions {
			in.Actions[i].At += in.StartAt
		}
		p.Instances = append(p.Instances, in)
	}},
	{"one instance less", func(p *plan.Plan, e planEdit) { p.Instances = without(p.Instances, e.place) }},
	{"start of an instance", func(p *plan.Plan, e planEdit) {
		if len(p.Instances) > 0 {
			in := pick(p.Instances, e.place)
			for i := range in.Actions {
				in.Actions[i].At += e.time() - in.StartAt
			}
			in.StartAt = e.time()
		}
	}},
	{"cancel an instance", func(p *plan.Plan, e planEdit) {
		if len(p.Instances) > 0 {
			in := pick(p.Instances, e.place)
			if in.Expect != plan.EndEternal {
				in.Expect = plan.EndAny
			}
			in.Actions = append(in.Actions, plan.Action{At: in.StartAt + e.time(), Verb: plan.ActionCancel, Data: "fuzz"})
		}
	}},
	{"raise an event", func(p *plan.Plan, e planEdit) {
		if len(p.Instances) > 0 {
			in := pick(p.Instances, e.place)
			name := []string{"approval", "go", "stop"}[e.value%3]
			in.Actions = append(in.Actions, plan.Action{At: in.StartAt + e.time(), Verb: plan.ActionRaise, Name: name, Data: "fuzz"})
		}
	}},
	{"one more program", func(p *plan.Plan, e planEdit) {
		state, name := uint64(e.place)<<8|uint64(e.value), "fuzz-"+strconv.Itoa(e.n)
		p.Programs = append(p.Programs, program.Generate(name, func(n int) int {
			state = state*6364136223846793005 + 1442695040888963407
			return int(state >> 33 % uint64(n))
		})...)
		p.Instances = append(p.Instances, plan.Instance{ID: name, Orchestration: name, StartAt: e.time(), Expect: plan.EndAny})
	}},
	{"leave a statement out", func(p *plan.Plan, e planEdit) {
		if n := p.Programs.Statements(); n > 0 {
			drop := make([]bool, n)
			drop[e.place%n] = true
			p.Programs = p.Programs.Without(drop)
		}
	}},
	{"change a statement", func(p *plan.Plan, e planEdit) {
		if n := p.Programs.Statements(); n > 0 {
			p.Programs = p.Programs.Edit(e.place%n, func(s *program.Node) {
				swap := map[program.Op]program.Op{program.OpJoin: program.OpSelect, program.OpSelect: program.OpJoin, program.OpCall: program.OpCallFails, program.OpCallFails: program.OpCall}
				if op, ok := swap[s.Op]; ok {
					s.Op = op
				}
				if s.Delay > 0 {
					s.Delay = time.Duration(e.value) * 20 * time.Millisecond
				}
				if s.Count > 0 {
					s.Count = 1 + e.value%3
				}
			})
		}
	}},
	{"one more history", func(p *plan.Plan, e planEdit) {
		shapes := []plan.Shape{plan.ShapeWaiting, plan.ShapeLegacy, plan.ShapeUnknownKind, plan.ShapeCorrupt}
		pin := *pick([]engine.Version{engine.V(1, 5, 0), engine.V(2, 0, 0), engine.V(0, 8, 0), engine.V(3, 0, 0), engine.V(10, 0, 0)}, e.place/4)
		p.Histories = append(p.Histories, plan.History{Instance: "old-fuzz-" + strconv.Itoa(e.n), Shape: *pick(shapes, e.place), Pin: &pin, KickAt: e.time()})
	}},
	{"one more probe", func(p *plan.Plan, e planEdit) {
		filters := []string{"none", "any", ">=1.0.0, <=1.5.0", ">=0.0.0, <=1.0.0 | >=2.0.0, <=3.0.0"}
		p.Probes = append(p.Probes, plan.Probe{
			Name: "probe-fuzz-" + strconv.Itoa(e.n), Build: (*pick(fuzzBuilds(), e.place/4)).Name(), Filter: *pick(filters, e.place),
			IgnoreAttempt: e.value%2 == 1, From: e.time(), Every: time.Second, Count: 5,
		})
	}},
	{"forget a handler", func(p *plan.Plan, e planEdit) {
		o := *pick(workload.Orchestrations(), e.value)
		p.Schedule = append(p.Schedule, plan.Step{At: e.time(), Verb: plan.VerbDeregister, Node: pick(p.Nodes, e.place).Name, Handler: o.Name + "@" + o.Version.String()})
	}},
}
