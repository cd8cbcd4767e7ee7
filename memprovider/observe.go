package memprovider

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
)

// observe returns the store's reusable observation with the fields common to all kinds filled in, or nil if there is no
// sink. The caller completes it and calls send.
func (s *Store) observe(kind observe.Kind) *observe.Observation {
	if s.options.Sink == nil {
		return nil
	}
	o := &s.observation
	*o = observe.Observation{} // in place; a value with fields would be made elsewhere and copied
	o.Kind, o.AtMs, o.Undo = kind, s.now, s.undoing
	if s.inCall {
		o.Call = s.call
	}
	return o
}

func (s *Store) send() { s.options.Sink.Observe(&s.observation) }

// tell emits an observation that is complete, if there is a sink.
func (s *Store) tell(o *observe.Observation) {
	if o != nil {
		s.send()
	}
}

// begin starts a call and returns the request for the caller to fill in; started emits its observation.
func (s *Store) begin(kind observe.CallKind, caller Caller) *observe.CallRequest {
	s.call++
	s.inCall, s.caller, s.callKind = true, caller, kind
	s.request = observe.CallRequest{}
	if s.options.RulesOf != nil {
		if r := s.options.RulesOf(caller); r != nil {
			s.rules = r
		}
	}
	return &s.request
}

func (s *Store) started() {
	if o := s.observe(observe.CallBegin); o != nil {
		o.CallKind, o.Caller, o.Request = s.callKind, s.caller, &s.request
		s.send()
	}
}

// result holds what is reported about the end of a call, apart from its error.
type result struct {
	nothing  bool
	instance InstanceNo
	fetched  *engine.FetchedOrchestration
	work     *engine.FetchedWork
}

// end ends the call. It returns err as an error, so that a nil *ProviderError becomes a nil error.
func (s *Store) end(r result, err *engine.ProviderError) error {
	s.settle()
	if o := s.observe(observe.CallEnd); o != nil {
		o.CallKind, o.Caller, o.Err, o.Outcome = s.callKind, s.caller, err, outcome(r, err)
		o.Instance, o.Fetched, o.Work = r.instance, r.fetched, r.work
		switch {
		case r.fetched != nil:
			o.Messages, o.Token, o.NewCount = s.delivered, r.fetched.LockToken, r.fetched.AttemptCount
		case r.work != nil:
			o.Messages, o.Token, o.NewCount = s.delivered, r.work.LockToken, r.work.AttemptCount
		}
		s.send()
	}
	s.inCall, s.rules, s.arrival, s.mirror = false, s.own, nil, nil
	if err == nil {
		return nil
	}
	return err
}

func outcome(r result, err *engine.ProviderError) observe.Outcome {
	switch {
	case err != nil && err.Retryable:
		return observe.OutcomeRetryable
	case err != nil:
		return observe.OutcomePermanent
	case r.nothing:
		return observe.OutcomeNothing
	}
	return observe.OutcomeOK
}

func (s *Store) observeRow(kind observe.Kind, r *row) *observe.Observation {
	o := s.observe(kind)
	if o != nil {
		o.Queue, o.Message, o.Instance = r.queue, r.no, r.in.no
	}
	return o
}

func (s *Store) observeExecution(kind observe.Kind, in *instance, execution uint64) *observe.Observation {
	o := s.observe(kind)
	if o != nil {
		o.Instance, o.Execution = in.no, execution
	}
	return o
}

func (s *Store) observeLock(kind observe.Kind, in *instance, l *lock) {
	if o := s.observe(kind); o != nil {
		o.Queue, o.Instance, o.Token = observe.QueueOrchestrator, in.no, l.token
		if kind != observe.LockReleased {
			o.UntilMs = l.untilMs
		}
		s.send()
	}
}

func (s *Store) observeRowLock(kind observe.Kind, r *row, l *lock) {
	if o := s.observeRow(kind, r); o != nil {
		o.Token = l.token
		if kind != observe.LockReleased {
			o.UntilMs = l.untilMs
		}
		s.send()
	}
}
