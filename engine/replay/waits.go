package replay

import (
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/orchhost"
)

// waitKey identifies the waits that a positional event can resolve: the generation, the name and, in the second
// generation, the topic.
type waitKey struct {
	second bool
	name   string
	topic  string
}

// waits holds the subscriptions and arrivals for one key (docs/contract/runtime.md#r7.7).
//
// The i-th subscription gets arrival i-c, where c is the number of cancelled subscriptions before it. An arrival that
// finds no free subscription is skipped for good.
type waits struct {
	subs     []subscription
	arrivals []string
	live     int // subscriptions that are not cancelled
	// settled is the number of leading subscriptions that are consumed or cancelled; cancelled is the number of
	// cancelled ones among them.
	settled   int
	cancelled int
}

type subscription struct {
	pos       int
	token     orchhost.Token
	cancelled bool
	consumed  bool
}

// subscribe adds a subscription and returns its index.
func (w *waits) subscribe(pos int, token orchhost.Token) int {
	w.subs = append(w.subs, subscription{pos: pos, token: token})
	w.live++
	return len(w.subs) - 1
}

// arrive records an arrival unless every live subscription already has one.
func (w *waits) arrive(data string) bool {
	if w.live <= len(w.arrivals) {
		return false
	}
	w.arrivals = append(w.arrivals, data)
	return true
}

// cancel cancels the i-th subscription. If discard is set, it also discards the arrival that the subscription would
// have received.
func (w *waits) cancel(i int, discard bool) {
	if !w.subs[i].cancelled {
		if n := w.arrival(i); discard && n < len(w.arrivals) {
			w.arrivals = slices.Delete(w.arrivals, n, n+1)
		}
		w.subs[i].cancelled = true
		w.live--
		w.settle()
	}
}

func (w *waits) consume(i int) {
	w.subs[i].consumed = true
	w.settle()
}

func (w *waits) settle() {
	for ; w.settled < len(w.subs) && (w.subs[w.settled].cancelled || w.subs[w.settled].consumed); w.settled++ {
		if w.subs[w.settled].cancelled {
			w.cancelled++
		}
	}
}

// result returns the arrival that the i-th subscription would currently get, and reports whether there is one.
func (w *waits) result(i int) (string, bool) {
	if w.subs[i].cancelled {
		return "", false
	}
	n := w.arrival(i)
	if n >= len(w.arrivals) {
		return "", false
	}
	return w.arrivals[n], true
}

// arrival returns the index of the i-th subscription's arrival.
func (w *waits) arrival(i int) int {
	n := i - w.cancelled
	for j := w.settled; j < i; j++ {
		if w.subs[j].cancelled {
			n--
		}
	}
	return n
}

// each calls f for every unsettled subscription that has an arrival. If served is false, it calls f for those that have
// none instead.
func (w *waits) each(served bool, f func(*subscription)) {
	n := w.settled - w.cancelled
	for i := w.settled; i < len(w.subs); i++ {
		if w.subs[i].cancelled {
			continue
		}
		if (n < len(w.arrivals)) == served {
			f(&w.subs[i])
		}
		n++
	}
}

// waitTable holds the waits for all keys.
type waitTable struct {
	byKey map[waitKey]int // index into all
	all   []waits
	place []subPlace // sorted by position
}

// subPlace locates the subscription of the schedule event at pos.
type subPlace struct{ pos, queue, index int }

// emptied returns an empty table that reuses wt's memory.
func (wt *waitTable) emptied() waitTable {
	clear(wt.byKey)
	return waitTable{byKey: wt.byKey, all: wt.all[:0], place: wt.place[:0]}
}

// add appends an empty entry for key to all and returns its index.
func (wt *waitTable) add(key waitKey) int {
	q := len(wt.all)
	if q < cap(wt.all) { // reuse an entry left by emptied
		wt.all = wt.all[:q+1]
		wt.all[q] = waits{subs: wt.all[q].subs[:0], arrivals: wt.all[q].arrivals[:0]}
	} else {
		wt.all = append(wt.all, waits{})
	}
	if wt.byKey == nil {
		wt.byKey = make(map[waitKey]int)
	}
	wt.byKey[key] = q
	return q
}

func (wt *waitTable) placeOf(pos int) (subPlace, bool) {
	i, ok := slices.BinarySearchFunc(wt.place, pos, func(p subPlace, pos int) int { return p.pos - pos })
	if !ok {
		return subPlace{}, false
	}
	return wt.place[i], true
}

// subscribe adds a subscription; positions ascend from call to call.
func (wt *waitTable) subscribe(key waitKey, pos int, token orchhost.Token) *waits {
	q, known := wt.byKey[key]
	if !known {
		q = wt.add(key)
	}
	wt.place = append(wt.place, subPlace{pos, q, wt.all[q].subscribe(pos, token)})
	return &wt.all[q]
}

// arrive records an arrival and returns the waits for its key, or nil if the arrival is skipped.
func (wt *waitTable) arrive(key waitKey, data string) *waits {
	if q, known := wt.byKey[key]; known && wt.all[q].arrive(data) {
		return &wt.all[q]
	}
	return nil
}

// cancel cancels the subscription at pos and returns its waits, or nil if there is no such subscription.
func (wt *waitTable) cancel(pos int, discard bool) *waits {
	p, ok := wt.placeOf(pos)
	if !ok {
		return nil
	}
	wt.all[p.queue].cancel(p.index, discard)
	return &wt.all[p.queue]
}

func (wt *waitTable) result(pos int) (string, bool) {
	p, _ := wt.placeOf(pos)
	return wt.all[p.queue].result(p.index)
}

func (wt *waitTable) consume(pos int) {
	p, _ := wt.placeOf(pos)
	wt.all[p.queue].consume(p.index)
}

// OpenWaits returns, in history order, the subscription events in the history that are still open: each
// ExternalSubscribed, ExternalSubscribed2 and QueueSubscribed that has neither an arrival nor a cancellation. It
// applies docs/contract/runtime.md#r7.7 to the whole history. A cancelled wait's arrival goes to the next wait with the
// same key, unless the build discards it. A queue message waits for a dequeue. A nil build has the standard semantics.
func OpenWaits(history []engine.Event, build *engine.Build) []engine.Event {
	if !slices.ContainsFunc(history, isSubscription) {
		return nil
	}
	if build == nil {
		build = &engine.Build{}
	}
	t := turn{in: &Input{History: history, Build: build}, rules: &defaultRules, sched: make([]schedule, len(history))}
	open := append(t.openWaits(), t.openDequeues()...)
	slices.Sort(open)
	events := make([]engine.Event, len(open))
	for i, pos := range open {
		events[i] = history[pos]
	}
	return events
}

func isSubscription(e engine.Event) bool {
	switch e.Data.(type) {
	case eventdata.ExternalSubscribed, eventdata.ExternalSubscribed2, eventdata.QueueSubscribed:
		return true
	}
	return false
}

// openWaits returns, in ascending order, the positions of the subscriptions that have no arrival and are not cancelled.
func (t *turn) openWaits() []int {
	var wt waitTable
	for pos := range t.sched {
		switch e := t.at(pos); d := e.Data.(type) {
		case eventdata.ExternalSubscribed:
			wt.subscribe(waitKey{name: d.Name}, pos, 0)
		case eventdata.ExternalSubscribed2:
			wt.subscribe(waitKey{second: true, name: d.Name, topic: d.Topic}, pos, 0)
		case eventdata.ExternalEvent:
			wt.arrive(waitKey{name: d.Name}, d.Data)
		case eventdata.ExternalEvent2:
			wt.arrive(waitKey{second: true, name: d.Name, topic: d.Topic}, d.Data)
		case eventdata.ExternalSubscribedCancelled:
			wt.cancel(t.find(e.SourceEventID), t.discards())
		}
	}
	var open []int
	for i := range wt.all {
		wt.all[i].each(false, func(s *subscription) { open = append(open, s.pos) })
	}
	slices.Sort(open)
	return open
}
