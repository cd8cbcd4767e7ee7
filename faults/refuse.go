package faults

import (
	"context"
	"time"

	"github.com/durosim/durosim/engine"
)

// Refuse is a provider that asks decide before each queue call and, if it answers with an error, fails the call with it
// without reaching p: a busy store, or one that is not there. Reads and admin calls go through.
func Refuse(p engine.Provider, decide func(engine.CallKind) error) engine.Provider {
	return &refusing{Provider: p, decide: decide}
}

type refusing struct {
	engine.Provider
	decide func(engine.CallKind) error
}

func (r *refusing) EnqueueForOrchestrator(ctx context.Context, item engine.WorkItem, delay time.Duration) error {
	if err := r.decide(engine.CallEnqueueForOrchestrator); err != nil {
		return err
	}
	return r.Provider.EnqueueForOrchestrator(ctx, item, delay)
}

func (r *refusing) FetchOrchestrationItem(ctx context.Context, lockTimeout, pollTimeout time.Duration, filter *engine.CapabilityFilter) (*engine.FetchedOrchestration, error) {
	if err := r.decide(engine.CallFetchOrchestrationItem); err != nil {
		return nil, err
	}
	return r.Provider.FetchOrchestrationItem(ctx, lockTimeout, pollTimeout, filter)
}

func (r *refusing) AckOrchestrationItem(ctx context.Context, ack engine.OrchestrationAck) error {
	if err := r.decide(engine.CallAckOrchestrationItem); err != nil {
		return err
	}
	return r.Provider.AckOrchestrationItem(ctx, ack)
}

func (r *refusing) AbandonOrchestrationItem(ctx context.Context, token string, delay time.Duration, ignoreAttempt bool) error {
	if err := r.decide(engine.CallAbandonOrchestrationItem); err != nil {
		return err
	}
	return r.Provider.AbandonOrchestrationItem(ctx, token, delay, ignoreAttempt)
}

func (r *refusing) RenewOrchestrationItemLock(ctx context.Context, token string, extendFor time.Duration) error {
	if err := r.decide(engine.CallRenewOrchestrationItemLock); err != nil {
		return err
	}
	return r.Provider.RenewOrchestrationItemLock(ctx, token, extendFor)
}

func (r *refusing) EnqueueForWorker(ctx context.Context, item engine.WorkItem) error {
	if err := r.decide(engine.CallEnqueueForWorker); err != nil {
		return err
	}
	return r.Provider.EnqueueForWorker(ctx, item)
}

func (r *refusing) FetchWorkItem(ctx context.Context, lockTimeout, pollTimeout time.Duration, session *engine.SessionFetchConfig, tags engine.TagFilter) (*engine.FetchedWork, error) {
	if err := r.decide(engine.CallFetchWorkItem); err != nil {
		return nil, err
	}
	return r.Provider.FetchWorkItem(ctx, lockTimeout, pollTimeout, session, tags)
}

func (r *refusing) AckWorkItem(ctx context.Context, token string, completion engine.WorkItem) error {
	if err := r.decide(engine.CallAckWorkItem); err != nil {
		return err
	}
	return r.Provider.AckWorkItem(ctx, token, completion)
}

func (r *refusing) RenewWorkItemLock(ctx context.Context, token string, extendFor time.Duration) error {
	if err := r.decide(engine.CallRenewWorkItemLock); err != nil {
		return err
	}
	return r.Provider.RenewWorkItemLock(ctx, token, extendFor)
}

func (r *refusing) AbandonWorkItem(ctx context.Context, token string, delay time.Duration, ignoreAttempt bool) error {
	if err := r.decide(engine.CallAbandonWorkItem); err != nil {
		return err
	}
	return r.Provider.AbandonWorkItem(ctx, token, delay, ignoreAttempt)
}
