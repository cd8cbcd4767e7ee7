package main

import (
	"fmt"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/sim/cluster"
)

// work is an activity that a node was handed during a run, and what the node was told and did until it asked for another.
type work struct {
	config cluster.MachineConfig
	nowMs  int64
	given  engine.FetchedWork
	told   []told
	// did are the calls about the activity, its beginning and its abortion, as JSON objects. calls has the ids of the
	// calls, and 0 for the others. job is the activity while it runs.
	did   []string
	calls []machine.CallID
	job   machine.JobID
	// stopped is set when the node has stopped.
	stopped bool
}

// told is an input of the node. If it answers a call about the activity, call is the call's index in work.did, otherwise -1;
// an input that has nothing to do with the activity only lets time pass.
type told struct {
	in   machine.Input
	call int
}

// tell records an input, as a copy, since a run uses inputs again.
func (w *work) tell(in machine.Input) {
	t := told{&machine.Wake{NowMs: nowOf(in)}, -1}
	switch in := in.(type) {
	case *machine.Answer:
		for i, id := range w.calls {
			if id == in.Call && id != 0 {
				answer := *in
				t = told{&answer, i}
			}
		}
	case *machine.Finished:
		if in.Job == w.job {
			finished := *in
			t.in = &finished
		}
	case *machine.Drain:
		t.in = &machine.Drain{NowMs: in.NowMs}
	}
	w.told = append(w.told, t)
}

func nowOf(in machine.Input) int64 {
	switch in := in.(type) {
	case *machine.Start:
		return in.NowMs
	case *machine.Answer:
		return in.NowMs
	case *machine.Wake:
		return in.NowMs
	case *machine.Finished:
		return in.NowMs
	case *machine.Drain:
		return in.NowMs
	}
	panic(fmt.Sprintf("unknown input %T", in))
}

// watch records what a node did, and reports whether it asks for other work.
func (w *work) watch(effects []machine.Effect, nowMs int64) (idle bool) {
	add := func(id machine.CallID, kind string, v any) {
		at := map[string]any{"after_ms": nowMs - w.nowMs, "call": v}
		w.did, w.calls = append(w.did, objectOf(kind, at)), append(w.calls, id)
	}
	for _, e := range effects {
		switch e := e.(type) {
		case *machine.RunActivity:
			w.job = e.Job
			add(0, "activity begins", nil)
		case *machine.Stopped:
			w.stopped = true
		case *machine.CancelJob:
			if e.Job == w.job {
				w.job = 0
				add(0, "activity is aborted", nil)
			}
		case *machine.ProviderCall:
			switch c := e.Request.(type) {
			case call.FetchWorkItem:
				idle = true
			case call.AckWorkItem:
				if c.LockToken == w.given.LockToken {
					kind := "no completion"
					if c.Completion != nil {
						kind = string(c.Completion.Kind())
					}
					add(e.ID, "ack "+kind, c.Completion)
				}
			case call.AbandonWorkItem, call.RenewWorkItemLock:
				if call.LockToken(c) == w.given.LockToken {
					add(e.ID, call.Method(c), c)
				}
			case call.GetKVValue, call.GetKVAllValues:
				add(e.ID, call.Method(c), c)
			case call.Read:
				if c.Instance == w.given.Item.Target() {
					add(e.ID, call.Method(c), c)
				}
			}
		}
	}
	return idle
}

// repeat hands the activity to a new node of another release, or of the same, tells it at the same times what the first one
// was told, and compares what the two did. It returns nil if they did the same, at the same times.
func (w *work) repeat(hosts cluster.Runtimes, other *engine.Build) (*difference, error) {
	c := w.config
	c.Build = other
	m, err := hosts.Start(c)
	if err != nil {
		return nil, err
	}
	defer m.Crash()
	n := &driver{Machine: m, nowMs: w.nowMs}
	n.step(&machine.Start{NowMs: w.nowMs})
	fetch, err := n.await(func(c call.Call) bool { _, ok := c.(call.FetchWorkItem); return ok })
	if err != nil {
		return nil, err
	}
	two := &work{nowMs: w.nowMs, given: w.given}
	two.watch(m.StepInto(&machine.Answer{NowMs: w.nowMs, Call: fetch.ID, Work: &w.given}, nil), w.nowMs)
	for _, t := range w.told {
		if two.stopped {
			break
		}
		in := machine.Input(&machine.Wake{NowMs: nowOf(t.in)})
		switch was := t.in.(type) {
		case *machine.Answer:
			if t.call < len(two.calls) && two.calls[t.call] != 0 {
				answer := *was
				answer.Call = two.calls[t.call]
				in = &answer
			}
		case *machine.Finished:
			if two.job != 0 {
				in = &machine.Finished{NowMs: was.NowMs, Job: two.job, Panic: was.Panic}
				two.job = 0
			}
		case *machine.Drain:
			in = was
		}
		two.watch(m.StepInto(in, nil), nowOf(in))
	}
	item, _ := engine.Known(w.given.Item).(engine.ActivityExecuteItem)
	for i := range max(len(w.did), len(two.did)) {
		if one, other := at(w.did, i), at(two.did, i); one != other {
			return &difference{Instance: item.Instance, Execution: item.ExecutionID, Event: int(item.ID), One: one, Other: other}, nil
		}
	}
	return nil, m.Err()
}

// at returns an element of a list, or "" beyond its end.
func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return ""
}
