package main

import (
	"path/filepath"
	"slices"
	"strings"
)

const module = "github.com/durosim/durosim/"

// area is a package whose mutants are tried.
type area struct {
	path string
	// room is the unit of sampling: a sample has equally many mutants of each room. Several areas may form one room. If it
	// is empty, the area's path is its room.
	room string
	// files says which of its files are mutated, as a pattern of their base names; all if empty.
	files string
	// tests are the tests that may notice its mutants, in the order in which they are asked.
	tests []tests
}

// tests is a test program, and which of its tests are asked; all if run is empty.
type tests struct{ path, run string }

func own(path string) []tests { return []tests{{path, ""}} }

// judged are the areas that campaigns, the specification of a provider and conformance cases judge.
var judged = []area{
	{"memprovider", "", "", own("memprovider")},
	{"internal/storerules", "memprovider", "", own("memprovider")},
	{"internal/replay", "", "", own("internal/replay")},
	{"internal/machine", "", "", own("internal/machine")},
	{"engine", "codecs", "{codec,json*,opaque}.go", own("engine")},
	{"internal/eventdata", "codecs", "", own("engine")},
	{"internal/jsonform", "codecs", "", own("engine")},
}

// stories are told to all checkers of a monitor, the quickest first.
var stories = []tests{
	{"properties/internal/liveness", ""}, {"properties/internal/track", ""}, {"properties/internal/outcome", ""}, {"properties/internal/expect", ""},
	{"properties/internal/coverage", ""}, {"properties/internal/model", ""}, {"properties/internal/safety", ""},
}

// oracles are told sequences of calls with wrong answers.
var oracles = []tests{{"properties/oracle", ""}, {"properties/oracle/calllog", ""}, {"properties/conformance", "^TestKill"}, {"properties/oracle/search", ""}}

// told are the tests of a package whose checkers stories are told to: its own, and the other stories.
func told(path string) []tests {
	others := slices.DeleteFunc(slices.Clone(stories), func(t tests) bool { return t.path == path })
	return append(own(path), others...)
}

// checkers are the areas that judge. Stories and tables alone judge them: no planted bug, and no campaign, which would have
// to hold.
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
