package cluster

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/call"
	"github.com/durosim/durosim/memprovider"
)

// ForeignStore is a store that is not durosim's own, for the nodes of one run. All nodes share it, each through a handle that
// decodes what the node's build can decode. A nil function means that the store cannot do that; the faults that need it
// do not occur.
type ForeignStore struct {
	// Provider is the store as a caller sees it that decodes every build's events. It needs a management surface only if
	// the plan deletes or prunes.
	Provider engine.Provider
	// SetNow sets the store's clock, in milliseconds, which then stands still. It is called before each call whose time
	// differs from that of the call before, and never with an earlier time.
	SetNow func(ms int64) error
	// CorruptEvent replaces a stored event, and CorruptMessage the newest queue row that holds an item, with bytes that
	// no codec decodes.
	CorruptEvent   func(instance string, execution, eventID uint64) error
	CorruptMessage func(item engine.WorkItem) error
	// FailAckStep makes the next ack of an orchestration, if it gets so far, fail with a retryable error before this step
	// of its own, counted from 0, modulo their number.
	FailAckStep func(step int)
	// Broken returns a non-nil error if something between the store and its caller has failed, so that the run cannot continue.
	Broken func() error
	// Close releases the store when the run has ended.
	Close func()
}

// foreign is a store of Config.Store in a run. The run's own store follows it: it is told what each fetch found, and repeats
// the calls that the foreign store has carried out. Its observations tell the monitor what happened.
type foreign struct {
	*base
	store  *ForeignStore
	atMs   int64             // of its clock
	tokens map[string]string // its tokens by those of the run's own store; looked up only
	lost   bool              // the run's own store cannot follow any more
}

// openForeign makes the store of a run, and refuses plans that need durosim's own.
func (b *base) openForeign() error {
	p := b.plan
	switch {
	case p.Store.CallersClock:
		return errors.New("cluster: Config.Store: a store that goes by the clocks of its callers must be durosim's own")
	case p.Contents != nil:
		return errors.New("cluster: Config.Store: the plan begins with a snapshot of a store, which must be durosim's own")
	}
	for _, id := range p.Bugs {
		bug, _ := id.On()
		if row, ok := faults.Lookup(bug); ok && row.InStore() {
			return fmt.Errorf("cluster: Config.Store: bug %s is one of durosim's own store", id)
		}
	}
	s, err := b.cfg.Store(b.startMs())
	switch {
	case err != nil:
		return fmt.Errorf("cluster: Config.Store: %w", err)
	case s == nil || s.Provider == nil || s.SetNow == nil:
		return errors.New("cluster: Config.Store: a store with a Provider and SetNow is needed")
	}
	b.foreign = &foreign{base: b, store: s, atMs: -1, tokens: map[string]string{}}
	return nil
}

// gone reports whether the run has to end, since it cannot follow its store any more.
func (f *foreign) gone() bool { return f != nil && f.lost }

func (f *foreign) close() {
	if f != nil && f.store.Close != nil {
		f.store.Close()
	}
}

// handle returns the store as a caller with a codec sees it, who has this handle of the run's own store. The monitor sees its calls as the store does, with the store's
// own tokens.
func (f *foreign) handle(codec engine.Codec, own engine.Provider) engine.Provider {
	p := f.store.Provider
	seen := call.Through(p.Name(), p.Version(), p.Admin() != nil, func(ctx context.Context, c call.Call) call.Answer {
		return f.decoded(call.Perform(ctx, p, c), call.Method(c), codec)
	})
	if watcher, ok := f.monitor.(HandleWatcher); ok {
		seen = watcher.WatchHandle(seen, codec)
	}
	return call.Through(p.Name(), p.Version(), true, func(ctx context.Context, c call.Call) call.Answer {
		return f.perform(ctx, seen, own, c)
	})
}

// perform makes a call on the store, and has the run's own store follow.
func (f *foreign) perform(ctx context.Context, seen, own engine.Provider, c call.Call) call.Answer {
	if f.failure != nil || f.lost {
		return call.Answer{Err: errStoreLost}
	}
	if now := f.nowMs(); now != f.atMs {
		f.atMs = now
		f.fail(f.store.SetNow(now))
	}
	theirs := call.WithLockToken(c, f.tokenOf(call.LockToken(c)))
	if f.network.ackStep >= 0 && f.store.FailAckStep != nil {
		f.store.FailAckStep(f.network.ackStep)
	}
	a := call.Perform(ctx, seen, theirs)
	if f.store.Broken != nil {
		f.fail(f.store.Broken())
	}
	if f.failure != nil {
		return call.Answer{Err: errStoreLost}
	}
	if a.Err != nil { // it has changed nothing: the own store need not know of it
		return call.Answer{Err: withToken(a.Err, call.LockToken(theirs), call.LockToken(c))}
	}
	f.base.store.Follow(lead(a))
	mine := call.Perform(ctx, own, c)
	if why := differs(a, mine); why != "" {
		f.lose(c, why)
	}
	return f.named(a, mine)
}

var errStoreLost = engine.Retryablef("call", "the run's store is gone")

// failsAcks reports whether an ack can be made to fail midway.
func (f *foreign) failsAcks() bool { return f == nil || f.store.FailAckStep != nil }

// damages carries out a fault that damages the data of a foreign store, and reports whether the store can do that. For
// durosim's own store it returns true; its callers damage that themselves.
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

// lead returns what a fetch has found.
func lead(a call.Answer) memprovider.Lead {
	switch {
	case a.Orchestration != nil:
		return memprovider.Lead{Instance: a.Orchestration.Item.Instance}
	case a.Work != nil:
		if work, ok := engine.Known(a.Work.Item).(engine.ActivityExecuteItem); ok {
			return memprovider.Lead{Work: &work}
		}
	}
	return memprovider.Lead{}
}

// tokenOf returns the store's token for one of the run's own store; a token that was never given out stays.
func (f *foreign) tokenOf(token string) string {
	if theirs, ok := f.tokens[token]; ok {
		return theirs
	}
	return token
}

// withToken returns an error whose text names the run's token in the place of the store's: the latter may be drawn at
// random, and the text is part of the run.
func withToken(err error, theirs, ours string) error {
	var failed *engine.ProviderError
	if theirs == ours || !errors.As(err, &failed) || !strings.Contains(failed.Message, theirs) {
		return err
	}
	renamed := *failed
	renamed.Message = strings.ReplaceAll(failed.Message, theirs, ours)
	return &renamed
}

// named returns the store's answer with the token of the run's own store, which is the same in every run of a seed.
func (f *foreign) named(a, mine call.Answer) call.Answer {
	switch {
	case a.Orchestration != nil && mine.Orchestration != nil:
		f.tokens[mine.Orchestration.LockToken] = a.Orchestration.LockToken
		renamed := *a.Orchestration
		renamed.LockToken = mine.Orchestration.LockToken
		a.Orchestration = &renamed
	case a.Work != nil && mine.Work != nil:
		f.tokens[mine.Work.LockToken] = a.Work.LockToken
		renamed := *a.Work
		renamed.LockToken = mine.Work.LockToken
		a.Work = &renamed
	}
	return a
}

// differs returns why the run's own store could not follow an answer, empty if it could: from then on its observations
// would tell of another store.
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
		if !reflect.DeepEqual(what.theirs, what.own) {
			return fmt.Sprintf("%s %v, %v in its own store", what.name, what.theirs, what.own)
		}
	}
	return ""
}

// lose ends the run, since nothing that happens from now on could be judged. The reason is the wrong answer if the monitor
// found one; otherwise the store used a freedom of the contract that the run's own store cannot reproduce.
func (f *foreign) lose(c call.Call, why string) {
	f.lost = true
	if f.monitor != nil && len(f.monitor.Violations()) > 0 {
		return
	}
	f.report(propertyFollows, ClassInternal, "the store's answer to %s is allowed, and the run cannot follow it: %s", call.Method(c), why)
}

func (f *foreign) report(property string, class Class, format string, args ...any) {
	f.internal = append(f.internal, Violation{
		Property: property, Class: class, Step: f.steps(), VirtualMs: f.nowMs() - f.startMs(), Message: fmt.Sprintf(format, args...),
	})
}

// The properties of runs over a store of Config.Store.
const (
	// PropertyProvider is violated by an answer of the store that the provider contract does not allow.
	PropertyProvider = "provider"
	// propertyFollows is violated if the run cannot follow the store, although its answers are allowed.
	propertyFollows = "store-follows"
)

func (f *foreign) fail(err error) {
	if err != nil && f.failure == nil {
		f.base.failure = fmt.Errorf("the store: %w", err)
	}
}
