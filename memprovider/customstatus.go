package memprovider

import (
	"context"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/observe"
)

// customStatus performs the ack's custom status step. The last update in the delta wins, and the version increases by
// one regardless of the number of updates. An instance without a row has no custom status.
func (c *commit) customStatus() {
	if !c.in.meta.created {
		return
	}
	var last eventdata.CustomStatusUpdated
	updates := 0
	for i := range c.ack.HistoryDelta {
		if e, ok := eventdata.Known(c.ack.HistoryDelta[i].Data).(eventdata.CustomStatusUpdated); ok {
			last = e
			updates++
		}
	}
	if updates > 0 {
		s := c.p.store
		s.setCustomStatus(c.in, last.Status, s.rules.CustomStatusVersion(c.in.meta.customVersion, updates))
	}
}

// setCustomStatus sets the custom status and its version.
func (s *Store) setCustomStatus(in *instance, status *string, version uint64) {
	s.noteMeta(in)
	in.meta.customStatus, in.meta.customVersion = status, version
	s.observeCustomStatus(in)
}

func (s *Store) observeCustomStatus(in *instance) {
	if o := s.observe(observe.CustomStatusSet); o != nil {
		o.Instance, o.Value, o.Version = in.no, in.meta.customStatus, in.meta.customVersion
		s.send()
	}
}

// GetCustomStatus implements engine.Provider.
func (p *provider) GetCustomStatus(_ context.Context, instance string, lastSeen uint64) (*engine.CustomStatus, error) {
	s := p.store
	s.begin(observe.CallGetCustomStatus, p.caller).Instance = instance
	s.started()
	in := s.known(instance)
	if in == nil || !in.meta.created || in.meta.customVersion <= lastSeen {
		return nil, s.end(result{nothing: true}, nil)
	}
	status := &engine.CustomStatus{Status: in.meta.customStatus, Version: in.meta.customVersion}
	return status, s.end(result{instance: in.no}, nil)
}
