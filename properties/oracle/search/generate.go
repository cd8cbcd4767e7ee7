package search

import (
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/eventdata"
)

// names are what sequences call things. There are only a few of each kind, so that calls interact.
type names struct{ instances, keys, tags, sessions []string }

// Every fourth sequence has names that differ little, some empty texts, and some acks of a dozen activities. Every eighth
// has names of 256 bytes, which differ in the last one, and texts of more than 64 KiB.
var (
	apart = &names{[]string{"A", "B", "C", "D"}, []string{"k", "l"}, []string{"", "", "gpu", "GPU"}, []string{"", "", "s1", "s2"}}
	long  = &names{[]string{"A", "B", xs(255) + "c", xs(255) + "d"}, []string{xs(255) + "k", "l"}, []string{"", xs(255) + "g", xs(255) + "g", "gpu"}, []string{"", "", "s1", xs(255) + "s"}}
	alike = &names{[]string{"A", "B", "a", "b ", "A::sub::1"}, []string{"k", "K", "k "}, []string{"", "", "gpu", "GPU", "gpu-large"}, []string{"", "", "s1", "S1", "s2", "s3", "s4"}}
)

// longText is cut where a column has 64 KiB.
var longText = xs(1<<16) + "t"

func xs(n int) string { return strings.Repeat("x", n) }

// The other values that sequences draw from.
var (
	genPins   = []*engine.Version{nil, {Major: 1}, {Major: 1, Minor: 9, Patch: 9}, {Major: 1, Minor: 9, Patch: 4}, {Major: 1, Minor: 10}, {Major: 2}, {Major: 2, Pre: "rc.1"}, {Major: 1, Minor: 1000}}
	genDelays = []time.Duration{0, 0, 1 * ms, 500 * ms, 1000 * ms}
	genLocks  = []time.Duration{1000 * ms, 1000 * ms, 0, 1 * ms, 5000 * ms}
	genOwners = []string{"w1", "w2"}
)

func genFilters() []*engine.CapabilityFilter {
	of := func(ranges ...string) *engine.CapabilityFilter {
		f := &engine.CapabilityFilter{SupportedVersions: []engine.VersionRange{}}
		for i := 0; i < len(ranges); i += 2 {
			f.SupportedVersions = append(f.SupportedVersions, engine.VersionRange{Min: engine.MustParseVersion(ranges[i]), Max: engine.MustParseVersion(ranges[i+1])})
		}
		return f
	}
	return []*engine.CapabilityFilter{
		nil, nil, nil, of(), of("1.0.0", "1.9.9"), of("2.0.0", "2.0.0"), of("0.0.0", "2.0.0-rc.1"), of("2.0.0", "1.0.0"), of("1.0.0", "1.9.9", "2.0.0", "3.0.0"),
		of("1.9.0", "1.10.0"), of("0.0.0", "0.9.0"), of("1.9.5", "2.0.0"), of("0.9.0", "1.10.3"), of("1.9.4", "1.9.4"),
	}
}

func (c *checker) instance(t *draws) string { return pick(t, c.names.instances) }

func (c *checker) message(t *draws, to string) engine.WorkItem {
	if t.oneIn(6) {
		return c.wholeItem(t, to)
	}
	return pick(t, []engine.WorkItem{
		engine.StartItem{Instance: to, Orchestration: "Orch", Version: "1.0.0", ExecutionID: 1},
		engine.StartItem{Instance: to, Orchestration: "Orch", ExecutionID: 1},
		engine.ExternalRaisedItem{Instance: to, Name: "e", Data: c.bulk("")},
		engine.QueueMessageItem{Instance: to, Name: "q"},
		engine.QueueMessageItem{Instance: to, Name: "r"},
		engine.ContinueAsNewItem{Instance: to, Orchestration: "Next", Version: "2.0.0"},
		engine.ActivityCompletedItem{Instance: to, ExecutionID: 7, ID: 2},
		engine.CancelInstanceItem{Instance: to, Reason: "enough"},
		engine.SubOrchCompletedItem{ParentInstance: to, ParentExecutionID: 1, ParentID: 2},
		engine.TimerFiredItem{Instance: to, ExecutionID: 1, ID: 3, FireAtMs: uint64(c.in.NowMs() + 500)},
	})
}

func (c *checker) activity(t *draws, of string) engine.WorkItem {
	return engine.ActivityExecuteItem{
		Instance: of, ExecutionID: pick(t, []uint64{1, 1, 2}), ID: t.id(2, 3), Name: "Act", Input: c.bulk(""),
		SessionID: pick(t, c.names.sessions), Tag: pick(t, c.names.tags),
	}
}

func (c *checker) enqueue(t *draws) {
	item := c.message(t, c.instance(t))
	if t.oneIn(20) {
		item = c.activity(t, "A")
	}
	delay := pick(t, genDelays)
	c.do(t, call.EnqueueForOrchestrator{Item: item, Delay: delay})
	c.soon(delay)
}

func (c *checker) fetch(t *draws) {
	c.fetchWith(t, call.FetchOrchestrationItem{LockTimeout: pick(t, genLocks), Filter: pick(t, genFilters())})
}

func (c *checker) fetchWith(t *draws, r call.FetchOrchestrationItem) {
	if a := c.do(t, r); a.Orchestration != nil {
		c.tokens, c.items = append(c.tokens, a.Orchestration.LockToken), append(c.items, a.Orchestration.Item.Instance)
	}
	c.soon(r.LockTimeout)
}

// turn sends a message and makes the calls that usually follow: a fetch and an ack. This leads to states that random
// calls seldom reach.
func (c *checker) turn(t *draws) {
	if token, in, ok := c.begin(t, c.message(t, c.instance(t))); ok {
		c.commit(t, token, in)
	}
}

// executions runs a few executions of one instance, each with changes of its keys or its custom status. Their numbers
// may begin with 9, since 10 comes before 9 where numbers are compared as texts.
func (c *checker) executions(t *draws) {
	in, first := c.instance(t), pick(t, []uint64{1, 1, 9})
	for n := range uint64(t.between(2, 4)) {
		token, got, ok := c.begin(t, engine.ContinueAsNewItem{Instance: in, Orchestration: "Orch", Version: "1.0.0"})
		if !ok || got != in {
			return
		}
		r := call.AckOrchestrationItem{LockToken: token, ExecutionID: first + n, HistoryDelta: c.states(t, in, first+n), Metadata: c.metadata(t, in)}
		r.Metadata.Status = pick(t, []engine.Status{engine.StatusContinuedAsNew, engine.StatusContinuedAsNew, engine.StatusCompleted, engine.StatusFailed, ""})
		c.commitWith(t, in, r)
	}
}

// edge fetches an instance with a filter that ends at its pin, or just beside it.
func (c *checker) edge(t *draws) {
	token, in, ok := c.begin(t, c.message(t, c.instance(t)))
	if !ok {
		return
	}
	r := c.turnOf(t, token, in)
	pin := engine.Version{Major: 1, Minor: uint32(t.between(1, 3)), Patch: uint32(t.between(1, 3))}
	r.Metadata.PinnedVersion, r.Metadata.Status = &pin, ""
	c.commitWith(t, in, r)
	c.do(t, call.EnqueueForOrchestrator{Item: engine.ExternalRaisedItem{Instance: in, Name: "e"}})
	least, most, beside := engine.Version{}, engine.Version{Major: 9}, pin
	if t.oneIn(2) {
		beside.Patch++
		same := pin
		same.Pre = "rc.1" // which filters do not look at
		most = pick(t, []engine.Version{pin, same, most})
		least = pick(t, []engine.Version{beside, least})
	} else {
		beside.Patch--
		most = pick(t, []engine.Version{beside, most})
		least = pick(t, []engine.Version{pin, least})
	}
	c.fetchWith(t, call.FetchOrchestrationItem{LockTimeout: 1000 * ms, Filter: &engine.CapabilityFilter{SupportedVersions: []engine.VersionRange{{Min: least, Max: most}}}})
}

// begin sends a message, fetches, and returns the token and the instance that it belongs to.
func (c *checker) begin(t *draws, first engine.WorkItem) (token, instance string, ok bool) {
	c.do(t, call.EnqueueForOrchestrator{Item: first, Delay: 0})
	a := c.do(t, call.FetchOrchestrationItem{LockTimeout: 1000 * ms})
	c.soon(1000 * ms)
	if a.Orchestration == nil {
		return "", "", false
	}
	token, instance = a.Orchestration.LockToken, a.Orchestration.Item.Instance
	c.tokens, c.items = append(c.tokens, token), append(c.items, instance)
	return token, instance, true
}

// offer sends a message, then fetches with a randomly chosen filter.
func (c *checker) offer(t *draws) {
	c.do(t, call.EnqueueForOrchestrator{Item: c.message(t, c.instance(t)), Delay: 0})
	c.fetch(t)
}

// token picks one of the most recent tokens, and the instance that it belongs to.
func (c *checker) token(t *draws) (token, instance string) {
	n := len(c.tokens)
	i := n - 1 - t.between(0, min(n-1, 3))
	return c.tokens[i], c.items[i]
}

func (c *checker) workToken(t *draws) string {
	n := len(c.work)
	return c.work[n-1-t.between(0, min(n-1, 3))]
}

func (c *checker) event(t *draws, in string, execution uint64) engine.Event {
	c.nextEvent++
	e := engine.Event{EventID: c.nextEvent, InstanceID: in, ExecutionID: execution, TimestampMs: uint64(c.in.NowMs()), DuroxideVersion: "1.5.0"}
	value := c.text(t, "v")
	e.Data = pick(t, []engine.EventData{
		eventdata.ActivityScheduled{Name: "Act"},
		eventdata.KeyValueSet{Key: pick(t, c.names.keys), Value: pick(t, []string{"1", "", "2"}), LastUpdatedAtMs: c.nextEvent << (c.nextEvent % 2 * 32)},
		eventdata.KeyValueCleared{Key: pick(t, c.names.keys)},
		eventdata.KeyValuesCleared{},
		eventdata.CustomStatusUpdated{Status: &value},
		eventdata.CustomStatusUpdated{},
		eventdata.OrchestrationStarted{Name: "Orch", Version: "1.0.0", CarryForwardEvents: []engine.CarriedEvent{{Name: "q"}}},
		eventdata.OrchestrationStarted{Name: "Orch", Version: "1.0.0"},
	})
	if t.oneIn(5) {
		e.Data, e.SourceEventID = pick(t, wholeEvents), t.id(0, 2)
	}
	switch {
	case e.Kind() == eventdata.KindOrchestrationStarted:
		e.EventID = 1
	case t.oneIn(12):
		e.EventID = t.id(1, 11)
	case t.oneIn(40):
		e.EventID = 0
	}
	return e
}

// text returns usual, or in some sequences an empty or a long text, or one with blanks at its ends.
func (c *checker) text(t *draws, usual string) string {
	if c.names == alike && t.oneIn(3) {
		return pick(t, []string{"", " größe e\u0301 世界 😀 5%\r\n "})
	}
	return c.bulk(usual)
}

// bulk returns usual, or now and then in some sequences a long text.
func (c *checker) bulk(usual string) string {
	if c.names == long && len(c.moves)%4 == 0 {
		return longText
	}
	return usual
}

// states returns two or three events that change the same state: the custom status, or the keys.
func (c *checker) states(t *draws, in string, execution uint64) []engine.Event {
	value, key := "v", pick(t, c.names.keys)
	of := pick(t, [][]engine.EventData{
		{eventdata.CustomStatusUpdated{Status: &value}, eventdata.CustomStatusUpdated{}},
		{eventdata.KeyValueSet{Key: key, Value: "3", LastUpdatedAtMs: 3}, eventdata.KeyValueCleared{Key: key}, eventdata.KeyValuesCleared{}},
	})
	list := make([]engine.Event, t.between(2, 3))
	for i := range list {
		c.nextEvent++
		list[i] = engine.Event{EventID: c.nextEvent, InstanceID: in, ExecutionID: execution, DuroxideVersion: "1.5.0", Data: pick(t, of)}
	}
	return list
}

func (c *checker) metadata(t *draws, in string) engine.ExecutionMetadata {
	var m engine.ExecutionMetadata
	switch t.between(0, 9) {
	case 8:
		m.OrchestrationName = "Orch"
	case 9:
	default:
		m.OrchestrationName, m.OrchestrationVersion = "Orch", pick(t, []string{"1.0.0", "2.0.0"})
	}
	if parent := pick(t, []string{"", "", "A", "B", "ghost"}); !circular(in, parent) {
		m.ParentInstanceID = parent
	}
	m.PinnedVersion = pick(t, genPins)
	m.Status = pick(t, []engine.Status{"", engine.StatusCompleted, engine.StatusContinuedAsNew, engine.StatusRunning, engine.StatusFailed, "Strange"})
	if t.oneIn(2) {
		output := c.text(t, "out")
		m.Output = &output
	}
	return m
}

// circular reports whether a parent might be a descendant of its child. To rule that out, a parent comes before its
// children in the alphabet. A provider may follow a circle for ever.
func circular(child, parent string) bool {
	return child != "" && parent >= child && parent != "ghost"
}

func (c *checker) ack(t *draws) {
	token, in := c.token(t)
	c.commit(t, token, in)
}

func (c *checker) commit(t *draws, token, in string) {
	c.commitWith(t, in, c.turnOf(t, token, in))
}

func (c *checker) turnOf(t *draws, token, in string) call.AckOrchestrationItem {
	r := call.AckOrchestrationItem{LockToken: token, ExecutionID: pick(t, []uint64{1, 1, 2, 3}), Metadata: c.metadata(t, in)}
	events := t.between(0, 3)
	for range events {
		r.HistoryDelta = append(r.HistoryDelta, c.event(t, in, r.ExecutionID))
	}
	if t.oneIn(8) {
		r.HistoryDelta = append(r.HistoryDelta, c.states(t, in, r.ExecutionID)...)
	}
	if t.oneIn(2) {
		to := c.instance(t)
		r.OrchestratorItems = []engine.WorkItem{c.message(t, to)}
		c.soon(500 * ms)
	}
	if t.oneIn(2) {
		r.WorkerItems = []engine.WorkItem{c.activity(t, c.instance(t))}
		for c.names == alike && len(r.WorkerItems) < 12 && (len(r.WorkerItems) > 1 || t.oneIn(20)) {
			r.WorkerItems = append(r.WorkerItems, c.activity(t, c.instance(t)))
		}
	}
	if t.oneIn(3) {
		r.CancelledActivities = []engine.ScheduledActivityIdentifier{{Instance: c.instance(t), ExecutionID: pick(t, []uint64{1, 1, 2}), ActivityID: t.id(2, 3)}}
	}
	if t.oneIn(25) {
		r.WorkerItems, r.OrchestratorItems = r.OrchestratorItems, r.WorkerItems
	}
	return r
}

// commitWith makes an ack, and may read what it may have changed.
func (c *checker) commitWith(t *draws, in string, r call.AckOrchestrationItem) {
	if a := c.do(t, r); a.Err == nil {
		for _, e := range r.HistoryDelta {
			c.events = append(c.events, call.CorruptEvent{Instance: in, ExecutionID: r.ExecutionID, EventID: e.EventID})
		}
	}
	if t.oneIn(3) {
		c.look(t, in, r.ExecutionID)
	}
}

func (c *checker) abandon(t *draws) {
	token, _ := c.token(t)
	delay := pick(t, genDelays)
	c.do(t, call.AbandonOrchestrationItem{LockToken: token, Delay: delay, IgnoreAttempt: t.oneIn(2)})
	c.soon(delay)
}

func (c *checker) renew(t *draws) {
	token, _ := c.token(t)
	extend := pick(t, genLocks)
	c.do(t, call.RenewOrchestrationItemLock{LockToken: token, ExtendFor: extend})
	c.soon(extend)
}

func (c *checker) enqueueWork(t *draws) {
	item := c.activity(t, c.instance(t))
	if t.oneIn(30) {
		item = c.message(t, "A")
	}
	c.do(t, call.EnqueueForWorker{Item: item})
}

func (c *checker) fetchWork(t *draws) {
	r := call.FetchWorkItem{LockTimeout: pick(t, genLocks), Tags: engine.TagFilter{Mode: engine.TagAny}}
	if t.oneIn(2) {
		r.Tags.Mode = pick(t, []engine.TagMode{engine.TagDefaultOnly, engine.TagTags, engine.TagDefaultAnd, engine.TagNone})
		if m := r.Tags.Mode; m == engine.TagTags || m == engine.TagDefaultAnd {
			r.Tags.Tags = []string{c.names.tags[2]}
		}
	}
	if t.oneIn(2) {
		r.Session = &engine.SessionFetchConfig{OwnerID: pick(t, genOwners), LockTimeout: pick(t, []time.Duration{1000 * ms, 0, 500 * ms, 3000 * ms})}
		c.soon(r.Session.LockTimeout)
	}
	if a := c.do(t, r); a.Work != nil {
		c.work = append(c.work, a.Work.LockToken)
	}
	c.soon(r.LockTimeout)
}

func (c *checker) ackWork(t *draws) {
	in := c.instance(t)
	completion := pick(t, []engine.WorkItem{
		engine.ActivityCompletedItem{Instance: in, ExecutionID: 1, ID: 2, Result: "done"}, nil,
		engine.ActivityFailedItem{Instance: in, ExecutionID: 1, ID: 2, Details: pick(t, genDetails)},
	})
	if t.oneIn(15) {
		completion = engine.ExternalRaisedItem{Instance: in, Name: "e"}
	}
	c.do(t, call.AckWorkItem{LockToken: c.workToken(t), Completion: completion})
}

func (c *checker) abandonWork(t *draws) {
	delay := pick(t, genDelays)
	c.do(t, call.AbandonWorkItem{LockToken: c.workToken(t), Delay: delay, IgnoreAttempt: t.oneIn(2)})
	c.soon(delay)
}

func (c *checker) renewWork(t *draws) {
	extend := pick(t, genLocks)
	c.do(t, call.RenewWorkItemLock{LockToken: c.workToken(t), ExtendFor: extend})
	c.soon(extend)
}

// sessionLife simulates the life of a session's owner: it fetches work, later acks it or renews its lock, and renews
// the session itself.
func (c *checker) sessionLife(t *draws) {
	owner, id := pick(t, genOwners), pick(t, c.names.sessions[2:])
	c.do(t, call.EnqueueForWorker{Item: engine.ActivityExecuteItem{Instance: c.instance(t), ExecutionID: 1, ID: 4, Name: "Act", SessionID: id}})
	a := c.do(t, call.FetchWorkItem{LockTimeout: 5000 * ms, Tags: engine.TagFilter{Mode: engine.TagAny}, Session: &engine.SessionFetchConfig{OwnerID: owner, LockTimeout: 3000 * ms}})
	if a.Work == nil || c.in.Advance == nil {
		return
	}
	c.work = append(c.work, a.Work.LockToken)
	c.wait(pick(t, []time.Duration{500 * ms, 499 * ms, 1 * ms}))
	if t.oneIn(2) {
		c.do(t, call.RenewWorkItemLock{LockToken: a.Work.LockToken, ExtendFor: 5000 * ms})
	} else {
		c.do(t, call.AckWorkItem{LockToken: a.Work.LockToken})
	}
	c.do(t, call.RenewSessionLock{Owners: genOwners, ExtendFor: 3000 * ms, IdleTimeout: pick(t, []time.Duration{500 * ms, 1 * ms, 1000 * ms})})
	c.soon(3000 * ms)
}

func (c *checker) sessions(t *draws) {
	if t.oneIn(3) {
		c.do(t, call.CleanupOrphanedSessions{IdleTimeout: pick(t, []time.Duration{1000 * ms, 0})})
		return
	}
	owners := pick(t, [][]string{{"w1"}, {"w1", "w2", "w1"}, {"w2"}, {}})
	extend := pick(t, []time.Duration{1000 * ms, 500 * ms, 3000 * ms, 0})
	c.do(t, call.RenewSessionLock{Owners: owners, ExtendFor: extend, IdleTimeout: pick(t, []time.Duration{1000 * ms, 0, 500 * ms, 5000 * ms})})
	c.soon(extend)
}
