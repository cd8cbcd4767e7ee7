package search

import (
	"errors"
	"fmt"
	"strings"

	"github.com/durosim/durosim/properties/oracle"
	"github.com/durosim/durosim/properties/undertest"
)

// Options say which sequences are made, and how they are judged.
type Options struct {
	// Oracle says what the provider promises beyond the contract. A single caller meets no contention, so F5 is always
	// denied.
	Oracle oracle.Options
	// First is the seed of the first sequence, and Sequences their number; zeros are seed 1 and 1,000 sequences.
	First     uint64
	Sequences int
	// Done is called after each sequence in which every answer was allowed. It may be nil.
	Done func()
}

func (o Options) prepared() Options {
	o.Oracle.Deny = append(o.Oracle.Deny[:len(o.Oracle.Deny):len(o.Oracle.Deny)], oracle.F5Contention)
	if o.First == 0 {
		o.First = 1
	}
	if o.Sequences == 0 {
		o.Sequences = 1000
	}
	return o
}

// Finding is a sequence of calls whose last answer the contract does not allow, without the calls that can be left out.
type Finding struct {
	// Seed is the seed of the sequence that was found.
	Seed uint64
	// Refusal is about the last call.
	Refusal *oracle.Refusal
	// Transcript are the calls before it, with their answers.
	Transcript []string
}

// String is the transcript with the refusal.
func (f *Finding) String() string {
	return strings.Join(append(f.Transcript[:len(f.Transcript):len(f.Transcript)], f.Refusal.Error()), "\n")
}

// Search makes the sequence of each seed on a fresh store until an answer is refused. It returns nil if none was. The
// error is that of the factory, or of Store.Broken: then there is no verdict.
func Search(f undertest.Factory, o Options) (*Finding, error) {
	o = o.prepared()
	if _, err := usable(f); err != nil {
		return nil, err
	}
	for i := range uint64(o.Sequences) {
		c, err := sequence(f, o.Oracle, o.First+i, nil)
		if err != nil {
			return nil, err
		}
		if c.refusal != nil {
			return c.finding(f, o.Oracle, o.First+i)
		}
		if o.Done != nil {
			o.Done()
		}
	}
	return nil, nil
}

// usable makes a store and returns what is left out for it. The error says what a factory lacks that every sequence needs.
func usable(f undertest.Factory) (leftOut []string, err error) {
	in, err := f.Make()
	if err != nil {
		return nil, fmt.Errorf("the factory is of no use: %w", err)
	}
	defer in.Release()
	if in.NowMs == nil {
		return nil, errors.New("the factory is of no use: Store.NowMs is not set; it must tell the very clock that the store's locks go by, to the millisecond")
	}
	return in.LeftOut(), nil
}

// finding shortens the sequence.
func (c *checker) finding(f undertest.Factory, o oracle.Options, seed uint64) (*Finding, error) {
	s := &shrinker{factory: f, options: o}
	moves := s.least(c.moves)
	refusal, transcript, _ := s.replay(moves)
	if s.err != nil {
		return nil, s.err
	}
	if refusal == nil { // the provider is not deterministic, or stores share something
		refusal, transcript = c.refusal, []string{"the same calls on another store were allowed: the provider is not deterministic, or its stores share something"}
	}
	return &Finding{Seed: seed, Refusal: refusal, Transcript: transcript}, nil
}

// T is what Check needs of a *testing.T.
type T interface {
	Helper()
	Logf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Check is Search for a test of a provider: an answer that is refused fails the test, with the shortest sequence that
// shows it. What the factory cannot do is logged.
func Check(t T, f undertest.Factory, o Options) {
	t.Helper()
	leftOut, err := usable(f)
	if err != nil {
		t.Fatalf("%v", err)
		return
	}
	for _, what := range leftOut {
		t.Logf("left out: %s", what)
	}
	finding, err := Search(f, o)
	switch {
	case err != nil:
		t.Fatalf("no verdict: %v", err)
	case finding != nil:
		t.Fatalf("seed %d: the provider gave an answer that the contract does not allow; the shortest sequence that is refused:\n%s", finding.Seed, finding)
	}
}
