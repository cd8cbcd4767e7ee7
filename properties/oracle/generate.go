package oracle

import (
	"pgregory.net/rapid"

	"github.com/durosim/durosim/engine"
)

// The small worlds that sequences are made of. Small, so that calls meet.
var (
	genInstances = []string{"A", "B", "C", "D"}
	genKeys      = []string{"k", "l"}
	genPins      = []*engine.Version{nil, {Major: 1}, {Major: 1, Minor: 9, Patch: 9}, {Major: 1, Minor: 10}, {Major: 2}, {Major: 2, Pre: "rc.1"}, {Major: 1, Minor: 1000}}
	genDelays    = []int64{0, 0, 1, 500, 1000}
	genLocks     = []int64{1000, 1000, 0, 1, 5000}
	genTags      = []string{"", "", "gpu", "GPU"}
	genSessions  = []string{"", "", "s1", "s2"}
	genOwners    = []string{"w1", "w2"}
)

func genFilters() []*Filter {
	of := func(ranges ...string) *Filter {
		f := &Filter{SupportedVersions: []engine.VersionRange{}}
		for i := 0; i < len(ranges); i += 2 {
			f.SupportedVersions = append(f.SupportedVersions, engine.VersionRange{Min: engine.MustParseVersion(ranges[i]), Max: engine.MustParseVersion(ranges[i+1])})
		}
		return f
	}
	return []*Filter{
		nil, nil, nil, of(), of("1.0.0", "1.9.9"), of("2.0.0", "2.0.0"), of("0.0.0", "9.0.0"), of("2.0.0", "1.0.0"), of("1.0.0", "1.9.9", "2.0.0", "3.0.0"),
		of("1.9.0", "1.10.0"), of("0.0.0", "0.9.0"),
	}
}

func pick[T any](t *rapid.T, label string, from []T) T { return rapid.SampledFrom(from).Draw(t, label) }

// oneIn is true once in n draws, and false in the shrunk case.
func oneIn(t *rapid.T, label string, n int) bool { return rapid.IntRange(0, n-1).Draw(t, label) == n-1 }

func (c *checker) instance(t *rapid.T) string { return pick(t, "instance", genInstances) }

func (c *checker) message(t *rapid.T, to string) engine.WorkItem {
	return pick(t, "message", []engine.WorkItem{
		engine.StartItem{Instance: to, Orchestration: "Orch", Version: "1.0.0", ExecutionID: 1},
		engine.StartItem{Instance: to, Orchestration: "Orch", ExecutionID: 1},
		engine.ExternalRaisedItem{Instance: to, Name: "e"},
		engine.QueueMessageItem{Instance: to, Name: "q"},
		engine.QueueMessageItem{Instance: to, Name: "r"},
		engine.ContinueAsNewItem{Instance: to, Orchestration: "Next", Version: "2.0.0"},
		engine.ActivityCompletedItem{Instance: to, ExecutionID: 7, ID: 2},
		engine.CancelInstanceItem{Instance: to, Reason: "enough"},
		engine.SubOrchCompletedItem{ParentInstance: to, ParentExecutionID: 1, ParentID: 2},
		engine.TimerFiredItem{Instance: to, ExecutionID: 1, ID: 3, FireAtMs: uint64(c.in.NowMs() + 500)},
	})
}

func (c *checker) activity(t *rapid.T, of string) engine.WorkItem {
	return engine.ActivityExecuteItem{
		Instance: of, ExecutionID: pick(t, "execution", []uint64{1, 1, 2}), ID: rapid.Uint64Range(2, 3).Draw(t, "activity"), Name: "Act",
		SessionID: pick(t, "session", genSessions), Tag: pick(t, "tag", genTags),
	}
}

func (c *checker) enqueue(t *rapid.T) {
	item := c.message(t, c.instance(t))
	if oneIn(t, "wrong kind", 20) {
		item = c.activity(t, "A")
	}
	delay := pick(t, "delay", genDelays)
	c.do(t, EnqueueForOrchestrator{Item{item}, delay})
	c.soon(delay)
}

func (c *checker) fetch(t *rapid.T) {
	r := FetchOrchestrationItem{LockTimeoutMs: pick(t, "lock", genLocks), Filter: pick(t, "filter", genFilters())}
	if a := c.do(t, r); a.Item != nil {
		c.tokens, c.items = append(c.tokens, a.Item.Token), append(c.items, a.Item.Instance)
	}
	c.soon(r.LockTimeoutMs)
}

// turn is a message with what usually follows it: a fetch and an ack. It leads to places that single calls seldom reach.
func (c *checker) turn(t *rapid.T) {
	to := c.instance(t)
	c.do(t, EnqueueForOrchestrator{Item{c.message(t, to)}, 0})
	if a := c.do(t, FetchOrchestrationItem{LockTimeoutMs: 1000}); a.Item != nil {
		c.tokens, c.items = append(c.tokens, a.Item.Token), append(c.items, a.Item.Instance)
		c.commit(t, a.Item.Token, a.Item.Instance)
	}
	c.soon(1000)
}

// offer is a message and a fetch by some filter.
func (c *checker) offer(t *rapid.T) {
	c.do(t, EnqueueForOrchestrator{Item{c.message(t, c.instance(t))}, 0})
	c.fetch(t)
}

// token picks one of the last few tokens, and with it the instance that it was given for.
func (c *checker) token(t *rapid.T) (token, instance string) {
	n := len(c.tokens)
	i := n - 1 - rapid.IntRange(0, min(n-1, 3)).Draw(t, "token")
	return c.tokens[i], c.items[i]
}

func (c *checker) workToken(t *rapid.T) string {
	n := len(c.work)
	return c.work[n-1-rapid.IntRange(0, min(n-1, 3)).Draw(t, "work token")]
}

func (c *checker) event(t *rapid.T, in string, execution uint64) engine.Event {
	c.nextEvent++
	e := engine.Event{EventID: c.nextEvent, InstanceID: in, ExecutionID: execution, TimestampMs: uint64(c.in.NowMs()), DuroxideVersion: "1.5.0"}
	value := "v"
	e.Data = pick(t, "event", []engine.EventData{
		engine.ActivityScheduled{Name: "Act"},
		engine.KeyValueSet{Key: pick(t, "key", genKeys), Value: pick(t, "value", []string{"1", "", "2"}), LastUpdatedAtMs: c.nextEvent},
		engine.KeyValueCleared{Key: pick(t, "key", genKeys)},
		engine.KeyValuesCleared{},
		engine.CustomStatusUpdated{Status: &value},
		engine.CustomStatusUpdated{},
		engine.OrchestrationStarted{Name: "Orch", Version: "1.0.0", CarryForwardEvents: []engine.CarriedEvent{{Name: "q"}}},
		engine.OrchestrationStarted{Name: "Orch", Version: "1.0.0"},
	})
	switch {
	case e.Kind() == engine.KindOrchestrationStarted:
		e.EventID = 1
	case oneIn(t, "taken id", 12):
		e.EventID = rapid.Uint64Range(1, 11).Draw(t, "event id")
	case oneIn(t, "no id", 40):
		e.EventID = 0
	}
	return e
}

func (c *checker) metadata(t *rapid.T, in string) Metadata {
	var m Metadata
	switch rapid.IntRange(0, 9).Draw(t, "named") {
	case 8:
		m.OrchestrationName = "Orch"
	case 9:
	default:
		m.OrchestrationName, m.OrchestrationVersion = "Orch", pick(t, "version", []string{"1.0.0", "2.0.0"})
	}
	// Parents stand before their children, so that there is no circle.
	if parent := pick(t, "parent", []string{"", "", "A", "B", "ghost"}); parent < in || parent == "ghost" {
		m.ParentInstanceID = parent
	}
	m.PinnedVersion = pick(t, "pin", genPins)
	m.Status = pick(t, "status", []engine.Status{"", engine.StatusCompleted, engine.StatusContinuedAsNew, engine.StatusRunning, engine.StatusFailed, "Strange"})
	if rapid.Bool().Draw(t, "with output") {
		output := "out"
		m.Output = &output
	}
	return m
}

func (c *checker) ack(t *rapid.T) {
	token, in := c.token(t)
	c.commit(t, token, in)
}

func (c *checker) commit(t *rapid.T, token, in string) {
	r := AckOrchestrationItem{Token: token, ExecutionID: pick(t, "execution", []uint64{1, 1, 2, 3}), Metadata: c.metadata(t, in)}
	var events int = rapid.IntRange(0, 3).Draw(t, "events")
	for range events {
		r.HistoryDelta = append(r.HistoryDelta, c.event(t, in, r.ExecutionID))
	}
	if rapid.Bool().Draw(t, "sends") {
		to := c.instance(t)
		r.OrchestratorItems = Items{c.message(t, to)}
		c.soon(500)
	}
	if rapid.Bool().Draw(t, "schedules") {
		r.WorkerItems = Items{c.activity(t, c.instance(t))}
	}
	if oneIn(t, "cancels", 3) {
		r.CancelledActivities = []Activity{{c.instance(t), pick(t, "execution", []uint64{1, 1, 2}), rapid.Uint64Range(2, 3).Draw(t, "activity")}}
	}
	if oneIn(t, "misplaces", 25) {
		r.WorkerItems, r.OrchestratorItems = r.OrchestratorItems, r.WorkerItems
	}
	if a := c.do(t, r); a.Err == nil {
		for _, e := range r.HistoryDelta {
			c.events = append(c.events, CorruptEvent{in, r.ExecutionID, e.EventID})
		}
	}
}

func (c *checker) abandon(t *rapid.T) {
	token, _ := c.token(t)
	delay := pick(t, "delay", genDelays)
	c.do(t, AbandonOrchestrationItem{token, delay, rapid.Bool().Draw(t, "ignore attempt")})
	c.soon(delay)
}

func (c *checker) renew(t *rapid.T) {
	token, _ := c.token(t)
	extend := pick(t, "extend", genLocks)
	c.do(t, RenewOrchestrationItemLock{token, extend})
	c.soon(extend)
}

func (c *checker) enqueueWork(t *rapid.T) {
	item := c.activity(t, c.instance(t))
	if oneIn(t, "wrong kind", 30) {
		item = c.message(t, "A")
	}
	c.do(t, EnqueueForWorker{Item{item}})
}

func (c *checker) fetchWork(t *rapid.T) {
	r := FetchWorkItem{LockTimeoutMs: pick(t, "lock", genLocks), Tags: Tags{Mode: TagMode(engine.TagAny)}}
	if oneIn(t, "by tag", 2) {
		r.Tags.Mode = pick(t, "tag mode", []TagMode{TagMode(engine.TagDefaultOnly), TagMode(engine.TagTags), TagMode(engine.TagDefaultAnd), TagMode(engine.TagNone)})
		if m := engine.TagMode(r.Tags.Mode); m == engine.TagTags || m == engine.TagDefaultAnd {
			r.Tags.Tags = []string{"gpu"}
		}
	}
	if rapid.Bool().Draw(t, "with session") {
		r.Session = &Session{pick(t, "owner", genOwners), pick(t, "session lock", []int64{1000, 0, 500, 3000})}
		c.soon(r.Session.LockTimeoutMs)
	}
	if a := c.do(t, r); a.Work != nil {
		c.work = append(c.work, a.Work.Token)
	}
	c.soon(r.LockTimeoutMs)
}

func (c *checker) ackWork(t *rapid.T) {
	in := c.instance(t)
	completion := pick(t, "completion", []engine.WorkItem{
		engine.ActivityCompletedItem{Instance: in, ExecutionID: 1, ID: 2, Result: "done"}, nil,
		engine.ActivityFailedItem{Instance: in, ExecutionID: 1, ID: 2, Details: engine.Nondeterminism("x")},
	})
	if oneIn(t, "wrong kind", 15) {
		completion = engine.ExternalRaisedItem{Instance: in, Name: "e"}
	}
	c.do(t, AckWorkItem{c.workToken(t), Item{completion}})
}

func (c *checker) abandonWork(t *rapid.T) {
	delay := pick(t, "delay", genDelays)
	c.do(t, AbandonWorkItem{c.workToken(t), delay, rapid.Bool().Draw(t, "ignore attempt")})
	c.soon(delay)
}

func (c *checker) renewWork(t *rapid.T) {
	extend := pick(t, "extend", genLocks)
	c.do(t, RenewWorkItemLock{c.workToken(t), extend})
	c.soon(extend)
}

// sessionLife is an owner who works on a session: fetch, ack or renew later, and renewal of the session.
func (c *checker) sessionLife(t *rapid.T) {
	owner, id := pick(t, "owner", genOwners), pick(t, "session", []string{"s1", "s2"})
	c.do(t, EnqueueForWorker{Item{engine.ActivityExecuteItem{Instance: c.instance(t), ExecutionID: 1, ID: 4, Name: "Act", SessionID: id}}})
	a := c.do(t, FetchWorkItem{LockTimeoutMs: 5000, Tags: Tags{Mode: TagMode(engine.TagAny)}, Session: &Session{owner, 3000}})
	if a.Work == nil || c.in.Advance == nil {
		return
	}
	c.work = append(c.work, a.Work.Token)
	c.wait(pick(t, "wait", []int64{500, 499, 1}))
	if rapid.Bool().Draw(t, "renew") {
		c.do(t, RenewWorkItemLock{a.Work.Token, 5000})
	} else {
		c.do(t, AckWorkItem{Token: a.Work.Token})
	}
	c.do(t, RenewSessionLock{genOwners, 3000, pick(t, "idle", []int64{500, 1, 1000})})
	c.soon(3000)
}

func (c *checker) sessions(t *rapid.T) {
	if oneIn(t, "cleanup", 3) {
		c.do(t, CleanupOrphanedSessions{pick(t, "idle", []int64{1000, 0})})
		return
	}
	owners := pick(t, "owners", [][]string{{"w1"}, {"w1", "w2", "w1"}, {"w2"}, {}})
	extend := pick(t, "extend", []int64{1000, 500, 3000})
	c.do(t, RenewSessionLock{owners, extend, pick(t, "idle", []int64{1000, 0, 500, 5000})})
	c.soon(extend)
}
