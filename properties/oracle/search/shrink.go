package search

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/call"
	"github.com/durosim/durosim/properties/oracle"
	"github.com/durosim/durosim/properties/undertest"
)

// move is one step of a sequence: a call, damage, or a wait. Tokens in args are those of the first run.
type move struct {
	args  call.Call
	token string        // the token in the call's answer in the first run
	wait  time.Duration // for args nil
	step  int           // the step of the ack, counted from 1, before which the storage fails; 0 for none
}

// shrinker shortens a sequence.
type shrinker struct {
	factory undertest.Factory
	options oracle.Options
	class   string // the class of the refusal, which must not change
	err     error  // a failure after which there is no verdict
}

// replay makes moves on a fresh store. It returns the first refusal, with a transcript of the calls before it and the
// number of moves that it took.
func (s *shrinker) replay(moves []move) (refusal *oracle.Refusal, transcript []string, used int) {
	if s.err != nil {
		return nil, nil, 0
	}
	in, err := s.factory.Make()
	if err != nil {
		s.err = err
		return nil, nil, 0
	}
	defer in.Release()
	judge, calls := oracle.New(s.options), 0
	tokens := map[string]string{} // tokens of this run, keyed by those of the first run; for look-ups only
	for i, m := range moves {
		if m.args == nil {
			in.Advance(m.wait)
			transcript = append(transcript, fmt.Sprintf("     time passes: %d ms, to %d ms", m.wait.Milliseconds(), in.NowMs()))
			continue
		}
		e, began := oracle.Exchange{Call: retoken(m.args, tokens), Failing: m.step > 0}, in.NowMs()
		if e.Failing {
			in.FailAckStep(m.step - 1)
		}
		switch m.args.(type) {
		case call.CorruptEvent, call.CorruptMessage:
			if !damage(in, m.args) {
				continue
			}
		default:
			if e.Answer = call.Perform(context.Background(), in.Provider, e.Call); errors.Is(e.Answer.Err, engine.ErrUnsupported) {
				continue
			}
		}
		e.At = oracle.Between(began, in.NowMs())
		if in.Broken != nil && in.Broken() != nil {
			s.err = in.Broken()
			return nil, nil, 0
		}
		if refusal = judge.Apply(e); refusal != nil {
			return refusal, transcript, i + 1
		}
		if token := oracle.Token(e.Answer); m.token != "" && token != "" {
			tokens[m.token] = token
		}
		calls++
		transcript = append(transcript, fmt.Sprintf("%4d at %s ms: %s\n       → %s", calls, e.At, e, e.AnswerText()))
	}
	return nil, transcript, len(moves)
}

// retoken replaces a token by its counterpart of this run, or by an unknown token if this run has none.
func retoken(args call.Call, tokens map[string]string) call.Call {
	now := func(token string) string {
		if t := tokens[token]; t != "" {
			return t
		}
		return "no longer given: " + token
	}
	return call.WithLockToken(args, now(call.LockToken(args)))
}

// least removes moves while an answer is still rejected, longer runs of them first, until none can be removed.
func (s *shrinker) least(moves []move) []move {
	fails := func(some []move) (int, bool) {
		refusal, _, used := s.replay(some)
		return used, refusal != nil && classOf(refusal) == s.class
	}
	if used, ok := fails(moves); ok {
		moves = moves[:used]
	} else {
		return moves // the refusal does not recur: the provider is not deterministic
	}
	for size := max(len(moves)/2, 1); ; {
		shorter := false
		for at := 0; at+size <= len(moves); {
			some := append(moves[:at:at], moves[at+size:]...)
			if used, ok := fails(some); ok {
				moves, shorter = some[:used], true
			} else {
				at += size
			}
		}
		switch {
		case size > 1:
			size /= 2
		case !shorter:
			if two := withoutTwo(moves, fails); two != nil {
				moves = two
			} else if !simplify(moves, fails) {
				return moves
			}
		}
	}
}

// mostPairs bounds the number of moves for which pairs are tried: some calls can only be removed together, such as a
// fetch and its ack.
const mostPairs = 60

// withoutTwo removes two moves; it returns nil if no two can be removed.
func withoutTwo(moves []move, fails func([]move) (int, bool)) []move {
	for i := range moves {
		for j := i + 1; j < len(moves) && len(moves) <= mostPairs; j++ {
			some := slices.Concat(moves[:i], moves[i+1:j], moves[j+1:])
			if used, ok := fails(some); ok {
				return some[:used]
			}
		}
	}
	return nil
}

// simplify removes optional parts of acks; it reports whether it removed any.
func simplify(moves []move, fails func([]move) (int, bool)) (simpler bool) {
	for i, m := range moves {
		ack, ok := m.args.(call.AckOrchestrationItem)
		if !ok {
			continue
		}
		for _, less := range lesser(ack) {
			moves[i].args = less
			if _, ok := fails(moves); ok {
				simpler = true
				break
			}
			moves[i].args = ack
		}
	}
	return simpler
}

// lesser returns acks that contain less than the given one.
func lesser(ack call.AckOrchestrationItem) (list []call.Call) {
	try := func(worth bool, change func(a *call.AckOrchestrationItem)) {
		if worth {
			a := ack
			change(&a)
			list = append(list, a)
		}
	}
	for i := range ack.HistoryDelta {
		try(true, func(a *call.AckOrchestrationItem) {
			a.HistoryDelta = append(ack.HistoryDelta[:i:i], ack.HistoryDelta[i+1:]...)
		})
	}
	m := &ack.Metadata
	try(len(ack.WorkerItems) > 0, func(a *call.AckOrchestrationItem) { a.WorkerItems = nil })
	try(len(ack.OrchestratorItems) > 0, func(a *call.AckOrchestrationItem) { a.OrchestratorItems = nil })
	try(len(ack.CancelledActivities) > 0, func(a *call.AckOrchestrationItem) { a.CancelledActivities = nil })
	try(m.PinnedVersion != nil, func(a *call.AckOrchestrationItem) { a.Metadata.PinnedVersion = nil })
	try(m.ParentInstanceID != "", func(a *call.AckOrchestrationItem) { a.Metadata.ParentInstanceID = "" })
	try(m.Output != nil, func(a *call.AckOrchestrationItem) { a.Metadata.Output = nil })
	try(m.Status != "", func(a *call.AckOrchestrationItem) { a.Metadata.Status = "" })
	return list
}
