package cluster_test

import (
	"container/heap"
	"fmt"
	"iter"
	"strconv"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// benchmark is one of the plain workloads for comparing engines: no faults, no checkers, one node.
type benchmark struct {
	name      string
	instances int // in one run
	handler   orch.Handler
	// lasts is the longest virtual time that an instance needs.
	lasts time.Duration
	// bare is the same work for the bare model.
	bare bareWork
}

var workloads = []benchmark{
	{"one-activity", 200, func(ctx *orch.Context, input string) (string, error) {
		return ctx.ScheduleActivity("Echo", input).Await()
	}, time.Minute, bareWork{rounds: 1, fan: 1}},
	{"fan-out-20", 50, func(ctx *orch.Context, input string) (string, error) {
		futures := make([]*orch.Future, 20)
		for i := range futures {
			futures[i] = ctx.ScheduleActivity("Echo", input)
		}
		orch.Join(futures...)
		return "", nil
	}, time.Minute, bareWork{rounds: 1, fan: 20}},
	{"hour-timers-10", 50, func(ctx *orch.Context, input string) (string, error) {
		for i := range 10 {
			if i > 0 {
				ctx.ScheduleTimer(time.Hour).Await()
			}
			if _, err := ctx.ScheduleActivity("Echo", input).Await(); err != nil {
				return "", err
			}
		}
		return "", nil
	}, 10 * time.Hour, bareWork{rounds: 10, fan: 1, timers: true}},
	{"continue-as-new-100", 10, func(ctx *orch.Context, input string) (string, error) {
		if n, _ := strconv.Atoi(input); n < 100 {
			ctx.ContinueAsNew(strconv.Itoa(n + 1))
		}
		return "", nil
	}, time.Minute, bareWork{restarts: 100}},
}

// plan returns a run of the workload: its instances start within a second.
func (w *benchmark) plan() *plan.Plan {
	p := &plan.Plan{Name: w.name, Nodes: []plan.Node{{Name: "A", Build: "2.0.0"}}, FaultPhase: w.lasts, StepBudget: 10_000_000}
	for i := range w.instances {
		p.Instances = append(p.Instances, plan.Instance{
			ID: fmt.Sprintf("w-%d", i), Orchestration: "Work", StartAt: time.Duration(i) * time.Second / time.Duration(w.instances), Input: "0",
		})
	}
	return p
}

func (w *benchmark) register(r *node.Registry, _ *engine.Build) error {
	if err := r.RegisterActivity("Echo", func(_ node.ActivityContext, input string) (string, error) { return input, nil }); err != nil {
		return err
	}
	return r.Register("Work", engine.V(1, 0, 0), w.handler)
}

// TestWorkloads checks that every instance of every workload completes, in the whole simulation and in the bare model.
func TestWorkloads(t *testing.T) {
	for i := range workloads {
		w := &workloads[i]
		r := sample.Must(cluster.Run(cluster.Config{Plan: w.plan(), Seed: 1, Handlers: w.register}))(t)
		for _, o := range r.FinalStates {
			if o.Status != engine.StatusCompleted {
				t.Errorf("%s: %s is %s: %s", w.name, o.Instance, o.Status, o.Output)
			}
		}
		if m := newBareModel(w.bare, w.instances); m.run() != w.instances {
			t.Errorf("%s: the bare model completes %d of %d instances", w.name, m.completed, w.instances)
		}
	}
}

// BenchmarkWorkload runs the plain workloads, each beside its floor: the bare model, and an event loop that does
// nothing but pop and push as many events.
func BenchmarkWorkload(b *testing.B) {
	for i := range workloads {
		w := &workloads[i]
		b.Run(w.name, func(b *testing.B) {
			plan, steps := w.plan(), uint64(0)
			var virtual int64
			var arena cluster.Arena
			b.ReportAllocs()
			for b.Loop() {
				r := sample.Must(cluster.Run(cluster.Config{Plan: plan, Seed: 1, Handlers: w.register, Arena: &arena}))(b)
				steps += r.Steps
				virtual += r.Virtual
			}
			w.report(b)
			b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "steps/s")
			b.ReportMetric(float64(virtual)/1000/b.Elapsed().Seconds(), "virtual-s/s")
		})
		b.Run(w.name+"/floor=bare-model", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				newBareModel(w.bare, w.instances).run()
			}
			w.report(b)
		})
		b.Run(w.name+"/floor=bare-loop", func(b *testing.B) {
			events := newBareModel(w.bare, w.instances)
			events.run()
			for b.Loop() {
				var q bareQueue
				for n := range events.events {
					heap.Push(&q, bareEvent{at: int64(n)})
				}
				for q.Len() > 0 {
					heap.Pop(&q)
				}
			}
			w.report(b)
		})
	}
}

func (w *benchmark) report(b *testing.B) {
	b.ReportMetric(float64(b.N*w.instances)/b.Elapsed().Seconds(), "instances/s")
}

// bareModel does the engine's essential work and nothing else: a queue by time, a map of histories, and for each turn a
// replay of the whole history by a coroutine. It has no codec, no locks, no filter, no faults and no checkers.
type bareModel struct {
	work      bareWork
	queue     bareQueue
	histories map[int][]bareFact
	events    int
	completed int
}

// bareWork is the work of an instance: rounds of concurrent activities, with timers between; or restarts.
type bareWork struct {
	rounds, fan, restarts int
	timers                bool
}

// bareFact is an event of a history: a request, or its completion.
type bareFact struct {
	id   int
	done bool
}

type bareEvent struct {
	at       int64
	seq      int
	instance int
	id       int  // the id of the completed request; 0 starts
	activity bool // still to be run
}

type bareQueue []bareEvent

func (q bareQueue) Len() int { return len(q) }
func (q bareQueue) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].seq < q[j].seq
}
func (q bareQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *bareQueue) Push(e any)   { *q = append(*q, e.(bareEvent)) }
func (q *bareQueue) Pop() any {
	old := *q
	e := old[len(old)-1]
	*q = old[:len(old)-1]
	return e
}

func newBareModel(work bareWork, instances int) *bareModel {
	m := &bareModel{work: work, histories: make(map[int][]bareFact)}
	for i := range instances {
		m.add(bareEvent{instance: i})
	}
	return m
}

func (m *bareModel) add(e bareEvent) {
	m.events++
	e.seq = m.events
	heap.Push(&m.queue, e)
}

// run runs everything and returns the number of completed instances.
func (m *bareModel) run() int {
	for m.queue.Len() > 0 {
		e := heap.Pop(&m.queue).(bareEvent)
		if e.activity {
			e.activity = false
			e.at++
			m.add(e)
			continue
		}
		m.turn(e)
	}
	return m.completed
}

// turn replays an instance: its code yields an id as a request, and is resumed when that is complete.
func (m *bareModel) turn(e bareEvent) {
	h := m.histories[e.instance]
	if e.id > 0 {
		h = append(h, bareFact{e.id, true})
	}
	done := make([]bool, len(h)+m.work.fan+2)
	asked := 0
	for _, f := range h {
		if f.done {
			done[f.id] = true
		} else {
			asked = f.id
		}
	}
	next, stop := iter.Pull(m.code(done))
	ended := true
	for id, more := next(); more; id, more = next() {
		if id > 0 && id > asked { // a new request
			h = append(h, bareFact{id, false})
			due := e.at + 1
			timer := m.work.timers && id%2 == 0
			if timer {
				due = e.at + int64(time.Hour)
			}
			m.add(bareEvent{at: due, instance: e.instance, id: id, activity: !timer})
		}
		if id < 0 && !done[-id] {
			ended = false
			break
		}
	}
	stop()
	switch {
	case !ended:
		m.histories[e.instance] = h
	case m.work.restarts > 0 && e.id == 0 && int(e.at) < m.work.restarts:
		m.histories[e.instance] = nil
		m.add(bareEvent{at: e.at + 1, instance: e.instance})
	default:
		m.completed++
		m.histories[e.instance] = h
	}
}

// code yields a positive id to make a request, and a negative one to wait for it.
func (m *bareModel) code(done []bool) iter.Seq[int] {
	return func(yield func(int) bool) {
		id := 0
		for round := range m.work.rounds {
			if round > 0 && m.work.timers {
				id++
				if !yield(id) || !yield(-id) {
					return
				}
			}
			for range m.work.fan {
				id++
				if !yield(id) {
					return
				}
			}
			for i := range m.work.fan {
				if !yield(-(id - m.work.fan + 1 + i)) {
					return
				}
			}
		}
	}
}
