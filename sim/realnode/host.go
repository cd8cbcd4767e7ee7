package realnode

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/internal/foreign"
	"github.com/durosim/durosim/internal/pretty"
)

// protocol is the version of the command protocol.
const protocol = 4

// host is a running host program.
type host struct {
	process  *foreign.Process
	lines    chan received
	patience time.Duration
	last     string // the last command sent
}

// received is a line from a host, or the error that ended the host's output.
type received struct {
	line []byte
	err  error
}

// startHost starts a host program and checks its description: it must contain that version of duroxide. patience is the
// time limit for an answer.
func startHost(program, version string, patience time.Duration) (*host, error) {
	process, err := foreign.Start(program)
	if err != nil {
		return nil, err
	}
	h := &host{process: process, lines: make(chan received, 1), patience: patience}
	go func() {
		for {
			line, err := process.Recv()
			h.lines <- received{line, err}
			if err != nil {
				return
			}
		}
	}()
	var is struct {
		Protocol int    `json:"protocol"`
		Release  string `json:"release"`
	}
	err = h.do(command{Command: "describe"}, &is)
	if err == nil && (is.Protocol != protocol || is.Release != version) {
		err = fmt.Errorf("%s: want a host for duroxide %s with protocol %d, got %s with %d: rebuild it", program, version, protocol, is.Release, is.Protocol)
	}
	if err != nil {
		_ = h.close() // the first error is the one to report
		return nil, err
	}
	return h, nil
}

// command is a line sent to a host.
type command struct {
	Command string `json:"command"`
	*startCommand
	*runCommand
	*shutdownCommand
}

type runCommand struct {
	UntilMs int64   `json:"until_ms"`
	Call    uint64  `json:"call,omitempty"`
	Answer  *answer `json:"answer,omitempty"`
}

type shutdownCommand struct {
	GraceMs int64 `json:"grace_ms"`
}

// answer is the outcome of a node's call.
type answer struct {
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *failedCall     `json:"error,omitempty"`
	Failure *string         `json:"failure,omitempty"`
	Panic   *string         `json:"panic,omitempty"`
}

type failedCall struct {
	*call.Error
	Operation string `json:"operation"`
}

// report describes what a node did during a run command.
type report struct {
	NowMs   int64      `json:"now_ms"`
	NextMs  *int64     `json:"next_ms"`
	Calls   []madeCall `json:"calls"`
	Dropped []uint64   `json:"dropped"`
	Log     []logLine  `json:"log"`
	Stopped bool       `json:"stopped"`
}

type madeCall struct {
	ID     uint64          `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

type logLine struct {
	Level  string         `json:"level"`
	Target string         `json:"target"`
	Fields map[string]any `json:"fields"`
}

// do sends a command to the host and decodes the answer into the value pointed to by into, if into is not nil. If the
// host caused the error, the error describes the host's state.
func (h *host) do(c command, into any) error {
	line, err := json.Marshal(c)
	if err != nil {
		return err
	}
	h.last = c.Command
	sent := h.process.Send(line) // if the host has ended, the code below reports it
	patience := time.NewTimer(h.patience)
	defer patience.Stop()
	var got received
	select {
	case got = <-h.lines:
	case <-patience.C:
		return h.broken(fmt.Sprintf("no answer within %v", h.patience))
	}
	switch {
	case errors.Is(got.err, io.EOF):
		return h.broken("it closed its standard output")
	case got.err != nil:
		return h.broken(got.err.Error())
	case sent != nil:
		return h.broken("it does not accept commands: " + sent.Error())
	}
	var refusal struct {
		Error *string `json:"error"`
	}
	if err := json.Unmarshal(got.line, &refusal); err != nil {
		return h.broken("an answer that is not a JSON object: " + pretty.Cut(string(got.line), 200))
	}
	if refusal.Error != nil {
		return h.broken(*refusal.Error)
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(got.line, into); err != nil {
		return h.broken(fmt.Sprintf("an invalid answer (%v): %s", err, pretty.Cut(string(got.line), 200)))
	}
	return nil
}

// lastWords is the maximum time that a failed host may take to exit.
const lastWords = 500 * time.Millisecond

func (h *host) broken(reason string) error {
	return fmt.Errorf("host: %s: %s; %s", h.last, reason, h.process.Describe(lastWords))
}

func (h *host) close() error { return h.process.Stop(0) }
