package oracle

import (
	"cmp"
	"reflect"
	"slices"
	"sort"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
)

// State is one state that a store may be in after the exchanges so far. It holds the tables of
// docs/contract/provider.md#p3.1 as plain slices. A State never changes, so States can share parts. The zero value is
// an empty store.
type State struct {
	instances []*instance // ids that have a lock, a history, executions, keys or a row; sorted by id
	queue     []message   // by position
	work      []row       // by position
	sessions  []session   // by id
	last      uint64      // the last position assigned
	// numbered holds the largest number that Compare has seen in each queue, in the order of the fields.
	numbered [2]uint64
}

// Equal reports whether two states are equal.
func (s *State) Equal(t *State) bool { return s == t || reflect.DeepEqual(s, t) }

// instance holds everything that is stored under an instance id. As the contract defines it, the instance exists only
// if row is set.
type instance struct {
	id            string
	row           bool
	half          bool // the row has only one of name and version (F20)
	name, version string
	current       uint64
	parent        engine.ParentLink // zero for a root instance
	custom        *string
	customVersion uint64
	executions    []execution // by id
	history       []stored    // sorted by execution and event id
	lock          *lock
	store         []entry // by key
	delta         []entry // by key
}

type execution struct {
	id        uint64
	status    engine.Status
	output    *string
	stamped   truth // whether completed is set
	completed Span
	pin       *engine.Version
}

// stored is a row of a history. Its key is the one under which it was stored, which may differ from the one in its
// envelope.
type stored struct {
	execution, id uint64
	event         engine.Event
	corrupt       bool
	bytes         int // its length, or 0 for that of its canonical text
}

// lock is an instance lock. An expired lock stays in place until the next fetch replaces it.
type lock struct {
	token string
	until Span
}

// entry is a key with its value. A tombstone in the delta hides the stored key.
type entry struct {
	key, value string
	updatedMs  uint64
	tombstone  bool
}

// queued is what the rows of both queues have.
type queued struct {
	position uint64
	number   uint64 // the store's own, once Compare has seen the row
	item     engine.WorkItem
	visible  Span
	count    uint32
	corrupt  bool
}

// message is a row of the orchestrator queue. Its mark is the token of the last fetch that took it; an abandon does not
// clear the mark.
type message struct {
	queued
	instance string
	mark     string
}

// row is a row of the worker queue. A row without a token is unlocked.
type row struct {
	queued
	token     string
	until     Span
	delivered bool   // delivered at least once (F25)
	owner     string // the owner that last took the row as part of a session
}

// activity returns the row's activity. ok is false if the row holds a mis-kinded item.
func (r *row) activity() (a engine.ActivityExecuteItem, ok bool) {
	a, ok = engine.Known(r.item).(engine.ActivityExecuteItem)
	return a, ok
}

func (r *row) session() string { a, _ := r.activity(); return a.SessionID }
func (r *row) tag() string     { a, _ := r.activity(); return a.Tag }

type session struct {
	id, owner string
	until     Span
	active    Span // last_activity_at
}

// clone returns a copy whose slices may be modified. It shares its instances with s; see edit.
func (s *State) clone() *State {
	n := *s
	n.instances, n.queue, n.work, n.sessions = slices.Clone(s.instances), slices.Clone(s.queue), slices.Clone(s.work), slices.Clone(s.sessions)
	return &n
}

// find returns an instance. If nothing is stored under the id, the instance is empty. Callers must not modify it.
func (s *State) find(id string) *instance {
	if at, found := s.search(id); found {
		return s.instances[at]
	}
	return &instance{id: id}
}

// edit puts a copy of an instance into the state and returns it for modification. The state must be a clone.
func (s *State) edit(id string) *instance {
	in := *s.find(id)
	in.executions, in.history = slices.Clone(in.executions), slices.Clone(in.history)
	in.store, in.delta = slices.Clone(in.store), slices.Clone(in.delta)
	if at, found := s.search(id); found {
		s.instances[at] = &in
	} else {
		s.instances = slices.Insert(s.instances, at, &in)
	}
	return &in
}

func (s *State) search(id string) (at int, found bool) {
	return slices.BinarySearchFunc(s.instances, id, func(in *instance, id string) int { return strings.Compare(in.id, id) })
}

// remove removes an instance. The state must be a clone.
func (s *State) remove(id string) {
	s.instances = slices.DeleteFunc(s.instances, func(in *instance) bool { return in.id == id })
}

// execution returns an execution, or nil if it has no row. Callers may modify it if they may modify the instance.
func (in *instance) execution(id uint64) *execution {
	for i := range in.executions {
		if in.executions[i].id == id {
			return &in.executions[i]
		}
	}
	return nil
}

// pin returns the pin of the current execution, or nil if the instance has no row or the execution no pin.
func (in *instance) pin() *engine.Version {
	if e := in.execution(in.current); in.row && e != nil {
		return e.pin
	}
	return nil
}

// latest returns the largest execution id, or 1 if there are no executions.
func (in *instance) latest() uint64 {
	if n := len(in.executions); n > 0 {
		return in.executions[n-1].id
	}
	return engine.InitialExecutionID
}

// addExecution returns the execution, adding it first if it is missing.
func (in *instance) addExecution(id uint64) *execution {
	if e := in.execution(id); e != nil {
		return e
	}
	at, _ := slices.BinarySearchFunc(in.executions, id, func(e execution, id uint64) int { return cmp.Compare(e.id, id) })
	in.executions = slices.Insert(in.executions, at, execution{id: id, status: engine.StatusRunning})
	return &in.executions[at]
}

// events returns the history rows of an execution in ascending order.
func (in *instance) events(execution uint64) []stored {
	return in.history[in.before(execution):in.before(execution+1)]
}

// before returns how many events the executions before one have.
func (in *instance) before(execution uint64) int {
	end := len(in.history)
	if end > 0 && in.history[end-1].execution < execution {
		return end
	}
	return sort.Search(end, func(i int) bool { return in.history[i].execution >= execution })
}

// add stores an event in an execution. It returns false if the key is already taken.
func (in *instance) add(execution uint64, e engine.Event) bool {
	at := len(in.history)
	for at > 0 && in.history[at-1].after(execution, e.EventID) {
		at--
	}
	if at > 0 && in.history[at-1].execution == execution && in.history[at-1].id == e.EventID {
		return false
	}
	in.history = slices.Insert(in.history, at, stored{execution: execution, id: e.EventID, event: e})
	return true
}

// event returns a row of the history, or nil if there is none.
func (in *instance) event(execution, id uint64) *stored {
	events := in.events(execution)
	if i := slices.IndexFunc(events, func(h stored) bool { return h.id == id }); i >= 0 {
		return &events[i]
	}
	return nil
}

// size returns the length of the event's text.
func (h *stored) size() int {
	if h.bytes != 0 {
		return h.bytes
	}
	text, _ := call.EventText(h.event)
	return len(text)
}

func (h *stored) after(execution, id uint64) bool {
	return h.execution > execution || h.execution == execution && h.id > id
}

// status returns the current execution's status, or "" if that execution has no row.
func (in *instance) status() engine.Status {
	if e := in.execution(in.current); e != nil {
		return e.status
	}
	return ""
}

// enqueue appends a message. The state must be a clone.
func (s *State) enqueue(item engine.WorkItem, visible Span) {
	s.last++
	s.queue = append(s.queue, message{queued: queued{position: s.last, item: item, visible: visible}, instance: item.Target()})
}

// enqueueWork appends a worker row. The state must be a clone.
func (s *State) enqueueWork(item engine.WorkItem, visible Span) {
	s.last++
	s.work = append(s.work, row{queued: queued{position: s.last, item: item, visible: visible}})
}

// put sets a key in a sorted list of entries.
func put(list []entry, e entry) []entry {
	at, found := slices.BinarySearchFunc(list, e.key, func(have entry, key string) int { return strings.Compare(have.key, key) })
	if found {
		list[at] = e
		return list
	}
	return slices.Insert(list, at, e)
}

// merged returns the keys as clients see them: the stored keys, overlaid with the delta (I14).
func (in *instance) merged() []entry {
	view := slices.Clone(in.store)
	for _, e := range in.delta {
		view = put(view, e)
	}
	return slices.DeleteFunc(view, func(e entry) bool { return e.tombstone })
}
