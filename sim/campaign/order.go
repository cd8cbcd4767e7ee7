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
	type task struct {
		i      uint64
		result chan T
	}
	jobs, window := make(chan task), make(chan task, ahead*workers) // window has the tasks that are taken, in job order
	going, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	var work func()
	work = func() {
		ended := false
		defer func() {
			if !ended {
				wg.Go(work)
			}
		}()
		for t := range jobs {
			func() {
				var result T
				defer func() { t.result <- result }()
				result = job(t.i)
			}()
		}
		ended = true
	}
	for range min(uint64(workers), total) {
		wg.Go(work)
	}
	wg.Go(func() {
		defer close(jobs)
		defer close(window)
		for i := uint64(0); i < total && going.Err() == nil; i++ {
			t := task{i, make(chan T, 1)}
			for _, to := range []chan task{window, jobs} {
				select {
				case to <- t:
				case <-going.Done():
					return
				}
			}
		}
	})
	for t := range window {
		select {
		case result := <-t.result:
			if ctx.Err() == nil && deliver(t.i, result) {
				continue
			}
		case <-ctx.Done():
		}
		break
	}
	stop()
	if ctx.Err() == nil {
		wg.Wait()
	}
}
