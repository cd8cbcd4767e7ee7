package conformance_test

import (
	"sync"
	"time"

	"github.com/durosim/durosim/properties/conformance"
)

// polls returns memprovider with a fetch that calls wait when it finds nothing. says is whether the store declares that
// it waits for work.
func polls(name string, says bool, wait func(in *conformance.Store, c *call)) killer {
	k := spoilWith(name, func(in *conformance.Store) func(c *call) {
		return on("FetchOrchestrationItem FetchWorkItem", func(c *call) {
			if c.do(); c.fetched == nil && c.work == nil {
				wait(in, c)
			}
		})
	})
	right := k.factory.New
	k.factory.New = func() (*conformance.Store, error) {
		in, err := right()
		in.LongPolls = says
		return in, err
	}
	return k
}

// timeKillers make mistakes in waiting for work.
var timeKillers = []killer{
	asks("no delay is above a day", "EnqueueForOrchestrator AbandonWorkItem", func(c *call) { c.delay = min(c.delay, 24*time.Hour) }),
	polls("waits although it says it does not", false, func(in *conformance.Store, c *call) { in.Advance(c.poll) }),
	polls("waits twice as long as it may", false, func(in *conformance.Store, c *call) { in.Advance(2 * c.poll) }),
	polls("waits a second when it must not", false, func(in *conformance.Store, c *call) {
		if c.poll == 0 {
			in.Advance(time.Second)
		}
	}),
	{"callers that gave up get the next message", conformance.Factory{New: func() (*conformance.Store, error) {
		in, err := waiting().New()
		gaveUp := false
		right := in.Provider
		in.Provider = wrong(right, func(c *call) {
			switch {
			case c.is("FetchOrchestrationItem") && c.poll > 0 && c.ctx.Done() != nil:
				<-c.ctx.Done()
				gaveUp = true
			case c.is("EnqueueForOrchestrator") && gaveUp:
				c.do()
				_, _ = c.inner.FetchOrchestrationItem(c.ctx, time.Minute, 0, nil)
			default:
				c.do()
			}
		})
		return in, err
	}}},
	{"says that it waits and does not", waiting()},
	{"panics when there is nothing", conformance.Factory{New: func() (*conformance.Store, error) {
		in, err := waiting().New()
		in.Provider = wrong(in.Provider, on("FetchOrchestrationItem", func(c *call) {
			if c.do(); c.fetched == nil && c.err == nil {
				panic("nothing there")
			}
		}))
		return in, err
	}}},
}

// waiting makes memprovider stores that allow concurrent calls and declare that they wait for work.
func waiting() conformance.Factory {
	return conformance.Factory{New: func() (*conformance.Store, error) {
		in, err := memory(nil).New()
		var mu sync.Mutex
		in.Provider = wrong(in.Provider, func(c *call) {
			mu.Lock()
			defer mu.Unlock()
			c.do()
		})
		advance, now := in.Advance, in.NowMs
		in.Advance = func(d time.Duration) {
			mu.Lock()
			defer mu.Unlock()
			advance(d)
		}
		in.NowMs = func() int64 {
			mu.Lock()
			defer mu.Unlock()
			return now()
		}
		in.LongPolls, in.Sequential = true, false
		return in, err
	}}
}
