package program

import (
	"errors"
	"fmt"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/engine/orchhost"
)

// oracleHost runs programs without an engine. Whatever is scheduled has its result immediately, and any branch of a
// select may win. choose makes the decisions.
type oracleHost struct {
	set       Set
	instance  string
	execution uint64
	choose    func(n int) int
	// data lists what events may carry. ActivityPanic is the text with which activities may fail.
	data    []string
	panics  string
	results []func() (string, error)
	// started lists the instances that were started detached, with the names and inputs of their programs.
	started *[]start
	calls   *int
	// version is the version of this execution, and next is the version of the next one. Empty means any version.
	version, next string
	state         *hostState
	// ids holds the ids of the children started so far.
	ids map[string]bool
}

type start struct{ name, version, instance, input string }

// limit is the failure of an execution that exceeds a limit.
type limit string

type continued string

// outcome returns how an instance ended and how many executions it had.
func (h *oracleHost) outcome(name, input string) (o Outcome, executions uint64) {
	for h.execution = 1; ; h.execution++ {
		end, next, again := h.run(name, input)
		if !again {
			return end, h.execution
		}
		input, h.version = next, h.next
	}
}

func (h *oracleHost) run(name, input string) (o Outcome, next string, again bool) {
	versions := h.set.Versions(name, h.version)
	p := versions[h.choose(len(versions))]
	if h.state == nil {
		h.state = &hostState{}
	}
	h.results = make([]func() (string, error), 1)
	defer func() {
		switch r := recover().(type) {
		case nil:
		case continued:
			next, again = string(r), true
		case limit:
			o = Outcome{Text: string(r)}
		case string:
			o = Outcome{Text: panicText + r}
		default:
			panic(r)
		}
	}()
	output, err := p.Handler()(orch.NewContext(h), input)
	if err != nil {
		return Outcome{Text: err.Error()}, "", false
	}
	return Outcome{Completed: true, Text: output}, "", false
}

func (h *oracleHost) Info() orchhost.Info {
	return orchhost.Info{Instance: h.instance, ExecutionID: h.execution, Name: "P", Version: DefaultVersion}
}
func (h *oracleHost) Replaying() bool { return false }
func (h *oracleHost) Trace(string)    {}

func (h *oracleHost) ScheduleActivity(name, input, session, tag string) orchhost.Token {
	return h.Schedule(orchhost.Action{Kind: orchhost.ActionActivity, Name: name, Input: input, Session: session, Tag: tag})
}

func (h *oracleHost) Schedule(a orchhost.Action) orchhost.Token {
	if *h.calls++; *h.calls > 100_000 {
		panic("the program does not end")
	}
	value, err := "", error(nil)
	switch a.Kind {
	case orchhost.ActionActivity:
		if len(a.Tag) > engine.MaxTagNameBytes {
			panic(limit(fmt.Sprintf("Activity '%s' tag size (%d bytes) exceeds limit (%d bytes)", a.Name, len(a.Tag), engine.MaxTagNameBytes)))
		}
		value, err = h.activity(a)
	case orchhost.ActionWait, orchhost.ActionWait2, orchhost.ActionDequeue:
		value = h.data[h.choose(len(h.data))]
	case orchhost.ActionSubOrchestration:
		value, err = h.child(a)
	case orchhost.ActionDetached:
		*h.started = append(*h.started, start{a.Name, a.Version, a.Instance, a.Input})
		return 0
	}
	return h.add(func() (string, error) { return value, err })
}

func (h *oracleHost) add(f func() (string, error)) orchhost.Token {
	h.results = append(h.results, f)
	return orchhost.Token(len(h.results) - 1)
}

// Spawn runs a coroutine only when its result is first needed.
func (h *oracleHost) Spawn(fn func() (string, error)) orchhost.Token {
	done, value, err := false, "", error(nil)
	return h.add(func() (string, error) {
		if !done {
			done = true
			value, err = fn()
		}
		return value, err
	})
}

func (h *oracleHost) Await(t orchhost.Token) (string, error) { return h.results[t]() }
func (h *oracleHost) Select(ts []orchhost.Token) int         { return h.choose(len(ts)) }
func (h *oracleHost) Drop(orchhost.Token)                    {}
func (h *oracleHost) ContinueAsNew(version, input string) {
	h.next = version
	panic(continued(input))
}

func (h *oracleHost) activity(a orchhost.Action) (value string, err error) {
	if h.panics != "" && h.choose(5) == 1 {
		return "", errors.New(h.panics)
	}
	switch a.Name {
	case orchhost.SystemNewGUID:
		return "00000000-0000-4000-8000-000000000000", nil
	case orchhost.SystemUTCNowMs:
		return "1", nil
	case orchhost.SystemGetKVValue:
		return h.state.read(a.Input)
	}
	for _, known := range Activities() {
		if known.Name == a.Name {
			return known.Run(a.Input)
		}
	}
	return "", fmt.Errorf("no activity %s", a.Name)
}

func (h *oracleHost) child(a orchhost.Action) (string, error) {
	id := a.Instance
	if id == "" {
		id = fmt.Sprintf("%s::%d", h.instance, len(h.results))
	} else if h.ids[id] {
		return "", errors.New("instance already exists: " + id)
	}
	h.ids[id] = true
	child := *h
	child.instance, child.data, child.state, child.version, child.ids = id, []string{"recovery"}, nil, a.Version, map[string]bool{}
	end, _ := child.outcome(a.Name, a.Input)
	if !end.Completed {
		return "", errors.New(end.Text)
	}
	return end.Text, nil
}
