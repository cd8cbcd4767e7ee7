package wire_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/durosim/durosim/cmd/simrun/internal/wire"
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/foreign"
	"github.com/durosim/durosim/internal/sample"
)

const description = `{"jsonrpc":"2.0","id":1,"result":{"protocol":1,"name":"p","version":"1","admin":true,"virtual_clock":true,"corrupt_event":true}}`

// peer connects a client to something that answers its calls with the given lines. After the last line it closes its
// output, unless that line is "silence".
func peer(t *testing.T, patience time.Duration, lines ...string) (*wire.Client, error) {
	t.Helper()
	calls, fromClient := io.Pipe()
	toClient, answers := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		in := bufio.NewScanner(calls)
		for _, line := range lines {
			if !in.Scan() || line == "silence" {
				break
			}
			fmt.Fprintln(answers, line)
		}
		if lines[len(lines)-1] != "silence" {
			answers.Close()
		}
		for in.Scan() {
			continue // reads requests but sends nothing more
		}
	}()
	t.Cleanup(func() {
		answers.Close()
		fromClient.Close()
		<-done
	})
	return wire.Dial(t.Context(), foreign.NewLines(toClient, fromClient), wire.ClientOptions{Patience: patience, Became: func(bool) string { return "it is gone" }})
}

// TestClientReports checks that an error names what the other side did wrong, and that later calls fail immediately.
func TestClientReports(t *testing.T) {
	for name, test := range map[string]struct{ answer, want string }{
		"silence": {"silence", "fetch_work_item: no answer within 50ms; it is gone"},
		"an id as text": {`{"jsonrpc":"2.0","id":"2","result":null}`,
			`fetch_work_item: no answer to this request within 50ms, but a line whose id no request has: {"jsonrpc":"2.0","id":"2","result":null}; it is gone`},
		"no JSON":          {"Traceback (most recent call last):", "fetch_work_item: the answer is not JSON: Traceback (most recent call last):; it is gone"},
		"a huge message":   {strings.Repeat("x", foreign.MaxMessage+1), "fetch_work_item: a message of 16777218 bytes exceeds the maximum of 16777216"},
		"no result":        {`{"jsonrpc":"2.0","id":2}`, "fetch_work_item: an answer with neither result nor error"},
		"another's answer": {`{"jsonrpc":"2.0","id":7,"result":null}`, "fetch_work_item: the other side closed its output; it is gone"},
		"wrong type":       {`{"jsonrpc":"2.0","id":2,"result":7}`, "fetch_work_item: result: want an object, got number"},
		"wrong type inside": {`{"jsonrpc":"2.0","id":2,"result":{"item":{},"lock_token":"a","attempt_count":-1}}`,
			"fetch_work_item: result.item: codec oracle: work item: 0 fields; want one that names the kind"},
		"missing field": {`{"jsonrpc":"2.0","id":2,"result":{"item":{"ActivityExecute":{"instance":"a","execution_id":1,"id":2,"name":"n","input":""}},"lock_token":"a"}}`,
			"fetch_work_item: result.attempt_count: missing"},
		"wrong parameters": {`{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"no such parameter"}}`,
			"fetch_work_item: refused with code -32602: no such parameter"},
	} {
		t.Run(name, func(t *testing.T) {
			patience := time.Minute
			if name == "silence" || name == "an id as text" {
				patience = 50 * time.Millisecond
			}
			lines := []string{description, test.answer}
			if name != "another's answer" {
				lines = append(lines, "silence") // the end of the output may overtake the previous answer
			}
			client := sample.Must(peer(t, patience, lines...))(t)
			if _, err := client.FetchWorkItem(t.Context(), time.Second, 0, nil, engine.TagFilter{}); !errors.Is(err, engine.ErrPermanent) {
				t.Errorf("the call's error is %v; want a permanent provider error", err)
			}
			var broken *wire.ProtocolError
			if !errors.As(client.Failure(), &broken) || !strings.HasPrefix(broken.Error(), test.want) {
				t.Errorf("the failure is %v; want one that begins with %q", client.Failure(), test.want)
			}
			if err := client.RenewWorkItemLock(t.Context(), "x", 0); err == nil || !strings.Contains(err.Error(), "after an earlier failure") {
				t.Errorf("the next call's error is %v; want one that names the earlier failure", err)
			}
		})
	}
}

// TestClientRefuses checks that a second answer to the same request is a protocol violation, and so is a result for a
// method that has none.
func TestClientRefuses(t *testing.T) {
	for name, test := range map[string]struct{ first, second, want string }{
		"a second answer": {`{"jsonrpc":"2.0","id":2,"result":null}` + "\n" + `{"jsonrpc":"2.0","id":2,"result":null}`, "silence",
			"a second answer to request 2: "},
		"a result of a call that has none": {`{"jsonrpc":"2.0","id":2,"result":null}`, `{"jsonrpc":"2.0","id":3,"result":"banana"}`,
			`result: want null, since this call has no result, got "banana"`},
	} {
		t.Run(name, func(t *testing.T) {
			client := sample.Must(peer(t, time.Minute, description, test.first, test.second, "silence"))(t)
			sample.Must(client.FetchWorkItem(t.Context(), time.Second, 0, nil, engine.TagFilter{}))(t)
			if err := client.RenewWorkItemLock(t.Context(), "x", 0); !errors.Is(err, engine.ErrPermanent) {
				t.Errorf("the call's error is %v; want a permanent provider error", err)
			}
			if got := client.Failure(); got == nil || !strings.Contains(got.Error(), test.want) {
				t.Errorf("the failure is %v; want %q in it", got, test.want)
			}
		})
	}
}

// TestDialRefuses checks that a client immediately rejects a peer that is not a server.
func TestDialRefuses(t *testing.T) {
	for name, test := range map[string]struct{ answer, want string }{
		"another protocol":   {strings.Replace(description, `"protocol":1`, `"protocol":3`, 1), "describe: want protocol 1 or 2 and a name, got " + `{"protocol":3,"name":"p","version":"1","admin":true,"virtual_clock":true,"corrupt_event":true}`},
		"a list":             {`{"jsonrpc":"2.0","id":1,"result":[1]}`, "describe: a senseless result: want an object, got array"},
		"a text":             {`{"jsonrpc":"2.0","id":1,"result":{"protocol":"1"}}`, "describe: a senseless result: protocol: want a whole number, got string"},
		"a text of methods":  {strings.Replace(description, `"name"`, `"methods":"all","name"`, 1), "describe: a senseless result: methods: want an array, got string"},
		"half a description": {`{"jsonrpc":"2.0","id":1,"result":{"protocol":1}}`, `describe: want protocol 1 or 2 and a name, got {"protocol":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := peer(t, time.Minute, test.answer, "silence"); err == nil || err.Error() != test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

// TestClientPassesErrorsOn checks that a provider's errors are passed on with their class and do not count as
// connection failures. Neither does a caller that gives up.
func TestClientPassesErrorsOn(t *testing.T) {
	client := sample.Must(peer(t, time.Minute, description,
		`{"jsonrpc":"2.0","id":2,"error":{"code":1,"message":"busy"}}`,
		`{"jsonrpc":"2.0","id":3,"error":{"code":2,"message":"Invalid lock token"}}`, "silence"))(t)
	err := client.AckWorkItem(t.Context(), "x", nil)
	if !errors.Is(err, engine.ErrRetryable) || err.Error() != "ack_work_item: busy" {
		t.Errorf("got %v, want the retryable error \"ack_work_item: busy\"", err)
	}
	err = client.AckWorkItem(t.Context(), "x", nil)
	if !errors.Is(err, engine.ErrPermanent) || err.Error() != "ack_work_item: Invalid lock token" {
		t.Errorf("got %v, want the permanent error of ack_work_item", err)
	}
	given, cancel := context.WithCancel(t.Context())
	cancel()
	if err := client.AckWorkItem(given, "x", nil); !errors.Is(err, engine.ErrRetryable) || !strings.Contains(err.Error(), "given up: context canceled") {
		t.Errorf("got %v, want a retryable error that says that the caller gave up", err)
	}
	sample.OK(t, client.Failure())
}
