package oracle

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/properties/internal/unfinished"
)

// LogEntry is one line of a log: a call that returned. Its JSON form is
//
//	{"at_ms": …, "method": …, "params": …, "result": …}
//
// in the forms that docs/oracle-protocol.md defines. A failed call has "error" instead of "result"; a call without an
// answer has "lost": true. at_ms may be a pair of times between which the call took effect.
type LogEntry struct {
	// Began and Ended number the starts and ends of all calls in the log, so they show which calls overlapped. If they
	// are zero or missing, the calls were made one after another.
	Began uint64
	Ended uint64
	Exchange
}

type entryLine struct {
	Began  uint64          `json:"began,omitempty"`
	Ended  uint64          `json:"ended,omitempty"`
	At     Span            `json:"at_ms"`
	Build  string          `json:"build,omitempty"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *call.Error     `json:"error,omitempty"`
	Lost   bool            `json:"lost,omitempty"`
}

// MarshalJSON encodes a line. It fails for work items and events that have no JSON form.
func (e LogEntry) MarshalJSON() ([]byte, error) {
	if e.Call == nil {
		return nil, errors.New("an entry without a call")
	}
	params, err := call.EncodeCall(e.Call)
	if err != nil {
		return nil, err
	}
	line := entryLine{Began: e.Began, Ended: e.Ended, At: e.At, Build: e.Build, Method: call.Method(e.Call), Params: params, Lost: e.Lost}
	switch {
	case e.Lost:
	case e.Answer.Err != nil:
		line.Error = call.ErrorOf(e.Answer.Err)
	default:
		if line.Result, err = call.EncodeResult(line.Method, e.Answer); err != nil {
			return nil, err
		}
	}
	return json.Marshal(line)
}

// UnmarshalJSON decodes what MarshalJSON encodes. It rejects unknown methods, parameters and fields.
func (e *LogEntry) UnmarshalJSON(data []byte) error {
	var line entryLine
	if err := call.Decode(data, &line, "entry", true); err != nil {
		return err
	}
	if line.At.Lo < 0 {
		return fmt.Errorf("at_ms: want a time that is not negative, got %d", line.At.Lo)
	}
	c, err := call.DecodeCall(line.Method, line.Params)
	if err != nil {
		return fmt.Errorf("%s: %w", line.Method, err)
	}
	answers := 0
	for _, given := range []bool{line.Result != nil, line.Error != nil, line.Lost} {
		if given {
			answers++
		}
	}
	if answers != 1 {
		return fmt.Errorf("%s: want one of result, error and lost, got %d of them", line.Method, answers)
	}
	*e = LogEntry{Began: line.Began, Ended: line.Ended, Exchange: Exchange{Build: line.Build, Call: c, Lost: line.Lost, At: line.At}}
	switch {
	case line.Error != nil:
		e.Answer.Err = line.Error.Provider(line.Method)
	case line.Result != nil:
		if e.Answer, err = call.DecodeResult(line.Method, line.Result); err != nil {
			return fmt.Errorf("%s: %w", line.Method, err)
		}
	}
	return nil
}

// Recorder is a provider that logs its calls, one JSON object per line, in the order in which they return. It is safe
// for concurrent use if the wrapped provider is.
type Recorder struct {
	engine.Provider

	mu     sync.Mutex
	number uint64
	write  *json.Encoder
	err    error
}

// Record wraps a provider so that every call, including management calls, is written to w with its answer. nowMs
// returns the store's time in milliseconds, which must never go back. The store must be empty when the log begins. A
// method that p has only because it embeds a nil interface answers engine.ErrUnsupported.
func Record(p engine.Provider, nowMs func() int64, w io.Writer) *Recorder {
	r := &Recorder{write: json.NewEncoder(w)}
	p, _ = unfinished.Provider(p, func(call.Call) bool { return false })
	r.Provider = call.Through(p.Name(), p.Version(), p.Admin() != nil, func(ctx context.Context, c call.Call) call.Answer {
		number, began := r.begin(), nowMs()
		a := call.Perform(ctx, p, c)
		r.end(number, Exchange{Call: c, Answer: a, At: Between(began, nowMs())})
		return a
	})
	return r
}

func (r *Recorder) begin() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.number++
	return r.number
}

func (r *Recorder) end(began uint64, e Exchange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.number++
	if err := r.write.Encode(LogEntry{began, r.number, e}); err != nil && r.err == nil {
		r.err = fmt.Errorf("call %d is not in the log: %w", began, err)
	}
}

// Err returns the first error from writing the log, such as a work item without a JSON form.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// LogError describes the first line of a log that is wrong or cannot be judged.
type LogError struct {
	Line int
	// Refusal says why the contract forbids the answer. It is nil if the line cannot be judged.
	Refusal *Refusal
	// Err says why the line cannot be judged.
	Err error
}

// Error returns the line and the reason.
func (e *LogError) Error() string {
	if e.Refusal != nil {
		return fmt.Sprintf("line %d: %s", e.Line, e.Refusal.Error())
	}
	return fmt.Sprintf("line %d: %v", e.Line, e.Err)
}

// Unwrap returns Err.
func (e *LogError) Unwrap() error { return e.Err }

// maxLine limits how long a line of a log may be.
const maxLine = 64 << 20

// CheckLog judges a log that Record wrote, skipping empty lines and calls of methods that the provider does not have
// (engine.ErrUnsupported). It returns the number of calls that it judged. It stops with an *LogError
// at the first line that has an answer the contract does not allow, or that cannot be judged. A line cannot be judged
// if it is not an entry, or if its call overlaps the previous one, since the order of the two is then unknown.
func CheckLog(r io.Reader, o Options) (calls int, err error) {
	o.Deny = append(slices.Clone(o.Deny), f5Contention) // there is one caller at a time
	judge := New(o)
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	var ended uint64
	line := 0
	for lines.Scan() {
		line++
		if len(lines.Bytes()) == 0 {
			continue
		}
		var e LogEntry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return calls, &LogError{Line: line, Err: fmt.Errorf("not an entry of a log: %w", err)}
		}
		if e.Began < ended {
			return calls, &LogError{Line: line, Err: fmt.Errorf("the call began before the one above it ended: their order is unknown, a log must have one caller at a time")}
		}
		ended = e.Ended
		if errors.Is(e.Answer.Err, engine.ErrUnsupported) {
			continue
		}
		if refusal := judge.Apply(e.Exchange); refusal != nil {
			return calls, &LogError{Line: line, Refusal: refusal}
		}
		calls++
	}
	if err := lines.Err(); err != nil {
		return calls, &LogError{Line: line + 1, Err: err}
	}
	return calls, nil
}
