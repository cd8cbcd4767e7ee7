package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/creachadair/jrpc2"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/foreign"
)

// Store is one store that a server offers. A nil function is not offered.
type Store struct {
	Provider engine.Provider
	// NowMs is the store's clock.
	NowMs func() int64
	// SetClock sets it, forwards only.
	SetClock func(ms int64)
	// CorruptHistory damages a stored event.
	CorruptHistory func(instance string, executionID, eventID uint64) error
}

// Server answers calls one at a time, in the order in which they come.
type Server struct {
	// New makes an empty store: for the first call, and for each reset.
	New func() (*Store, error)

	store *Store
}

// Hooks are the parameters of the calls that are not the provider's.
type (
	clockSet struct {
		NowMs int64 `json:"now_ms"`
	}
	clockAdvance struct {
		ByMs millis `json:"by_ms"`
	}
	eventRef struct {
		Instance    string `json:"instance"`
		ExecutionID uint64 `json:"execution_id"`
		EventID     uint64 `json:"event_id"`
	}
)

// hook is a call about the store as a whole.
type hook struct {
	name  string
	serve func(s *Server, params []byte) (any, error)
}

func defineHook[P any](name string, call func(s *Server, in P) (any, error)) hook {
	return hook{name, func(s *Server, params []byte) (any, error) {
		var in P
		if err := decodeParams(params, &in); err != nil {
			return nil, err
		}
		return call(s, in)
	}}
}

var hooks = []hook{
	defineHook("describe", func(s *Server, _ none) (any, error) {
		p := s.store.Provider
		return Described{Protocol: 1, Name: p.Name(), Version: p.Version(), Admin: p.Admin() != nil,
			VirtualClock: s.store.SetClock != nil, CorruptHistory: s.store.CorruptHistory != nil}, nil
	}),
	defineHook("reset", func(s *Server, _ none) (any, error) { return nil, s.reset() }),
	defineHook("clock_now", func(s *Server, _ none) (any, error) { return s.store.NowMs(), nil }),
	defineHook("clock_set", func(s *Server, in clockSet) (any, error) { return s.setClock("clock_set", in.NowMs) }),
	defineHook("clock_advance", func(s *Server, in clockAdvance) (any, error) {
		now := s.store.NowMs()
		if int64(in.ByMs) > 1<<62-now {
			return nil, fmt.Errorf("params.by_ms: the clock stands at %d; %d more is too much", now, in.ByMs)
		}
		return s.setClock("clock_advance", now+int64(in.ByMs))
	}),
	defineHook("corrupt_history", func(s *Server, in eventRef) (any, error) {
		if s.store.CorruptHistory == nil {
			return nil, errNotOffered("corrupt_history", "this store cannot damage its history")
		}
		if err := s.store.CorruptHistory(in.Instance, in.ExecutionID, in.EventID); err != nil {
			return nil, fmt.Errorf("params: %w", err)
		}
		return nil, nil
	}),
}

func (s *Server) reset() error {
	store, err := s.New()
	if err != nil {
		return err
	}
	s.store = store
	return nil
}

func (s *Server) setClock(method string, ms int64) (any, error) {
	if s.store.SetClock == nil {
		return nil, errNotOffered(method, "this store follows the wall clock")
	}
	if now := s.store.NowMs(); ms < now {
		return nil, fmt.Errorf("params.now_ms: the clock stands at %d and does not go back to %d", now, ms)
	}
	s.store.SetClock(ms)
	return s.store.NowMs(), nil
}

// Methods are the names of all calls that a server answers, sorted.
func Methods() []string {
	var names []string
	for _, m := range slices.Concat(methods, adminMethods) {
		names = append(names, m.name)
	}
	for _, h := range hooks {
		names = append(names, h.name)
	}
	slices.Sort(names)
	return names
}

// Assign is what jrpc2 finds a method with.
func (s *Server) Assign(_ context.Context, name string) jrpc2.Handler {
	for _, m := range slices.Concat(methods, adminMethods) {
		if m.name == name {
			return func(ctx context.Context, r *jrpc2.Request) (any, error) {
				return answer(m.serve(ctx, s.store.Provider, params(r)))
			}
		}
	}
	for _, h := range hooks {
		if h.name == name {
			return func(_ context.Context, r *jrpc2.Request) (any, error) { return answer(h.serve(s, params(r))) }
		}
	}
	return nil
}

func params(r *jrpc2.Request) []byte {
	var raw json.RawMessage
	_ = r.UnmarshalParams(&raw) // a RawMessage takes anything
	return raw
}

func answer(result any, err error) (any, error) {
	if err != nil {
		return nil, wireError(err)
	}
	return result, nil
}

// Serve answers calls from in to out until in ends, ctx ends, or out cannot be written. Whatever comes in is answered:
// what is no request gets an error too.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.WriteCloser) error {
	if err := s.reset(); err != nil {
		return err
	}
	rpc := jrpc2.NewServer(s, &jrpc2.ServerOptions{Concurrency: 1, DisableBuiltin: true})
	rpc.Start(&inOrder{lines: foreign.NewLines(in, out), answered: make(chan struct{}, 1)})
	stop := context.AfterFunc(ctx, rpc.Stop)
	defer stop()
	return rpc.Wait()
}

// inOrder hands a server the next request when the last one is answered, so that calls take effect in the order in
// which they come, and the end of the input cuts nobody off. What is no single request it answers itself.
type inOrder struct {
	lines    *foreign.Lines
	answered chan struct{}
	waiting  bool
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
			return nil, err
		}
		if err == nil {
			if err = request(line); err == nil {
				c.waiting = true
				return line, nil
			}
		}
		if err := c.refuse(err); err != nil {
			return nil, err
		}
	}
}

// request says why a line is no request that gets an answer.
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

// quote shows the beginning of a line.
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
	c.answered <- struct{}{}
	return err
}

func (c *inOrder) Close() error { return c.lines.Close() }
