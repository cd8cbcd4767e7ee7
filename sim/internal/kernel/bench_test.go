package kernel_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/internal/kernel"
)

// The benchmarks run a queue of constant size: take the next event, add one at a later time. The bare heap is the
// floor: a binary heap written out by hand over entries that hold the event, with no kernel, key, chooser, handle or
// trace around it.

type benchEvent struct {
	node, call, n uint64
}

var benchSizes = []int{1_000, 100_000}

// benchDelay spreads events over a second. Both loops include its cost.
func benchDelay(n uint64) time.Duration {
	return time.Duration(n*0x9e3779b97f4a7c15>>44) * time.Microsecond
}

type kernelLoop struct {
	k     *kernel.Kernel[benchEvent]
	trace *kernel.Trace
	node  sim.Key
	n     uint64
}

func newKernelLoop(b *testing.B, size int, traced bool) *kernelLoop {
	l := &kernelLoop{
		k:    mustKernel[benchEvent](b, kernel.Options{Chooser: sim.Random(1), StepBudget: 1<<60 - 1}),
		node: sim.RootKey(false).Num(labelNode, 3),
	}
	if traced {
		l.trace = kernel.NewTrace()
	}
	for range size {
		l.n++
		l.k.After(benchDelay(l.n), l.node.Num(labelCall, l.n), benchEvent{3, 4, l.n})
	}
	l.run(2 * size) // Past the first growth of everything.
	return l
}

func (l *kernelLoop) run(events int) {
	for range events {
		e, ok := l.k.Next()
		if !ok {
			panic("the queue is empty")
		}
		l.k.Step()
		if l.trace != nil {
			l.trace.Begin(l.k.Now(), 7)
			l.trace.Uint(e.node)
			l.trace.Uint(e.call)
			l.trace.Uint(e.n)
			l.trace.Int(int64(l.k.Len()))
			l.trace.End()
		}
		l.n++
		l.k.After(benchDelay(l.n), l.node.Num(labelCall, l.n), benchEvent{e.node, e.call, l.n})
	}
}

type bareEntry struct {
	at       int64
	priority uint64
	seq      uint64
	event    benchEvent
}

type bareLoop struct {
	heap []bareEntry
	now  int64
	n    uint64
}

func newBareLoop(size int) *bareLoop {
	l := &bareLoop{}
	for range size {
		l.push(benchEvent{3, 4, 0})
	}
	l.run(2 * size)
	return l
}

func (l *bareLoop) run(events int) {
	for range events {
		e := l.pop()
		l.push(e)
	}
}

func bareLess(a, b *bareEntry) bool {
	if a.at != b.at {
		return a.at < b.at
	}
	if a.priority != b.priority {
		return a.priority < b.priority
	}
	return a.seq < b.seq
}

func (l *bareLoop) push(event benchEvent) {
	l.n++
	event.n = l.n
	e := bareEntry{l.now + int64(benchDelay(l.n)/time.Microsecond), l.n * 0xbf58476d1ce4e5b9, l.n, event}
	l.heap = append(l.heap, e)
	h, i := l.heap, len(l.heap)-1
	for i > 0 {
		parent := (i - 1) / 2
		if !bareLess(&e, &h[parent]) {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = e
}

func (l *bareLoop) pop() benchEvent {
	h := l.heap
	first, last := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	l.heap, l.now = h, first.at
	i := 0
	for {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) && bareLess(&h[child+1], &h[child]) {
			child++
		}
		if !bareLess(&h[child], &last) {
			break
		}
		h[i] = h[child]
		i = child
	}
	h[i] = last
	return first.event
}

// BenchmarkKernel alternates between both loops, so that a change of the machine's speed affects both, and reports
// the kernel's time as a multiple of the bare heap's. Its ns/op is the sum of the two.
func BenchmarkKernel(b *testing.B) {
	for _, size := range benchSizes {
		for _, traced := range []bool{false, true} {
			b.Run(fmt.Sprintf("queue=%d/trace=%v", size, traced), func(b *testing.B) {
				const chunk = 20_000
				kernel, bare := newKernelLoop(b, size, traced), newBareLoop(size)
				var spentKernel, spentBare time.Duration
				b.ResetTimer()
				for done := 0; done < b.N; done += chunk {
					n := min(chunk, b.N-done)
					start := b.Elapsed()
					kernel.run(n)
					middle := b.Elapsed()
					bare.run(n)
					spentKernel += middle - start
					spentBare += b.Elapsed() - middle
				}
				b.ReportMetric(float64(spentKernel)/float64(max(spentBare, 1)), "x-bare")
				b.ReportMetric(float64(spentKernel)/float64(b.N), "ns/kernel")
				b.ReportMetric(float64(spentBare)/float64(b.N), "ns/bare")
			})
		}
	}
}
