package engine

import "github.com/durosim/durosim/engine/eventdata"

// WorkItem is a message in a queue. The set is closed: each kind has one struct, held by value. A WorkItem is
// immutable.
type WorkItem interface {
	// Kind returns the JSON tag of the item.
	Kind() WorkItemKind
	// Target returns the instance to which an orchestrator item is routed, or to which an activity belongs
	// (docs/contract/provider.md#p4.1). For SubOrchCompleted and SubOrchFailed, it is the parent.
	Target() string
	isWorkItem()
}

// WorkItemKind is the JSON tag of a work item.
type WorkItemKind string

// The kinds of work items (docs/contract/runtime.md#r2). ExternalRaised2 was added in build 2.0.0.
const (
	ItemStartOrchestration WorkItemKind = "StartOrchestration"
	ItemContinueAsNew      WorkItemKind = "ContinueAsNew"
	ItemActivityExecute    WorkItemKind = "ActivityExecute"
	ItemActivityCompleted  WorkItemKind = "ActivityCompleted"
	ItemActivityFailed     WorkItemKind = "ActivityFailed"
	ItemTimerFired         WorkItemKind = "TimerFired"
	ItemExternalRaised     WorkItemKind = "ExternalRaised"
	ItemQueueMessage       WorkItemKind = "QueueMessage"
	ItemSubOrchCompleted   WorkItemKind = "SubOrchCompleted"
	ItemSubOrchFailed      WorkItemKind = "SubOrchFailed"
	ItemCancelInstance     WorkItemKind = "CancelInstance"
	ItemExternalRaised2    WorkItemKind = "ExternalRaised2"
)

// StartItem starts an instance (JSON tag StartOrchestration). An empty Version means that the policy decides. Parent
// fields are zero for a root; ParentExecutionID is omitted when zero. ExecutionID is always 1.
type StartItem struct {
	Instance          string `json:"instance"`
	Orchestration     string `json:"orchestration"`
	Input             string `json:"input"`
	Version           string `json:"version" form:"null"`
	ParentInstance    string `json:"parent_instance" form:"null"`
	ParentID          uint64 `json:"parent_id" form:"null"`
	ExecutionID       uint64 `json:"execution_id"`
	ParentExecutionID uint64 `json:"parent_execution_id,omitempty"`
}

// ContinueAsNewItem starts the next execution of an instance (JSON tag ContinueAsNew). The parent fields let the new
// execution of a child still answer its parent; they are omitted when zero.
type ContinueAsNewItem struct {
	Instance            string         `json:"instance"`
	Orchestration       string         `json:"orchestration"`
	Input               string         `json:"input"`
	Version             string         `json:"version" form:"null"`
	CarryForwardEvents  []CarriedEvent `json:"carry_forward_events" form:"optional"`
	InitialCustomStatus *string        `json:"initial_custom_status,omitempty"`
	ParentInstance      string         `json:"parent_instance,omitempty"`
	ParentID            uint64         `json:"parent_id,omitempty"`
	ParentExecutionID   uint64         `json:"parent_execution_id,omitempty"`
}

// ActivityExecuteItem asks a worker to run an activity. ID is the event id of its schedule.
type ActivityExecuteItem struct {
	Instance    string `json:"instance"`
	ExecutionID uint64 `json:"execution_id"`
	ID          uint64 `json:"id"`
	Name        string `json:"name"`
	Input       string `json:"input"`
	SessionID   string `json:"session_id,omitempty"`
	Tag         string `json:"tag,omitempty"`
}

// ActivityCompletedItem carries an activity's result to its orchestration.
type ActivityCompletedItem struct {
	Instance    string `json:"instance"`
	ExecutionID uint64 `json:"execution_id"`
	ID          uint64 `json:"id"`
	Result      string `json:"result"`
}

// ActivityFailedItem carries an activity's error to its orchestration.
type ActivityFailedItem struct {
	Instance    string       `json:"instance"`
	ExecutionID uint64       `json:"execution_id"`
	ID          uint64       `json:"id"`
	Details     ErrorDetails `json:"details"`
}

// TimerFiredItem announces that a timer has fired. When an ack enqueues one, it becomes visible at FireAtMs in store
// time.
type TimerFiredItem struct {
	Instance    string `json:"instance"`
	ExecutionID uint64 `json:"execution_id"`
	ID          uint64 `json:"id"`
	FireAtMs    uint64 `json:"fire_at_ms"`
}

// ExternalRaisedItem carries a first-generation event raised by a client.
type ExternalRaisedItem struct {
	Instance string `json:"instance"`
	Name     string `json:"name"`
	Data     string `json:"data"`
}

// ExternalRaised2Item carries a second-generation event raised by a client.
type ExternalRaised2Item struct {
	Instance string `json:"instance"`
	Name     string `json:"name"`
	Topic    string `json:"topic"`
	Data     string `json:"data"`
}

// QueueMessageItem carries a queue message sent by a client.
type QueueMessageItem struct {
	Instance string `json:"instance"`
	Name     string `json:"name"`
	Data     string `json:"data"`
}

// SubOrchCompletedItem carries a child's output to its parent.
type SubOrchCompletedItem struct {
	ParentInstance    string `json:"parent_instance"`
	ParentExecutionID uint64 `json:"parent_execution_id"`
	ParentID          uint64 `json:"parent_id"`
	Result            string `json:"result"`
}

// SubOrchFailedItem carries a child's failure to its parent.
type SubOrchFailedItem struct {
	ParentInstance    string       `json:"parent_instance"`
	ParentExecutionID uint64       `json:"parent_execution_id"`
	ParentID          uint64       `json:"parent_id"`
	Details           ErrorDetails `json:"details"`
}

// CancelInstanceItem asks an instance to end.
type CancelInstanceItem struct {
	Instance string `json:"instance"`
	Reason   string `json:"reason"`
}

// items holds the zero value of each kind.
var items = []WorkItem{
	StartItem{}, ContinueAsNewItem{}, ActivityExecuteItem{}, ActivityCompletedItem{}, ActivityFailedItem{}, TimerFiredItem{},
	ExternalRaisedItem{}, ExternalRaised2Item{}, QueueMessageItem{}, SubOrchCompletedItem{}, SubOrchFailedItem{}, CancelInstanceItem{},
}

// ItemForms returns the JSON form of each kind of work item.
func ItemForms() []*eventdata.Form {
	var list []*eventdata.Form
	for _, w := range items {
		list = append(list, eventdata.NewForm(string(w.Kind()), w))
	}
	return list
}

func (StartItem) Kind() WorkItemKind             { return ItemStartOrchestration }
func (ContinueAsNewItem) Kind() WorkItemKind     { return ItemContinueAsNew }
func (ActivityExecuteItem) Kind() WorkItemKind   { return ItemActivityExecute }
func (ActivityCompletedItem) Kind() WorkItemKind { return ItemActivityCompleted }
func (ActivityFailedItem) Kind() WorkItemKind    { return ItemActivityFailed }
func (TimerFiredItem) Kind() WorkItemKind        { return ItemTimerFired }
func (ExternalRaisedItem) Kind() WorkItemKind    { return ItemExternalRaised }
func (ExternalRaised2Item) Kind() WorkItemKind   { return ItemExternalRaised2 }
func (QueueMessageItem) Kind() WorkItemKind      { return ItemQueueMessage }
func (SubOrchCompletedItem) Kind() WorkItemKind  { return ItemSubOrchCompleted }
func (SubOrchFailedItem) Kind() WorkItemKind     { return ItemSubOrchFailed }
func (CancelInstanceItem) Kind() WorkItemKind    { return ItemCancelInstance }

func (w StartItem) Target() string             { return w.Instance }
func (w ContinueAsNewItem) Target() string     { return w.Instance }
func (w ActivityExecuteItem) Target() string   { return w.Instance }
func (w ActivityCompletedItem) Target() string { return w.Instance }
func (w ActivityFailedItem) Target() string    { return w.Instance }
func (w TimerFiredItem) Target() string        { return w.Instance }
func (w ExternalRaisedItem) Target() string    { return w.Instance }
func (w ExternalRaised2Item) Target() string   { return w.Instance }
func (w QueueMessageItem) Target() string      { return w.Instance }
func (w SubOrchCompletedItem) Target() string  { return w.ParentInstance }
func (w SubOrchFailedItem) Target() string     { return w.ParentInstance }
func (w CancelInstanceItem) Target() string    { return w.Instance }

func (StartItem) isWorkItem()             {}
func (ContinueAsNewItem) isWorkItem()     {}
func (ActivityExecuteItem) isWorkItem()   {}
func (ActivityCompletedItem) isWorkItem() {}
func (ActivityFailedItem) isWorkItem()    {}
func (TimerFiredItem) isWorkItem()        {}
func (ExternalRaisedItem) isWorkItem()    {}
func (ExternalRaised2Item) isWorkItem()   {}
func (QueueMessageItem) isWorkItem()      {}
func (SubOrchCompletedItem) isWorkItem()  {}
func (SubOrchFailedItem) isWorkItem()     {}
func (CancelInstanceItem) isWorkItem()    {}
