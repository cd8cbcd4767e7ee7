package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"

	"github.com/durosim/durosim/engine"
)

// Client is an engine.Provider, and its management surface, that asks a server. It may be used by many goroutines.
//
// When the other side breaks the protocol, that call and all later ones fail with a permanent error, and Failure tells
// why: whoever judges the provider looks there first.
type Client struct {
	rpc      *jrpc2.Client
	heard    *watched
	patience time.Duration
	became   func() string

	described Described

	mu      sync.Mutex
	failure *ProtocolError
}

// ClientOptions say how a client waits.
type ClientOptions struct {
	// Patience is how long an answer may take, beside the poll timeout of the call. It must be above 0.
	Patience time.Duration
	// Became says what became of the other side when it fell silent; nil says nothing.
	Became func() string
}

// Dial asks the other side what it is.
func Dial(ctx context.Context, ch channel.Channel, o ClientOptions) (*Client, error) {
	watched := &watched{Channel: ch}
	c := &Client{rpc: jrpc2.NewClient(watched, nil), heard: watched, patience: o.Patience, became: o.Became}
	if err := call(ctx, c, "describe", 0, none{}, &c.described); err != nil {
		return nil, c.Failure()
	}
	if c.described.Protocol != 1 {
		return nil, &ProtocolError{"describe", fmt.Sprintf("result.protocol: want 1, got %d", c.described.Protocol)}
	}
	return c, nil
}

// Described is what the other side said about itself.
func (c *Client) Described() Described { return c.described }

// Failure is how the other side broke the protocol, nil if it did not.
func (c *Client) Failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failure == nil {
		return nil
	}
	return c.failure
}

// Close ends the connection. It does not wait for the other side.
func (c *Client) Close() error { return c.rpc.Close() }

// call makes one call. The error, if there is one, is a *engine.ProviderError.
func call(ctx context.Context, c *Client, method string, poll time.Duration, params, into any) error {
	if err := c.Failure(); err != nil {
		return engine.Permanentf(method, "after an earlier failure: %w", err)
	}
	limit := c.patience + poll
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	response, err := c.rpc.Call(ctx, method, params)
	var answered *jrpc2.Error
	switch {
	case err == nil:
	case c.heard.ended() != nil:
		return c.fail(method, c.heard.ended().Error(), true)
	case errors.As(err, &answered) && answered.Code != jrpc2.Cancelled && answered.Code != jrpc2.DeadlineExceeded:
		if e := plainError(method, answered); e != nil {
			return e
		}
		return c.fail(method, fmt.Sprintf("refused with code %d: %s", answered.Code, answered.Message), false)
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(ctx.Err(), context.DeadlineExceeded):
		return c.fail(method, fmt.Sprintf("no answer within %v", limit), true)
	case ctx.Err() != nil:
		return engine.Retryablef(method, "given up: %w", ctx.Err())
	default:
		return c.fail(method, err.Error(), true)
	}
	var raw json.RawMessage
	if err := response.UnmarshalResult(&raw); err != nil {
		return c.fail(method, err.Error(), false)
	}
	switch {
	case len(raw) == 0:
		return c.fail(method, "an answer with neither result nor error", false)
	case into == nil:
		return nil
	}
	if err := decodeResult(raw, into); err != nil {
		return c.fail(method, err.Error(), false)
	}
	return nil
}

// watched remembers why no more answers come.
type watched struct {
	channel.Channel
	mu  sync.Mutex
	err error
}

func (w *watched) Recv() ([]byte, error) {
	line, err := w.Channel.Recv()
	switch {
	case errors.Is(err, io.EOF):
		err = errors.New("the other side closed its output")
	case err == nil && !json.Valid(line):
		err = fmt.Errorf("the answer is not JSON: %s", quote(line))
	}
	if err != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.err = err
		return nil, err
	}
	return line, nil
}

func (w *watched) ended() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// fail keeps the first failure.
func (c *Client) fail(method, reason string, silent bool) error {
	if silent && c.became != nil {
		reason += "; " + c.became()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failure == nil {
		c.failure = &ProtocolError{method, reason}
	}
	return engine.Permanentf(method, "%w", c.failure)
}

// ask makes a call and returns its result.
func ask[R any](ctx context.Context, c *Client, method string, params any) (R, error) {
	var result R
	err := call(ctx, c, method, 0, params, &result)
	return result, err
}

// tell makes a call that has no result.
func tell(ctx context.Context, c *Client, method string, params any) error {
	return call(ctx, c, method, 0, params, nil)
}

// Reset makes the store an empty one.
func (c *Client) Reset(ctx context.Context) error { return tell(ctx, c, "reset", none{}) }

// Now is the store's clock in milliseconds.
func (c *Client) Now(ctx context.Context) (int64, error) {
	return ask[int64](ctx, c, "clock_now", none{})
}

// SetClock sets the store's clock, and returns it.
func (c *Client) SetClock(ctx context.Context, ms int64) (int64, error) {
	return ask[int64](ctx, c, "clock_set", clockSet{ms})
}

// Advance moves the store's clock on, and returns it.
func (c *Client) Advance(ctx context.Context, by time.Duration) (int64, error) {
	return ask[int64](ctx, c, "clock_advance", clockAdvance{wrapDuration(by)})
}

// CorruptHistory damages a stored event.
func (c *Client) CorruptHistory(ctx context.Context, instance string, executionID, eventID uint64) error {
	return tell(ctx, c, "corrupt_history", eventRef{instance, executionID, eventID})
}
