package memprovider_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/memprovider"
)

// machine makes random calls on a few instances.
type machine struct {
	*world
	shadow  *shadow
	old     fullHandle // a handle of an older build
	failing memprovider.AckStep
	tokens  []string
	work    []string
	events  uint64
}

func newMachine() *machine {
	m := &machine{shadow: &shadow{}, failing: memprovider.AckSteps, tokens: []string{"o1"}, work: []string{"w1"}, events: 100}
	m.world = newWorld(memprovider.Options{Sink: m.shadow, BeforeAckStep: func(_ uint64, at memprovider.AckStep) error {
		if at == m.failing {
			return errStorage
		}
		return nil
	}})
	m.old = handleOf(m.store, build("1.5.0").Codec, observe.Caller{Node: 2, Incarnation: 1})
	return m
}

// differs is cmp.Diff, but quick when there is no difference.
func differs(a, b *memprovider.Snapshot) string {
	if reflect.DeepEqual(a, b) {
		return ""
	}
	return cmp.Diff(a, b)
}

var machineFilters = []*engine.CapabilityFilter{
	nil, {}, filterOf("1.0.0..1.9.9"), filterOf("2.0.0..2.0.0"), filterOf("0.0.0..9.0.0"), filterOf("2.0.0..1.0.0"),
}

var machinePins = []*engine.Version{nil, nil, {Major: 1}, {Major: 1, Minor: 9, Patch: 9}, {Major: 2}, {Major: 2, Pre: "rc.1"}, {Major: 3}}

func drawInstance(t *rapid.T) string {
	return rapid.SampledFrom([]string{"A", "B", "C", "D"}).Draw(t, "instance")
}

func drawMs(t *rapid.T) time.Duration {
	return time.Duration(rapid.SampledFrom([]int{0, 0, 1, 100, 500, 1000, 5000}).Draw(t, "ms")) * time.Millisecond
}

func drawMessage(t *rapid.T) engine.WorkItem {
	in := drawInstance(t)
	return rapid.SampledFrom([]engine.WorkItem{
		engine.StartItem{Instance: in, Orchestration: "TestOrch", ExecutionID: 1}, engine.ContinueAsNewItem{Instance: in, Orchestration: "TestOrch"},
		engine.ExternalRaisedItem{Instance: in, Name: "e"}, engine.QueueMessageItem{Instance: in, Name: "q"}, engine.QueueMessageItem{Instance: in, Name: "r"},
		engine.ActivityCompletedItem{Instance: in, ExecutionID: 1, ID: 2}, engine.ExternalRaised2Item{Instance: in, Name: "e2"},
	}).Draw(t, "message")
}

func (m *machine) handle(t *rapid.T) fullHandle {
	if rapid.IntRange(0, 3).Draw(t, "handle") == 0 {
		return m.old
	}
	return m.fullHandle
}

func (m *machine) Send(t *rapid.T) {
	item := drawMessage(t)
	if err := m.EnqueueForOrchestrator(ctx, item, drawMs(t)); err != nil {
		t.Fatal(err)
	}
}

func (m *machine) Fetch(t *rapid.T) {
	filter := rapid.SampledFrom(machineFilters).Draw(t, "filter")
	next, before := m.store.NextOrchestration(filter), m.store.Snapshot()
	f, err := m.handle(t).FetchOrchestrationItem(ctx, drawMs(t), 0, filter)
	if err != nil {
		t.Fatal(err)
	}
	if (f != nil) != next.Now {
		t.Fatalf("eligibility %+v, fetched %+v", next, f)
	}
	if f == nil {
		if next.Drops {
			return
		}
		if diff := differs(before, m.store.Snapshot()); diff != "" {
			t.Fatalf("a fetch that found nothing changed something: %s", diff)
		}
		return
	}
	if f.Item.Instance != m.store.InstanceName(next.Instance) || f.AttemptCount == 0 {
		t.Fatalf("eligibility %+v, fetched %+v", next, f)
	}
	m.tokens = append(m.tokens, f.LockToken)
}

func (m *machine) token(t *rapid.T) string {
	recent := m.tokens[max(0, len(m.tokens)-4):]
	return rapid.SampledFrom(recent).Draw(t, "token")
}

func (m *machine) Ack(t *rapid.T) {
	ack := engine.OrchestrationAck{LockToken: m.token(t), ExecutionID: rapid.Uint64Range(1, 3).Draw(t, "execution")}
	m.events++
	ack.HistoryDelta = []engine.Event{scheduledEvent(m.events)}
	if rapid.Bool().Draw(t, "first turn") {
		ack.HistoryDelta = append(ack.HistoryDelta, startedEvent(1))
	}
	if rapid.Bool().Draw(t, "named") {
		ack.Metadata.OrchestrationName, ack.Metadata.OrchestrationVersion = "TestOrch", "1.0.0"
	}
	ack.Metadata.ParentInstanceID = rapid.SampledFrom([]string{"", "", "parent", "A"}).Draw(t, "parent")
	ack.Metadata.PinnedVersion = rapid.SampledFrom(machinePins).Draw(t, "pin")
	ack.Metadata.Status = rapid.SampledFrom([]engine.Status{"", "", engine.StatusRunning, engine.StatusCompleted}).Draw(t, "status")
	for range rapid.IntRange(0, 3).Draw(t, "materialised") {
		m.events++
		ack.HistoryDelta = append(ack.HistoryDelta, engine.Event{EventID: m.events, Data: drawMaterialised(t)})
	}
	if rapid.Bool().Draw(t, "enqueues") {
		ack.OrchestratorItems = []engine.WorkItem{drawMessage(t), engine.TimerFiredItem{Instance: drawInstance(t), FireAtMs: uint64(m.store.Now()) + 700}}
		ack.WorkerItems = []engine.WorkItem{drawActivity(t)}
	}
	if rapid.Bool().Draw(t, "cancels") {
		ack.CancelledActivities = []engine.ScheduledActivityIdentifier{{Instance: drawInstance(t), ExecutionID: 1, ActivityID: 1}}
	}
	m.failing = memprovider.AckStep(rapid.IntRange(0, 3*memprovider.AckSteps).Draw(t, "failing step"))
	before := m.store.Snapshot()
	err := m.handle(t).AckOrchestrationItem(ctx, ack)
	m.failing = memprovider.AckSteps
	if err != nil {
		if diff := differs(before, m.store.Snapshot()); diff != "" {
			t.Fatalf("a failed ack changed something: %s", diff)
		}
	}
}

func (m *machine) Abandon(t *rapid.T) {
	_ = m.AbandonOrchestrationItem(ctx, m.token(t), drawMs(t), rapid.Bool().Draw(t, "ignore"))
}

func (m *machine) Renew(t *rapid.T) { _ = m.RenewOrchestrationItemLock(ctx, m.token(t), drawMs(t)) }

func (m *machine) Append(t *rapid.T) {
	m.events++
	_ = m.AppendWithExecution(ctx, drawInstance(t), rapid.Uint64Range(1, 3).Draw(t, "execution"), []engine.Event{scheduledEvent(m.events)})
}

func drawMaterialised(t *rapid.T) engine.EventData {
	text := rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "value")
	key := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "key")
	return rapid.SampledFrom([]engine.EventData{
		eventdata.CustomStatusUpdated{Status: &text}, eventdata.CustomStatusUpdated{}, eventdata.KeyValueSet{Key: key, Value: text, LastUpdatedAtMs: 7},
		eventdata.KeyValueSet{Key: key, Value: text, LastUpdatedAtMs: 8}, eventdata.KeyValueCleared{Key: key}, eventdata.KeyValuesCleared{},
	}).Draw(t, "materialised")
}

func drawActivity(t *rapid.T) engine.ActivityExecuteItem {
	return engine.ActivityExecuteItem{Instance: drawInstance(t), ExecutionID: 1, ID: 1, Name: "Act",
		SessionID: rapid.SampledFrom([]string{"", "", "s1", "s2"}).Draw(t, "session"),
		Tag:       rapid.SampledFrom([]string{"", "", "gpu"}).Draw(t, "tag")}
}

func drawTags(t *rapid.T) engine.TagFilter { return rapid.SampledFrom(machineTags).Draw(t, "tags") }

var machineTags = []engine.TagFilter{{}, {Mode: engine.TagAny}, {Mode: engine.TagTags, Tags: []string{"gpu"}}}

var machineOwners = []string{"", "W1", "W2"}

// ownerConfig is the session config of an owner, nil for none.
func ownerConfig(owner string, lock time.Duration) *engine.SessionFetchConfig {
	if owner == "" {
		return nil
	}
	return &engine.SessionFetchConfig{OwnerID: owner, LockTimeout: lock}
}

func (m *machine) SendWork(t *rapid.T) {
	if err := m.EnqueueForWorker(ctx, drawActivity(t)); err != nil {
		t.Fatal(err)
	}
}

func (m *machine) Work(t *rapid.T) {
	config, tags := ownerConfig(rapid.SampledFrom(machineOwners).Draw(t, "owner"), drawMs(t)), drawTags(t)
	next, before := m.store.NextWork(config, tags), m.store.Snapshot()
	f, err := m.handle(t).FetchWorkItem(ctx, drawMs(t), 0, config, tags)
	if f == nil {
		if diff := differs(before, m.store.Snapshot()); diff != "" || next.Now && err == nil {
			t.Fatalf("eligibility %+v, nothing fetched, %v: %s", next, err, diff)
		}
		return
	}
	if !next.Now {
		t.Fatalf("eligibility %+v, fetched %+v", next, f)
	}
	m.work = append(m.work, f.LockToken)
}

// WaitForWork advances to just before the time at which something may change for a worker, and then to that time.
func (m *machine) WaitForWork(t *rapid.T) {
	config, tags := ownerConfig(rapid.SampledFrom(machineOwners).Draw(t, "owner"), 0), drawTags(t)
	e := m.store.NextWork(config, tags)
	if e.Now || e.AtMs == memprovider.Never {
		return
	}
	m.store.SetNow(e.AtMs - 1)
	if early := m.store.NextWork(config, tags); early.Now || early.AtMs != e.AtMs {
		t.Fatalf("eligibility %+v, and %+v before that time", e, early)
	}
	m.store.SetNow(e.AtMs)
	if then := m.store.NextWork(config, tags); !then.Now {
		t.Fatalf("eligibility %+v, but %+v at that time", e, then)
	}
}

func (m *machine) Sessions(t *rapid.T) {
	if rapid.Bool().Draw(t, "cleanup") {
		_, _ = m.CleanupOrphanedSessions(ctx, 0)
		return
	}
	owners := rapid.SliceOfN(rapid.SampledFrom(machineOwners), 0, 3).Draw(t, "owners")
	_, _ = m.RenewSessionLock(ctx, owners, drawMs(t), drawMs(t))
}

// Delete deletes or prunes; a call that fails changes nothing.
func (m *machine) Delete(t *rapid.T) {
	in, force := drawInstance(t), rapid.Bool().Draw(t, "force")
	one := uint64(1)
	before := m.store.Snapshot()
	var err error
	switch rapid.IntRange(0, 4).Draw(t, "how") {
	case 0:
		_, err = m.DeleteInstance(ctx, in, force)
	case 1:
		_, err = m.DeleteInstancesAtomic(ctx, []string{in, drawInstance(t)}, force)
	case 2:
		_, err = m.DeleteInstanceBulk(ctx, engine.InstanceFilter{Limit: &one})
	case 3:
		_, err = m.PruneExecutions(ctx, in, engine.PruneOptions{})
	case 4:
		_, err = m.PruneExecutionsBulk(ctx, engine.InstanceFilter{}, engine.PruneOptions{KeepLast: &one})
	}
	if diff := differs(before, m.store.Snapshot()); err != nil && diff != "" {
		t.Fatalf("%v, but something changed: %s", err, diff)
	}
}

func (m *machine) EndWork(t *rapid.T) {
	token := rapid.SampledFrom(m.work[max(0, len(m.work)-3):]).Draw(t, "token")
	switch rapid.IntRange(0, 2).Draw(t, "how") {
	case 0:
		_ = m.AckWorkItem(ctx, token, engine.ActivityCompletedItem{Instance: drawInstance(t), ExecutionID: 1, ID: 1})
	case 1:
		_ = m.AbandonWorkItem(ctx, token, drawMs(t), rapid.Bool().Draw(t, "ignore"))
	case 2:
		_ = m.RenewWorkItemLock(ctx, token, drawMs(t))
	}
}

func (m *machine) Damage(t *rapid.T) {
	if rapid.Bool().Draw(t, "message") {
		_ = m.store.DamageMessage(observe.MessageNo(len(m.shadow.messages)), []byte("{"))
		return
	}
	_ = m.store.Damage(drawInstance(t), 1, rapid.SampledFrom([]uint64{1, m.events}).Draw(t, "event"), []byte("{"))
}

func (m *machine) Read(t *rapid.T) {
	in := drawInstance(t)
	events, err := m.fullHandle.Read(ctx, in)
	latest, _ := m.LatestExecutionID(ctx, in)
	peeked, peekErr := m.store.PeekHistory(in, latest, build("2.0.0").Codec)
	if len(events) != len(peeked) || (err == nil) != (peekErr == nil) {
		t.Fatalf("read %d events, %v; peeked %d, %v", len(events), err, len(peeked), peekErr)
	}
}

func (m *machine) Wait(t *rapid.T) {
	m.store.SetNow(m.store.Now() + drawMs(t).Milliseconds())
}

// WaitForMore advances to just before the time at which something may change, and then to that time.
func (m *machine) WaitForMore(t *rapid.T) {
	filter := rapid.SampledFrom(machineFilters).Draw(t, "filter")
	e := m.store.NextOrchestration(filter)
	if e.Now || e.AtMs == memprovider.Never {
		return
	}
	m.store.SetNow(e.AtMs - 1)
	if early := m.store.NextOrchestration(filter); early.Now || early.AtMs != e.AtMs {
		t.Fatalf("eligibility %+v, and %+v before that time", e, early)
	}
	m.store.SetNow(e.AtMs)
}

func (m *machine) Check(t *rapid.T) {
	shot := m.shadow.snapshot()
	if diff := differs(shot, m.store.Snapshot()); diff != "" {
		t.Fatalf("the store is not what the observations say: -observed +stored\n%s", diff)
	}
	for parent, want := range childrenIn(shot) {
		if got, err := m.ListChildren(ctx, parent); err != nil || !slices.Equal(got, want) {
			t.Fatalf("children of %q: %q, %v; by their rows %q", parent, got, err, want)
		}
	}
	for _, filter := range machineFilters {
		e := m.store.NextOrchestration(filter)
		want := m.shadow.next(shot, m.store.Now(), filter)
		if e.Instance != want || e.Now != (want != 0) || !e.Now && e.AtMs <= m.store.Now() {
			t.Fatalf("filter %s: %+v, but instance %d is eligible", filter, e, want)
		}
	}
	for _, owner := range machineOwners {
		for _, tags := range machineTags {
			e := m.store.NextWork(ownerConfig(owner, 0), tags)
			var name *string
			if owner != "" {
				name = &owner
			}
			if want := m.shadow.nextWork(shot, m.store.Now(), name, tags); e.Message != want || !e.Now && e.AtMs <= m.store.Now() {
				t.Fatalf("owner %q, tags %+v: %+v, but activity %d is eligible", owner, tags, e, want)
			}
		}
	}
}

// childrenIn lists the children of the instances that the machine may name as a parent.
func childrenIn(shot *memprovider.Snapshot) map[string][]string {
	children := map[string][]string{"parent": nil, "A": nil}
	for _, in := range shot.Instances {
		if p := in.Parent.Instance; p != "" {
			children[p] = append(children[p], in.Name)
		}
	}
	return children
}

func (m *machine) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"Send": m.Send, "Fetch": m.Fetch, "Fetch2": m.Fetch, "Ack": m.Ack, "Ack2": m.Ack, "Abandon": m.Abandon, "Renew": m.Renew,
		"Append": m.Append, "Work": m.Work, "EndWork": m.EndWork, "Damage": m.Damage, "Read": m.Read, "Wait": m.Wait,
		"WaitForMore": m.WaitForMore, "WaitForWork": m.WaitForWork, "SendWork": m.SendWork, "Work2": m.Work, "Sessions": m.Sessions,
		"Delete": m.Delete, "": m.Check,
	}
}

func TestMachine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { t.Repeat(newMachine().actions()) })
}
