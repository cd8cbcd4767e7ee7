package realnode

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/program"
)

// grace is the time that a graceful stop allows the node's tasks. It is also the releases' default.
const grace = time.Second

// hostMachine is one incarnation of a node, running in its own host.
type hostMachine struct {
	host   *host
	config cluster.MachineConfig
	filter *engine.CapabilityFilter
	err    error

	loops   loops
	held    deliveries
	notes   []machine.Effect               // notes not yet returned by StepInto
	pending map[machine.CallID]pendingCall // never iterated over
	jobs    map[machine.JobID]engine.ActivityExecuteItem
	// taken holds the work that the node has received but not started, in order of receipt.
	taken    []*engine.FetchedWork
	timer    machine.TimerID // timer is the pending timer, or 0 if there is none; timers is the last id assigned
	timers   machine.TimerID
	timerMs  int64
	draining bool
	stopped  bool
	counters machine.Counters
}

// pendingCall is an unanswered provider call.
type pendingCall struct {
	method string
	token  string
	slot   machine.Slot
}

func newMachine(host *host, c cluster.MachineConfig) *hostMachine {
	return &hostMachine{
		host: host, config: c, filter: engine.FilterFor(c.Options.Range(c.Build)),
		loops:   loops{turns: make([]loop, c.Options.OrchestrationConcurrency), activities: make([]loop, c.Options.WorkerConcurrency)},
		held:    deliveries{filter: engine.FilterFor(c.Options.Range(c.Build)), max: c.Options.MaxAttempts, byLock: map[string]*delivery{}},
		pending: map[machine.CallID]pendingCall{}, jobs: map[machine.JobID]engine.ActivityExecuteItem{},
	}
}

// Filter returns the version range from the options as a filter. If the node fetches with a different filter, the
// machine fails.
func (m *hostMachine) Filter() *engine.CapabilityFilter { return m.filter }

// Counters returns the counts that can be derived from the node's calls. They exclude decisions internal to the
// runtime.
func (m *hostMachine) Counters() machine.Counters { return m.counters }

// Err returns the error that stopped the machine, or nil.
func (m *hostMachine) Err() error { return m.err }

// Crash kills the node's process.
func (m *hostMachine) Crash() {
	_ = m.host.close() // if the host exited on its own, Err reports that
}

// StepInto applies one input and appends the resulting effects to effects. Once the machine has failed, it does
// nothing.
func (m *hostMachine) StepInto(in machine.Input, effects []machine.Effect) []machine.Effect {
	if m.err != nil {
		return effects
	}
	var did report
	did, m.err = m.apply(in)
	if m.err == nil {
		effects, m.err = m.carryOver(&did, m.noted(effects))
	}
	return effects
}

// apply passes an input to the host and lets the node run. It ignores an answer to a call for which the node no longer
// waits.
func (m *hostMachine) apply(in machine.Input) (report, error) {
	switch in := in.(type) {
	case *machine.Start:
		start := command{Command: "start", startCommand: startOf(&m.config, in.NowMs)}
		if err := m.host.do(start, nil); err != nil {
			return report{}, err
		}
		return m.run(runCommand{UntilMs: in.NowMs})
	case *machine.Wake:
		m.timer = 0
		return m.run(runCommand{UntilMs: in.NowMs})
	case *machine.Answer:
		return m.answer(in)
	case *machine.Finished:
		item, ok := m.jobs[in.Job]
		if !ok {
			return report{}, fmt.Errorf("finish of job %d, which was never begun", in.Job)
		}
		delete(m.jobs, in.Job)
		return m.run(runCommand{UntilMs: in.NowMs, Call: uint64(in.Job), Answer: outcome(item, in.Panic)})
	case *machine.Drain:
		m.draining = true
		stop := command{Command: "shutdown", shutdownCommand: &shutdownCommand{grace.Milliseconds()}}
		if err := m.host.do(stop, nil); err != nil {
			return report{}, err
		}
		return m.run(runCommand{UntilMs: in.NowMs})
	}
	return report{}, fmt.Errorf("unknown input %T", in)
}

func (m *hostMachine) run(c runCommand) (did report, err error) {
	return did, m.host.do(command{Command: "run", runCommand: &c}, &did)
}

// outcome runs an activity of a program and returns the answer. If panics is not empty, the activity panics with that
// text instead.
func outcome(item engine.ActivityExecuteItem, panics string) *answer {
	if panics != "" {
		return &answer{Panic: &panics}
	}
	for _, a := range program.Activities() {
		if a.Name != item.Name {
			continue
		}
		value, err := a.Run(item.Input)
		if err != nil {
			message := err.Error()
			return &answer{Failure: &message}
		}
		text, _ := json.Marshal(value) // marshalling a string never fails
		return &answer{Result: text}
	}
	message := "no activity " + item.Name
	return &answer{Failure: &message}
}

func (m *hostMachine) answer(in *machine.Answer) (report, error) {
	p, ok := m.pending[in.Call]
	if !ok { // the node no longer waits for the answer
		return m.run(runCommand{UntilMs: in.NowMs})
	}
	delete(m.pending, in.Call)
	m.count(p, in)
	a := &answer{}
	token := ""
	switch {
	case in.Err != nil:
		a.Error = &failedCall{call.ErrorOf(in.Err), p.method}
		var of *engine.ProviderError
		if errors.As(in.Err, &of) {
			a.Error.Operation = of.Operation
		}
	default:
		result, err := call.EncodeResult(p.method, call.Answer{
			Orchestration: in.Orchestration, Work: in.Work, Count: in.Count, Value: in.Value, Events: in.Events,
		})
		if err != nil {
			return report{}, fmt.Errorf("%s: %w", p.method, err)
		}
		a.Result = result
		if in.Orchestration != nil {
			token = in.Orchestration.LockToken
		} else if in.Work != nil {
			m.taken, token = append(m.taken, in.Work), in.Work.LockToken
		}
	}
	m.loops.answered(p, token, in.Err)
	m.held.given(p.slot, in)
	m.notes = append(m.notes, m.held.answered(p.method, p.token, in.Err)...)
	return m.run(runCommand{UntilMs: in.NowMs, Call: uint64(in.Call), Answer: a})
}

func (m *hostMachine) noted(effects []machine.Effect) []machine.Effect {
	effects = append(effects, m.notes...)
	m.notes = m.notes[:0]
	return effects
}

func (m *hostMachine) carryOver(did *report, effects []machine.Effect) ([]machine.Effect, error) {
	for i := range did.Log {
		effects = append(effects, did.Log[i].log())
	}
	for _, id := range did.Dropped {
		if _, job := m.jobs[machine.JobID(id)]; job {
			delete(m.jobs, machine.JobID(id))
			effects = append(effects, &machine.CancelJob{Job: machine.JobID(id)})
			continue
		}
		if p, ok := m.pending[machine.CallID(id)]; ok {
			delete(m.pending, machine.CallID(id))
			m.loops.answered(p, "", nil)
			effects = append(effects, &machine.CancelCall{ID: machine.CallID(id)})
		}
	}
	for i := range did.Calls {
		c, err := m.made(&did.Calls[i])
		if err != nil {
			return effects, err
		}
		effects = append(m.noted(effects), c)
	}
	if did.Stopped {
		if m.stopped {
			return effects, errors.New("host: the node continued after it had stopped")
		}
		m.stopped = true
		return append(m.cancelTimer(effects), &machine.Stopped{}), nil
	}
	return m.arm(did, effects), nil
}

// arm sets a timer for the time at which the node's next timer is due.
func (m *hostMachine) arm(did *report, effects []machine.Effect) []machine.Effect {
	if did.NextMs == nil {
		return m.cancelTimer(effects)
	}
	if m.timer != 0 && m.timerMs == *did.NextMs {
		return effects
	}
	effects = m.cancelTimer(effects)
	m.timers++
	m.timer, m.timerMs = m.timers, *did.NextMs
	after := time.Duration(max(m.timerMs-did.NowMs, 0)) * time.Millisecond
	return append(effects, &machine.SetTimer{Timer: m.timer, After: after, Purpose: "the runtime's next timer"})
}

func (m *hostMachine) cancelTimer(effects []machine.Effect) []machine.Effect {
	if m.timer == 0 {
		return effects
	}
	c := &machine.CancelTimer{Timer: m.timer}
	m.timer = 0
	return append(effects, c)
}

// activity holds the params of a run_activity call.
type activity struct {
	Instance    string `json:"instance"`
	ExecutionID uint64 `json:"execution_id"`
	ID          uint64 `json:"id"`
	Name        string `json:"name"`
}

func (m *hostMachine) made(c *madeCall) (machine.Effect, error) {
	if c.Method == "run_activity" {
		return m.begun(c)
	}
	request, err := call.DecodeCall(c.Method, c.Params)
	if err != nil {
		return nil, fmt.Errorf("host: call %s: %w", c.Method, err)
	}
	// A runtime writes the same fields in another order, which package call would preserve unnecessarily.
	request = call.WithContents(request, func(e engine.Event) engine.Event { e.Data = eventdata.Known(e.Data); return e }, engine.Known)
	out := &machine.ProviderCall{ID: machine.CallID(c.ID), Request: request, Deadline: m.config.Options.CallDeadline}
	p := pendingCall{method: c.Method}
	switch r := request.(type) {
	case call.FetchOrchestrationItem:
		if r.Filter == nil || r.Filter.String() != m.filter.String() {
			return nil, fmt.Errorf("host: the node fetches with filter %v; want %v, which its options say", r.Filter, m.filter)
		}
		r.Filter = m.filter // lets all of the node's fetches share one waiter
		out.Request = r
		out.Deadline, out.Cadence = 0, m.config.Options.DispatcherMinPollInterval
		p.slot = m.loops.fetch(machine.SlotOrchestration)
	case call.FetchWorkItem:
		out.Deadline, out.Cadence = 0, m.config.Options.DispatcherMinPollInterval
		p.slot = m.loops.fetch(machine.SlotWorker)
	default:
		p.token = call.LockToken(request)
		p.slot = m.loops.holder(p.token)
		m.taken = slices.DeleteFunc(m.taken, func(w *engine.FetchedWork) bool { return w.LockToken == p.token && p.method != "renew_work_item_lock" })
	}
	m.notes = append(m.notes, m.held.asked(request, m.draining)...)
	out.Slot = p.slot
	m.pending[out.ID] = p
	return out, nil
}

// begun returns the effect that runs an activity: the first one in taken that matches the runtime's parameters.
func (m *hostMachine) begun(c *madeCall) (machine.Effect, error) {
	var a activity
	if err := json.Unmarshal(c.Params, &a); err != nil {
		return nil, fmt.Errorf("host: run_activity: %w", err)
	}
	for i, work := range m.taken {
		item, ok := engine.Known(work.Item).(engine.ActivityExecuteItem)
		if !ok || item.Instance != a.Instance || item.ExecutionID != a.ExecutionID || item.ID != a.ID {
			continue
		}
		m.taken = slices.Delete(m.taken, i, i+1)
		m.jobs[machine.JobID(c.ID)] = item
		m.counters.Activities++
		if held := m.held.byLock[work.LockToken]; held != nil {
			m.notes = append(m.notes, held.note(machine.DecideWorkRun, "")...)
		}
		return &machine.RunActivity{
			Job: machine.JobID(c.ID), Slot: m.loops.holder(work.LockToken), Item: item, AttemptCount: work.AttemptCount,
			LockTimeout: m.config.Options.WorkerLockTimeout,
		}, nil
	}
	return nil, fmt.Errorf("host: activity %d (%s) of %s, execution %d, began without having been given to the node", a.ID, a.Name, a.Instance, a.ExecutionID)
}
