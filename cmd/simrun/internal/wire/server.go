package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"

	"github.com/creachadair/jrpc2"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/internal/foreign"
)

// Store is a store that a server serves. If a function is nil, the server does not support that operation.
type Store struct {
	Provider engine.Provider
	// NowMs returns the store's current time.
	NowMs func() int64
	// SetClock sets the store's clock. It is never called with an earlier time.
	SetClock func(ms int64)
	// CorruptEvent damages a stored event.
	CorruptEvent func(instance string, executionID, eventID uint64) error
	// CorruptMessage damages a queued item. If several rows hold the item, it damages the newest.
	CorruptMessage func(item engine.WorkItem) error
	// FailAckStep makes the next orchestration ack fail before step, counting from 0.
	FailAckStep func(step int)
	// SetFaults enables or disables the store's faults.
	SetFaults func(on bool)
	// LongPolls reports whether a fetch that finds no work waits up to its poll timeout.
	LongPolls bool
	// Close releases the store. The store is not used afterwards.
	Close func()
}

// Server answers calls in order of arrival, either sequentially or concurrently.
type Server struct {
	// New creates an empty store. It is called before the first call and at each reset.
	New func() (*Store, error)
	// Overlapping makes the server accept a request before it has answered earlier ones. Only provider calls may
	// overlap. A caller must wait for all answers before it resets the store.
	Overlapping bool

	mu    sync.Mutex // of store
	store *Store
	gone  context.Context // done at the end of the input
}

// current returns the current store.
func (s *Server) current() *Store {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.store
}

// Described is a store's description of itself.
type Described struct {
	// Protocol is the protocol version, 1 or 2.
	Protocol int    `json:"protocol"`
	Name     string `json:"name"`
	Version  string `json:"version"`
	// Methods lists the available provider methods; nil means all of them.
	Methods []string `json:"methods,omitempty"`
	// Admin reports whether the management methods are available.
	Admin bool `json:"admin"`
	// VirtualClock reports whether the clock moves only through clock_advance and clock_set.
	VirtualClock bool `json:"virtual_clock"`
	// CorruptEvent reports whether corrupt_event is available.
	CorruptEvent bool `json:"corrupt_event"`
	// CorruptMessage reports whether corrupt_message is available.
	CorruptMessage bool `json:"corrupt_message,omitempty"`
	// The remaining fields were added in protocol 2. FailAckStep reports whether fail_ack_step is available.
	FailAckStep bool `json:"fail_ack_step,omitempty"`
	// Overlapping reports whether several calls may be in flight at once.
	Overlapping bool `json:"overlapping,omitempty"`
	// LongPolls reports whether a fetch waits up to its poll timeout.
	LongPolls bool `json:"long_polls,omitempty"`
	// SetFaults reports whether set_faults is available.
	SetFaults bool `json:"set_faults,omitempty"`
}

// The parameters of calls that concern the whole store.
type (
	none     struct{}
	clockSet struct {
		NowMs *int64 `json:"now_ms"`
	}
	clockAdvance struct {
		ByMs *int64 `json:"by_ms"`
	}
	failAckStep struct {
		Step *int `json:"step"`
	}
	setFaults struct {
		On *bool `json:"on"`
	}
)

// hooks holds the calls outside the provider interface, keyed by name.
var hooks = map[string]func(s *Server, params []byte) (any, error){
	"describe": hook(func(s *Server, _ none) (any, error) {
		store := s.current()
		p := store.Provider
		return Described{Protocol: latest, Name: p.Name(), Version: p.Version(), Admin: p.Admin() != nil,
			VirtualClock: store.SetClock != nil, CorruptEvent: store.CorruptEvent != nil,
			CorruptMessage: store.CorruptMessage != nil, FailAckStep: store.FailAckStep != nil, Overlapping: s.Overlapping,
			LongPolls: store.LongPolls, SetFaults: store.SetFaults != nil}, nil
	}),
	"reset":     hook(func(s *Server, _ none) (any, error) { return nil, s.reset() }),
	"clock_now": hook(func(s *Server, _ none) (any, error) { return s.current().NowMs(), nil }),
	"clock_set": hook(func(s *Server, in clockSet) (any, error) {
		if in.NowMs == nil {
			return nil, errors.New("params.now_ms: missing")
		}
		return s.setClock("clock_set", *in.NowMs)
	}),
	"clock_advance": hook(func(s *Server, in clockAdvance) (any, error) {
		now := s.current().NowMs()
		switch {
		case in.ByMs == nil:
			return nil, errors.New("params.by_ms: missing")
		case *in.ByMs < 0:
			return nil, fmt.Errorf("params.by_ms: want milliseconds from 0, got %d", *in.ByMs)
		case *in.ByMs > math.MaxInt64-now:
			return nil, fmt.Errorf("params.by_ms: the clock stands at %d; %d more is too much", now, *in.ByMs)
		}
		return s.setClock("clock_advance", now+*in.ByMs)
	}),
	"fail_ack_step": hook(func(s *Server, in failAckStep) (any, error) {
		store := s.current()
		switch {
		case store.FailAckStep == nil:
			return nil, &notOffered{"fail_ack_step", "this store cannot fail in the middle of an ack"}
		case in.Step == nil:
			return nil, errors.New("params.step: missing")
		case *in.Step < 0:
			return nil, fmt.Errorf("params.step: want a step from 0, got %d", *in.Step)
		}
		store.FailAckStep(*in.Step)
		return nil, nil
	}),
	"set_faults": hook(func(s *Server, in setFaults) (any, error) {
		store := s.current()
		switch {
		case store.SetFaults == nil:
			return nil, &notOffered{"set_faults", "this store has no faults"}
		case in.On == nil:
			return nil, errors.New("params.on: missing")
		}
		store.SetFaults(*in.On)
		return nil, nil
	}),
}

// latest is the newest protocol version.
const latest = 2

// hook adapts a function with decoded parameters to one that decodes them itself.
func hook[P any](call func(s *Server, in P) (any, error)) func(s *Server, params []byte) (any, error) {
	return func(s *Server, params []byte) (any, error) {
		var in P
		if len(params) > 0 {
			d := json.NewDecoder(bytes.NewReader(params))
			d.DisallowUnknownFields()
			if err := d.Decode(&in); err != nil {
				return nil, fmt.Errorf("params: %s", strings.TrimPrefix(err.Error(), "json: "))
			}
		}
		return call(s, in)
	}
}

func (s *Server) reset() error {
	store, err := s.New()
	if err != nil {
		return err
	}
	s.release()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store = store
	return nil
}

// release closes the current store, if there is one and it has a Close function.
func (s *Server) release() {
	if old := s.current(); old != nil && old.Close != nil {
		old.Close()
	}
}

func (s *Server) setClock(method string, ms int64) (any, error) {
	store := s.current()
	if store.SetClock == nil {
		return nil, &notOffered{method, "this store follows the wall clock"}
	}
	if now := store.NowMs(); ms < now {
		return nil, fmt.Errorf("params.now_ms: the clock stands at %d and does not go back to %d", now, ms)
	}
	store.SetClock(ms)
	return store.NowMs(), nil
}

// Assign returns the handler for a method. It implements jrpc2.Assigner.
func (s *Server) Assign(_ context.Context, name string) jrpc2.Handler {
	if h, ok := hooks[name]; ok {
		return func(_ context.Context, r *jrpc2.Request) (any, error) { return answer(h(s, params(r))) }
	}
	return func(ctx context.Context, r *jrpc2.Request) (any, error) {
		return answer(s.perform(ctx, name, params(r)))
	}
}

// perform makes a provider call.
func (s *Server) perform(ctx context.Context, m string, params []byte) (any, error) {
	c, err := call.DecodeCall(m, params)
	if err != nil {
		return nil, err
	}
	store := s.current()
	switch damage := c.(type) {
	case call.CorruptEvent:
		if store.CorruptEvent == nil {
			return nil, &notOffered{m, "this store cannot damage its history"}
		}
		if err := store.CorruptEvent(damage.Instance, damage.ExecutionID, damage.EventID); err != nil {
			return nil, failed(&call.Error{Code: call.CodePermanent, Message: err.Error()})
		}
		return nil, nil
	case call.CorruptMessage:
		if store.CorruptMessage == nil {
			return nil, &notOffered{m, "this store cannot damage its queues"}
		}
		if err := store.CorruptMessage(damage.Item); err != nil {
			return nil, failed(&call.Error{Code: call.CodePermanent, Message: err.Error()})
		}
		return nil, nil
	case call.Plant:
		return nil, &notOffered{m, "this store is not changed behind its provider's back"}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.gone, cancel)()
	a := call.Perform(ctx, store.Provider, c)
	if errors.Is(a.Err, engine.ErrUnsupported) {
		return nil, unsupported(m)
	}
	if a.Err != nil {
		return nil, failed(call.ErrorOf(a.Err))
	}
	result, err := call.EncodeResult(m, a)
	return json.RawMessage(result), err
}

func params(r *jrpc2.Request) []byte {
	var raw json.RawMessage
	_ = r.UnmarshalParams(&raw) // a RawMessage accepts any value
	return raw
}

func answer(result any, err error) (any, error) {
	var coded *jrpc2.Error
	if err != nil && !errors.As(err, &coded) {
		err = refusal(err)
	}
	return result, err
}

// Serve reads calls from in and writes answers to out until in ends, ctx is done, or a write to out fails. It answers
// every line; the answer to a line that is not a request is an error.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.WriteCloser) error {
	if err := s.reset(); err != nil {
		return err
	}
	defer s.release()
	concurrency := 1
	if s.Overlapping {
		concurrency = mostInFlight
	}
	rpc := jrpc2.NewServer(s, &jrpc2.ServerOptions{Concurrency: concurrency, DisableBuiltin: true})
	gone, leave := context.WithCancel(context.Background())
	defer leave()
	s.gone = gone
	rpc.Start(&inOrder{lines: foreign.NewLines(in, out), overlapping: s.Overlapping, leave: leave, answered: make(chan struct{}, 1)})
	stop := context.AfterFunc(ctx, rpc.Stop)
	defer stop()
	return rpc.Wait()
}

// mostInFlight is the maximum number of concurrent calls in a server, including long polls.
const mostInFlight = 4096

// inOrder passes requests to a server. By default, it passes each request after the previous one has been answered, so
// that calls take effect in order of arrival. If calls may overlap, it passes each one immediately. At the end of the
// input, fetches stop waiting, but every request is still answered. inOrder itself answers invalid requests.
type inOrder struct {
	lines       *foreign.Lines
	overlapping bool
	leave       func() // interrupts waiting fetches
	inFlight    sync.WaitGroup
	answered    chan struct{}
	waiting     bool
}

func (c *inOrder) Recv() ([]byte, error) {
	if c.waiting {
		<-c.answered
		c.waiting = false
	}
	for {
		line, err := c.lines.Recv()
		var tooLong *foreign.TooLongError
		if err != nil && !errors.As(err, &tooLong) {
			c.leave()
			c.inFlight.Wait()
			return nil, err
		}
		if err == nil {
			if err = request(line); err == nil {
				if c.waiting = !c.overlapping; !c.waiting {
					c.inFlight.Add(1)
				}
				return line, nil
			}
		}
		if err := c.refuse(err); err != nil {
			return nil, err
		}
	}
}

// request returns nil if line is a request that expects an answer, or the error with which the server rejects it.
func request(line []byte) error {
	if !json.Valid(line) {
		return jrpc2.Errorf(jrpc2.ParseError, "not JSON: %s", quote(line))
	}
	if bytes.HasPrefix(line, []byte("[")) {
		return jrpc2.Errorf(jrpc2.InvalidRequest, "a batch; send one request a line")
	}
	var r struct {
		ID     json.RawMessage `json:"id"`
		Method *string         `json:"method"`
	}
	if err := json.Unmarshal(line, &r); err != nil || r.Method == nil {
		return jrpc2.Errorf(jrpc2.InvalidRequest, "not a request: %s", quote(line))
	}
	if len(r.ID) == 0 || string(r.ID) == "null" {
		return jrpc2.Errorf(jrpc2.InvalidRequest, "a request without an id; there are no notifications")
	}
	return nil
}

// quote quotes the beginning of a line for use in messages.
func quote(line []byte) string {
	const most = 80
	if len(line) > most {
		return string(line[:most]) + "..."
	}
	return string(line)
}

func (c *inOrder) refuse(why error) error {
	e := &jrpc2.Error{Code: jrpc2.InvalidRequest, Message: why.Error()}
	var coded *jrpc2.Error
	if errors.As(why, &coded) {
		e = coded
	}
	data, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *jrpc2.Error    `json:"error"`
	}{"2.0", json.RawMessage("null"), e})
	if err != nil {
		return err
	}
	return c.lines.Send(data)
}

func (c *inOrder) Send(message []byte) error {
	err := c.lines.Send(message)
	var tooLong *foreign.TooLongError
	if errors.As(err, &tooLong) {
		err = c.refuse(tooLong)
	}
	if c.overlapping {
		c.inFlight.Done()
	} else {
		c.answered <- struct{}{}
	}
	return err
}

func (c *inOrder) Close() error { return c.lines.Close() }
