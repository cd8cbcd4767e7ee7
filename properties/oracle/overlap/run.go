package overlap

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/properties/oracle"
	"github.com/durosim/durosim/properties/undertest"
)

// recorder records the callers' calls. For each call, it records the two ticks between which the call took effect.
type recorder struct {
	store *undertest.Store

	mu      sync.Mutex
	tick    int64
	history []porcupine.Operation
	// open holds the calls that have not been answered yet, keyed by the tick at which they began.
	open map[int64]oracle.Exchange
	// lacks lists the methods that the provider lacks.
	lacks []string
}

func (r *recorder) begin(c call.Call) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tick++
	r.open[r.tick] = oracle.Exchange{Call: c}
	return r.tick
}

func (r *recorder) end(client int, begun int64, e oracle.Exchange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tick++
	delete(r.open, begun)
	r.history = append(r.history, porcupine.Operation{ClientId: client, Call: begun, Return: r.tick, Input: e, Output: e})
}

// forget removes the record of a call to a method that the provider lacks, and records that it lacks the method.
func (r *recorder) forget(begun int64, c call.Call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, begun)
	if name := call.Method(c); !slices.Contains(r.lacks, name) {
		r.lacks = append(r.lacks, name)
	}
}

// broken returns why there are no more answers, or nil.
func (r *recorder) broken() error {
	if r.store.Broken == nil {
		return nil
	}
	return r.store.Broken()
}

func (r *recorder) do(client int, c *caller, steps []step) {
	for _, s := range steps {
		made := c.call(s)
		if made == nil {
			continue
		}
		if r.broken() != nil {
			return
		}
		from, begun := r.store.NowMs(), r.begin(made)
		a := call.Perform(context.Background(), r.store.Provider, made)
		if errors.Is(a.Err, engine.ErrUnsupported) {
			r.forget(begun, made)
			continue
		}
		e := oracle.Exchange{Call: made, Answer: a, At: oracle.Between(from, r.store.NowMs())}
		if err := r.broken(); err != nil {
			e.Crash = err.Error()
		}
		r.end(client, begun, e)
		c.learn(a)
	}
}

// course records what happened when a program ran.
type course struct {
	history []porcupine.Operation
	// first is how many of these calls were made one after another.
	first int
	// unanswered lists the calls that were not answered in time. If there are any, the store cannot be used again.
	unanswered []oracle.Exchange
	// lacks lists the methods that were called and that the provider lacks.
	lacks []string
}

// run runs a program on a store. It gives up on a call that takes longer than patience.
func run(store *undertest.Store, p program, patience time.Duration) course {
	r := &recorder{store: store, open: map[int64]oracle.Exchange{}}
	known := &caller{}
	if !within(patience, func() { r.do(0, known, p.first) }) {
		return r.course(len(p.first))
	}
	first := len(r.history)
	within(patience, func() { r.atOnce(known, p) })
	return r.course(first)
}

func (r *recorder) atOnce(known *caller, p program) {
	begin := make(chan struct{})
	var all sync.WaitGroup
	for i, steps := range p.callers {
		mine := &caller{turns: slices.Clone(known.turns), works: slices.Clone(known.works)}
		if p.inTurn {
			r.do(i+1, mine, steps)
			continue
		}
		all.Go(func() {
			<-begin
			r.do(i+1, mine, steps)
		})
	}
	close(begin)
	all.Wait()
}

// within calls run, and reports whether it returns before patience runs out.
func within(patience time.Duration, run func()) bool {
	over := make(chan struct{})
	go func() {
		defer close(over)
		run()
	}()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-over:
		return true
	case <-timer.C:
		return false
	}
}

// course returns what has happened so far.
func (r *recorder) course(first int) course {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := course{history: append([]porcupine.Operation(nil), r.history...), first: first, lacks: slices.Clone(r.lacks)}
	for tick := range r.tick + 1 {
		if e, ok := r.open[tick]; ok {
			o.unanswered = append(o.unanswered, e)
		}
	}
	return o
}
