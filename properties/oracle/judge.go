package oracle

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/eventdata"
)

// judge collects what one state allows as the answer to one call. It holds the states that follow if the given answer
// is allowed and, only if an explanation is wanted, texts that explain the verdict.
type judge struct {
	options *Options
	call    call.Call
	answer  *answer
	at      Span
	codec   engine.Codec // the caller's codec; nil decodes everything
	failing bool         // the storage was made to fail
	room    *room        // where a confirmation works; nil if only the rules judge
	touched *Touched     // what a confirmation adds to
	// anything accepts every result of a successful deletion or prune, because the answer was lost.
	anything bool

	next       []*State
	explaining bool
	orphans    map[string]int // the oracle's
	allowed    []Clause
	objections []Clause
}

// clause is a place in docs/contract/provider.md: a section, the invariants from docs/contract/provider.md#p12 that it
// serves, and the freedom that it grants.
type clause struct {
	section    string
	invariants string // "I1 I2"
	freedom    Freedom
}

func by(section, invariants string) clause { return clause{section: section, invariants: invariants} }

func free(f Freedom, section string) clause { return clause{section: section, freedom: f} }

func (j *judge) grants(f Freedom) bool { return j.options.denied&f.bit() == 0 }

// allow records that the contract allows an answer, which the text describes. given says whether that is the answer
// that the provider gave; if so, then returns the resulting state.
func (j *judge) allow(c clause, given bool, then func() *State, format string, args ...any) {
	if c.freedom != none && !j.grants(c.freedom) {
		return
	}
	if given {
		j.next = append(j.next, then())
	}
	if j.explaining {
		j.allowed = appendClause(j.allowed, c, format, args)
	}
}

// object records a reason why the given answer is not allowed.
func (j *judge) object(c clause, format string, args ...any) {
	if j.explaining {
		j.objections = appendClause(j.objections, c, format, args)
	}
}

func appendClause(list []Clause, c clause, format string, args []any) []Clause {
	return appendOnce(list, Clause{Text: fmt.Sprintf(format, args...), Section: c.section, Invariants: strings.Fields(c.invariants), Freedom: c.freedom})
}

// succeeds allows the call to return without an error, whatever its result is.
func (j *judge) succeeds(c clause, then func() *State) {
	j.allow(c, j.answer.Err == nil, then, "success")
}

// permanent allows the call to fail permanently and without effect (I8). If there are words, the message must contain
// one of them.
func (j *judge) permanent(c clause, s *State, why string, words ...string) {
	c.invariants = strings.TrimSpace(c.invariants + " I8")
	text := "a permanent error"
	if len(words) > 0 {
		text += " that contains " + strings.Join(words, " or ")
	}
	a := j.answer
	given := a.Err != nil && !a.Err.Retryable
	if given && !containsOne(a.Err.Message, words) {
		given = false
		j.object(c, "the message contains none of the words that it must")
	}
	j.allow(c, given, func() *State { return s }, "%s: %s", text, why)
	if a.Err == nil {
		j.object(c, "%s", why)
	}
}

// containsOne reports whether text contains one of the words. It ignores case; no two required words differ only in
// case.
func containsOne(text string, words []string) bool {
	text = strings.ToLower(text)
	return len(words) == 0 || slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, strings.ToLower(w)) })
}

// result allows the call to succeed without changing anything. same reports whether the provider's result is the
// expected one.
func (j *judge) result(c clause, s *State, same bool, want any) {
	j.allow(c, j.answer.Err == nil && same, func() *State { return s }, "%s", shown{want})
}

// reads is result, with an objection if the call succeeds with another result.
func (j *judge) reads(c clause, s *State, same bool, want any, against clause, format string, args ...any) {
	if !same && j.answer.Err == nil {
		j.object(against, format, args...)
	}
	j.result(c, s, same, want)
}

// shown delays converting a value to JSON until it is printed.
type shown struct{ v any }

// String returns the value as JSON.
func (s shown) String() string {
	return call.Text(s.v)
}

func (j *judge) decodes(h *stored) bool {
	return !h.corrupt && (j.codec == nil || j.codec.Kinds().Has(h.event.Kind()))
}

func (j *judge) decodesAll(history []stored) bool { return j.undecodable(history) == nil }

// undecodable returns the first event that the caller cannot decode, or nil.
func (j *judge) undecodable(history []stored) *stored {
	var kinds engine.KindSet
	if j.codec != nil {
		kinds = j.codec.Kinds()
	}
	for i := range history {
		if h := &history[i]; h.corrupt || j.codec != nil && !kinds.Has(h.event.Kind()) {
			return h
		}
	}
	return nil
}

// decodesItem reports whether the caller can decode a queue row, and so encode it as well.
func (j *judge) decodesItem(item engine.WorkItem, corrupt bool) bool {
	if corrupt {
		return false
	}
	if j.codec == nil {
		return true
	}
	_, err := j.codec.AppendWorkItem(nil, engine.Known(item))
	return err == nil
}

// surelyDecodes is decodesItem for an undamaged item, without encoding it where its kind decides.
func (j *judge) surelyDecodes(item engine.WorkItem) bool {
	switch item.(type) {
	case engine.ActivityFailedItem, engine.SubOrchFailedItem, engine.OpaqueItem: // whose details or text decide
		return j.decodesItem(item, false)
	case nil:
		return false
	}
	if j.codec == nil {
		return true
	}
	asked := kindOf{j.codec, item.Kind()}
	can, known := j.room.kinds[asked]
	if !known {
		can = j.decodesItem(item, false)
		j.room.kinds[asked] = can
	}
	return can
}

// item and event return what is left of a value that the caller's codec writes or reads: a build that lacks a field
// drops it (docs/contract/runtime.md#r15.1).
func (j *judge) item(w engine.WorkItem) engine.WorkItem {
	if c, forgetful := j.codec.(engine.ForgetfulCodec); forgetful && w != nil {
		if text, err := c.AppendWorkItem(nil, w); err == nil {
			if kept, err := c.DecodeWorkItem(text); err == nil {
				return kept
			}
		}
	}
	return w
}

func (j *judge) event(e engine.Event) engine.Event {
	if c, forgetful := j.codec.(engine.ForgetfulCodec); forgetful {
		if text, err := c.AppendEvent(nil, e); err == nil {
			if kept, err := c.DecodeEvent(text); err == nil {
				return kept
			}
		}
	}
	return e
}

// sameEvents compares events with the rows of a history, as the caller's codec reads them.
func (j *judge) sameEvents(events []engine.Event, history []stored) bool {
	return len(events) == len(history) && j.unlike(events, history) == len(events)
}

// unlike returns the place of the first event that differs from its row of a history. Where one list begins the other,
// that is behind the shorter one.
func (j *judge) unlike(events []engine.Event, history []stored) int {
	_, forgetful := j.codec.(engine.ForgetfulCodec)
	n := min(len(events), len(history))
	for i := range n {
		want := &history[i].event
		if forgetful {
			kept := j.event(*want)
			want = &kept
		}
		if !sameEvent(&events[i], want) {
			return i
		}
	}
	return n
}

// firstUnlike says which event is the first that differs from its row.
func (j *judge) firstUnlike(events []engine.Event, history []stored) string {
	at, id, want, got := j.unlike(events, history), uint64(0), "no event", "none"
	if at < len(events) {
		id, got = events[at].EventID, shown{events[at]}.String()
	}
	if at < len(history) {
		id, want = history[at].event.EventID, shown{j.event(history[at].event)}.String()
	}
	return fmt.Sprintf("event %d is the first that differs, expected %s, got %s", id, want, got)
}

// sameEvent and sameItem report whether two values have the same canonical text. Equal values have; others, such as one
// that keeps its own text, need the texts.
func sameEvent(a, b *engine.Event) bool {
	x, y := *a, *b
	x.Data, y.Data = nil, nil
	if x == y && same(a.Data, b.Data) {
		return true
	}
	s, err := call.EventText(*a)
	t, failed := call.EventText(*b)
	return err == nil && failed == nil && s == t
}

func sameItem(a, b engine.WorkItem) bool {
	if same(a, b) {
		return a != nil
	}
	s, err := call.ItemText(a)
	t, failed := call.ItemText(b)
	return err == nil && failed == nil && s == t
}

// same reports whether two values are equal, fast if they have no slices.
func same(a, b any) bool {
	switch x := a.(type) {
	case eventdata.OrchestrationStarted:
		y, ok := b.(eventdata.OrchestrationStarted)
		return ok && x.Name == y.Name && x.Version == y.Version && x.Input == y.Input && x.ParentInstance == y.ParentInstance &&
			x.ParentID == y.ParentID && x.ParentExecutionID == y.ParentExecutionID &&
			slices.Equal(x.CarryForwardEvents, y.CarryForwardEvents) && sameText(x.InitialCustomStatus, y.InitialCustomStatus)
	case nil, eventdata.Opaque, engine.ContinueAsNewItem, engine.OpaqueItem:
		return reflect.DeepEqual(a, b)
	}
	return a == b || reflect.DeepEqual(a, b)
}

func eventsOf(history []stored) []engine.Event {
	events := []engine.Event{}
	for _, h := range history {
		events = append(events, h.event)
	}
	return events
}

func sameText(a, b *string) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }
