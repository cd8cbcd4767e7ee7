package model

import (
	"math"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/arena"
)

// Shadow is the state of the store as derived from its observations alone. Checkers read it; only Observe writes to it.
// It applies each observation before any checker sees it.
//
// The pointers that it returns (to instances, executions and rows) stay valid for the whole run, even after the objects
// have left the store. Events must be looked up by id. Whatever the current call has changed also keeps its old value
// (see InstanceBefore and the like), so a checker can compare the two when the call ends.
type Shadow struct {
	Instances []*Instance // indexed by number; index 0 is unused
	numbers   map[string]observe.InstanceNo
	pages     []*[RowsPerPage]Row // rows in the order of their numbers; nil for released pages
	gone      Row                 // stands in for the rows of released pages
	rowCount  int                 // the largest number in use
	Current   Call
	Kinds     KindTable
	Builds    []*engine.Build
	Nodes     []Node      // indexed by node number - 1
	Bare      []*Instance // instances that have orchestrator rows but no pin, in arbitrary order
	Queued    []*Instance // instances that have orchestrator rows, in arbitrary order; Work has the queued activities
	Work      []*Row
	// SessionWork is how many of the queued activities belong to a session.
	SessionWork int
	Sessions    []Session // sorted by id
	Changes     Changes
	Damaged     int // how often a fault has changed stored bytes
	arenas      arenas
}

// arenas holds the model's memory.
type arenas struct {
	instances  *arena.Of[Instance]
	executions *arena.Of[Execution]
	lists      *arena.Of[*Execution]
	events     *arena.Of[Event]
	pages      *arena.Of[[RowsPerPage]Row]
	rows       *arena.Of[*Row]
}

// RowsPerPage is how many rows are released together. The first page starts with row number 1.
const RowsPerPage = 64

// Lock is a peek-lock on an instance or a worker row. If it has no token, there is no lock.
type Lock struct {
	Token   string
	UntilMs int64
	// Holder is the caller whose fetch took the lock, at TakenMs, with the filter Filter, which is nil if there was none or
	// if the lock is on an activity.
	Holder  observe.Caller
	TakenMs int64
	Filter  *engine.CapabilityFilter
}

// Live reports whether the lock is held at the given time. At UntilMs itself, it has already expired.
func (l *Lock) Live(nowMs int64) bool { return l.Token != "" && l.UntilMs > nowMs }

// Instance is the state of one instance.
type Instance struct {
	No   observe.InstanceNo
	Name string
	// Created reports whether the instance's row exists. The next four fields are columns of that row.
	Created       bool
	Orchestration string
	Version       string
	CurrentID     uint64 // the current execution's id
	Parent        engine.ParentLink
	// Executions are sorted by id. An execution may have events but no row.
	Executions []*Execution
	// Queue holds the instance's rows in the orchestrator queue, visible or not, and Work its rows in the worker queue.
	// Both are sorted by number.
	Queue []*Row
	Work  []*Row
	// Orphaned is set once a message was dropped because the instance had not begun.
	Orphaned bool
	// Lock is the instance lock. An expired lock stays in place until it is replaced or released.
	Lock Lock
	// Batch lists the messages of the last delivery, and BatchToken is its token.
	Batch      []observe.MessageNo
	BatchToken string
	// Note is the most recent decision that a node announced about a delivery of this instance.
	Note Note
	// Values holds the instance's custom status and key-value store.
	Values Values
	Was    InstanceBefore
	bare   int // index in Shadow.Bare + 1, or 0 if it is not in that list
	// queuedAt is the same for Shadow.Queued.
	queuedAt int
}

// InstanceBefore is an instance's state before a call touched the instance.
type InstanceBefore struct {
	call      uint64
	Created   bool
	CurrentID uint64
	Lock      Lock
}

// Execution is the state of one execution.
type Execution struct {
	Instance *Instance
	ID       uint64
	// Created reports whether the execution's row exists. The status and the output are columns of that row.
	Created bool
	Status  engine.Status
	Output  string
	// Pin is a release, or nil if the execution is unpinned. Nothing may write through it.
	Pin *engine.Version
	// Deleted reports whether the execution was ever deleted or pruned.
	Deleted bool
	// Repinned reports whether a caller other than a node has pinned the execution after it had begun.
	Repinned bool
	// Events are sorted by id. kinds is the set of their kinds, and terminals is how many of them end an execution.
	Events    []Event
	Kinds     KindSet
	Terminals int
	Was       ExecutionBefore
}

// ExecutionBefore is an execution's state before a call touched the execution.
type ExecutionBefore struct {
	call      uint64
	Created   bool
	Status    engine.Status
	Pin       *engine.Version
	Events    int
	Kinds     KindSet
	Terminals int
}

// Event is a stored event. Its bytes are the store's own slice and must not be written to.
type Event struct {
	ID      uint64
	Bytes   []byte
	Call    uint64 // the call that appended the event, or 0
	Kind    KindNo
	Damaged bool
}

// Row is a row of either queue.
type Row struct {
	No       observe.MessageNo
	Queue    observe.Queue
	Instance *Instance
	// Kind, Item, Execution and ID have the values that the row was inserted with. An activity's ID is its own id. An
	// orchestration message's ID is the schedule that it completes, or 0 if it completes none. Item and Bytes are kept
	// until the call that follows the one that removed the row begins.
	Kind      engine.WorkItemKind
	Item      engine.WorkItem
	Execution uint64
	ID        uint64
	Bytes     []byte
	// Present reports whether the row is in its queue.
	Present bool
	Damaged bool
	// workAt is the row's index in Shadow.work + 1, or 0 if it is not in that list.
	workAt int
	// Removed says why the row left its queue. RemovedBy is the number of the call that removed it.
	Removed    observe.RemoveReason
	RemovedBy  uint64
	InsertedBy uint64
	VisibleMs  int64
	Count      uint32
	// Delivered is the number of the most recent fetch that delivered the message.
	Delivered uint64
	// Lock is the row's lock in the worker queue. In the orchestrator queue, only the token is used, as the mark.
	Lock Lock
	Was  RowBefore
}

// RowBefore is a row's state before a call touched the row.
type RowBefore struct {
	call      uint64
	Present   bool
	Count     uint32
	VisibleMs int64
	Lock      Lock
}

// Call is a store call that is in progress or has just ended.
type Call struct {
	ID      uint64
	Kind    observe.CallKind
	Caller  observe.Caller
	BeganMs int64
	// Request is a copy. What it points to may be read only until the end of the call has been observed.
	Request observe.CallRequest
	// Kinds lists the kinds of the events in the request's ack, and Delta is the set of them. They say what the caller
	// asked for, not what was stored.
	Kinds []KindNo
	Delta KindSet
	// The fields below are set when the call ends. They hold its outcome and, for a delivery, the instance, messages, token
	// and count that the caller got.
	Outcome  observe.Outcome
	Instance observe.InstanceNo
	Messages []observe.MessageNo
	Token    string
	Told     uint32

	// The instances, executions and rows that the call has touched so far, in the order in which it first touched them.
	// Their old values are in Was.
	Instances  []*Instance
	Executions []*Execution
	Rows       []*Row
	// Appended lists the events that the call has appended, including undone ones.
	Appended []EventRef
	// Sessions holds the sessions as they were before the call, if the call has touched any.
	Sessions        []Session
	TouchedSessions bool
	// Undone reports whether the call has undone any change.
	Undone bool
	// Orphans is how many messages the call has dropped as orphans.
	Orphans int
}

// Touched reports whether the call has touched an instance, an execution, a row or a session.
func (c *Call) Touched() bool {
	return len(c.Rows) > 0 || len(c.Instances) > 0 || len(c.Executions) > 0 || c.TouchedSessions
}

// EventRef identifies an event.
type EventRef struct {
	Execution *Execution
	ID        uint64
}

// Node holds a node's states, one per incarnation.
type Node struct{ Incarnations []Incarnation }

type Incarnation struct {
	Build  *engine.Build
	Reads  KindSet
	Filter *engine.CapabilityFilter // the filter for the range in the node's options, no matter what filter it declares
}

// New returns a model of an empty store for a run with the given builds.
func New(builds []*engine.Build, set *arena.Set) *Shadow {
	m := &Shadow{
		arenas: arenas{
			instances: arena.From[Instance](set), executions: arena.From[Execution](set), lists: arena.From[*Execution](set),
			events: arena.From[Event](set), pages: arena.From[[RowsPerPage]Row](set), rows: arena.From[*Row](set),
		},
		Instances: []*Instance{nil}, numbers: make(map[string]observe.InstanceNo), Builds: builds, Changes: newChanges(set),
	}
	m.Kinds = newKindTable(builds)
	return m
}

// Instance returns the instance with the given number, or nil for 0. If the number has not been announced, the instance
// has no name.
func (m *Shadow) Instance(no observe.InstanceNo) *Instance {
	if int(no) < len(m.Instances) {
		return m.Instances[no]
	}
	return m.newInstance(no)
}

func (m *Shadow) newInstance(no observe.InstanceNo) *Instance {
	for len(m.Instances) <= int(no) {
		in := m.arenas.instances.New()
		in.No = observe.InstanceNo(len(m.Instances))
		m.Instances = append(m.Instances, in)
	}
	return m.Instances[no]
}

// Number returns the number of the instance with the given name, or 0 if the store does not know it.
func (m *Shadow) Number(name string) observe.InstanceNo { return m.numbers[name] }

// Name returns an instance's name. It returns "" for 0 and for unknown numbers.
func (m *Shadow) Name(no observe.InstanceNo) string {
	if no == 0 || int(no) >= len(m.Instances) {
		return ""
	}
	return m.Instances[no].Name
}

// Row returns the row with the given number, or nil for 0. The row may have left its queue. A released row is empty.
func (m *Shadow) Row(no observe.MessageNo) *Row {
	if at := uint64(no) - 1; at < uint64(m.rowCount) && m.pages[at/RowsPerPage] != nil {
		return &m.pages[at/RowsPerPage][at%RowsPerPage]
	}
	return m.newRow(no)
}

// newRow returns a row that Row has not returned before. It returns nil for 0, and an empty row for one that was
// released.
func (m *Shadow) newRow(no observe.MessageNo) *Row {
	if no == 0 {
		return nil
	}
	page := int(no-1) / RowsPerPage
	for len(m.pages) <= page {
		m.pages = append(m.pages, m.arenas.pages.New())
	}
	for ; m.rowCount < int(no); m.rowCount++ {
		if p := m.pages[m.rowCount/RowsPerPage]; p != nil {
			p[m.rowCount%RowsPerPage].No = observe.MessageNo(m.rowCount + 1)
		}
	}
	if m.pages[page] == nil {
		m.gone = Row{No: no}
		return &m.gone
	}
	return &m.pages[page][int(no-1)%RowsPerPage]
}

// Pages returns how many pages of rows have been used so far.
func (m *Shadow) Pages() int { return len(m.pages) }

// LetGo releases a page of rows, unless one of the rows is queued or was delivered under a lock that still exists. It
// reports whether it released the page. Pointers to the rows stay valid.
func (m *Shadow) LetGo(page int) bool {
	for i := range m.pages[page] {
		if r := &m.pages[page][i]; r.Present || r.Instance != nil && r.Instance.Lock.Token != "" {
			return false
		}
	}
	m.pages[page] = nil
	return true
}

// Call returns the call with the given number, from its start until the next call starts. Otherwise it returns nil.
func (m *Shadow) Call(id uint64) *Call {
	if id == 0 || m.Current.ID != id {
		return nil
	}
	return &m.Current
}

// Incarnation returns the state of a caller's incarnation. It returns nil if the caller is not a node or if no record
// exists.
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

// NeverMs stands for a time that never comes.
const NeverMs = math.MaxInt64
