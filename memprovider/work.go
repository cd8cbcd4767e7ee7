package memprovider

import (
	"context"
	"slices"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
)

const (
	opEnqueueForWorker = "enqueue_for_worker"
	opFetchWork        = "fetch_work_item"
	opAckWork          = "ack_work_item"
	opRenewWork        = "renew_work_item_lock"
	opAbandonWork      = "abandon_work_item"
)

// EnqueueForWorker implements engine.Provider. Only activities are accepted (F17).
func (p *provider) EnqueueForWorker(_ context.Context, item engine.WorkItem) error {
	s := p.store
	s.begin(observe.CallEnqueueForWorker, p.caller).Item = item
	s.started()
	return s.end(result{}, p.enqueue(opEnqueueForWorker, observe.QueueWorker, item, s.now))
}

// FetchWorkItem implements engine.Provider. It skips rows that the handle's codec cannot decode. If only such rows are
// ready, it fails permanently, and locks and counts nothing. Fetching an activity with a session also claims or
// refreshes the session for the config's owner, in the same step.
func (p *provider) FetchWorkItem(_ context.Context, lockTimeout, _ time.Duration, session *engine.SessionFetchConfig, tags engine.TagFilter) (*engine.FetchedWork, error) {
	s := p.store
	req := s.begin(observe.CallFetchWorkItem, p.caller)
	req.LockTimeout, req.Session, req.Tags = lockTimeout, session, tags
	s.started()
	f, in, err := p.fetchWork(s.lockFrom()+milliseconds(lockTimeout), session, tags)
	r := result{nothing: f == nil, work: f}
	if in != nil {
		r.instance = in.no
	}
	return f, s.end(r, err)
}

func (p *provider) fetchWork(untilMs int64, session *engine.SessionFetchConfig, tags engine.TagFilter) (*engine.FetchedWork, *instance, *engine.ProviderError) {
	s := p.store
	t := s.taker(session)
	r := s.work.pick(t, tags, s.rules)
	if s.mirror != nil {
		r = s.mirroredRow()
	}
	if r == nil || !s.rules.WorkLooksPastSessions && s.reservedBefore(r, session) {
		return nil, nil, nil
	}
	item, err := s.decodeItem(r, p.codecNo)
	if err != nil {
		if r, item = p.nextDecodable(t, tags); r == nil {
			return nil, nil, engine.Permanentf(opFetchWork, "%w", err)
		}
	}
	s.takeRow(r, s.token(workerToken, holding{message: r.no}, untilMs))
	s.setCount(r, r.count+1)
	s.claim(r, session)
	s.delivered = append(s.delivered[:0], r.no)
	f := s.arena.work.New()
	f.Item, f.LockToken, f.AttemptCount = item, r.lock.token, r.count
	return f, r.in, nil
}

// reservedBefore reports whether an older activity is ready but belongs to another owner's session.
func (s *Store) reservedBefore(r *row, session *engine.SessionFetchConfig) bool {
	for _, other := range s.rows[:r.no-1] {
		if other == nil || other.queue != observe.QueueWorker || other.sessionID == "" || other.visibleMs > s.now || other.lock.live(s.now) {
			continue
		}
		for _, x := range s.sessions {
			if x.id == other.sessionID && x.exists && x.untilMs > s.now && (session == nil || x.owner.name != session.OwnerID) {
				return true
			}
		}
	}
	return false
}

// nextDecodable returns the oldest row that the handle's codec can decode, or nil. Unlike pick, it examines every ready
// row. It is needed only if pick has returned a row that cannot be decoded.
func (p *provider) nextDecodable(t taker, tags engine.TagFilter) (*row, engine.WorkItem) {
	s := p.store
	if !s.rules.WorkLooksPast {
		return nil, nil
	}
	ready := s.work.all(t, tags, s.rules, s.candidateRows[:0])
	s.candidateRows = ready
	slices.SortFunc(ready, byNumber)
	for _, r := range ready[1:] {
		if item, err := s.decodeItem(r, p.codecNo); err == nil {
			return r, item
		}
	}
	return nil, nil
}

// AckWorkItem implements engine.Provider. It succeeds even if the session has expired.
func (p *provider) AckWorkItem(_ context.Context, token string, completion engine.WorkItem) error {
	s := p.store
	req := s.begin(observe.CallAckWorkItem, p.caller)
	req.Token, req.Item = token, completion
	s.started()
	return s.end(result{}, p.ackWork(token, completion))
}

func (p *provider) ackWork(token string, completion engine.WorkItem) *engine.ProviderError {
	s := p.store
	r, h, refused := s.workHolder(opAckWork, token)
	if refused != nil {
		return refused
	}
	if !s.rules.MayCommit(s.sees(s.rules.CommitSees, token, h)) {
		return invalidToken(opAckWork, token, h)
	}
	var data []byte
	if completion != nil {
		if k := completion.Kind(); k != engine.ItemActivityCompleted && k != engine.ItemActivityFailed {
			return engine.Permanentf(opAckWork, "%s is not the completion of an activity", k)
		}
		var err error
		if data, err = p.encode(completion); err != nil {
			return engine.Permanentf(opAckWork, "%w", err)
		}
	}
	s.touchSession(r)
	s.remove(r, observe.RemovedAcked)
	if completion != nil {
		s.insert(observe.QueueOrchestrator, s.named(completion.Target()), completion, data, p.codecNo, s.now)
	}
	return nil
}

// RenewWorkItemLock implements engine.Provider.
func (p *provider) RenewWorkItemLock(_ context.Context, token string, extendFor time.Duration) error {
	s := p.store
	req := s.begin(observe.CallRenewWorkItemLock, p.caller)
	req.Token, req.LockTimeout = token, extendFor
	s.started()
	return s.end(result{}, s.renewWork(token, milliseconds(extendFor)))
}

func (s *Store) renewWork(token string, extendMs int64) *engine.ProviderError {
	r, h, err := s.workHolder(opRenewWork, token)
	if err != nil {
		return err
	}
	if !s.rules.MayRenew(s.sees(s.rules.RenewSees, token, h)) {
		return invalidToken(opRenewWork, token, h)
	}
	s.extendRow(r, s.rules.RenewedUntil(s.lockFrom(), r.lock.untilMs, extendMs))
	s.touchSession(r)
	return nil
}

// AbandonWorkItem implements engine.Provider. A token whose lock has expired but was not taken over is accepted (F8).
// The row keeps its position (F25).
func (p *provider) AbandonWorkItem(_ context.Context, token string, delay time.Duration, ignoreAttempt bool) error {
	s := p.store
	req := s.begin(observe.CallAbandonWorkItem, p.caller)
	req.Token, req.Delay, req.IgnoreAttempt = token, delay, ignoreAttempt
	s.started()
	return s.end(result{}, s.abandonWork(token, milliseconds(delay), ignoreAttempt))
}

func (s *Store) abandonWork(token string, delayMs int64, ignoreAttempt bool) *engine.ProviderError {
	r, h, err := s.workHolder(opAbandonWork, token)
	if err != nil {
		return err
	}
	if !s.rules.MayAbandon(h) {
		return invalidToken(opAbandonWork, token, h)
	}
	s.setCount(r, s.rules.CountAfterAbandon(r.count, ignoreAttempt))
	s.delay(r, s.rules.VisibleAt(s.now, s.rules.AbandonDelay(delayMs)))
	s.releaseRow(r)
	return nil
}

// workHolder returns the row for which a token was issued, and the token's state. It returns an error if the row has
// been removed.
func (s *Store) workHolder(op, token string) (*row, Holding, *engine.ProviderError) {
	n, h, ok := s.lookup(workerToken, token)
	if !ok {
		return nil, Holding{}, engine.Permanentf(op, "Invalid lock token %q: never given out", token)
	}
	r := s.rows[h.message-1]
	if r == nil {
		return nil, Holding{}, engine.Permanentf(op, "Invalid lock token %q: the activity is gone", token)
	}
	return r, Holding{Superseded: r.lock.number != n, Expired: r.lock.number == n && !r.lock.live(s.now)}, nil
}
