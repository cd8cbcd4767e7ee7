package memprovider

import (
	"context"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
)

const (
	opAbandonOrchestration = "abandon_orchestration_item"
	opRenewOrchestration   = "renew_orchestration_item_lock"
)

// AbandonOrchestrationItem implements engine.Provider. The delay and the attempt count apply to the messages that the
// token marked. A token whose lock has expired but was not taken over is accepted (docs/contract/provider.md#f8, #f9).
func (p *provider) AbandonOrchestrationItem(_ context.Context, token string, delay time.Duration, ignoreAttempt bool) error {
	s := p.store
	req := s.begin(observe.CallAbandonOrchestrationItem, p.caller)
	req.Token, req.Delay, req.IgnoreAttempt = token, delay, ignoreAttempt
	s.started()
	return s.end(result{}, s.abandon(token, milliseconds(delay), ignoreAttempt))
}

func (s *Store) abandon(token string, delayMs int64, ignoreAttempt bool) *engine.ProviderError {
	in, h, err := s.holder(opAbandonOrchestration, token)
	if err != nil {
		return err
	}
	if !s.rules.MayAbandon(h) {
		return invalidToken(opAbandonOrchestration, token, h)
	}
	in.promote(s.arena, s.now) // messages that have become visible during the lock
	delayMs = s.rules.AbandonDelay(delayMs)
	visibleMs := s.rules.VisibleAt(s.now, delayMs)
	s.candidateRows = append(s.candidateRows[:0], in.visible...)
	for _, r := range s.candidateRows {
		if !s.rules.AbandonTouches(r.lock.number == in.lock.number) {
			continue
		}
		s.setCount(r, s.rules.CountAfterAbandon(r.count, ignoreAttempt))
		if delayMs > 0 {
			s.delay(r, visibleMs)
		}
	}
	s.releaseLock(in)
	return nil
}

// RenewOrchestrationItemLock implements engine.Provider.
func (p *provider) RenewOrchestrationItemLock(_ context.Context, token string, extendFor time.Duration) error {
	s := p.store
	req := s.begin(observe.CallRenewOrchestrationItemLock, p.caller)
	req.Token, req.LockTimeout = token, extendFor
	s.started()
	return s.end(result{}, s.renew(token, milliseconds(extendFor)))
}

func (s *Store) renew(token string, extendMs int64) *engine.ProviderError {
	in, h, err := s.holder(opRenewOrchestration, token)
	if err != nil {
		return err
	}
	if !s.rules.MayRenew(s.sees(s.rules.RenewSees, token, h)) {
		return invalidToken(opRenewOrchestration, token, h)
	}
	s.extendLock(in, s.rules.RenewedUntil(s.lockFrom(), in.lock.untilMs, extendMs))
	return nil
}

// holder returns the instance for which a token was issued, and the token's state.
func (s *Store) holder(op, token string) (*instance, Holding, *engine.ProviderError) {
	n, h, ok := s.lookup(orchestratorToken, token)
	if !ok {
		return nil, Holding{}, engine.Permanentf(op, "Invalid lock token %q: never given out", token)
	}
	in := s.instances[h.instance-1]
	return in, Holding{Superseded: in.lock.number != n, Expired: in.lock.number == n && !in.lock.live(s.now)}, nil
}

// invalidToken returns the error for a token that no longer holds its lock.
func invalidToken(op, token string, h Holding) *engine.ProviderError {
	if h.Expired {
		return engine.Permanentf(op, "Invalid lock token %q: the lock has expired", token)
	}
	return engine.Permanentf(op, "Invalid lock token %q: the lock was released or taken over", token)
}
