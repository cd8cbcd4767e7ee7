package conformance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
)

// look runs the operations that only read:
//
//	read INSTANCE [EXECUTION] [+kinds]   event ids, or ids and kinds
//	history INSTANCE [EXECUTION]         the same from the management surface
//	info INSTANCE                        NAME@VERSION #EXECUTION STATUS [OUTPUT] [of PARENT]
//	execution INSTANCE EXECUTION         STATUS COUNT events [OUTPUT] [ended]
//	list [STATUS], executions INSTANCE, latest INSTANCE
//	children INSTANCE, parent INSTANCE, tree INSTANCE
//	metrics                              instances, running, completed, failed, executions, events
//	depths                               orchestrator and worker queue, and timers if there are any
//	status INSTANCE SEEN                 none, STATUS vVERSION, or - vVERSION
//	kv INSTANCE KEY                      absent, or =VALUE
//	kvs INSTANCE                         {KEY=VALUE ...}
//	stats INSTANCE                       none, or COUNT events [sized] PENDING pending KEYS keys BYTES bytes
//
// It also runs operations that are not in the provider's interface: `corrupt INSTANCE EXECUTION EVENT` damages an
// event, `damage ITEM` damages a queued message, and `torn TOKEN ...` is an ack that fails midway (torn.go). The
// operations that delete are in remove.
func (w *caseRun) look(op string, a *arguments) (string, error) {
	switch op {
	case "read", "history":
		return w.readHistory(op, a)
	case "append":
		var events []engine.Event
		execution := a.number(a.word(1))
		for _, id := range strings.Split(a.word(2), ",") {
			events = append(events, a.event(id, a.word(0), execution))
		}
		return "", w.p.AppendWithExecution(ctx, a.word(0), execution, events)
	case "corrupt":
		if w.CorruptHistory == nil {
			lacks("the store cannot damage a history (Store.CorruptHistory)")
		}
		return "", w.CorruptHistory(a.word(0), a.number(a.word(1)), a.number(a.word(2)))
	case "damage":
		if w.CorruptMessage == nil {
			lacks("the store cannot damage a message (Store.CorruptMessage)")
		}
		return "", w.CorruptMessage(a.item(a.word(0)))
	case "torn":
		return "", w.tear(a)
	case "status":
		s, err := w.p.GetCustomStatus(ctx, a.word(0), a.number(a.word(1)))
		switch {
		case s == nil || err != nil:
			return "none", err
		case s.Status == nil:
			return fmt.Sprintf("- v%d", s.Version), nil
		}
		return fmt.Sprintf("%s v%d", *s.Status, s.Version), nil
	case "kv":
		v, err := w.p.GetKVValue(ctx, a.word(0), a.word(1))
		if v == nil || err != nil {
			return "absent", err
		}
		return "=" + *v, nil
	case "kvs":
		pairs, err := w.p.GetKVAllValues(ctx, a.word(0))
		var all []string
		for _, p := range pairs {
			all = append(all, p.Key+"="+p.Value)
		}
		return "{" + strings.Join(all, " ") + "}", err
	case "stats":
		s, err := w.p.GetInstanceStats(ctx, a.word(0))
		if s == nil || err != nil {
			return "none", err
		}
		size := ""
		if s.HistorySizeBytes > 0 {
			size = " sized"
		}
		return fmt.Sprintf("%d events%s %d pending %d keys %d bytes", s.HistoryEventCount, size, s.QueuePendingCount, s.KVUserKeyCount, s.KVTotalValueBytes), nil
	}
	return w.remove(op, a, w.admin())
}

func (w *caseRun) readHistory(op string, a *arguments) (string, error) {
	in := a.word(0)
	var execution uint64
	if len(a.plain) > 1 && !strings.HasPrefix(a.plain[1], "+") {
		execution = a.number(a.plain[1])
	}
	var events []engine.Event
	var err error
	switch {
	case op == "read" && execution == 0:
		events, err = w.p.Read(ctx, in)
	case op == "read":
		events, err = w.p.ReadWithExecution(ctx, in, execution)
	case execution == 0:
		events, err = w.admin().ReadHistory(ctx, in)
	default:
		events, err = w.admin().ReadHistoryWithExecutionID(ctx, in, execution)
	}
	if a.has("+kinds") {
		return showKinds(events), err
	}
	return showIDs(events), err
}

// describe runs the operations of the management surface that only read.
func (w *caseRun) describe(op string, a *arguments, admin engine.ProviderAdmin) (string, error) {
	switch op {
	case "info":
		i, err := admin.GetInstanceInfo(ctx, a.word(0))
		if err != nil {
			return "", err
		}
		text := fmt.Sprintf("%s@%s #%d %s", i.OrchestrationName, i.OrchestrationVersion, i.CurrentExecutionID, i.Status)
		if i.InstanceID != a.word(0) {
			text += " under the id " + i.InstanceID
		}
		if i.ParentInstanceID != "" {
			return text + outputOf(i.Output) + " of " + i.ParentInstanceID, nil
		}
		return text + outputOf(i.Output), nil
	case "execution":
		i, err := admin.GetExecutionInfo(ctx, a.word(0), a.number(a.word(1)))
		if err != nil {
			return "", err
		}
		text := fmt.Sprintf("%s %d events%s", i.Status, i.EventCount, outputOf(i.Output))
		if i.ExecutionID != a.number(a.word(1)) {
			text += fmt.Sprintf(" under the id %d", i.ExecutionID)
		}
		if i.CompletedAt != nil {
			text += " ended"
		}
		return text, nil
	case "list":
		if len(a.plain) > 0 {
			return sorted(admin.ListInstancesByStatus(ctx, engine.Status(a.word(0))))
		}
		return sorted(admin.ListInstances(ctx))
	case "executions":
		ids, err := admin.ListExecutions(ctx, a.word(0))
		return fmt.Sprint(ids), err
	case "latest":
		id, err := admin.LatestExecutionID(ctx, a.word(0))
		return fmt.Sprint(id), err
	case "children":
		return sorted(admin.ListChildren(ctx, a.word(0)))
	case "parent":
		parent, err := admin.GetParentID(ctx, a.word(0))
		if parent == "" {
			parent = "none"
		}
		return parent, err
	case "tree":
		tree, err := admin.GetInstanceTree(ctx, a.word(0))
		if err != nil {
			return "", err
		}
		all, err := sorted(tree.AllIDs, nil)
		return tree.RootID + ": " + all, err
	case "metrics":
		m, err := admin.GetSystemMetrics(ctx)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%d instances %d running %d completed %d failed %d executions %d events", m.TotalInstances,
			m.RunningInstances, m.CompletedInstances, m.FailedInstances, m.TotalExecutions, m.TotalEvents), nil
	case "depths":
		d, err := admin.GetQueueDepths(ctx)
		if err != nil {
			return "", err
		}
		text := fmt.Sprintf("%d %d", d.OrchestratorQueue, d.WorkerQueue)
		if d.TimerQueue != 0 {
			text += fmt.Sprintf(" and %d timers", d.TimerQueue)
		}
		return text, nil
	}
	mistaken("%s: nobody does this", a.line)
	return "", nil
}

// remove runs the operations that delete. They answer with counts: instances, executions, events and queue messages,
// or, when pruning, processed instances, executions and events.
//
//	delete INSTANCE [force]
//	deleteall A,B [force]                  DeleteInstancesAtomic; deleteall nobody lists none
//	bulk [ids=A,B before=MARK limit=N]     DeleteInstanceBulk
//	prune INSTANCE [keep=N before=MARK]
//	prunebulk [ids=A,B ended=MARK limit=N keep=N before=MARK]   ended belongs to the filter, before to the options
func (w *caseRun) remove(op string, a *arguments, admin engine.ProviderAdmin) (string, error) {
	var d *engine.DeleteInstanceResult
	var p *engine.PruneResult
	var err error
	options := engine.PruneOptions{KeepLast: a.optional("keep"), CompletedBefore: a.moment("before")}
	switch op {
	case "delete":
		d, err = admin.DeleteInstance(ctx, a.word(0), a.has("force"))
	case "deleteall":
		var ids []string
		if a.word(0) != "nobody" {
			ids = strings.Split(a.word(0), ",")
		}
		d, err = admin.DeleteInstancesAtomic(ctx, ids, a.has("force"))
	case "bulk":
		d, err = admin.DeleteInstanceBulk(ctx, a.instances("before"))
	case "prune":
		p, err = admin.PruneExecutions(ctx, a.word(0), options)
	case "prunebulk":
		p, err = admin.PruneExecutionsBulk(ctx, a.instances("ended"), options)
	default:
		return w.describe(op, a, admin)
	}
	switch {
	case err != nil:
		return "", err
	case d != nil:
		return fmt.Sprintf("%d %d %d %d", d.InstancesDeleted, d.ExecutionsDeleted, d.EventsDeleted, d.QueueMessagesDeleted), nil
	case p != nil:
		return fmt.Sprintf("%d %d %d", p.InstancesProcessed, p.ExecutionsDeleted, p.EventsDeleted), nil
	}
	return "no result", nil
}

// instances parses ids, limit, and the time given for the key cutoff.
func (a *arguments) instances(cutoff string) engine.InstanceFilter {
	f := engine.InstanceFilter{CompletedBefore: a.moment(cutoff), Limit: a.optional("limit")}
	if _, ok := a.named["ids"]; ok {
		f.InstanceIDs = append([]string{}, a.list("ids")...)
	}
	return f
}

func outputOf(output *string) string {
	if output == nil {
		return ""
	}
	return " " + *output
}

// sorted returns names in alphabetical order, since the contract does not promise any order.
func sorted(names []string, err error) (string, error) {
	if len(names) == 0 {
		return "none", err
	}
	return strings.Join(slices.Sorted(slices.Values(names)), " "), err
}
