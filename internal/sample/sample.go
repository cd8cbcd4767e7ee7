package sample

import "os"

// Env is the environment variable that asks for every row of every table.
const Env = "DUROSIM_LONG"

// All reports whether to try every row.
func All() bool { return os.Getenv(Env) != "" }

// Number returns the number of seeds, plans or sequences to try: all with DUROSIM_LONG, few without.
func Number(few, all uint64) uint64 {
	if All() {
		return all
	}
	return few
}

// Of returns the rows to try, in order: the first of every group of that many rows, or all rows.
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
