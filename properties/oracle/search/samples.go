package search

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
)

// wholeEvents and wholeItem have each field that duroxide 0.1.26 has of each kind, with a value that no other field has,
// so that a store that loses a field or writes one into another shows it. A double keeps no time of a timer, and text has
// CRLF, blanks at both ends, and an accent that is not composed. genDetails does so for the variants of details. All
// never change.
var (
	wholeEvents = append(eventsWithDetails(),
		eventdata.OrchestrationStarted{
			Name: "Orch", Version: "1.0.0", Input: "in", ParentInstance: "ghost", ParentID: 7,
			CarryForwardEvents: []engine.CarriedEvent{{Name: "q", Data: "1"}, {Name: "r", Data: `"2"`}}, InitialCustomStatus: text("half"),
		},
		eventdata.OrchestrationCompleted{Output: "out"},
		eventdata.OrchestrationContinuedAsNew{Input: "next"},
		eventdata.OrchestrationCancelRequested{Reason: "no more"},
		eventdata.OrchestrationChained{Name: "Log", Instance: "log-1", Input: "in"},
		eventdata.ActivityScheduled{Name: "Act", Input: "in", SessionID: "s1", Tag: "gpu"},
		eventdata.ActivityCompleted{Result: "ok"},
		eventdata.ActivityCancelRequested{Reason: eventdata.ReasonTerminalFailed},
		eventdata.TimerCreated{FireAtMs: 1<<60 + 1},
		eventdata.TimerFired{FireAtMs: 1<<61 + 1},
		eventdata.ExternalSubscribed{Name: "go"},
		eventdata.ExternalEvent{Name: "go", Data: "now"},
		eventdata.ExternalSubscribedCancelled{Reason: eventdata.ReasonTerminal},
		eventdata.QueueSubscribed{Name: "q"},
		eventdata.QueueEventDelivered{Name: "q", Data: " größe e\u0301 世界 😀 \ufeff\ufffd 5% \u2028 \x00\b\v\f\r\n\x1f\x7f\"\\/ "},
		eventdata.QueueSubscriptionCancelled{Reason: eventdata.ReasonDroppedFuture},
		eventdata.SubOrchestrationScheduled{Name: "Child", Instance: "sub::5", Input: "in"},
		eventdata.SubOrchestrationCompleted{Result: "ok"},
		eventdata.SubOrchestrationCancelRequested{Reason: eventdata.ReasonDroppedFuture},
	)
	genDetails = []engine.ErrorDetails{
		{Infrastructure: &eventdata.InfrastructureError{Operation: "read", Message: "down", Retryable: true}},
		{Infrastructure: &eventdata.InfrastructureError{Operation: "ack", Message: "gone"}},
		{Configuration: &eventdata.ConfigurationError{Kind: eventdata.KindNondeterminism, Resource: "Orch", Message: text("strays")}},
		{Configuration: &eventdata.ConfigurationError{Kind: eventdata.KindNondeterminism, Resource: "Orch"}},
		{Application: &eventdata.ApplicationError{Kind: eventdata.AppActivityFailed, Message: "no", Retryable: true}},
		{Application: &eventdata.ApplicationError{Kind: eventdata.AppOrchestrationFailed, Message: "no"}},
		{Application: &eventdata.ApplicationError{Kind: eventdata.AppPanicked, Message: "oh"}},
		{Application: &eventdata.ApplicationError{Kind: eventdata.AppCancelled, Message: "stop", Reason: "enough"}},
		{Poison: &eventdata.PoisonError{AttemptCount: 11, MaxAttempts: 10, Message: "m", MessageType: eventdata.PoisonType{
			Kind: eventdata.PoisonOrchestration, Instance: "A", ExecutionID: 3,
		}}},
		{Poison: &eventdata.PoisonError{AttemptCount: 11, MaxAttempts: 10, Message: "m", MessageType: eventdata.PoisonType{
			Kind: eventdata.PoisonActivity, Instance: "A", ExecutionID: 3, ActivityName: "Act", ActivityID: 5,
		}}},
		{Poison: &eventdata.PoisonError{AttemptCount: 11, MaxAttempts: 10, Message: "m", MessageType: eventdata.PoisonType{
			Kind: eventdata.PoisonFailedDeserialization, Instance: "A", ExecutionID: 3, Error: "unreadable",
		}}},
	}
)

func text(s string) *string { return &s }

func eventsWithDetails() (list []engine.EventData) {
	for _, d := range genDetails {
		list = append(list, eventdata.OrchestrationFailed{Details: d}, eventdata.ActivityFailed{Details: d}, eventdata.SubOrchestrationFailed{Details: d})
	}
	return list
}

// wholeItem returns a message for an instance with every field of its kind.
func (c *checker) wholeItem(t *draws, to string) engine.WorkItem {
	return pick(t, []engine.WorkItem{
		engine.StartItem{Instance: to, Orchestration: "Orch", Input: "in", Version: "1.0.0", ParentInstance: "ghost", ParentID: 7, ExecutionID: 1},
		engine.ContinueAsNewItem{
			Instance: to, Orchestration: "Next", Input: "in", Version: "2.0.0",
			CarryForwardEvents: []engine.CarriedEvent{{Name: "q", Data: "1"}, {Name: "r", Data: "2"}}, InitialCustomStatus: text("half"),
		},
		engine.ActivityCompletedItem{Instance: to, ExecutionID: 7, ID: 2, Result: "ok"},
		engine.ActivityFailedItem{Instance: to, ExecutionID: 7, ID: 2, Details: pick(t, genDetails)},
		engine.ExternalRaisedItem{Instance: to, Name: "e", Data: " größe e\u0301 世界 😀 \ufeff\ufffd 5% \u2028 \x00\b\v\f\r\n\x1f\x7f\"\\/ "},
		engine.QueueMessageItem{Instance: to, Name: "q", Data: "d"},
		engine.SubOrchCompletedItem{ParentInstance: to, ParentExecutionID: 7, ParentID: 2, Result: "ok"},
		engine.SubOrchFailedItem{ParentInstance: to, ParentExecutionID: 7, ParentID: 2, Details: pick(t, genDetails)},
	})
}
