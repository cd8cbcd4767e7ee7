package call

import (
	"context"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
)

// A method of a provider is here and nowhere else in this package: its call, the name and kind of it, its place in All,
// how it is performed, its result, and the method of the provider that Through makes.

// Call represents a provider call as a value. The set is closed. For each method of engine.Provider and
// engine.ProviderAdmin, it has one struct, which holds the method's arguments. It also has one struct for each direct
// change by a test to a store (see Plant).
type Call interface{ method() method }

// Method returns the contract's name for c's method, such as "fetch_orchestration_item".
func Method(c Call) string { return c.method().name }

// Kind returns the kind of c that observations record. It is observe.CallAdmin for every management call, and
// observe.CallNone for direct changes to the store.
func Kind(c Call) observe.CallKind { return c.method().kind }

// method holds the properties common to all calls of a type.
type method struct {
	name string
	kind observe.CallKind
}

func provider(k observe.CallKind) method { return method{k.String(), k} }

func admin(name string) method { return method{name, observe.CallAdmin} }

// The arguments of calls that are about an instance, or about one execution of it.
type (
	OfInstance struct {
		Instance string `json:"instance"`
	}
	OfExecution struct {
		Instance    string `json:"instance"`
		ExecutionID uint64 `json:"execution_id"`
	}
)

// The calls of engine.Provider. docs/oracle-protocol.md defines their JSON form, in which durations are whole milliseconds.
type (
	// EnqueueForOrchestrator appends one message.
	EnqueueForOrchestrator struct {
		Item  engine.WorkItem `json:"item"`
		Delay time.Duration   `json:"delay_ms,omitempty"`
	}
	// FetchOrchestrationItem requests an instance that has work. A nil Filter means no filter.
	FetchOrchestrationItem struct {
		LockTimeout time.Duration            `json:"lock_timeout_ms"`
		PollTimeout time.Duration            `json:"poll_timeout_ms,omitempty"`
		Filter      *engine.CapabilityFilter `json:"filter,omitempty"`
	}
	// AckOrchestrationItem commits a turn.
	AckOrchestrationItem engine.OrchestrationAck
	// AbandonOrchestrationItem releases an instance without committing a turn.
	AbandonOrchestrationItem struct {
		LockToken     string        `json:"lock_token"`
		Delay         time.Duration `json:"delay_ms,omitempty"`
		IgnoreAttempt bool          `json:"ignore_attempt,omitempty"`
	}
	// RenewOrchestrationItemLock extends an instance lock.
	RenewOrchestrationItemLock struct {
		LockToken string        `json:"lock_token"`
		ExtendFor time.Duration `json:"extend_for_ms"`
	}
	// Read reads the latest execution's history.
	Read OfInstance
	// ReadWithExecution reads one execution's history.
	ReadWithExecution OfExecution
	// AppendWithExecution adds events to one execution's history.
	AppendWithExecution struct {
		Instance    string         `json:"instance"`
		ExecutionID uint64         `json:"execution_id"`
		Events      []engine.Event `json:"events"`
	}
	// EnqueueForWorker appends one activity.
	EnqueueForWorker struct {
		Item engine.WorkItem `json:"item"`
	}
	// FetchWorkItem requests an activity. A nil Session restricts it to activities that belong to no session.
	FetchWorkItem struct {
		LockTimeout time.Duration              `json:"lock_timeout_ms"`
		PollTimeout time.Duration              `json:"poll_timeout_ms,omitempty"`
		Session     *engine.SessionFetchConfig `json:"session,omitempty"`
		Tags        engine.TagFilter           `json:"tag_filter"`
	}
	// AckWorkItem completes an activity. A nil Completion enqueues nothing.
	AckWorkItem struct {
		LockToken  string          `json:"lock_token"`
		Completion engine.WorkItem `json:"completion,omitempty"`
	}
	// RenewWorkItemLock extends an activity's lock.
	RenewWorkItemLock RenewOrchestrationItemLock
	// AbandonWorkItem releases an activity without completing it.
	AbandonWorkItem AbandonOrchestrationItem
	// RenewSessionLock extends the owners' sessions that are live and not idle.
	RenewSessionLock struct {
		Owners      []string      `json:"owner_ids"`
		ExtendFor   time.Duration `json:"extend_for_ms"`
		IdleTimeout time.Duration `json:"idle_timeout_ms"`
	}
	// CleanupOrphanedSessions deletes expired sessions without activities.
	CleanupOrphanedSessions struct {
		IdleTimeout time.Duration `json:"idle_timeout_ms"`
	}
	// GetCustomStatus requests a custom status newer than LastSeen.
	GetCustomStatus struct {
		Instance string `json:"instance"`
		LastSeen uint64 `json:"last_seen_version"`
	}
	// GetKVValue reads one key of an instance.
	GetKVValue struct {
		Instance string `json:"instance"`
		Key      string `json:"key"`
	}
	// GetKVAllValues reads all keys of an instance.
	GetKVAllValues OfInstance
	// GetInstanceStats requests the sizes of an instance's current execution.
	GetInstanceStats OfInstance
)

func (EnqueueForOrchestrator) method() method { return provider(observe.CallEnqueueForOrchestrator) }
func (FetchOrchestrationItem) method() method { return provider(observe.CallFetchOrchestrationItem) }
func (AckOrchestrationItem) method() method   { return provider(observe.CallAckOrchestrationItem) }
func (AbandonOrchestrationItem) method() method {
	return provider(observe.CallAbandonOrchestrationItem)
}
func (RenewOrchestrationItemLock) method() method {
	return provider(observe.CallRenewOrchestrationItemLock)
}
func (Read) method() method                    { return provider(observe.CallRead) }
func (ReadWithExecution) method() method       { return provider(observe.CallReadWithExecution) }
func (AppendWithExecution) method() method     { return provider(observe.CallAppendWithExecution) }
func (EnqueueForWorker) method() method        { return provider(observe.CallEnqueueForWorker) }
func (FetchWorkItem) method() method           { return provider(observe.CallFetchWorkItem) }
func (AckWorkItem) method() method             { return provider(observe.CallAckWorkItem) }
func (RenewWorkItemLock) method() method       { return provider(observe.CallRenewWorkItemLock) }
func (AbandonWorkItem) method() method         { return provider(observe.CallAbandonWorkItem) }
func (RenewSessionLock) method() method        { return provider(observe.CallRenewSessionLock) }
func (CleanupOrphanedSessions) method() method { return provider(observe.CallCleanupOrphanedSessions) }
func (GetCustomStatus) method() method         { return provider(observe.CallGetCustomStatus) }
func (GetKVValue) method() method              { return provider(observe.CallGetKVValue) }
func (GetKVAllValues) method() method          { return provider(observe.CallGetKVAllValues) }
func (GetInstanceStats) method() method        { return provider(observe.CallGetInstanceStats) }

// The calls of engine.ProviderAdmin.
type (
	// ListInstances lists all instances.
	ListInstances struct{}
	// ListInstancesByStatus lists the instances with a certain status.
	ListInstancesByStatus struct {
		Status engine.Status `json:"status"`
	}
	// ListExecutions lists an instance's executions.
	ListExecutions OfInstance
	// ReadHistoryWithExecutionID reads one execution's history.
	ReadHistoryWithExecutionID OfExecution
	// ReadHistory reads the latest execution's history.
	ReadHistory OfInstance
	// LatestExecutionID requests the largest execution id.
	LatestExecutionID OfInstance
	// GetInstanceInfo describes an instance.
	GetInstanceInfo OfInstance
	// GetExecutionInfo describes an execution.
	GetExecutionInfo OfExecution
	// GetSystemMetrics requests store-wide totals.
	GetSystemMetrics struct{}
	// GetQueueDepths requests the depth of each queue.
	GetQueueDepths struct{}
	// ListChildren lists an instance's children.
	ListChildren OfInstance
	// GetParentID requests an instance's parent.
	GetParentID OfInstance
	// GetInstanceTree lists an instance and its descendants.
	GetInstanceTree OfInstance
	// DeleteInstance deletes a root instance and its descendants.
	DeleteInstance struct {
		Instance string `json:"instance"`
		Force    bool   `json:"force"`
	}
	// DeleteInstancesAtomic deletes all of the listed instances or none.
	DeleteInstancesAtomic struct {
		Instances []string `json:"instances"`
		Force     bool     `json:"force"`
	}
	// DeleteInstanceBulk deletes the ended root instances that match a filter, with their descendants.
	DeleteInstanceBulk struct {
		Filter engine.InstanceFilter `json:"filter"`
	}
	// PruneExecutions removes an instance's old executions.
	PruneExecutions struct {
		Instance string              `json:"instance"`
		Options  engine.PruneOptions `json:"options"`
	}
	// PruneExecutionsBulk prunes every instance that matches a filter.
	PruneExecutionsBulk struct {
		Filter  engine.InstanceFilter `json:"filter"`
		Options engine.PruneOptions   `json:"options"`
	}
)

func (ListInstances) method() method              { return admin("list_instances") }
func (ListInstancesByStatus) method() method      { return admin("list_instances_by_status") }
func (ListExecutions) method() method             { return admin("list_executions") }
func (ReadHistoryWithExecutionID) method() method { return admin("read_history_with_execution_id") }
func (ReadHistory) method() method                { return admin("read_history") }
func (LatestExecutionID) method() method          { return admin("latest_execution_id") }
func (GetInstanceInfo) method() method            { return admin("get_instance_info") }
func (GetExecutionInfo) method() method           { return admin("get_execution_info") }
func (GetSystemMetrics) method() method           { return admin("get_system_metrics") }
func (GetQueueDepths) method() method             { return admin("get_queue_depths") }
func (ListChildren) method() method               { return admin("list_children") }
func (GetParentID) method() method                { return admin("get_parent_id") }
func (GetInstanceTree) method() method            { return admin("get_instance_tree") }
func (DeleteInstance) method() method             { return admin("delete_instance") }
func (DeleteInstancesAtomic) method() method      { return admin("delete_instances_atomic") }
func (DeleteInstanceBulk) method() method         { return admin("delete_instance_bulk") }
func (PruneExecutions) method() method            { return admin("prune_executions") }
func (PruneExecutionsBulk) method() method        { return admin("prune_executions_bulk") }

// Direct changes by a test to a store. No provider has methods for them, so a checker of the provider's answers must be
// notified of them.
type (
	// Plant writes one thing to the store. If it names an orchestration, it plants an instances row whose current
	// execution is ExecutionID. If not, it plants an instance's parent or custom status (at version 1), a key, an
	// execution, or an execution's pin, status or event. An EventID without an Event plants an undecodable event. Bytes
	// is an event's length in the store, if another writer may have spelled it in its own way.
	Plant struct {
		Instance      string             `json:"instance"`
		Orchestration string             `json:"orchestration,omitempty"`
		Version       string             `json:"version,omitempty"`
		Parent        *engine.ParentLink `json:"parent,omitempty"`
		CustomStatus  *string            `json:"custom_status,omitempty"`
		Key           *engine.KVEntry    `json:"key,omitempty"`
		ExecutionID   uint64             `json:"execution_id,omitempty"`
		Pin           *engine.Version    `json:"pin,omitempty"`
		Status        engine.Status      `json:"status,omitempty"`
		Output        *string            `json:"output,omitempty"`
		EventID       uint64             `json:"event_id,omitempty"`
		Event         *engine.Event      `json:"event,omitempty"`
		Bytes         int                `json:"bytes,omitempty"`
	}
	// CorruptEvent makes a stored event undecodable.
	CorruptEvent struct {
		Instance    string `json:"instance"`
		ExecutionID uint64 `json:"execution_id"`
		EventID     uint64 `json:"event_id"`
	}
	// CorruptMessage makes a queued item undecodable. If several rows hold the item, it corrupts the newest.
	CorruptMessage struct {
		Item engine.WorkItem `json:"item"`
	}
)

func (Plant) method() method          { return method{name: "plant"} }
func (CorruptEvent) method() method   { return method{name: "corrupt_event"} }
func (CorruptMessage) method() method { return method{name: "corrupt_message"} }

// All returns the zero value of each kind of call, in the order of the interfaces' methods. Direct changes to the store
// come last.
func All() []Call {
	return []Call{
		EnqueueForOrchestrator{}, FetchOrchestrationItem{}, AckOrchestrationItem{}, AbandonOrchestrationItem{}, RenewOrchestrationItemLock{},
		Read{}, ReadWithExecution{}, AppendWithExecution{}, EnqueueForWorker{}, FetchWorkItem{}, AckWorkItem{}, RenewWorkItemLock{},
		AbandonWorkItem{}, RenewSessionLock{}, CleanupOrphanedSessions{}, GetCustomStatus{}, GetKVValue{}, GetKVAllValues{}, GetInstanceStats{},
		ListInstances{}, ListInstancesByStatus{}, ListExecutions{}, ReadHistoryWithExecutionID{}, ReadHistory{}, LatestExecutionID{},
		GetInstanceInfo{}, GetExecutionInfo{}, GetSystemMetrics{}, GetQueueDepths{}, ListChildren{}, GetParentID{}, GetInstanceTree{},
		DeleteInstance{}, DeleteInstancesAtomic{}, DeleteInstanceBulk{}, PruneExecutions{}, PruneExecutionsBulk{},
		Plant{}, CorruptEvent{}, CorruptMessage{},
	}
}

// Answer is the result of a call: either an error or the field that the method sets. A zero field is an empty result,
// such as nothing found, no value, or an empty list.
type Answer struct {
	Err error

	Orchestration *engine.FetchedOrchestration
	Work          *engine.FetchedWork
	Events        []engine.Event
	Count         int // number of sessions
	CustomStatus  *engine.CustomStatus
	Value         *string
	Pairs         []engine.KVPair
	Stats         *engine.SystemStats

	IDs        []string
	Executions []uint64
	Latest     uint64
	Parent     string
	Info       *engine.InstanceInfo
	Execution  *engine.ExecutionInfo
	Metrics    *engine.SystemMetrics
	Depths     *engine.QueueDepths
	Tree       *engine.InstanceTree
	Deleted    *engine.DeleteInstanceResult
	Pruned     *engine.PruneResult
}

// Perform makes call c on provider p. A management call gives engine.ErrUnsupported if p has no management methods. A
// direct change to the store (see Plant) always fails permanently.
func Perform(ctx context.Context, p engine.Provider, c Call) (a Answer) {
	switch r := c.(type) {
	case EnqueueForOrchestrator:
		a.Err = p.EnqueueForOrchestrator(ctx, r.Item, r.Delay)
	case FetchOrchestrationItem:
		a.Orchestration, a.Err = p.FetchOrchestrationItem(ctx, r.LockTimeout, r.PollTimeout, r.Filter)
	case AckOrchestrationItem:
		a.Err = p.AckOrchestrationItem(ctx, engine.OrchestrationAck(r))
	case AbandonOrchestrationItem:
		a.Err = p.AbandonOrchestrationItem(ctx, r.LockToken, r.Delay, r.IgnoreAttempt)
	case RenewOrchestrationItemLock:
		a.Err = p.RenewOrchestrationItemLock(ctx, r.LockToken, r.ExtendFor)
	case Read:
		a.Events, a.Err = p.Read(ctx, r.Instance)
	case ReadWithExecution:
		a.Events, a.Err = p.ReadWithExecution(ctx, r.Instance, r.ExecutionID)
	case AppendWithExecution:
		a.Err = p.AppendWithExecution(ctx, r.Instance, r.ExecutionID, r.Events)
	case EnqueueForWorker:
		a.Err = p.EnqueueForWorker(ctx, r.Item)
	case FetchWorkItem:
		a.Work, a.Err = p.FetchWorkItem(ctx, r.LockTimeout, r.PollTimeout, r.Session, r.Tags)
	case AckWorkItem:
		a.Err = p.AckWorkItem(ctx, r.LockToken, r.Completion)
	case RenewWorkItemLock:
		a.Err = p.RenewWorkItemLock(ctx, r.LockToken, r.ExtendFor)
	case AbandonWorkItem:
		a.Err = p.AbandonWorkItem(ctx, r.LockToken, r.Delay, r.IgnoreAttempt)
	case RenewSessionLock:
		a.Count, a.Err = p.RenewSessionLock(ctx, r.Owners, r.ExtendFor, r.IdleTimeout)
	case CleanupOrphanedSessions:
		a.Count, a.Err = p.CleanupOrphanedSessions(ctx, r.IdleTimeout)
	case GetCustomStatus:
		a.CustomStatus, a.Err = p.GetCustomStatus(ctx, r.Instance, r.LastSeen)
	case GetKVValue:
		a.Value, a.Err = p.GetKVValue(ctx, r.Instance, r.Key)
	case GetKVAllValues:
		a.Pairs, a.Err = p.GetKVAllValues(ctx, r.Instance)
	case GetInstanceStats:
		a.Stats, a.Err = p.GetInstanceStats(ctx, r.Instance)
	default:
		return performAdmin(ctx, p.Admin(), c)
	}
	return a
}

// Pass is Perform, and gives c itself to the function of a provider that Through has made.
func Pass(ctx context.Context, p engine.Provider, c Call) Answer {
	if w, ok := p.(*through); ok {
		return w.do(ctx, c)
	}
	return Perform(ctx, p, c)
}

func performAdmin(ctx context.Context, p engine.ProviderAdmin, c Call) (a Answer) {
	if p == nil {
		return Answer{Err: engine.ErrUnsupported}
	}
	switch r := c.(type) {
	case ListInstances:
		a.IDs, a.Err = p.ListInstances(ctx)
	case ListInstancesByStatus:
		a.IDs, a.Err = p.ListInstancesByStatus(ctx, r.Status)
	case ListExecutions:
		a.Executions, a.Err = p.ListExecutions(ctx, r.Instance)
	case ReadHistoryWithExecutionID:
		a.Events, a.Err = p.ReadHistoryWithExecutionID(ctx, r.Instance, r.ExecutionID)
	case ReadHistory:
		a.Events, a.Err = p.ReadHistory(ctx, r.Instance)
	case LatestExecutionID:
		a.Latest, a.Err = p.LatestExecutionID(ctx, r.Instance)
	case GetInstanceInfo:
		a.Info, a.Err = p.GetInstanceInfo(ctx, r.Instance)
	case GetExecutionInfo:
		a.Execution, a.Err = p.GetExecutionInfo(ctx, r.Instance, r.ExecutionID)
	case GetSystemMetrics:
		a.Metrics, a.Err = p.GetSystemMetrics(ctx)
	case GetQueueDepths:
		a.Depths, a.Err = p.GetQueueDepths(ctx)
	case ListChildren:
		a.IDs, a.Err = p.ListChildren(ctx, r.Instance)
	case GetParentID:
		a.Parent, a.Err = p.GetParentID(ctx, r.Instance)
	case GetInstanceTree:
		a.Tree, a.Err = p.GetInstanceTree(ctx, r.Instance)
	case DeleteInstance:
		a.Deleted, a.Err = p.DeleteInstance(ctx, r.Instance, r.Force)
	case DeleteInstancesAtomic:
		a.Deleted, a.Err = p.DeleteInstancesAtomic(ctx, r.Instances, r.Force)
	case DeleteInstanceBulk:
		a.Deleted, a.Err = p.DeleteInstanceBulk(ctx, r.Filter)
	case PruneExecutions:
		a.Pruned, a.Err = p.PruneExecutions(ctx, r.Instance, r.Options)
	case PruneExecutionsBulk:
		a.Pruned, a.Err = p.PruneExecutionsBulk(ctx, r.Filter, r.Options)
	default:
		a.Err = engine.Permanentf(Method(c), "not a method of a provider")
	}
	return a
}

// resultForm identifies the field of an Answer that holds a method's result.
type resultForm struct {
	field func(a *Answer) any // returns a pointer to the field
	null  bool                // the result may be absent, in which case it is null
}

// results is keyed by method. The result of a method that is not listed is null.
var results = map[string]resultForm{
	"fetch_orchestration_item":       {func(a *Answer) any { return &a.Orchestration }, true},
	"read":                           {func(a *Answer) any { return &a.Events }, false},
	"read_with_execution":            {func(a *Answer) any { return &a.Events }, false},
	"fetch_work_item":                {func(a *Answer) any { return &a.Work }, true},
	"renew_session_lock":             {func(a *Answer) any { return &a.Count }, false},
	"cleanup_orphaned_sessions":      {func(a *Answer) any { return &a.Count }, false},
	"get_custom_status":              {func(a *Answer) any { return &a.CustomStatus }, true},
	"get_kv_value":                   {func(a *Answer) any { return &a.Value }, true},
	"get_kv_all_values":              {func(a *Answer) any { return &a.Pairs }, false},
	"get_instance_stats":             {func(a *Answer) any { return &a.Stats }, true},
	"list_instances":                 {func(a *Answer) any { return &a.IDs }, false},
	"list_instances_by_status":       {func(a *Answer) any { return &a.IDs }, false},
	"list_executions":                {func(a *Answer) any { return &a.Executions }, false},
	"read_history_with_execution_id": {func(a *Answer) any { return &a.Events }, false},
	"read_history":                   {func(a *Answer) any { return &a.Events }, false},
	"latest_execution_id":            {func(a *Answer) any { return &a.Latest }, false},
	"get_instance_info":              {func(a *Answer) any { return &a.Info }, false},
	"get_execution_info":             {func(a *Answer) any { return &a.Execution }, false},
	"get_system_metrics":             {func(a *Answer) any { return &a.Metrics }, false},
	"get_queue_depths":               {func(a *Answer) any { return &a.Depths }, false},
	"list_children":                  {func(a *Answer) any { return &a.IDs }, false},
	"get_parent_id":                  {func(a *Answer) any { return &a.Parent }, true},
	"get_instance_tree":              {func(a *Answer) any { return &a.Tree }, false},
	"delete_instance":                {func(a *Answer) any { return &a.Deleted }, false},
	"delete_instances_atomic":        {func(a *Answer) any { return &a.Deleted }, false},
	"delete_instance_bulk":           {func(a *Answer) any { return &a.Deleted }, false},
	"prune_executions":               {func(a *Answer) any { return &a.Pruned }, false},
	"prune_executions_bulk":          {func(a *Answer) any { return &a.Pruned }, false},
}

// Through turns do, a function that handles calls, into a provider with that name and version. If manages is set, the
// provider has management methods. The provider returns do's answers unchanged, and is safe for concurrent use if do
// is.
func Through(name, version string, manages bool, do func(ctx context.Context, c Call) Answer) engine.Provider {
	return &through{name: name, version: version, manages: manages, do: do}
}

type through struct {
	name, version string
	manages       bool
	do            func(ctx context.Context, c Call) Answer
}

func (w *through) Name() string    { return w.name }
func (w *through) Version() string { return w.version }

func (w *through) Admin() engine.ProviderAdmin {
	if !w.manages {
		return nil
	}
	return throughAdmin{w}
}

func (w *through) EnqueueForOrchestrator(ctx context.Context, item engine.WorkItem, delay time.Duration) error {
	return w.do(ctx, EnqueueForOrchestrator{item, delay}).Err
}

func (w *through) FetchOrchestrationItem(ctx context.Context, lock, poll time.Duration, filter *engine.CapabilityFilter) (*engine.FetchedOrchestration, error) {
	a := w.do(ctx, FetchOrchestrationItem{lock, poll, filter})
	return a.Orchestration, a.Err
}

func (w *through) AckOrchestrationItem(ctx context.Context, ack engine.OrchestrationAck) error {
	return w.do(ctx, AckOrchestrationItem(ack)).Err
}

func (w *through) AbandonOrchestrationItem(ctx context.Context, token string, delay time.Duration, ignoreAttempt bool) error {
	return w.do(ctx, AbandonOrchestrationItem{token, delay, ignoreAttempt}).Err
}

func (w *through) RenewOrchestrationItemLock(ctx context.Context, token string, extendFor time.Duration) error {
	return w.do(ctx, RenewOrchestrationItemLock{token, extendFor}).Err
}

func (w *through) Read(ctx context.Context, instance string) ([]engine.Event, error) {
	a := w.do(ctx, Read{instance})
	return a.Events, a.Err
}

func (w *through) ReadWithExecution(ctx context.Context, instance string, executionID uint64) ([]engine.Event, error) {
	a := w.do(ctx, ReadWithExecution{instance, executionID})
	return a.Events, a.Err
}

func (w *through) AppendWithExecution(ctx context.Context, instance string, executionID uint64, events []engine.Event) error {
	return w.do(ctx, AppendWithExecution{instance, executionID, events}).Err
}

func (w *through) EnqueueForWorker(ctx context.Context, item engine.WorkItem) error {
	return w.do(ctx, EnqueueForWorker{item}).Err
}

func (w *through) FetchWorkItem(ctx context.Context, lock, poll time.Duration, session *engine.SessionFetchConfig, tags engine.TagFilter) (*engine.FetchedWork, error) {
	a := w.do(ctx, FetchWorkItem{lock, poll, session, tags})
	return a.Work, a.Err
}

func (w *through) AckWorkItem(ctx context.Context, token string, completion engine.WorkItem) error {
	return w.do(ctx, AckWorkItem{token, completion}).Err
}

func (w *through) RenewWorkItemLock(ctx context.Context, token string, extendFor time.Duration) error {
	return w.do(ctx, RenewWorkItemLock{token, extendFor}).Err
}

func (w *through) AbandonWorkItem(ctx context.Context, token string, delay time.Duration, ignoreAttempt bool) error {
	return w.do(ctx, AbandonWorkItem{token, delay, ignoreAttempt}).Err
}

func (w *through) RenewSessionLock(ctx context.Context, owners []string, extendFor, idleTimeout time.Duration) (int, error) {
	a := w.do(ctx, RenewSessionLock{owners, extendFor, idleTimeout})
	return a.Count, a.Err
}

func (w *through) CleanupOrphanedSessions(ctx context.Context, idleTimeout time.Duration) (int, error) {
	a := w.do(ctx, CleanupOrphanedSessions{idleTimeout})
	return a.Count, a.Err
}

func (w *through) GetCustomStatus(ctx context.Context, instance string, lastSeen uint64) (*engine.CustomStatus, error) {
	a := w.do(ctx, GetCustomStatus{instance, lastSeen})
	return a.CustomStatus, a.Err
}

func (w *through) GetKVValue(ctx context.Context, instance, key string) (*string, error) {
	a := w.do(ctx, GetKVValue{instance, key})
	return a.Value, a.Err
}

func (w *through) GetKVAllValues(ctx context.Context, instance string) ([]engine.KVPair, error) {
	a := w.do(ctx, GetKVAllValues{instance})
	return a.Pairs, a.Err
}

func (w *through) GetInstanceStats(ctx context.Context, instance string) (*engine.SystemStats, error) {
	a := w.do(ctx, GetInstanceStats{instance})
	return a.Stats, a.Err
}

// throughAdmin implements the management methods of a provider created by Through.
type throughAdmin struct{ w *through }

func (p throughAdmin) ListInstances(ctx context.Context) ([]string, error) {
	a := p.w.do(ctx, ListInstances{})
	return a.IDs, a.Err
}

func (p throughAdmin) ListInstancesByStatus(ctx context.Context, status engine.Status) ([]string, error) {
	a := p.w.do(ctx, ListInstancesByStatus{status})
	return a.IDs, a.Err
}

func (p throughAdmin) ListExecutions(ctx context.Context, instance string) ([]uint64, error) {
	a := p.w.do(ctx, ListExecutions{instance})
	return a.Executions, a.Err
}

func (p throughAdmin) ReadHistoryWithExecutionID(ctx context.Context, instance string, executionID uint64) ([]engine.Event, error) {
	a := p.w.do(ctx, ReadHistoryWithExecutionID{instance, executionID})
	return a.Events, a.Err
}

func (p throughAdmin) ReadHistory(ctx context.Context, instance string) ([]engine.Event, error) {
	a := p.w.do(ctx, ReadHistory{instance})
	return a.Events, a.Err
}

func (p throughAdmin) LatestExecutionID(ctx context.Context, instance string) (uint64, error) {
	a := p.w.do(ctx, LatestExecutionID{instance})
	return a.Latest, a.Err
}

func (p throughAdmin) GetInstanceInfo(ctx context.Context, instance string) (*engine.InstanceInfo, error) {
	a := p.w.do(ctx, GetInstanceInfo{instance})
	return a.Info, a.Err
}

func (p throughAdmin) GetExecutionInfo(ctx context.Context, instance string, executionID uint64) (*engine.ExecutionInfo, error) {
	a := p.w.do(ctx, GetExecutionInfo{instance, executionID})
	return a.Execution, a.Err
}

func (p throughAdmin) GetSystemMetrics(ctx context.Context) (*engine.SystemMetrics, error) {
	a := p.w.do(ctx, GetSystemMetrics{})
	return a.Metrics, a.Err
}

func (p throughAdmin) GetQueueDepths(ctx context.Context) (*engine.QueueDepths, error) {
	a := p.w.do(ctx, GetQueueDepths{})
	return a.Depths, a.Err
}

func (p throughAdmin) ListChildren(ctx context.Context, instance string) ([]string, error) {
	a := p.w.do(ctx, ListChildren{instance})
	return a.IDs, a.Err
}

func (p throughAdmin) GetParentID(ctx context.Context, instance string) (string, error) {
	a := p.w.do(ctx, GetParentID{instance})
	return a.Parent, a.Err
}

func (p throughAdmin) GetInstanceTree(ctx context.Context, root string) (*engine.InstanceTree, error) {
	a := p.w.do(ctx, GetInstanceTree{root})
	return a.Tree, a.Err
}

func (p throughAdmin) DeleteInstance(ctx context.Context, instance string, force bool) (*engine.DeleteInstanceResult, error) {
	a := p.w.do(ctx, DeleteInstance{instance, force})
	return a.Deleted, a.Err
}

func (p throughAdmin) DeleteInstancesAtomic(ctx context.Context, instances []string, force bool) (*engine.DeleteInstanceResult, error) {
	a := p.w.do(ctx, DeleteInstancesAtomic{instances, force})
	return a.Deleted, a.Err
}

func (p throughAdmin) DeleteInstanceBulk(ctx context.Context, filter engine.InstanceFilter) (*engine.DeleteInstanceResult, error) {
	a := p.w.do(ctx, DeleteInstanceBulk{filter})
	return a.Deleted, a.Err
}

func (p throughAdmin) PruneExecutions(ctx context.Context, instance string, options engine.PruneOptions) (*engine.PruneResult, error) {
	a := p.w.do(ctx, PruneExecutions{instance, options})
	return a.Pruned, a.Err
}

func (p throughAdmin) PruneExecutionsBulk(ctx context.Context, filter engine.InstanceFilter, options engine.PruneOptions) (*engine.PruneResult, error) {
	a := p.w.do(ctx, PruneExecutionsBulk{filter, options})
	return a.Pruned, a.Err
}
