package fuzz

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/durosim/durosim/cmd/simrun/internal/upgrade"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/campaign"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// Scope says what Exhaust tries.
type Scope struct {
	// Plan is the plan to explore. The times of its steps and its faults are ignored.
	Plan *plan.Plan
	// Config returns a run's configuration, except for its plan and choices.
	Config func() cluster.Config
	// Crashes is the maximum number of crashes in a run. A crashed node restarts immediately.
	Crashes int
	// Within is the latest time at which an action may happen.
	Within time.Duration
	// Runs is the maximum number of runs; 0 means no limit.
	Runs    uint64
	Workers int
	Context context.Context
	// OnProgress, if not nil, is called periodically from the goroutine that called Exhaust.
	OnProgress func(r *Exploration)
}

// Exploration is the result of Exhaust.
type Exploration struct {
	// States counts the distinct pairs of a state and the actions remaining in it. Runs counts the runs.
	States uint64 `json:"states"`
	Runs   uint64 `json:"runs"`
	// Longest is the largest number of actions in any run.
	Longest int `json:"most_actions"`
	// Open counts the action sequences that were skipped because a run failed or the run limit was reached.
	Open int `json:"not_tried"`
	// Failed counts the runs that violated a property. Violation is the first violation in the last failing run, and
	// Plan is that run's plan.
	Failed    uint64            `json:"-"`
	Violation cluster.Violation `json:"-"`
	// Properties lists every property that a failing run violated, in order of discovery.
	Properties []string   `json:"-"`
	Plan       *plan.Plan `json:"-"`
}

// Limits on the size of a plan.
const (
	MaxNodes     = 3
	MaxInstances = 2
	MaxSteps     = 4
	MaxCrashes   = 2
)

// exhausted is the number of runs that are judged together. It affects only memory use and speed.
const exhausted = 64

// way is a sequence of actions. Each action happens at a later moment than the previous one.
type way struct {
	steps   []plan.Step // the actions, as schedule steps
	done    []int       // number of schedule steps taken so far, as in search.steps
	crashes int
}

// search is the state of an exploration.
type search struct {
	o     Scope
	r     Exploration
	steps [][]plan.Step // the schedule's steps, by node index; at the end those of no node
	queue []way
	seen  map[[sha256.Size]byte]struct{} // never iterated over
}

// Exhaust runs a small scenario exhaustively. It tries the schedule steps in every order and at every moment, and
// crashes every node at every moment. A moment is a time at which the store, a node, or a call in flight changes.
// Nothing is random: there are no faults, calls take the minimum time, and simultaneous events happen in the order in
// which they were scheduled. Only the placement of the actions (steps and crashes) among the moments varies.
//
// Two runs that reach the same state with the same actions remaining continue identically, so only the first is
// continued. Two states are the same if their stores, nodes and calls in flight are equal apart from times, tokens and
// row numbers. This is an abstraction: a failure that only occurs when the same state is reached at a different time is
// missed. Every run is checked against every property, right to its end.
//
// Exhaust returns an error if the plan cannot be tried so.
func Exhaust(o Scope) (*Exploration, error) {
	s := &search{o: o, seen: map[[sha256.Size]byte]struct{}{}}
	if err := s.prepare(); err != nil {
		return nil, err
	}
	s.queue = []way{{done: make([]int, len(s.steps))}}
	for len(s.queue) > 0 && s.o.Context.Err() == nil && s.r.Failed == 0 && (s.o.Runs == 0 || s.r.Runs < s.o.Runs) {
		if err := s.batch(); err != nil {
			return nil, err
		}
		if o.OnProgress != nil {
			o.OnProgress(&s.r)
		}
	}
	s.r.Open, s.r.States = len(s.queue), uint64(len(s.seen))
	return &s.r, nil
}

func (s *search) prepare() error {
	p := s.o.Plan
	if s.o.Context == nil {
		s.o.Context = context.Background()
	}
	counts := []struct {
		n, most int
		what    string
	}{
		{len(p.Nodes), MaxNodes, "nodes"}, {len(p.Instances) + len(p.Histories), MaxInstances, "instances and histories"},
		{s.o.Crashes, MaxCrashes, "crashes"}, {len(p.Schedule), MaxSteps, "schedule steps"},
	}
	for _, c := range counts {
		if c.n > c.most {
			return fmt.Errorf("%d %s: at most %d can be tried in every way", c.n, c.what, c.most)
		}
	}
	if len(p.Probes) > 0 || p.Contents != nil {
		return errors.New("probes or stored contents: what is explored has neither")
	}
	if len(p.Releases()) > 0 {
		return errors.New("a node runs a released runtime: what is explored runs models")
	}
	s.steps = make([][]plan.Step, len(p.Nodes)+1)
	for _, step := range p.Schedule {
		i := len(p.Nodes)
		if step.Verb.OfNode() {
			i = slices.IndexFunc(p.Nodes, func(n plan.Node) bool { return n.Name == step.Node })
		}
		s.steps[i] = append(s.steps[i], step)
	}
	return nil
}

func (s *search) plan(w way) *plan.Plan {
	p := *s.o.Plan
	p.Schedule = w.steps
	p.Faults.Rates = nil
	last := max(s.o.Within, upgrade.LastAction(&p))
	for i := range p.Histories {
		last = max(last, p.Histories[i].KickAt)
	}
	p.FaultPhase = last + 2*time.Second
	return &p
}

// tried is a way together with the result of its run.
type tried struct {
	way
	result *cluster.Result
	points []point
	err    error
}

// batch runs the first ways in the queue and appends their continuations to it.
func (s *search) batch() error {
	n := min(len(s.queue), exhausted)
	if s.o.Runs > 0 {
		n = min(n, int(s.o.Runs-s.r.Runs))
	}
	now := s.queue[:n:n]
	s.queue = s.queue[n:]
	var failed error
	campaign.InOrder(s.o.Context, uint64(n), max(s.o.Workers, 1), func(i uint64) tried { return s.run(now[i]) }, func(i uint64, t tried) bool {
		if failed = t.err; failed != nil {
			return false
		}
		s.learn(t)
		if s.r.Failed > 0 {
			s.queue = append(s.queue, now[i+1:]...)
			return false
		}
		return true
	})
	return failed
}

func (s *search) run(w way) (out tried) {
	out.way = w
	cfg := s.o.Config()
	cfg.Plan, cfg.Chooser = s.plan(w), sim.Replay(&sim.Recording{})
	inner := cfg.Monitor
	var watched *watcher
	cfg.Monitor = func(world *cluster.World) cluster.Monitor {
		watched = &watcher{Monitor: inner(world), w: world, calls: map[uint64]string{}, holders: map[string]uint32{}}
		return watched
	}
	if out.result, out.err = cluster.Run(cfg); out.err == nil {
		out.points = watched.points
	}
	return out
}

// learn records the states that t reached. For each new state, it queues one way per action that is possible in that
// state.
func (s *search) learn(t tried) {
	s.r.Runs++
	s.r.Longest = max(s.r.Longest, len(t.steps)-t.crashes) // a crash is a step, and a start
	violations := t.result.Violations
	if !s.whole(t.way) { // how its work ends is not how the plan's ends
		violations = slices.DeleteFunc(slices.Clone(violations), func(v cluster.Violation) bool { return v.Class == cluster.ClassPlan })
	}
	if len(violations) > 0 {
		s.r.Failed++
		s.r.Violation, s.r.Plan = violations[0], s.plan(t.way)
		for _, v := range violations {
			if !slices.Contains(s.r.Properties, v.Property) {
				s.r.Properties = append(s.r.Properties, v.Property)
			}
		}
		return
	}
	last := time.Duration(-1)
	if n := len(t.steps); n > 0 {
		last = t.steps[n-1].At
	}
	for _, p := range t.points {
		at := p.at + time.Microsecond
		if at <= last || at > s.o.Within {
			continue
		}
		key := sha256.Sum256(fmt.Append(p.state[:], t.done, t.crashes, s.order(t.way)))
		if _, known := s.seen[key]; known {
			continue
		}
		s.seen[key] = struct{}{}
		s.branch(t.way, at)
	}
}

// whole reports whether a way has all steps of the schedule.
func (s *search) whole(w way) bool {
	for i, steps := range s.steps {
		if w.done[i] < len(steps) {
			return false
		}
	}
	return true
}

// order returns a way's actions without their times if any of them is of no node: what it did to the schema, to what nodes
// may run, or to the story depends on what came before it, and is not in the state.
func (s *search) order(w way) (out []string) {
	if w.done[len(w.done)-1] == 0 {
		return nil
	}
	for _, step := range w.steps {
		out = append(out, string(step.Verb)+" "+step.Node)
	}
	return out
}

// branch queues one way per action that is possible at that time: the next step of each node, the next of none, and a
// crash of each node.
func (s *search) branch(w way, at time.Duration) {
	for i, steps := range s.steps {
		if n := w.done[i]; n < len(steps) {
			step := steps[n]
			step.At = at
			next := way{steps: append(slices.Clone(w.steps), step), done: slices.Clone(w.done), crashes: w.crashes}
			next.done[i]++
			s.queue = append(s.queue, next)
		}
	}
	if w.crashes == s.o.Crashes {
		return
	}
	for i, n := range s.o.Plan.Nodes {
		if n.Absent && w.done[i] == 0 {
			continue
		}
		s.queue = append(s.queue, way{
			steps: append(slices.Clone(w.steps), plan.Step{At: at, Verb: plan.VerbCrash, Node: n.Name}, plan.Step{At: at + time.Microsecond, Verb: plan.VerbStart, Node: n.Name}),
			done:  slices.Clone(w.done), crashes: w.crashes + 1,
		})
	}
}
