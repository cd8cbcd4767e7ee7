// Package tidy holds the tests that keep the sources in order; it exports nothing.
//
// The tests parse the module's files themselves, so that the test cache sees what they depend on. They check
//
//   - the import graph: which package may import which, and which modules from elsewhere (tidy_test.go, packages);
//   - that what is allowed there is used, that docs/architecture.md draws and lists what there is, and that no command links
//     what only tests need (allowances_test.go, architecture_test.go);
//   - the bans that make a run a function of its seed (bans_test.go, each with what to write instead);
//   - that no test sleeps, that each package has a doc.go, which says within five lines what to do with the package, with
//     code, and that files stay short;
//   - that no file names a machine's paths or the host of a package registry;
//   - that what the last release exports is still there, or listed in CHANGELOG.md (api_test.go, testdata/api.txtar);
//   - that the generated lists in docs/ and the code in README.md are those of the sources;
//   - that what comments, messages, scenarios and pages cite of docs/ is there, by page and anchor.
//
// A ban can be lifted for one line by a comment on it, or on the line above, that gives a reason:
//
//	for id := range seen { //tidy:ordered only the sum is used
//
// The comments are //tidy:ordered for a range over a map and //tidy:float for a floating-point value. One that lifts
// nothing is a failure, too.
//
// Each check is itself tested with planted sources that it must find fault with (planted_test.go).
//
//	go test ./internal/tidy            # check
//	go test ./internal/tidy -update    # write the generated lists in docs/
package tidy
