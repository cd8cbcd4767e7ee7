package oracle

import (
	"reflect"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
)

// State is one state that a store may be in after the exchanges so far: the tables of docs/contract/provider.md#p3.1, as
// plain slices. A State never changes; States share common parts. The zero value is an empty store.
type State struct {
	instances []*instance // ids with a lock, history, executions, keys or a row; by id
	queue     []message   // by position
	work      []row       // by position
	sessions  []session   // by id
	last      uint64      // the last position that was assigned
}

// Equal reports whether two states are the same.
func (s *State) Equal(t *State) bool { return s == t || reflect.DeepEqual(s, t) }

// instance holds everything stored under an instance id. By the contract, the instance exists only if row is set.
type instance struct {
	id            string
	row           bool
	half          bool // the row has only one of name and version (F20)
	name, version string
	current       uint64
	parent        engine.ParentLink // zero for a root
	custom        *string
	customVersion uint64
	executions    []execution // by id
	history       []stored    // by execution and event id
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

// stored is a row of a history. Its key is the one under which it was stored, not the one in its envelope.
type stored struct {
	execution, id uint64
	event         engine.Event
	text          string
	corrupt       bool
}

// lock is an instance lock. An expired lock stays until the next fetch replaces it.
type lock struct {
	token string
	until Span
}

// entry is a key with its value. A tombstone hides the key of the store.
type entry struct {
	key, value string
	updatedMs  uint64
	tombstone  bool
}

// message is a row of the orchestrator queue. The mark is the token of the last fetch that took it; it stays after an
// abandon.
type message struct {
	position uint64
	instance string
	item     engine.WorkItem
	text     string
	visible  Span
	mark     string
	count    uint32
	corrupt  bool
}

// row is a row of the worker queue. Without a token it is unlocked.
type row struct {
	position  uint64
	item      engine.WorkItem
	text      string
	visible   Span
	token     string
	until     Span
	count     uint32
	corrupt   bool
	delivered bool   // at least once (F25)
	owner     string // the owner that last took it as a row of a session
}

// activity returns the activity of a row; ok is false for a mis-kinded item.
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

// clone returns a copy whose slices may be changed. The instances are shared: see edit.
func (s *State) clone() *State {
	n := *s
	n.instances, n.queue, n.work, n.sessions = slices.Clone(s.instances), slices.Clone(s.queue), slices.Clone(s.work), slices.Clone(s.sessions)
	return &n
}

// find returns an instance, which is empty if nothing is stored under the id. Callers must not change it.
func (s *State) find(id string) *instance {
	for _, in := range s.instances {
		if in.id == id {
			return in
		}
	}
	return &instance{id: id}
}

// edit returns a copy of an instance that may be changed, and puts it into the state. The state must be a clone.
func (s *State) edit(id string) *instance {
	in := *s.find(id)
	in.executions, in.history = slices.Clone(in.executions), slices.Clone(in.history)
	in.store, in.delta = slices.Clone(in.store), slices.Clone(in.delta)
	at, found := slices.BinarySearchFunc(s.instances, id, func(in *instance, id string) int { return strings.Compare(in.id, id) })
	if found {
		s.instances[at] = &in
	} else {
		s.instances = slices.Insert(s.instances, at, &in)
	}
	return &in
}

// remove removes an instance. The state must be a clone.
func (s *State) remove(id string) {
	s.instances = slices.DeleteFunc(s.instances, func(in *instance) bool { return in.id == id })
}

// execution returns an execution, nil if it has no row. Callers may change it if they may change the instance.
func (in *instance) execution(id uint64) *execution {
	for i := range in.executions {
		if in.executions[i].id == id {
			return &in.executions[i]
		}
	}
	return nil
}

// latest returns the largest execution id, 1 if there is none.
func (in *instance) latest() uint64 {
	if n := len(in.executions); n > 0 {
		return in.executions[n-1].id
	}
	return engine.InitialExecutionID
}

// addExecution returns the execution, and adds it first if it is missing.
func (in *instance) addExecution(id uint64) *execution {
	if e := in.execution(id); e != nil {
		return e
	}
	at := 0
	for at < len(in.executions) && in.executions[at].id < id {
		at++
	}
	in.executions = slices.Insert(in.executions, at, execution{id: id, status: engine.StatusRunning})
	return &in.executions[at]
}

// events returns the history rows of an execution, ascending.
func (in *instance) events(execution uint64) []stored {
	from := 0
	for from < len(in.history) && in.history[from].execution < execution {
		from++
	}
	to := from
	for to < len(in.history) && in.history[to].execution == execution {
		to++
	}
	return in.history[from:to]
}

// add stores an event in an execution; it returns false if the key is taken.
func (in *instance) add(execution uint64, e engine.Event, text string) bool {
	at := len(in.history)
	for at > 0 && in.history[at-1].after(execution, e.EventID) {
		at--
	}
	if at > 0 && in.history[at-1].execution == execution && in.history[at-1].id == e.EventID {
		return false
	}
	in.history = slices.Insert(in.history, at, stored{execution: execution, id: e.EventID, event: e, text: text})
	return true
}

func (h *stored) after(execution, id uint64) bool {
	return h.execution > execution || h.execution == execution && h.id > id
}

// status returns the status of the current execution, empty without a row for it.
func (in *instance) status() engine.Status {
	if e := in.execution(in.current); e != nil {
		return e.status
	}
	return ""
}

// enqueue appends a message. The state must be a clone.
func (s *State) enqueue(instance string, item engine.WorkItem, text string, visible Span) {
	s.last++
	s.queue = append(s.queue, message{position: s.last, instance: instance, item: item, text: text, visible: visible})
}

// enqueueWork appends a worker row. The state must be a clone.
func (s *State) enqueueWork(item engine.WorkItem, text string, visible Span) {
	s.last++
	s.work = append(s.work, row{position: s.last, item: item, text: text, visible: visible})
}

// put sets a key. Entries are sorted.
func put(list []entry, e entry) []entry {
	at, found := slices.BinarySearchFunc(list, e.key, func(have entry, key string) int { return strings.Compare(have.key, key) })
	if found {
		list[at] = e
		return list
	}
	return slices.Insert(list, at, e)
}

// merged returns the keys that clients see: delta over store (I14).
func (in *instance) merged() []entry {
	view := slices.Clone(in.store)
	for _, e := range in.delta {
		view = put(view, e)
	}
	return slices.DeleteFunc(view, func(e entry) bool { return e.tombstone })
}
