package overlap

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/call"
	"github.com/durosim/durosim/properties/oracle"
	"github.com/durosim/durosim/properties/undertest"
)

// recorder keeps what callers do with a store, with the ticks between which each call took effect.
type recorder struct {
	store *undertest.Store

	mu      sync.Mutex
	tick    int64
	history []porcupine.Operation
	// open are the calls that have no answer yet, by the tick of their begin.
	open map[int64]oracle.Exchange
	// lacks are the methods that the provider does not have.
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

// forget takes back the begin of a call of a method that the provider does not have, and notes the method.
func (r *recorder) forget(begun int64, c call.Call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, begun)
	if name := call.Method(c); !slices.Contains(r.lacks, name) {
		r.lacks = append(r.lacks, name)
	}
}

// do makes the steps of a caller.
func (r *recorder) do(client int, c *caller, steps []step) {
	for _, s := range steps {
		made := c.call(s)
		if made == nil {
			continue
		}
		from, begun := r.store.NowMs(), r.begin(made)
		a := call.Perform(context.Background(), r.store.Provider, made)
		if errors.Is(a.Err, engine.ErrUnsupported) {
			r.forget(begun, made)
			continue
		}
		r.end(client, begun, oracle.Exchange{Call: made, Answer: a, At: oracle.Between(from, r.store.NowMs())})
		c.learn(a)
	}
}

// course is how a program went.
type course struct {
	history []porcupine.Operation
	// first is how many of these were made one after the other.
	first int
	// unanswered are the calls that had no answer in time; the store cannot be asked again.
	unanswered []oracle.Exchange
	// lacks are the methods that the provider does not have, of those that were called.
	lacks []string
}

// run has a program carried out on a store. A call that takes longer than patience is given up.
func run(store *undertest.Store, p program, patience time.Duration) course {
	r := &recorder{store: store, open: map[int64]oracle.Exchange{}}
	known := &caller{}
	over := make(chan struct{})
	go func() {
		defer close(over)
		r.do(0, known, p.first)
	}()
	if !within(over, patience) {
		return r.course(0)
	}
	first := len(r.history)
	over = make(chan struct{})
	go func() {
		defer close(over)
		r.atOnce(known, p)
	}()
	within(over, patience)
	return r.course(first)
}

// atOnce lets the callers of a program work.
func (r *recorder) atOnce(known *caller, p program) {
	begin := make(chan struct{})
	var all sync.WaitGroup
	for i, steps := range p.callers {
		mine := known.clone()
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

// within reports whether a channel is closed in time.
func within(over <-chan struct{}, patience time.Duration) bool {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-over:
		return true
	case <-timer.C:
		return false
	}
}

// course returns what is known by now.
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
