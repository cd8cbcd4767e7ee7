// Package minimize removes parts of what fails for as long as the rest still fails: parts of plans and their programs
// (sim/shrink), and of sequences of calls (properties/undertest).
package minimize

// Runs removes runs of parts: of up to largest parts at a time, then of half as many, and so on, until no single part
// can be removed. It begins at the end each time, because late parts rarely matter. count returns how many parts are
// left. without removes the parts from from to to if the others still fail, and reports whether it did; it may remove
// more than it is asked for. Runs reports whether anything was removed, and gives up once spent reports true.
func Runs(largest int, count func() int, without func(from, to int) bool, spent func() bool) (changed bool) {
	for size := min(largest, count()); size > 0 && !spent(); {
		removed := false
		for to := count(); to > 0; {
			to = min(to, count())
			from := max(to-size, 0)
			if from < to && without(from, to) {
				removed = true
			}
			to = from
		}
		changed = changed || removed
		if size /= 2; size == 0 && removed {
			size = 1
		}
		size = min(size, count())
	}
	return changed
}
