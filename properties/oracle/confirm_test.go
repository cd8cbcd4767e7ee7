package oracle

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/memprovider"
)

// variants returns an exchange, and others that differ from it in a part of the answer, the time or the caller.
func variants(e Exchange) []Exchange {
	list := []Exchange{e}
	vary := func(change func(e *Exchange)) {
		other := e
		change(&other)
		list = append(list, other)
	}
	for _, build := range engine.ShippedBuilds() {
		vary(func(e *Exchange) { e.Build = build.Codec.Name() })
	}
	vary(func(e *Exchange) { e.At = At(e.At.Lo + 1) })
	vary(func(e *Exchange) { e.At = Between(e.At.Lo, e.At.Lo+700) })
	vary(func(e *Exchange) { e.At = At(e.At.Lo + 60_000) })
	vary(func(e *Exchange) { e.Answer = call.Answer{} })
	vary(func(e *Exchange) { e.Answer = call.Answer{Err: &engine.ProviderError{Message: "no"}} })
	vary(func(e *Exchange) { e.Lost = true })
	if f := e.Answer.Orchestration; f != nil {
		fetched := func(change func(f *engine.FetchedOrchestration)) {
			vary(func(e *Exchange) {
				g := *f
				g.Item.Messages, g.Item.History = slices.Clone(f.Item.Messages), slices.Clone(f.Item.History)
				g.Item.KVSnapshot = slices.Clone(f.Item.KVSnapshot)
				change(&g)
				e.Answer.Orchestration = &g
			})
		}
		fetched(func(f *engine.FetchedOrchestration) { f.AttemptCount++ })
		fetched(func(f *engine.FetchedOrchestration) { f.LockToken = "" })
		fetched(func(f *engine.FetchedOrchestration) { f.Item.Messages = f.Item.Messages[:len(f.Item.Messages)/2] })
		fetched(func(f *engine.FetchedOrchestration) { slices.Reverse(f.Item.Messages) })
		fetched(func(f *engine.FetchedOrchestration) { f.Item.History = f.Item.History[:len(f.Item.History)/2] })
		fetched(func(f *engine.FetchedOrchestration) { f.Item.HistoryError = "damaged" })
		fetched(func(f *engine.FetchedOrchestration) { f.Item.ExecutionID++ })
		fetched(func(f *engine.FetchedOrchestration) { f.Item.Version += ".1" })
		fetched(func(f *engine.FetchedOrchestration) { f.Item.Instance += "x" })
		fetched(func(f *engine.FetchedOrchestration) {
			f.Item.KVSnapshot = append(f.Item.KVSnapshot, engine.KVEntry{Key: "no"})
		})
	}
	if w := e.Answer.Work; w != nil {
		vary(func(e *Exchange) {
			e.Answer.Work = &engine.FetchedWork{Item: w.Item, LockToken: w.LockToken, AttemptCount: w.AttemptCount + 1}
		})
		vary(func(e *Exchange) {
			e.Answer.Work = &engine.FetchedWork{Item: engine.ActivityExecuteItem{Instance: "no"}, LockToken: w.LockToken, AttemptCount: w.AttemptCount}
		})
	}
	switch r := e.Call.(type) {
	case call.FetchOrchestrationItem:
		vary(func(e *Exchange) {
			r.LockTimeout += time.Second
			r.Filter = &engine.CapabilityFilter{}
			e.Call = r
		})
	case call.FetchWorkItem:
		vary(func(e *Exchange) { r.Tags = engine.TagFilter{Mode: engine.TagAny}; r.Session = nil; e.Call = r })
	case call.AckOrchestrationItem:
		vary(func(e *Exchange) { r.LockToken += "x"; e.Call = r })
		vary(func(e *Exchange) {
			r.HistoryDelta = append(slices.Clone(r.HistoryDelta), r.HistoryDelta...)
			e.Call = r
		})
		vary(func(e *Exchange) {
			r.WorkerItems, r.OrchestratorItems = r.OrchestratorItems, r.WorkerItems
			e.Call = r
		})
		vary(func(e *Exchange) { r.Metadata.OrchestrationVersion = ""; e.Call = r })
	}
	return list
}

// copied returns an oracle that shares nothing that is ever changed in place.
func copied(o *Oracle) *Oracle {
	n := *o
	n.states, n.tokens, n.room = nil, maps.Clone(o.tokens), room{kinds: map[kindOf]bool{}}
	for _, s := range o.states {
		t := s.clone()
		for _, in := range s.instances {
			t.edit(in.id)
		}
		n.states = append(n.states, t)
	}
	return &n
}

func (o *Oracle) confirmed(e Exchange) bool {
	codec, _ := o.options.codec(e.Build)
	return copied(o).confirms(&e, codec)
}

func sameStates(a, b *Oracle) bool {
	return len(a.states) == len(b.states) && !slices.ContainsFunc(a.states, func(s *State) bool {
		return !slices.ContainsFunc(b.states, s.Equal)
	})
}

// user makes random calls, mostly sensible ones, on a store.
type user struct {
	*rand.Rand
	p           engine.Provider
	turns, work []string // tokens
	events      uint64
}

func (u *user) name() string { return string(rune('A' + u.IntN(3))) }

func (u *user) token(list []string) string {
	if len(list) == 0 || u.IntN(10) == 0 {
		return "none"
	}
	return list[max(0, len(list)-1-u.IntN(2))]
}

func (u *user) item() engine.WorkItem {
	switch u.IntN(6) {
	case 0, 1:
		return engine.StartItem{Instance: u.name(), Orchestration: "Orch", Version: "1.0.0", ExecutionID: 1}
	case 2:
		return engine.ContinueAsNewItem{Instance: u.name(), Orchestration: "Orch", Version: "1.0.0", CarryForwardEvents: []engine.CarriedEvent{{Name: "q"}}}
	case 3:
		return engine.QueueMessageItem{Instance: u.name(), Name: "q"}
	case 4:
		return engine.ActivityFailedItem{Instance: u.name(), ExecutionID: 1, ID: 2, Details: engine.ErrorDetails{Application: &eventdata.ApplicationError{Kind: eventdata.AppActivityFailed}}}
	}
	return engine.ExternalRaisedItem{Instance: u.name(), Name: "e"}
}

func (u *user) activity() engine.WorkItem {
	return engine.ActivityExecuteItem{Instance: u.name(), ExecutionID: 1, ID: uint64(u.IntN(3)), SessionID: []string{"", "s"}[u.IntN(2)], Tag: []string{"", "t"}[u.IntN(2)]}
}

func (u *user) ack() engine.OrchestrationAck {
	a := engine.OrchestrationAck{LockToken: u.token(u.turns), ExecutionID: 1 + uint64(u.IntN(2))}
	if u.IntN(4) > 0 {
		a.Metadata.OrchestrationName, a.Metadata.OrchestrationVersion = "Orch", "1.0.0"
	}
	if u.IntN(3) == 0 {
		a.Metadata.PinnedVersion = &engine.Version{Major: 1 + u.Uint32N(2)}
	}
	if u.IntN(5) == 0 {
		a.Metadata.Status = []engine.Status{engine.StatusRunning, engine.StatusCompleted}[u.IntN(2)]
	}
	status := "half way"
	for range u.IntN(4) {
		if u.events++; u.IntN(12) == 0 {
			u.events--
		}
		a.HistoryDelta = append(a.HistoryDelta, event(u.events, []engine.EventData{
			eventdata.OrchestrationStarted{Name: "Orch", Version: "1.0.0"}, eventdata.ActivityScheduled{Name: "Act"}, eventdata.LegacyNote{Text: "n"},
			eventdata.KeyValueSet{Key: u.name(), Value: "v"}, eventdata.CustomStatusUpdated{Status: &status},
			eventdata.ActivityFailed{Details: engine.ErrorDetails{Application: &eventdata.ApplicationError{Kind: eventdata.AppActivityFailed}}},
		}[u.IntN(6)]))
	}
	for range u.IntN(3) {
		a.WorkerItems = append(a.WorkerItems, u.activity())
	}
	for range u.IntN(2) {
		a.OrchestratorItems = append(a.OrchestratorItems, u.item())
	}
	return a
}

func (u *user) call(ctx context.Context) {
	lock := time.Duration(1+u.IntN(4)) * time.Second
	filter := []*engine.CapabilityFilter{nil, nil, {SupportedVersions: []engine.VersionRange{{Min: engine.V(1, 0, 0), Max: engine.V(1, 9, 9)}}}}[u.IntN(3)]
	session := []*engine.SessionFetchConfig{nil, {OwnerID: "me", LockTimeout: lock}, {OwnerID: "you", LockTimeout: lock}}[u.IntN(3)]
	switch u.IntN(14) {
	case 0, 1:
		_ = u.p.EnqueueForOrchestrator(ctx, u.item(), time.Duration(u.IntN(2))*time.Second)
	case 2:
		_ = u.p.EnqueueForWorker(ctx, u.activity())
	case 3, 4, 5:
		if f, _ := u.p.FetchOrchestrationItem(ctx, lock, 0, filter); f != nil {
			u.turns = append(u.turns, f.LockToken)
		}
	case 6, 7, 8:
		_ = u.p.AckOrchestrationItem(ctx, u.ack())
	case 9:
		_ = u.p.AbandonOrchestrationItem(ctx, u.token(u.turns), 0, u.IntN(2) == 0)
	case 10, 11:
		if f, _ := u.p.FetchWorkItem(ctx, lock, 0, session, engine.TagFilter{Mode: []engine.TagMode{engine.TagAny, engine.TagDefaultOnly}[u.IntN(2)]}); f != nil {
			u.work = append(u.work, f.LockToken)
		}
	case 12:
		_ = u.p.AckWorkItem(ctx, u.token(u.work), []engine.WorkItem{nil, engine.ActivityCompletedItem{Instance: u.name(), ExecutionID: 1, ID: 1}}[u.IntN(2)])
	case 13:
		_ = u.p.RenewWorkItemLock(ctx, u.token(u.work), lock)
	}
}

// missed returns what differs between two states and is not among what is touched, if each is the only one.
func missed(t *Touched, before, after *Oracle) (list []string) {
	if t.Whole || len(before.states) != 1 || len(after.states) != 1 {
		return nil
	}
	a, b := before.states[0], after.states[0]
	for _, in := range slices.Concat(a.instances, b.instances) {
		was, is := *a.find(in.id), *b.find(in.id)
		if slices.Contains(t.Instances, in.id) {
			continue
		}
		for _, x := range slices.Concat(was.executions, is.executions) {
			if !slices.Contains(t.Executions, ExecutionID{in.id, x.id}) && (!reflect.DeepEqual(was.execution(x.id), is.execution(x.id)) || len(was.events(x.id)) != len(is.events(x.id))) {
				list = append(list, fmt.Sprint("execution ", x.id, " of ", in.id))
			}
		}
		was.executions, was.history, is.executions, is.history = nil, nil, nil, nil
		if !slices.Contains(t.Columns, in.id) && !reflect.DeepEqual(was, is) {
			list = append(list, "columns of "+in.id)
		}
	}
	for _, m := range a.queue {
		if !slices.Contains(t.Queue, m.number) && !slices.ContainsFunc(b.queue, func(n message) bool { return reflect.DeepEqual(m, n) }) {
			list = append(list, fmt.Sprint("message ", m.number))
		}
	}
	for _, w := range a.work {
		if !slices.Contains(t.Work, w.number) && !slices.ContainsFunc(b.work, func(x row) bool { return reflect.DeepEqual(w, x) }) {
			list = append(list, fmt.Sprint("activity ", w.number))
		}
	}
	return list
}

// number gives the rows numbers, as Compare does, other than their positions, and forgets what was touched.
func (o *Oracle) number() {
	o.compares = true
	o.touched.clear()
	for _, s := range o.states {
		for i := range s.queue {
			s.queue[i].number = 1000 + s.queue[i].position
		}
		for i := range s.work {
			s.work[i].number = 1000 + s.work[i].position
		}
	}
}

// TestConfirmations checks that what is confirmed without the rules is what the rules allow, with the same states after
// it, in random sequences of calls and for wrong answers, too; and that all that a call changes is touched.
func TestConfirmations(t *testing.T) {
	confirmed := map[string]int{}
	for seed := range sample.Number(40, 300) {
		options := Options{Deny: [][]Freedom{nil, {"F1", "F4", "F5", "F9", "F18", "F23", "F25", "F26", "F27", "X1", "X5", "X6"}}[seed%2]}
		fast, slow := New(options), New(options)
		slow.options.slow = true
		store := memprovider.New(memprovider.Options{StartMs: 1000})
		codec := engine.ShippedBuilds()[seed%4].Codec
		calls, before := 0, (*Oracle)(nil)
		judge := func(e Exchange) {
			for _, v := range variants(e)[1:] {
				if !fast.confirmed(v) {
					continue // then the rules judge it
				}
				f, s := copied(fast), copied(slow)
				if refusal := s.Apply(v); f.Apply(v) != nil || refusal != nil {
					t.Fatalf("seed %d: confirmed, but the rules say: %v", seed, refusal)
				}
				if !sameStates(f, s) {
					t.Fatalf("seed %d: another state after %s", seed, v)
				}
			}
			if fast.confirmed(e) {
				confirmed[call.Method(e.Call)]++
			}
			if calls++; calls%2 == 1 { // every other call, what two have touched is compared
				before = copied(fast)
			}
			if f, s := fast.Apply(e), slow.Apply(e); f != nil || s != nil {
				t.Fatalf("seed %d: %v\n%v", seed, f, s)
			}
			if !sameStates(fast, slow) {
				t.Fatalf("seed %d: another state after %s", seed, e)
			}
			for _, o := range []*Oracle{fast, slow} {
				if list := missed(o.Touched(), before, o); len(list) > 0 {
					t.Fatalf("seed %d: %v are not touched by %s", seed, list, e)
				}
				if calls%2 == 0 {
					o.number()
				}
			}
		}
		u := &user{Rand: rand.New(rand.NewPCG(seed, 1)), p: Watch(store.Handle(codec, observe.Caller{Node: 1, Incarnation: 1}), codec.Name(), store.Now, judge)}
		for range 120 {
			u.call(t.Context())
			if u.IntN(3) == 0 {
				store.SetNow(store.Now() + int64(u.IntN(1500)))
			}
		}
	}
	for _, method := range []string{"enqueue_for_orchestrator", "fetch_orchestration_item", "ack_orchestration_item", "fetch_work_item", "ack_work_item"} {
		if confirmed[method] < 20 {
			t.Errorf("%s is hardly ever confirmed: %v", method, fmt.Sprint(confirmed))
		}
	}
}
