package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/watchdog"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/sim/plan"
)

// ForeignStore is a store other than durosim's own, used by the nodes of one run. All nodes share it, each through a
// handle that decodes what the node's build can decode. A nil function means that the store lacks the feature; faults
// that need it then do not occur.
type ForeignStore struct {
	// Provider is a handle to the store for a caller that can decode every build's events. It needs a management
	// surface only if the plan deletes or prunes.
	Provider engine.Provider
	// SetNow sets the store's clock in milliseconds; otherwise the clock stands still. It is called before each call
	// that happens later than the previous one, and never with an earlier time.
	SetNow func(ms int64) error
	// CorruptEvent replaces a stored event with bytes that no codec decodes. CorruptMessage does the same to the newest
	// queue row that holds an item.
	CorruptEvent   func(instance string, execution, eventID uint64) error
	CorruptMessage func(item engine.WorkItem) error
	// FailAckStep makes the next orchestration ack, and no later one, fail with a retryable error and no effect before
	// the given step, if it gets that far. The store numbers its own steps from 0 and takes the given number modulo
	// their count.
	FailAckStep func(step int)
	// Broken returns a non-nil error if something between the store and its caller has failed, in which case the run
	// cannot continue. An engine.Mistaken error violates PropertyProvider, as a panic of Provider does.
	Broken func() error
	// Close releases the store when the run has ended. It is not called if Provider has panicked, since the store may
	// still hold its locks.
	Close func()
}

// foreign is the store from Config.Store during a run. The run's own store follows it: it is told the result of each
// fetch and repeats the calls that the foreign store has executed. The monitor receives the observations of the run's
// own store.
type foreign struct {
	*base
	store  *ForeignStore
	atMs   int64             // the time on its clock
	tokens map[string]string // foreign tokens keyed by the own store's tokens; lookups only
	lost   bool              // the run's own store can no longer follow
	panics bool              // the store has panicked
}

// openForeign makes the run's foreign store. It rejects plans that need durosim's own store.
func (w *World) openForeign() error {
	p := w.plan
	switch {
	case p.Store.CallersClock:
		return errors.New("cluster: Config.Store: a store that uses its callers' clocks must be durosim's own")
	case p.Store.Plain:
		return errors.New("cluster: Config.Store: a store that reports no extensions must be durosim's own")
	case p.Contents != nil:
		return errors.New("cluster: Config.Store: the plan begins with a snapshot of a store, which must be durosim's own")
	}
	for _, id := range p.Bugs {
		bug, _ := id.On()
		if row, ok := faults.Lookup(bug); ok && row.InStore() {
			return fmt.Errorf("cluster: Config.Store: bug %s is a bug of durosim's own store", id)
		}
	}
	s, err := w.cfg.Store(w.startMs())
	switch {
	case err != nil:
		return fmt.Errorf("cluster: Config.Store: %w", err)
	case s == nil || s.Provider == nil || s.SetNow == nil:
		return errors.New("cluster: Config.Store: the store needs a Provider and SetNow")
	}
	if what := managing(p); what != "" && s.Provider.Admin() == nil {
		if s.Close != nil {
			s.Close()
		}
		return fmt.Errorf("cluster: Config.Store: %s, but the store has no management surface (admin is false)", what)
	}
	w.foreign = &foreign{base: w.base, store: s, atMs: -1, tokens: map[string]string{}}
	return nil
}

// managing names a part of the plan that needs a management surface, or returns "".
func managing(p *plan.Plan) string {
	for i := range p.Instances {
		for _, a := range p.Instances[i].Actions {
			if a.Verb == plan.ActionDelete || a.Verb == plan.ActionPrune {
				return fmt.Sprintf("the plan would %s instance %s", a.Verb, p.Instances[i].ID)
			}
		}
	}
	for i := range p.Probes {
		if p.Probes[i].Sweep != "" {
			return fmt.Sprintf("probe %s sweeps %s", p.Probes[i].Name, p.Probes[i].Sweep)
		}
	}
	return ""
}

// gone reports whether the run must end because it can no longer follow its store.
func (f *foreign) gone() bool { return f != nil && f.lost }

func (f *foreign) close() {
	if f != nil && f.store.Close != nil && !f.panics {
		f.store.Close()
	}
}

// handle returns the foreign store's handle for a caller with the given codec; own is the same caller's handle to the
// run's own store. The monitor sees calls as the foreign store does, with the foreign store's tokens.
func (f *foreign) handle(codec engine.Codec, own engine.Provider) engine.Provider {
	p := f.store.Provider
	seen := call.Through(p.Name(), p.Version(), p.Admin() != nil, func(ctx context.Context, c call.Call) call.Answer {
		c, err := encoded(c, codec)
		if err != nil {
			return call.Answer{Err: err}
		}
		return f.decoded(f.made(ctx, c), call.Method(c), codec)
	})
	seen = WatchHandle(f.monitor, seen, codec)
	return call.Through(p.Name(), p.Version(), true, func(ctx context.Context, c call.Call) call.Answer {
		return f.perform(ctx, seen, own, c)
	})
}

// made makes a call on the foreign store. If the store panics, its process ends, or its answer has the wrong form, the
// run ends with a violation; if it gives no answer, there is no run.
func (f *foreign) made(ctx context.Context, c call.Call) (a call.Answer) {
	defer func() {
		if p := recover(); p != nil {
			f.panics = true
			f.crashed(call.CallText(c), fmt.Sprintf("the provider panicked at %s: %v", watchdog.PanickedAt(), p))
			a = call.Answer{Err: errStoreLost}
		}
	}()
	a = call.Perform(ctx, f.store.Provider, c)
	if f.broke(call.CallText(c), nil) {
		return call.Answer{Err: errStoreLost}
	}
	return a
}

// broke reports whether the run must end after a request to the store, because of the error that the request has
// returned or of what is between the store and its caller.
func (f *foreign) broke(request string, err error) bool {
	if f.store.Broken != nil {
		err = cmp.Or(f.store.Broken(), err)
	}
	switch {
	case engine.Mistaken(err):
		f.crashed(request, err.Error())
	case err != nil:
		f.fail(fmt.Errorf("at %s: %s: %w", time.Duration(f.nowMs()-f.startMs())*time.Millisecond, request, err))
	}
	return err != nil
}

func (f *foreign) crashed(request, why string) {
	f.lost = true
	f.violated(Violation{Property: PropertyProvider, Class: ClassSafety, Message: request + " has no valid answer: " + why})
}

// perform makes a call on the foreign store and then makes the run's own store follow.
func (f *foreign) perform(ctx context.Context, seen, own engine.Provider, c call.Call) call.Answer {
	if f.failure != nil || f.lost {
		return call.Answer{Err: errStoreLost}
	}
	if now := f.nowMs(); now != f.atMs {
		f.atMs = now
		if f.broke(fmt.Sprintf("clock_set {\"now_ms\":%d}", now), f.store.SetNow(now)) {
			return call.Answer{Err: errStoreLost}
		}
	}
	theirs := call.WithLockToken(c, cmp.Or(f.tokens[call.LockToken(c)], call.LockToken(c))) // unchanged if it was never issued
	if f.ackStep >= 0 && f.store.FailAckStep != nil {
		f.store.FailAckStep(f.ackStep)
	}
	a := call.Perform(ctx, seen, theirs)
	if f.failure != nil || f.lost {
		return call.Answer{Err: errStoreLost}
	}
	if a.Err != nil { // the call changed nothing, so the own store need not follow
		return call.Answer{Err: withToken(a.Err, call.LockToken(theirs), call.LockToken(c))}
	}
	f.base.store.Mirror(found(a))
	mine := call.Perform(ctx, own, c)
	if why := differs(a, mine); why != "" {
		f.lose(c, why)
	}
	return f.named(a, mine)
}

var errStoreLost = engine.Retryablef("call", "the run's store is gone")

// damages damages a foreign store's data and reports whether the store supports that. For durosim's own store it
// returns true, and the caller does the damage.
func (nw *network) damages(c call.Call) bool {
	f := nw.foreign
	if f == nil {
		return true
	}
	var err error
	switch r := c.(type) {
	case call.CorruptEvent:
		if f.store.CorruptEvent == nil {
			return false
		}
		err = f.store.CorruptEvent(r.Instance, r.ExecutionID, r.EventID)
	case call.CorruptMessage:
		if f.store.CorruptMessage == nil {
			return false
		}
		err = f.store.CorruptMessage(r.Item)
	}
	return err == nil
}

// found returns what a fetch has found, with which the run's own store repeats a fetch.
func found(a call.Answer) memprovider.Found {
	switch {
	case a.Orchestration != nil:
		return memprovider.Found{Instance: a.Orchestration.Item.Instance}
	case a.Work != nil:
		if work, ok := engine.Known(a.Work.Item).(engine.ActivityExecuteItem); ok {
			return memprovider.Found{Work: &work}
		}
	}
	return memprovider.Found{}
}

// withToken replaces the foreign lock token in err's text with the run's own. Foreign tokens may be random, and the
// text is part of the run.
func withToken(err error, theirs, ours string) error {
	var failed *engine.ProviderError
	if theirs == ours || !errors.As(err, &failed) || !strings.Contains(failed.Message, theirs) {
		return err
	}
	renamed := *failed
	renamed.Message = strings.ReplaceAll(failed.Message, theirs, ours)
	return &renamed
}

// named returns the foreign store's answer with the token replaced by that of the run's own store, which is the same in
// every run with the same seed. A fetch gets the optional extensions that the foreign store does not report from the run's
// own: nodes that keep the contract need them (docs/contract-decisions.md#row-2).
func (f *foreign) named(a, mine call.Answer) call.Answer {
	switch {
	case a.Orchestration != nil && mine.Orchestration != nil:
		f.tokens[mine.Orchestration.LockToken] = a.Orchestration.LockToken
		renamed := *a.Orchestration
		renamed.LockToken = mine.Orchestration.LockToken
		item, own := &renamed.Item, &mine.Orchestration.Item
		item.CurrentStatus = cmp.Or(item.CurrentStatus, own.CurrentStatus)
		item.Parent, item.Pin = cmp.Or(item.Parent, own.Parent), cmp.Or(item.Pin, own.Pin)
		a.Orchestration = &renamed
	case a.Work != nil && mine.Work != nil:
		f.tokens[mine.Work.LockToken] = a.Work.LockToken
		renamed := *a.Work
		renamed.LockToken = mine.Work.LockToken
		a.Work = &renamed
	}
	return a
}

// differs returns why the run's own store could not follow an answer, or "" if it could. If it could not, its
// observations no longer describe the foreign store.
func differs(a, mine call.Answer) string {
	switch {
	case mine.Err != nil:
		return fmt.Sprintf("its own store refuses the call: %v", mine.Err)
	case a.Orchestration != nil:
		return differentTurn(a.Orchestration, mine.Orchestration)
	case a.Work != nil && mine.Work == nil:
		return "its own store has no such activity"
	case a.Work != nil && a.Work.AttemptCount != mine.Work.AttemptCount:
		return fmt.Sprintf("attempt %d of the activity, %d in its own store", a.Work.AttemptCount, mine.Work.AttemptCount)
	case a.Count != mine.Count:
		return fmt.Sprintf("%d sessions, %d in its own store", a.Count, mine.Count)
	}
	return ""
}

func differentTurn(a, mine *engine.FetchedOrchestration) string {
	if mine == nil {
		return "its own store has no message for the instance"
	}
	for _, what := range []struct {
		name        string
		theirs, own any
	}{
		{"attempt", a.AttemptCount, mine.AttemptCount},
		{"execution", a.Item.ExecutionID, mine.Item.ExecutionID},
		{"number of messages", len(a.Item.Messages), len(mine.Item.Messages)},
		{"number of events", len(a.Item.History), len(mine.Item.History)},
		{"history error", a.Item.HistoryError != "", mine.Item.HistoryError != ""},
	} {
		if what.theirs != what.own {
			return fmt.Sprintf("%s %v, %v in its own store", what.name, what.theirs, what.own)
		}
	}
	return ""
}

// lose ends the run, since nothing after this point can be checked. If the monitor has found a wrong answer, that is
// the reason. Otherwise the store has used a freedom of the contract that the run's own store cannot reproduce.
func (f *foreign) lose(c call.Call, why string) {
	f.lost = true
	if f.monitor != nil && len(f.monitor.Violations()) > 0 {
		return
	}
	f.violated(Violation{Property: propertyFollows, Class: ClassInternal, Message: fmt.Sprintf("the store's answer to %s is allowed, and the run cannot follow it: %s", call.Method(c), why)})
}

// Properties of runs with a store from Config.Store.
const (
	// PropertyProvider is violated if the store gives an answer that the provider contract does not allow.
	PropertyProvider = "provider"
	// propertyFollows is violated if the run cannot follow the store even though the store's answers are allowed.
	propertyFollows = "store-follows"
)

func (f *foreign) fail(err error) {
	if err != nil && f.failure == nil {
		f.base.failure = fmt.Errorf("the store: %w", err)
	}
}

// encoded returns a call as a caller with the given codec makes it, without the fields that the codec lacks. It returns
// an error if the codec has no form for an event or a work item of the call.
func encoded(c call.Call, codec engine.Codec) (call.Call, error) {
	var failed error
	c = call.WithContents(c, func(e engine.Event) engine.Event {
		return recoded(e, codec.AppendEvent, codec.DecodeEvent, &failed)
	}, func(w engine.WorkItem) engine.WorkItem {
		return recoded(w, codec.AppendWorkItem, codec.DecodeWorkItem, &failed)
	})
	if failed != nil {
		return nil, engine.Permanentf(call.Method(c), "%w", failed)
	}
	return c, nil
}

func recoded[T any](v T, encode func([]byte, T) ([]byte, error), decode func([]byte) (T, error), failed *error) T {
	data, err := encode(nil, v)
	if err == nil {
		v, err = decode(data)
	}
	*failed = cmp.Or(*failed, err)
	return v
}

// decoded returns an answer as a caller with the given codec gets it. A real provider decodes in the node's process,
// with the code of the node's build.
func (f *foreign) decoded(a call.Answer, method string, codec engine.Codec) call.Answer {
	if a.Err != nil {
		return a
	}
	if a.Orchestration != nil {
		a.Orchestration = f.decodedTurn(*a.Orchestration, codec)
	}
	if len(a.Events) > 0 {
		events, err := f.decodedEvents(a.Events, codec)
		if err != nil {
			return call.Answer{Err: engine.Permanentf(method, "%w", err)}
		}
		a.Events = events
	}
	return a
}

// decodedTurn returns the item as decoded by the codec, with a history error if the codec cannot decode a message or an
// event.
func (f *foreign) decodedTurn(t engine.FetchedOrchestration, codec engine.Codec) *engine.FetchedOrchestration {
	messages := make([]engine.WorkItem, 0, len(t.Item.Messages))
	for _, m := range t.Item.Messages {
		item, err := reread(f.builds, m, engine.Codec.AppendWorkItem, codec.DecodeWorkItem)
		if err != nil {
			t.Item.HistoryError = err.Error()
			continue
		}
		messages = append(messages, item)
	}
	history, err := f.decodedEvents(t.Item.History, codec)
	if err != nil {
		t.Item.HistoryError = err.Error()
	}
	t.Item.Messages, t.Item.History = messages, history
	if t.Item.HistoryError != "" {
		t.Item.History = nil
	}
	return &t
}

func (f *foreign) decodedEvents(events []engine.Event, codec engine.Codec) ([]engine.Event, error) {
	var list []engine.Event
	for _, e := range events {
		decoded, err := reread(f.builds, e, engine.Codec.AppendEvent, codec.DecodeEvent)
		if err != nil {
			return nil, err
		}
		list = append(list, decoded)
	}
	return list, nil
}

// reread returns an event or a message, as the first build that writes its kind encodes it, as decode decodes that.
func reread[T any](builds []*engine.Build, v T, encode func(engine.Codec, []byte, T) ([]byte, error), decode func([]byte) (T, error)) (T, error) {
	var failed error
	for _, b := range builds {
		data, err := encode(engine.Opaque(b.Codec), nil, v)
		if err == nil {
			return decode(data)
		}
		failed = err
	}
	return v, failed
}

// seedLock is the lock timeout used while writing a history to the store.
const seedLock = time.Minute

// seed writes a preloaded history to the store, using the calls that a node would have made.
func (f *foreign) seed(in memprovider.PreloadedInstance) {
	if f == nil || f.failure != nil || f.lost {
		return
	}
	err := f.plant(in)
	if f.store.Broken != nil {
		f.fail(f.store.Broken())
	}
	if err != nil {
		f.lost = true
		f.violated(Violation{Property: PropertyProvider, Class: ClassSafety, Message: fmt.Sprintf("history %s cannot be written to the store: %v", in.Instance, err)})
	}
}

func (f *foreign) plant(in memprovider.PreloadedInstance) error {
	f.atMs = f.nowMs()
	if err := f.store.SetNow(f.atMs); err != nil {
		return err
	}
	ex, p := in.Executions[0], f.store.Provider
	start := engine.StartItem{Instance: in.Instance, Orchestration: in.Orchestration, Version: in.Version, ExecutionID: ex.ID}
	if err := p.EnqueueForOrchestrator(f.ctx, start, 0); err != nil {
		return err
	}
	got, err := p.FetchOrchestrationItem(f.ctx, seedLock, 0, nil)
	if err != nil {
		return err
	}
	if got == nil || got.Item.Instance != in.Instance {
		return errors.New("the store does not deliver its only message")
	}
	delta, undecodable := f.delta(in.Instance, ex)
	metadata := engine.ExecutionMetadata{
		Status: ex.Status, OrchestrationName: in.Orchestration, OrchestrationVersion: in.Version, PinnedVersion: ex.Pin,
	}
	if in.Parent != nil {
		metadata.ParentInstanceID, metadata.ParentExecutionID, metadata.ParentEventID = in.Parent.Instance, in.Parent.ExecutionID, in.Parent.EventID
	}
	err = p.AckOrchestrationItem(f.ctx, engine.OrchestrationAck{LockToken: got.LockToken, ExecutionID: ex.ID, HistoryDelta: delta, Metadata: metadata})
	for _, id := range undecodable {
		if f.store.CorruptEvent == nil {
			return errors.New("it has no CorruptEvent, and the history has an event that cannot be decoded")
		}
		err = errors.Join(err, f.store.CorruptEvent(in.Instance, ex.ID, id))
	}
	return err
}

// delta returns the events of ex's history, with placeholders for events that will be made undecodable. It also returns
// the ids of those events.
func (f *foreign) delta(instance string, ex memprovider.PreloadedExecution) (events []engine.Event, undecodable []uint64) {
	for _, e := range ex.Events {
		event, err := engine.Opaque(f.builds[0].Codec).DecodeEvent(e.Data)
		if err != nil {
			undecodable = append(undecodable, e.ID)
			event = engine.Event{EventID: e.ID, InstanceID: instance, ExecutionID: ex.ID, Data: eventdata.ActivityScheduled{}}
		}
		events = append(events, event)
	}
	return events, undecodable
}
