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
// lets every other call take effect, and lose its answer. again makes what Restart returns of the provider.
func restarting(late func(call.Call) bool, again func(engine.Provider) (engine.Provider, error)) undertest.Factory {
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
			return again(served)
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

func same(p engine.Provider) (engine.Provider, error) { return p, nil }

func TestRestarts(t *testing.T) {
	Check(t, restarting(never, same), Options{Sequences: int(sample.Number(80, 1000))})
}

func TestLostByARestart(t *testing.T) {
	late := func(c call.Call) bool {
		_, ok := c.(call.EnqueueForWorker)
		return ok
	}
	report, err := Search(restarting(late, same), Options{Sequences: 500})
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
	without := func(managed bool) func(engine.Provider) (engine.Provider, error) {
		return func(p engine.Provider) (engine.Provider, error) {
			return call.Through(p.Name(), p.Version(), managed, func(ctx context.Context, c call.Call) call.Answer {
				if _, gone := c.(call.Read); gone && managed {
					return call.Answer{Err: engine.ErrUnsupported}
				}
				return call.Perform(ctx, p, c)
			}), nil
		}
	}
	for want, again := range map[string]func(engine.Provider) (engine.Provider, error){
		"does not go on: the file is damaged":                func(engine.Provider) (engine.Provider, error) { return nil, errors.New("the file is damaged") },
		"does not go on: Store.Restart returned no provider": func(engine.Provider) (engine.Provider, error) { return nil, nil },
		"does not go on: Store.Restart panicked: torn":       func(engine.Provider) (engine.Provider, error) { panic("torn") },
		"does not go on: it has no management surface":       without(false),
		"the provider does not have this method any more":    without(true),
	} {
		report, err := Search(restarting(never, again), Options{Sequences: 500})
		if err != nil {
			t.Fatal(err)
		}
		if f := report.Unknown(); f == nil || !f.Shortest || !strings.Contains(f.String(), want) || f.Refusal.Number > 2 {
			t.Errorf("want %q and a short story, found %v", want, f)
		}
	}
}
