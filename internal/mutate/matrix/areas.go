package main

import (
	"path/filepath"
	"slices"
	"strings"
)

const module = "github.com/durosim/durosim/"

// area is a package to mutate.
type area struct {
	path string
	// room is the unit of sampling: a sample has the same number of mutants from each room. Several areas may share a
	// room. If it is empty, the area's path is its room.
	room string
	// files is a pattern for the base names of the files to mutate; empty means all files.
	files string
	// tests are the tests that may detect its mutants, in the order in which they run.
	tests []tests
}

// tests is a test package and a pattern for the tests to run; an empty pattern means all tests.
type tests struct{ path, run string }

func own(path string) []tests { return []tests{{path, ""}} }

// judged are the areas that campaigns, the provider's specification and conformance cases judge.
var judged = []area{
	{"memprovider", "", "", own("memprovider")},
	{"internal/storerules", "memprovider", "", own("memprovider")},
	{"internal/replay", "", "", own("internal/replay")},
	{"internal/machine", "", "", own("internal/machine")},
	{"engine", "codecs", "{codec,json*,opaque}.go", own("engine")},
	{"internal/eventdata", "codecs", "", own("engine")},
	{"internal/jsonform", "codecs", "", own("engine")},
}

// stories are the tests that run stories on all checkers of a monitor, the fastest first.
var stories = []tests{
	{"properties/internal/liveness", ""}, {"properties/internal/track", ""}, {"properties/internal/outcome", ""}, {"properties/internal/expect", ""},
	{"properties/internal/coverage", ""}, {"properties/internal/model", ""}, {"properties/internal/safety", ""},
}

// oracles are the tests of sequences of calls with wrong answers.
var oracles = []tests{{"properties/oracle", ""}, {"properties/oracle/calllog", ""}, {"properties/conformance", "^TestKill"}, {"properties/oracle/search", ""}}

// told returns the tests for a package of checkers: its own tests, then the other stories.
func told(path string) []tests {
	others := slices.DeleteFunc(slices.Clone(stories), func(t tests) bool { return t.path == path })
	return append(own(path), others...)
}

// checkers are the areas that judge other code. Only stories and tables judge their mutants. Planted bugs and campaigns
// do not, because a campaign holds on correct code.
var checkers = []area{
	{"properties/internal/check", "", "", told("properties/internal/check")},
	{"properties/internal/coded", "", "", append(own("properties/internal/coded"), tests{"properties/internal/safety", ""})},
	{"properties/internal/conduct", "", "", own("properties/internal/conduct")},
	{"properties/internal/coverage", "", "", told("properties/internal/coverage")},
	{"properties/internal/expect", "", "", told("properties/internal/expect")},
	{"properties/internal/liveness", "", "", told("properties/internal/liveness")},
	{"properties/internal/model", "", "", told("properties/internal/model")},
	{"properties/internal/outcome", "", "", told("properties/internal/outcome")},
	{"properties/internal/safety", "", "", told("properties/internal/safety")},
	{"properties/internal/track", "", "", told("properties/internal/track")},
	{"properties/oracle", "", "", oracles},
	{"properties/oracle/turn", "", "", own("properties/oracle/turn")},
}

// mutates reports whether a file of the area is mutated.
func (a area) mutates(file string) bool {
	if a.files == "" {
		return true
	}
	before, rest, braces := strings.Cut(a.files, "{")
	list, after, _ := strings.Cut(rest, "}")
	if !braces {
		list = ""
	}
	for one := range strings.SplitSeq(list, ",") {
		if ok, err := filepath.Match(before+one+after, file); ok && err == nil {
			return true
		}
	}
	return false
}
