package overlap

import (
	"errors"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/properties/oracle"
)

// Building blocks for histories.
var (
	startA = engine.StartItem{Instance: "A", Orchestration: "Orch", Version: "1.0.0", ExecutionID: 1}
	permit = call.Answer{Err: &engine.ProviderError{Message: "Invalid lock token; not found"}}
)

func send(item engine.WorkItem) call.Call { return call.EnqueueForOrchestrator{Item: item} }

func fetchAny() call.Call { return call.FetchOrchestrationItem{LockTimeout: time.Second} }

// item is a delivery of instance A without a history.
func item(token string, count uint32, messages ...engine.WorkItem) call.Answer {
	return call.Answer{Orchestration: &engine.FetchedOrchestration{LockToken: token, AttemptCount: count, Item: engine.OrchestrationItem{
		Instance: "A", OrchestrationName: "Orch", Version: "1.0.0", ExecutionID: 1, Messages: messages,
	}}}
}

// errLost marks a missing answer.
var errLost = errors.New("lost")

// op is a call in an artificial history, lasting from one tick to another.
func op(from, to int64, args call.Call, a call.Answer) porcupine.Operation {
	return porcupine.Operation{Input: oracle.Exchange{Call: args, Answer: a, At: oracle.At(1000), Lost: errors.Is(a.Err, errLost)}, Call: from, Return: to}
}

// TestHistories judges histories of overlapping calls, some of which were never answered.
func TestHistories(t *testing.T) {
	const never = 1 << 60
	lost := call.Answer{Err: errLost}
	value := func(v string) call.Answer { return call.Answer{Value: &v} }
	set := func(id uint64, v string) call.AckOrchestrationItem {
		return call.AckOrchestrationItem{LockToken: "o1", ExecutionID: 1, HistoryDelta: []engine.Event{{EventID: id, InstanceID: "A", ExecutionID: 1,
			TimestampMs: 1000, DuroxideVersion: "1.5.0", Data: eventdata.KeyValueSet{Key: "k", Value: v}}},
			Metadata: engine.ExecutionMetadata{OrchestrationName: "Orch", OrchestrationVersion: "1.0.0"}}
	}
	sent := op(1, 2, send(startA), call.Answer{})
	fetched := op(3, 4, fetchAny(), item("o1", 1, startA))
	for _, c := range []struct {
		name    string
		right   bool
		history []porcupine.Operation
	}{
		{"one of two concurrent fetches finds it", true, []porcupine.Operation{
			sent, op(3, 6, fetchAny(), item("o1", 1, startA)), op(4, 5, fetchAny(), call.Answer{})}},
		{"double hand-out", false, []porcupine.Operation{
			sent, op(3, 6, fetchAny(), item("o1", 1, startA)), op(4, 5, fetchAny(), item("o2", 1, startA))}},
		{"one token twice", false, []porcupine.Operation{
			sent, op(3, 6, fetchAny(), item("o1", 1, startA)), op(7, 8, call.AbandonOrchestrationItem{LockToken: "o1"}, call.Answer{}), op(9, 10, fetchAny(), item("o1", 2, startA))}},
		{"fetched before it was sent", false, []porcupine.Operation{
			op(1, 2, fetchAny(), item("o1", 1, startA)), op(3, 4, send(startA), call.Answer{})}},
		{"exactly one of two acks", true, []porcupine.Operation{
			sent, fetched, op(5, 8, set(2, "1"), call.Answer{}), op(6, 7, set(3, "2"), permit), op(9, 10, call.GetKVValue{Instance: "A", Key: "k"}, value("1"))}},
		{"both acks", false, []porcupine.Operation{sent, fetched, op(5, 8, set(2, "1"), call.Answer{}), op(6, 7, set(3, "2"), call.Answer{})}},
		{"lost update", false, []porcupine.Operation{
			sent, fetched, op(5, 6, set(2, "1"), call.Answer{}), op(7, 8, call.GetKVValue{Instance: "A", Key: "k"}, call.Answer{})}},
		{"a lost ack that was done", true, []porcupine.Operation{
			sent, fetched, op(5, never, set(2, "1"), lost), op(7, 8, call.GetKVValue{Instance: "A", Key: "k"}, value("1")), op(9, 10, set(3, "2"), permit)}},
		{"a lost ack that was not done", true, []porcupine.Operation{
			sent, fetched, op(5, never, set(2, "1"), lost), op(7, 8, set(3, "2"), call.Answer{}), op(9, 10, call.GetKVValue{Instance: "A", Key: "k"}, value("2"))}},
		{"a lost ack that was done and undone", false, []porcupine.Operation{
			sent, fetched, op(5, never, set(2, "1"), lost), op(7, 8, call.GetKVValue{Instance: "A", Key: "k"}, value("1")), op(9, 10, call.GetKVValue{Instance: "A", Key: "k"}, call.Answer{})}},
		{"a lost fetch holds the lock", true, []porcupine.Operation{sent, op(3, never, fetchAny(), lost), op(5, 6, fetchAny(), call.Answer{})}},
		{"nobody holds the lock", false, []porcupine.Operation{sent, op(5, 6, fetchAny(), call.Answer{})}},
	} {
		if wrong, undecided := judge(oracle.Options{Deny: []oracle.Freedom{"F5"}}, c.history); undecided || (wrong == "") != c.right {
			t.Errorf("%s: undecided: %v, wrong: %s", c.name, undecided, wrong)
		}
	}
}
