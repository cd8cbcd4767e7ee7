package sim

// Mark identifies one record of a run's trace by its index, from 0, with a running hash of all records up to it.
type Mark struct {
	Index uint64
	Sum   uint64
}

// FirstDifference returns the index of the first mark at which a and b differ. If one is a prefix of the other, it
// returns the length of the shorter one; if they are equal, it returns -1.
func FirstDifference(a, b []Mark) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	if len(a) != len(b) {
		return min(len(a), len(b))
	}
	return -1
}
