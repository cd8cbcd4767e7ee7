package search

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties/undertest"
)

// restarting makes stores that lose, when they restart, the last call that late says is stored late. A kill during a call
// lets every other call take effect, and lose its answer. again, if not nil, makes every restart fail.
func restarting(late func(call.Call) bool, again error) undertest.Factory {
	return undertest.Factory{New: func() (*undertest.Store, error) {
		s, err := inMemory(nil).Make()
		if err != nil {
			return nil, err
		}
		stored, kills := s.Provider, 0
		var unsaved call.Call
		s.Provider = call.Through(stored.Name(), stored.Version(), true, func(ctx context.Context, c call.Call) call.Answer {
			if unsaved != nil {
				call.Perform(ctx, stored, unsaved)
			}
			if unsaved = nil; late(c) {
				unsaved = c
				return call.Answer{}
			}
			return call.Perform(ctx, stored, c)
		})
		served := s.Provider
		s.Restart = func() (engine.Provider, error) {
			unsaved = nil
			return served, again
		}
		s.Kill = func(c call.Call) (call.Answer, bool) {
			if kills++; kills%2 == 0 {
				call.Perform(context.Background(), served, c)
			}
			return call.Answer{}, false
		}
		return s, nil
	}}
}

func never(call.Call) bool { return false }

func TestRestarts(t *testing.T) {
	Check(t, restarting(never, nil), Options{Sequences: int(sample.Number(200, 1000))})
}

func TestLostByARestart(t *testing.T) {
	late := func(c call.Call) bool {
		_, ok := c.(call.EnqueueForWorker)
		return ok
	}
	report, err := Search(restarting(late, nil), Options{Sequences: 500})
	if err != nil {
		t.Fatal(err)
	}
	f := report.Unknown()
	if f == nil {
		t.Fatal("nothing was found")
	}
	if told := f.String(); !f.Shortest || strings.Count(told, restarts) != 1 || f.Refusal.Number > 3 {
		t.Errorf("the story should have an order, a restart, and a look, but is\n%s", told)
	}
}

func TestNoSecondStart(t *testing.T) {
	report, err := Search(restarting(never, errors.New("the file is damaged")), Options{Sequences: 100})
	if err != nil {
		t.Fatal(err)
	}
	f := report.Unknown()
	if f == nil || !f.Shortest || !strings.Contains(f.String(), "the provider was killed, and does not start again: the file is damaged") {
		t.Fatalf("found %v", f)
	}
}
