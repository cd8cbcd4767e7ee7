package realnode

import (
	"fmt"
	"maps"
	"slices"

	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/node"
)

// loops tell the calls of a node's dispatchers and workers apart. A runtime does not say which of its loops makes a call;
// a fetch is taken for that of the first loop that holds nothing, and what names a token for that of the loop which was
// given it.
type loops struct{ turns, activities []loop }

// loop is one of them.
type loop struct {
	fetching bool
	token    string // of what it holds, empty for nothing
}

func (l *loops) list(kind node.SlotKind) []loop {
	if kind == node.SlotOrchestration {
		return l.turns
	}
	return l.activities
}

// fetch is the loop that fetches: one that holds nothing, or else, since the runtime fetches, one that is done with what
// it held without a word to the store.
func (l *loops) fetch(kind node.SlotKind) node.Slot {
	list := l.list(kind)
	i := slices.IndexFunc(list, func(l loop) bool { return !l.fetching && l.token == "" })
	if i < 0 {
		i = max(slices.IndexFunc(list, func(l loop) bool { return !l.fetching }), 0)
	}
	list[i] = loop{fetching: true}
	return node.Slot{Kind: kind, Index: i}
}

// holder is the loop that was given a token; the first of the sessions' for what nobody holds.
func (l *loops) holder(token string) node.Slot {
	for _, kind := range []node.SlotKind{node.SlotOrchestration, node.SlotWorker} {
		if i := slices.IndexFunc(l.list(kind), func(l loop) bool { return token != "" && l.token == token }); i >= 0 {
			return node.Slot{Kind: kind, Index: i}
		}
	}
	return node.Slot{Kind: node.SlotSessions}
}

// answered says what came of a call; token is what a fetch was given.
func (l *loops) answered(p pendingCall, token string, err error) {
	if p.slot.Kind == node.SlotSessions {
		return
	}
	one := &l.list(p.slot.Kind)[p.slot.Index]
	switch p.method {
	case "fetch_orchestration_item", "fetch_work_item":
		*one = loop{token: token}
	case "ack_orchestration_item", "ack_work_item":
		if err == nil && one.token == p.token {
			*one = loop{}
		}
	case "abandon_orchestration_item", "abandon_work_item":
		if one.token == p.token {
			*one = loop{}
		}
	}
}

// tokenOf is the token that a call names, empty for none.
func tokenOf(c call.Call) string {
	switch r := c.(type) {
	case call.AckOrchestrationItem:
		return r.LockToken
	case call.AbandonOrchestrationItem:
		return r.LockToken
	case call.RenewOrchestrationItemLock:
		return r.LockToken
	case call.AckWorkItem:
		return r.LockToken
	case call.AbandonWorkItem:
		return r.LockToken
	case call.RenewWorkItemLock:
		return r.LockToken
	}
	return ""
}

// count counts a call that has returned.
func (m *machine) count(p pendingCall, a node.Answer) {
	c := &m.counters
	switch p.method {
	case "fetch_orchestration_item", "fetch_work_item":
		c.Fetches++
		switch {
		case a.Err != nil:
			c.FetchErrors++
		case a.Orchestration != nil:
			c.FetchedOrchestrations++
		case a.Work != nil:
			c.FetchedWork++
		default:
			c.FetchedNothing++
		}
	case "ack_orchestration_item":
		if a.Err == nil {
			c.TurnsCommitted++
		}
	case "ack_work_item":
		if a.Err == nil {
			c.ActivitiesAcked++
		}
	case "renew_orchestration_item_lock", "renew_work_item_lock":
		c.Renewals++
		if a.Err != nil {
			c.RenewalFailures++
		}
	case "renew_session_lock":
		c.SessionRenewals++
	case "cleanup_orphaned_sessions":
		c.SessionsCleaned += uint64(max(a.Count, 0))
	}
}

// log is the line as a node's.
func (l *logLine) log() node.Log {
	out := node.Log{Level: node.LevelInfo}
	switch l.Level {
	case "WARN":
		out.Level = node.LevelWarn
	case "ERROR":
		out.Level = node.LevelError
	}
	for _, name := range slices.Sorted(maps.Keys(l.Fields)) {
		value, ok := l.Fields[name].(string)
		if !ok {
			value = fmt.Sprint(l.Fields[name])
		}
		switch name {
		case "message":
			out.Text = value
		case "instance_id", "instance":
			out.Instance = value
		default:
			out.Fields = append(out.Fields, node.Field{Name: name, Value: value})
		}
	}
	return out
}
