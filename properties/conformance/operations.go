package conformance

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
)

// operation is what a line of a script does: which arguments it takes, and how it is run. It answers with a text.
type operation struct {
	least, most    int // plain words
	switches, keys string
	run            func(w *caseRun, a *arguments) (string, error)
}

// operations has each operation by its name, behind a comment with its arguments and its answer. It is only used for
// lookups. Unknown words must be rejected, because an operation that ignored one would silently weaken its case.
var operations = map[string]operation{
	// send ITEM [delay=MS]: enqueue for the orchestrator; arguments.item documents the items
	"send": {1, 1, "", "delay", func(w *caseRun, a *arguments) (string, error) {
		return "", w.p.EnqueueForOrchestrator(ctx, a.item(a.word(0)), a.ms("delay", 0))
	}},
	// fetch [TOKEN] [lock=MS poll=MS filter=A..B,C..D] [+name +history +kv +kvtime]: showFetched, or none
	"fetch": {0, 1, "+name +history +kv +kvtime", "lock poll filter", (*caseRun).fetch},
	// fetchall [filter=]: fetch until nothing is left; the answers in alphabetical order, or none
	"fetchall": {0, 0, "", "filter", (*caseRun).fetchAll},
	// fetchin N [TOKEN]: the first of N fetches that finds something, or none
	"fetchin": {1, 2, "", "filter", func(w *caseRun, a *arguments) (string, error) {
		got, err := "none", error(nil)
		for range a.number(a.plain[0]) {
			if got, err = w.fetch(&arguments{w: w, line: a.line, plain: a.plain[1:], named: a.named}); got != "none" || err != nil {
				break
			}
		}
		return got, err
	}},
	// ack TOKEN [...]: see ack
	"ack": {1, 1, "", ackKeys, func(w *caseRun, a *arguments) (string, error) {
		return "", w.p.AckOrchestrationItem(ctx, a.ack(w.token(a.word(0)), 1))
	}},
	// torn TOKEN [...]: an ack that fails midway (torn.go)
	"torn": {1, 1, "", ackKeys, func(w *caseRun, a *arguments) (string, error) { return "", w.tear(a) }},
	// abandon TOKEN [delay=MS] [ignore]
	"abandon": {1, 1, "ignore", "delay", func(w *caseRun, a *arguments) (string, error) {
		return "", w.p.AbandonOrchestrationItem(ctx, w.token(a.word(0)), a.ms("delay", 0), a.has("ignore"))
	}},
	// renew TOKEN MS
	"renew": {2, 2, "", "", func(w *caseRun, a *arguments) (string, error) {
		return "", w.p.RenewOrchestrationItemLock(ctx, w.token(a.word(0)), a.wait(1))
	}},
	// make INSTANCE [...]: start, fetch, ack execution 1 with OS1, name TestOrch@1.0.0, and what an ack takes
	"make": {1, 1, "", ackKeys, func(w *caseRun, a *arguments) (string, error) {
		a.otherwise("name", "TestOrch@1.0.0", "events", "OS1")
		return "", w.turn(a, "start:"+a.word(0), 1)
	}},
	// bare INSTANCE [...]: the same with empty metadata: an execution with a history, but no instance
	"bare": {1, 1, "", ackKeys, func(w *caseRun, a *arguments) (string, error) {
		a.otherwise("events", "OS1")
		return "", w.turn(a, "start:"+a.word(0), 1)
	}},
	// turn INSTANCE [...]: raise an event, fetch it, ack the fetched execution
	"turn": {1, 1, "", ackKeys, func(w *caseRun, a *arguments) (string, error) { return "", w.turn(a, "ext:"+a.word(0)+":turn", 0) }},
	// can INSTANCE EXECUTION [...]: a turn that ends with ContinuedAsNew, and the first turn of the next execution
	"can": {2, 2, "", ackKeys, func(w *caseRun, a *arguments) (string, error) {
		next := a.number(a.word(1))
		end := &arguments{w: w, line: a.line, plain: a.plain, named: map[string]string{"status": "ContinuedAsNew"}}
		if err := w.turn(end, "ext:"+a.word(0)+":can", next-1); err != nil {
			return "", err
		}
		a.otherwise("name", "TestOrch@1.0.0", "events", "OS1")
		return "", w.turn(a, "can:"+a.word(0), next)
	}},
	// fin INSTANCE [...]: a turn that completes the current execution with output done
	"fin": {1, 1, "", ackKeys, func(w *caseRun, a *arguments) (string, error) {
		a.otherwise("events", "9999:done:done", "status", "Completed", "output", "done", "name", "TestOrch@1.0.0")
		return "", w.turn(a, "ext:"+a.word(0)+":fin", 0)
	}},
	// act ITEM: enqueue for the worker; arguments.activity documents the items
	"act": {1, 1, "", "", func(w *caseRun, a *arguments) (string, error) {
		return "", w.p.EnqueueForWorker(ctx, a.workerItem(a.word(0)))
	}},
	// work [TOKEN] [lock=MS poll=MS tags=any|none|a,b|+a,b owner=W slock=MS]: ITEM xCOUNT, or none
	"work": {0, 1, "", "lock poll tags owner slock", func(w *caseRun, a *arguments) (string, error) {
		f, err := w.p.FetchWorkItem(ctx, a.ms("lock", longLock), a.ms("poll", 0), a.session(), a.tags())
		if f == nil || err != nil {
			return "none", err
		}
		w.took(f.LockToken, a.name())
		return fmt.Sprintf("%s x%d", show(f.Item), f.AttemptCount), nil
	}},
	// finish TOKEN [ITEM]: ack an activity, with or without a completion
	"finish": {1, 2, "", "", func(w *caseRun, a *arguments) (string, error) {
		var completion engine.WorkItem
		if len(a.plain) > 1 {
			completion = a.item(a.plain[1])
		}
		return "", w.p.AckWorkItem(ctx, w.token(a.word(0)), completion)
	}},
	// quit TOKEN [delay=MS] [ignore]: abandon an activity
	"quit": {1, 1, "ignore", "delay", func(w *caseRun, a *arguments) (string, error) {
		return "", w.p.AbandonWorkItem(ctx, w.token(a.word(0)), a.ms("delay", 0), a.has("ignore"))
	}},
	// extend TOKEN MS: renew an activity's lock
	"extend": {2, 2, "", "", func(w *caseRun, a *arguments) (string, error) {
		return "", w.p.RenewWorkItemLock(ctx, w.token(a.word(0)), a.wait(1))
	}},
	// hold OWNER,OWNER MS [idle=MS]: renew sessions; answers how many
	"hold": {2, 2, "", "idle", func(w *caseRun, a *arguments) (string, error) {
		return shown(w.p.RenewSessionLock(ctx, a.idsOf(0), a.wait(1), a.ms("idle", 300*longLock)))
	}},
	// sweep: clean up sessions; answers how many
	"sweep": {0, 0, "", "", func(w *caseRun, _ *arguments) (string, error) {
		return shown(w.p.CleanupOrphanedSessions(ctx, 300*longLock))
	}},
	// wait MS
	"wait": {1, 1, "", "", func(w *caseRun, a *arguments) (string, error) {
		w.wait(a.wait(0))
		return "", nil
	}},
	// age MS: wait, unless that takes real time
	"age": {1, 1, "", "", func(w *caseRun, a *arguments) (string, error) {
		if w.Advance != nil {
			w.wait(a.wait(0))
		}
		return "", nil
	}},
	// mark NAME [+MS]: store the time, or a later one, under a name
	// mark NAME INSTANCE EXECUTION: store the time at which an execution ended
	"mark": {1, 3, "", "", func(w *caseRun, a *arguments) (string, error) { return "", w.mark(a) }},
	// store: continue with another, empty store
	"store": {0, 0, "", "", func(w *caseRun, _ *arguments) (string, error) {
		w.fresh()
		return "", nil
	}},

	// read INSTANCE [EXECUTION] [+kinds]: event ids, or ids and kinds
	"read": {1, 2, "+kinds", "", func(w *caseRun, a *arguments) (string, error) {
		if execution := a.execution(); execution != 0 {
			return a.events(w.p.ReadWithExecution(ctx, a.word(0), execution))
		}
		return a.events(w.p.Read(ctx, a.word(0)))
	}},
	// history INSTANCE [EXECUTION] [+kinds]: the same from the management surface
	"history": {1, 2, "+kinds", "", func(w *caseRun, a *arguments) (string, error) {
		if execution := a.execution(); execution != 0 {
			return a.events(w.admin().ReadHistoryWithExecutionID(ctx, a.word(0), execution))
		}
		return a.events(w.admin().ReadHistory(ctx, a.word(0)))
	}},
	// append INSTANCE EXECUTION EVENT,EVENT
	"append": {3, 3, "", "", func(w *caseRun, a *arguments) (string, error) {
		var events []engine.Event
		execution := a.number(a.word(1))
		for _, id := range strings.Split(a.word(2), ",") {
			events = append(events, a.event(id, a.word(0), execution))
		}
		return "", w.p.AppendWithExecution(ctx, a.word(0), execution, events)
	}},
	// corrupt INSTANCE EXECUTION EVENT: damages an event
	"corrupt": {3, 3, "", "", func(w *caseRun, a *arguments) (string, error) {
		if w.CorruptHistory == nil {
			lacks("the store cannot damage a history (corrupt_event; in Go, Store.CorruptHistory)")
		}
		return "", w.CorruptHistory(a.word(0), a.number(a.word(1)), a.number(a.word(2)))
	}},
	// damage ITEM: damages a queued message
	"damage": {1, 1, "", "", func(w *caseRun, a *arguments) (string, error) {
		if w.CorruptMessage == nil {
			lacks("the store cannot damage a message (corrupt_message; in Go, Store.CorruptMessage)")
		}
		return "", w.CorruptMessage(a.item(a.word(0)))
	}},
	// status INSTANCE SEEN: none, STATUS vVERSION, or - vVERSION
	"status": {2, 2, "", "", func(w *caseRun, a *arguments) (string, error) {
		s, err := w.p.GetCustomStatus(ctx, a.word(0), a.number(a.word(1)))
		switch {
		case s == nil || err != nil:
			return "none", err
		case s.Status == nil:
			return fmt.Sprintf("- v%d", s.Version), nil
		}
		return fmt.Sprintf("%s v%d", *s.Status, s.Version), nil
	}},
	// kv INSTANCE KEY: absent, or =VALUE
	"kv": {2, 2, "", "", func(w *caseRun, a *arguments) (string, error) {
		v, err := w.p.GetKVValue(ctx, a.word(0), a.word(1))
		if v == nil || err != nil {
			return "absent", err
		}
		return "=" + *v, nil
	}},
	// kvs INSTANCE: {KEY=VALUE ...}
	"kvs": {1, 1, "", "", func(w *caseRun, a *arguments) (string, error) {
		pairs, err := w.p.GetKVAllValues(ctx, a.word(0))
		var all []string
		for _, p := range pairs {
			all = append(all, p.Key+"="+p.Value)
		}
		return "{" + strings.Join(all, " ") + "}", err
	}},
	// stats INSTANCE: none, or COUNT events [sized] PENDING pending KEYS keys BYTES bytes
	"stats": {1, 1, "", "", func(w *caseRun, a *arguments) (string, error) {
		s, err := w.p.GetInstanceStats(ctx, a.word(0))
		if s == nil || err != nil {
			return "none", err
		}
		size := ""
		if s.HistorySizeBytes > 0 {
			size = " sized"
		}
		return fmt.Sprintf("%d events%s %d pending %d keys %d bytes", s.HistoryEventCount, size, s.QueuePendingCount, s.KVUserKeyCount, s.KVTotalValueBytes), nil
	}},

	// info INSTANCE: NAME@VERSION #EXECUTION STATUS [OUTPUT] [of PARENT]
	"info": {1, 1, "", "", func(w *caseRun, a *arguments) (string, error) {
		i, err := w.admin().GetInstanceInfo(ctx, a.word(0))
		if err != nil {
			return "", err
		}
		text := fmt.Sprintf("%s@%s #%d %s", i.OrchestrationName, i.OrchestrationVersion, i.CurrentExecutionID, i.Status)
		if i.InstanceID != a.word(0) {
			text += " under the id " + i.InstanceID
		}
		text += outputOf(i.Output)
		if i.ParentInstanceID != "" {
			text += " of " + i.ParentInstanceID
		}
		return text, nil
	}},
	// execution INSTANCE EXECUTION [+time +pin]: STATUS COUNT events [OUTPUT] [ended] [at MS] [pin VERSION]
	"execution": {2, 2, "+time +pin", "", func(w *caseRun, a *arguments) (string, error) {
		i, err := w.admin().GetExecutionInfo(ctx, a.word(0), a.number(a.word(1)))
		if err != nil {
			return "", err
		}
		text := fmt.Sprintf("%s %d events%s", i.Status, i.EventCount, outputOf(i.Output))
		if i.ExecutionID != a.number(a.word(1)) {
			text += fmt.Sprintf(" under the id %d", i.ExecutionID)
		}
		if i.CompletedAt != nil {
			text += " ended"
			if a.has("+time") {
				text += fmt.Sprintf(" at %d", *i.CompletedAt)
			}
		}
		if i.PinnedVersion != nil && a.has("+pin") {
			text += " pin " + i.PinnedVersion.String()
		}
		return text, nil
	}},
	// list [STATUS]
	"list": {0, 1, "", "", func(w *caseRun, a *arguments) (string, error) {
		if len(a.plain) > 0 {
			return sorted(w.admin().ListInstancesByStatus(ctx, engine.Status(a.word(0))))
		}
		return sorted(w.admin().ListInstances(ctx))
	}},
	// executions INSTANCE, latest INSTANCE, children INSTANCE, parent INSTANCE, tree INSTANCE
	"executions": {1, 1, "", "", func(w *caseRun, a *arguments) (string, error) { return shown(w.admin().ListExecutions(ctx, a.word(0))) }},
	"latest": {1, 1, "", "", func(w *caseRun, a *arguments) (string, error) {
		return shown(w.admin().LatestExecutionID(ctx, a.word(0)))
	}},
	"children": {1, 1, "", "", func(w *caseRun, a *arguments) (string, error) { return sorted(w.admin().ListChildren(ctx, a.word(0))) }},
	"parent": {1, 1, "", "", func(w *caseRun, a *arguments) (string, error) {
		parent, err := w.admin().GetParentID(ctx, a.word(0))
		return cmp.Or(parent, "none"), err
	}},
	"tree": {1, 1, "", "", func(w *caseRun, a *arguments) (string, error) {
		tree, err := w.admin().GetInstanceTree(ctx, a.word(0))
		if err != nil {
			return "", err
		}
		all, err := sorted(tree.AllIDs, nil)
		return tree.RootID + ": " + all, err
	}},
	// metrics: instances, running, completed, failed, executions, events
	"metrics": {0, 0, "", "", func(w *caseRun, _ *arguments) (string, error) {
		m, err := w.admin().GetSystemMetrics(ctx)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%d instances %d running %d completed %d failed %d executions %d events", m.TotalInstances,
			m.RunningInstances, m.CompletedInstances, m.FailedInstances, m.TotalExecutions, m.TotalEvents), nil
	}},
	// depths: orchestrator and worker queue, and timers if there are any
	"depths": {0, 0, "", "", func(w *caseRun, _ *arguments) (string, error) {
		d, err := w.admin().GetQueueDepths(ctx)
		if err != nil {
			return "", err
		}
		text := fmt.Sprintf("%d %d", d.OrchestratorQueue, d.WorkerQueue)
		if d.TimerQueue != 0 {
			text += fmt.Sprintf(" and %d timers", d.TimerQueue)
		}
		return text, nil
	}},

	// The operations that delete answer with counts: instances, executions, events and queue messages, or, when pruning,
	// processed instances, executions and events.
	//
	// delete INSTANCE [force]
	"delete": {1, 1, "force", "", func(w *caseRun, a *arguments) (string, error) {
		return deleted(w.admin().DeleteInstance(ctx, a.word(0), a.has("force")))
	}},
	// deleteall A,B [force]; deleteall nobody lists none
	"deleteall": {1, 1, "force", "", func(w *caseRun, a *arguments) (string, error) {
		return deleted(w.admin().DeleteInstancesAtomic(ctx, a.idsOf(0), a.has("force")))
	}},
	// bulk [ids=A,B before=MARK limit=N]
	"bulk": {0, 0, "", "ids before limit", func(w *caseRun, a *arguments) (string, error) {
		return deleted(w.admin().DeleteInstanceBulk(ctx, a.instances("before")))
	}},
	// prune INSTANCE [keep=N before=MARK]
	"prune": {1, 1, "", "keep before", func(w *caseRun, a *arguments) (string, error) {
		return pruned(w.admin().PruneExecutions(ctx, a.word(0), a.pruning()))
	}},
	// prunebulk [ids=A,B ended=MARK limit=N keep=N before=MARK]: ended belongs to the filter, before to the options
	"prunebulk": {0, 0, "", "ids ended limit keep before", func(w *caseRun, a *arguments) (string, error) {
		return pruned(w.admin().PruneExecutionsBulk(ctx, a.instances("ended"), a.pruning()))
	}},
}

const ackKeys = "exec events name status output parent pin work send cancel"

// do runs an operation. It ends a case if its script has an unknown operation or an unexpected word.
func (w *caseRun) do(name string, a *arguments) (string, error) {
	op, ok := operations[name]
	if !ok {
		mistaken("%s: no such operation", a.line)
	}
	plain := 0
	for _, word := range a.plain {
		if !slices.Contains(strings.Fields(op.switches), word) {
			plain++
		}
	}
	if plain < op.least || plain > op.most {
		mistaken("%s: %d plain words, %s takes %d to %d", a.line, plain, name, op.least, op.most)
	}
	for key := range a.named {
		if !slices.Contains(strings.Fields(op.keys), key) {
			mistaken("%s: %s takes no %s=", a.line, name, key)
		}
	}
	return op.run(w, a)
}

func (w *caseRun) fetch(a *arguments) (string, error) {
	f, err := w.p.FetchOrchestrationItem(ctx, a.ms("lock", longLock), a.ms("poll", 0), a.filter())
	if f == nil || err != nil {
		return "none", err
	}
	w.took(f.LockToken, a.name())
	return showFetched(f, a), nil
}

// workerItem parses an activity. For the cases about wrong kinds, it also parses other items.
func (a *arguments) workerItem(text string) engine.WorkItem {
	if kind, _, _ := strings.Cut(text, ":"); kind == "ext" {
		return a.item(text)
	}
	return a.activity(strings.TrimPrefix(text, "act:"))
}

func (w *caseRun) fetchAll(a *arguments) (string, error) {
	var all []string
	for len(all) < 1000 {
		f, err := w.p.FetchOrchestrationItem(ctx, longLock, 0, a.filter())
		if err != nil {
			return "", err
		}
		if f == nil {
			break
		}
		w.took(f.LockToken, f.Item.Instance)
		all = append(all, showFetched(f, a))
	}
	if len(all) == 0 {
		return "none", nil
	}
	slices.Sort(all)
	return strings.Join(all, ", "), nil
}

// ack parses the contents of an ack: exec, events, `name=NAME@VERSION`, status, output, parent, pin, work and send
// (items), and `cancel=INSTANCE[#EXECUTION]:ID`. Without exec, the ack is for the given execution.
func (a *arguments) ack(token string, execution uint64) engine.OrchestrationAck {
	if e, ok := a.named["exec"]; ok {
		execution = a.number(e)
	}
	ack := engine.OrchestrationAck{LockToken: token, ExecutionID: execution}
	for _, e := range a.list("events") {
		ack.HistoryDelta = append(ack.HistoryDelta, a.event(e, "any", execution))
	}
	m := &ack.Metadata
	if name := a.named["name"]; name != "" {
		m.OrchestrationName, m.OrchestrationVersion, _ = strings.Cut(name, "@")
	}
	m.Status, m.ParentInstanceID = engine.Status(a.named["status"]), a.named["parent"]
	if out, ok := a.named["output"]; ok {
		m.Output = &out
	}
	if pin := a.named["pin"]; pin != "" {
		v := engine.MustParseVersion(pin)
		m.PinnedVersion = &v
	}
	for _, text := range a.list("work") {
		ack.WorkerItems = append(ack.WorkerItems, a.workerItem(text))
	}
	ack.OrchestratorItems = a.items("send")
	for _, c := range a.list("cancel") {
		where, id, _ := strings.Cut(c, ":")
		in, e := a.target(where)
		ack.CancelledActivities = append(ack.CancelledActivities,
			engine.ScheduledActivityIdentifier{Instance: in, ExecutionID: e, ActivityID: a.number(id)})
	}
	return ack
}

// turn sends an item, fetches its instance and acks the turn. Execution 0 stands for the fetched execution.
func (w *caseRun) turn(a *arguments, item string, execution uint64) error {
	if err := w.p.EnqueueForOrchestrator(ctx, a.item(item), 0); err != nil {
		return err
	}
	f, err := w.p.FetchOrchestrationItem(ctx, longLock, 0, nil)
	if err != nil {
		return err
	}
	switch in := a.word(0); {
	case f == nil:
		fail("%s: the fetch found nothing after %s was sent", a.line, item)
	case f.Item.Instance != in:
		fail("%s: the fetch gave %s, the only work is for %s", a.line, f.Item.Instance, in)
	case execution == 0:
		execution = f.Item.ExecutionID
	}
	w.took(f.LockToken, "")
	return w.p.AckOrchestrationItem(ctx, a.ack(f.LockToken, execution))
}

func (w *caseRun) mark(a *arguments) error {
	switch {
	case len(a.plain) == 3:
		info, err := w.admin().GetExecutionInfo(ctx, a.plain[1], a.number(a.plain[2]))
		if err != nil {
			return err
		}
		if info.CompletedAt == nil {
			fail("%s: the execution has no completion time", a.line)
		}
		w.marks[a.word(0)] = *info.CompletedAt
	case len(a.plain) == 2:
		w.marks[a.word(0)] = w.now() + a.number(strings.TrimPrefix(a.plain[1], "+"))
	default:
		w.marks[a.word(0)] = w.now()
	}
	return nil
}

// otherwise gives keys a value that the line does not have.
func (a *arguments) otherwise(pairs ...string) {
	for i := 0; i < len(pairs); i += 2 {
		if _, ok := a.named[pairs[i]]; !ok {
			a.named[pairs[i]] = pairs[i+1]
		}
	}
}

// idsOf parses `A,B`, or nobody, which lists none.
func (a *arguments) idsOf(i int) []string {
	if a.word(i) == "nobody" {
		return nil
	}
	return strings.Split(a.word(i), ",")
}

// execution returns the execution that a read is about, or 0 for the latest.
func (a *arguments) execution() uint64 {
	if len(a.plain) > 1 && !strings.HasPrefix(a.plain[1], "+") {
		return a.number(a.plain[1])
	}
	return 0
}

func (a *arguments) events(events []engine.Event, err error) (string, error) {
	if a.has("+kinds") {
		return showKinds(events), err
	}
	return showIDs(events), err
}

// instances parses ids, limit, and the time given for the key cutoff.
func (a *arguments) instances(cutoff string) engine.InstanceFilter {
	f := engine.InstanceFilter{CompletedBefore: a.moment(cutoff), Limit: a.optional("limit")}
	if _, ok := a.named["ids"]; ok {
		f.InstanceIDs = append([]string{}, a.list("ids")...)
	}
	return f
}

func (a *arguments) pruning() engine.PruneOptions {
	return engine.PruneOptions{KeepLast: a.optional("keep"), CompletedBefore: a.moment("before")}
}

func shown(v any, err error) (string, error) { return fmt.Sprint(v), err }

func deleted(d *engine.DeleteInstanceResult, err error) (string, error) {
	switch {
	case err != nil:
		return "", err
	case d == nil:
		return "no result", nil
	}
	return fmt.Sprintf("%d %d %d %d", d.InstancesDeleted, d.ExecutionsDeleted, d.EventsDeleted, d.QueueMessagesDeleted), nil
}

func pruned(p *engine.PruneResult, err error) (string, error) {
	switch {
	case err != nil:
		return "", err
	case p == nil:
		return "no result", nil
	}
	return fmt.Sprintf("%d %d %d", p.InstancesProcessed, p.ExecutionsDeleted, p.EventsDeleted), nil
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
