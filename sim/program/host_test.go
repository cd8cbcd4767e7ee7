package program

import (
	"errors"
	"fmt"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/orch"
)

// oracleHost carries programs out without an engine: what is scheduled has its result at once, and of a select any branch
// wins. choose decides.
type oracleHost struct {
	set       Set
	instance  string
	execution uint64
	choose    func(n int) int
	// data is what an event has; ActivityPanic what activities may fail with.
	data    []string
	panics  string
	results []func() (string, error)
	// started are the instances that were started detached, with their programs' names and inputs.
	started *[]start
	calls   *int
}

type start struct{ name, instance, input string }

type continued string

// outcome is how an instance ends, with the number of its executions.
func (h *oracleHost) outcome(name, input string) (o Outcome, executions uint64) {
	for h.execution = 1; ; h.execution++ {
		end, next, again := h.run(name, input)
		if !again {
			return end, h.execution
		}
		input = next
	}
}

func (h *oracleHost) run(name, input string) (o Outcome, next string, again bool) {
	h.results = make([]func() (string, error), 1)
	defer func() {
		switch r := recover().(type) {
		case nil:
		case continued:
			next, again = string(r), true
		case string:
			o = Outcome{Text: panicText + r}
		default:
			panic(r)
		}
	}()
	output, err := h.set.Handler(name)(orch.NewContext(h), input)
	if err != nil {
		return Outcome{Text: err.Error()}, "", false
	}
	return Outcome{Completed: true, Text: output}, "", false
}

func (h *oracleHost) Info() orch.Info {
	return orch.Info{Instance: h.instance, ExecutionID: h.execution, Name: "P", Version: Version}
}
func (h *oracleHost) Replaying() bool { return false }
func (h *oracleHost) Trace(string)    {}

func (h *oracleHost) Schedule(a orch.Action) orch.Token {
	if *h.calls++; *h.calls > 100_000 {
		panic("the program does not end")
	}
	value, err := "", error(nil)
	switch a.Kind {
	case orch.ActionActivity:
		for _, known := range Activities() {
			if known.Name == a.Name {
				value, err = known.Run(a.Input)
			}
		}
		if h.panics != "" && h.choose(5) == 1 {
			value, err = "", errors.New(h.panics)
		}
	case orch.ActionWait, orch.ActionWait2:
		value = h.data[h.choose(len(h.data))]
	case orch.ActionSubOrchestration:
		child := *h
		child.instance, child.data = fmt.Sprintf("%s::%d", h.instance, len(h.results)), []string{"calm"}
		end, _ := child.outcome(a.Name, a.Input)
		if value = end.Text; !end.Completed {
			value, err = "", errors.New(end.Text)
		}
	case orch.ActionDetached:
		*h.started = append(*h.started, start{a.Name, a.Instance, a.Input})
		return 0
	}
	return h.add(func() (string, error) { return value, err })
}

func (h *oracleHost) add(f func() (string, error)) orch.Token {
	h.results = append(h.results, f)
	return orch.Token(len(h.results) - 1)
}

// Spawn runs a coroutine when it is first looked at.
func (h *oracleHost) Spawn(fn func(*orch.Context) (string, error)) orch.Token {
	done, value, err := false, "", error(nil)
	return h.add(func() (string, error) {
		if !done {
			done = true
			value, err = fn(orch.NewContext(h))
		}
		return value, err
	})
}

func (h *oracleHost) Await(t orch.Token) (string, error)   { return h.results[t]() }
func (h *oracleHost) Select(ts []orch.Token) int           { return h.choose(len(ts)) }
func (h *oracleHost) Drop(orch.Token)                      {}
func (h *oracleHost) Update(orch.Action)                   {}
func (h *oracleHost) CustomStatus() *string                { return nil }
func (h *oracleHost) KV() []engine.KVEntry                 { return nil }
func (h *oracleHost) PruneKV(uint64) int                   { return 0 }
func (h *oracleHost) ContinueAsNew(_ string, input string) { panic(continued(input)) }
