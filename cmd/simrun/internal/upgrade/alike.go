package upgrade

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
)

// Of a store with more than exact instances, alikeRun of those that are alike are run, and mostRun of all.
const (
	exact    = 500
	alikeRun = 3
	mostRun  = 1000
)

// survey is what the first reading of an export keeps of each instance, whatever the order of the lines: in which others
// it is like it. Instances are alike if their orchestration, pin, state, events, queue, and the families that they belong
// to are of the same kinds.
type survey struct {
	index  map[string]uint32
	all    []seen
	traits map[trait]uint32
	sets   sets
	at     uint32 // the instance of the present line, counted from 1; 0 if it has none
	latest uint64 // the timestamp of the latest event

	groups []group
	run    map[string]share // of the instances that are run
}

// trait is a property that instances can share. Numbers stand for traits, from 1.
type trait struct{ kind, name, detail string }

// seen is what is known of an instance. Its events, status and pin are those of the current execution.
type seen struct {
	id     string
	parent string
	likeness
	kinds     uint32 // the set of its events' kinds
	execution uint64
	last      uint64 // the number of the latest event
	current   uint64 // by its row
	rows      uint64 // of its executions
	lowest    uint64 // of their numbers
	events    uint32
	group     uint32
	started   bool // it has a row, an event or a queued start
	over      bool // it has ended
}

// likeness is what instances that are alike have in common.
type likeness struct {
	orchestration, pin, status uint32
	events                     uint32 // the set of events, with names
	waits                      uint32 // the latest event
	begun                      uint32 // the build that wrote the first event
	queue                      uint32 // the set of messages
	length                     uint8  // of the history, as its logarithm
	hasRow, hasExecution       bool
	loops, damaged             bool
}

// group is the instances that are alike. share says for how many of them one stands.
type (
	group struct{ instances, run int }
	share struct {
		group     uint32
		instances int
	}
)

func (s *survey) trait(kind, name, detail string) uint32 {
	t := trait{kind, name, detail}
	n, ok := s.traits[t]
	if !ok {
		n = uint32(len(s.traits) + 1)
		s.traits[trait{strings.Clone(kind), strings.Clone(name), strings.Clone(detail)}] = n
	}
	return n
}

// of returns what is known of the instance that the present line is about.
func (s *survey) of(id string) *seen {
	if s.at == 0 || s.all[s.at-1].id != id {
		n, ok := s.index[id]
		if !ok {
			id = strings.Clone(id) // not the whole line
			s.all = append(s.all, seen{id: id})
			n = uint32(len(s.all))
			s.index[id] = n
		}
		s.at = n
	}
	return &s.all[s.at-1]
}

func (s *survey) instance(l *line) {
	in := s.of(l.InstanceID)
	in.damaged = in.damaged || in.hasRow
	in.hasRow, in.started, in.current = true, true, l.CurrentExecutionID
	in.orchestration = s.trait("", l.OrchestrationName, l.OrchestrationVersion)
	if l.ParentInstanceID != nil {
		in.parent = strings.Clone(*l.ParentInstanceID)
	}
}

// reaches makes n the current execution, unless there is a later one, and reports whether it is.
func (in *seen) reaches(n uint64) bool {
	in.loops = in.loops || n > engine.InitialExecutionID
	if n > in.execution {
		in.pin, in.status, in.events, in.likeness.events, in.kinds, in.waits, in.begun, in.last, in.hasExecution, in.over = 0, 0, 0, 0, 0, 0, 0, 0, false, false
		in.execution = n
	}
	in.started = true
	return n == in.execution
}

func (s *survey) execution(l *line, pin *engine.Version) {
	in := s.of(l.InstanceID)
	if in.rows++; in.rows == 1 || l.ExecutionID < in.lowest {
		in.lowest = l.ExecutionID
	}
	if in.reaches(l.ExecutionID) {
		in.status, in.pin, in.hasExecution = s.trait("", l.Status, ""), s.trait("", PinText(pin), ""), true
		in.over = in.over || l.Status == string(engine.StatusCompleted) || l.Status == string(engine.StatusFailed)
	}
}

// event notes an event; e is nil if no build reads it.
func (s *survey) event(instance string, execution, id uint64, kind engine.EventKind, e *engine.Event) {
	in := s.of(instance)
	name, detail := "", ""
	if e == nil {
		detail = "unread"
	} else {
		s.latest = max(s.latest, e.TimestampMs)
		switch d := e.Data.(type) {
		case eventdata.OrchestrationStarted:
			in.orchestration = cmp.Or(in.orchestration, s.trait("", d.Name, d.Version))
			if in.parent == "" {
				in.parent = strings.Clone(d.ParentInstance)
			}
		case eventdata.OrchestrationContinuedAsNew:
			in.loops = true
		case eventdata.ActivityScheduled:
			name, detail = d.Name, d.Tag
			if d.SessionID != "" {
				detail += " on a session"
			}
		case eventdata.SubOrchestrationScheduled:
			name = d.Name
		case eventdata.OrchestrationChained:
			name = d.Name
		case eventdata.ExternalSubscribed:
			name = d.Name
		case eventdata.ExternalSubscribed2:
			name = d.Name
		case eventdata.QueueSubscribed:
			name = d.Name
		}
	}
	if !in.reaches(execution) {
		return
	}
	if e != nil && id == 1 {
		if in.begun = s.trait("", e.DuroxideVersion, ""); !in.hasExecution {
			in.pin = in.begun
		}
	}
	in.over = in.over || kind == eventdata.KindOrchestrationCompleted || kind == eventdata.KindOrchestrationFailed
	t := s.trait(string(kind), name, detail)
	in.likeness.events = s.sets.with(in.likeness.events, t)
	in.kinds = s.sets.with(in.kinds, s.trait(string(kind), "", detail))
	if in.events++; id > in.last {
		in.last, in.waits = id, t
	}
}

func (s *survey) message(m *messageRow, takenMs int64) {
	in := s.of(m.item.Target())
	name, detail := "", ""
	switch item := m.item.(type) {
	case engine.StartItem:
		in.orchestration, in.started = cmp.Or(in.orchestration, s.trait("", item.Orchestration, item.Version)), true
		if in.parent == "" {
			in.parent = strings.Clone(item.ParentInstance)
		}
	case engine.ActivityExecuteItem:
		name, detail = item.Name, item.Tag
	case engine.ExternalRaisedItem:
		name = item.Name
	case engine.QueueMessageItem:
		name = item.Name
	}
	if takenMs > 0 { // the timers of a minute, an hour and a month come at different steps, or after all
		detail += fmt.Sprintf(" 2^%d", bits.Len64(uint64(max(m.visibleMs-takenMs, 0)/1000)))
	}
	if m.attempts > 0 {
		detail += " delivered"
	}
	in.queue = s.sets.with(in.queue, s.trait(string(m.item.Kind()), name, detail))
}

// sets numbers the sets of traits; the empty one is 0.
type sets struct {
	members [][]uint32
	numbers map[string]uint32
	next    map[[2]uint32]uint32 // the set with one trait more
}

func newSets() sets {
	return sets{members: [][]uint32{nil}, numbers: map[string]uint32{"": 0}, next: map[[2]uint32]uint32{}}
}

// with returns the set that has one member more.
func (s *sets) with(set, member uint32) uint32 {
	step := [2]uint32{set, member}
	to, ok := s.next[step]
	if ok {
		return to
	}
	members := slices.Clone(s.members[set])
	if at, has := slices.BinarySearch(members, member); !has {
		members = slices.Insert(members, at, member)
	}
	to = s.number(members)
	s.next[step] = to
	return to
}

func (s *sets) number(members []uint32) uint32 {
	var key []byte
	for _, m := range members {
		key = binary.AppendUvarint(key, uint64(m))
	}
	n, ok := s.numbers[string(key)]
	if !ok {
		n = uint32(len(s.members))
		s.members, s.numbers[string(key)] = append(s.members, members), n
	}
	return n
}

// choose decides which instances are run, and for how many each of them stands.
func (s *survey) choose() {
	for i := range s.all {
		in := &s.all[i]
		in.damaged = in.damaged || in.last != uint64(in.events) || in.current != 0 && in.current != in.execution || in.rows > 0 && in.rows != in.execution-in.lowest+1
		in.length = uint8(bits.Len32(in.events))
	}
	families := s.families()
	run := s.group(families, true)
	if len(slices.Concat(run...)) > mostRun {
		run = s.group(families, false)
	}
	var chosen []uint32
	for _, f := range run {
		if len(chosen) == 0 || len(chosen)+len(f) <= mostRun {
			chosen = append(chosen, f...)
			continue
		}
		for _, in := range f {
			s.groups[s.all[in].group].run--
		}
	}
	given := make([]int, len(s.groups))
	s.run = make(map[string]share, len(chosen))
	for _, in := range chosen {
		g := s.all[in].group
		n := s.groups[g].instances / s.groups[g].run
		if given[g] < s.groups[g].instances%s.groups[g].run {
			n++
		}
		given[g]++
		s.run[s.all[in].id] = share{g, n}
	}
	s.index, s.traits, s.sets = nil, nil, sets{}
}

// families lists the instances, each family together, with its first ancestor that is in the export as its root.
func (s *survey) families() (families [][]uint32) {
	root := func(i uint32) uint32 {
		for range s.all {
			up, ok := s.index[s.all[i].parent]
			if s.all[i].parent == "" || !ok || !s.all[up-1].started {
				return i
			}
			i = up - 1
		}
		return i // they are parents of each other
	}
	order, roots := make([]uint32, len(s.all)), make([]uint32, len(s.all))
	for i := range s.all {
		order[i], roots[i] = uint32(i), root(uint32(i))
	}
	slices.SortFunc(order, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(roots[a], roots[b]), strings.Compare(s.all[a].id, s.all[b].id))
	})
	for from := 0; from < len(order); {
		to := from
		for to < len(order) && roots[order[to]] == roots[order[from]] {
			to++
		}
		families = append(families, order[from:to])
		from = to
	}
	slices.SortFunc(families, func(a, b []uint32) int { return strings.Compare(s.all[a[0]].id, s.all[b[0]].id) })
	return families
}

// group groups the instances that are alike, with names and queues or only by orchestration, pin, state and kinds. It
// returns the families to run, the most frequent ones first.
func (s *survey) group(families [][]uint32, fine bool) (run [][]uint32) {
	running := 0
	for i := range s.all {
		if s.all[i].started && !s.all[i].over {
			running++
		}
	}
	numbers := map[likeness]uint32{}
	own := func(i uint32) uint32 {
		in := &s.all[i]
		l := in.likeness
		if !fine {
			l.events, l.waits, l.queue, l.length = in.kinds, 0, 0, 0
		}
		n, ok := numbers[l]
		if !ok {
			n = uint32(len(numbers))
			numbers[l] = n
		}
		return n
	}
	kinds, alike := newSets(), map[uint32][]int{} // the families of each kind
	for n, f := range families {
		var members []uint32
		for _, i := range f {
			members = append(members, own(i))
		}
		slices.Sort(members)
		k := kinds.number(members)
		alike[k] = append(alike[k], n)
	}
	type position struct{ family, own uint32 }
	groups := map[position]uint32{}
	s.groups = nil
	order := slices.SortedFunc(maps.Keys(alike), func(a, b uint32) int {
		return cmp.Or(cmp.Compare(len(alike[b]), len(alike[a])), cmp.Compare(alike[a][0], alike[b][0]))
	})
	for _, k := range order {
		each := alike[k]
		few := len(each)
		over := !slices.ContainsFunc(families[each[0]], func(i uint32) bool { return !s.all[i].over })
		if len(s.all) > exact && (running > exact || over) {
			few = min(few, alikeRun)
		}
		for n, f := range each {
			runs := n*few/len(each) != (n-1)*few/len(each) || n == 0
			for _, i := range families[f] {
				at := position{k, own(i)}
				g, ok := groups[at]
				if !ok {
					g = uint32(len(s.groups))
					groups[at] = g
					s.groups = append(s.groups, group{})
				}
				s.all[i].group = g
				if s.groups[g].instances++; runs {
					s.groups[g].run++
				}
			}
			if runs {
				run = append(run, families[f])
			}
		}
	}
	return run
}

// Alike returns the instances of the store for which those named stand, since they are like them, in order. It leaves out
// what is not of the store.
func (s *Snapshot) Alike(ids []string) []string {
	if s == nil {
		return nil
	}
	groups := map[uint32]bool{}
	for _, id := range ids {
		if of, ok := s.survey.run[id]; ok {
			groups[of.group] = true
		}
	}
	var all []string
	for i := range s.survey.all {
		if in := &s.survey.all[i]; groups[in.group] {
			all = append(all, in.id)
		}
	}
	slices.Sort(all)
	return all
}

// Weight returns for how many instances of the store the one named stands. It is 1 for one that is not of the store.
func (s *Snapshot) Weight(id string) int {
	if s == nil {
		return 1
	}
	return max(s.survey.run[id].instances, 1)
}

// Kind is a kind of running instances of the store: Run of them are run, in place of all.
type Kind struct {
	Example, Orchestration, Pin string
	Instances, Run              int
}

// Kinds returns the kinds of running instances of which not all are run, the most frequent first.
func (s *Snapshot) Kinds() (kinds []Kind) {
	seen := map[uint32]bool{}
	for i := range s.Store.Instances {
		in := &s.Store.Instances[i]
		of := s.survey.run[in.Instance].group
		if g := s.survey.groups[of]; g.run < g.instances && !seen[of] {
			kinds = append(kinds, Kind{in.Instance, in.Orchestration, PinText(Current(in).Pin), g.instances, g.run})
		}
		seen[of] = true
	}
	slices.SortStableFunc(kinds, func(a, b Kind) int { return cmp.Compare(b.Instances, a.Instances) })
	return kinds
}
