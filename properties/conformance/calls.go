package conformance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
)

// do runs the operations on queues and turns:
//
//	send ITEM [delay=MS]         enqueue for the orchestrator; arguments.item documents the items
//	fetch [TOKEN] [lock=MS poll=MS filter=A..B,C..D] [+name +history +kv +kvtime]    showFetched, or none
//	fetchall [filter=]           fetch until nothing is left; the answers in alphabetical order, or none
//	fetchin N [TOKEN]            the first of N fetches that finds something, or none
//	ack TOKEN [...]              see ack
//	abandon TOKEN [delay=MS] [ignore]
//	renew TOKEN MS
//	make INSTANCE [...]          start, fetch, ack execution 1 with OS1, name TestOrch@1.0.0, and what an ack takes
//	bare INSTANCE [...]          the same with empty metadata: an execution with a history, but no instance
//	turn INSTANCE [...]          raise an event, fetch it, ack the fetched execution
//	can INSTANCE EXECUTION [...] a turn that ends with ContinuedAsNew, and the first turn of the next execution
//	fin INSTANCE [...]           a turn that completes the current execution with output done
//	act ITEM                     enqueue for the worker; arguments.activity documents the items
//	work [TOKEN] [lock=MS poll=MS tags=any|none|a,b|+a,b owner=W slock=MS]    ITEM xCOUNT, or none
//	finish TOKEN [ITEM]          ack an activity, with or without a completion
//	quit TOKEN [delay=MS] [ignore]   abandon an activity
//	extend TOKEN MS              renew an activity's lock
//	hold OWNER,OWNER MS [idle=MS]    renew sessions; answers how many
//	sweep                        clean up sessions; answers how many
//	wait MS
//	mark NAME [+MS]              store the time, or a later one, under a name
//	mark NAME INSTANCE EXECUTION store the time at which an execution ended
//	store                        continue with another, empty store
func (w *caseRun) do(op string, a *arguments) (string, error) {
	switch op {
	case "send":
		return "", w.p.EnqueueForOrchestrator(ctx, a.item(a.word(0)), a.ms("delay", 0))
	case "fetch":
		f, err := w.p.FetchOrchestrationItem(ctx, a.ms("lock", longLock), a.ms("poll", 0), a.filter())
		if f == nil || err != nil {
			return "none", err
		}
		w.took(f.LockToken, a.name())
		return showFetched(f, a), nil
	case "fetchin":
		got, err := "none", error(nil)
		for range a.number(a.plain[0]) {
			if got, err = w.do("fetch", &arguments{w: w, line: a.line, plain: a.plain[1:], named: a.named}); got != "none" || err != nil {
				break
			}
		}
		return got, err
	case "fetchall":
		return w.fetchAll(a)
	case "ack":
		return "", w.p.AckOrchestrationItem(ctx, a.ack(w.token(a.word(0)), 1))
	case "abandon":
		return "", w.p.AbandonOrchestrationItem(ctx, w.token(a.word(0)), a.ms("delay", 0), a.has("ignore"))
	case "renew":
		return "", w.p.RenewOrchestrationItemLock(ctx, w.token(a.word(0)), w.ms(int(a.number(a.word(1)))))
	case "act":
		return "", w.p.EnqueueForWorker(ctx, w.workerItem(a))
	case "work":
		f, err := w.p.FetchWorkItem(ctx, a.ms("lock", longLock), a.ms("poll", 0), a.session(), a.tags())
		if f == nil || err != nil {
			return "none", err
		}
		w.took(f.LockToken, a.name())
		return fmt.Sprintf("%s x%d", show(f.Item), f.AttemptCount), nil
	case "finish":
		var completion engine.WorkItem
		if len(a.plain) > 1 {
			completion = a.item(a.plain[1])
		}
		return "", w.p.AckWorkItem(ctx, w.token(a.word(0)), completion)
	case "quit":
		return "", w.p.AbandonWorkItem(ctx, w.token(a.word(0)), a.ms("delay", 0), a.has("ignore"))
	case "extend":
		return "", w.p.RenewWorkItemLock(ctx, w.token(a.word(0)), w.ms(int(a.number(a.word(1)))))
	case "hold":
		var owners []string
		if a.word(0) != "nobody" {
			owners = strings.Split(a.word(0), ",")
		}
		n, err := w.p.RenewSessionLock(ctx, owners, w.ms(int(a.number(a.word(1)))), a.ms("idle", 300*longLock))
		return fmt.Sprint(n), err
	case "sweep":
		n, err := w.p.CleanupOrphanedSessions(ctx, 300*longLock)
		return fmt.Sprint(n), err
	case "wait":
		w.wait(w.ms(int(a.number(a.word(0)))))
		return "", nil
	case "mark":
		return "", w.mark(a)
	case "store":
		w.fresh()
		return "", nil
	}
	if got, err, ok := w.compose(op, a); ok {
		return got, err
	}
	return w.look(op, a)
}

// workerItem parses an activity. For the cases about wrong kinds, it also parses other items.
func (w *caseRun) workerItem(a *arguments) engine.WorkItem {
	if kind, _, _ := strings.Cut(a.word(0), ":"); kind == "ext" {
		return a.item(a.word(0))
	}
	return a.activity(a.word(0))
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
		ack.WorkerItems = append(ack.WorkerItems, a.activity(strings.TrimPrefix(text, "act:")))
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

// compose runs the operations that make several calls.
func (w *caseRun) compose(op string, a *arguments) (string, error, bool) {
	otherwise := func(key, value string) {
		if _, ok := a.named[key]; !ok {
			a.named[key] = value
		}
	}
	switch op {
	case "make":
		otherwise("name", "TestOrch@1.0.0")
		otherwise("events", "OS1")
		return "", w.turn(a, "start:"+a.word(0), 1), true
	case "bare":
		otherwise("events", "OS1")
		return "", w.turn(a, "start:"+a.word(0), 1), true
	case "turn":
		return "", w.turn(a, "ext:"+a.word(0)+":turn", 0), true
	case "fin":
		otherwise("events", "9999:done:done")
		otherwise("status", "Completed")
		otherwise("output", "done")
		otherwise("name", "TestOrch@1.0.0")
		return "", w.turn(a, "ext:"+a.word(0)+":fin", 0), true
	case "can":
		next := a.number(a.word(1))
		end := &arguments{w: w, line: a.line, plain: a.plain, named: map[string]string{"status": "ContinuedAsNew"}}
		if err := w.turn(end, "ext:"+a.word(0)+":can", next-1); err != nil {
			return "", err, true
		}
		otherwise("name", "TestOrch@1.0.0")
		otherwise("events", "OS1")
		return "", w.turn(a, "can:"+a.word(0), next), true
	}
	return "", nil, false
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
