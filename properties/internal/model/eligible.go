package model

import (
	"cmp"
	"slices"

	"github.com/durosim/durosim/engine"
)

// This file derives from the model's state which work a fetch may deliver under the contract
// (docs/contract/provider.md#p5.2 and #p5.8). Work that the contract allows but does not require to be delivered does
// not count.

// Eligible reports whether a fetch with the given filter could deliver the instance now. If it could not, Eligible
// returns the next time at which this may change on its own, or NeverMs.
func (m *Shadow) Eligible(in *Instance, filter *engine.CapabilityFilter, nowMs int64) (now bool, atMs int64) {
	if len(in.Queue) == 0 || !Admits(filter, in.Pin()) {
		return false, NeverMs
	}
	if in.Lock.Live(nowMs) {
		return false, in.Lock.UntilMs
	}
	visible, atMs := false, int64(NeverMs)
	for _, r := range in.Queue {
		if r.VisibleMs <= nowMs {
			visible = true
		} else {
			atMs = min(atMs, r.VisibleMs)
		}
	}
	if visible && (in.Created || !in.damaged() && in.HasContext(m, nowMs)) {
		return true, nowMs
	}
	return false, atMs
}

// Orphaned reports whether a fetch that takes unpinned work drops the instance's messages. It does if all of them are
// queue messages, nothing says what the instance runs, and no queued start will.
func (m *Shadow) Orphaned(in *Instance, nowMs int64) bool {
	if in.Created || in.Lock.Live(nowMs) || in.damaged() || in.HasContext(m, nowMs) || !in.Visible(nowMs) {
		return false
	}
	for _, r := range in.Queue {
		if IsStart(r.Kind) || r.VisibleMs <= nowMs && r.Kind != engine.ItemQueueMessage {
			return false
		}
	}
	return true
}

// damaged reports whether a fault has changed the instance's history or any of its queued messages.
func (in *Instance) damaged() bool {
	for _, r := range in.Queue {
		if r.Damaged {
			return true
		}
	}
	ex := in.Latest()
	return ex != nil && ex.Kinds.Has(KindDamaged)
}

// EligibleWork is like Eligible, for an activity. Without a session config, a fetch takes no session activities. With
// one, the activities of a live session go only to the session's owner.
func (m *Shadow) EligibleWork(r *Row, session *engine.SessionFetchConfig, tags engine.TagFilter, nowMs int64) (now bool, atMs int64) {
	w, ok := r.Item.(engine.ActivityExecuteItem)
	if !ok || !r.Present || !TakesTag(tags, w.Tag) || w.SessionID != "" && session == nil {
		return false, NeverMs
	}
	from := r.VisibleMs
	if r.Lock.Live(nowMs) {
		from = max(from, r.Lock.UntilMs)
	}
	if w.SessionID != "" {
		if i, found := FindSession(m.Sessions, w.SessionID); found && m.Sessions[i].UntilMs > nowMs && m.Sessions[i].Owner != session.OwnerID {
			from = max(from, m.Sessions[i].UntilMs)
		}
	}
	return from <= nowMs, from
}

// TakesTag reports whether a filter accepts a tag; see docs/contract/provider.md#p6.7.
func TakesTag(f engine.TagFilter, tag string) bool {
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

func FindSession(list []Session, id string) (int, bool) {
	return slices.BinarySearchFunc(list, id, func(x Session, id string) int { return cmp.Compare(x.ID, id) })
}
