package undertest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
)

// Factory makes the provider under test.
type Factory struct {
	// New makes an empty store with the operations that a test can make on it. Stores from different calls share
	// nothing.
	New func() (*Store, error)
	// Contract is the release whose contract applies to the provider where engine.Contracts differ. Empty means both: a
	// test accepts what either allows, and demands what either demands.
	Contract string
}

// Make calls New, and reports mistakes of the factory as such, not as mistakes of the provider.
func (f Factory) Make() (*Store, error) {
	if f.New == nil {
		return nil, errors.New("Factory.New is not set")
	}
	asked, err := f.contract()
	if err != nil {
		return nil, err
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

// contract returns the contract that applies to the provider, nil for both.
func (f Factory) contract() (*engine.Contract, error) {
	if f.Contract == "" {
		return nil, nil
	}
	c, err := engine.ContractOf(f.Contract)
	if err != nil {
		return nil, fmt.Errorf("Factory.Contract: %w", err)
	}
	return c, nil
}

// Store is one store with its handle. A nil function means that the store does not offer the operation; checks that need
// it are skipped and reported as skipped.
type Store struct {
	// Provider is the store as one caller sees it.
	Provider engine.Provider
	// Methods lists the methods that the provider has, by their names in the contract, such as "fetch_work_item"; nil
	// means all. Checks that need other methods are skipped, so a provider can be built, and checked, method by method.
	// In Go it is enough to embed a nil engine.Provider, or to return engine.ErrUnsupported.
	Methods []string
	// Advance moves the store's clock forward by d and returns when everything that became due can be fetched. Nil means
	// that the store uses the wall clock.
	Advance func(d time.Duration)
	// NowMs returns the store's time in milliseconds. It never goes back. Random sequences need it even where Advance is
	// nil, and rely on it to the millisecond: a store that rounds the wall clock must return its own rounded time.
	NowMs func() int64
	// CorruptHistory replaces a stored event with bytes that no codec decodes. It fails if there is no such event.
	CorruptHistory func(instance string, execution, eventID uint64) error
	// CorruptMessage does the same to the newest row, of either queue, that holds this item. It fails if there is none.
	CorruptMessage func(item engine.WorkItem) error
	// Second sets how long a second of a conformance case takes on a store that uses the wall clock; zero means a
	// second. Lock times, delays and waits scale with it: with a tenth of a second they are ten times shorter.
	Second time.Duration
	// LongPolls is set if a fetch that finds nothing waits up to its poll timeout for work.
	LongPolls bool
	// Sequential is set if calls must not overlap, although a provider has to allow that; checks of overlapping calls
	// then make them one after another.
	Sequential bool
	// FailAckStep makes the next ack_orchestration_item, if it gets that far, fail with a retryable error before a step,
	// counted from 0, modulo the number of steps, which the provider chooses. The ack must have no effect.
	FailAckStep func(step int)
	// FailNext makes the next call fail as if its storage had failed, at a point that the store chooses.
	FailNext func()
	// Broken returns why there can be no verdict about the provider, nil if there is no reason: a component between it
	// and the caller has failed.
	Broken func() error
	// Close releases the store. No call is made after it.
	Close func()

	lacks []string
}

// Release closes the store, if it needs closing.
func (s *Store) Release() {
	if s.Close != nil {
		s.Close()
	}
}

// LeftOut lists what the store does not offer, and what random sequences therefore do not check.
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
	} {
		if !what.offered {
			list = append(list, what.text)
		}
	}
	return list
}
