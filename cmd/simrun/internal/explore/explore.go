package explore

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/durosim/durosim/internal/campaign"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// Options configure an exploration.
type Options struct {
	// Plan is what is tried. The times of its steps do not count, nor do its faults.
	Plan *plan.Plan
	// Config returns what a run has besides plan and choices.
	Config func() cluster.Config
	// Crashes is how many crashes a run may have; a crashed node starts again at once.
	Crashes int
	// Within is when the last action comes, at the latest.
	Within time.Duration
	// Runs bounds the runs; 0 is no bound.
	Runs    uint64
	Workers int
	Context context.Context
	// OnProgress, if not nil, is called now and then, by the goroutine that called Run.
	OnProgress func(r *Report)
}

// Report is the result of an exploration.
type Report struct {
	// States is the number of different states that were visited, with the actions to come; Runs that of the runs.
	States, Runs uint64
	// Longest is the largest number of actions of a run.
	Longest int
	// Open is the number of ways that were not tried, because the bound on runs was reached or a run failed.
	Open int
	// Failed is the number of runs that violated something; Violation is the first one of the first of them, Plan its plan.
	Failed    uint64
	Violation cluster.Violation
	// Properties are all that the first of them violated, in the order in which they were found.
	Properties []string
	Plan       *plan.Plan
}

// The largest scopes.
const (
	MaxNodes     = 3
	MaxInstances = 2
	MaxSteps     = 4
	MaxCrashes   = 2
)

// batch is the number of runs that are judged together. It decides nothing but memory and speed.
const batch = 64

// way is a sequence of actions at moments, ascending.
type way struct {
	steps   []plan.Step // as a plan has them
	done    []int       // how many steps of the schedule each node has had, by index of the node
	crashes int
}

// search is one exploration.
type search struct {
	o     Options
	r     Report
	steps [][]plan.Step // of the schedule, by index of the node
	queue []way
	seen  map[[sha256.Size]byte]struct{} // looked up only
}

// Run explores a plan. An error says why the plan is none to explore.
func Run(o Options) (*Report, error) {
	s := &search{o: o, seen: map[[sha256.Size]byte]struct{}{}}
	if err := s.prepare(); err != nil {
		return nil, err
	}
	s.queue = []way{{done: make([]int, len(o.Plan.Nodes))}}
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
	s.steps = make([][]plan.Step, len(p.Nodes))
	for _, step := range p.Schedule {
		if i := slices.IndexFunc(p.Nodes, func(n plan.Node) bool { return n.Name == step.Node }); i >= 0 {
			s.steps[i] = append(s.steps[i], step)
		}
	}
	return nil
}

// plan returns the plan of a way.
func (s *search) plan(w way) *plan.Plan {
	p := *s.o.Plan
	p.Schedule = w.steps
	p.Faults.Rates = nil
	p.Turbulence = s.o.Within + 2*time.Second
	return &p
}

// tried is a way with what its run came to.
type tried struct {
	way
	result *cluster.Result
	points []point
	err    error
}

// batch runs the first ways of the queue, and adds those that go on from there.
func (s *search) batch() error {
	n := min(len(s.queue), batch)
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
		watched = watch(world, inner(world))
		return watched
	}
	if out.result, out.err = cluster.Run(cfg); out.err == nil {
		out.points = watched.points
	}
	return out
}

// learn notes the states of a run, and adds a way for each action at each new one.
func (s *search) learn(t tried) {
	s.r.Runs++
	s.r.Longest = max(s.r.Longest, sum(t.done)+t.crashes)
	if len(t.result.Violations) > 0 {
		s.r.Failed++
		s.r.Violation, s.r.Plan = t.result.Violations[0], s.plan(t.way)
		for _, v := range t.result.Violations {
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
		key := sha256.Sum256(fmt.Append(p.state[:], t.done, t.crashes))
		if _, known := s.seen[key]; known {
			continue
		}
		s.seen[key] = struct{}{}
		s.branch(t.way, at)
	}
}

func sum(numbers []int) (n int) {
	for _, x := range numbers {
		n += x
	}
	return n
}

// branch adds a way for each action that is possible at a moment: the next step of each node, and a crash of each.
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
