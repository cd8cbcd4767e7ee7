package check

import (
	"math/bits"

	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/sim/record"
)

// Set is a set of kinds of observations, records or calls.
type Set[K ~uint8] uint64

// SetOf returns the set of the given kinds.
func SetOf[K ~uint8](kinds ...K) (s Set[K]) {
	for _, k := range kinds {
		s |= 1 << k
	}
	return s
}

// Has reports whether the set contains a kind.
func (s Set[K]) Has(k K) bool { return s&(1<<k) != 0 }

// AnyCall contains every kind of call.
const AnyCall Set[observe.CallKind] = 1<<64 - 1

// Ends selects the calls whose end a checker is notified of: any end of these kinds of calls, only successful ends,
// only ends that found nothing, or any end of a call that has touched something in the model (model.Call.Touched).
type Ends struct{ Any, OK, Nothing, Touched Set[observe.CallKind] }

// ender is a checker that looks at calls when they end.
type ender interface {
	Ends() Ends // called once
	// Ended notifies the checker that a call has ended. By then, the model knows everything about the call.
	Ended(c *model.Call, o *observe.Observation)
}

// of reports whether the end of this kind of call is wanted if the call has this outcome and has touched something.
func (e Ends) of(k observe.CallKind, outcome observe.Outcome, touched bool) bool {
	return e.Any.Has(k) || outcome == observe.OutcomeOK && e.OK.Has(k) || outcome == observe.OutcomeNothing && e.Nothing.Has(k) ||
		touched && e.Touched.Has(k)
}

// The sizes of the tables below. No kind or outcome has a larger number.
const (
	kindsMost    = 32
	outcomesMost = 8
)

// wanted records which checkers want what, in the order in which they were added.
type wanted struct {
	observations [kindsMost][]Checker
	records      [kindsMost]recordLists
	enders       []ender
	ends         [kindsMost][outcomesMost][2]endList // the last index is 1 for calls that have touched something
}

// recordLists lists the checkers that want the records of one kind. If any of them wants only those about certain kinds
// of calls, calls has a list for each kind of call, and is empty otherwise.
type recordLists struct {
	all   []Checker
	calls [][]Checker
}

// endList lists the checkers that want the ends of one kind of call with one outcome. It is computed when the first
// such call ends.
type endList struct {
	known bool
	list  []ender
}

func (w *wanted) reset() {
	for k := range kindsMost {
		w.observations[k] = w.observations[k][:0]
		r := &w.records[k]
		for i := range r.calls {
			r.calls[i] = r.calls[i][:0]
		}
		r.all, r.calls = r.all[:0], r.calls[:0]
		for i := range w.ends[k] {
			for j := range w.ends[k][i] {
				w.ends[k][i][j] = endList{list: w.ends[k][i][j].list[:0]}
			}
		}
	}
	w.enders = w.enders[:0]
}

func (w *wanted) add(c Checker) {
	for rest := uint64(c.Observes()); rest != 0; rest &= rest - 1 {
		k := bits.TrailingZeros64(rest)
		w.observations[k] = append(w.observations[k], c)
	}
	for rest := uint64(c.Records()); rest != 0; rest &= rest - 1 {
		k := bits.TrailingZeros64(rest)
		w.records[k].add(c, record.Kind(k))
	}
	if e, ok := c.(ender); ok {
		w.enders = append(w.enders, e)
	}
}

func (w *wanted) observers(k observe.Kind) []Checker {
	if k >= kindsMost {
		return nil
	}
	return w.observations[k]
}

func (w *wanted) recorders(k record.Kind, of observe.CallKind) []Checker {
	if k >= kindsMost || of >= kindsMost {
		return nil
	}
	if r := &w.records[k]; len(r.calls) > 0 {
		return r.calls[of]
	}
	return w.records[k].all
}

func (r *recordLists) add(c Checker, k record.Kind) {
	calls := c.RecordsOf(k)
	if calls != AnyCall && len(r.calls) == 0 {
		if r.calls = r.calls[:cap(r.calls)]; len(r.calls) == 0 {
			r.calls = make([][]Checker, kindsMost)
		}
		for of := range r.calls {
			r.calls[of] = append(r.calls[of], r.all...)
		}
	}
	r.all = append(r.all, c)
	for of := range r.calls {
		if calls.Has(observe.CallKind(of)) {
			r.calls[of] = append(r.calls[of], c)
		}
	}
}

func (w *wanted) endersOf(k observe.CallKind, outcome observe.Outcome, touched bool) []ender {
	if k >= kindsMost || outcome >= outcomesMost {
		return nil
	}
	e := &w.ends[k][outcome][0]
	if touched {
		e = &w.ends[k][outcome][1]
	}
	if !e.known {
		e.known = true
		for _, c := range w.enders {
			if c.Ends().of(k, outcome, touched) {
				e.list = append(e.list, c)
			}
		}
	}
	return e.list
}
