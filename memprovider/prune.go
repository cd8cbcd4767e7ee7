package memprovider

import (
	"context"
	"slices"

	"github.com/durosim/durosim/engine"
)

const (
	opPrune     = "prune_executions"
	opPruneBulk = "prune_executions_bulk"
)

// PruneExecutions implements engine.ProviderAdmin. It does not touch the queues or the key-value state.
func (p *provider) PruneExecutions(_ context.Context, instance string, options engine.PruneOptions) (*engine.PruneResult, error) {
	return observed(p, opPrune, instance, func(s *Store) (*engine.PruneResult, *engine.ProviderError) {
		in := s.known(instance)
		if in == nil || !in.meta.created {
			return nil, notFound(opPrune, "instance", instance)
		}
		r := &engine.PruneResult{}
		s.prune(in, options, r)
		return r, nil
	})
}

// PruneExecutionsBulk implements engine.ProviderAdmin.
func (p *provider) PruneExecutionsBulk(_ context.Context, filter engine.InstanceFilter, options engine.PruneOptions) (*engine.PruneResult, error) {
	return observed(p, opPruneBulk, "", func(s *Store) (*engine.PruneResult, *engine.ProviderError) {
		r := &engine.PruneResult{}
		for _, in := range s.matching(filter, func(*instance) bool { return true }) {
			s.prune(in, options, r)
		}
		return r, nil
	})
}

// prune removes the executions that completed before the cutoff, except for the last ones to keep, counted from the
// highest id down.
func (s *Store) prune(in *instance, options engine.PruneOptions, r *engine.PruneResult) {
	r.InstancesProcessed++
	if ex := in.execution(in.meta.current); ex != nil && ex.state.status == engine.StatusRunning && !s.rules.PrunesRunning {
		return
	}
	rank := uint64(0)
	for _, ex := range slices.Backward(slices.Clone(in.executions)) {
		if !ex.state.created {
			continue
		}
		rank++
		kept := options.KeepLast != nil && rank <= *options.KeepLast
		late := options.CompletedBefore != nil && !ex.completedBefore(*options.CompletedBefore)
		if !kept && !late && s.rules.Prunes(ex.id == in.meta.current, ex.state.status == engine.StatusRunning) {
			s.removeExecution(in, ex, &r.ExecutionsDeleted, &r.EventsDeleted)
		}
	}
	if s.rules.PruneTakesKV {
		s.emptyKV(in)
	}
}
