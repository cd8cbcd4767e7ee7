package kernel

import (
	"math"
	"slices"
)

// queue holds the entries in two parts. Entries before the horizon are in near, a slice sorted in reverse, so that the
// first entry is last. All others are in far, a heap. Most events are due within milliseconds, and only a few wait for
// seconds or hours. Inserting an event into near moves only a few entries and takes less than half the instructions of
// a heap.
type queue struct {
	near    []entry
	far     heap
	horizon entry
}

const (
	// window is how far advance moves the horizon beyond the first event, in microseconds.
	window = 1_000_000
	// maxNear limits near, so that an insertion moves at most maxNear entries regardless of the queue's length.
	maxNear = 32
)

func (q *queue) len() int { return len(q.near) + len(q.far) }

func (q *queue) push(e entry) {
	if e.before(&q.horizon) == 0 {
		q.far.push(e)
		return
	}
	if len(q.near) == maxNear {
		q.retreat()
		q.push(e)
		return
	}
	q.near = append(q.near, e)
	i := len(q.near) - 1
	for ; i > 0 && q.near[i-1].before(&e) == 1; i-- {
		q.near[i] = q.near[i-1]
	}
	q.near[i] = e
}

// first returns the first entry. The queue must not be empty.
func (q *queue) first() *entry {
	if len(q.near) == 0 {
		q.advance()
	}
	return &q.near[len(q.near)-1]
}

// pop removes the first entry. The queue must not be empty.
func (q *queue) pop() entry {
	e := *q.first()
	q.near = q.near[:len(q.near)-1]
	return e
}

// advance moves the horizon past the first entry of far, and moves the entries before it to near, which must be empty.
func (q *queue) advance() {
	at := q.far[0].at
	q.horizon = entry{at: at + min(window, math.MaxUint64-at)}
	for {
		q.near = append(q.near, q.far.pop())
		if len(q.far) == 0 || q.far[0].before(&q.horizon) == 0 {
			break
		}
		if len(q.near) == maxNear/2 {
			q.horizon = q.far[0]
			break
		}
	}
	slices.Reverse(q.near)
}

// retreat moves the later half of near to far.
func (q *queue) retreat() {
	const half = maxNear / 2
	for _, e := range q.near[:half] {
		q.far.push(e)
	}
	q.horizon = q.near[half-1]
	q.near = append(q.near[:0], q.near[half:]...)
}

// keep removes the entries for which kept returns false.
func (q *queue) keep(kept func(*entry) bool) {
	for _, list := range [...]*[]entry{&q.near, (*[]entry)(&q.far)} {
		all := *list
		*list = all[:0]
		for i := range all {
			if kept(&all[i]) {
				*list = append(*list, all[i])
			}
		}
	}
	q.far.order()
}
