// Package tidy holds the tests that keep the sources in order; it exports nothing.
//
//	go test ./internal/tidy            # check
//	go test ./internal/tidy -update    # write the generated lists in docs/
//
// The tests parse the module's files themselves, so that the test cache knows their dependencies. They check
//
//   - the import graph: which package may import which, and which modules from elsewhere (tidy_test.go, packages);
//   - that every permission given there is used, that docs/architecture.md draws and lists the real packages, and that no
//     command links what only tests need (allowances_test.go, architecture_test.go);
//   - the bans that make a run a function of its seed (bans_test.go, each with what to write instead);
//   - that no test sleeps, that each package has a doc.go, which shows within five lines how to use the package, with
//     code, and that files stay short;
//   - that no file names a machine's paths or the host of a package registry;
//   - that everything the last release exports still exists, or is listed in CHANGELOG.md (api_test.go, testdata/api.txtar);
//   - that the generated lists in docs/ and the code in README.md match the sources;
//   - that every page and anchor of docs/ cited in comments, messages, scenarios and pages exists.
//
// A ban can be lifted for one line by a comment on it, or on the line above, that gives a reason:
//
//	for id := range seen { //tidy:ordered only the sum is used
//
// The comments are //tidy:ordered for a range over a map and //tidy:float for a floating-point value. A comment that
// lifts no ban is a failure, too.
//
// Tests of the checks themselves use planted sources with faults that the checks must find (planted_test.go).
package tidy
