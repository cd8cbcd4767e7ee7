package oracle

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/durosim/durosim/engine"
)

// Difference is a place where a store's rows are not what the contract makes of the calls so far.
type Difference struct {
	// Instance is empty for a session.
	Instance string
	// Column is the column, or the table whose rows are not those of the contract.
	Column string
	// Row is the number of the store's row that differs, or 0. Kind is the kind of its message.
	Row  uint64
	Kind engine.WorkItemKind
	// Surplus says that the store has a row that should be gone, and Lacks that it lacks one.
	Surplus, Lacks bool
	// Text says what the store has, and what is expected. It does not name the instance or the row. Times are in
	// milliseconds.
	Text string
}

// Compare compares what the store has with what the contract makes of the calls so far, and returns the first
// difference, or nil. The change must have everything that the store itself has touched since the last Compare, and what
// Touched returns; the first one must be whole. Where the store may be in several states, Compare forgets those that the
// rows rule out. It may only be used if the time of each call is known to the millisecond.
func (o *Oracle) Compare(c *Change) *Difference {
	var first *Difference
	fit := 0
	for _, s := range o.states {
		if d := s.differs(c); d == nil {
			o.states[fit] = s
			fit++
		} else if first == nil {
			first = d
		}
	}
	if fit == 0 {
		return first
	}
	o.states, o.compares = o.states[:fit], true
	o.touched.clear()
	return nil
}

// Damage tells the oracle that the row with that number in the store can no longer be decoded.
func (o *Oracle) Damage(number uint64) {
	for _, s := range o.states {
		if i, found := find(s.queue, number); found {
			s.queue[i].corrupt = true
		} else if i, found := find(s.work, number); found {
			s.work[i].corrupt = true
		}
	}
}

// rowOf is a pointer to a row of either queue.
type rowOf[R any] interface {
	*R
	row() *queued
}

func (m *message) row() *queued { return &m.queued }
func (r *row) row() *queued     { return &r.queued }

// find returns the place of the row with that number. If there is none, it is that of the first row with a larger one,
// or without one.
func find[R any, P rowOf[R]](rows []R, number uint64) (at int, found bool) {
	at = sort.Search(len(rows), func(i int) bool {
		n := P(&rows[i]).row().number
		return n == 0 || n >= number
	})
	return at, at < len(rows) && P(&rows[at]).row().number == number
}

func differ(column, format string, args ...any) *Difference {
	return &Difference{Column: column, Text: fmt.Sprintf(format, args...)}
}

// unlike returns a difference if a store has something else than it should have.
func unlike[T comparable](column string, has, should T) *Difference {
	if has == should {
		return nil
	}
	return differ(column, "%s %v: expected %v", column, has, should)
}

// orNone returns a text in quotation marks, or none if it is empty.
func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return fmt.Sprintf("%q", s)
}

func text(s *string) string {
	if s == nil {
		return "none"
	}
	return fmt.Sprintf("%q", *s)
}

// differs returns the first place where the state is not what the store has. It learns the numbers of new rows.
func (s *State) differs(c *Change) *Difference {
	if d := s.sessionsDiffer(c.Sessions); d != nil {
		return d
	}
	found, in := 0, &nobody
	for i := range c.Instances {
		r := &c.Instances[i]
		in = &nobody
		if at, has := s.search(r.Instance); has {
			in = s.instances[at]
			found++
		}
		if d := in.differs(r, c.Whole); d != nil {
			return d.of(r.Instance)
		}
	}
	for i := range c.Executions {
		r := &c.Executions[i]
		if in.id != r.Instance {
			in = s.find(r.Instance)
		}
		if d := in.executionDiffers(r); d != nil {
			return d.of(r.Instance)
		}
	}
	for i := range c.Queue {
		r := &c.Queue[i]
		if d := s.messageDiffers(r); d != nil {
			return d.of(r.Instance)
		}
	}
	for i := range c.Work {
		r := &c.Work[i]
		if d := s.activityDiffers(r); d != nil {
			return d.of(r.Instance)
		}
	}
	if d := cmp.Or(lacking("messages", s.queue, c.Queue, c.Whole), lacking("activities", s.work, c.Work, c.Whole)); d != nil {
		return d
	}
	if c.Whole && found < len(s.instances) {
		return differ("instance", "the store has nothing of %d instances, of which it should have %d", len(s.instances)-found, len(s.instances))
	}
	return nil
}

// nobody is an instance of which nothing is stored.
var nobody instance

func (d *Difference) of(instance string) *Difference {
	d.Instance = instance
	return d
}

// lacking returns a row that the store should have and has not. New rows that it has got a number by now.
func lacking[R any, P rowOf[R]](table string, rows []R, has []QueueRow, whole bool) *Difference {
	for i := len(rows) - 1; i >= 0; i-- {
		q := P(&rows[i]).row()
		if q.number != 0 {
			if !whole {
				return nil
			}
			at, found := slices.BinarySearchFunc(has, q.number, func(r QueueRow, number uint64) int { return cmp.Compare(r.Number, number) })
			if found && has[at].Present {
				continue
			}
		}
		return lacks(table, q).of(q.item.Target())
	}
	return nil
}

func lacks(table string, q *queued) *Difference {
	return &Difference{Column: table, Row: q.number, Kind: q.item.Kind(), Lacks: true, Text: fmt.Sprintf("not in its queue: expected %s", shown{q.item})}
}

func (s *State) sessionsDiffer(rows []SessionRow) *Difference {
	if len(rows) != len(s.sessions) {
		for _, r := range rows {
			if !slices.ContainsFunc(s.sessions, func(h session) bool { return h.id == r.ID }) {
				return differ("sessions", "session %q, owned by %s, is there: expected none", r.ID, r.Owner)
			}
		}
		for _, h := range s.sessions {
			if !slices.ContainsFunc(rows, func(r SessionRow) bool { return h.id == r.ID }) {
				return differ("sessions", "no session %q: expected one, owned by %s until %d ms", h.id, h.owner, h.until.Lo)
			}
		}
	}
	for i, r := range rows {
		h := &s.sessions[i]
		switch {
		case r.ID != h.id:
			return differ("sessions", "session %q is there: expected %q", r.ID, h.id)
		case r.Owner != h.owner:
			return differ("sessions", "session %q is owned by %s: expected %s", r.ID, r.Owner, h.owner)
		case r.UntilMs != h.until.Lo:
			return differ("sessions", "session %q, of %s, is owned until %d ms: expected until %d ms", r.ID, r.Owner, r.UntilMs, h.until.Lo)
		case r.ActivityMs != h.active.Lo:
			return differ("sessions", "session %q, of %s, was active last at %d ms: expected %d ms", r.ID, r.Owner, r.ActivityMs, h.active.Lo)
		}
	}
	return nil
}

// differs compares an instance's own columns and keys and, if the store is whole, how much there is of it.
func (in *instance) differs(r *InstanceRow, whole bool) *Difference {
	var l lock
	if in.lock != nil {
		l = *in.lock
	}
	switch {
	case r.Created != in.row:
		if r.Created {
			return differ("instance", "the instance is there: expected no such instance")
		}
		return differ("instance", "the instance is missing")
	case r.Orchestration != in.name:
		return unlike("orchestration", r.Orchestration, in.name)
	case r.Version != in.version:
		return unlike("version", r.Version, in.version)
	case r.Current != in.current:
		return unlike("current execution", r.Current, in.current)
	case r.Parent != in.parent:
		return differ("parent", "parent %s: expected %s", shown{r.Parent}, shown{in.parent})
	case r.LockToken != l.token:
		return differ("token", "locked by token %s: expected %s", orNone(r.LockToken), orNone(l.token))
	case r.LockUntilMs != l.until.Lo:
		return differ("lock", "locked by token %q until %d ms: expected until %d ms", r.LockToken, r.LockUntilMs, l.until.Lo)
	case r.CustomVersion != in.customVersion, !sameText(r.CustomStatus, in.custom):
		return differ("custom status", "custom status %s, version %d: expected %s, version %d", text(r.CustomStatus), r.CustomVersion, text(in.custom), in.customVersion)
	case whole && (r.Executions != len(in.executions) || r.Events != len(in.history)):
		return differ("executions", "%d executions with %d events: expected %d with %d", r.Executions, r.Events, len(in.executions), len(in.history))
	}
	if d := keysDiffer("stored keys", r.Stored, in.store); d != nil {
		return d
	}
	return keysDiffer("changed keys", r.Delta, in.delta)
}

func keysDiffer(table string, rows []KeyRow, entries []entry) *Difference {
	for i := range max(len(rows), len(entries)) {
		switch {
		case i == len(entries) || i < len(rows) && rows[i].Key < entries[i].key:
			return differ(table, "%s: %s = %s of %d ms: expected no such row", table, rows[i].Key, text(rows[i].Value), rows[i].UpdatedMs)
		case i == len(rows) || rows[i].Key > entries[i].key:
			return differ(table, "%s: no row of %s: expected %s", table, entries[i].key, entries[i].shown())
		}
		if r, e := &rows[i], &entries[i]; (r.Value == nil) != e.tombstone || r.Value != nil && (*r.Value != e.value || r.UpdatedMs != e.updatedMs) {
			return differ(table, "%s: %s = %s of %d ms: expected %s", table, r.Key, text(r.Value), r.UpdatedMs, e.shown())
		}
	}
	return nil
}

func (e *entry) shown() string {
	if e.tombstone {
		return "a tombstone"
	}
	return fmt.Sprintf("%q of %d ms", e.value, e.updatedMs)
}

func (in *instance) executionDiffers(r *ExecutionRow) *Difference {
	have, e := in.events(r.ID), in.execution(r.ID)
	if r.Created != (e != nil) {
		if r.Created {
			return differ("executions", "execution %d is there: expected no such execution", r.ID)
		}
		return differ("executions", "execution %d is missing", r.ID)
	}
	for _, id := range r.EventIDs {
		at := len(have)
		for at > 0 && have[at-1].id > id {
			at--
		}
		if at == 0 || have[at-1].id != id {
			return differ("events", "execution %d has event %d: expected no such event", r.ID, id)
		}
	}
	if r.Events < len(have) {
		last := len(have) - 1
		for last > 0 && slices.Contains(r.EventIDs, have[last].id) {
			last--
		}
		return differ("events", "execution %d has no event %d: expected %s", r.ID, have[last].id, have[last].event.Kind())
	}
	if r.Events > len(have) {
		return differ("events", "execution %d has %d events: expected %d", r.ID, r.Events, len(have))
	}
	if e == nil {
		return nil
	}
	output := ""
	if e.output != nil {
		output = *e.output
	}
	switch {
	case r.Status != e.status:
		return differ("status", "execution %d is %s: expected %s", r.ID, r.Status, e.status)
	case r.Output != output:
		return differ("output", "execution %d has output %q: expected %q", r.ID, r.Output, output)
	case (r.Pin == nil) != (e.pin == nil) || r.Pin != nil && r.Pin.Triple() != e.pin.Triple():
		return differ("pin", "execution %d has pin %v: expected %v", r.ID, r.Pin, e.pin)
	}
	return nil
}

// place returns the state's row with the number of a store's row, or the first one without a number, which then gets it:
// rows are numbered in the order in which they come. It returns neither a row nor a difference if both have none.
func place[R any, P rowOf[R]](table string, rows []R, numbered *uint64, r *QueueRow) (P, *Difference) {
	i, found := find[R, P](rows, r.Number)
	if !r.Present {
		if found {
			return nil, lacks(table, P(&rows[i]).row())
		}
		return nil, nil
	}
	fits := func(row R) bool {
		q := P(&row).row()
		return q.item.Target() == r.Instance && q.item.Kind() == r.Kind
	}
	switch {
	case found:
		return P(&rows[i]), nil
	case r.Number <= *numbered || !slices.ContainsFunc(rows[i:], fits):
		return nil, &Difference{Column: table, Row: r.Number, Kind: r.Kind, Surplus: true, Text: "in its queue: expected no such row"}
	case !fits(rows[i]):
		return nil, lacks(table, P(&rows[i]).row())
	}
	w := P(&rows[i])
	w.row().number, *numbered = r.Number, r.Number
	return w, nil
}

// messageDiffers compares a row of the orchestrator queue, and activityDiffers one of the worker queue.
func (s *State) messageDiffers(r *QueueRow) *Difference {
	m, d := place("messages", s.queue, &s.numbered[0], r)
	if m == nil {
		return d
	}
	return m.differs(r, m.mark, 0)
}

func (s *State) activityDiffers(r *QueueRow) *Difference {
	w, d := place("activities", s.work, &s.numbered[1], r)
	if w == nil {
		return d
	}
	return w.differs(r, w.token, w.until.Lo)
}

func (q *queued) differs(r *QueueRow, token string, untilMs int64) *Difference {
	var d *Difference
	switch {
	case r.Kind != q.item.Kind():
		d = unlike("kind", r.Kind, q.item.Kind())
	case r.VisibleMs != q.visible.Lo:
		d = differ("visible", "visible from %d ms on: expected from %d ms", r.VisibleMs, q.visible.Lo)
	case r.Count != q.count:
		d = unlike("attempt count", r.Count, q.count)
	case r.Token != token:
		d = differ("token", "held by token %s: expected %s", orNone(r.Token), orNone(token))
	case r.UntilMs != untilMs:
		d = differ("lock", "locked by token %q until %d ms: expected until %d ms", r.Token, r.UntilMs, untilMs)
	default:
		return nil
	}
	d.Row, d.Kind = r.Number, r.Kind
	return d
}
