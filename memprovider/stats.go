package memprovider

import (
	"context"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/observe"
)

const opStats = "get_instance_stats"

// GetInstanceStats implements engine.Provider. Sizes are in bytes (F19).
func (p *provider) GetInstanceStats(_ context.Context, instance string) (*engine.SystemStats, error) {
	s := p.store
	s.begin(observe.CallGetInstanceStats, p.caller).Instance = instance
	s.started()
	in := s.known(instance)
	if in == nil || !in.meta.created {
		return nil, s.end(result{nothing: true}, nil)
	}
	stats := &engine.SystemStats{}
	for _, r := range s.readKV(instance) {
		stats.KVUserKeyCount++
		stats.KVTotalValueBytes += uint64(len(*r.value))
	}
	ex := in.execution(in.meta.current)
	if ex == nil {
		return stats, s.end(result{instance: in.no}, nil)
	}
	for _, e := range ex.events {
		stats.HistoryEventCount++
		stats.HistorySizeBytes += uint64(len(e.data))
	}
	if s.rules.StatsSkipUndecodable {
		readable, _ := s.decode(in, ex, p.codecNo, true)
		stats.HistoryEventCount = uint64(len(readable))
	}
	first, err := p.firstEvent(in, ex)
	if err != nil {
		return nil, s.end(result{instance: in.no}, engine.Permanentf(opStats, "event %d of %s, execution %d: %w",
			engine.InitialEventID, in.name, ex.id, err))
	}
	if started, ok := eventdata.Known(first.Data).(eventdata.OrchestrationStarted); ok {
		stats.QueuePendingCount = uint64(len(started.CarryForwardEvents))
	}
	return stats, s.end(result{instance: in.no}, nil)
}

// firstEvent returns the event with id 1 as decoded by the handle's codec, or an event without data if there is none.
func (p *provider) firstEvent(in *instance, ex *execution) (engine.Event, error) {
	s := p.store
	if len(ex.events) == 0 || ex.events[0].id != engine.InitialEventID {
		return engine.Event{}, nil
	}
	s.recall(ex, p.codecNo)
	if d := s.arena.seenBy(ex, p.codecNo); len(d.events) > 0 {
		s.observeDecoded(in, ex, 0, observe.OutcomeOK, true)
		return d.events[0], nil
	}
	e, err := p.codec.DecodeEvent(ex.events[0].data)
	outcome := observe.OutcomeOK
	if err != nil {
		outcome = observe.OutcomePermanent
	}
	s.observeDecoded(in, ex, 0, outcome, false)
	return e, err
}
