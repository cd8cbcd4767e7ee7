package sample

import "os"

// Env is the name of the environment variable that makes tests try every row of every table.
const Env = "DUROSIM_LONG"

// All reports whether to try every row.
func All() bool { return os.Getenv(Env) != "" }

// Number returns the number of seeds, plans or sequences to try: all if Env is set, and few if not.
func Number(few, all uint64) uint64 {
	if All() {
		return all
	}
	return few
}

// Of returns the rows to try, in order. By default, these are rows 0, every, 2*every and so on. If Env is set, Of
// returns all rows.
func Of[T any](rows []T, every int) []T {
	if All() {
		return rows
	}
	var out []T
	for i := 0; i < len(rows); i += every {
		out = append(out, rows[i])
	}
	return out
}
