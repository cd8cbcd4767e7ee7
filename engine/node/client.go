package node

import "github.com/durosim/durosim/engine"

// The work items of client calls (contract/runtime.md section 9). A client enqueues them, visible at once; none of the
// calls checks that the instance exists or is free, so success means "enqueued" and no more.

// StartOrchestration starts an instance with the handler version that the node's policy says.
func StartOrchestration(instance, orchestration, input string) engine.StartItem {
	return StartOrchestrationVersioned(instance, orchestration, "", input)
}

// StartOrchestrationVersioned starts an instance with exactly that handler version; the text is not checked, and one
// that is no version is not registered anywhere.
func StartOrchestrationVersioned(instance, orchestration, version, input string) engine.StartItem {
	return engine.StartItem{
		Instance: instance, Orchestration: orchestration, Input: input, Version: version, ExecutionID: engine.InitialExecutionID,
	}
}

// RaiseEvent raises an event for a wait of the old generation (orch.Context.ScheduleWait).
func RaiseEvent(instance, name, data string) engine.ExternalRaisedItem {
	return engine.ExternalRaisedItem{Instance: instance, Name: name, Data: data}
}

// RaiseEvent2 raises an event for a wait of the new generation (orch.Context.ScheduleWait2). Reads are the event kinds
// that the waiting execution's pinned build reads: where that build does not know the new generation the code waits
// with the old one, so the event is raised for that, without a topic.
func RaiseEvent2(reads engine.KindSet, instance, name, topic, data string) engine.WorkItem {
	if !reads.Has(engine.KindExternalEvent2) {
		return RaiseEvent(instance, name, data)
	}
	return engine.ExternalRaised2Item{Instance: instance, Name: name, Topic: topic, Data: data}
}

// EnqueueEvent enqueues a queue message (orch.Context.DequeueEvent). It is kept until it is taken.
func EnqueueEvent(instance, name, data string) engine.QueueMessageItem {
	return engine.QueueMessageItem{Instance: instance, Name: name, Data: data}
}

// CancelInstance asks an instance to end.
func CancelInstance(instance, reason string) engine.CancelInstanceItem {
	return engine.CancelInstanceItem{Instance: instance, Reason: reason}
}
