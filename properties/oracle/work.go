package oracle

import (
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
)

var workRules = []rule{
	on((*State).fetchWork).losing((*State).lostActivities), on((*State).ackWork), on((*State).renewWork), on((*State).abandonWork),
}

// ready reports whether a worker row is visible and unlocked.
func (w *row) ready(j *judge) truth {
	unlocked := known(true)
	if w.token != "" {
		unlocked = w.until.reached(j.at)
	}
	return w.visible.reached(j.at).and(unlocked)
}

// takesTag reports whether a tag filter accepts a tag; see docs/contract/provider.md#p6.7.
func takesTag(f engine.TagFilter, tag string) bool {
	in := slices.Contains(f.Tags, tag)
	switch f.Mode {
	case engine.TagDefaultOnly:
		return tag == ""
	case engine.TagTags:
		return tag != "" && in
	case engine.TagDefaultAnd:
		return tag == "" || in
	case engine.TagAny:
		return true
	}
	return false
}

// takesSession reports whether a fetch may take rows of the session; see docs/contract/provider.md#p6.6.
func (s *State) takesSession(j *judge, id string, f *engine.SessionFetchConfig) truth {
	if id == "" {
		return known(true)
	}
	if f == nil {
		return known(false)
	}
	have := s.session(id)
	if have == nil || have.owner == f.OwnerID {
		return known(true)
	}
	return have.until.reached(j.at)
}

func (s *State) session(id string) *session {
	if i := slices.IndexFunc(s.sessions, func(have session) bool { return have.id == id }); i >= 0 {
		return &s.sessions[i]
	}
	return nil
}

// fetchWork judges the call against docs/contract/provider.md#p5.8.
func (s *State) fetchWork(j *judge, r call.FetchWorkItem) {
	got, err := j.answer.Work, j.answer.Err
	ready, damaged, fresh := false, false, false // whether an earlier row is ready, undecodable, or not yet delivered
	same := func() *State { return s }
	for i := range s.work {
		w := &s.work[i]
		e := w.ready(j).and(s.takesSession(j, w.session(), r.Session))
		if !takesTag(r.Tags, w.tag()) {
			e = known(false)
		}
		decodable := j.decodesItem(w.item, w.corrupt)
		given := decodable && err == nil && got != nil && j.returns(w, got)
		if given {
			s.objectRow(j, r, w, e, fresh)
		}
		if decodable && e.may && (!fresh || w.delivered && j.grants(f25Redelivered)) {
			given = given && got.AttemptCount == w.count+1 && got.LockToken != ""
			s.allowRow(j, r, w, given)
		}
		if e.may && !decodable {
			damaged = true
		}
		if e.must && decodable {
			ready = true
			fresh = fresh || !w.delivered || !j.grants(f25Redelivered)
		}
	}
	nothing := err == nil && got == nil
	switch {
	case !ready:
		j.allow(by("5.8", "I10"), nothing, same, "nothing")
	case damaged:
		j.allow(free(xUndecodableRow, "5.8"), nothing, same, "nothing: an undecodable row blocks the queue")
	default:
		j.allow(free(f5Contention, "9"), nothing, same, "nothing, under contention")
		if nothing {
			j.object(by("5.8", ""), "nothing was found although a row is ready")
		}
	}
	if damaged {
		j.allow(free(xUndecodableRow, "5.8"), err != nil, same, "a permanent error, with nothing locked: the row cannot be decoded")
	}
	if got != nil && len(j.objections) == 0 {
		j.object(by("5.8", "I2 I12 I17"), "no such row is in the queue")
	}
	if err != nil && !err.Retryable {
		j.object(by("5.8", "I11"), "a fetch that finds nothing is no error")
	}
}

func (j *judge) returns(w *row, got *engine.FetchedWork) bool {
	return sameItem(got.Item, j.item(w.item))
}

// allowRow allows a row to be returned. The row lock, the count and the session change in a single step.
func (s *State) allowRow(j *judge, r call.FetchWorkItem, w *row, given bool) {
	position := w.position
	j.allow(by("5.8", "I2 I5 I13"), given, func() *State {
		return s.with(func(n *State) {
			for i := range n.work {
				if t := &n.work[i]; t.position == position {
					n.deliver(j, t, j.answer.Work.LockToken, &r)
				}
			}
		})
	}, "%s, attempt count %d", shown{w.item}, w.count+1)
}

// deliver locks and counts a row, and claims its session. The state must be a clone.
func (s *State) deliver(j *judge, w *row, token string, r *call.FetchWorkItem) {
	w.token, w.until, w.delivered = token, j.at.plus(r.LockTimeout.Milliseconds()), true
	w.count++
	if r.Session != nil && w.session() != "" {
		w.owner = r.Session.OwnerID
		s.claim(j, w.session(), r.Session)
	}
}

// claim assigns a session to an owner, or refreshes the session (F26). The state must be a clone.
func (s *State) claim(j *judge, id string, f *engine.SessionFetchConfig) {
	until := j.at.plus(f.LockTimeout.Milliseconds())
	if have := s.session(id); have != nil {
		if have.owner == f.OwnerID && j.grants(f26ShorterSession) && have.until.reached(j.at).not().may {
			until.Hi = max(until.Hi, have.until.Hi)
		}
		*have = session{id, f.OwnerID, until, j.at}
		return
	}
	at, _ := slices.BinarySearchFunc(s.sessions, id, func(have session, id string) int { return strings.Compare(have.id, id) })
	s.sessions = slices.Insert(s.sessions, at, session{id, f.OwnerID, until, j.at})
}

// objectRow records why a row must not be returned.
func (s *State) objectRow(j *judge, r call.FetchWorkItem, w *row, e truth, fresh bool) {
	if e.may && got(j, w) && (!fresh || w.delivered && j.grants(f25Redelivered)) || !j.explaining {
		return
	}
	unlocked := w.token == "" || w.until.reached(j.at).may
	switch {
	case !takesTag(r.Tags, w.tag()):
		j.object(by("6.7", ""), "the tag filter does not take tag %q: it takes %s", w.tag(), takenBy(r.Tags))
	case !s.takesSession(j, w.session(), r.Session).may:
		j.object(by("6.6", "I13"), "the row belongs to session %q, which the caller neither owns nor may claim", w.session())
	case !w.visible.reached(j.at).may:
		j.object(by("5.8", ""), "the row is not visible before %s ms", w.visible)
	case !unlocked:
		j.object(by("5.8", "I1 I2"), "the row is locked by token %q until %s ms", w.token, w.until)
	case j.answer.Work.LockToken == "":
		j.object(by("2", "I1"), "the answer has no token")
	case !got(j, w):
		j.object(by("6.3", "I5"), "attempt count %d, expected %d", j.answer.Work.AttemptCount, w.count+1)
	default:
		j.object(by("5.8", ""), "an older row is ready")
	}
}

func got(j *judge, w *row) bool {
	return j.answer.Work.AttemptCount == w.count+1 && j.answer.Work.LockToken != ""
}

func (s *State) holdingRow(j *judge, token string) (w *row, h held) {
	for i := range s.work {
		if w := &s.work[i]; token != "" && w.token == token {
			return w, held{true, w.until.reached(j.at).not()}
		}
	}
	return nil, held{}
}

// touch records activity in a row's session if the session is live, no matter which owner holds it (F27). The state
// must be a clone.
func (s *State) touch(j *judge, w row) {
	have := s.session(w.session())
	if w.session() == "" || have == nil {
		return
	}
	live := have.until.reached(j.at).not()
	if have.owner != w.owner {
		live.must = false
		live.may = live.may && j.grants(f27LateTouch)
	}
	switch {
	case live.must:
		have.active = j.at
	case live.may:
		have.active = have.active.over(j.at)
	}
}

// ackWork judges the call against docs/contract/provider.md#p5.9.
func (s *State) ackWork(j *judge, r call.AckWorkItem) {
	w, h := s.holdingRow(j, r.LockToken)
	j.dead("5.9", s, r.LockToken, h)
	if !h.live.may {
		return
	}
	completion := r.Completion
	if completion != nil {
		_, err := call.ItemText(completion)
		k := completion.Kind()
		if k != engine.ItemActivityCompleted && k != engine.ItemActivityFailed {
			j.permanent(by("4.2", ""), s, fmt.Sprintf("an item of kind %s is no completion", k))
			return
		}
		if err != nil || !j.decodesItem(completion, false) {
			j.permanent(by("3.3", ""), s, "the caller's build has no form for the completion")
		}
		if err != nil {
			return
		}
	}
	j.succeeds(by("5.9", "I12"), func() *State {
		return s.with(func(n *State) { n.complete(j, w.position, j.item(completion)) })
	})
	if j.answer.Err != nil {
		j.object(by("5.9", ""), "the lock is live")
	}
}

// complete deletes a row and enqueues its completion, if there is one. The state must be a clone.
func (s *State) complete(j *judge, position uint64, completion engine.WorkItem) {
	i := slices.IndexFunc(s.work, func(w row) bool { return w.position == position })
	s.touch(j, s.work[i])
	s.work = slices.Delete(s.work, i, i+1)
	if completion != nil {
		s.enqueue(completion, j.at)
	}
}

// renewWork judges the call against docs/contract/provider.md#p5.10.
func (s *State) renewWork(j *judge, r call.RenewWorkItemLock) {
	w, h := s.holdingRow(j, r.LockToken)
	j.renews("5.10", s, r.LockToken, h, func(n *State) {
		n.touch(j, *w)
		have, _ := n.holdingRow(j, r.LockToken)
		have.until = j.at.plus(r.ExtendFor.Milliseconds())
	})
}

// abandonWork judges the call against docs/contract/provider.md#p5.11.
func (s *State) abandonWork(j *judge, r call.AbandonWorkItem) {
	if _, h := s.holdingRow(j, r.LockToken); !j.abandons("5.11", s, r.LockToken, h) {
		return
	}
	j.succeeds(by("5.11", "I5"), func() *State {
		return s.with(func(n *State) {
			have, _ := n.holdingRow(j, r.LockToken)
			have.token, have.until = "", Span{}
			have.visible = j.at.plus(r.Delay.Milliseconds())
			if r.IgnoreAttempt && have.count > 0 {
				have.count--
			}
		})
	})
}

func takenBy(f engine.TagFilter) string {
	tags := strings.Join(f.Tags, ", ")
	return map[engine.TagMode]string{
		engine.TagDefaultOnly: "activities without a tag", engine.TagTags: "those with a tag of " + tags,
		engine.TagDefaultAnd: "those without a tag or with one of " + tags, engine.TagAny: "all", engine.TagNone: "none",
	}[f.Mode]
}
