package conformance

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/call"
)

// caseRun is the state of one running case: its stores, the time that it has waited, and the names that it assigned.
type caseRun struct {
	factory Factory
	all     []*Store // every store made
	*Store
	p       engine.Provider
	stretch int

	began  time.Time
	waited time.Duration     // by the case, on the store's clock
	tokens map[string]string // token by the case's name for it
	marks  map[string]uint64 // time in milliseconds by the case's name for it
	given  map[string]bool   // tokens that fetches returned
	done   []string          // the calls and their answers, one per line
	step   int               // the step before which an ack fails

	mu    sync.Mutex
	lacks string // the method that the provider reported as missing
}

var ctx = context.Background()

// fresh continues with another, empty store.
func (w *caseRun) fresh() {
	store, err := w.factory.Make()
	if err != nil {
		fail("the factory made no store: %v", err)
	}
	w.Store = store
	w.all = append(w.all, w.Store)
	w.p = w.noting(w.Provider)
	if w.Advance != nil && w.now() < 1000 {
		w.Advance(time.Second) // some cases use timers that were due long ago
	}
	w.tokens, w.given = map[string]string{}, map[string]bool{}
}

// noting wraps p and records each method that p does not have.
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

// lacking returns the method that the case needs and the provider lacks, empty if there is none.
func (w *caseRun) lacking() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lacks
}

// ms converts n milliseconds of a case to the store's time: whole milliseconds, and zero only if n is zero.
func (w *caseRun) ms(n int) time.Duration {
	d := time.Duration(n) * time.Millisecond
	if w.Advance != nil || n == 0 {
		return d
	}
	second := w.Second
	if second == 0 {
		second = time.Second
	}
	d = d * (second / time.Millisecond) / 1000 * time.Duration(w.stretch)
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

// late reports whether the calls to a store in real time came so late that locks may have expired in between.
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

// admin returns the management surface.
func (w *caseRun) admin() engine.ProviderAdmin {
	a := w.p.Admin()
	if a == nil {
		lacks("the provider has no management surface (Provider.Admin)")
	}
	return a
}

// token returns the token with that name, or the text itself if the case gave no token that name.
func (w *caseRun) token(name string) string {
	if t, ok := w.tokens[name]; ok {
		return t
	}
	return name
}

// took stores a fetched token under a name. The provider must never return the same token again.
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

// class returns an error's class as a script writes it.
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
