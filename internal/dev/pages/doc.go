// Package pages contains tests that compare the pages of docs/ with what they are generated from, and write them.
//
//	go -C internal/dev test -count=1 ./pages            # check
//	go -C internal/dev test -count=1 ./pages -update    # write
//
// A generated list stands between the lines "<!-- generated NAME: ... -->" and "<!-- end NAME -->"; the output of a
// command between "<!-- output of: go run ./cmd/simrun ... -->" and "<!-- end output -->". The test cache does not know
// the files of another module, hence -count=1.
package pages
