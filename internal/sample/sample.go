// Package sample samples the rows of long tables in tests:
//
//	for _, bug := range sample.Of(faults.Catalogue(), 8) {
//
// By default, this visits every eighth row. With DUROSIM_LONG=1 in the environment, it visits every row. The package is
// for use in tests only, and has what else tests of several packages share.
package sample

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"testing"
)

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

// Main is the TestMain function for packages whose tests make many short runs. It lets the heap grow to five times the
// size of the live heap before a collection, which saves a third of the processor time. If GOGC is set, Main leaves it
// in effect.
func Main(m *testing.M) {
	CollectLess()
	os.Exit(m.Run())
}

// CollectLess has the same effect on garbage collection as Main. It is for packages with their own TestMain.
func CollectLess() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}

// TB is a test, of testing or of rapid.
type TB interface {
	Helper()
	Fatal(args ...any)
}

// OK ends the test at an error.
func OK(t TB, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}

// Must returns what a call has returned. An error ends the test: sample.Must(call())(t).
func Must[T any](v T, err error) func(TB) T {
	return func(t TB) T {
		t.Helper()
		OK(t, err)
		return v
	}
}

// Panics ends the test unless f panics with a text that contains want.
func Panics(t TB, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := recover(); got == nil || !strings.Contains(fmt.Sprint(got), want) {
			t.Fatal(fmt.Sprintf("panic is %v, want one that contains %q", got, want))
		}
	}()
	f()
}
