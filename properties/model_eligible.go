package properties

import "github.com/durosim/durosim/engine"

// This file says what a fetch could be handed by the contract's rules (docs/contract/provider.md#p5.2 and #p5.8), of
// the model's state. Where the contract leaves in doubt whether something can be delivered, it cannot.

// eligible says whether a fetch with that filter could be handed the instance, and if not, at what later time that may
// change by time alone: neverMs if it cannot.
func (m *model) eligible(in *instanceState, filter *engine.CapabilityFilter, nowMs int64) (now bool, atMs int64) {
	if len(in.queue) == 0 || !filter.Admits(in.pin()) {
		return false, neverMs
	}
	if in.lock.live(nowMs) {
		return false, in.lock.untilMs
	}
	visible, atMs := false, int64(neverMs)
	for _, r := range in.queue {
		if r.visibleMs <= nowMs {
			visible = true
		} else {
			atMs = min(atMs, r.visibleMs)
		}
	}
	if visible && (in.created || !in.damaged() && in.hasContext(m, nowMs)) {
		return true, nowMs
	}
	return false, atMs
}

// orphaned says whether a fetch that takes unpinned work drops the instance's messages: they are queue messages only,
// nothing says what they are for, and no start is queued that will.
func (m *model) orphaned(in *instanceState, nowMs int64) bool {
	if in.created || in.lock.live(nowMs) || in.damaged() || in.hasContext(m, nowMs) || !in.visible(nowMs) {
		return false
	}
	for _, r := range in.queue {
		if isStart(r.kind) || r.visibleMs <= nowMs && r.kind != engine.ItemQueueMessage {
			return false
		}
	}
	return true
}

// damaged says whether a fault changed a queued message of the instance or its history.
func (in *instanceState) damaged() bool {
	for _, r := range in.queue {
		if r.damaged {
			return true
		}
	}
	ex := in.latest()
	return ex != nil && ex.kinds.has(kindDamaged)
}

// eligibleWork is eligible for an activity. Without a session config, activities of sessions are not for the taking; with
// one, those of a session that lives are its owner's.
func (m *model) eligibleWork(r *rowState, session *engine.SessionFetchConfig, tags engine.TagFilter, nowMs int64) (now bool, atMs int64) {
	w, ok := r.item.(engine.ActivityExecuteItem)
	if !ok || !r.present || !takesTag(tags, w.Tag) || w.SessionID != "" && session == nil {
		return false, neverMs
	}
	from := r.visibleMs
	if r.lock.live(nowMs) {
		from = max(from, r.lock.untilMs)
	}
	if w.SessionID != "" {
		if i, found := findSession(m.sessions, w.SessionID); found && m.sessions[i].untilMs > nowMs && m.sessions[i].owner != session.OwnerID {
			from = max(from, m.sessions[i].untilMs)
		}
	}
	return from <= nowMs, from
}

// takesTag is docs/contract/provider.md#p6.7.
func takesTag(f engine.TagFilter, tag string) bool {
	listed := false
	for _, t := range f.Tags {
		listed = listed || t == tag
	}
	switch f.Mode {
	case engine.TagAny:
		return true
	case engine.TagNone:
		return false
	case engine.TagTags:
		return tag != "" && listed
	case engine.TagDefaultAnd:
		return tag == "" || listed
	}
	return tag == ""
}
