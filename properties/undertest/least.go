package undertest

import (
	"slices"

	"github.com/durosim/durosim/internal/minimize"
)

// mostPairs is the largest number of moves for which all pairs are tried. Some calls can only be removed together, such
// as a fetch and its ack.
const mostPairs = 60

// Least removes moves for as long as the others still fail. It tries long runs of moves first, then pairs, and continues
// until no move can be removed. fails also returns how many moves it took to fail. If not even all moves fail, which
// happens if the provider is nondeterministic, Least returns them unchanged.
func Least[M any](moves []M, fails func(some []M) (used int, failed bool)) []M {
	used, failed := fails(moves)
	if !failed {
		return moves
	}
	moves = moves[:used]
	count := func() int { return len(moves) }
	without := func(from, to int) bool {
		some := slices.Concat(moves[:from], moves[to:])
		used, failed := fails(some)
		if failed {
			moves = some[:used]
		}
		return failed
	}
	never := func() bool { return false }
	minimize.Runs(len(moves)/2, count, without, never)
	for {
		two := withoutTwo(moves, fails)
		if two == nil {
			return moves
		}
		moves = two
		minimize.Runs(1, count, without, never)
	}
}

// withoutTwo returns the moves without some two of them, or nil if no two can be removed.
func withoutTwo[M any](moves []M, fails func([]M) (int, bool)) []M {
	for i := range moves {
		for j := i + 1; j < len(moves) && len(moves) <= mostPairs; j++ {
			some := slices.Concat(moves[:i], moves[i+1:j], moves[j+1:])
			if used, failed := fails(some); failed {
				return some[:used]
			}
		}
	}
	return nil
}
