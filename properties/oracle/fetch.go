package oracle

import (
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/eventdata"
)

var fetchRules = []rule{on((*State).fetchOrchestration).losing((*State).lostDeliveries)}

// candidate is an instance that has messages, as a fetch sees it.
type candidate struct {
	in     *instance
	queued []int // its queued messages, in order
	// visible, unlocked and admitted are the three conditions in step 1 of docs/contract/provider.md#p5.2.
	visible, unlocked, admitted truth
	batches                     [][]int // the possible batches
}

func (c *candidate) eligible() truth { return c.visible.and(c.unlocked).and(c.admitted) }

// candidates returns the instances that have messages, ordered by their oldest message.
func (s *State) candidates(j *judge, filter *engine.CapabilityFilter) []*candidate {
	var list []*candidate
	byID := func(id string) *candidate {
		for _, c := range list {
			if c.in.id == id {
				return c
			}
		}
		c := &candidate{in: s.find(id), unlocked: known(true)}
		list = append(list, c)
		return c
	}
	for i := range s.queue {
		m := &s.queue[i]
		c := byID(m.instance)
		c.queued = append(c.queued, i)
		v := m.visible.reached(j.at)
		c.visible = truth{c.visible.may || v.may, c.visible.must || v.must}
	}
	for _, c := range list {
		if c.in.lock != nil {
			c.unlocked = c.in.lock.until.reached(j.at)
		}
		c.admitted = j.admits(filter, c.in)
		c.batches = s.batches(j, c)
	}
	return list
}

// batches returns the sets of messages that a fetch may take. Each set has every message that is certainly visible,
// with or without those that may be visible (F24).
func (s *State) batches(j *judge, c *candidate) [][]int {
	list := [][]int{nil}
	for _, i := range c.queued {
		v := s.queue[i].visible.reached(j.at)
		if !v.may {
			continue
		}
		longer := make([][]int, 0, 2*len(list))
		for _, b := range list {
			longer = append(longer, append(b[:len(b):len(b)], i))
			if !v.must && len(list) < 64 {
				longer = append(longer, b)
			}
		}
		list = longer
	}
	return slices.DeleteFunc(list, func(b []int) bool { return len(b) == 0 })
}

// contextKind says where a delivery's context comes from (docs/contract/provider.md#p5.2 step 6).
type contextKind uint8

const (
	contextRow     contextKind = iota // the instance's row
	contextHistory                    // there is no row, but a history with a start event
	contextStart                      // there is no row, but a start message
	contextOrphan                     // there are only queue messages, which are to be dropped
	contextNone                       // there is no context, and some messages are not queue messages; they stay in the queue
	contextUnknown                    // an undecodable history or message hides the context (X5)
)

func (s *State) contextOf(j *judge, in *instance, batch []int) contextKind {
	if in.row {
		return contextRow
	}
	history := in.events(in.latest())
	hidden, started := false, false
	for i := range history {
		if !j.decodes(&history[i]) {
			hidden = true
		} else if history[i].event.Kind() == eventdata.KindOrchestrationStarted {
			started = true
		}
	}
	// A provider that reads the whole history does not find the start event if it fails to decode another event.
	if started && !(hidden && j.grants(xRowlessUndecodable)) {
		return contextHistory
	}
	only := true
	for _, i := range batch {
		m := &s.queue[i]
		if !j.decodesItem(m.item, m.corrupt) {
			hidden = true
			continue
		}
		if isStart(m.item) {
			return contextStart
		}
		only = only && m.item.Kind() == engine.ItemQueueMessage
	}
	switch {
	case hidden:
		return contextUnknown
	case only:
		return contextOrphan
	}
	return contextNone
}

func isStart(item engine.WorkItem) bool {
	return item.Kind() == engine.ItemStartOrchestration || item.Kind() == engine.ItemContinueAsNew
}

// startQueued reports whether a start message for the instance is queued, visible or not.
func (s *State) startQueued(c *candidate) bool {
	return slices.ContainsFunc(c.queued, func(i int) bool { return isStart(s.queue[i].item) })
}

// passed describes the instances that a fetch may skip.
type passed struct {
	orphans  [][]int // one batch for each instance whose messages the fetch may drop
	must     int     // a bit for each batch that the fetch must drop if it finds nothing else
	contexts bool    // the fetch may skip an instance without dropping its messages
	ready    bool    // the fetch must find something
}

func (s *State) passedBy(j *judge, list []*candidate) passed {
	var p passed
	for _, c := range list {
		e := c.eligible()
		if !e.may {
			continue
		}
		deliver, drop, leave := 0, 0, 0
		for _, b := range c.batches {
			switch s.contextOf(j, c.in, b) {
			case contextRow, contextHistory, contextStart:
				deliver++
			case contextOrphan:
				queued := s.startQueued(c)
				if !queued || j.grants(xOrphanBeforeStart) {
					drop++
				}
				if queued {
					leave++
				}
			case contextUnknown:
				leave++
				kept := s.startQueued(c) && !j.grants(xOrphanBeforeStart)
				onlyQueueMessages := !slices.ContainsFunc(b, func(i int) bool { return s.queue[i].item.Kind() != engine.ItemQueueMessage }) // damaged ones, too
				if onlyQueueMessages && !kept && j.grants(xRowlessUndecodable) {
					drop++ // A provider that stores kinds next to its messages knows that none of these messages is a start.
				}
			default:
				leave++
			}
		}
		p.ready = p.ready || e.must && deliver == len(c.batches)
		p.contexts = p.contexts || leave > 0
		if e.must && drop == len(c.batches) && leave == 0 {
			p.must |= 1 << len(p.orphans)
		}
		if drop > 0 {
			p.orphans = append(p.orphans, c.batches[0])
		}
	}
	return p
}

// dropped returns the states in which some of the orphans have been dropped. In the state at index i, the bits of i
// select which.
func (s *State) dropped(orphans [][]int) []*State {
	list := []*State{s}
	for _, batch := range orphans {
		gone := s.positions(batch)
		for _, have := range list[:len(list):len(list)] {
			list = append(list, have.with(func(n *State) {
				n.queue = slices.DeleteFunc(n.queue, func(m message) bool { return slices.Contains(gone, m.position) })
			}))
		}
	}
	return list
}

// fetchOrchestration judges the call against docs/contract/provider.md#p5.2.
func (s *State) fetchOrchestration(j *judge, r call.FetchOrchestrationItem) {
	list := s.candidates(j, r.Filter)
	p := s.passedBy(j, list)
	got := j.answer.Orchestration
	j.fetchNothing(s, p, j.answer.Err == nil && got == nil)
	if j.answer.Err != nil && !j.answer.Err.Retryable {
		j.object(by("5.2", "I11"), "a fetch does not fail permanently: it reports undecodable data in history_error")
	}
	for _, c := range list {
		if !c.eligible().may {
			if got != nil && got.Item.Instance == c.in.id {
				j.object(by("5.2", c.why()), "%s", c.whyNot(j))
			}
			continue
		}
		for _, batch := range c.batches {
			want, ok := s.delivery(j, c, batch)
			if !ok {
				continue
			}
			differs, rule := "", clause{}
			if got != nil && got.Item.Instance == c.in.id {
				differs, rule = want.differs(j, got)
				if differs == "" && !j.grants(f1AnyInstance) {
					differs, rule = s.olderReady(j, list, batch[0]), by("5.2", "")
				}
				if differs != "" {
					j.object(rule, "%s", differs)
				}
			}
			given := j.answer.Err == nil && got != nil && got.Item.Instance == c.in.id && differs == ""
			take := func(from *State) *State {
				return from.with(func(n *State) {
					n.take(c.in.id, s.positions(batch), got.LockToken, j.at.plus(r.LockTimeout.Milliseconds()))
				})
			}
			for i, from := range s.dropped(p.orphans) {
				if i == 0 || given {
					j.allow(by("5.2", "I3 I6"), given, func() *State { return take(from) }, "%s", want)
				}
			}
		}
	}
	if got != nil && len(j.objections) == 0 {
		j.object(by("5.2", "I17 I20"), "instance %q has no visible message with a context", got.Item.Instance)
	}
}

// olderReady returns an instance that the fetch must find and that has a visible message older than the one at index
// oldest. It returns "" if there is none.
func (s *State) olderReady(j *judge, list []*candidate, oldest int) string {
	for _, c := range list {
		if s.passedBy(j, []*candidate{c}).ready && c.batches[0][0] < oldest {
			return fmt.Sprintf("instance %q has an older visible message", c.in.id)
		}
	}
	return ""
}

// why returns the ids of the invariants that keep an instance from being returned.
func (c *candidate) why() string {
	var rules []string
	if !c.unlocked.may {
		rules = append(rules, "I1", "I2")
	}
	if !c.admitted.may {
		rules = append(rules, "I19")
	}
	if !c.visible.may {
		rules = append(rules, "I3")
	}
	return strings.Join(rules, " ")
}

func (c *candidate) whyNot(j *judge) string {
	var reasons []string
	if !c.unlocked.may {
		reasons = append(reasons, fmt.Sprintf("it is locked by token %q until %s ms", c.in.lock.token, c.in.lock.until))
	}
	if !c.admitted.may {
		reasons = append(reasons, c.excludedBy(j.call.(call.FetchOrchestrationItem).Filter))
	}
	if !c.visible.may {
		reasons = append(reasons, "none of its messages is visible yet")
	}
	return fmt.Sprintf("instance %q cannot be fetched at %s ms: %s", c.in.id, j.at, strings.Join(reasons, ", and "))
}

// fetchNothing allows a fetch to return nothing where the contract permits that, after any of the drops that it may
// have made.
func (j *judge) fetchNothing(s *State, p passed, given bool) {
	c := by("5.2", "I10")
	if p.ready {
		j.allow(free(f5Contention, "9"), given, func() *State { return s }, "nothing, under contention")
		if given {
			j.object(by("5.2", ""), "nothing was found although something is eligible")
		}
		if len(p.orphans) == 0 && !p.contexts {
			return
		}
		c = free(f4OrphanStops, "5.2")
	}
	for i, after := range s.dropped(p.orphans) {
		stopped := i == 0 && p.must != 0 && !p.contexts // the fetch stopped without dropping anything
		if stopped || !j.grants(f4OrphanStops) && i&p.must != p.must {
			continue
		}
		j.allow(c, given, func() *State { return after }, "nothing")
	}
}

// take locks an instance, and marks and counts the messages of a batch. The state must be a clone.
func (s *State) take(id string, batch []uint64, token string, until Span) {
	s.edit(id).lock = &lock{token, until}
	for i := range s.queue {
		if m := &s.queue[i]; slices.Contains(batch, m.position) {
			m.mark, m.count = token, m.count+1
		}
	}
}

func (s *State) positions(batch []int) []uint64 {
	var list []uint64
	for _, i := range batch {
		list = append(list, s.queue[i].position)
	}
	return list
}
