package conformance

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
)

// caseRun is the state of a running case: its stores, how long it has waited, and the names that it assigned.
type caseRun struct {
	factory Factory
	all     []*Store // every store made so far
	*Store
	p       engine.Provider
	stretch int

	began  time.Time
	waited time.Duration     // how long the case has waited on the store's clock
	tokens map[string]string // tokens, keyed by the case's names for them
	marks  map[string]uint64 // times in milliseconds, keyed by the case's names for them
	given  map[string]bool   // tokens that fetches have returned
	done   []string          // the calls so far with their answers, one per line
	step   int               // the step before which an ack is to fail
	judged bool              // some answer of a walk was judged

	own map[string]func(words []string) (string, error) // a test's own operations (own.go)

	mu    sync.Mutex
	lacks string // the method that the provider reported as unsupported
}

var ctx = context.Background()

// fresh replaces the store with a new, empty one.
func (w *caseRun) fresh() {
	store, err := w.factory.Make()
	if err != nil {
		fail("the factory made no store: %v", err)
	}
	w.Store = store
	w.all = append(w.all, w.Store)
	w.p = w.noting(w.Provider)
	if w.Advance != nil && w.now() < 1000 {
		w.Advance(time.Second) // some cases use timers that came due long ago
	}
	w.tokens, w.given = map[string]string{}, map[string]bool{}
}

// noting wraps p and records each method that p turns out not to support.
func (w *caseRun) noting(p engine.Provider) engine.Provider {
	return call.Through(p.Name(), p.Version(), p.Admin() != nil, func(ctx context.Context, c call.Call) call.Answer {
		a := call.Perform(ctx, p, c)
		if errors.Is(a.Err, engine.ErrUnsupported) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.lacks = call.Method(c)
		}
		return a
	})
}

// broken returns why there can be no more answers, or nil.
func (w *caseRun) broken() error {
	if w.Store == nil || w.Broken == nil {
		return nil
	}
	return w.Broken()
}

// lacking returns the method that the case needs and the provider lacks, or "" if there is none.
func (w *caseRun) lacking() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lacks
}

// ms converts n milliseconds of a case to the store's time. The result is in whole milliseconds, and is zero only if n
// is zero.
func (w *caseRun) ms(n int) time.Duration {
	d := time.Duration(n) * time.Millisecond
	if w.Advance != nil || n == 0 {
		return d
	}
	d = d * (cmp.Or(w.Second, time.Second) / time.Millisecond) / 1000 * time.Duration(w.stretch)
	return max(d.Round(time.Millisecond), time.Millisecond)
}

// wait lets d pass on the store's clock.
func (w *caseRun) wait(d time.Duration) {
	w.waited += d
	if w.Advance != nil {
		w.Advance(d)
		return
	}
	time.Sleep(d)
}

// late reports whether a store in real time was called so late that locks may have expired between calls.
func (w *caseRun) late() bool {
	return w.Store != nil && w.Advance == nil && time.Since(w.began)-w.waited > w.ms(int(lateness.Milliseconds()))
}

// now returns the store's time in milliseconds.
func (w *caseRun) now() uint64 {
	if w.NowMs == nil {
		return uint64(time.Now().UnixMilli())
	}
	return uint64(w.NowMs())
}

func (w *caseRun) admin() engine.ProviderAdmin {
	a := w.p.Admin()
	if a == nil {
		lacks("the provider has no management surface (admin; in Go, Provider.Admin)")
	}
	return a
}

// token returns the token that the case calls name. If there is none, it returns name itself.
func (w *caseRun) token(name string) string {
	if t, ok := w.tokens[name]; ok {
		return t
	}
	return name
}

// took stores a fetched token under a name. It fails the case if the provider has returned the same token before.
func (w *caseRun) took(token, name string) {
	switch {
	case token == "":
		fail("the fetch gave an empty token")
	case w.given[token]:
		fail("the fetch gave token %q a second time", token)
	}
	w.given[token] = true
	if name != "" {
		w.tokens[name] = token
	}
}

// class returns an error's class in the form that scripts use.
func class(err error) string {
	var p *engine.ProviderError
	switch {
	case !errors.As(err, &p):
		return "unclassified"
	case p.Retryable:
		return "retryable"
	}
	return "perm"
}
