package sqlite

import (
	"context"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/properties/conformance"
	"github.com/durosim/durosim/properties/oracle/search"
)

// checkThenAct chooses an instance in one transaction and takes its lock in the next.
type checkThenAct struct {
	*Provider
	between func()
}

func (p checkThenAct) FetchOrchestrationItem(ctx context.Context, lock, _ time.Duration, filter *engine.CapabilityFilter) (fetched *engine.FetchedOrchestration, err error) {
	const op = "fetch_orchestration_item"
	var candidates []string
	if err := p.transact(ctx, op, func(t *tx) (err error) {
		candidates, err = t.candidates(filter)
		return err
	}); err != nil {
		return nil, err
	}
	p.between()
	err = p.transact(ctx, op, func(t *tx) (err error) {
		for _, instance := range candidates {
			if fetched, err = t.deliver(instance, lock); fetched != nil || err != nil {
				break
			}
		}
		return err
	})
	return fetched, err
}

// sendLater commits a turn first, and sends the turn's work and messages afterwards.
type sendLater struct {
	*Provider
	between func()
}

func (p sendLater) AckOrchestrationItem(ctx context.Context, ack engine.OrchestrationAck) error {
	work, messages := ack.WorkerItems, ack.OrchestratorItems
	ack.WorkerItems, ack.OrchestratorItems = nil, nil
	if err := p.Provider.AckOrchestrationItem(ctx, ack); err != nil {
		return err
	}
	p.between()
	for _, item := range work {
		if err := p.EnqueueForWorker(ctx, item); err != nil {
			return err
		}
	}
	for _, item := range messages {
		if err := p.EnqueueForOrchestrator(ctx, item, 0); err != nil {
			return err
		}
	}
	return nil
}

// ackOfAll removes all of an instance's messages, instead of only those in the batch.
type ackOfAll struct{ *Provider }

func (p ackOfAll) AckOrchestrationItem(ctx context.Context, ack engine.OrchestrationAck) error {
	const op = "ack_orchestration_item"
	return p.transact(ctx, op, func(t *tx) error {
		instance, err := t.holder(op, ack.LockToken)
		if err != nil {
			return err
		}
		if err := t.change(`DELETE FROM orchestrator_queue WHERE instance_id = ?`, instance); err != nil {
			return err
		}
		return t.ack(op, ack)
	})
}

// completionApart sends an activity's completion in a separate transaction. No caller can see the moment between the
// two transactions, because a locked activity looks the same as a missing one. Only a rejected completion shows the
// mistake.
type completionApart struct{ *Provider }

func (p completionApart) AckWorkItem(ctx context.Context, token string, completion engine.WorkItem) error {
	if err := p.Provider.AckWorkItem(ctx, token, nil); err != nil || completion == nil {
		return err
	}
	return p.EnqueueForOrchestrator(ctx, completion, 0)
}

// TestMistakesAreSeen checks that the other tests detect mistakes. A mistake that sequential calls cannot show must
// show in concurrent ones.
func TestMistakesAreSeen(t *testing.T) {
	for _, m := range []struct {
		name       string
		wrong      variant
		conforms   string // a conformance case that always fails
		sequences  bool   // whether search.Search finds the mistake soon
		concurrent bool   // whether overlap.Search finds the mistake
	}{
		{"the lock is checked in one transaction and taken in another", func(p *Provider, between func()) engine.Provider { return checkThenAct{p, between} }, "", false, true},
		{"the work of a turn is sent after its commit", func(p *Provider, between func()) engine.Provider { return sendLater{p, between} }, "", false, true},
		{"a completion is sent after the activity is gone", func(p *Provider, _ func()) engine.Provider { return completionApart{p} }, "", true, false},
		{"an ack removes what arrived since the fetch", func(p *Provider, _ func()) engine.Provider { return ackOfAll{p} }, "IL-07", true, false},
	} {
		t.Run(m.name, func(t *testing.T) {
			if m.conforms != "" && conformance.Ask(virtual(t, m.wrong), m.conforms)[0].Failure == "" {
				t.Errorf("case %s passes", m.conforms)
			}
			if m.sequences {
				report, err := search.Search(virtual(t, m.wrong), search.Options{})
				if err != nil || report.Unknown() == nil {
					t.Errorf("search.Search found nothing: %v", err)
				}
			}
			if m.concurrent {
				if report := searchOverlap(t, m.wrong, 300); report.Finding == nil {
					t.Errorf("overlap.Search found nothing: %+v", *report)
				}
			}
		})
	}
}
