package safety

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/program"
	"github.com/durosim/durosim/sim/record"
)

// This file implements the story lines about nodes and faults, and the events of turns that cancel and start other
// instances.

// tellNode turns a line about a node into a record. It reports whether the line is one of these:
//
//	pause A / resume A / crash A / stop A
//	fault A lost-renewal renew [MS]   a fault hits a call of A, for that time
//	run A order-1 1/2 [SESSION]       A runs the activity of that execution and event, in the slot of that number
//	finish A order-1 1/2 [SESSION]    A has run it
//	lost A 2 / kept A 2               A gives up the activity in slot 2, since its lock is lost, or decides something else
func (s *story) tellNode(f []string) bool {
	kind, ok := map[string]record.Kind{
		"pause": record.NodePaused, "crash": record.NodeCrashed, "stop": record.NodeStopped,
		"fault": record.Fault, "run": record.ActivityStarted, "finish": record.ActivityFinished, "resume": record.NodeResumed, "lost": record.Note, "kept": record.Note,
	}[f[0]]
	if !ok {
		return false
	}
	c := s.caller(f[1])
	r := cluster.Record{Kind: kind, Node: c.Node, Incarnation: c.Incarnation, AtMs: s.w.Now}
	switch f[0] {
	case "fault":
		r.Fault, r.CallKind = faults.Kind(f[2]), callKinds[f[3]]
		if len(f) > 4 {
			r.For = time.Duration(s.number(f[4])) * time.Millisecond
		}
	case "lost", "kept":
		r.Note = &machine.Note{Slot: machine.Slot{Index: int(s.number(f[2]))}, Decision: machine.DecideWorkLost}
		if f[0] == "kept" {
			r.Note.Decision = machine.DecideTurn
		}
	case "run", "finish":
		r.Activity = &machine.RunActivity{Item: s.item(f[2], "ActivityExecute", f[3], 0).(engine.ActivityExecuteItem)}
		r.Slot.Index = int(r.Activity.Item.ID)
		if len(f) > 4 {
			r.Activity.Item.SessionID = f[4]
		}
	}
	s.m.Record(&r)
	return true
}

// storyPlan returns a story's plan, which it reads from the lines that start with "plan".
//
//	plan Order: call a, wait go, again 2     instances of Order run that program
//	plan raise order-1 go yes                a client sends order-1 the event go with the data yes
//	plan cancel order-1                      a client cancels it
//	plan start order-1                       a client starts it and does no more
func storyPlan(t testing.TB, text string) *plan.Plan {
	t.Helper()
	p := &plan.Plan{}
	instance := func(id string) *plan.Instance {
		for i := range p.Instances {
			if p.Instances[i].ID == id {
				return &p.Instances[i]
			}
		}
		p.Instances = append(p.Instances, plan.Instance{ID: id, Orchestration: "Order"})
		return &p.Instances[len(p.Instances)-1]
	}
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "plan ")
		if !ok {
			continue
		}
		if text, ok := strings.CutPrefix(rest, "probe "); ok { // NAME BUILD
			name, build, _ := strings.Cut(text, " ")
			p.Probes = append(p.Probes, plan.Probe{Name: name, Build: build})
			continue
		}
		if name, ok := strings.CutPrefix(rest, "strategy "); ok {
			p.Strategy = plan.Strategy(name)
			continue
		}
		if name, statements, ok := strings.Cut(rest, ": "); ok {
			parser := program.NewParser(name, "")
			for s := range strings.SplitSeq(statements, ", ") {
				if _, err := parser.Line(strings.Fields(s)); err != nil {
					t.Fatalf("story line %q: %v", line, err)
				}
			}
			p.Programs = append(p.Programs, parser.Program())
			continue
		}
		f := strings.Fields(rest)
		if slices.Contains([]string{"contract", "released", "counting", "carries", "like"}, f[0]) { // see storyBuilds
			continue
		}
		a := plan.Action{Verb: plan.ActionVerb(f[0])}
		if a.Verb == plan.ActionRaise {
			a.Name, a.Data = f[2], f[3]
		}
		if a.Verb == plan.ActionCancel {
			a.Data = f[2]
		}
		in := instance(f[1])
		if f[0] == "start" {
			continue
		}
		in.Actions = append(in.Actions, a)
	}
	if err := p.Programs.Validate(); err != nil {
		t.Fatal(err)
	}
	return p
}
