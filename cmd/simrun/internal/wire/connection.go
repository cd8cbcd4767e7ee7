package wire

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Lines sends and receives lines, without their ends. Begun returns what has arrived of a line that has not ended.
type Lines interface {
	Send(line []byte) error
	Recv() ([]byte, error)
	Begun() []byte
}

var (
	errEnded     = errors.New("the other side closed its output")
	errNotSent   = errors.New("the request was not sent")
	errSenseless = errors.New("an answer with neither result nor error")
)

// connection makes calls, which may overlap. The reason why no more answers arrive reaches those who still wait for
// one, after all earlier answers have reached their callers.
type connection struct {
	lines   Lines
	sending sync.Mutex // not mu, since whoever writes may have to wait until answers are read
	mu      sync.Mutex
	sent    int64                 // ids of requests start at 1
	waiting map[int64]chan answer // who waits for an answer, or has given up; each channel has room for the answer
	err     error                 // why no more answers arrive
	stray   []byte                // the last line, if its id is that of no request, since the last call began
}

type answer struct {
	result json.RawMessage
	err    error
}

func connect(lines Lines) *connection {
	c := &connection{lines: lines, waiting: map[int64]chan answer{}}
	go c.receive()
	return c
}

// call makes a call and returns its result. The error is the context's, an *Error, errSenseless, one that wraps
// errNotSent, or the reason why no more answers arrive.
func (c *connection) call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	c.mu.Lock()
	if c.err != nil {
		defer c.mu.Unlock()
		return nil, c.err
	}
	c.sent++
	c.stray = nil
	id, wait := c.sent, make(chan answer, 1)
	c.waiting[id] = wait
	c.mu.Unlock()
	line, err := json.Marshal(struct {
		Version string `json:"jsonrpc"`
		ID      int64  `json:"id"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{"2.0", id, method, params})
	if err == nil {
		c.sending.Lock()
		err = c.lines.Send(line)
		c.sending.Unlock()
	}
	if err != nil {
		return nil, cmp.Or(c.ended(), fmt.Errorf("%w: %w", errNotSent, err))
	}
	select {
	case a := <-wait:
		return a.result, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (c *connection) receive() {
	for {
		line, err := c.lines.Recv()
		if errors.Is(err, io.EOF) {
			err = errEnded
		}
		if err == nil {
			err = c.deliver(line)
		}
		if err != nil {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.err = err
			for _, wait := range c.waiting { // in any order, since each has one reader
				wait <- answer{err: err}
			}
			return
		}
	}
}

// deliver hands a line to who waits for it.
func (c *connection) deliver(line []byte) error {
	if !json.Valid(line) {
		return fmt.Errorf("the answer is not JSON: %s", quote(line))
	}
	var response struct {
		ID     int64           `json:"id"`
		Result json.RawMessage `json:"result"`
		Error  *Error          `json:"error"`
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	err := json.Unmarshal(line, &response)
	wait := c.waiting[response.ID]
	switch {
	case response.ID < 1 || response.ID > c.sent:
		c.stray = line
		return nil
	case wait == nil:
		return fmt.Errorf("a second answer to request %d: %s", response.ID, quote(line))
	case err == nil && response.Error != nil:
		wait <- answer{err: response.Error}
	case err != nil || len(response.Result) == 0:
		wait <- answer{err: errSenseless}
	default:
		wait <- answer{result: response.Result}
	}
	delete(c.waiting, response.ID)
	return nil
}

// unasked returns the last line received since the last call began whose id no request has, or nil.
func (c *connection) unasked() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stray
}

func (c *connection) ended() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}
