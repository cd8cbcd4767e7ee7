package sample

import "testing"

// Must returns what a call has returned. An error ends the test: sample.Must(call())(t).
func Must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
