package realnode

import (
	"fmt"
	"maps"
	"slices"

	"github.com/durosim/durosim/engine/machine"
)

// On released nodes, fault `slow-turn`: it never occurs. A released runtime computes a turn instantly, between two lines
// on the pipe.

// loops determines which of a node's dispatchers and workers makes each call, because a runtime does not report it. It
// attributes a fetch to the first idle loop, and a call with a lock token to the loop that received the token.
type loops struct{ turns, activities []loop }

// loop is one dispatcher or worker.
type loop struct {
	fetching bool
	token    string // lock token of the loop's work, or empty if it has none
}

func (l *loops) list(kind machine.SlotKind) []loop {
	if kind == machine.SlotOrchestration {
		return l.turns
	}
	return l.activities
}

// fetch marks a loop as fetching and returns its slot. It picks the first loop that holds nothing and is not fetching.
// If there is none, it picks the first loop that is not fetching: since the runtime fetches again, that loop must have
// finished its work without a call to the store.
func (l *loops) fetch(kind machine.SlotKind) machine.Slot {
	list := l.list(kind)
	i := slices.IndexFunc(list, func(l loop) bool { return !l.fetching && l.token == "" })
	if i < 0 {
		i = max(slices.IndexFunc(list, func(l loop) bool { return !l.fetching }), 0)
	}
	list[i] = loop{fetching: true}
	return machine.Slot{Kind: kind, Index: i}
}

// holder returns the slot of the loop that holds token, or the session slot if no loop holds it.
func (l *loops) holder(token string) machine.Slot {
	for _, kind := range []machine.SlotKind{machine.SlotOrchestration, machine.SlotWorker} {
		if i := slices.IndexFunc(l.list(kind), func(l loop) bool { return token != "" && l.token == token }); i >= 0 {
			return machine.Slot{Kind: kind, Index: i}
		}
	}
	return machine.Slot{Kind: machine.SlotSessions}
}

// answered records the outcome of a call. token is the lock token returned by a fetch.
func (l *loops) answered(p pendingCall, token string, err error) {
	if p.slot.Kind == machine.SlotSessions {
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

// count adds a returned call to the node's counters.
func (m *hostMachine) count(p pendingCall, a *machine.Answer) {
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

func (l *logLine) log() *machine.Log {
	out := &machine.Log{Level: machine.LevelInfo}
	switch l.Level {
	case "WARN":
		out.Level = machine.LevelWarn
	case "ERROR":
		out.Level = machine.LevelError
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
			out.Fields = append(out.Fields, machine.Field{Name: name, Value: value})
		}
	}
	return out
}
