package oracle

import (
	"fmt"
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/eventdata"
)

var readRules = []rule{
	on((*State).renewSessions).losing((*State).lostCounts), on((*State).cleanupSessions).losing((*State).lostCounts),
	on((*State).customStatus), on((*State).kvValue), on((*State).kvValues), on((*State).stats), on((*State).appendEvents),
	on(func(s *State, j *judge, r call.Read) { s.read(j, "5.6", r.Instance, s.find(r.Instance).latest()) }),
	on(func(s *State, j *judge, r call.ReadWithExecution) { s.read(j, "5.6", r.Instance, r.ExecutionID) }),
}

// renewSessions judges the call against docs/contract/provider.md#p5.12.
func (s *State) renewSessions(j *judge, r call.RenewSessionLock) {
	must, may := 0, 0
	after := s.with(func(n *State) {
		for i := range n.sessions {
			have := &n.sessions[i]
			if !slices.Contains(r.Owners, have.owner) {
				continue
			}
			idleSince := Span{j.at.Lo - r.IdleTimeout.Milliseconds(), j.at.Hi - r.IdleTimeout.Milliseconds()}
			renewed := have.until.reached(j.at).not().and(have.active.after(idleSince))
			until := j.at.plus(r.ExtendFor.Milliseconds())
			if renewed.must {
				must++
			} else if renewed.may {
				until = until.over(have.until)
			}
			if renewed.may {
				may++
				have.until = until
			}
		}
	})
	j.counted(by("5.12", "I13"), "renewed sessions", must, may, func(int) []*State { return []*State{after} })
}

// counted allows the call to return any number from must to may. after returns the states that can follow a given
// number.
func (j *judge) counted(c clause, what string, must, may int, after func(n int) []*State) {
	a := j.answer
	for n := must; n <= may; n++ {
		for _, next := range after(n) {
			j.allow(c, a.Err == nil && a.Count == n, func() *State { return next }, "%d %s", n, what)
		}
	}
	if a.Err == nil && (a.Count < must || a.Count > may) {
		j.object(c, "%d %s, expected %s", a.Count, what, Between(int64(must), int64(may)))
	}
}

// cleanupSessions judges the call against docs/contract/provider.md#p5.13.
func (s *State) cleanupSessions(j *judge, _ call.CleanupOrphanedSessions) {
	must, may := 0, 0
	states := []*State{s}
	for _, have := range s.sessions {
		if slices.ContainsFunc(s.work, func(w row) bool { return w.session() == have.id }) {
			continue
		}
		gone := have.until.before(j.at)
		if !gone.may {
			continue
		}
		may++
		without := []*State{}
		for _, t := range states {
			without = append(without, t.with(func(n *State) {
				n.sessions = slices.DeleteFunc(n.sessions, func(x session) bool { return x.id == have.id })
			}))
		}
		if gone.must {
			must++
			states = without
		} else if len(states) < 64 {
			states = append(states, without...)
		}
	}
	j.counted(by("5.13", "I13"), "deleted sessions", must, may, func(n int) []*State {
		var fit []*State
		for _, t := range states {
			if len(s.sessions)-len(t.sessions) == n {
				fit = append(fit, t)
			}
		}
		return fit
	})
}

// customStatus judges the call against docs/contract/provider.md#p5.14.
func (s *State) customStatus(j *judge, r call.GetCustomStatus) {
	in, got := s.find(r.Instance), j.answer.CustomStatus
	if !in.row || in.customVersion <= r.LastSeen {
		j.allow(by("5.14", "I16 I20"), j.answer.Err == nil && got == nil, func() *State { return s }, "nothing: the version is not above %d", r.LastSeen)
		if got != nil {
			j.object(by("5.14", "I16 I17"), "there is no custom status above version %d", r.LastSeen)
		}
		return
	}
	same := got != nil && got.Version == in.customVersion && sameText(got.Status, in.custom)
	if j.answer.Err == nil && !same {
		j.object(by("6.8", "I16"), "the custom status is version %d, %s", in.customVersion, shown{in.custom})
	}
	j.allow(by("5.14", "I16"), j.answer.Err == nil && same, func() *State { return s }, "version %d, %s", in.customVersion, shown{in.custom})
}

// kvValue judges the call against docs/contract/provider.md#p5.15.
func (s *State) kvValue(j *judge, r call.GetKVValue) {
	var want *string
	for _, e := range s.find(r.Instance).merged() {
		if e.key == r.Key {
			want = &e.value
		}
	}
	same := sameText(j.answer.Value, want)
	if !same {
		j.object(by("5.15", "I14 I15 I17"), "the merged view of the key is %s", shown{want})
	}
	j.result(by("5.15", "I14 I15"), s, same, want)
}

// kvValues judges the call against docs/contract/provider.md#p5.15.
func (s *State) kvValues(j *judge, r call.GetKVAllValues) {
	want := s.find(r.Instance).merged()
	got := j.answer.Pairs
	same := slices.EqualFunc(got, want, func(p engine.KVPair, e entry) bool { return p.Key == e.key && p.Value == e.value })
	if !same {
		j.object(by("5.15", "I14 I15 I17"), "the merged view is %s", shown{kvEntries(want)})
	}
	j.allow(by("5.15", "I14 I15"), j.answer.Err == nil && same, func() *State { return s }, "%s", shown{kvEntries(want)})
}

// read judges reads against docs/contract/provider.md#p5.6, and reads through the management surface against
// docs/contract/provider.md#p7.
func (s *State) read(j *judge, section, id string, execution uint64) {
	history := s.find(id).events(execution)
	if !j.decodesAll(history) {
		j.permanent(by(section, "I7"), s, "an event cannot be decoded")
		return
	}
	same, why := j.sameEvents(j.answer.Events, history), ""
	if !same && j.explaining {
		why = j.firstUnlike(j.answer.Events, history)
	}
	j.reads(by(section, "I7"), s, same, eventsOf(history), by(section, "I7 I17 I20"), "the events of execution %d differ from the stored ones: %s", execution, why)
}

// appendEvents judges the call against docs/contract/provider.md#p5.6.
func (s *State) appendEvents(j *judge, r call.AppendWithExecution) {
	var dup, zero bool
	in := s.find(r.Instance)
	for i, e := range r.Events {
		zero = zero || e.EventID == 0
		dup = dup || in.taken(r.ExecutionID, e.EventID, r.Events[:i])
		if !j.writesEvent(e) {
			j.permanent(by("3.3", ""), s, "the caller's build has no form for an event")
		}
	}
	if zero || r.ExecutionID == 0 {
		j.permanent(by("8", ""), s, "an event or execution has the id 0")
		if zero {
			return
		}
	}
	c := by("5.6", "I7")
	store := func() *State {
		return s.with(func(n *State) {
			in := n.edit(r.Instance)
			for _, e := range r.Events {
				in.add(r.ExecutionID, j.event(e)) // does nothing if the event is already stored
			}
		})
	}
	if dup {
		j.permanent(c, s, "an event id is taken in that execution")
		c = free(f7DuplicateAppend, "5.6")
		j.succeeds(c, func() *State { return s })
	}
	j.succeeds(c, store)
}

// stats judges the call against docs/contract/provider.md#p5.16.
func (s *State) stats(j *judge, r call.GetInstanceStats) {
	in, got, err := s.find(r.Instance), j.answer.Stats, j.answer.Err
	if !in.row {
		j.allow(by("5.16", "I20"), err == nil && got == nil, func() *State { return s }, "nothing: there is no such instance")
		return
	}
	history := in.events(in.current)
	size, pending, values, chars := 0, 0, 0, 0
	rough := j.grants(f19Bytes)
	exact := !rough // damage may change the size
	for _, h := range history {
		size += h.size()
		exact = exact && !h.corrupt
		if h.id != engine.InitialEventID {
			continue
		}
		if !j.decodes(&h) {
			j.permanent(by("5.16", ""), s, "event 1 cannot be decoded")
			return
		}
		start, _ := eventdata.Known(h.event.Data).(eventdata.OrchestrationStarted)
		pending = len(start.CarryForwardEvents)
	}
	keys := in.merged()
	for _, e := range keys {
		values += len(e.value)
		chars += len([]rune(e.value))
	}
	why := ""
	switch {
	case got == nil:
		why = "there is an instance, but no statistics"
	case got.HistoryEventCount != uint64(len(history)):
		why = fmt.Sprintf("%d events, expected %d", got.HistoryEventCount, len(history))
	case exact && got.HistorySizeBytes != uint64(size) || (got.HistorySizeBytes == 0) != (size == 0):
		why = fmt.Sprintf("%d bytes of events, expected about %d", got.HistorySizeBytes, size)
	case got.QueuePendingCount != uint64(pending):
		why = fmt.Sprintf("%d pending messages, expected %d", got.QueuePendingCount, pending)
	case got.KVUserKeyCount != uint64(len(keys)):
		why = fmt.Sprintf("%d keys, expected %d", got.KVUserKeyCount, len(keys))
	case got.KVTotalValueBytes != uint64(values) && (!rough || got.KVTotalValueBytes != uint64(chars)):
		why = fmt.Sprintf("%d bytes of values, expected %d", got.KVTotalValueBytes, values)
	}
	if why != "" && err == nil {
		j.object(by("5.16", "I14"), "%s", why)
	}
	j.allow(by("5.16", "I14"), err == nil && why == "", func() *State { return s },
		"%d events of about %d bytes, %d pending messages, %d keys of %d bytes", len(history), size, pending, len(keys), values)
}
