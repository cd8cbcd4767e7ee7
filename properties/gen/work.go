package gen

import (
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/program"
	"github.com/durosim/durosim/sim/workload"
)

// Workload draws up to six instances of orchestrations, up to three of programs, a few histories, and occasionally a
// probe. It draws at least one instance.
func (s Space) Workload() *rapid.Generator[Workload] {
	return rapid.Custom(func(t *rapid.T) Workload {
		var w Workload
		least := 0
		if s.NoPrograms {
			least = 1
		}
		for i := range number(t, least, 6, "instances") {
			w.Instances = append(w.Instances, s.instance(i).Draw(t, "instance"))
		}
		if !s.NoPrograms {
			least = 0
			if len(w.Instances) == 0 {
				least = 1
			}
			for i := range number(t, least, 3, "programs") {
				s.programInstance(t, &w, numbered("program", i))
			}
		}
		if s.Work == nil {
			for i := range number(t, 0, 2, "histories") {
				w.Histories = append(w.Histories, s.history(i).Draw(t, "history"))
			}
		}
		if rarely(t, 3, "probe") {
			w.Probes = append(w.Probes, s.probe().Draw(t, "probe"))
		}
		return w
	})
}

func (s Space) work() []plan.Instance {
	if s.Work != nil {
		return s.Work
	}
	return workload.ShippedWork()
}

// instance draws an instance from Work: when it starts, by how much its actions shift, and whether it is cancelled.
func (s Space) instance(i int) *rapid.Generator[plan.Instance] {
	return rapid.Custom(func(t *rapid.T) plan.Instance {
		var in plan.Instance = rapid.SampledFrom(s.work()).Draw(t, "work")
		in.ID = numbered(in.ID, i)
		eternal := in.Expect == plan.EndEternal
		in.Expect = plan.EndAny // in a random plan, work may be lost
		in.StartAt += upTo(horizon).Draw(t, "start")
		in.Actions = slices.Clone(in.Actions)
		for j := range in.Actions {
			in.Actions[j].At = in.StartAt + upTo(in.Actions[j].At*2).Draw(t, "at")
		}
		if eternal || rarely(t, 8, "cancelled") {
			in.Actions = append(in.Actions, plan.Action{At: in.StartAt + upTo(6*time.Second).Draw(t, "cancel"), Verb: plan.ActionCancel, Data: "enough"})
		}
		return in
	})
}

// programInstance adds an instance of a drawn program, together with the events that it waits for.
func (s Space) programInstance(t *rapid.T, w *Workload, name string) {
	var set plan.Programs = s.program(name).Draw(t, "program")
	w.Programs = append(w.Programs, set...)
	in := plan.Instance{ID: name, Orchestration: name, StartAt: upTo(horizon).Draw(t, "start"), Expect: plan.EndAny}
	send := func(verb plan.ActionVerb, name string, times int) {
		for i := range times {
			in.Actions = append(in.Actions, plan.Action{
				At: in.StartAt + upTo(6*time.Second).Draw(t, "at"), Verb: verb, Name: name, Data: numbered(name, i),
			})
		}
	}
	for _, event := range set[len(set)-1].Waits() {
		send(plan.ActionRaise, event, number(t, 0, 2, "raises"))
	}
	for _, queue := range set[len(set)-1].Queues() {
		send(plan.ActionEnqueue, queue, number(t, 0, 3, "messages"))
	}
	for i := range in.Actions {
		if rarely(t, 6, "early") {
			in.Actions[i].At = in.StartAt // either before or after the start message
		}
	}
	if rarely(t, 8, "cancelled") {
		cancels(t, &in)
	}
	w.Instances = append(w.Instances, in)
}

// cancels adds up to three simultaneous cancellations of an instance, each with its own reason. They happen when the
// instance starts, when a client sends it another message, or later.
func cancels(t *rapid.T, in *plan.Instance) {
	times := []time.Duration{in.StartAt + upTo(6*time.Second).Draw(t, "cancel"), in.StartAt}
	for _, a := range in.Actions {
		times = append(times, a.At)
	}
	var at time.Duration = rapid.SampledFrom(times).Draw(t, "when")
	for i := range number(t, 1, 3, "cancels") {
		in.Actions = append(in.Actions, plan.Action{At: at, Verb: plan.ActionCancel, Data: numbered("enough", i)})
	}
}

// withdrawn draws steps that remove a version of a program from a node, and that usually restore it afterwards.
func withdrawn(t *rapid.T, p *plan.Plan) {
	if len(p.Programs) == 0 || !rarely(t, 4, "withdrawn") {
		return
	}
	var taken program.Program = rapid.SampledFrom(p.Programs).Draw(t, "program")
	step := plan.Step{At: upTo(horizon).Draw(t, "at"), Verb: plan.VerbDeregister, Handler: taken.Name + "@" + taken.At()}
	for i := range p.Nodes {
		if i > 0 && rapid.Bool().Draw(t, "elsewhere") {
			continue
		}
		step.Node = p.Nodes[i].Name
		p.Schedule = append(p.Schedule, step)
		if !rarely(t, 4, "for good") {
			p.Schedule = append(p.Schedule, plan.Step{At: step.At + 5*time.Second, Verb: plan.VerbRegister, Node: step.Node, Handler: step.Handler})
		}
	}
}

func (s Space) history(i int) *rapid.Generator[plan.History] {
	return rapid.Custom(func(t *rapid.T) plan.History {
		h := plan.History{Instance: numbered("old", i), KickAt: upTo(horizon).Draw(t, "kick")}
		h.Shape = rapid.SampledFrom([]plan.Shape{
			plan.ShapeWaiting, plan.ShapeWaiting, plan.ShapeLegacy, plan.ShapeNewKind, plan.ShapeUnknownKind, plan.ShapeCorrupt,
		}).Draw(t, "shape")
		pins := []engine.Version{
			engine.V(2, 0, 0), engine.V(3, 0, 0), engine.V(10, 0, 0), engine.V(1, 5, 0), engine.V(1, 6, 0), engine.V(0, 8, 0), engine.V(1, 1500, 0),
		}
		newKind := h.Shape == plan.ShapeNewKind
		if newKind { // no build has ever written that kind under an older pin or with no pin (S23)
			pins = pins[:3]
		}
		if newKind || !rarely(t, 6, "unpinned") {
			pin := rapid.SampledFrom(pins).Draw(t, "pin")
			h.Pin = &pin
		}
		return h
	})
}

func (s Space) probe() *rapid.Generator[plan.Probe] {
	return rapid.Custom(func(t *rapid.T) plan.Probe {
		return plan.Probe{
			Name: "probe", Build: s.build().Draw(t, "build"),
			Filter:        rapid.SampledFrom([]string{"none", "any", ">=1.0.0, <=1.5.0", ">=0.0.0, <=1.0.0 | >=2.0.0, <=3.0.0"}).Draw(t, "filter"),
			IgnoreAttempt: rapid.Bool().Draw(t, "ignore"), From: upTo(horizon).Draw(t, "from"), Every: time.Second,
			Count: number(t, 1, 10, "count"),
		}
	})
}
