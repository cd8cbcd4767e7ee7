package matrix

import (
	"path/filepath"
	"slices"
	"strings"
)

// root is the directory of the tested module, seen from simdev's.
const (
	module = "github.com/durosim/durosim/"
	root   = "../../"
)

// area describes a package to mutate.
type area struct {
	path string
	// room is the unit of sampling: a sample takes the same number of mutants from each room. Several areas may share a
	// room. If room is empty, the area has a room of its own.
	room string
	// files is a pattern for the base names of the files to mutate. If empty, all files are mutated.
	files string
	// tests lists the tests that may detect the area's mutants, in execution order.
	tests []tests
}

// tests selects the tests of package path whose names match run. If run is empty, all tests are selected.
type tests struct{ path, run string }

func own(path string) []tests { return []tests{{path, ""}} }

// tables are the tests of command judge: of texts that no contract states, and of callers and calls that no run has. They
// count as it does.
var tables = tests{"internal/dev/judge", ""}

// judged lists the areas whose mutants are tried with campaigns, the provider's specification, and conformance cases.
var judged = []area{
	{"memprovider", "", "", append([]tests{tables}, own("memprovider")...)},
	{"engine/replay", "", "", append([]tests{tables}, own("engine/replay")...)},
	{"engine/machine", "", "", append([]tests{tables}, own("engine/machine")...)},
	{"engine", "codecs", "{codec,json*,opaque}.go", append([]tests{tables}, own("engine")...)},
	{"engine/eventdata", "codecs", "", append(append([]tests{tables}, own("engine/eventdata")...), own("engine")...)},
}

// stories lists the tests that run stories with all of a monitor's checkers, fastest first.
var stories = []tests{
	{"properties/internal/monitor", ""}, {"properties/internal/liveness", ""}, {"properties/internal/model", ""}, {"properties/internal/safety", ""},
}

// oracles lists the tests that check call sequences with wrong answers, overlapping calls, and stores with wrong rows.
var oracles = []tests{{"properties/oracle", ""}, {"properties/oracle/overlap", ""}, {"properties/internal/secondjudge", ""}, {"properties/oracle/search", ""}}

// told returns the tests for a package of checkers: its own tests, if it has any, followed by the other stories.
func told(path string) []tests {
	if slices.Contains([]string{"coverage", "expect", "outcome", "track"}, strings.TrimPrefix(path, "properties/internal/")) {
		return stories
	}
	others := slices.DeleteFunc(slices.Clone(stories), func(t tests) bool { return t.path == path })
	return append(own(path), others...)
}

// checkers lists the areas whose code judges other code. Their mutants are tried only with stories and tables. Planted
// bugs and campaigns are not used, because a campaign over correct code passes even with a broken checker.
var checkers = []area{
	{"properties/internal/check", "", "", told("properties/internal/check")},
	{"internal/dev/selfcheck", "", "", own("internal/dev/selfcheck")},
	{"properties/internal/coverage", "", "", told("properties/internal/coverage")},
	{"properties/internal/expect", "", "", told("properties/internal/expect")},
	{"properties/internal/liveness", "", "", told("properties/internal/liveness")},
	{"properties/internal/model", "", "", told("properties/internal/model")},
	{"properties/internal/outcome", "", "", told("properties/internal/outcome")},
	{"properties/internal/safety", "", "", told("properties/internal/safety")},
	{"properties/internal/secondjudge", "", "", own("properties/internal/secondjudge")},
	{"internal/dev/turn", "", "", append(own("internal/dev/turn"), tests{"internal/dev/selfcheck", ""})},
	{"properties/internal/track", "", "", told("properties/internal/track")},
	{"properties/oracle", "", "", oracles},
}

// mutates reports whether file belongs to the area.
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
