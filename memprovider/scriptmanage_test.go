package memprovider_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/memprovider"
)

// materialised is an event that an ack materialises: set:KEY:VALUE (time 100 + id), clear:KEY, clearall, status:TEXT or
// reset; started:N is a start event that carries N events forward.
func (a arguments) materialised(id uint64, what string) engine.Event {
	part := append(strings.Split(what, ":"), "", "")
	e := engine.Event{EventID: id, InstanceID: "any", ExecutionID: 1}
	switch part[0] {
	case "set":
		e.Data = eventdata.KeyValueSet{Key: part[1], Value: part[2], LastUpdatedAtMs: 100 + id}
	case "clear":
		e.Data = eventdata.KeyValueCleared{Key: part[1]}
	case "clearall":
		e.Data = eventdata.KeyValuesCleared{}
	case "status":
		e.Data = eventdata.CustomStatusUpdated{Status: &part[1]}
	case "reset":
		e.Data = eventdata.CustomStatusUpdated{}
	case "started":
		started := eventdata.OrchestrationStarted{Name: "TestOrch", Version: "1.0.0"}
		for range a.number(part[1]) {
			started.CarryForwardEvents = append(started.CarryForwardEvents, engine.CarriedEvent{Name: "q"})
		}
		e.Data = started
	default:
		a.t.Fatalf("%s: no event %q", a.line, what)
	}
	return e
}

func (a arguments) session() *engine.SessionFetchConfig {
	if owner, ok := a.named["owner"]; ok {
		return &engine.SessionFetchConfig{OwnerID: owner, LockTimeout: a.ms("slock", 30_000)}
	}
	return nil
}

func (a arguments) optional(key string) *uint64 {
	if text, ok := a.named[key]; ok {
		n := uint64(a.number(text))
		return &n
	}
	return nil
}

func (a arguments) bulk() engine.InstanceFilter {
	f := engine.InstanceFilter{CompletedBefore: a.optional("before"), Limit: a.optional("limit")}
	if ids, ok := a.named["ids"]; ok {
		f.InstanceIDs = strings.FieldsFunc(ids, func(r rune) bool { return r == ',' })
	}
	return f
}

func (a arguments) prune() engine.PruneOptions {
	return engine.PruneOptions{KeepLast: a.optional("keep"), CompletedBefore: a.optional("older")}
}

func deleted(r *engine.DeleteInstanceResult, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return fmt.Sprint(r.InstancesDeleted, r.ExecutionsDeleted, r.EventsDeleted, r.QueueMessagesDeleted), nil
}

func pruned(r *engine.PruneResult, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return fmt.Sprint(r.InstancesProcessed, r.ExecutionsDeleted, r.EventsDeleted), nil
}

// manage runs the operations on sessions, the key-value store, custom status, statistics and management:
func (w *world) manage(op string, a arguments) (string, error) {
	switch op {
	case "sessions":
		n, err := w.RenewSessionLock(ctx, strings.Split(a.word(0), ","), a.ms("extend", 30_000), a.ms("idle", 300_000))
		return fmt.Sprint(n), err
	case "sweep":
		n, err := w.CleanupOrphanedSessions(ctx, time.Second)
		return fmt.Sprint(n), err
	case "kv":
		if len(a.plain) > 1 {
			v, err := w.GetKVValue(ctx, a.word(0), a.word(1))
			if v == nil {
				return "none", err
			}
			return "\"" + *v + "\"", err
		}
		var texts []string
		pairs, err := w.GetKVAllValues(ctx, a.word(0))
		for _, kv := range pairs {
			texts = append(texts, kv.Key+"="+kv.Value)
		}
		return strings.Join(texts, " "), err
	case "preload": // preload INSTANCE STATUS
		status := a.word(1)
		return "", w.store.Preload(memprovider.PreloadedInstance{
			Instance: a.word(0), Orchestration: "TestOrch", CustomStatus: &status, Executions: []memprovider.PreloadedExecution{{ID: 1}},
		})
	case "status":
		c, err := w.GetCustomStatus(ctx, a.word(0), uint64(a.number(a.word(1))))
		switch {
		case c == nil:
			return "nothing", err
		case c.Status == nil:
			return fmt.Sprintf("reset %d", c.Version), err
		}
		return fmt.Sprintf("%s %d", *c.Status, c.Version), err
	case "stats":
		s, err := w.GetInstanceStats(ctx, a.word(0))
		if s == nil {
			return "nothing", err
		}
		if (s.HistorySizeBytes > 0) != (s.HistoryEventCount > 0) {
			a.t.Errorf("%d events of %d bytes", s.HistoryEventCount, s.HistorySizeBytes)
		}
		return fmt.Sprint(s.HistoryEventCount, s.QueuePendingCount, s.KVUserKeyCount, s.KVTotalValueBytes), err
	case "delete":
		return deleted(w.DeleteInstance(ctx, a.word(0), a.has("force")))
	case "deleteall":
		return deleted(w.DeleteInstancesAtomic(ctx, strings.Split(a.word(0), ","), a.has("force")))
	case "deletebulk":
		return deleted(w.DeleteInstanceBulk(ctx, a.bulk()))
	case "prune":
		return pruned(w.PruneExecutions(ctx, a.word(0), a.prune()))
	case "prunebulk":
		return pruned(w.PruneExecutionsBulk(ctx, a.bulk(), a.prune()))
	}
	return w.list(op, a)
}

func (w *world) list(op string, a arguments) (string, error) {
	var names []string
	var err error
	switch op {
	case "list":
		if len(a.plain) > 0 {
			names, err = w.ListInstancesByStatus(ctx, engine.Status(a.word(0)))
		} else {
			names, err = w.ListInstances(ctx)
		}
	case "children":
		names, err = w.ListChildren(ctx, a.word(0))
	case "tree":
		var t *engine.InstanceTree
		if t, err = w.GetInstanceTree(ctx, a.word(0)); err == nil {
			names = t.AllIDs
		}
	case "parent":
		parent, err := w.GetParentID(ctx, a.word(0))
		return "\"" + parent + "\"", err
	case "executions":
		ids, err := w.ListExecutions(ctx, a.word(0))
		return fmt.Sprint(ids), err
	case "metrics":
		m, err := w.GetSystemMetrics(ctx)
		if err != nil {
			return "", err
		}
		return fmt.Sprint(m.TotalInstances, m.RunningInstances, m.CompletedInstances, m.FailedInstances, m.TotalExecutions, m.TotalEvents), nil
	default:
		a.t.Fatalf("%s: no such operation", a.line)
	}
	return strings.Join(names, " "), err
}
