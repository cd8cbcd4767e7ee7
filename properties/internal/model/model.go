package model

import (
	"math"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/internal/slab"
)

// Store is the state of the store as its observations alone tell it. Checkers read it; only Observe writes to it. It is
// brought up to date before any checker sees the observation.
//
// Pointers that it hands out (instances, executions, rows) stay valid for the whole run, even when the things they stand
// for have left the store; events do not, they are looked up by id. Whatever a running call has changed keeps its old
// value (see InstanceBefore and the like), so a checker can compare when the call ends.
type Store struct {
	Instances []*Instance // by number; the first is nobody's
	numbers   map[string]observe.InstanceNo
	pages     []*[RowsPerPage]Row // rows by number; nil for those that were let go
	gone      Row                 // stands for the rows of these
	rowCount  int                 // the largest number in use
	Current   Call
	Kinds     KindTable
	Builds    []*engine.Build
	Nodes     []Node      // by number - 1
	Bare      []*Instance // instances without a pin that have orchestrator rows, in no order that matters
	Queued    []*Instance // instances that have orchestrator rows, and queued activities, likewise
	Work      []*Row
	// SessionWork is the number of these activities that belong to a session.
	SessionWork int
	Sessions    []Session // in order of id
	Damaged     int       // number of times that a fault changed stored bytes
	// Overwritten reports whether the event appended last replaced one with its id; removedCall is the call that had appended
	// the event that was removed last.
	Overwritten bool
	RemovedCall uint64
	room        room
}

// room is memory for what the model consists of.
type room struct {
	instances  *slab.Slab[Instance]
	executions *slab.Slab[Execution]
	lists      *slab.Slab[*Execution]
	events     *slab.Slab[Event]
	pages      *slab.Slab[[RowsPerPage]Row]
	rows       *slab.Slab[*Row]
}

// RowsPerPage is how many rows are let go together: those numbered from 1 are the first page.
const RowsPerPage = 64

// Lock is a peek-lock of an instance or of a worker row. Without a token there is no lock.
type Lock struct {
	Token   string
	UntilMs int64
	// Holder made the fetch that took the lock, which was call number call at takenMs with this filter (orchestrations
	// only, nil for none).
	Holder  observe.Caller
	Call    uint64
	TakenMs int64
	Filter  *engine.CapabilityFilter
}

// Live reports whether the lock is held at a time: at the instant of its end it has expired.
func (l *Lock) Live(nowMs int64) bool { return l.Token != "" && l.UntilMs > nowMs }

// Instance is everything that is known of one instance.
type Instance struct {
	No   observe.InstanceNo
	Name string
	// Created reports whether the instances row exists; the next four are its columns.
	Created       bool
	Orchestration string
	Version       string
	CurrentID     uint64 // the current execution's id
	Parent        engine.ParentLink
	// Executions are in ascending order of id. One may have events and no row.
	Executions []*Execution
	// Queue are the instance's rows in the orchestrator queue, visible or not, work those in the worker queue, both in
	// ascending order of number.
	Queue []*Row
	Work  []*Row
	// Lock is the instance lock; it stays when it expires, until it is replaced or released.
	Lock Lock
	// Batch are the messages of the last delivery, and batchCall is the fetch that made it; batchToken is its token.
	Batch      []observe.MessageNo
	BatchCall  uint64
	BatchToken string
	// Note is the last statement of a node about a delivery of this instance.
	Note Note
	// Values is the custom status and the key-value store.
	Values Values
	Was    InstanceBefore
	bare   int // index in Store.Bare + 1, 0 if not in it
	// queuedAt is the same for Store.Queued.
	queuedAt int
}

// InstanceBefore is an instance as it was before a call touched it.
type InstanceBefore struct {
	call          uint64
	Created       bool
	Orchestration string
	Version       string
	CurrentID     uint64
	Parent        engine.ParentLink
	Lock          Lock
	Values        Values
}

// Execution is everything that is known of one execution.
type Execution struct {
	Instance *Instance
	ID       uint64
	// Created reports whether the executions row exists; status and output are its columns.
	Created bool
	Status  engine.Status
	Output  string
	// Pin is a release, nil for an unpinned execution. It is never written to.
	Pin *engine.Version
	// Deleted reports whether it was ever deleted or pruned.
	Deleted bool
	// Repinned reports whether a caller other than a node pinned it after it had begun.
	Repinned bool
	// Events are in ascending order of id; kinds are the kinds among them, terminals is the number of those that end an
	// execution.
	Events    []Event
	Kinds     KindSet
	Terminals int
	Was       ExecutionBefore
}

// ExecutionBefore is an execution as it was before a call touched it.
type ExecutionBefore struct {
	call      uint64
	Created   bool
	Status    engine.Status
	Output    string
	Pin       *engine.Version
	Events    int
	Kinds     KindSet
	Terminals int
}

// Event is one stored event. Its bytes are the store's own slice, which is never written to; sum is their hash when they
// were stored, which would reveal a write.
type Event struct {
	ID    uint64
	Bytes []byte
	Sum   uint64
	Call  uint64 // the call that appended it, 0 for none
	// ClosedBy is, for a schedule, the committed event that completes it; 0 while none does. S13 sets it.
	ClosedBy uint64
	Kind     KindNo
	Damaged  bool
}

// Row is one row of either queue.
type Row struct {
	No       observe.MessageNo
	Queue    observe.Queue
	Instance *Instance
	// Kind, item, execution and id are as they were inserted: id is an activity's id, or for a message to an
	// orchestration the schedule that it completes, 0 if it completes none. item and bytes are dropped when the call
	// after the row's removal begins.
	Kind      engine.WorkItemKind
	Item      engine.WorkItem
	Execution uint64
	ID        uint64
	FireAtMs  int64 // timers
	Bytes     []byte
	sum       uint64
	// Present reports whether the row is in its queue.
	Present bool
	Damaged bool
	// workAt is the row's index in model.work + 1, 0 if it is not in it.
	workAt int
	// Removed is the reason for which a row left; call number removedBy removed it.
	Removed    observe.RemoveReason
	RemovedBy  uint64
	InsertedBy uint64
	insertedMs int64
	VisibleMs  int64
	Count      uint32
	// Delivered is the number of the last fetch that handed the message out.
	Delivered uint64
	// Lock is, in the worker queue, the row's lock; in the orchestrator queue only its token counts: the mark.
	Lock Lock
	Was  RowBefore
}

// RowBefore is a row as it was before a call touched it.
type RowBefore struct {
	call      uint64
	Present   bool
	Count     uint32
	VisibleMs int64
	Lock      Lock
}

// Call is a call of the store that runs, or that has just ended.
type Call struct {
	ID      uint64
	Kind    observe.CallKind
	Caller  observe.Caller
	BeganMs int64
	// Request is a copy; what it points to may be read only until the call's end has been observed.
	Request observe.CallRequest
	// ended and the rest are set by the end: outcome, and for a delivery instance, messages, token and told count.
	ended    bool
	Outcome  observe.Outcome
	Instance observe.InstanceNo
	Messages []observe.MessageNo
	Token    string
	Told     uint32

	// What the call has touched so far, in order of first touch; the old values are in was.
	Instances  []*Instance
	Executions []*Execution
	Rows       []*Row
	// Appended are the events that it appended, including those it took back.
	Appended []EventRef
	// Inserted are the numbers of rows that it inserted into each queue, including those it took back.
	Inserted [3]int
	// Sessions are those before the call, if it has touched any.
	Sessions        []Session
	TouchedSessions bool
	// Undone reports whether the call took something back.
	Undone bool
	// Orphans is the number of messages that it dropped as orphans.
	Orphans int
	// Unreadable is the instance with an event or an orchestrator message that could not be decoded, and the first of these.
	Unreadable          observe.InstanceNo
	UnreadableExecution uint64
	UnreadableEvent     uint64
	UnreadableMessage   observe.MessageNo
}

// EventRef names an event.
type EventRef struct {
	Execution *Execution
	ID        uint64
}

// Node records the states of a node, one entry for each incarnation.
type Node struct{ Incarnations []Incarnation }

type Incarnation struct {
	Build  *engine.Build
	Reads  KindSet
	Filter *engine.CapabilityFilter // of the range in its options, whatever it declares
}

// New returns the model of an empty store in a run with these builds.
func New(builds []*engine.Build, slabs *slab.Set) *Store {
	m := &Store{
		room: room{
			instances: slab.Of[Instance](slabs), executions: slab.Of[Execution](slabs), lists: slab.Of[*Execution](slabs),
			events: slab.Of[Event](slabs), pages: slab.Of[[RowsPerPage]Row](slabs), rows: slab.Of[*Row](slabs),
		},
		Instances: []*Instance{nil}, numbers: make(map[string]observe.InstanceNo), Builds: builds,
	}
	m.Kinds = newKindTable(builds)
	return m
}

// Instance returns the instance of a number, nil for 0. A number that was not announced gives an instance without a name.
func (m *Store) Instance(no observe.InstanceNo) *Instance {
	if int(no) < len(m.Instances) {
		return m.Instances[no]
	}
	for len(m.Instances) <= int(no) {
		in := m.room.instances.New()
		in.No = observe.InstanceNo(len(m.Instances))
		m.Instances = append(m.Instances, in)
	}
	return m.Instances[no]
}

// InstanceCount returns the largest instance number; numbers begin at 1.
func (m *Store) InstanceCount() int { return len(m.Instances) - 1 }

// Number returns the number of an instance by its name, 0 if the store has not heard of it.
func (m *Store) Number(name string) observe.InstanceNo { return m.numbers[name] }

// Name returns the name of an instance, empty for 0 and for unknown numbers.
func (m *Store) Name(no observe.InstanceNo) string {
	if no == 0 || int(no) >= len(m.Instances) {
		return ""
	}
	return m.Instances[no].Name
}

// Row returns the row of a number, which may have left its queue; nil for 0. Of a row that was let go nothing is known.
func (m *Store) Row(no observe.MessageNo) *Row {
	if no == 0 {
		return nil
	}
	page := int(no-1) / RowsPerPage
	for len(m.pages) <= page {
		m.pages = append(m.pages, m.room.pages.New())
	}
	m.rowCount = max(m.rowCount, int(no))
	if m.pages[page] == nil {
		m.gone = Row{No: no}
		return &m.gone
	}
	r := &m.pages[page][int(no-1)%RowsPerPage]
	r.No = no
	return r
}

// Pages returns how many pages of rows there have been.
func (m *Store) Pages() int { return len(m.pages) }

// LetGo lets go of a page of rows, unless one of them is in its queue or was delivered under a lock that is still there.
// It reports whether it did. Pointers to the rows stay valid.
func (m *Store) LetGo(page int) bool {
	for i := range m.pages[page] {
		if r := &m.pages[page][i]; r.Present || r.Instance != nil && r.Instance.Lock.Token != "" {
			return false
		}
	}
	m.pages[page] = nil
	return true
}

// Call returns the call of that number while it runs, and until another begins; else nil.
func (m *Store) Call(id uint64) *Call {
	if id == 0 || m.Current.ID != id {
		return nil
	}
	return &m.Current
}

// Incarnation returns the state of a caller's incarnation, or nil if it is not a node or nothing was recorded of it.
func (m *Store) Incarnation(c observe.Caller) *Incarnation {
	if c.Node == 0 || int(c.Node) > len(m.Nodes) {
		return nil
	}
	n := &m.Nodes[c.Node-1]
	if c.Incarnation == 0 || int(c.Incarnation) > len(n.Incarnations) || n.Incarnations[c.Incarnation-1].Build == nil {
		return nil
	}
	return &n.Incarnations[c.Incarnation-1]
}

// NeverMs is a time that never comes.
const NeverMs = math.MaxInt64
