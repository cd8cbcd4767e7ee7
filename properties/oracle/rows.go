package oracle

import (
	"fmt"

	"github.com/durosim/durosim/engine"
)

// Rows holds the rows that a store has for one instance, for Oracle.Compare. Lists are in the order of their ids,
// numbers or keys.
type Rows struct {
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
	Executions    []ExecutionRow
	// Queue holds the rows of the orchestrator queue, whose token is the mark of their last fetch, and Work those of the
	// worker queue.
	Queue, Work   []QueueRow
	Stored, Delta []KeyRow
}

// ExecutionRow is an execution with the ids of its events. Created says whether it has a row.
type ExecutionRow struct {
	ID      uint64
	Created bool
	Status  engine.Status
	Output  string
	Pin     *engine.Version
	Events  []uint64
}

// QueueRow is a row of a queue.
type QueueRow struct {
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

// Difference is a place where a store's rows are not what the contract makes of the calls so far.
type Difference struct {
	// Instance is empty for a session.
	Instance string
	// Column is the column, or the table whose rows are not those of the contract.
	Column string
	// Text says what the store has, and what it should have.
	Text string
}

// Compare compares rows of the store with what the contract makes of the calls so far, and returns the first
// difference, or nil. Where the store may be in several states, it forgets those that the rows rule out. It may only be
// used if the time of each call is known to the millisecond.
func (o *Oracle) Compare(list []*Rows, sessions []SessionRow) *Difference {
	var first *Difference
	fit := o.states[:0:0]
next:
	for _, s := range o.states {
		d := s.sessionsDiffer(sessions)
		for i := 0; d == nil && i < len(list); i++ {
			if d = s.differs(list[i], o.latest); d != nil {
				d.Instance = list[i].Instance
			}
		}
		if d != nil {
			if first == nil {
				first = d
			}
			continue next
		}
		fit = append(fit, s)
	}
	if len(fit) == 0 {
		return first
	}
	if len(fit) < len(o.states) {
		o.states = fit
	}
	return nil
}

// Holds reports whether in some state the store has that many rows in its queues.
func (o *Oracle) Holds(queue, work int) bool {
	for _, s := range o.states {
		if len(s.queue) == queue && len(s.work) == work {
			return true
		}
	}
	return false
}

// Instances returns the ids of all instances that the store may have something for, with repetitions.
func (o *Oracle) Instances() (ids []string) {
	for _, s := range o.states {
		for _, in := range s.instances {
			ids = append(ids, in.id)
		}
		for i := range s.queue {
			ids = append(ids, s.queue[i].instance)
		}
		for i := range s.work {
			ids = append(ids, s.work[i].item.Target())
		}
	}
	return ids
}

func differ(column, format string, args ...any) *Difference {
	return &Difference{Column: column, Text: fmt.Sprintf(format, args...)}
}

// unlike returns a difference if a store has something else than it should have.
func unlike[T comparable](column string, has, should T) *Difference {
	if has == should {
		return nil
	}
	return differ(column, "%s: the store has %v, and should have %v", column, has, should)
}

func text(s *string) string {
	if s == nil {
		return "none"
	}
	return fmt.Sprintf("%q", *s)
}

func (s *State) sessionsDiffer(rows []SessionRow) *Difference {
	if len(rows) != len(s.sessions) {
		return differ("sessions", "sessions: the store has %d, and should have %d", len(rows), len(s.sessions))
	}
	for i, r := range rows {
		h := &s.sessions[i]
		if want := (SessionRow{h.id, h.owner, h.until.Lo, h.active.Lo}); r != want {
			return differ("sessions", "session: the store has %+v, and should have %+v", r, want)
		}
	}
	return nil
}

// differs compares an instance's rows. A row that is visible by now may have become so at any time.
func (s *State) differs(r *Rows, now int64) *Difference {
	in := s.find(r.Instance)
	var l lock
	if in.lock != nil {
		l = *in.lock
	}
	for _, d := range []*Difference{
		unlike("instance", r.Created, in.row), unlike("orchestration", r.Orchestration, in.name), unlike("version", r.Version, in.version),
		unlike("current execution", r.Current, in.current), unlike("parent", r.Parent, in.parent),
		unlike("lock", r.LockToken, l.token), unlike("lock", r.LockUntilMs, l.until.Lo), unlike("custom status", r.CustomVersion, in.customVersion),
	} {
		if d != nil {
			return d
		}
	}
	if !sameText(r.CustomStatus, in.custom) {
		return unlike("custom status", text(r.CustomStatus), text(in.custom))
	}
	if d := keysDiffer("stored keys", r.Stored, in.store); d != nil {
		return d
	}
	if d := keysDiffer("changed keys", r.Delta, in.delta); d != nil {
		return d
	}
	if d := in.executionsDiffer(r.Executions); d != nil {
		return d
	}
	n := 0
	for i := range s.queue {
		m := &s.queue[i]
		if m.instance != r.Instance {
			continue
		}
		if n == len(r.Queue) {
			return differ("messages", "the store lacks %s", shown{m.item})
		}
		if d := r.Queue[n].differs(&row{item: m.item, visible: m.visible, count: m.count, token: m.mark}, now); d != nil {
			return d
		}
		n++
	}
	if n < len(r.Queue) {
		return differ("messages", "the store has a message, %s, that should not be there", r.Queue[n].Kind)
	}
	n = 0
	for i := range s.work {
		w := &s.work[i]
		if w.item.Target() != r.Instance {
			continue
		}
		if n == len(r.Work) {
			return differ("activities", "the store lacks %s", shown{w.item})
		}
		if d := r.Work[n].differs(w, now); d != nil {
			return d
		}
		n++
	}
	if n < len(r.Work) {
		return differ("activities", "the store has an activity that should not be there")
	}
	return nil
}

func (r *QueueRow) differs(w *row, now int64) *Difference {
	is := func(d *Difference) *Difference {
		if d != nil {
			d.Text = fmt.Sprintf("%s, %s", shown{w.item}, d.Text)
		}
		return d
	}
	switch {
	case r.Kind != w.item.Kind():
		return is(unlike("kind", r.Kind, w.item.Kind()))
	case max(r.VisibleMs, now) != max(w.visible.Lo, now):
		return is(unlike("visible", r.VisibleMs, w.visible.Lo))
	case r.Count != w.count:
		return is(unlike("attempt count", r.Count, w.count))
	case r.Token != w.token:
		return is(unlike("token", r.Token, w.token))
	case r.UntilMs != w.until.Lo:
		return is(unlike("lock", r.UntilMs, w.until.Lo))
	}
	return nil
}

func (in *instance) executionsDiffer(rows []ExecutionRow) *Difference {
	events, created := 0, 0
	for i := range rows {
		r := &rows[i]
		have := in.events(r.ID)
		events += len(have)
		e := in.execution(r.ID)
		if r.Created != (e != nil) {
			return differ("executions", "execution %d: the store has it: %v, and should: %v", r.ID, r.Created, e != nil)
		}
		for k := range max(len(have), len(r.Events)) {
			switch {
			case k == len(r.Events):
				return differ("events", "execution %d: the store lacks event %d", r.ID, have[k].id)
			case k == len(have) || r.Events[k] != have[k].id:
				return differ("events", "execution %d: the store has an event %d that should not be there", r.ID, r.Events[k])
			}
		}
		if e == nil {
			continue
		}
		created++
		output := ""
		if e.output != nil {
			output = *e.output
		}
		switch {
		case r.Status != e.status:
			return differ("status", "execution %d: status: the store has %s, and should have %s", r.ID, r.Status, e.status)
		case r.Output != output:
			return differ("output", "execution %d: output: the store has %q, and should have %q", r.ID, r.Output, output)
		case (r.Pin == nil) != (e.pin == nil) || r.Pin != nil && r.Pin.Triple() != e.pin.Triple():
			return differ("pin", "execution %d: pin: the store has %v, and should have %v", r.ID, r.Pin, e.pin)
		}
	}
	if created < len(in.executions) || events < len(in.history) {
		return differ("executions", "the store has %d executions and %d events, and should have %d and %d", created, events, len(in.executions), len(in.history))
	}
	return nil
}

func keysDiffer(table string, rows []KeyRow, entries []entry) *Difference {
	if len(rows) != len(entries) {
		return differ(table, "%s: the store has %d, and should have %d", table, len(rows), len(entries))
	}
	for i, r := range rows {
		e := &entries[i]
		if r.Key != e.key || (r.Value == nil) != e.tombstone || r.Value != nil && (*r.Value != e.value || r.UpdatedMs != e.updatedMs) {
			return differ(table, "%s: the store has %s = %s of %d ms, and should have %s = %q of %d ms", table, r.Key, text(r.Value), r.UpdatedMs, e.key, e.value, e.updatedMs)
		}
	}
	return nil
}
