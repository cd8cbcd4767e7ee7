package properties

import "github.com/durosim/durosim/engine"

// This file has the relations admits, reads and runs of docs/architecture.md#relations, as they are now, and who waits
// for them.

func (s *liveState) afterStep() {
	if !s.nodesChanged {
		return
	}
	s.nodesChanged = false
	now := s.m.w.NowMs()
	for no := 1; no <= s.m.store.instanceCount(); no++ {
		s.look(engine.InstanceNo(no), now)
	}
}

// look finds out whether visible work of an instance begins or ceases to wait because no live node admits it.
func (s *liveState) look(no engine.InstanceNo, now int64) {
	in := s.instance(no)
	state := s.m.store.instance(no)
	if len(state.queue) == 0 {
		in.waitingMs, in.releasedMs = 0, 0
		return
	}
	if state.locked(now) || !state.visible(now) || !state.hasContext(s.m.store, now) {
		return
	}
	anyLive := false
	for i := range s.nodes {
		n := &s.nodes[i]
		if !n.live() || n.options.OrchestrationConcurrency == 0 {
			continue
		}
		anyLive = true
		if n.filter.Admits(state.pin()) {
			if in.waitingMs != 0 {
				in.waitingMs, in.releasedMs = 0, now
			}
			return
		}
	}
	in.releasedMs = 0
	if in.waitingMs == 0 && anyLive {
		in.waitingMs, in.waited = now, true
		for _, l := range s.listeners {
			l.onWaits(state)
		}
	}
}

// admits says whether a live node admits an instance now.
func (s *liveState) admits(n *liveNode, in *instanceState) bool {
	return n.live() && n.options.OrchestrationConcurrency > 0 && n.filter.Admits(in.pin())
}

// admitted says whether any does, and since when the longest of them lives.
func (s *liveState) admitted(in *instanceState) (ok bool, sinceMs int64) {
	sinceMs = neverMs
	for i := range s.nodes {
		if n := &s.nodes[i]; s.admits(n, in) {
			ok, sinceMs = true, min(sinceMs, n.liveSinceMs)
		}
	}
	return ok, sinceMs
}

// reads says whether a node's build decodes the current history and the queued messages of an instance.
func (s *liveState) reads(n *liveNode, in *instanceState) bool {
	if ex := in.latest(); ex != nil && ex.kinds&^n.reads != 0 {
		return false
	}
	for _, r := range in.queue {
		if !s.readsItem(n, r) {
			return false
		}
	}
	return true
}

var itemKinds1x = engine.WorkItemKinds1x()

func (s *liveState) readsItem(n *liveNode, r *rowState) bool {
	if !r.damaged && itemKinds1x.Has(r.kind) {
		return true
	}
	_, err := n.build.Codec.DecodeWorkItem(r.bytes)
	return err == nil
}

// missing is the handler that the next turn of an instance needs and the node has not, empty if it has it.
func (s *liveState) missing(n *liveNode, in *instanceState) string {
	status := in.status()
	if status == engine.StatusRunning {
		if _, ok := n.registry.ResolveStarted(in.orchestration, in.version); !ok {
			return in.orchestration + "@" + in.version
		}
		return ""
	}
	for _, r := range in.queue {
		name, version := "", ""
		switch w := r.item.(type) {
		case engine.StartItem:
			name, version = w.Orchestration, w.Version
		case engine.ContinueAsNewItem:
			name, version = w.Orchestration, w.Version
		default:
			continue
		}
		if _, ok := n.registry.ResolveStart(name, version); !ok {
			if version == "" {
				version = "any version"
			}
			return name + "@" + version
		}
		return ""
	}
	return ""
}

// runs is the third relation of docs/architecture.md#relations: a live node admits, reads and has the handler.
func (s *liveState) runs(n *liveNode, in *instanceState) bool {
	return s.admits(n, in) && s.reads(n, in) && s.missing(n, in) == ""
}

// anyRuns says whether a live node runs the instance.
func (s *liveState) anyRuns(in *instanceState) bool {
	for i := range s.nodes {
		if s.runs(&s.nodes[i], in) {
			return true
		}
	}
	return false
}

// takes says whether a live node takes an activity, and whether it has its code.
func (s *liveState) takes(n *liveNode, r *rowState) (takes, has bool) {
	if !n.live() || n.options.WorkerConcurrency == 0 {
		return false, false
	}
	w, ok := r.item.(engine.ActivityExecuteItem)
	if !ok {
		return true, false
	}
	if w.SessionID != "" || !n.options.WorkerTagFilter.Matches(w.Tag) {
		return false, false
	}
	_, has = n.registry.Activity(w.Name)
	return true, has
}

// onDeleted forgets an instance: it owes nothing, nobody waits for it, and a child of it that is still to begin stands
// alone. What is started under its name later is another instance.
func (s *liveState) onDeleted(no engine.InstanceNo) {
	in := s.instance(no)
	if in.parent != 0 && !in.ended {
		s.instances[in.parent].children--
	}
	for i := range s.instances {
		if s.instances[i].parent == no {
			s.instances[i].parent = 0
		}
	}
	*in = liveInstance{deleted: true, turns: in.turns, outsideMs: in.outsideMs}
}
