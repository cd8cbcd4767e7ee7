package kernel

import "math"

// queue holds the entries in two heaps: near has those that are due before the horizon, far all others. Most events are due
// within milliseconds, among few that wait for seconds or hours; near they pass a heap of a few levels. In one heap of all of
// them an event costs twice the instructions.
type queue struct {
	near, far heap
	horizon   uint64
}

// window is how far the horizon lies behind the first event when near is empty, in microseconds.
const window = 30_000

func (q *queue) len() int { return len(q.near) + len(q.far) }

func (q *queue) push(e entry) {
	if e.at < q.horizon {
		q.near.push(e)
	} else {
		q.far.push(e)
	}
}

// first returns the first entry. The queue must not be empty.
func (q *queue) first() *entry {
	if len(q.near) == 0 {
		q.advance()
	}
	return &q.near[0]
}

// pop removes the first entry. The queue must not be empty.
func (q *queue) pop() entry {
	if len(q.near) == 0 {
		q.advance()
	}
	return q.near.pop()
}

// advance moves the horizon behind the first entry of far, and the entries that are now near.
func (q *queue) advance() {
	at := q.far[0].at
	q.horizon = at + min(window, math.MaxUint64-at)
	for {
		q.near.push(q.far.pop())
		if len(q.far) == 0 || q.far[0].at >= q.horizon {
			return
		}
	}
}

// keep drops the entries for which kept returns false.
func (q *queue) keep(kept func(*entry) bool) {
	for _, h := range [...]*heap{&q.near, &q.far} {
		all := *h
		*h = all[:0]
		for i := range all {
			if kept(&all[i]) {
				*h = append(*h, all[i])
			}
		}
		h.order()
	}
}
