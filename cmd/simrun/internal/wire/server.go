package wire

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"sync/atomic"

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
	// Damage damages what a call.CorruptEvent or a call.CorruptMessage names. If several rows hold an item, it damages the
	// newest.
	Damage func(c call.Call) error
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

	store atomic.Pointer[Store]
	gone  context.Context // done at the end of the input
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
	// Durable reports whether the program, killed and started again with the same arguments, serves the store that it had.
	Durable bool `json:"durable,omitempty"`
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
		store := s.store.Load()
		p := store.Provider
		return Described{Protocol: latest, Name: p.Name(), Version: p.Version(), Admin: p.Admin() != nil,
			VirtualClock: store.SetClock != nil, CorruptEvent: store.Damage != nil,
			CorruptMessage: store.Damage != nil, FailAckStep: store.FailAckStep != nil, Overlapping: s.Overlapping,
			LongPolls: store.LongPolls, SetFaults: store.SetFaults != nil}, nil
	}),
	"reset":     hook(func(s *Server, _ none) (any, error) { return nil, s.reset() }),
	"clock_now": hook(func(s *Server, _ none) (any, error) { return s.store.Load().NowMs(), nil }),
	"clock_set": hook(func(s *Server, in clockSet) (any, error) {
		if in.NowMs == nil {
			return nil, errors.New("params.now_ms: missing")
		}
		return s.setClock("clock_set", *in.NowMs)
	}),
	"clock_advance": hook(func(s *Server, in clockAdvance) (any, error) {
		now := s.store.Load().NowMs()
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
		store := s.store.Load()
		switch {
		case store.FailAckStep == nil:
			return nil, notOffered("fail_ack_step", "this store cannot fail in the middle of an ack")
		case in.Step == nil:
			return nil, errors.New("params.step: missing")
		case *in.Step < 0:
			return nil, fmt.Errorf("params.step: want a step from 0, got %d", *in.Step)
		}
		store.FailAckStep(*in.Step)
		return nil, nil
	}),
	"set_faults": hook(func(s *Server, in setFaults) (any, error) {
		store := s.store.Load()
		switch {
		case store.SetFaults == nil:
			return nil, notOffered("set_faults", "this store has no faults")
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
				return nil, fmt.Errorf("params: %s", plain(err))
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
	s.store.Store(store)
	return nil
}

func (s *Server) release() {
	if old := s.store.Load(); old != nil && old.Close != nil {
		old.Close()
	}
}

func (s *Server) setClock(method string, ms int64) (any, error) {
	store := s.store.Load()
	if store.SetClock == nil {
		return nil, notOffered(method, "this store follows the wall clock")
	}
	if now := store.NowMs(); ms < now {
		return nil, fmt.Errorf("params.now_ms: the clock stands at %d and does not go back to %d", now, ms)
	}
	store.SetClock(ms)
	return store.NowMs(), nil
}

// answer makes a call and returns the line with its result or error.
func (s *Server) answer(ctx context.Context, r *request) ([]byte, error) {
	var result any
	var err error
	if h, ok := hooks[r.Method]; r.Version != "2.0" {
		err = errorf(codeInvalidRequest, "invalid version marker")
	} else if ok {
		result, err = h(s, r.Params)
	} else {
		result, err = s.perform(ctx, r.Method, r.Params)
	}
	if err == nil {
		return json.Marshal(struct {
			Version string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
			Result  any             `json:"result"`
		}{"2.0", r.ID, result})
	}
	return refused(r.ID, refusal(err))
}

// refused returns the line that answers a request with an error.
func refused(id json.RawMessage, why error) ([]byte, error) {
	e := &Error{codeInvalidRequest, why.Error()}
	errors.As(why, &e)
	return json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *Error          `json:"error"`
	}{"2.0", id, e})
}

func (s *Server) perform(ctx context.Context, m string, params []byte) (any, error) {
	c, err := call.DecodeCall(m, params)
	if err != nil {
		return nil, err
	}
	store := s.store.Load()
	switch c.(type) {
	case call.CorruptEvent, call.CorruptMessage:
		if store.Damage == nil {
			return nil, notOffered(m, "this store cannot damage what it holds")
		}
		if err := store.Damage(c); err != nil {
			return nil, errorf(call.CodePermanent, "%v", err)
		}
		return nil, nil
	case call.Plant:
		return nil, notOffered(m, "this store is not changed behind its provider's back")
	case call.FetchOrchestrationItem, call.FetchWorkItem: // only these wait
		var cancel func()
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(s.gone, cancel)()
	}
	a := call.Perform(ctx, store.Provider, c)
	if errors.Is(a.Err, engine.ErrUnsupported) {
		return nil, notOffered(m, engine.ErrUnsupported.Error())
	}
	if a.Err != nil {
		return nil, (*Error)(call.ErrorOf(a.Err))
	}
	result, err := call.EncodeResult(m, a)
	return json.RawMessage(result), err
}

// Serve reads calls from in and writes answers to out until in ends, ctx is done, or a write to out fails. It answers
// every line; the answer to a line that is not a request is an error.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.WriteCloser) error {
	if err := s.reset(); err != nil {
		return err
	}
	defer s.release()
	gone, leave := context.WithCancel(context.Background())
	defer leave()
	s.gone = gone
	lines := foreign.NewLines(in, out)
	stop := context.AfterFunc(ctx, func() { leave(); _ = lines.Close() })
	defer stop()
	w := &answers{lines: lines}
	var inFlight sync.WaitGroup
	room := make(chan struct{}, mostInFlight)
	for w.failed() == nil {
		line, err := lines.Recv()
		var tooLong *foreign.TooLongError
		if err != nil && !errors.As(err, &tooLong) {
			leave() // fetches stop waiting, but every request is still answered
			inFlight.Wait()
			if errors.Is(err, io.EOF) || ctx.Err() != nil {
				err = nil
			}
			return cmp.Or(w.failed(), err)
		}
		var r *request
		if err == nil {
			r, err = requestOf(line)
		}
		if err != nil {
			w.send(refused(json.RawMessage("null"), err))
			continue
		}
		if !s.Overlapping { // calls take effect in order of arrival
			w.send(s.answer(ctx, r))
			continue
		}
		room <- struct{}{}
		inFlight.Go(func() {
			w.send(s.answer(ctx, r))
			<-room
		})
	}
	inFlight.Wait()
	return w.failed()
}

// mostInFlight is the maximum number of concurrent calls in a server, including long polls.
const mostInFlight = 4096

// answers writes answers, which may come from several goroutines, until that fails.
type answers struct {
	lines *foreign.Lines
	mu    sync.Mutex
	err   error
}

func (w *answers) send(line []byte, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil {
		err = w.lines.Send(line)
	}
	var tooLong *foreign.TooLongError
	if errors.As(err, &tooLong) {
		if line, err = refused(json.RawMessage("null"), tooLong); err == nil {
			err = w.lines.Send(line)
		}
	}
	w.err = cmp.Or(w.err, err)
}

func (w *answers) failed() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// request is a line that expects an answer.
type request struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
}

// requestOf returns the request in a line, or the error with which the server rejects it.
func requestOf(line []byte) (*request, error) {
	if !json.Valid(line) {
		return nil, errorf(codeParseError, "not JSON: %s", quote(line))
	}
	if bytes.HasPrefix(line, []byte("[")) {
		return nil, errorf(codeInvalidRequest, "a batch; send one request a line")
	}
	r := &request{}
	if err := json.Unmarshal(line, r); err != nil || r.Method == "" {
		return nil, errorf(codeInvalidRequest, "not a request: %s", quote(line))
	}
	if len(r.ID) == 0 || string(r.ID) == "null" {
		return nil, errorf(codeInvalidRequest, "a request without an id; there are no notifications")
	}
	if strings.ContainsAny(string(r.ID[0]), "{[tf") {
		return nil, errorf(codeInvalidRequest, "invalid request ID")
	}
	return r, nil
}

// quote quotes the beginning of a line for use in messages.
func quote(line []byte) string {
	const most = 80
	if len(line) > most {
		return string(line[:most]) + "..."
	}
	return string(line)
}
