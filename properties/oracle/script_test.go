package oracle

import (
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/internal/sample"
)

func TestMain(m *testing.M) { sample.Main(m) }

// script is a sequence of calls with made-up answers.
type script struct {
	t  *testing.T
	o  *Oracle
	at Span
}

func newScript(t *testing.T, o Options) *script { return &script{t, New(o), At(1000)} }

// says passes a call and its answer to the oracle, which must allow the answer.
func (s *script) says(args call.Call, a call.Answer) *script {
	s.t.Helper()
	if r := s.o.Apply(Exchange{Call: args, Answer: a, At: s.at}); r != nil {
		s.t.Fatal(r)
	}
	return s
}

// ok is like says, for a call that succeeds without a result.
func (s *script) ok(args call.Call) *script { s.t.Helper(); return s.says(args, call.Answer{}) }

// refused passes a call and an answer that the oracle must reject.
func (s *script) refused(args call.Call, a call.Answer) *Refusal {
	s.t.Helper()
	r := s.o.Apply(Exchange{Call: args, Answer: a, At: s.at})
	if r == nil {
		e := Exchange{Call: args, Answer: a}
		s.t.Fatalf("allowed: %s: %s", e, e.AnswerText())
	}
	return r
}

func (s *script) time(ms int64) *script { s.at = At(ms); return s }

// Building blocks for scripts.
var (
	startA = engine.StartItem{Instance: "A", Orchestration: "Orch", Version: "1.0.0", ExecutionID: 1}
	pokeA  = engine.ExternalRaisedItem{Instance: "A", Name: "e"}
	queueA = engine.QueueMessageItem{Instance: "A", Name: "q"}
	permit = call.Answer{Err: &engine.ProviderError{Message: "Invalid lock token; not found"}}
	busy   = call.Answer{Err: &engine.ProviderError{Retryable: true, Message: "busy"}}
	named  = engine.ExecutionMetadata{OrchestrationName: "Orch", OrchestrationVersion: "1.0.0"}
)

const ms = time.Millisecond

func send(item engine.WorkItem) call.Call { return call.EnqueueForOrchestrator{Item: item} }
func sendLater(item engine.WorkItem, delay time.Duration) call.Call {
	return call.EnqueueForOrchestrator{Item: item, Delay: delay}
}
func fetchAny() call.Call { return call.FetchOrchestrationItem{LockTimeout: 1000 * ms} }
func ackOf1(token string, m engine.ExecutionMetadata) call.AckOrchestrationItem {
	return call.AckOrchestrationItem{LockToken: token, ExecutionID: 1, Metadata: m}
}

// item is a delivery of instance A without a history.
func item(token string, count uint32, messages ...engine.WorkItem) call.Answer {
	return call.Answer{Orchestration: &engine.FetchedOrchestration{LockToken: token, AttemptCount: count, Item: engine.OrchestrationItem{
		Instance: "A", OrchestrationName: "Orch", Version: "1.0.0", ExecutionID: 1, Messages: messages,
	}}}
}

func with(a call.Answer, change func(f *engine.OrchestrationItem)) call.Answer {
	f := *a.Orchestration
	change(&f.Item)
	a.Orchestration = &f
	return a
}

func event(id uint64, data engine.EventData) engine.Event {
	return engine.Event{EventID: id, InstanceID: "A", ExecutionID: 1, TimestampMs: 1000, DuroxideVersion: "1.5.0", Data: data}
}

// created creates instance A with an ack, which change may modify.
func (s *script) created(change func(a *call.AckOrchestrationItem)) *script {
	s.t.Helper()
	s.ok(send(startA)).says(fetchAny(), item("o-created", 1, startA))
	a := ackOf1("o-created", named)
	if change != nil {
		change(&a)
	}
	return s.ok(a)
}

func activityOf(id uint64, session, tag string) engine.ActivityExecuteItem {
	return engine.ActivityExecuteItem{Instance: "A", ExecutionID: 1, ID: id, Name: "Act", SessionID: session, Tag: tag}
}

func sendWork(a engine.WorkItem) call.Call { return call.EnqueueForWorker{Item: a} }

func fetchWorkAny() call.FetchWorkItem {
	return call.FetchWorkItem{LockTimeout: 1000 * ms, Tags: engine.TagFilter{Mode: engine.TagAny}}
}

func fetchWorkBy(owner string, lock time.Duration) call.FetchWorkItem {
	r := fetchWorkAny()
	r.Session = &engine.SessionFetchConfig{OwnerID: owner, LockTimeout: lock}
	return r
}

func took(token string, count uint32, a engine.WorkItem) call.Answer {
	return call.Answer{Work: &engine.FetchedWork{Item: a, LockToken: token, AttemptCount: count}}
}
