package oracle

import "github.com/durosim/durosim/engine"

// Change holds what a store has now of everything that calls have touched, for Oracle.Compare. Queue and Work are in the
// order of their numbers, the other lists in any.
type Change struct {
	// Whole says that the store has nothing else.
	Whole      bool
	Instances  []InstanceRow
	Executions []ExecutionRow
	// Queue holds rows of the orchestrator queue, whose token is the mark of their last fetch, and Work rows of the worker
	// queue.
	Queue, Work []QueueRow
	// Sessions holds all sessions, by id.
	Sessions []SessionRow
}

// InstanceRow is what a store has for one instance, besides its executions and queued rows. The keys are in order.
type InstanceRow struct {
	Instance      string
	Created       bool
	Orchestration string
	Version       string
	Current       uint64
	Parent        engine.ParentLink
	LockToken     string
	LockUntilMs   int64
	CustomStatus  *string
	CustomVersion uint64
	Stored, Delta []KeyRow
	// Executions and Events count what a whole store has of it.
	Executions, Events int
}

// ExecutionRow is an execution. Created says whether it has a row.
type ExecutionRow struct {
	Instance string
	ID       uint64
	Created  bool
	Status   engine.Status
	Output   string
	Pin      *engine.Version
	// Events is how many events the execution has. EventIDs lists those that have come since the last Compare, or all.
	Events   int
	EventIDs []uint64
}

// QueueRow is a row of a queue, with its number in the store. Present is not set for one that has left its queue.
type QueueRow struct {
	Number    uint64
	Present   bool
	Instance  string
	Kind      engine.WorkItemKind
	VisibleMs int64
	Count     uint32
	Token     string
	UntilMs   int64
}

// KeyRow is a row of a key-value table. One without a value is a tombstone.
type KeyRow struct {
	Key       string
	Value     *string
	UpdatedMs uint64
}

// SessionRow is a row of the sessions table.
type SessionRow struct {
	ID, Owner           string
	UntilMs, ActivityMs int64
}

// Touched says what the calls since the last Compare have changed in the specification's state, so that a Change can
// have it. It may have more, and repetitions.
type Touched struct {
	// Whole is set if it may be anything.
	Whole bool
	// Instances lists the instances, with all of their executions and events. Columns lists those whose executions are in
	// Executions, if any.
	Instances, Columns []string
	Executions         []ExecutionID
	// Queue and Work list the numbers of rows. New is set if there are rows without a number.
	Queue, Work []uint64
	New         bool
}

// ExecutionID names an execution.
type ExecutionID struct {
	Instance string
	ID       uint64
}

// Touched returns what the calls since the last Compare have touched. It is valid until the next call.
func (o *Oracle) Touched() *Touched {
	s := o.states[0]
	queue, work := len(s.queue), len(s.work)
	o.touched.New = queue > 0 && s.queue[queue-1].number == 0 || work > 0 && s.work[work-1].number == 0
	o.touched.Whole = o.touched.Whole || len(o.states) > 1 || !o.compares
	return &o.touched
}

// Nothing reports whether the calls have certainly changed nothing, but for sessions.
func (t *Touched) Nothing() bool {
	return !t.Whole && !t.New && len(t.Instances)+len(t.Columns)+len(t.Executions)+len(t.Queue)+len(t.Work) == 0
}

func (t *Touched) clear() {
	t.Whole, t.Instances, t.Columns, t.Executions = false, t.Instances[:0], t.Columns[:0], t.Executions[:0]
	t.Queue, t.Work = t.Queue[:0], t.Work[:0]
}

// between adds what two states do not have in common.
func (t *Touched) between(before, after *State) {
	if before == after {
		return
	}
	a, b := before.instances, after.instances
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].id < b[0].id:
			t.Instances, a = append(t.Instances, a[0].id), a[1:]
		case len(a) == 0 || b[0].id < a[0].id:
			t.Instances, b = append(t.Instances, b[0].id), b[1:]
		default:
			if a[0] != b[0] {
				t.Instances = append(t.Instances, a[0].id)
			}
			a, b = a[1:], b[1:]
		}
	}
	t.Queue = rowsBetween(t.Queue, before.queue, after.queue, func(m, n *message) bool { return m.mark == n.mark })
	t.Work = rowsBetween(t.Work, before.work, after.work, func(w, x *row) bool { return w.token == x.token && w.until == x.until })
}

// rowsBetween adds the numbers of the rows that have gone or changed. New rows have no number yet.
func rowsBetween[R any, P rowOf[R]](numbers []uint64, before, after []R, same func(a, b P) bool) []uint64 {
	of := func(row *R) *queued { return P(row).row() }
	for i, k := 0, 0; i < len(before); i++ {
		a := of(&before[i])
		for k < len(after) && of(&after[k]).position < a.position {
			k++
		}
		if k < len(after) && of(&after[k]).position == a.position {
			if b := of(&after[k]); a.count == b.count && a.visible == b.visible && same(&before[i], &after[k]) {
				continue
			}
		}
		numbers = append(numbers, a.number)
	}
	return numbers
}
