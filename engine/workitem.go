package engine

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
	Instance          string
	Orchestration     string
	Input             string
	Version           string
	ParentInstance    string
	ParentID          uint64
	ParentExecutionID uint64
	ExecutionID       uint64
}

// ContinueAsNewItem starts the next execution of an instance (JSON tag ContinueAsNew). The parent fields let the new
// execution of a child still answer its parent; they are omitted when zero.
type ContinueAsNewItem struct {
	Instance            string
	Orchestration       string
	Input               string
	Version             string
	CarryForwardEvents  []CarriedEvent
	InitialCustomStatus *string
	ParentInstance      string
	ParentID            uint64
	ParentExecutionID   uint64
}

// ActivityExecuteItem asks a worker to run an activity. ID is the event id of its schedule.
type ActivityExecuteItem struct {
	Instance    string
	ExecutionID uint64
	ID          uint64
	Name        string
	Input       string
	SessionID   string
	Tag         string
}

// ActivityCompletedItem carries an activity's result to its orchestration.
type ActivityCompletedItem struct {
	Instance    string
	ExecutionID uint64
	ID          uint64
	Result      string
}

// ActivityFailedItem carries an activity's error to its orchestration.
type ActivityFailedItem struct {
	Instance    string
	ExecutionID uint64
	ID          uint64
	Details     ErrorDetails
}

// TimerFiredItem announces that a timer has fired. When an ack enqueues one, it becomes visible at FireAtMs in store
// time.
type TimerFiredItem struct {
	Instance    string
	ExecutionID uint64
	ID          uint64
	FireAtMs    uint64
}

// ExternalRaisedItem carries a first-generation event raised by a client.
type ExternalRaisedItem struct {
	Instance string
	Name     string
	Data     string
}

// ExternalRaised2Item carries a second-generation event raised by a client.
type ExternalRaised2Item struct {
	Instance string
	Name     string
	Topic    string
	Data     string
}

// QueueMessageItem carries a queue message sent by a client.
type QueueMessageItem struct {
	Instance string
	Name     string
	Data     string
}

// SubOrchCompletedItem carries a child's output to its parent.
type SubOrchCompletedItem struct {
	ParentInstance    string
	ParentExecutionID uint64
	ParentID          uint64
	Result            string
}

// SubOrchFailedItem carries a child's failure to its parent.
type SubOrchFailedItem struct {
	ParentInstance    string
	ParentExecutionID uint64
	ParentID          uint64
	Details           ErrorDetails
}

// CancelInstanceItem asks an instance to end.
type CancelInstanceItem struct {
	Instance string
	Reason   string
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
