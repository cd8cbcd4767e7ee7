package model

import (
	"math"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/internal/slab"
)

// Shadow is the state of the store as derived from its observations alone. Checkers read it; only Observe writes to
// it. It applies an observation before any checker sees it.
//
// Pointers that it returns (instances, executions, rows) stay valid for the whole run, even after the objects have
// left the store. Events must be looked up by id. Whatever a running call has changed keeps its old value (see
// InstanceBefore and the like), so a checker can compare both when the call ends.
type Shadow struct {
	Instances []*Instance // by number; index 0 is not an instance
	numbers   map[string]observe.InstanceNo
	pages     []*[RowsPerPage]Row // rows by number; nil for pages that were released
	gone      Row                 // stands for the rows of those pages
	rowCount  int                 // the largest number in use
	Current   Call
	Kinds     KindTable
	Builds    []*engine.Build
	Nodes     []Node      // by number of the node - 1
	Bare      []*Instance // instances without a pin that have orchestrator rows, in arbitrary order
	Queued    []*Instance // instances that have orchestrator rows, and queued activities, in arbitrary order
	Work      []*Row
	// SessionWork is the number of these activities that belong to a session.
	SessionWork int
	Sessions    []Session // in order of id
	Damaged     int       // how often a fault changed stored bytes
	// Overwritten reports whether the last append replaced an event with the same id; removedCall is the call that
	// had appended the event that was removed last.
	Overwritten bool
	RemovedCall uint64
	room        room
}

// room is the memory of the model.
type room struct {
	instances  *slab.Slab[Instance]
	executions *slab.Slab[Execution]
	lists      *slab.Slab[*Execution]
	events     *slab.Slab[Event]
	pages      *slab.Slab[[RowsPerPage]Row]
	rows       *slab.Slab[*Row]
}

// RowsPerPage is the number of rows that are released together: the first page holds those numbered from 1.
const RowsPerPage = 64

// Lock is a peek-lock on an instance or on a worker row. Without a token there is no lock.
type Lock struct {
	Token   string
	UntilMs int64
	// Holder made the fetch that took the lock, which was call number call at takenMs with this filter (nil for none,
	// and for activities).
	Holder  observe.Caller
	Call    uint64
	TakenMs int64
	Filter  *engine.CapabilityFilter
}

// Live reports whether the lock is held at a time: at the instant of its end it has expired.
func (l *Lock) Live(nowMs int64) bool { return l.Token != "" && l.UntilMs > nowMs }

// Instance is the state of one instance.
type Instance struct {
	No   observe.InstanceNo
	Name string
	// Created reports whether the instances row exists; the next four are its columns.
	Created       bool
	Orchestration string
	Version       string
	CurrentID     uint64 // the current execution's id
	Parent        engine.ParentLink
	// Executions are in ascending order of id. An execution may have events without a row.
	Executions []*Execution
	// Queue holds the instance's rows in the orchestrator queue, visible or not, and Work those in the worker queue,
	// both in ascending order of number.
	Queue []*Row
	Work  []*Row
	// Lock is the instance lock; an expired lock stays here until it is replaced or released.
	Lock Lock
	// Batch lists the messages of the last delivery; batchCall is the fetch that made it, and batchToken is its
	// token.
	Batch      []observe.MessageNo
	BatchCall  uint64
	BatchToken string
	// Note is the last decision that a node has announced about a delivery of this instance.
	Note Note
	// Values holds the custom status and the key-value store.
	Values Values
	Was    InstanceBefore
	bare   int // index in Store.Bare + 1, 0 if not in it
	// queuedAt is the same for Store.Queued.
	queuedAt int
}

// InstanceBefore is the state of an instance before a call touched it.
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

// Execution is the state of one execution.
type Execution struct {
	Instance *Instance
	ID       uint64
	// Created reports whether the executions row exists; status and output are its columns.
	Created bool
	Status  engine.Status
	Output  string
	// Pin is a release, nil for an unpinned execution. It is never written to.
	Pin *engine.Version
	// Deleted reports whether the execution was ever deleted or pruned.
	Deleted bool
	// Repinned reports whether a caller other than a node pinned the execution after it had begun.
	Repinned bool
	// Events are in ascending order of id; kinds is the set of their kinds, and terminals is the number of those that
	// end an execution.
	Events    []Event
	Kinds     KindSet
	Terminals int
	Was       ExecutionBefore
}

// ExecutionBefore is the state of an execution before a call touched it.
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

// Event is a stored event. Its bytes are the store's own slice, which must not be written to; sum is the hash of the
// bytes when they were stored, which would reveal a write.
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
	// Kind, Item, execution and ID have the values at insertion. ID is the id of an activity, or for a message to an
	// orchestration the schedule that it completes, 0 if it completes none. Item and bytes are dropped at the
	// beginning of the call after the one that removed the row.
	Kind      engine.WorkItemKind
	Item      engine.WorkItem
	Execution uint64
	ID        uint64
	FireAtMs  int64 // for timers
	Bytes     []byte
	sum       uint64
	// Present reports whether the row is in its queue.
	Present bool
	Damaged bool
	// workAt is the row's index in Store.work + 1, 0 if it is not there.
	workAt int
	// Removed is the reason why a row left its queue; call number removedBy removed it.
	Removed    observe.RemoveReason
	RemovedBy  uint64
	InsertedBy uint64
	VisibleMs  int64
	Count      uint32
	// Delivered is the number of the last fetch that delivered the message.
	Delivered uint64
	// Lock is the lock of a row in the worker queue; in the orchestrator queue only its token is used: the mark.
	Lock Lock
	Was  RowBefore
}

// RowBefore is the state of a row before a call touched it.
type RowBefore struct {
	call      uint64
	Present   bool
	Count     uint32
	VisibleMs int64
	Lock      Lock
}

// Call is a call of the store that is running, or that has just ended.
type Call struct {
	ID      uint64
	Kind    observe.CallKind
	Caller  observe.Caller
	BeganMs int64
	// Request is a copy; what it points to may be read only until the end of the call is observed.
	Request observe.CallRequest
	// ended and the fields below are set at the end of the call: its outcome, and for a delivery the instance, the
	// messages, the token and the count that the caller got.
	ended    bool
	Outcome  observe.Outcome
	Instance observe.InstanceNo
	Messages []observe.MessageNo
	Token    string
	Told     uint32

	// Instances, executions and rows that the call has touched so far, in order of first touch; their old values are
	// in Was.
	Instances  []*Instance
	Executions []*Execution
	Rows       []*Row
	// Appended lists the events that it appended, including undone ones.
	Appended []EventRef
	// Inserted is the number of rows that it inserted into each queue, including undone ones.
	Inserted [3]int
	// Sessions holds the sessions before the call, if the call has touched any.
	Sessions        []Session
	TouchedSessions bool
	// Undone reports whether the call undid any change.
	Undone bool
	// Orphans is the number of messages that it dropped as orphans.
	Orphans int
	// Unreadable is the instance with the first event or orchestrator message that the call could not decode.
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

// Node holds the states of a node, one for each incarnation.
type Node struct{ Incarnations []Incarnation }

type Incarnation struct {
	Build  *engine.Build
	Reads  KindSet
	Filter *engine.CapabilityFilter // the filter for the range in its options, whatever filter it declares
}

// New returns the model of an empty store in a run with these builds.
func New(builds []*engine.Build, slabs *slab.Set) *Shadow {
	m := &Shadow{
		room: room{
			instances: slab.Of[Instance](slabs), executions: slab.Of[Execution](slabs), lists: slab.Of[*Execution](slabs),
			events: slab.Of[Event](slabs), pages: slab.Of[[RowsPerPage]Row](slabs), rows: slab.Of[*Row](slabs),
		},
		Instances: []*Instance{nil}, numbers: make(map[string]observe.InstanceNo), Builds: builds,
	}
	m.Kinds = newKindTable(builds)
	return m
}

// Instance returns the instance with a number, nil for 0. If the number was not announced, the instance has no name.
func (m *Shadow) Instance(no observe.InstanceNo) *Instance {
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
func (m *Shadow) InstanceCount() int { return len(m.Instances) - 1 }

// Number returns the number of an instance by its name, 0 if the store does not know it.
func (m *Shadow) Number(name string) observe.InstanceNo { return m.numbers[name] }

// Name returns the name of an instance, empty for 0 and for unknown numbers.
func (m *Shadow) Name(no observe.InstanceNo) string {
	if no == 0 || int(no) >= len(m.Instances) {
		return ""
	}
	return m.Instances[no].Name
}

// Row returns the row with a number, which may have left its queue; nil for 0. A row that was released is empty.
func (m *Shadow) Row(no observe.MessageNo) *Row {
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
func (m *Shadow) Pages() int { return len(m.pages) }

// LetGo releases a page of rows, unless one of them is queued or was delivered under a lock that still exists. It
// reports whether it did. Pointers to the rows stay valid.
func (m *Shadow) LetGo(page int) bool {
	for i := range m.pages[page] {
		if r := &m.pages[page][i]; r.Present || r.Instance != nil && r.Instance.Lock.Token != "" {
			return false
		}
	}
	m.pages[page] = nil
	return true
}

// Call returns the call with that number from its beginning until the next call begins; otherwise nil.
func (m *Shadow) Call(id uint64) *Call {
	if id == 0 || m.Current.ID != id {
		return nil
	}
	return &m.Current
}

// Incarnation returns the state of a caller's incarnation, nil if it is not a node or has no record.
func (m *Shadow) Incarnation(c observe.Caller) *Incarnation {
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
