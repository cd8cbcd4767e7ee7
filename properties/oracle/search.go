package oracle

import (
	"strings"

	"pgregory.net/rapid"
)

// Finding is the shortest sequence of calls, of those that are part of one that was found, with an answer that the
// contract does not allow.
type Finding struct {
	// Seed is the seed of the sequence that was found.
	Seed uint64
	// Refusal is about the last call.
	Refusal *Refusal
	// Transcript are the calls before it, with their answers.
	Transcript []string
}

// String is the transcript with the refusal.
func (f *Finding) String() string {
	return strings.Join(append(f.Transcript[:len(f.Transcript):len(f.Transcript)], f.Refusal.Error()), "\n")
}

// stopped ends a sequence.
type stopped struct{}

// Search is Check outside go test: it makes the sequence of each seed from first on, so many of them, until an answer is
// refused. It returns nil if none was. The flags of package testing must have been initialised (testing.Init) and parsed. The factory's New is called with nil, and must not use it. After each sequence it
// calls done, unless that is nil. The error is that of Instance.Broken: then there is no verdict.
func Search(f Factory, o Options, first uint64, sequences int, done func()) (*Finding, error) {
	for i := range uint64(sequences) {
		c := sequence(f, o, first+i)
		if err := c.broken(); err != nil {
			return nil, err
		}
		if c.refusal != nil {
			return c.finding(first + i)
		}
		if done != nil {
			done()
		}
	}
	return nil, nil
}

// sequence makes the sequence of a seed.
func sequence(f Factory, o Options, seed uint64) *checker {
	return rapid.Custom(func(rt *rapid.T) (c *checker) {
		c = newChecker(nil, f, o)
		c.stops = true
		defer c.in.close()
		defer func() {
			if p := recover(); p != nil && p != (stopped{}) {
				panic(p) // rapid's own
			}
		}()
		rt.Repeat(c.actions(rt))
		return c
	}).Example(int(seed))
}

func (c *checker) broken() error {
	if c.in.Broken == nil {
		return nil
	}
	return c.in.Broken()
}

// finding shortens the sequence.
func (c *checker) finding(seed uint64) (*Finding, error) {
	refusal, transcript, _ := replay(nil, c.factory, c.options, least(nil, c.factory, c.options, c.moves))
	if err := c.broken(); err != nil {
		return nil, err
	}
	if refusal == nil { // the provider is not deterministic, or stores share something
		refusal, transcript = c.refusal, []string{"the same calls on another store were allowed: the provider is not deterministic, or its stores share something"}
	}
	return &Finding{Seed: seed, Refusal: refusal, Transcript: transcript}, nil
}
