package memprovider

import (
	"context"
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
)

const (
	opRead              = "read"
	opReadWithExecution = "read_with_execution"
	opAppend            = "append_with_execution"
)

// Read implements engine.Provider.
func (p *provider) Read(_ context.Context, instance string) ([]engine.Event, error) {
	return p.readCall(observe.CallRead, opRead, instance, nil)
}

// ReadWithExecution implements engine.Provider.
func (p *provider) ReadWithExecution(_ context.Context, instance string, executionID uint64) ([]engine.Event, error) {
	return p.readCall(observe.CallReadWithExecution, opReadWithExecution, instance, &executionID)
}

// ReadHistory implements engine.ProviderAdmin.
func (p *provider) ReadHistory(_ context.Context, instance string) ([]engine.Event, error) {
	return p.readCall(observe.CallAdmin, "read_history", instance, nil)
}

// ReadHistoryWithExecutionID implements engine.ProviderAdmin.
func (p *provider) ReadHistoryWithExecutionID(_ context.Context, instance string, executionID uint64) ([]engine.Event, error) {
	return p.readCall(observe.CallAdmin, "read_history_with_execution_id", instance, &executionID)
}

// readCall reads one execution, or the latest if execution is nil.
func (p *provider) readCall(kind observe.CallKind, op, instance string, execution *uint64) ([]engine.Event, error) {
	s := p.store
	req := s.begin(kind, p.caller)
	if req.Instance = instance; kind == observe.CallAdmin {
		req.Admin = op
	}
	s.started()
	in := s.known(instance)
	if in == nil {
		return nil, s.end(result{}, nil)
	}
	id := in.latest()
	if execution != nil {
		id = *execution
	}
	events, err := s.decode(in, in.execution(id), p.codecNo, s.rules.ReadsSkipUndecodable)
	if err != nil {
		return nil, s.end(result{instance: in.no}, engine.Permanentf(op, "%w", err))
	}
	return events, s.end(result{instance: in.no}, nil)
}

// AppendWithExecution implements engine.Provider. It rejects event id 0, ids that are already stored, and duplicates
// (F7).
func (p *provider) AppendWithExecution(_ context.Context, instance string, executionID uint64, events []engine.Event) error {
	s := p.store
	s.begin(observe.CallAppendWithExecution, p.caller)
	s.started()
	return s.end(result{}, p.appendAll(instance, executionID, events))
}

func (p *provider) appendAll(instance string, executionID uint64, events []engine.Event) *engine.ProviderError {
	s := p.store
	if executionID == 0 {
		return engine.Permanentf(opAppend, "execution id 0 is invalid")
	}
	ex := s.executionOf(instance, executionID)
	data := make([][]byte, len(events))
	for i := range events {
		id := events[i].EventID
		dup := slices.ContainsFunc(events[:i], func(e engine.Event) bool { return e.EventID == id })
		if ex != nil && !dup {
			_, dup = ex.find(id)
		}
		if id == 0 || dup {
			return engine.Permanentf(opAppend, "duplicate or zero event id %d of %s, execution %d", id, instance, executionID)
		}
		var err error
		if data[i], err = p.codec.AppendEvent(nil, events[i]); err != nil {
			return engine.Permanentf(opAppend, "event %d: %w", id, err)
		}
	}
	if len(events) == 0 {
		return nil
	}
	in := s.named(instance)
	ex = s.historyOf(in, executionID)
	for i := range events {
		p.append(in, ex, &events[i], data[i])
	}
	return nil
}
