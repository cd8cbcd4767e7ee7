package search

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/properties/oracle"
	"github.com/durosim/durosim/properties/undertest"
)

// move is one step of a sequence: a call, damage, a wait, or a restart of the provider. Tokens in args are those from the
// first run.
type move struct {
	args    call.Call
	token   string        // the token in the answer to the call in the first run
	wait    time.Duration // how long to wait, if args is nil
	restart bool          // restart the provider, if args is nil
	kill    bool          // the provider is killed during the call
	step    int           // the storage fails before this step of the ack, counted from 1; 0 if it does not fail
	was     oracle.Exchange
}

// shrinker shortens a sequence.
type shrinker struct {
	factory undertest.Factory
	options oracle.Options
	class   string          // the class of refusal that every shorter sequence must show
	err     error           // a failure that makes a verdict impossible
	context context.Context // ends the shortening early
}

// replay makes the moves on a fresh store. It returns the first refusal, a transcript of the calls before that, and how
// many moves it took to get there.
func (s *shrinker) replay(moves []move) (refusal *oracle.Refusal, transcript []string, used int) {
	if s.err == nil {
		s.err = s.context.Err()
	}
	if s.err != nil {
		return nil, nil, 0
	}
	in, err := s.factory.Make()
	if err != nil {
		s.err = err
		return nil, nil, 0
	}
	defer func() {
		if refusal == nil || refusal.Crash == "" {
			in.Release()
		}
	}()
	judge, calls, waited, has := oracle.New(s.options), 0, time.Duration(0), map[string]bool{}
	tokens := map[string]string{} // this run's tokens, keyed by those of the first run; never iterated over, so map order does not matter
	owners := map[string]string{} // the instances of this run's tokens; never iterated over
	for i, m := range moves {
		if m.restart {
			now := in.NowMs()
			in.Reopen()
			transcript, waited = append(transcript, restarts), 0
			if in.Down() != nil {
				return judge.Apply(oracle.Exchange{Crash: fell(in), At: oracle.At(now)}), transcript, i + 1
			}
			continue
		}
		if m.args == nil {
			in.Advance(m.wait)
			if waited > 0 {
				transcript = transcript[:len(transcript)-1] // waits in a row are shown as one
			}
			waited += m.wait
			transcript = append(transcript, passes(waited, in.NowMs()))
			continue
		}
		e, began := oracle.Exchange{Call: retoken(m.args, tokens), Failing: m.step > 0}, in.NowMs()
		if ack, ok := e.Call.(call.AckOrchestrationItem); ok && circular(owners[ack.LockToken], ack.Metadata.ParentInstanceID) {
			return nil, nil, 0
		}
		if e.Failing {
			in.FailAckStep(m.step - 1)
		}
		switch m.args.(type) {
		case call.CorruptEvent, call.CorruptMessage:
			done := false
			if done, e.Crash = damage(in, m.args); !done {
				continue
			}
		default:
			if e.Answer, e.Lost, e.Crash = perform(in, e.Call, m.kill, has); errors.Is(e.Answer.Err, engine.ErrUnsupported) {
				continue
			}
		}
		e.At = during(in, began, e.Crash)
		if in.Broken != nil && e.Crash == "" && in.Down() == nil && in.Broken() != nil {
			s.err = in.Broken()
			return nil, nil, 0
		}
		if refusal = judge.Apply(e); refusal != nil {
			return refusal, transcript, i + 1
		}
		if token := oracle.Token(e.Answer); m.token != "" && token != "" {
			tokens[m.token] = token
		}
		if f := e.Answer.Orchestration; f != nil {
			owners[f.LockToken] = f.Item.Instance
		}
		calls++
		waited = 0
		transcript = append(transcript, told(calls, e, m.kill))
		if in.Down() != nil {
			return judge.Apply(oracle.Exchange{Crash: fell(in), At: oracle.At(began)}), transcript, i + 1
		}
	}
	return nil, transcript, len(moves)
}

const restarts = "     the provider is killed, and started again"

func told(number int, e oracle.Exchange, killed bool) string {
	text := fmt.Sprintf("%4d at %s ms: %s\n       → %s", number, e.At, e, e.AnswerText())
	if killed {
		text += "\n" + restarts
	}
	return text
}

func passes(d time.Duration, toMs int64) string {
	return fmt.Sprintf("     time passes: %d ms, to %d ms", d.Milliseconds(), toMs)
}

// retoken replaces a token by the corresponding token in this run, or by an unknown token if this run has none.
func retoken(args call.Call, tokens map[string]string) call.Call {
	now := func(token string) string {
		if t := tokens[token]; t != "" {
			return t
		}
		return "no longer given: " + token
	}
	return call.WithLockToken(args, now(call.LockToken(args)))
}

// least removes moves and parts of calls for as long as an answer is still rejected.
func (s *shrinker) least(moves []move) []move {
	fails := func(some []move) (int, bool) {
		_, _, used, failed := s.fails(some)
		return used, failed
	}
	if calm := calmer(moves); len(calm) > len(moves) {
		if _, failed := fails(calm); failed {
			moves = calm
		}
	}
	for {
		moves = undertest.Least(moves, fails)
		if !simplify(moves, fails) {
			return moves
		}
	}
}

// fails replays moves until an answer of the class is rejected, or often enough. It returns the last refusal, with what
// replay returns beside it.
func (s *shrinker) fails(moves []move) (refusal *oracle.Refusal, transcript []string, used int, failed bool) {
	for range attempts(moves) {
		if refusal, transcript, used = s.replay(moves); refusal != nil && classOf(refusal) == s.class {
			return refusal, transcript, used, true
		}
	}
	return refusal, transcript, used, false
}

// attempts returns how often moves are replayed until they fail: what a kill leaves depends on its moment.
func attempts(moves []move) int {
	if slices.ContainsFunc(moves, func(m move) bool { return m.kill }) {
		return 3
	}
	return 1
}

// calmer returns the moves with each kill during a call replaced by a restart after it.
func calmer(moves []move) (calm []move) {
	for _, m := range moves {
		killed := m.kill
		m.kill = false
		if calm = append(calm, m); killed {
			calm = append(calm, move{restart: true})
		}
	}
	return calm
}

// simplify removes optional parts from calls, and reports whether it removed any.
func simplify(moves []move, fails func([]move) (int, bool)) (simpler bool) {
	for i, m := range moves {
		for _, less := range lesser(m.args) {
			moves[i].args = less
			if _, ok := fails(moves); ok {
				simpler = true
				break
			}
			moves[i].args = m.args
		}
	}
	return simpler
}

// lesser returns simpler variants of a call, each with something left out.
func lesser(c call.Call) []call.Call {
	switch c := c.(type) {
	case call.AckOrchestrationItem:
		return lesserAcks(c)
	case call.EnqueueForOrchestrator:
		return less(nil, c, c.Delay != 0, func(c *call.EnqueueForOrchestrator) { c.Delay = 0 })
	case call.AbandonOrchestrationItem:
		list := less(nil, c, c.Delay != 0, func(c *call.AbandonOrchestrationItem) { c.Delay = 0 })
		return less(list, c, c.IgnoreAttempt, func(c *call.AbandonOrchestrationItem) { c.IgnoreAttempt = false })
	case call.AbandonWorkItem:
		list := less(nil, c, c.Delay != 0, func(c *call.AbandonWorkItem) { c.Delay = 0 })
		return less(list, c, c.IgnoreAttempt, func(c *call.AbandonWorkItem) { c.IgnoreAttempt = false })
	case call.FetchOrchestrationItem:
		return less(nil, c, c.Filter != nil, func(c *call.FetchOrchestrationItem) { c.Filter = nil })
	}
	return nil
}

// less adds a changed copy of c to the list if that is worth it.
func less[C call.Call](list []call.Call, c C, worth bool, change func(*C)) []call.Call {
	if worth {
		change(&c)
		list = append(list, c)
	}
	return list
}

func lesserAcks(ack call.AckOrchestrationItem) (list []call.Call) {
	try := func(worth bool, change func(a *call.AckOrchestrationItem)) { list = less(list, ack, worth, change) }
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
