package wire

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/faults"
)

// unreliable makes calls by nodes fail at the rates in a fault plan. Calls by clients never fail. For the same seed, a
// node's n-th call always has the same faults.
type unreliable struct {
	inner engine.Provider
	rates []faults.Rate
	seed  uint64
	live  bool // a delayed call really sleeps

	mu      sync.Mutex
	on      bool
	calls   uint64
	refused uint64 // calls up to this number are rejected by the store
}

// turn enables or disables the faults.
func (u *unreliable) turn(on bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.on, u.refused = on, 0
}

func (u *unreliable) provider() engine.Provider {
	return call.Through(u.inner.Name(), u.inner.Version(), u.inner.Admin() != nil, func(ctx context.Context, c call.Call) call.Answer {
		switch c.(type) {
		case call.FetchOrchestrationItem, call.AckOrchestrationItem, call.AbandonOrchestrationItem, call.RenewOrchestrationItemLock,
			call.FetchWorkItem, call.AckWorkItem, call.AbandonWorkItem, call.RenewWorkItemLock, call.RenewSessionLock, call.CleanupOrphanedSessions:
			return u.perform(ctx, c)
		}
		return call.Perform(ctx, u.inner, c)
	})
}

// unavailableCalls is the number of calls that the store rejects during one outage. latest is the maximum delay of a
// call.
const (
	unavailableCalls = 20
	latestCall       = 2 * time.Second
)

// draw returns the fault for the next call, or "" if there is none, and how long the fault may delay the call.
func (u *unreliable) draw(c call.Call) (faults.Kind, time.Duration) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.calls++
	switch {
	case !u.on:
		return "", 0
	case u.calls <= u.refused:
		return faults.Unavailable, 0
	}
	random := rand.New(rand.NewPCG(u.seed, u.calls))
	for _, r := range u.rates {
		if random.Uint64N(r.Den) >= r.Num || !befalls(r.Kind, c) {
			continue
		}
		if r.Kind == faults.Unavailable {
			u.refused = u.calls + unavailableCalls
		}
		return r.Kind, time.Duration(random.Int64N(int64(latestCall)))
	}
	return "", 0
}

// befalls reports whether a fault of that kind can hit call c. Other kinds hit nodes and clients, or need a store in the simulation.
func befalls(kind faults.Kind, c call.Call) bool {
	switch kind {
	case faults.RequestLost, faults.AnswerLost, faults.CallDelayed, faults.RetryableError, faults.PermanentError, faults.Unavailable:
		return true
	case faults.AckStepError: // the store undoes the previous steps
		_, ack := c.(call.AckOrchestrationItem)
		return ack
	case faults.LostRenewal:
		switch c.(type) {
		case call.RenewOrchestrationItemLock, call.RenewWorkItemLock, call.RenewSessionLock:
			return true
		}
	}
	return false
}

func (u *unreliable) perform(ctx context.Context, c call.Call) call.Answer {
	kind, late := u.draw(c)
	switch kind {
	case faults.RequestLost, faults.LostRenewal:
		return call.Answer{Err: engine.Retryablef(call.Method(c), "no answer: the request was lost")}
	case faults.RetryableError, faults.AckStepError:
		return call.Answer{Err: engine.Retryablef(call.Method(c), "the store is busy")}
	case faults.Unavailable:
		return call.Answer{Err: engine.Retryablef(call.Method(c), "the store is unavailable")}
	case faults.PermanentError:
		return call.Answer{Err: engine.Permanentf(call.Method(c), "the store refuses this call")}
	case faults.CallDelayed:
		if u.live {
			time.Sleep(late)
		}
	}
	a := call.Perform(ctx, u.inner, c)
	if kind == faults.AnswerLost {
		return call.Answer{Err: engine.Retryablef(call.Method(c), "no answer: it was lost")}
	}
	return a
}
