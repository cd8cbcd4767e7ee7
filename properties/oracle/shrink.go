package oracle

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"
)

// move is one thing that a sequence does: a call, damage, or waiting. Tokens in args are those of the first run.
type move struct {
	args  Args
	token string        // that the call was answered with in the first run
	wait  time.Duration // for args nil
}

// replay carries moves out on a fresh store. It returns the first refusal, with a transcript of what came before it and
// the number of moves that it took.
func replay(t testing.TB, f Factory, o Options, moves []move) (refusal *Refusal, transcript []string, used int) {
	in := f.New(t)
	defer in.close()
	oracle := New(o)
	tokens := map[string]string{} // of this run, by the one of the first run; looked up only
	for i, m := range moves {
		if m.args == nil {
			in.Advance(m.wait)
			transcript = append(transcript, fmt.Sprintf("     time passes: %d ms, to %d ms", m.wait.Milliseconds(), in.NowMs()))
			continue
		}
		call, begin := Call{Args: retoken(m.args, tokens)}, in.NowMs()
		var a Answer
		switch m.args.(type) {
		case CorruptEvent, CorruptMessage:
			if !in.damage(m.args) {
				continue
			}
		default:
			a = Perform(context.Background(), in.Provider, call)
		}
		at := Between(begin, in.NowMs())
		if refusal = oracle.Apply(call, a, at); refusal != nil {
			return refusal, transcript, i + 1
		}
		if m.token != "" && a.token() != "" {
			tokens[m.token] = a.token()
		}
		transcript = append(transcript, fmt.Sprintf("%4d at %s ms: %s\n       → %s", oracle.calls, at, call, a.describe(call.Args.Method())))
	}
	return nil, transcript, len(moves)
}

// retoken replaces a token by the one of this run. One that nobody gave in this run is replaced by one that nobody gives.
func retoken(args Args, tokens map[string]string) Args {
	now := func(token string) string {
		if t := tokens[token]; t != "" {
			return t
		}
		return "no longer given: " + token
	}
	switch r := args.(type) {
	case AckOrchestrationItem:
		r.Token = now(r.Token)
		return r
	case AbandonOrchestrationItem:
		r.Token = now(r.Token)
		return r
	case RenewOrchestrationItemLock:
		r.Token = now(r.Token)
		return r
	case AckWorkItem:
		r.Token = now(r.Token)
		return r
	case RenewWorkItemLock:
		r.Token = now(r.Token)
		return r
	case AbandonWorkItem:
		r.Token = now(r.Token)
		return r
	}
	return args
}

// least leaves moves out while an answer is still refused, longer runs of them first, until none can be left out.
func least(t testing.TB, f Factory, o Options, moves []move) []move {
	fails := func(some []move) (int, bool) {
		refusal, _, used := replay(t, f, o, some)
		return used, refusal != nil
	}
	if used, ok := fails(moves); ok {
		moves = moves[:used]
	} else {
		return moves // it does not happen again: the provider is not deterministic
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

// mostPairs bounds the moves of which pairs are left out: two calls may only go together, such as a fetch and its ack.
const mostPairs = 60

// withoutTwo leaves out two moves, nil if no two can go.
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

// simplify leaves out what acks need not bring; it says whether anything was left out.
func simplify(moves []move, fails func([]move) (int, bool)) (simpler bool) {
	for i, m := range moves {
		ack, ok := m.args.(AckOrchestrationItem)
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

// lesser are acks that bring less than one does.
func lesser(ack AckOrchestrationItem) (list []Args) {
	try := func(worth bool, change func(a *AckOrchestrationItem)) {
		if worth {
			a := ack
			change(&a)
			list = append(list, a)
		}
	}
	for i := range ack.HistoryDelta {
		try(true, func(a *AckOrchestrationItem) {
			a.HistoryDelta = append(ack.HistoryDelta[:i:i], ack.HistoryDelta[i+1:]...)
		})
	}
	m := &ack.Metadata
	try(len(ack.WorkerItems) > 0, func(a *AckOrchestrationItem) { a.WorkerItems = nil })
	try(len(ack.OrchestratorItems) > 0, func(a *AckOrchestrationItem) { a.OrchestratorItems = nil })
	try(len(ack.CancelledActivities) > 0, func(a *AckOrchestrationItem) { a.CancelledActivities = nil })
	try(m.PinnedVersion != nil, func(a *AckOrchestrationItem) { a.Metadata.PinnedVersion = nil })
	try(m.ParentInstanceID != "", func(a *AckOrchestrationItem) { a.Metadata.ParentInstanceID = "" })
	try(m.Output != nil, func(a *AckOrchestrationItem) { a.Metadata.Output = nil })
	try(m.Status != "", func(a *AckOrchestrationItem) { a.Metadata.Status = "" })
	return list
}
