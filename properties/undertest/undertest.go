package undertest

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
)

// Factory makes stores of the provider under test.
type Factory struct {
	// New makes an empty store, with the operations that a test can perform on it. Stores from different calls must
	// share nothing.
	New func() (*Store, error)
	// Alone, if not nil, does what New does for a provider in another process, and starts a process for it. A refusal is
	// repeated on such a store: if that is allowed, the report says that the stores of New share something.
	Alone func() (*Store, error)
	// Contract is the release whose contract applies to the provider where the contracts in engine.Contracts differ. If
	// it is empty, both apply: a test accepts whatever either allows, and demands whatever either demands.
	Contract string
}

// Make calls New. It reports a mistake in the factory as one of the factory, not of the provider.
func (f Factory) Make() (*Store, error) {
	if f.New == nil {
		return nil, errors.New("Factory.New is not set")
	}
	var asked *engine.Contract // nil if both apply
	if f.Contract != "" {
		var err error
		if asked, err = engine.ContractOf(f.Contract); err != nil {
			return nil, fmt.Errorf("Factory.Contract: %w", err)
		}
	}
	s, err := f.New()
	switch {
	case err != nil:
		return nil, err
	case s == nil:
		return nil, errors.New("Factory.New returned no store")
	case s.Provider == nil:
		s.Release()
		return nil, errors.New("Store.Provider is not set")
	}
	if err := s.narrow(asked); err != nil {
		s.Release()
		return nil, err
	}
	return s, nil
}

// Store is a store under test and the operations that it offers. A nil function means that the store does not offer the
// operation. Checks that need the operation are then reported as skipped.
type Store struct {
	// Provider is the store as a single caller sees it.
	Provider engine.Provider
	// Methods lists the methods that the provider has, by their names in the contract, such as "fetch_work_item"; nil
	// means all of them. Checks that need other methods are skipped, so a provider can be built and checked method by
	// method. In Go, it is enough to embed a nil engine.Provider or to return engine.ErrUnsupported.
	Methods []string
	// Advance moves the store's clock forward by d, and returns once everything that has come due can be fetched. If it
	// is nil, the store uses the wall clock.
	Advance func(d time.Duration)
	// NowMs returns the store's time in milliseconds, which must never go back. Random sequences need it even if
	// Advance is nil, and depend on it to the millisecond: a store that rounds the wall clock must return the rounded
	// time.
	NowMs func() int64
	// CorruptHistory replaces a stored event with bytes that no codec can decode. It returns an error if there is no
	// such event.
	CorruptHistory func(instance string, execution, eventID uint64) error
	// CorruptMessage does the same to the newest row in either queue that holds the item. It returns an error if there
	// is no such row.
	CorruptMessage func(item engine.WorkItem) error
	// Second sets how long a second of a conformance case takes on a store that uses the wall clock; zero means one
	// second. Lock times, delays and waits scale with it: if it is a tenth of a second, they are ten times shorter.
	Second time.Duration
	// LongPolls is set if a fetch that finds nothing waits for work until its poll timeout.
	LongPolls bool
	// Sequential is set if calls must not overlap. (A provider must allow overlapping calls.) Checks that would make
	// overlapping calls then make them one after another.
	Sequential bool
	// NoCancel is set if the provider does not learn that a caller's context has been cancelled, as one behind the provider
	// protocol. A check of that is skipped.
	NoCancel bool
	// FailAckStep makes the next ack_orchestration_item, and no later one, fail with a retryable error and no effect
	// before the given step, counted from 0, modulo the number of steps, which the provider chooses. An ack that is
	// refused earlier, or commits without that step, answers as usual.
	FailAckStep func(step int)
	// Restart ends the provider as a crash of its process would, opens what it has stored, and returns the provider that
	// serves it from now on. Whatever was answered before still holds: messages, histories, counts, locks with their
	// tokens, and sessions. The store's other operations are those of the new provider afterwards.
	Restart func() (engine.Provider, error)
	// Kill makes a call and ends the provider while it is under way. It returns the answer, or false if there was none.
	// Restart follows; without it, Kill is not used.
	Kill func(c call.Call) (call.Answer, bool)
	// FailNext makes the next call fail as if its storage had failed. The store chooses the point at which it fails.
	FailNext func()
	// Broken returns an error if a component between the provider and the caller has failed, so that there can be no
	// verdict on the provider. Otherwise it returns nil. An engine.Mistaken error, such as one that wraps ErrEnded, is a
	// finding about the provider if it arises during a call.
	Broken func() error
	// Close releases the store. No calls follow it. A store whose provider has panicked is not released, since it may
	// still hold its locks.
	Close func()

	asked *engine.Contract // the contract that the provider is restricted to; nil if both apply
	lacks []string
	down  error
}

// Reopen calls Restart. If that fails, or the provider lacks something that it had, Down says so, and no further call can
// be made.
func (s *Store) Reopen() {
	defer func() {
		if p := recover(); p != nil {
			s.down = fmt.Errorf("Store.Restart panicked: %v\n%s", p, debug.Stack())
		}
	}()
	managed, had := s.Provider.Admin() != nil, len(s.lacks)
	next, err := s.Restart()
	switch {
	case err != nil:
	case next == nil:
		err = errors.New("Store.Restart returned no provider")
	default:
		s.Provider = next
		err = s.narrow(s.asked)
	}
	switch {
	case err != nil:
	case managed && s.Provider.Admin() == nil:
		err = errors.New("it has no management surface any more")
	case len(s.lacks) > had:
		err = fmt.Errorf("it does not have all its methods any more: it lacks %s", strings.Join(s.lacks, ", "))
	}
	s.down = err
}

// Down returns why the last Reopen failed, or nil.
func (s *Store) Down() error { return s.down }

// ErrEnded is wrapped by an error of Store.Broken if the provider's process ended.
var ErrEnded = engine.ErrEnded

// Release closes the store if it has a Close function.
func (s *Store) Release() {
	if s.Close != nil {
		s.Close()
	}
}

// LeftOut lists what the store does not offer and random sequences therefore do not check.
func (s *Store) LeftOut() []string {
	list := []string{}
	if lacks := s.Lacks(); len(lacks) > 0 {
		list = append(list, "methods that the provider does not have: "+strings.Join(lacks, ", "))
	}
	for _, what := range []struct {
		offered bool
		text    string
	}{
		{s.Advance != nil, "the passing of time: the store has no Advance"},
		{s.CorruptHistory != nil, "histories that cannot be decoded: the store has no CorruptHistory"},
		{s.CorruptMessage != nil, "messages that cannot be decoded: the store has no CorruptMessage"},
		{s.Provider.Admin() != nil, "the management surface: the provider has none"},
		{s.Restart != nil, "what a crash of the provider leaves: the store has no Restart"},
		{s.Restart == nil || s.Kill != nil, "what a crash during a call leaves: the store has no Kill"},
	} {
		if !what.offered {
			list = append(list, what.text)
		}
	}
	return list
}
