package properties

import (
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/cluster"
)

// needs are the orchestrations, as "Name@1.0.0", and the activities of the caller's Handlers that the plan uses, sorted;
// nil if the handlers are those that are shipped.
func (s *shrinker) needs(c Concrete) []string {
	if s.o.Handlers == nil {
		return nil
	}
	builds := engine.ShippedBuilds()
	if s.o.Builds != nil {
		builds = s.o.Builds()
	}
	own := map[string]bool{}
	for _, b := range builds {
		r := node.NewRegistry()
		if s.o.Handlers(r, b) != nil {
			continue // the plan does not run that build, or it would have failed
		}
		for _, name := range slices.Concat(r.Orchestrations(), r.Activities()) {
			own[name] = true
		}
	}
	used := &usedHandlers{}
	cfg := s.config(c, sim.Replay(c.Choices))
	cfg.Monitor = func(w *cluster.World) cluster.Monitor {
		used.Monitor = New(w, Options{Expectations: c.Expect})
		return used
	}
	if _, err := cluster.Run(cfg); err != nil {
		return nil
	}
	names := slices.DeleteFunc(used.names, func(name string) bool { return !own[name] })
	slices.Sort(names)
	return slices.Compact(names)
}

// usedHandlers is a monitor that also notes which orchestrations begin and which activities are asked for.
type usedHandlers struct {
	cluster.Monitor
	names []string
}

// Observe implements engine.Sink.
func (u *usedHandlers) Observe(o *engine.Observation) {
	switch o.Kind {
	case engine.ObsInstanceCreated:
		u.names = append(u.names, o.Name+"@"+o.Token)
	case engine.ObsRowInserted:
		if item, ok := o.Item.(engine.ActivityExecuteItem); ok {
			u.names = append(u.names, item.Name)
		}
	}
	u.Monitor.Observe(o)
}
