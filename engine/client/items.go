package client

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
)

// StartOrchestration returns the message that starts an instance. The registry's policy on the node that runs the
// instance chooses the handler version.
func StartOrchestration(instance, orchestration, input string) engine.StartItem {
	return StartOrchestrationVersioned(instance, orchestration, "", input)
}

// StartOrchestrationVersioned returns the message that starts an instance with exactly that handler version. The
// version is not validated; a malformed version matches no registered handler.
func StartOrchestrationVersioned(instance, orchestration, version, input string) engine.StartItem {
	return engine.StartItem{
		Instance: instance, Orchestration: orchestration, Input: input, Version: version, ExecutionID: engine.InitialExecutionID,
	}
}

// RaiseEvent returns the message that raises an event for a first-generation wait (orch.Context.ScheduleWait).
func RaiseEvent(instance, name, data string) engine.ExternalRaisedItem {
	return engine.ExternalRaisedItem{Instance: instance, Name: name, Data: data}
}

// RaiseEvent2 returns the message that raises an event for a second-generation wait (orch.Context.ScheduleWait2). reads
// is the set of event kinds that the waiting execution's pinned build reads. A build that does not read the second
// generation has only first-generation waits, so RaiseEvent2 then raises a first-generation event without a topic.
func RaiseEvent2(reads engine.KindSet, instance, name, topic, data string) engine.WorkItem {
	if !reads.Has(eventdata.KindExternalEvent2) {
		return RaiseEvent(instance, name, data)
	}
	return engine.ExternalRaised2Item{Instance: instance, Name: name, Topic: topic, Data: data}
}

// EnqueueEvent returns a queue message (orch.Context.DequeueEvent). The instance keeps the message until its code
// dequeues it.
func EnqueueEvent(instance, name, data string) engine.QueueMessageItem {
	return engine.QueueMessageItem{Instance: instance, Name: name, Data: data}
}

// CancelInstance returns the message that requests an instance's cancellation.
func CancelInstance(instance, reason string) engine.CancelInstanceItem {
	return engine.CancelInstanceItem{Instance: instance, Reason: reason}
}
