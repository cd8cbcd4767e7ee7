package properties

import (
	"github.com/durosim/durosim/engine"
)

// model is the state of the store as its observations alone tell it. Checkers read it; only observe writes to it. It is
// brought up to date before any checker sees the observation.
//
// Pointers that it hands out (instances, executions, rows) stay valid for the whole run, also when what they stand for
// has left the store; events do not, they are looked up by id. What a running call has changed keeps its old value in
// the field was of each (see instanceState.before and the like), so a checker can compare when the call ends.
type model struct {
	instances []*instanceState // by number; the first is nobody's
	numbers   map[string]engine.InstanceNo
	pages     [][]rowState // rows by number, rowsPerPage each
	rowCount  int          // the largest number in use
	current   callState
	kinds     kindTable
	builds    []*engine.Build
	nodes     []nodeModel      // by number - 1
	bare      []*instanceState // instances without a pin that have orchestrator rows, in no order that matters
	queued    []*instanceState // instances that have orchestrator rows, and activities that are queued, likewise
	work      []*rowState
	// sessionWork is how many of these belong to a session.
	sessionWork int
	sessions    []sessionState // in order of id
	damaged     int            // how often a fault changed stored bytes
	// overwritten says of the event appended last that one of its id was there; removedCall is the call that had appended
	// the event that was removed last.
	overwritten bool
	removedCall uint64
}

const rowsPerPage = 64

// lockState is a peek-lock of an instance or of a worker row. Without a token there is no lock.
type lockState struct {
	token   string
	untilMs int64
	// holder made the fetch that took the lock, which was call number call at takenMs with this filter (orchestrations
	// only, nil for none).
	holder  engine.Caller
	call    uint64
	takenMs int64
	filter  *engine.CapabilityFilter
}

// live says whether the lock is held at a time: the instant at which it ends counts as expired.
func (l *lockState) live(nowMs int64) bool { return l.token != "" && l.untilMs > nowMs }

// instanceState is everything that is known of one instance.
type instanceState struct {
	no   engine.InstanceNo
	name string
	// created says that the instances row exists; the next four are its columns.
	created       bool
	orchestration string
	version       string
	currentID     uint64 // the current execution's id
	parent        engine.ParentLink
	// executions are in ascending order of id. One may have events and no row.
	executions []*executionState
	// queue are the instance's rows in the orchestrator queue, visible or not, work those in the worker queue, both in
	// ascending order of number.
	queue []*rowState
	work  []*rowState
	// lock is the instance lock; it stays when it expires, until it is replaced or released.
	lock lockState
	// batch are the messages of the last delivery, and batchCall is the fetch that made it; batchToken is its token.
	batch      []engine.MessageNo
	batchCall  uint64
	batchToken string
	// note is what a node said last about a delivery of this instance.
	note noteState
	// kept is the custom status and the key-value store.
	kept keptState
	was  instanceWas
	bare int // index in model.bare + 1, 0 if not in it
	// queuedAt is the same for model.queued.
	queuedAt int
}

// instanceWas is an instance as it was before a call touched it.
type instanceWas struct {
	call      uint64
	created   bool
	currentID uint64
	lock      lockState
}

// executionState is everything that is known of one execution.
type executionState struct {
	instance *instanceState
	id       uint64
	// created says that the executions row exists; status and output are its columns.
	created bool
	status  engine.Status
	output  string
	// pin is a release, nil for an unpinned execution. It is never written to.
	pin *engine.Version
	// deleted says that it was ever deleted or pruned.
	deleted bool
	// repinned says that somebody who is no node has pinned it when it had begun already.
	repinned bool
	// events are in ascending order of id; kinds are the kinds among them, terminals how many of them end an execution.
	events    []eventState
	kinds     kindMask
	terminals int
	was       executionWas
}

// executionWas is an execution as it was before a call touched it.
type executionWas struct {
	call      uint64
	created   bool
	status    engine.Status
	output    string
	pin       *engine.Version
	events    int
	kinds     kindMask
	terminals int
}

// eventState is one stored event. bytes are the store's own slice, which is never written to; sum is their hash when
// they were stored, which would betray it if it were.
type eventState struct {
	id    uint64
	bytes []byte
	sum   uint64
	call  uint64 // that appended it, 0 for none
	// closedBy is, for a schedule, the committed event that completes it; 0 while none does. S13 sets it.
	closedBy uint64
	kind     kindNo
	damaged  bool
}

// rowState is one row of either queue.
type rowState struct {
	no       engine.MessageNo
	queue    engine.Queue
	instance *instanceState
	// kind, item, execution and id are as they were inserted: id is an activity's id, or for a message to an
	// orchestration the schedule that it completes, 0 if it completes none. item and bytes are dropped when the call
	// after the row's removal begins.
	kind      engine.WorkItemKind
	item      engine.WorkItem
	execution uint64
	id        uint64
	fireAtMs  int64 // timers
	bytes     []byte
	sum       uint64
	// present says that the row is in its queue.
	present bool
	damaged bool
	// workAt is the row's index in model.work + 1, 0 if it is not in it.
	workAt int
	// removed says why a row left; it was call number removedBy.
	removed    engine.RemoveReason
	removedBy  uint64
	insertedBy uint64
	insertedMs int64
	visibleMs  int64
	count      uint32
	// delivered is the number of the last fetch that handed the message out.
	delivered uint64
	// lock is, in the worker queue, the row's lock; in the orchestrator queue only its token counts: the mark.
	lock lockState
	was  rowWas
}

// rowWas is a row as it was before a call touched it.
type rowWas struct {
	call      uint64
	present   bool
	count     uint32
	visibleMs int64
	lock      lockState
}

// callState is a call of the store that runs, or that has just ended.
type callState struct {
	id      uint64
	kind    engine.CallKind
	caller  engine.Caller
	beganMs int64
	// request is a copy; what it points to may be looked at until the call's end has been observed, not later.
	request engine.CallRequest
	// ended and the rest are set by the end: outcome, and for a delivery instance, messages, token and told count.
	ended    bool
	outcome  engine.Outcome
	instance engine.InstanceNo
	messages []engine.MessageNo
	token    string
	told     uint32

	// What the call has touched so far, in order of first touch; the old values are in was.
	instances  []*instanceState
	executions []*executionState
	rows       []*rowState
	// appended are the events that it appended, taken back ones included.
	appended []eventRef
	// inserted are the rows that it inserted into each queue, taken back ones included.
	inserted [3]int
	// undone says that the call took something back.
	undone bool
	// orphans is how many messages it dropped as orphans.
	orphans int
	// unreadable is the instance of which an event or a message of the orchestrator queue could not be decoded, with the
	// first such one.
	unreadable          engine.InstanceNo
	unreadableExecution uint64
	unreadableEvent     uint64
	unreadableMessage   engine.MessageNo
}

// eventRef names an event.
type eventRef struct {
	execution *executionState
	id        uint64
}

// nodeModel is what a node was, one entry for each incarnation.
type nodeModel struct{ incarnations []incarnationModel }

type incarnationModel struct {
	build  *engine.Build
	reads  kindMask
	filter *engine.CapabilityFilter // of the range in its options, whatever it declares
}

// newModel is the model of an empty store in a run with these builds.
func newModel(builds []*engine.Build) *model {
	m := &model{instances: []*instanceState{nil}, numbers: make(map[string]engine.InstanceNo), builds: builds}
	m.kinds = newKindTable(builds)
	return m
}

// instance is the instance of a number, nil for 0. A number that was not announced gives an instance without a name.
func (m *model) instance(no engine.InstanceNo) *instanceState {
	if int(no) < len(m.instances) {
		return m.instances[no]
	}
	for len(m.instances) <= int(no) {
		m.instances = append(m.instances, &instanceState{no: engine.InstanceNo(len(m.instances))})
	}
	return m.instances[no]
}

// instanceCount is the largest instance number; numbers begin at 1.
func (m *model) instanceCount() int { return len(m.instances) - 1 }

// number is the number of an instance by its name, 0 if the store has not heard of it.
func (m *model) number(name string) engine.InstanceNo { return m.numbers[name] }

// name is the name of an instance, empty for 0 and for unknown numbers.
func (m *model) name(no engine.InstanceNo) string {
	if no == 0 || int(no) >= len(m.instances) {
		return ""
	}
	return m.instances[no].name
}

// row is the row of a number, which may have left its queue; nil for 0.
func (m *model) row(no engine.MessageNo) *rowState {
	if no == 0 {
		return nil
	}
	page := int(no-1) / rowsPerPage
	for len(m.pages) <= page {
		m.pages = append(m.pages, make([]rowState, rowsPerPage))
	}
	m.rowCount = max(m.rowCount, int(no))
	r := &m.pages[page][int(no-1)%rowsPerPage]
	r.no = no
	return r
}

// call is the call of that number while it runs, and until another begins; else nil.
func (m *model) call(id uint64) *callState {
	if id == 0 || m.current.id != id {
		return nil
	}
	return &m.current
}

// incarnation is what a caller was, nil if it is no node or nothing was recorded of it.
func (m *model) incarnation(c engine.Caller) *incarnationModel {
	if c.Node == 0 || int(c.Node) > len(m.nodes) {
		return nil
	}
	n := &m.nodes[c.Node-1]
	if c.Incarnation == 0 || int(c.Incarnation) > len(n.incarnations) || n.incarnations[c.Incarnation-1].build == nil {
		return nil
	}
	return &n.incarnations[c.Incarnation-1]
}
