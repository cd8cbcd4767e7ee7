package plan

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/sim/program"
)

type editKind struct {
	name string
	do   func(p *Plan, e edit)
}

func ofInstance(name string, do func(in *Instance, e edit)) editKind {
	return editKind{name, func(p *Plan, e edit) {
		if len(p.Instances) > 0 {
			do(pick(p.Instances, e.place), e)
		}
	}}
}

// mayEndAnyhow is for an instance that an edit may end, unless it was to run until it is cancelled.
func (in *Instance) mayEndAnyhow() {
	if in.Expect != EndEternal {
		in.Expect = EndAny
	}
}

// edits lists all kinds of edits. Stored fuzzing inputs depend on their order.
var edits = []editKind{
	{"add a fault", func(p *Plan, e edit) {
		den := []uint64{200, 100, 50, 20, 10, 5}[e.value%6]
		if len(e.space.Faults) == 0 {
			return
		}
		kind := *pick(e.space.Faults, e.place)
		if kind.Rare() {
			den *= 10
		}
		rate := before(&p.Faults.Rates)
		rate.Kind, rate.Num, rate.Den = kind, 1, den
	}},
	{"remove a fault", func(p *Plan, e edit) { p.Faults.Rates = without(p.Faults.Rates, e.place) }},
	{"move a step", func(p *Plan, e edit) {
		if len(p.Schedule) > 0 {
			pick(p.Schedule, e.place).At = e.time()
		}
	}},
	{"remove a step", func(p *Plan, e edit) { p.Schedule = without(p.Schedule, e.place) }},
	{"stop a node", func(p *Plan, e edit) {
		node := pick(p.Nodes, e.place).Name
		verb := []Verb{VerbCrash, VerbStop}[e.value%2]
		p.Schedule = append(p.Schedule, Step{At: e.time(), Verb: verb, Node: node},
			Step{At: e.time() + time.Duration(e.place)*30*time.Millisecond, Verb: VerbStart, Node: node})
	}},
	{"freeze a node", func(p *Plan, e edit) {
		p.Schedule = append(p.Schedule, Step{At: e.time(), Verb: VerbPause, Node: pick(p.Nodes, e.place).Name, For: time.Duration(1+e.place/8) * 500 * time.Millisecond})
	}},
	{"upgrade a node", func(p *Plan, e edit) {
		p.Schedule = append(p.Schedule, Step{At: e.time(), Verb: VerbUpgrade, Node: pick(p.Nodes, e.place).Name, Build: *pick(e.space.Builds, e.place/4)})
	}},
	{"narrow a node", func(p *Plan, e edit) {
		r := &engine.VersionRange{Min: engine.V(uint32(e.place/4%3), 0, 0), Max: engine.V(uint32(1+e.place/16%3), 5, 0)}
		if most := e.space.mostAdmitted(p); most != nil && r.Max.Compare(*most) > 0 {
			r.Max = *most
		}
		p.Schedule = append(p.Schedule, Step{At: e.time(), Verb: VerbNarrow, Node: pick(p.Nodes, e.place).Name, Range: r})
	}},
	{"change a node's build", func(p *Plan, e edit) {
		pick(p.Nodes, e.place).Build = *pick(e.space.Builds, e.value)
	}},
	{"change a node's options", func(p *Plan, e edit) {
		n := pick(p.Nodes, e.place)
		n.Options = options(e.value)
		if e.space.mostAdmitted(p) != nil {
			n.Options = slices.DeleteFunc(n.Options, func(o Setting) bool { return o.Name == "supported_replay_versions" })
		}
	}},
	{"add a node", func(p *Plan, e edit) {
		n := *pick(p.Nodes, e.place)
		n.Name = "node-" + strconv.Itoa(e.n)
		n.Build = *pick(e.space.Builds, e.value)
		p.Nodes = append(p.Nodes, n)
	}},
	{"add an instance", func(p *Plan, e edit) {
		if len(e.space.Work) == 0 {
			return
		}
		in := *pick(e.space.Work, e.place)
		in.ID, in.StartAt = fmt.Sprintf("%s-fuzz-%d", in.ID, e.n), e.time()
		in.Actions = slices.Clone(in.Actions)
		for i := range in.Actions {
			in.Actions[i].At += in.StartAt
		}
		p.Instances = append(p.Instances, in)
	}},
	{"remove an instance", func(p *Plan, e edit) { p.Instances = without(p.Instances, e.place) }},
	ofInstance("change an instance's start", func(in *Instance, e edit) {
		for i := range in.Actions {
			in.Actions[i].At += e.time() - in.StartAt
		}
		in.StartAt = e.time()
	}),
	ofInstance("cancel an instance", func(in *Instance, e edit) {
		in.mayEndAnyhow()
		in.Actions = append(in.Actions, Action{At: in.StartAt + e.time(), Verb: ActionCancel, Data: "fuzz"})
	}),
	ofInstance("raise an event", func(in *Instance, e edit) {
		name := []string{"approval", "go", "stop"}[e.value%3]
		in.Actions = append(in.Actions, Action{At: in.StartAt + e.time(), Verb: ActionRaise, Name: name, Data: "fuzz"})
	}),
	{"add a program", func(p *Plan, e edit) {
		if e.space.NoPrograms {
			return
		}
		state, name := uint64(e.place)<<8|uint64(e.value), "fuzz-"+strconv.Itoa(e.n)
		p.Programs = append(p.Programs, program.Generate(name, func(n int) int {
			state = state*6364136223846793005 + 1442695040888963407
			return int(state >> 33 % uint64(n))
		})...)
		p.Instances = append(p.Instances, Instance{ID: name, Orchestration: name, StartAt: e.time(), Expect: EndAny})
	}},
	{"remove a statement", func(p *Plan, e edit) {
		if n := p.Programs.Statements(); n > 0 {
			drop := make([]bool, n)
			drop[e.place%n] = true
			p.Programs = p.Programs.Without(drop)
		}
	}},
	{"change a statement", func(p *Plan, e edit) {
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
	{"add a history", func(p *Plan, e edit) {
		shapes := []Shape{ShapeWaiting, ShapeLegacy, ShapeUnknownKind, ShapeCorrupt}
		pin := *pick([]engine.Version{engine.V(1, 5, 0), engine.V(2, 0, 0), engine.V(0, 8, 0), engine.V(3, 0, 0), engine.V(10, 0, 0)}, e.place/4)
		if most := e.space.mostAdmitted(p); most != nil {
			pin = *most // rescue would start a build of another pin, and that replays by other semantics
		}
		p.Histories = append(p.Histories, History{Instance: "old-fuzz-" + strconv.Itoa(e.n), Shape: *pick(shapes, e.place), Pin: &pin, KickAt: e.time()})
	}},
	{"add a probe", func(p *Plan, e edit) {
		filters := []string{"none", "any", ">=1.0.0, <=1.5.0", ">=0.0.0, <=1.0.0 | >=2.0.0, <=3.0.0"}
		n := e.n
		for slices.ContainsFunc(p.Probes, func(b Probe) bool { return b.Name == "probe-fuzz-"+strconv.Itoa(n) }) {
			n += MaxEdits // an edit of an earlier hunt, from whose corpus the plan is
		}
		p.Probes = append(p.Probes, Probe{
			Name: "probe-fuzz-" + strconv.Itoa(n), Build: *pick(e.space.Builds, e.place/4), Filter: *pick(filters, e.place),
			IgnoreAttempt: e.value%2 == 1, From: e.time(), Every: time.Second, Count: 5,
		})
	}},
	{"remove a handler", func(p *Plan, e edit) {
		if len(e.space.Handlers) > 0 {
			p.Schedule = append(p.Schedule, Step{At: e.time(), Verb: VerbDeregister, Node: pick(p.Nodes, e.place).Name, Handler: *pick(e.space.Handlers, e.value)})
		}
	}},
	ofInstance("delete an instance", func(in *Instance, e edit) {
		in.mayEndAnyhow()
		in.Actions = append(in.Actions, Action{At: in.StartAt + e.time(), Verb: ActionDelete, Forced: e.value%2 == 1})
	}),
	ofInstance("prune an instance", func(in *Instance, e edit) {
		in.Actions = append(in.Actions, Action{At: in.StartAt + e.time(), Verb: ActionPrune})
	}),
	ofInstance("enqueue a message", func(in *Instance, e edit) {
		name := []string{"entries", "offers", "jobs"}[e.value%3]
		in.Actions = append(in.Actions, Action{At: in.StartAt + e.time(), Verb: ActionEnqueue, Name: name, Data: "fuzz"})
	}),
	{"limit a fault to a node", func(p *Plan, e edit) {
		if len(e.space.Faults) > 0 {
			node := pick(p.Nodes, e.value).Name
			rate := before(&p.Faults.Rates)
			rate.Kind, rate.Num, rate.Den = *pick(e.space.Faults, e.place), 1, 4
			rate.Node, rate.From, rate.To = node, e.time(), e.time()+3*time.Second
		}
	}},
}

// OptionValues is a row of values that random plans may give to node options. The options in a row are set together.
type OptionValues struct {
	Names  []string
	Values [][]string
}

// RandomOptions returns the rows of option values for random nodes.
func RandomOptions() []OptionValues { return slices.Clone(tuning) }

var tuning = []OptionValues{
	{[]string{"max_attempts"}, [][]string{{"2"}, {"3"}, {"5"}}},
	{[]string{"orchestration_concurrency"}, [][]string{{"1"}, {"4"}}},
	{[]string{"worker_concurrency"}, [][]string{{"1"}, {"4"}}},
	{[]string{"orchestrator_lock_timeout", "orchestrator_lock_renewal_buffer"}, [][]string{{"2s", "1s"}, {"3s", "500ms"}, {"10s", "2s"}}},
	{[]string{"worker_lock_timeout", "worker_lock_renewal_buffer"}, [][]string{{"2s", "500ms"}, {"5s", "1s"}}},
	{[]string{"dispatcher_min_poll_interval"}, [][]string{{"50ms"}, {"250ms"}}},
	{[]string{"unregistered_backoff_base", "unregistered_backoff_max"}, [][]string{{"500ms", "2s"}, {"2s", "10s"}}},
	{[]string{"supported_replay_versions"}, [][]string{{">=0.0.0, <=1.6.0"}, {">=1.0.0, <=99.0.0"}, {">=0.0.0, <=99.0.0"}}},
	{[]string{"activity_cancellation_grace_period"}, [][]string{{"0s"}, {"1s"}}},
}

// options returns the settings in one or two rows, selected by value.
func options(value int) (out []Setting) {
	rows := []int{value % len(tuning)}
	if second := value / len(tuning) % len(tuning); value >= 128 && second != rows[0] {
		rows = append(rows, second)
	}
	for _, i := range rows {
		row := tuning[i]
		values := row.Values[value/16%len(row.Values)]
		for j, name := range row.Names {
			out = append(out, Setting{Name: name, Value: values[j]})
		}
	}
	return out
}
