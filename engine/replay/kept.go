package replay

import "reflect"

// Kept is an execution whose code stays suspended after a turn, as a runtime with a sticky cache keeps it: the next turn
// goes on from there, and does not replay the history. For code that is deterministic both give the same output. Code
// that is not shows only when its execution is replayed, after the runtime has lost it.
//
// A Kept belongs to the Arena of its turn. It must be dropped, or passed to the next turn, before that Arena is reset.
type Kept struct{ t *turn }

// Drop ends the suspended code, if there is any.
func (k *Kept) Drop() {
	if k == nil || k.t == nil {
		return
	}
	t := k.t
	t.tearDown()
	t.host.inner = (*turn)(nil)
	t.given = Input{}
	t.next, t.arena.spare = t.arena.spare, t
	k.t = nil
}

// resumed returns the turn that goes on from in.Kept. It returns nil if there is none, or if it is not what the input
// describes: then its last turn was not committed, or another node has run the execution since.
func (in *Input) resumed() *turn {
	k := in.Kept
	if k == nil || k.t == nil {
		return nil
	}
	t := k.t
	if t.arena != in.Arena || t.arena.busy || !t.goesOnWith(in) {
		k.Drop()
		return nil
	}
	k.t = nil
	from := len(t.given.History)
	t.given = *in
	t.resume(from)
	return t
}

// goesOnWith reports whether the input's history is the one that the turn has left.
func (t *turn) goesOnWith(in *Input) bool {
	was := &t.given
	n := len(was.History)
	if in.Build != was.Build || in.Rules != was.Rules || in.Instance != was.Instance || in.ExecutionID != was.ExecutionID ||
		len(in.History) != n+len(t.delta) {
		return false
	}
	for i := range t.delta {
		a, b := &in.History[n+i], &t.delta[i]
		if a.EventID != b.EventID || a.SourceEventID != b.SourceEventID || a.TimestampMs != b.TimestampMs ||
			a.DuroxideVersion != b.DuroxideVersion || !reflect.DeepEqual(a.Data, b.Data) {
			return false
		}
	}
	return true
}

// resume makes the turn's own events part of the baseline, and forgets everything else that belongs to the last turn
// alone.
func (t *turn) resume(from int) {
	t.resumed = true
	t.asked = false
	t.polls, t.pollLimit, t.order = 0, 0, nil
	t.out = Output{}
	clear(t.delta)
	t.delta, t.pending = t.delta[:0], t.pending[:0]
	t.unrecorded, t.refusals, t.cancels = nil, nil, nil
	history := t.in.History
	for i := from; i < len(history); i++ {
		if err := t.index(i, &history[i]); err != nil {
			panic(err) // an event without data, which does not equal the one that the turn wrote
		}
	}
}

// keeps reports whether the code stays suspended if the execution goes on.
func (t *turn) keeps() bool { return t.in.Keep && t.in.Arena == t.arena }
