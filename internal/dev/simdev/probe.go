package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/program"
)

// probe asks nodes of one release what they do, and counts what they write. It starts nodes for a cluster, too, and counts
// what those write.
type probe struct {
	cluster.Runtimes
	build   *engine.Build
	written map[string]int // by the names that count gives
}

// scene is what one node of a release is given: a program, the history that an instance has, and its batches, one a turn.
type scene struct {
	program  string // one statement a line
	size     int    // if not zero, that of the first statement, however great
	instance string // x if empty
	// execution is the execution that the history is of; 1 if zero.
	execution uint64
	history   []engine.Event
	batches   [][]engine.WorkItem
	attempt   uint32 // how often each batch has been delivered; 1 if zero
	// work is an activity that the node is given instead of turns.
	work engine.WorkItem
}

// turn is what a node did with a batch: one of the two.
type turn struct {
	ack     *call.AckOrchestrationItem
	abandon *call.AbandonOrchestrationItem
}

// programName is the name of the program of a scene.
const programName = "Probe"

// allKinds reads and writes everything that any build knows.
var allKinds = engine.NewJSONCodec("facts", engine.Kinds2x(), engine.WorkItemKinds2x())

// Start implements cluster.Runtimes.
func (p *probe) Start(c cluster.MachineConfig) (cluster.Machine, error) {
	m, err := p.Runtimes.Start(c)
	return &counted{m, p}, err
}

// counted is a machine whose calls a probe counts.
type counted struct {
	cluster.Machine
	probe *probe
}

// StepInto implements cluster.Machine.
func (m *counted) StepInto(in machine.Input, effects []machine.Effect) []machine.Effect {
	before := len(effects)
	effects = m.Machine.StepInto(in, effects)
	for _, e := range effects[before:] {
		c, ok := e.(*machine.ProviderCall)
		if !ok {
			continue
		}
		switch r := c.Request.(type) {
		case call.AckOrchestrationItem:
			for _, e := range r.HistoryDelta {
				text, err := allKinds.AppendEvent(nil, e)
				m.probe.count(string(e.Kind()), text, err)
			}
			for _, w := range slices.Concat(r.WorkerItems, r.OrchestratorItems) {
				m.probe.countItem(w)
			}
		case call.AckWorkItem:
			if r.Completion != nil {
				m.probe.countItem(r.Completion)
			}
		case call.EnqueueForOrchestrator:
			m.probe.countItem(r.Item)
		}
	}
	return effects
}

func (p *probe) countItem(w engine.WorkItem) {
	text, err := allKinds.AppendWorkItem(nil, w)
	var tagged map[string]json.RawMessage
	if err == nil {
		err = json.Unmarshal(text, &tagged)
	}
	p.count("item "+string(w.Kind()), tagged[string(w.Kind())], err)
}

// count counts a kind ("TimerFired", "item TimerFired"), and those of its fields that are not null ("TimerFired.fire_at_ms").
func (p *probe) count(kind string, text []byte, err error) {
	p.written[kind]++
	for name := range fieldsOf(text, err) {
		p.written[kind+"."+name]++
	}
}

// fieldsOf returns the fields of an object that are not null, or none if there is an error.
func fieldsOf(text []byte, err error) map[string]any {
	var fields map[string]any
	if err != nil || json.Unmarshal(text, &fields) != nil {
		return nil
	}
	maps.DeleteFunc(fields, func(_ string, value any) bool { return value == nil })
	return fields
}

// play gives a scene to a node of the release, and returns what it did with each batch. Acks succeed, and their events
// belong to the history from then on.
func (p *probe) play(s scene) (_ []turn, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%+v: %w", s, err)
		}
	}()
	parser := program.NewParser(programName, "")
	for line := range strings.Lines(s.program) {
		if _, err := parser.Line(strings.Fields(line)); err != nil {
			return nil, err
		}
	}
	body := parser.Program()
	if s.size > 0 {
		body.Body[0].Size = s.size
	}
	options := node.DefaultOptions()
	options.OrchestrationConcurrency, options.WorkerConcurrency = 1, 1
	options.WorkerTagFilter = engine.TagFilter{Mode: engine.TagAny}
	options.SupportedReplayVersions = &engine.VersionRange{Max: engine.V(999, 0, 0)}
	m, err := p.Start(cluster.MachineConfig{Name: "A", Build: p.build, Options: options, Programs: program.Set{body}, Seed: 1})
	if err != nil {
		return nil, err
	}
	defer m.Crash()
	d := &driver{Machine: m, nowMs: 1000}
	d.step(&machine.Start{NowMs: d.nowMs})
	item := engine.OrchestrationItem{
		Instance: s.instance, OrchestrationName: programName, ExecutionID: max(s.execution, engine.InitialExecutionID),
		Version: program.DefaultVersion, History: slices.Clone(s.history),
	}
	if item.Instance == "" {
		item.Instance = "x"
	}
	if s.work != nil {
		return nil, d.works(s.work)
	}
	var out []turn
	for i, batch := range s.batches {
		item.Messages = batch
		id, err := d.await(func(c call.Call) bool { _, ok := c.(call.FetchOrchestrationItem); return ok })
		if err != nil {
			return nil, err
		}
		d.step(&machine.Answer{NowMs: d.nowMs, Call: id.ID, Orchestration: &engine.FetchedOrchestration{Item: item, LockToken: fmt.Sprintf("turn-%d", i+1), AttemptCount: max(s.attempt, 1)}})
		var t turn
		id, err = d.await(func(c call.Call) bool {
			switch c := c.(type) {
			case call.AckOrchestrationItem:
				t.ack = &c
			case call.AbandonOrchestrationItem:
				t.abandon = &c
			}
			return t.ack != nil || t.abandon != nil
		})
		if err != nil {
			return nil, err
		}
		out = append(out, t)
		d.step(&machine.Answer{NowMs: d.nowMs, Call: id.ID})
		if t.ack != nil {
			item.History = slices.Concat(item.History, t.ack.HistoryDelta)
		}
	}
	return out, m.Err()
}

// filter returns the filter with which a node of the release fetches if its options set no range.
func (p *probe) filter() (string, error) {
	options := node.DefaultOptions()
	m, err := p.Start(cluster.MachineConfig{Name: "A", Build: p.build, Options: options, Seed: 1})
	if err != nil {
		return "", err
	}
	defer m.Crash()
	d := &driver{Machine: m, nowMs: 1000}
	d.step(&machine.Start{NowMs: d.nowMs})
	fetch, err := d.await(func(c call.Call) bool { _, ok := c.(call.FetchOrchestrationItem); return ok })
	if err != nil {
		return err.Error(), nil // it says with which filter the node fetches instead
	}
	return fetch.Request.(call.FetchOrchestrationItem).Filter.String(), nil
}

// driver makes a node's calls wait until somebody awaits them, and lets its time pass.
type driver struct {
	cluster.Machine
	nowMs   int64
	pending []*machine.ProviderCall
	timer   *machine.SetTimer
	jobs    []machine.JobID
	parent  []engine.Event // what reads of histories return
}

func (d *driver) step(in machine.Input) {
	for _, e := range d.StepInto(in, nil) {
		switch e := e.(type) {
		case *machine.ProviderCall:
			d.pending = append(d.pending, e)
		case *machine.SetTimer:
			d.timer = e
		case *machine.CancelTimer:
			d.timer = nil
		case *machine.RunActivity:
			d.jobs = append(d.jobs, e.Job)
		}
	}
}

// await returns the first call that is wanted, of those that the node has made and will make; meanwhile its time passes.
func (d *driver) await(wanted func(call.Call) bool) (*machine.ProviderCall, error) {
	for range 100 {
		if i := slices.IndexFunc(d.pending, func(c *machine.ProviderCall) bool { return wanted(c.Request) }); i >= 0 {
			found := d.pending[i]
			d.pending = slices.Delete(d.pending, i, i+1)
			return found, nil
		}
		if len(d.jobs) > 0 {
			job := d.jobs[0]
			d.jobs = d.jobs[1:]
			d.step(&machine.Finished{NowMs: d.nowMs, Job: job})
			continue
		}
		if i := slices.IndexFunc(d.pending, aside); i >= 0 {
			c := d.pending[i]
			d.pending = slices.Delete(d.pending, i, i+1)
			d.step(&machine.Answer{NowMs: d.nowMs, Call: c.ID, Events: d.parent})
			continue
		}
		switch {
		case d.Err() != nil:
			return nil, d.Err()
		case d.timer == nil:
			return nil, fmt.Errorf("the node waits for ever")
		}
		timer := d.timer
		d.timer, d.nowMs = nil, d.nowMs+timer.After.Milliseconds()
		d.step(&machine.Wake{NowMs: d.nowMs, Timer: timer.Timer})
	}
	return nil, errNoCall
}

// errNoCall is the error of a node that does other things than what is awaited.
var errNoCall = errors.New("the node does not make the call")

// aside reports whether a call is answered at once: reads of histories, and renewals.
func aside(c *machine.ProviderCall) bool {
	switch c.Request.(type) {
	case call.Read, call.ReadWithExecution, call.RenewOrchestrationItemLock, call.RenewWorkItemLock, call.RenewSessionLock, call.CleanupOrphanedSessions:
		return true
	}
	return false
}

// works gives an activity to the node, which runs it and acknowledges it. An activity that the node cannot read is an error.
func (d *driver) works(w engine.WorkItem) error {
	fetch, err := d.await(func(c call.Call) bool { _, ok := c.(call.FetchWorkItem); return ok })
	if err != nil {
		return err
	}
	d.step(&machine.Answer{NowMs: d.nowMs, Call: fetch.ID, Work: &engine.FetchedWork{Item: w, LockToken: "work", AttemptCount: 1}})
	_, err = d.await(func(c call.Call) bool { _, ok := c.(call.AckWorkItem); return ok })
	return err
}
