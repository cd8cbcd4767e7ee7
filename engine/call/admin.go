package call

import "github.com/durosim/durosim/engine"

// The calls of engine.ProviderAdmin.
type (
	// ListInstances lists all instances.
	ListInstances struct{}
	// ListInstancesByStatus lists the instances with a certain status.
	ListInstancesByStatus struct {
		Status engine.Status `json:"status"`
	}
	// ListExecutions lists an instance's executions.
	ListExecutions struct {
		Instance string `json:"instance"`
	}
	// ReadHistoryWithExecutionID reads one execution's history.
	ReadHistoryWithExecutionID struct {
		Instance    string `json:"instance"`
		ExecutionID uint64 `json:"execution_id"`
	}
	// ReadHistory reads the latest execution's history.
	ReadHistory struct {
		Instance string `json:"instance"`
	}
	// LatestExecutionID requests the largest execution id.
	LatestExecutionID struct {
		Instance string `json:"instance"`
	}
	// GetInstanceInfo describes an instance.
	GetInstanceInfo struct {
		Instance string `json:"instance"`
	}
	// GetExecutionInfo describes an execution.
	GetExecutionInfo struct {
		Instance    string `json:"instance"`
		ExecutionID uint64 `json:"execution_id"`
	}
	// GetSystemMetrics requests store-wide totals.
	GetSystemMetrics struct{}
	// GetQueueDepths requests the depth of each queue.
	GetQueueDepths struct{}
	// ListChildren lists an instance's children.
	ListChildren struct {
		Instance string `json:"instance"`
	}
	// GetParentID requests an instance's parent.
	GetParentID struct {
		Instance string `json:"instance"`
	}
	// GetInstanceTree lists an instance and its descendants.
	GetInstanceTree struct {
		Instance string `json:"instance"`
	}
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
	// execution, or an execution's pin, status or event. An EventID without an Event plants an undecodable event.
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
