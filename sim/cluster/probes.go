package cluster

import (
	"fmt"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
)

// probeState is a probe at work. Probes are outsiders: their caller has node 0 and the probe's number as incarnation.
type probeState struct {
	plan     *Probe
	provider engine.Provider
	filter   *engine.CapabilityFilter
	left     int
}

// probeLock is for how long a probe locks what it gets; it gives it back at once.
const probeLock = time.Second

func (w *World) beginProbe(i int) time.Duration {
	p := &w.plan.Probes[i]
	filter, err := parseProbeFilter(p.Filter)
	if err != nil {
		panic(fmt.Sprintf("cluster: probe %s: %v", p.Name, err)) // Validate has refused it
	}
	b := findBuild(w.builds, p.Build)
	w.probes = append(w.probes, &probeState{
		plan: p, filter: filter, left: p.Count, provider: w.storeHandle(b.Codec, engine.Caller{Incarnation: uint32(i + 1)}),
	})
	w.kernel.At(w.start.Add(p.From), w.root.Name(labelProbe, p.Name), event{kind: evProbe, a: uint64(i)})
	return p.From + time.Duration(max(p.Count-1, 0))*p.Every
}

func (w *World) onProbe(i int) {
	s := w.probes[i]
	if s.left == 0 || w.phase != PhaseTurbulence {
		return
	}
	s.left--
	w.changed = true
	got, err := s.provider.FetchOrchestrationItem(w.ctx, probeLock, 0, s.filter)
	if err == nil && got != nil {
		// What the probe is told when it gives back does not matter to it: an expired token is the provider's business.
		_ = s.provider.AbandonOrchestrationItem(w.ctx, got.LockToken, 0, s.plan.IgnoreAttempt)
	}
	w.kernel.After(s.plan.Every, w.root.Name(labelProbe, s.plan.Name), event{kind: evProbe, a: uint64(i)})
}

// parseProbeFilter reads "any", "none", or ranges separated by " | ".
func parseProbeFilter(text string) (*engine.CapabilityFilter, error) {
	switch text {
	case "any":
		return nil, nil
	case "none":
		return &engine.CapabilityFilter{}, nil
	}
	f := &engine.CapabilityFilter{}
	for part := range strings.SplitSeq(text, "|") {
		r, err := engine.ParseRange(strings.TrimSpace(part))
		if err != nil {
			return nil, fmt.Errorf("filter %q: %w", text, err)
		}
		f.SupportedVersions = append(f.SupportedVersions, r)
	}
	return f, nil
}
