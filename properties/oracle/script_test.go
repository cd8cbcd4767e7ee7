package oracle

import (
	"testing"

	"github.com/durosim/durosim/engine"
)

// script is a sequence of calls with answers that a test makes up.
type script struct {
	t  *testing.T
	o  *Oracle
	at Span
}

func newScript(t *testing.T, o Options) *script { return &script{t, New(o), At(1000)} }

// says gives a call's answer to the oracle, which must allow it.
func (s *script) says(args Args, a Answer) *script {
	s.t.Helper()
	if r := s.o.Apply(Call{Args: args}, a, s.at); r != nil {
		s.t.Fatal(r)
	}
	return s
}

// ok is a call that succeeds without a result.
func (s *script) ok(args Args) *script { s.t.Helper(); return s.says(args, Answer{}) }

// refused gives an answer that the oracle must refuse.
func (s *script) refused(args Args, a Answer) *Refusal {
	s.t.Helper()
	r := s.o.Apply(Call{Args: args}, a, s.at)
	if r == nil {
		s.t.Fatalf("allowed: %s: %s", Call{Args: args}, a.describe(args.Method()))
	}
	return r
}

func (s *script) time(ms int64) *script { s.at = At(ms); return s }

// The pieces that scripts are made of.
var (
	startA = engine.StartItem{Instance: "A", Orchestration: "Orch", Version: "1.0.0", ExecutionID: 1}
	pokeA  = engine.ExternalRaisedItem{Instance: "A", Name: "e"}
	queueA = engine.QueueMessageItem{Instance: "A", Name: "q"}
	permit = Answer{Err: &ErrorAnswer{Message: "Invalid lock token; not found"}}
	busy   = Answer{Err: &ErrorAnswer{Retryable: true, Message: "busy"}}
	named  = Metadata{OrchestrationName: "Orch", OrchestrationVersion: "1.0.0"}
)

func send(item engine.WorkItem) Args { return EnqueueForOrchestrator{Item: Item{item}} }
func sendLater(item engine.WorkItem, delay int64) Args {
	return EnqueueForOrchestrator{Item{item}, delay}
}
func fetchAny() Args { return FetchOrchestrationItem{LockTimeoutMs: 1000} }
func ackOf1(token string, m Metadata) AckOrchestrationItem {
	return AckOrchestrationItem{Token: token, ExecutionID: 1, Metadata: m}
}

// item is a delivery of instance A without a history.
func item(token string, count uint32, messages ...engine.WorkItem) Answer {
	return Answer{Item: &Fetched{Instance: "A", OrchestrationName: "Orch", Version: "1.0.0", ExecutionID: 1, Messages: messages, Token: token, AttemptCount: count}}
}

// with changes the delivery of an answer.
func (a Answer) with(change func(f *Fetched)) Answer {
	f := *a.Item
	change(&f)
	a.Item = &f
	return a
}

func event(id uint64, data engine.EventData) engine.Event {
	return engine.Event{EventID: id, InstanceID: "A", ExecutionID: 1, TimestampMs: 1000, DuroxideVersion: "1.5.0", Data: data}
}

// created brings instance A into being, by an ack with changes.
func (s *script) created(change func(a *AckOrchestrationItem)) *script {
	s.t.Helper()
	s.ok(send(startA)).says(fetchAny(), item("o-created", 1, startA))
	a := ackOf1("o-created", named)
	if change != nil {
		change(&a)
	}
	return s.ok(a)
}

// activityOf is an activity of A.
func activityOf(id uint64, session, tag string) engine.ActivityExecuteItem {
	return engine.ActivityExecuteItem{Instance: "A", ExecutionID: 1, ID: id, Name: "Act", SessionID: session, Tag: tag}
}

func sendWork(a engine.WorkItem) Args { return EnqueueForWorker{Item{a}} }

func fetchWorkAny() FetchWorkItem {
	return FetchWorkItem{LockTimeoutMs: 1000, Tags: Tags{Mode: TagMode(engine.TagAny)}}
}

func fetchWorkBy(owner string, lock int64) FetchWorkItem {
	r := fetchWorkAny()
	r.Session = &Session{owner, lock}
	return r
}

func took(token string, count uint32, a engine.WorkItem) Answer {
	return Answer{Work: &Work{Item{a}, token, count}}
}
