package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/sim/cluster"
)

// delivery is a batch that a node was handed during a run, and what it did with it.
type delivery struct {
	config cluster.MachineConfig
	nowMs  int64
	given  engine.FetchedOrchestration
	// parent is the latest history of the instance's parent, as the node has read it or, if it has not, at the delivery. It
	// is all that a release reads besides what it is handed. before is the parent's last turn on the node that scheduled an
	// activity or a timer, or nil: 0.1.26 remembers its execution.
	parent    []engine.Event
	before    *delivery
	decisions []decision
	// answers are the errors of these calls, or nil. The last call has none if the node died.
	answers []error
}

// decision is a call that a turn ends with, in parts, each a list of JSON objects: the call itself, events, work items,
// messages and cancelled activities.
type decision [5][]string

// recorder starts nodes, and keeps what they are handed and what they do with it.
type recorder struct {
	cluster.Runtimes
	store      func() memprovider.View
	deliveries []*delivery
	works      []*work
}

// Start implements cluster.Runtimes. A node has one slot of each kind, so that what it does belongs to one delivery.
func (r *recorder) Start(c cluster.MachineConfig) (cluster.Machine, error) {
	c.Options.OrchestrationConcurrency, c.Options.WorkerConcurrency = min(c.Options.OrchestrationConcurrency, 1), min(c.Options.WorkerConcurrency, 1)
	m, err := r.Runtimes.Start(c)
	return &recorded{Machine: m, recorder: r, config: c, open: map[string]*delivery{}, asked: map[machine.CallID]*delivery{}, reads: map[machine.CallID]*delivery{}, of: map[string]*delivery{}}, err
}

// recorded is a machine that a recorder watches.
type recorded struct {
	cluster.Machine
	recorder *recorder
	config   cluster.MachineConfig
	open     map[string]*delivery // by lock token; never iterated over, like the other maps
	asked    map[machine.CallID]*delivery
	reads    map[machine.CallID]*delivery
	of       map[string]*delivery // by instance, the last that scheduled an activity or a timer
	last     *delivery
	work     *work // the activity that the node's only worker has
	draining bool
}

// StepInto implements cluster.Machine. What a node is handed while it stops is not recorded, since it gives that back.
func (m *recorded) StepInto(in machine.Input, effects []machine.Effect) []machine.Effect {
	if m.work != nil {
		m.work.tell(in)
	}
	switch in := in.(type) {
	case *machine.Drain:
		m.draining = true
	case *machine.Answer:
		if d := m.asked[in.Call]; d != nil {
			delete(m.asked, in.Call)
			d.answers = append(d.answers, in.Err)
		}
		if d := m.reads[in.Call]; d != nil && in.Err == nil {
			d.parent = in.Events
		}
		if o := in.Orchestration; o != nil && !m.draining {
			parent := parentOf(&o.Item)
			d := &delivery{config: m.config, nowMs: in.NowMs, given: *o, parent: latest(m.recorder.store(), parent), before: m.of[parent]}
			m.open[o.LockToken], m.last = d, d
			m.recorder.deliveries = append(m.recorder.deliveries, d)
		}
		if in.Work != nil && !m.draining {
			m.work = &work{config: m.config, nowMs: in.NowMs, given: *in.Work}
			m.recorder.works = append(m.recorder.works, m.work)
		}
	}
	before := len(effects)
	effects = m.Machine.StepInto(in, effects)
	if m.work != nil && m.work.watch(effects[before:], nowOf(in)) {
		m.work = nil
	}
	for _, e := range effects[before:] {
		c, ok := e.(*machine.ProviderCall)
		if !ok {
			continue
		}
		if r, ok := c.Request.(call.Read); ok && m.last != nil && r.Instance == parentOf(&m.last.given.Item) {
			m.reads[c.ID] = m.last
		}
		if d := m.open[call.LockToken(c.Request)]; d != nil && decides(c.Request) {
			d.decisions = append(d.decisions, decisionOf(c.Request))
			m.asked[c.ID] = d
			if ack, ok := c.Request.(call.AckOrchestrationItem); ok && slices.ContainsFunc(ack.HistoryDelta, schedules) {
				m.of[d.given.Item.Instance] = d
			}
		}
	}
	return effects
}

func schedules(e engine.Event) bool {
	return e.Kind() == eventdata.KindActivityScheduled || e.Kind() == eventdata.KindTimerCreated
}

// parentOf returns the parent of an item's instance, by its history or else its start, or "".
func parentOf(item *engine.OrchestrationItem) string {
	for _, e := range item.History {
		if s, ok := e.Data.(eventdata.OrchestrationStarted); ok {
			return s.ParentInstance
		}
	}
	for _, w := range item.Messages {
		switch w := engine.Known(w).(type) {
		case engine.StartItem:
			return w.ParentInstance
		case engine.ContinueAsNewItem:
			return w.ParentInstance
		}
	}
	return ""
}

// latest returns the history of an instance's latest execution, or nil.
func latest(store memprovider.View, instance string) (history []engine.Event) {
	for execution := engine.InitialExecutionID; instance != ""; execution++ {
		next, err := store.PeekHistory(instance, execution, allKinds)
		if err != nil || len(next) == 0 {
			return history
		}
		history = next
	}
	return history
}

// decides reports whether a turn ends with the call.
func decides(c call.Call) bool {
	switch c.(type) {
	case call.AckOrchestrationItem, call.AbandonOrchestrationItem:
		return true
	}
	return false
}

// decisionOf returns a call in a form suitable for comparison: without the version of the release, the time of events, which
// is later after a failed ack, and their instance and execution, which 0.1.26 leaves out of failures. What a release cancels
// or clears together has no order, since two nodes of one release walk their hash tables in two.
func decisionOf(c call.Call) (d decision) {
	switch c := c.(type) {
	case call.AbandonOrchestrationItem:
		d[0] = []string{objectOf("abandon", c, "lock_token")}
	case call.AckOrchestrationItem:
		d[0] = []string{objectOf("ack", struct {
			ExecutionID uint64                   `json:"execution_id"`
			Metadata    engine.ExecutionMetadata `json:"metadata"`
		}{c.ExecutionID, withoutPin(c.Metadata)})}
		for _, e := range c.HistoryDelta {
			text, err := allKinds.AppendEvent(nil, e)
			if err != nil {
				panic(err)
			}
			d[1] = append(d[1], objectOf(string(e.Kind()), json.RawMessage(text), "duroxide_version", "timestamp_ms", "instance_id", "execution_id"))
		}
		unordered(d[1], c.HistoryDelta)
		for _, w := range c.WorkerItems {
			d[2] = append(d[2], objectOf("work "+string(w.Kind()), engine.Known(w)))
		}
		for _, w := range c.OrchestratorItems {
			d[3] = append(d[3], objectOf("message "+string(w.Kind()), engine.Known(w)))
		}
		for _, a := range c.CancelledActivities {
			d[4] = append(d[4], objectOf("cancelled activity", a))
		}
		for _, list := range d[2:] { // the events have the order
			slices.Sort(list)
		}
	}
	return d
}

// unordered sorts the texts of events that follow each other and are of one kind of cancellation or clearing, and takes
// their numbers from them.
func unordered(texts []string, events []engine.Event) {
	for i := 0; i < len(texts); {
		k := i + 1
		switch kind := events[i].Kind(); kind {
		case eventdata.KindActivityCancelRequested, eventdata.KindSubOrchestrationCancelRequested, eventdata.KindExternalSubscribedCancelled,
			eventdata.KindQueueSubscriptionCancelled, eventdata.KindKeyValueCleared:
			for k < len(texts) && events[k].Kind() == kind {
				k++
			}
			for j := i; j < k; j++ {
				texts[j] = strings.Replace(texts[j], fmt.Sprintf(`"event_id":%d,`, events[j].EventID), "", 1)
			}
			slices.Sort(texts[i:k])
		}
		i = k
	}
}

// objectOf returns the JSON of a value with its kind, and without the fields to drop.
func objectOf(kind string, v any, drop ...string) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		panic(err)
	}
	for _, name := range drop {
		delete(fields, name)
	}
	fields["type"] = kind
	text, _ = json.Marshal(fields)
	for _, r := range random {
		text = r.is.ReplaceAll(text, []byte(r.as))
	}
	return string(text)
}

// random are the texts in which two nodes of one release differ: keys that a replay finds cleared in another order, numbers of
// tasks, and identifiers, whose version remains.
var random = []struct {
	is *regexp.Regexp
	as string
}{
	{regexp.MustCompile(`(kv clear mismatch): action=ClearKeyValue \{ [^{}]* \} vs event=KeyValueCleared \{ [^{}]* \}`), "$1"},
	{regexp.MustCompile(`task [0-9]+ panicked`), "task panicked"},
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-([0-9a-f])[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`), "guid of version $1"},
}

func withoutPin(m engine.ExecutionMetadata) engine.ExecutionMetadata {
	m.PinnedVersion = nil
	return m
}

// repeat hands a delivery to a new node of another release, or of the same, and compares what the two did. The history is
// that which the other release would have: its own version stamps it, unless it is kept. It returns nil if they did the same,
// and otherwise the first difference, whose Event is the number of the event that would be the turn's first.
func (d *delivery) repeat(hosts cluster.Runtimes, other *engine.Build, keep bool) (*difference, error) {
	c := d.config
	c.Build = other
	m, err := hosts.Start(c)
	if err != nil {
		return nil, err
	}
	defer m.Crash()
	n := &driver{Machine: m, nowMs: d.nowMs, parent: d.parent}
	if d.before != nil {
		n.nowMs = d.before.nowMs
	}
	n.step(&machine.Start{NowMs: n.nowMs})
	if d.before != nil {
		if err := d.before.hand(n, other, keep); err != nil {
			return nil, err
		}
		made, err := n.await(decides)
		if err != nil {
			return nil, err
		}
		n.step(&machine.Answer{NowMs: n.nowMs, Call: made.ID})
		n.nowMs = max(n.nowMs, d.nowMs)
	}
	if err := d.hand(n, other, keep); err != nil {
		return nil, err
	}
	for i := range d.decisions {
		var did decision
		made, err := n.await(decides)
		if err == nil {
			did = decisionOf(made.Request)
		} else if !errors.Is(err, errNoCall) {
			return nil, err
		}
		if one, two, differ := d.decisions[i].differs(&did); differ {
			return &difference{Instance: d.given.Item.Instance, Execution: d.given.Item.ExecutionID, Event: len(d.given.Item.History) + 1, One: one, Other: two}, nil
		}
		if i < len(d.answers) {
			n.step(&machine.Answer{NowMs: n.nowMs, Call: made.ID, Err: d.answers[i]})
		}
	}
	return nil, n.Err()
}

// hand gives the delivery to the next fetch of a node of a release.
func (d *delivery) hand(n *driver, to *engine.Build, keep bool) error {
	given := d.given
	given.Item.History = slices.Clone(given.Item.History)
	for i := range given.Item.History {
		if e := &given.Item.History[i]; !keep && e.DuroxideVersion == d.config.Build.Version.String() {
			e.DuroxideVersion = to.Version.String()
		}
	}
	fetch, err := n.await(func(c call.Call) bool { _, ok := c.(call.FetchOrchestrationItem); return ok })
	if err != nil {
		return err
	}
	n.step(&machine.Answer{NowMs: n.nowMs, Call: fetch.ID, Orchestration: &given})
	return nil
}

// differs returns the first parts in which two decisions differ.
func (d *decision) differs(other *decision) (one, two string, differ bool) {
	for _, part := range []int{1, 2, 3, 4, 0} { // the events say best what happened
		for i := range max(len(d[part]), len(other[part])) {
			if one, two = at(d[part], i), at(other[part], i); one != two {
				return one, two, true
			}
		}
	}
	return "", "", false
}

// turns compares a run of one release, whose store is known once it runs, with another release turn by turn and activity by
// activity. It counts the decisions and calls that are alike.
func turns(run func(cluster.Runtimes, func(*cluster.World)) error, hosts cluster.Runtimes, other *engine.Build, keep bool) (differ []difference, alike int, err error) {
	var world *cluster.World
	r := &recorder{Runtimes: hosts, store: func() memprovider.View { return world.Store() }}
	if err := run(r, func(w *cluster.World) { world = w }); err != nil {
		return nil, 0, err
	}
	for _, d := range r.deliveries {
		difference, err := d.repeat(hosts, other, keep)
		switch {
		case err != nil:
			return nil, 0, fmt.Errorf("%s, execution %d: %w", d.given.Item.Instance, d.given.Item.ExecutionID, err)
		case difference == nil:
			alike += len(d.decisions)
		default:
			differ = append(differ, *difference)
		}
	}
	for _, w := range r.works {
		difference, err := w.repeat(hosts, other)
		switch {
		case err != nil:
			return nil, 0, fmt.Errorf("an activity of %s: %w", w.given.Item.Target(), err)
		case difference == nil:
			alike += len(w.did)
		default:
			differ = append(differ, *difference)
		}
	}
	return differ, alike, nil
}
