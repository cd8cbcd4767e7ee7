package campaign

import (
	"context"
	"sync"
)

// ahead is the maximum number of jobs per worker that may be taken ahead of delivery. It is large enough that one slow
// job does not stall the other workers.
const ahead = 16

// InOrder runs jobs 0 to total-1 on several workers and passes each result to deliver, in job order, on the caller's
// goroutine. Once deliver returns false, no more results are delivered. InOrder normally returns when all workers have
// finished. If ctx is done, it returns immediately and abandons the jobs still running. A job that calls runtime.Goexit
// has the zero result.
func InOrder[T any](ctx context.Context, total uint64, workers int, job func(i uint64) T, deliver func(i uint64, result T) (goOn bool)) {
	q := &queue[T]{total: total, ring: make([]slot[T], ahead*workers)}
	q.changed.L = &q.mu
	var wg sync.WaitGroup
	var work func()
	work = func() {
		ended := false
		defer func() {
			if !ended {
				wg.Go(work)
			}
		}()
		for i, ok := q.take(); ok; i, ok = q.take() {
			q.do(i, job)
		}
		ended = true
	}
	for range min(uint64(workers), total) {
		wg.Go(work)
	}
	defer context.AfterFunc(ctx, q.stop)()
	for i := range total {
		result, ok := q.get(ctx, i)
		if !ok {
			return
		}
		if !deliver(i, result) {
			break
		}
	}
	q.stop()
	wg.Wait()
}

// queue is a window of the jobs that have been taken but not delivered.
type queue[T any] struct {
	mu      sync.Mutex
	changed sync.Cond
	total   uint64
	// taken and delivered are counts of jobs. Invariant: delivered <= taken <= min(total, delivered+len(ring)).
	taken, delivered uint64
	stopped          bool
	ring             []slot[T] // indexed by job modulo len(ring)
}

type slot[T any] struct {
	full   bool
	result T
}

// take waits for room in the window and returns the next job. ok is false if there are no more jobs.
func (q *queue[T]) take() (i uint64, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.stopped && q.taken < q.total && q.taken == q.delivered+uint64(len(q.ring)) {
		q.changed.Wait()
	}
	if q.stopped || q.taken == q.total {
		return 0, false
	}
	q.taken++
	return q.taken - 1, true
}

func (q *queue[T]) do(i uint64, job func(i uint64) T) {
	var result T
	defer func() { q.put(i, result) }()
	result = job(i)
}

func (q *queue[T]) put(i uint64, result T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ring[i%uint64(len(q.ring))] = slot[T]{full: true, result: result}
	q.changed.Broadcast()
}

// get waits for the result of job i and makes room in the window. i must be the next job to deliver. ok is false if ctx
// is done.
func (q *queue[T]) get(ctx context.Context, i uint64) (result T, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := &q.ring[i%uint64(len(q.ring))]
	for !s.full && ctx.Err() == nil {
		q.changed.Wait()
	}
	if ctx.Err() != nil {
		return result, false
	}
	result = s.result
	*s = slot[T]{}
	q.delivered++
	q.changed.Broadcast()
	return result, true
}

// stop prevents workers from taking further jobs.
func (q *queue[T]) stop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stopped = true
	q.changed.Broadcast()
}
