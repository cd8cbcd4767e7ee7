// Package tidy contains tests that keep the sources in order. It exports nothing.
//
//	go -C internal/dev test -count=1 ./tidy
//
// They check
//
//   - which package may import which, and which external modules it may import (imports_test.go);
//   - that judges do not ask the code that they judge, and say what they do not ask of released builds (judges_test.go);
//   - the bans that make a run a function of its seed (bans_test.go, which says what to write instead);
//   - that no file contains paths from a particular machine or the host name of a package registry (tidy_test.go);
//   - that everything exported by the last release still exists, or is listed in CHANGELOG.md (api_test.go,
//     testdata/api.txtar);
//   - that every page and anchor of docs/ cited in comments, messages, scenarios and pages exists (references_test.go).
//
// A comment can lift a ban for one line. It goes on that line or on the line above, and gives a reason:
//
//	for id := range seen { //tidy:ordered only the sum is used
//
// The comments are //tidy:ordered for a range over a map and //tidy:float for a floating-point value. A comment that
// does not lift a ban is itself an error.
//
// The checks are tested on sources with planted faults, which the checks must find (planted_test.go).
package tidy
