package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/pretty"
)

// Client is an engine.Provider that forwards its calls to a server. It includes the management methods and is safe for
// concurrent use.
//
// If the other side violates the protocol, the current call and all later ones fail with a permanent error, and Failure
// returns the reason. Check Failure before judging the provider.
type Client struct {
	engine.Provider

	conn     *connection
	patience time.Duration
	became   func(ended bool) string

	described Described

	failure atomic.Pointer[ProtocolError] // the first one
}

// ClientOptions configures how long a client waits for answers.
type ClientOptions struct {
	// Patience is the maximum time that an answer may take in addition to the call's poll timeout. It must be positive.
	Patience time.Duration
	// Start is the maximum time that the first answer may take, if it is more than Patience: a program has to start.
	Start time.Duration
	// Became, if not nil, describes the other side's fate after it has stopped answering. ended says that its output has
	// ended; otherwise it is silent.
	Became func(ended bool) string
}

// Dial asks the other side to describe itself and returns a client for it.
func Dial(ctx context.Context, lines Lines, o ClientOptions) (*Client, error) {
	c := &Client{conn: connect(lines), became: o.Became}
	c.patience = max(o.Patience, o.Start)
	raw, err := c.hook(ctx, "describe", none{})
	c.patience = o.Patience
	if err == nil {
		err = c.read("describe", raw, &c.described)
	}
	if err != nil {
		return nil, c.Failure()
	}
	if d := c.described; d.Protocol < 1 || d.Protocol > latest || d.Name == "" {
		return nil, &ProtocolError{Method: "describe", Reason: fmt.Sprintf("want protocol 1 or 2 and a name, got %s", raw)}
	}
	for _, m := range c.described.Methods {
		if !slices.Contains(methods, m) {
			return nil, &ProtocolError{Method: "describe", Reason: fmt.Sprintf("methods: no method of a provider is named %q%s", m, pretty.Hint(m, methods))}
		}
	}
	c.Provider = call.Through(c.described.Name, c.described.Version, c.described.Admin, c.perform)
	return c, nil
}

// methods lists the methods of a provider.
var methods = func() (list []string) {
	for _, k := range call.All() {
		if call.Kind(k) != observe.CallNone {
			list = append(list, call.Method(k))
		}
	}
	return list
}()

// Described returns the other side's description of itself.
func (c *Client) Described() Described { return c.described }

// Failure returns an error that says how the other side violated the protocol, or nil if it has not.
func (c *Client) Failure() error {
	if first := c.failure.Load(); first != nil {
		return first
	}
	return nil
}

func (c *Client) perform(ctx context.Context, r call.Call) call.Answer {
	m := call.Method(r)
	var poll time.Duration
	switch fetch := r.(type) {
	case call.FetchOrchestrationItem:
		poll = fetch.PollTimeout
	case call.FetchWorkItem:
		poll = fetch.PollTimeout
	}
	raw, err := c.send(ctx, r, poll)
	if err == nil {
		var a call.Answer
		if a, err = call.DecodeResult(m, raw); err == nil {
			return a
		}
		err = c.malformed(m, err.Error(), false)
	}
	var coded *Error
	switch {
	case !errors.As(err, &coded):
		return call.Answer{Err: &engine.ProviderError{Operation: m, Message: err.Error(), Retryable: ctx.Err() != nil}}
	case coded.Code != call.CodeRetryable && coded.Code != call.CodePermanent:
		return call.Answer{Err: engine.ErrUnsupported}
	}
	return call.Answer{Err: (*call.Error)(coded).Provider(m)}
}

// send makes a provider call and returns its result.
func (c *Client) send(ctx context.Context, r call.Call, poll time.Duration) (json.RawMessage, error) {
	params, err := call.EncodeCall(r)
	if err != nil {
		return nil, err
	}
	return c.call(ctx, call.Method(r), poll, json.RawMessage(params))
}

// call makes one call and returns its result. The error is the context's error, a *ProtocolError, or a *Error.
// The code of a *Error tells a failed call from an unsupported one.
func (c *Client) call(ctx context.Context, method string, poll time.Duration, params any) (json.RawMessage, error) {
	if err := c.Failure(); err != nil {
		return nil, fmt.Errorf("after an earlier failure: %w", err)
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("given up: %w", ctx.Err())
	}
	limit := c.patience + poll
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	raw, err := c.conn.call(limited, method, params)
	var answered *Error
	switch {
	case err == nil:
		return raw, nil
	case errors.As(err, &answered) && (answered.Code == call.CodeRetryable || answered.Code == call.CodePermanent || answered.Code == CodeNotOffered || answered.Code == codeMethodNotFound):
		return nil, answered
	case answered != nil:
		return nil, c.malformed(method, fmt.Sprintf("refused with code %d: %s", answered.Code, answered.Message), answered.Code == codeInternalError)
	case ctx.Err() != nil:
		return nil, fmt.Errorf("given up: %w", ctx.Err())
	case limited.Err() != nil:
		reason := fmt.Sprintf("no answer within %v", limit)
		if line := bytes.TrimSpace(c.conn.lines.Begun()); len(line) > 0 {
			reason = fmt.Sprintf("no answer within %v, but a line that began and did not end with a newline: %s", limit, quote(line))
		} else if stray := c.conn.unasked(); stray != nil {
			reason = fmt.Sprintf("no answer to this request within %v, but a line whose id no request has: %s", limit, quote(stray))
		}
		return nil, c.fail(method, reason, true)
	case errors.Is(err, errEnded), errors.Is(err, errNotSent):
		return nil, c.fail(method, err.Error(), true)
	}
	return nil, c.malformed(method, err.Error(), !errors.Is(err, errSenseless))
}

// read decodes the result of a call outside the provider interface.
func (c *Client) read(method string, raw json.RawMessage, into any) error {
	if err := json.Unmarshal(raw, into); err != nil {
		return c.fail(method, "a senseless result: "+plain(err), false)
	}
	return nil
}

// plain describes a JSON type error without naming Go types.
func plain(err error) string {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return strings.TrimPrefix(err.Error(), "json: ")
	}
	want := map[reflect.Kind]string{
		reflect.Struct: "an object", reflect.Int: "a whole number", reflect.Int64: "a whole number", reflect.String: "a text",
		reflect.Bool: "true or false", reflect.Slice: "an array",
	}[wrong.Type.Kind()]
	if want == "" {
		return err.Error()
	}
	place := ""
	if wrong.Field != "" {
		place = wrong.Field + ": "
	}
	return fmt.Sprintf("%swant %s, got %s", place, want, wrong.Value)
}

// Resume forgets that an answer had the wrong form, if others can follow it, and reports whether it did.
func (c *Client) Resume() bool {
	first := c.failure.Load()
	return first != nil && first.Form && c.conn.ended() == nil && c.failure.CompareAndSwap(first, nil)
}

// Ended reports whether the other side has closed its output.
func (c *Client) Ended() bool { return errors.Is(c.conn.ended(), errEnded) }

// fail records the first failure and returns it.
func (c *Client) fail(method, reason string, silent bool) error {
	return c.broke(ProtocolError{Method: method, Reason: reason}, silent)
}

// malformed is fail for an answer whose form is wrong.
func (c *Client) malformed(method, reason string, silent bool) error {
	return c.broke(ProtocolError{Method: method, Reason: reason, Form: slices.Contains(methods, method)}, silent)
}

func (c *Client) broke(e ProtocolError, silent bool) error {
	if silent && c.became != nil {
		e.Reason += "; " + c.became(c.Ended())
	}
	c.failure.CompareAndSwap(nil, &e)
	return c.failure.Load()
}

// hook makes a call that concerns the whole store. If the server's description claims support for the call, the call must
// succeed.
func (c *Client) hook(ctx context.Context, method string, params any) (json.RawMessage, error) {
	raw, err := c.call(ctx, method, 0, params)
	var answered *Error
	if errors.As(err, &answered) {
		return nil, c.fail(method, fmt.Sprintf("refused with code %d: %s", answered.Code, answered.Message), false)
	}
	return raw, err
}

// Reset empties the store.
func (c *Client) Reset(ctx context.Context) error {
	_, err := c.hook(ctx, "reset", none{})
	return err
}

// Now returns the time on the store's clock in milliseconds.
func (c *Client) Now(ctx context.Context) (int64, error) { return c.clock(ctx, "clock_now", none{}) }

// Advance moves the store's clock forward by byMs milliseconds. fromMs is the time before that.
func (c *Client) Advance(ctx context.Context, fromMs, byMs int64) error {
	now, err := c.clock(ctx, "clock_advance", clockAdvance{&byMs})
	if err == nil && now != fromMs+byMs {
		return c.fail("clock_advance", fmt.Sprintf("the clock shows %d, %d ms after %d", now, byMs, fromMs), false)
	}
	return err
}

// SetNow sets the store's clock.
func (c *Client) SetNow(ctx context.Context, ms int64) error {
	now, err := c.clock(ctx, "clock_set", clockSet{&ms})
	if err == nil && now != ms {
		return c.fail("clock_set", fmt.Sprintf("the clock shows %d, and was set to %d", now, ms), false)
	}
	return err
}

func (c *Client) clock(ctx context.Context, method string, params any) (now int64, err error) {
	raw, err := c.hook(ctx, method, params)
	switch {
	case err != nil:
	case string(raw) == "null": // which json.Unmarshal would leave at 0
		err = c.fail(method, "a senseless result: want a whole number, got null", false)
	default:
		err = c.read(method, raw, &now)
	}
	return now, err
}

// FailAckStep makes the next orchestration ack fail before step.
func (c *Client) FailAckStep(ctx context.Context, step int) error {
	_, err := c.hook(ctx, "fail_ack_step", failAckStep{&step})
	return err
}

// Damage damages what a call.CorruptEvent or a call.CorruptMessage names, of several rows with an item the newest.
func (c *Client) Damage(ctx context.Context, what call.Call) error {
	_, err := c.send(ctx, what, 0)
	return err
}
