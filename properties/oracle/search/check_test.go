package search

import (
	"fmt"
	"strings"
	"testing"

	"github.com/durosim/durosim/properties/oracle"
	"github.com/durosim/durosim/properties/undertest"
)

// quiet is a test that records its messages.
type quiet struct{ failure, log string }

func (q *quiet) Helper()                           {}
func (q *quiet) Logf(format string, args ...any)   { q.log += fmt.Sprintf(format, args...) + "\n" }
func (q *quiet) Fatalf(format string, args ...any) { q.failure += fmt.Sprintf(format, args...) }

// TestFactoryOfNoUse checks that if a factory lacks what every sequence needs, this is reported before the first
// sequence.
func TestFactoryOfNoUse(t *testing.T) {
	whole := inMemory(nil)
	for want, change := range map[string]func(*undertest.Store) *undertest.Store{
		"":             func(in *undertest.Store) *undertest.Store { return in },
		"no store":     func(*undertest.Store) *undertest.Store { return nil },
		"Provider":     func(in *undertest.Store) *undertest.Store { in.Provider = nil; return in },
		"NowMs is not": func(in *undertest.Store) *undertest.Store { in.NowMs = nil; return in },
	} {
		made, closed := 0, 0
		var q quiet
		Check(&q, undertest.Factory{New: func() (*undertest.Store, error) {
			in, err := whole.New()
			in.Close = func() { closed++ }
			if in = change(in); in != nil {
				made++
			}
			return in, err
		}}, Options{Sequences: 3})
		if !strings.Contains(q.failure, want) || (want == "") != (q.failure == "") {
			t.Errorf("want %q, got %q", want, q.failure)
		}
		if made != closed {
			t.Errorf("%q: %d stores were made, %d closed", want, made, closed)
		}
	}
	var q quiet
	if Check(&q, undertest.Factory{}, Options{}); !strings.Contains(q.failure, "Factory.New is not set") {
		t.Errorf("without New: %q", q.failure)
	}
	var denies quiet
	if Check(&denies, whole, Options{Oracle: oracle.Options{Deny: []oracle.Freedom{"F99"}}}); denies.failure != `no verdict: oracle: Options.Deny: there is no freedom "F99"` {
		t.Errorf("with an unknown freedom: %q", denies.failure)
	}
}

// TestCheckTells checks that missing operations are logged, and that a finding fails the test and shows its story.
func TestCheckTells(t *testing.T) {
	var q quiet
	Check(&q, undertest.Factory{New: func() (*undertest.Store, error) {
		in, err := inMemory(nil).New()
		in.CorruptHistory, in.CorruptMessage = nil, nil
		return in, err
	}}, Options{Sequences: 1})
	if q.failure != "" || strings.Count(q.log, "not checked: ") != 3 {
		t.Errorf("failure %q, log:\n%s", q.failure, q.log)
	}
}
