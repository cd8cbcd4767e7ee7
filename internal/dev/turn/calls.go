package turn

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/asked"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/orchhost"
	"github.com/durosim/durosim/internal/pretty"
)

// CheckCode describes every disagreement between a turn and the calls that its code made. The Checker does not use the
// arguments after the call.
func (k *Checker) CheckCode(t *Turn, calls []asked.Call) []string {
	c := &k.code
	c.check(t, calls, t.History)
	wrong := c.wrong
	if len(wrong) == 0 || c.died.Configuration != nil && !strings.HasPrefix(c.reason(), "cancellation mismatch") || !slices.ContainsFunc(calls, func(a asked.Call) bool {
		return a.Kind == asked.Returned && a.Token == 0 || a.Kind == asked.Panicked
	}) {
		return wrong
	}
	// The walk stops at the poll in which the code ends: nothing is compared with the rest of the history
	// (docs/contract/runtime.md#r7.2). Find that poll.
	for end := 1; end <= len(t.History); end++ {
		if c.check(t, calls, t.History[:end]); len(c.wrong) == 0 && (c.reached == unknown || c.reached+1 == end) {
			return nil
		}
	}
	return wrong
}

// check checks the turn's calls, of which nothing is compared with the history after its part walked.
func (c *codeCheck) check(t *Turn, calls []asked.Call, walked []engine.Event) {
	c.begin(t, calls)
	c.walked = len(walked)
	if len(calls) == 0 {
		c.checkUnrun()
		return
	}
	for i := range calls {
		if c.checkCall(&calls[i]); len(c.wrong) > 0 || c.strayed {
			break
		}
		c.token(calls[i].By).at = int32(c.reached)
		if i > 0 && c.answersAtOnce(&calls[i-1], &calls[i]) {
			c.quick++
		}
	}
	if len(c.wrong) == 0 {
		c.checkRest()
	}
	if len(c.wrong) == 0 {
		c.checkOutcome()
	}
}

// codeCheck is the state of a check of calls.
type codeCheck struct {
	base
	died    engine.ErrorDetails // the turn's failure if running the code caused it; otherwise zero
	started eventdata.OrchestrationStarted

	codes  []int   // positions in history and delta of the events that come from the code
	at     int     // how many of these have been read
	tokens []token // by token
	facts  []fact  // indexed by event id
	walked int     // how many events of the history are compared with the code
	// The state of the code so far: how it ended, and the key-value state as the code sees it.
	returned, continued *asked.Call
	panicked            bool
	spawned             bool
	reached             int  // the position of the last event that gave the code a result, or unknown
	later               int  // if it is unknown: the first token of the requests made since
	twice, dropped      bool // an event completes what is completed; the history has a breadcrumb
	quick               int  // how many fresh waits and dequeues the code awaited at once, with a result
	strayed             bool // the code did not request an event that the history has
	unrecorded          bool // the turn failed before it recorded the requests of the code
	status              *string
	keys                []engine.KVEntry
	left                []uint64 // the events that Left returns
	taken               []int    // positions of the dequeues and queue messages already matched
}

// token records what the checker knows about a future.
type token struct {
	event   int         // the position of the future's event, or -1 if it has none
	ended   *asked.Call // how the future's coroutine ended
	refused string      // set if answered is
	by      orchhost.Token
	got     int32 // the position of the event that gave the code its result, or unknown; 0 before the code has it
	at      int32 // for a coroutine: the position that the turn had reached when it last got control
	spawned bool
	awaited bool
	dropped bool
	// answered is set if the future was answered at once, without an event, since its child's id is refused.
	answered bool
}

// fact records what history and delta say about a schedule.
type fact struct {
	done, crumb int // positions of the schedule's completion and breadcrumb, or 0
	token       orchhost.Token
}

func (c *codeCheck) begin(t *Turn, calls []asked.Call) {
	*c = codeCheck{base: baseOf(t), tokens: c.tokens[:0], facts: c.facts[:0], codes: c.codes[:0], keys: c.keys[:0], taken: c.taken[:0], left: c.left[:0]}
	for pos := range c.count() {
		e := c.event(pos)
		switch e.Data.(type) {
		case eventdata.ActivityScheduled, eventdata.TimerCreated, eventdata.SubOrchestrationScheduled, eventdata.ExternalSubscribed,
			eventdata.ExternalSubscribed2, eventdata.QueueSubscribed, eventdata.OrchestrationChained:
			c.codes = append(c.codes, pos)
		case eventdata.ActivityCompleted, eventdata.ActivityFailed, eventdata.TimerFired, eventdata.SubOrchestrationCompleted, eventdata.SubOrchestrationFailed:
			f := c.fact(e.SourceEventID)
			if c.twice = c.twice || f.done != 0; f.done == 0 {
				f.done = pos
			}
		case eventdata.ActivityCancelRequested, eventdata.SubOrchestrationCancelRequested, eventdata.ExternalSubscribedCancelled, eventdata.QueueSubscriptionCancelled:
			c.fact(e.SourceEventID).crumb = pos
			c.dropped = c.dropped || pos < len(t.History)
		case eventdata.OrchestrationStarted:
			if pos == 0 {
				c.started = e.Data.(eventdata.OrchestrationStarted)
				c.status = c.started.InitialCustomStatus
			}
		default:
			if changesState(e.Data) {
				c.codes = append(c.codes, pos)
			}
		}
	}
	if f, ok := c.terminal.(eventdata.OrchestrationFailed); ok {
		if a := f.Details.Application; a == nil || a.Kind == eventdata.AppPanicked {
			c.died = f.Details
		}
	}
	if slices.ContainsFunc(calls, func(a asked.Call) bool { return a.Kind == asked.ReadKeys || a.Kind == asked.Pruned }) {
		c.keys = append(c.keys, t.Keys...)
	}
}

func (c *codeCheck) count() int { return len(c.t.History) + len(c.delta) }

func (c *codeCheck) event(pos int) *engine.Event {
	if n := len(c.t.History); pos >= n {
		return &c.delta[pos-n]
	}
	return &c.t.History[pos]
}

// fact returns the fact for the schedule with the given id.
func (c *codeCheck) fact(id uint64) *fact {
	const most = 1 << 20 // no execution has this many events
	if id > most {
		return &fact{}
	}
	for uint64(len(c.facts)) <= id {
		c.facts = append(c.facts, fact{})
	}
	return &c.facts[id]
}

func (c *codeCheck) token(t orchhost.Token) *token {
	for len(c.tokens) <= int(t) {
		c.tokens = append(c.tokens, token{event: -1})
	}
	return &c.tokens[t]
}

// checkUnrun checks that a turn that did not run the code had a reason for that.
func (c *codeCheck) checkUnrun() {
	f, failed := c.terminal.(eventdata.OrchestrationFailed)
	if len(c.delta) > 0 && (!failed || f.Details.Application != nil) {
		c.say("the turn does not run the code, and ends with %s: expected a run of the code, or a failure before it", c.ending())
	}
}

// checkCall checks one call. Calls must be checked in the order in which the code made them.
func (c *codeCheck) checkCall(a *asked.Call) {
	switch a.Kind {
	case asked.Began:
		if a.Text != c.started.Input {
			c.say("the code gets the input %s: expected %s", shown(a.Text), shown(c.started.Input))
		}
	case asked.Scheduled:
		c.checkScheduled(a)
	case asked.Updated:
		c.claim(a.Action)
	case asked.Pruned:
		c.checkPruned(a)
	case asked.Spawned:
		c.spawned = true
		*c.token(a.Token) = token{event: -1, by: a.By, spawned: true, ended: c.token(a.Token).ended, at: int32(c.reached)}
	case asked.Awaited:
		if !c.token(a.Token).awaited {
			c.reach(a.Token)
		}
		c.checkAwaited(a)
		c.token(a.Token).awaited = true
	case asked.Selected:
		c.checkSelected(a)
	case asked.Dropped:
		c.drop(a.Token)
	case asked.Continued:
		if c.continued == nil {
			c.continued = a
		}
	case asked.ReadInfo:
		want := orchhost.Info{Instance: c.t.Instance, ExecutionID: c.t.Execution, Name: c.started.Name, Version: c.started.Version}
		if a.Info != want {
			c.say("the code gets the context %+v: expected %+v", a.Info, want)
		}
	case asked.ReadStatus:
		if !c.unrecorded && !sameText(a.Status, c.status) {
			c.say("the code reads the custom status %s: expected %s", text(a.Status), text(c.status))
		}
	case asked.ReadKeys:
		c.checkKeys(a.Keys)
	case asked.ReadReplaying:
		c.checkReplaying(a.N != 0)
	case asked.Returned:
		if a.Token == 0 {
			c.returned = a
		} else {
			c.token(a.Token).ended = a
		}
	case asked.Panicked:
		c.panicked = true
	}
}

// stored returns a text as it comes back from a history, with U+FFFD in place of each byte that is not valid UTF-8.
func stored(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

func (c *codeCheck) checkScheduled(a *asked.Call) {
	if a.Action.Kind == orchhost.ActionDetached {
		c.claim(a.Action)
		return
	}
	f := token{event: -1, by: a.By}
	switch {
	case a.Action.Kind == orchhost.ActionSubOrchestration && c.t.OwnChildIDs && strings.HasPrefix(a.Action.Instance, "sub::"):
		f.answered, f.refused = true, stored(a.Action.Instance)
	default:
		if f.event = c.claim(a.Action); f.event >= 0 {
			c.fact(c.event(f.event).EventID).token = a.Token
		}
		if a.Action.Kind == orchhost.ActionTimer && c.t.Semantics == engine.SemanticsEagerTimers {
			c.claim(a.Action)
		}
	}
	*c.token(a.Token) = f
}

// claim consumes the next event that comes from the code and returns its position. The event must record the given
// request; if it does not, claim returns -1.
func (c *codeCheck) claim(a *orchhost.Action) int {
	pos := c.next()
	for ; pos >= 0 && pos < len(c.t.History); pos = c.next() {
		if pos >= c.walked {
			c.left = append(c.left, c.event(pos).EventID)
		} else if !c.passed(pos) || c.reached == unknown && c.records(a, c.event(pos), false) {
			break
		}
	}
	if c.continued != nil && pos >= 0 && pos < len(c.t.History) {
		a = c.continued.Action // it leaves no event, so it is still to be matched
	}
	if pos < 0 {
		if c.unrecorded = true; c.died.IsZero() {
			c.say("the code requests %s, but the turn does not record that: expected an event for each request", request(a))
		}
		return -1
	}
	e := c.event(pos)
	if !c.records(a, e, pos >= len(c.t.History)) {
		if c.strayed = true; c.died.Configuration == nil {
			c.say("the code requests %s, but %s is %s: expected events in the order of the requests, with their values", request(a), event(e), shown(e.Data))
		} else {
			c.checkDisagreement(a, e)
		}
		return -1
	}
	c.apply(e)
	if pos >= len(c.t.History) {
		c.checkSent(a, e)
	}
	return pos
}

// next consumes the next event that comes from the code and returns its position, or -1 if there are no more.
func (c *codeCheck) next() int {
	if c.at == len(c.codes) {
		return -1
	}
	c.at++
	return c.codes[c.at-1]
}

// passed reports whether the replay passes over an event: a change of state in the history, at which the code has asked
// for nothing that is still to be matched (docs/contract/runtime.md#r7.3). If the events do not determine how far the
// code had got, the turn's failure tells whether it disagrees with that event.
func (c *codeCheck) passed(pos int) bool {
	if c.isSchedule(pos) {
		return false
	}
	if c.reached != unknown {
		return pos < c.reached
	}
	return !strings.HasPrefix(c.reason(), mismatchOf(c.event(pos).Data)+" mismatch: ")
}

// records reports whether an event records a request. fresh means that this turn recorded the event. In an older event,
// a timer's time is not compared, since it depends on the turn that recorded it; nor is a child's id, which may be
// automatic. A child's version is in its start message.
func (c *codeCheck) records(a *orchhost.Action, e *engine.Event, fresh bool) bool {
	is := func(got, asked string) bool {
		return (!fresh || utf8.ValidString(got)) && got == asked || got == stored(asked)
	}
	switch d := e.Data.(type) {
	case eventdata.ActivityScheduled:
		return a.Kind == orchhost.ActionActivity && is(d.Name, a.Name) && is(d.Input, a.Input) && is(d.SessionID, a.Session) && is(d.Tag, a.Tag)
	case eventdata.TimerCreated:
		delay := uint64(max(0, a.Delay/time.Millisecond))
		return a.Kind == orchhost.ActionTimer && (!fresh || d.FireAtMs == e.TimestampMs+delay)
	case eventdata.SubOrchestrationScheduled:
		return a.Kind == orchhost.ActionSubOrchestration && is(d.Name, a.Name) && is(d.Input, a.Input) &&
			(!fresh || a.Instance == "" && strings.HasPrefix(d.Instance, "sub::") || a.Instance != "" && is(d.Instance, a.Instance))
	case eventdata.ExternalSubscribed:
		return (a.Kind == orchhost.ActionWait || a.Kind == orchhost.ActionWait2 && !(fresh && c.t.WaitGeneration == 2)) && is(d.Name, a.Name)
	case eventdata.ExternalSubscribed2:
		return a.Kind == orchhost.ActionWait2 && !(fresh && c.t.WaitGeneration == 1) && is(d.Name, a.Name) && is(d.Topic, a.Topic)
	case eventdata.QueueSubscribed:
		return a.Kind == orchhost.ActionDequeue && is(d.Name, a.Name)
	case eventdata.OrchestrationChained:
		return a.Kind == orchhost.ActionDetached && is(d.Name, a.Name) && is(d.Instance, a.Instance) && is(d.Input, a.Input)
	}
	return c.recordsChange(a, e.Data, fresh, is)
}

func request(a *orchhost.Action) string {
	return fmt.Sprintf("request %d, %s", a.Kind, pretty.Value(a))
}
