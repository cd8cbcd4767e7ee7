package client

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/eventdata"
)

// StartOrchestration makes the message that starts an instance. The node that runs it picks the handler version by its
// policy.
func StartOrchestration(instance, orchestration, input string) engine.StartItem {
	return StartOrchestrationVersioned(instance, orchestration, "", input)
}

// StartOrchestrationVersioned makes the message that starts an instance with exactly the given handler version. The text is
// not checked; one that is not a version matches no registered handler.
func StartOrchestrationVersioned(instance, orchestration, version, input string) engine.StartItem {
	return engine.StartItem{
		Instance: instance, Orchestration: orchestration, Input: input, Version: version, ExecutionID: engine.InitialExecutionID,
	}
}

// RaiseEvent makes the message that raises an event for a first-generation wait (orch.Context.ScheduleWait).
func RaiseEvent(instance, name, data string) engine.ExternalRaisedItem {
	return engine.ExternalRaisedItem{Instance: instance, Name: name, Data: data}
}

// RaiseEvent2 makes the message that raises an event for a second-generation wait (orch.Context.ScheduleWait2). The set
// reads holds the event kinds that the waiting execution's pinned build reads. A build that does not read the second
// generation waits in the first, so the event is then raised in the first, without a topic.
func RaiseEvent2(reads engine.KindSet, instance, name, topic, data string) engine.WorkItem {
	if !reads.Has(eventdata.KindExternalEvent2) {
		return RaiseEvent(instance, name, data)
	}
	return engine.ExternalRaised2Item{Instance: instance, Name: name, Topic: topic, Data: data}
}

// EnqueueEvent makes a queue message (orch.Context.DequeueEvent). The instance keeps it until the code dequeues it.
func EnqueueEvent(instance, name, data string) engine.QueueMessageItem {
	return engine.QueueMessageItem{Instance: instance, Name: name, Data: data}
}

// CancelInstance makes the message that asks an instance to end.
func CancelInstance(instance, reason string) engine.CancelInstanceItem {
	return engine.CancelInstanceItem{Instance: instance, Reason: reason}
}
