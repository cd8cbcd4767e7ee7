package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/dev/selfcheck"
	"github.com/durosim/durosim/memprovider"
)

// storeMachine makes random calls on a few instances of a store.
type storeMachine struct {
	fullHandle
	store   *memprovider.Store
	shadow  *selfcheck.Shadow
	old     fullHandle // a handle of an older build
	failing memprovider.AckStep
	tokens  []string
	work    []string
	events  uint64
}

// newest is the build that writes all kinds.
var newest = engine.ShippedBuilds()[len(engine.ShippedBuilds())-1]

// fullHandle is a handle with its management surface.
type fullHandle interface {
	engine.Provider
	engine.ProviderAdmin
}

func newStoreMachine() *storeMachine {
	m := &storeMachine{shadow: &selfcheck.Shadow{}, failing: memprovider.AckSteps, tokens: []string{"o1"}, work: []string{"w1"}, events: 100}
	m.store = memprovider.New(memprovider.Options{StartMs: 1000, Recheck: true, Sink: m.shadow, BeforeAckStep: func(at memprovider.AckStep) error {
		if at == m.failing {
			return errors.New("storage is busy")
		}
		return nil
	}})
	handle := func(b *engine.Build, node uint32) fullHandle {
		return m.store.Handle(b.Codec, observe.Caller{Node: node, Incarnation: 1}).(fullHandle)
	}
	m.fullHandle, m.old = handle(newest, 1), handle(oldest, 2)
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
	nil, {}, between(engine.V(1, 0, 0), engine.V(1, 9, 9)), between(engine.V(2, 0, 0), engine.V(2, 0, 0)),
	between(engine.V(0, 0, 0), engine.V(9, 0, 0)), between(engine.V(2, 0, 0), engine.V(1, 0, 0)),
}

func between(lowest, highest engine.Version) *engine.CapabilityFilter {
	return engine.FilterFor(engine.VersionRange{Min: lowest, Max: highest})
}

func startedEvent(id uint64) engine.Event {
	return engine.Event{EventID: id, InstanceID: "any", ExecutionID: 1, DuroxideVersion: "1.0.0",
		Data: eventdata.OrchestrationStarted{Name: "TestOrch", Version: "1.0.0", Input: "{}"}}
}

func scheduledEvent(id uint64) engine.Event {
	return engine.Event{EventID: id, InstanceID: "any", ExecutionID: 1, Data: eventdata.ActivityScheduled{Name: fmt.Sprintf("Activity-%d", id)}}
}

var machinePins = []*engine.Version{nil, nil, {Major: 1}, {Major: 1, Minor: 9, Patch: 9}, {Major: 2}, {Major: 2, Pre: "rc.1"}, {Major: 3}}

func drawInstance(t *rapid.T) string {
	return rapid.SampledFrom([]string{"A", "B", "C", "D\xff"}).Draw(t, "instance")
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

func (m *storeMachine) handle(t *rapid.T) fullHandle {
	if rapid.IntRange(0, 3).Draw(t, "handle") == 0 {
		return m.old
	}
	return m.fullHandle
}

func (m *storeMachine) Send(t *rapid.T) {
	item := drawMessage(t)
	if err := m.EnqueueForOrchestrator(context.Background(), item, drawMs(t)); err != nil {
		t.Fatal(err)
	}
}

func (m *storeMachine) Fetch(t *rapid.T) {
	filter := rapid.SampledFrom(machineFilters).Draw(t, "filter")
	next, before := m.store.NextOrchestration(filter), m.store.Snapshot()
	f, err := m.handle(t).FetchOrchestrationItem(context.Background(), drawMs(t), 0, filter)
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

func (m *storeMachine) token(t *rapid.T) string {
	recent := m.tokens[max(0, len(m.tokens)-4):]
	return rapid.SampledFrom(recent).Draw(t, "token")
}

func (m *storeMachine) Ack(t *rapid.T) {
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
	err := m.handle(t).AckOrchestrationItem(context.Background(), ack)
	m.failing = memprovider.AckSteps
	if err != nil {
		if diff := differs(before, m.store.Snapshot()); diff != "" {
			t.Fatalf("a failed ack changed something: %s", diff)
		}
	}
}

func (m *storeMachine) Abandon(t *rapid.T) {
	_ = m.AbandonOrchestrationItem(context.Background(), m.token(t), drawMs(t), rapid.Bool().Draw(t, "ignore"))
}

func (m *storeMachine) Renew(t *rapid.T) {
	_ = m.RenewOrchestrationItemLock(context.Background(), m.token(t), drawMs(t))
}

func (m *storeMachine) Append(t *rapid.T) {
	m.events++
	_ = m.AppendWithExecution(context.Background(), drawInstance(t), rapid.Uint64Range(1, 3).Draw(t, "execution"), []engine.Event{scheduledEvent(m.events)})
}

func drawMaterialised(t *rapid.T) engine.EventData {
	text := rapid.SampledFrom([]string{"", "x", "y\xff"}).Draw(t, "value")
	key := rapid.SampledFrom([]string{"a", "b", "c\xff"}).Draw(t, "key")
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

func (m *storeMachine) SendWork(t *rapid.T) {
	if err := m.EnqueueForWorker(context.Background(), drawActivity(t)); err != nil {
		t.Fatal(err)
	}
}

func (m *storeMachine) Work(t *rapid.T) {
	config, tags := ownerConfig(rapid.SampledFrom(machineOwners).Draw(t, "owner"), drawMs(t)), drawTags(t)
	next, before := m.store.NextWork(config, tags), m.store.Snapshot()
	f, err := m.handle(t).FetchWorkItem(context.Background(), drawMs(t), 0, config, tags)
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
func (m *storeMachine) WaitForWork(t *rapid.T) {
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

func (m *storeMachine) Sessions(t *rapid.T) {
	if rapid.Bool().Draw(t, "cleanup") {
		_, _ = m.CleanupOrphanedSessions(context.Background(), 0)
		return
	}
	owners := rapid.SliceOfN(rapid.SampledFrom(machineOwners), 0, 3).Draw(t, "owners")
	_, _ = m.RenewSessionLock(context.Background(), owners, drawMs(t), drawMs(t))
}

// Delete deletes or prunes; a call that fails changes nothing.
func (m *storeMachine) Delete(t *rapid.T) {
	in, force := drawInstance(t), rapid.Bool().Draw(t, "force")
	one := uint64(1)
	before := m.store.Snapshot()
	var err error
	switch rapid.IntRange(0, 4).Draw(t, "how") {
	case 0:
		_, err = m.DeleteInstance(context.Background(), in, force)
	case 1:
		_, err = m.DeleteInstancesAtomic(context.Background(), []string{in, drawInstance(t)}, force)
	case 2:
		_, err = m.DeleteInstanceBulk(context.Background(), engine.InstanceFilter{Limit: &one})
	case 3:
		_, err = m.PruneExecutions(context.Background(), in, engine.PruneOptions{})
	case 4:
		_, err = m.PruneExecutionsBulk(context.Background(), engine.InstanceFilter{}, engine.PruneOptions{KeepLast: &one})
	}
	if diff := differs(before, m.store.Snapshot()); err != nil && diff != "" {
		t.Fatalf("%v, but something changed: %s", err, diff)
	}
}

func (m *storeMachine) EndWork(t *rapid.T) {
	token := rapid.SampledFrom(m.work[max(0, len(m.work)-3):]).Draw(t, "token")
	switch rapid.IntRange(0, 2).Draw(t, "how") {
	case 0:
		_ = m.AckWorkItem(context.Background(), token, engine.ActivityCompletedItem{Instance: drawInstance(t), ExecutionID: 1, ID: 1})
	case 1:
		_ = m.AbandonWorkItem(context.Background(), token, drawMs(t), rapid.Bool().Draw(t, "ignore"))
	case 2:
		_ = m.RenewWorkItemLock(context.Background(), token, drawMs(t))
	}
}

func (m *storeMachine) Damage(t *rapid.T) {
	if rapid.Bool().Draw(t, "message") {
		no := m.shadow.Last() - memprovider.MessageNo(rapid.IntRange(0, 5).Draw(t, "before"))
		if stands, err := m.shadow.Stands(no), m.store.DamageMessage(no, []byte("{")); stands != (err == nil) {
			t.Fatalf("message %d, which is stored: %t: %v", no, stands, err)
		}
		return
	}
	_ = m.store.Damage(drawInstance(t), 1, rapid.SampledFrom([]uint64{1, m.events}).Draw(t, "event"), []byte("{"))
}

func (m *storeMachine) Read(t *rapid.T) {
	in := drawInstance(t)
	events, err := m.fullHandle.Read(context.Background(), in)
	latest, _ := m.LatestExecutionID(context.Background(), in)
	peeked, peekErr := m.store.PeekHistory(in, latest, newest.Codec)
	if len(events) != len(peeked) || (err == nil) != (peekErr == nil) {
		t.Fatalf("read %d events, %v; peeked %d, %v", len(events), err, len(peeked), peekErr)
	}
}

func (m *storeMachine) Wait(t *rapid.T) {
	m.store.SetNow(m.store.Now() + drawMs(t).Milliseconds())
}

// WaitForMore advances to just before the time at which something may change, and then to that time.
func (m *storeMachine) WaitForMore(t *rapid.T) {
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

func (m *storeMachine) Check(t *rapid.T) {
	shot := m.shadow.Snapshot()
	if diff := differs(shot, m.store.Snapshot()); diff != "" {
		t.Fatalf("the store is not what the observations say: -observed +stored\n%s", diff)
	}
	for parent, want := range childrenIn(shot) {
		if got, err := m.ListChildren(context.Background(), parent); err != nil || !slices.Equal(got, want) {
			t.Fatalf("children of %q: %q, %v; by their rows %q", parent, got, err, want)
		}
	}
	for _, filter := range machineFilters {
		e := m.store.NextOrchestration(filter)
		want := nextIn(m.shadow, shot, m.store.Now(), filter)
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
			if want := nextWorkIn(m.shadow, shot, m.store.Now(), name, tags); e.Message != want || !e.Now && e.AtMs <= m.store.Now() {
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

func (m *storeMachine) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"Send": m.Send, "Fetch": m.Fetch, "Fetch2": m.Fetch, "Ack": m.Ack, "Ack2": m.Ack, "Abandon": m.Abandon, "Renew": m.Renew,
		"Append": m.Append, "Work": m.Work, "EndWork": m.EndWork, "Damage": m.Damage, "Read": m.Read, "Wait": m.Wait,
		"WaitForMore": m.WaitForMore, "WaitForWork": m.WaitForWork, "SendWork": m.SendWork, "Work2": m.Work, "Sessions": m.Sessions,
		"Delete": m.Delete, "": m.Check,
	}
}

// TestStore makes the same calls each time, since mutants are compared by it.
func TestStore(t *testing.T) {
	for name, value := range map[string]string{"rapid.seed": "1", "rapid.nofailfile": "true", "rapid.checks": "400", "rapid.shrinktime": "1s"} {
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	rapid.Check(t, func(t *rapid.T) { t.Repeat(newStoreMachine().actions()) })
}

// next answers the eligibility query by looking at everything.
func nextIn(s *selfcheck.Shadow, shot *memprovider.Snapshot, now int64, filter *engine.CapabilityFilter) (found observe.InstanceNo) {
	for _, in := range shot.Instances {
		var visible, starts []observe.MessageNo
		for _, m := range shot.Messages {
			if m.Instance == in.Number && m.VisibleMs <= now {
				visible = append(visible, m.Number)
				if k := s.Item(m.Number).Kind(); k == engine.ItemStartOrchestration || k == engine.ItemContinueAsNew {
					starts = append(starts, m.Number)
				}
			}
		}
		locked := in.LockToken != "" && in.LockUntilMs > now
		context, pin := contextAndPin(&in)
		if len(visible) == 0 || locked || !context && len(starts) == 0 || !filter.Admits(pin) {
			continue
		}
		if found == 0 || visible[0] < oldestIn(shot, found, now) {
			found = in.Number
		}
	}
	return found
}

func oldestIn(shot *memprovider.Snapshot, in observe.InstanceNo, now int64) observe.MessageNo {
	for _, m := range shot.Messages {
		if m.Instance == in && m.VisibleMs <= now {
			return m.Number
		}
	}
	return 0
}

// nextWork answers the eligibility query of the worker queue by looking at everything.
func nextWorkIn(s *selfcheck.Shadow, shot *memprovider.Snapshot, now int64, owner *string, tags engine.TagFilter) observe.MessageNo {
	for _, w := range shot.Work {
		item := s.Item(w.Number).(engine.ActivityExecuteItem)
		i := slices.IndexFunc(shot.Sessions, func(x memprovider.SnapshotSession) bool { return x.ID == item.SessionID })
		owned := i >= 0 && shot.Sessions[i].UntilMs > now
		allowed := item.SessionID == "" || owner != nil && (!owned || shot.Sessions[i].Owner == *owner)
		if w.VisibleMs <= now && (w.LockToken == "" || w.LockUntilMs <= now) && tags.Matches(item.Tag) && allowed {
			return w.Number
		}
	}
	return 0
}

// contextAndPin takes event 1 as the start event.
func contextAndPin(in *memprovider.SnapshotInstance) (context bool, pin *engine.Version) {
	var latest *memprovider.SnapshotExecution
	for i := range in.Executions {
		if x := &in.Executions[i]; x.Created {
			latest = x
		}
		if in.Created && in.Executions[i].ID == in.Current {
			pin = in.Executions[i].Pin
		}
	}
	started := latest != nil && len(latest.Events) > 0 && latest.Events[0].ID == 1
	return in.Created || started, pin
}
