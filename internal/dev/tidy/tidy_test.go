package tidy

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// exemption lifts bans for a package or file.
type exemption struct {
	// where is a file or a directory.
	where string
	// permits lists the imports and names that are permitted; "go" stands for go statements and channels, "all" for all.
	permits string
	// reason says why.
	reason string
}

// exempt lists the exemptions.
var exempt = []exemption{
	{"cmd/simrun/command", "all", "reads arguments and files, prints, looks at the clock, talks to other processes"},
	{"cmd/simrun/internal/wire", "all", "serves and talks to other processes, whose calls may overlap"},
	{"sim/campaign", "all", "runs seeds on every core"},
	{"internal/commandline", "all", "finds out how the program was started"},
	{"internal/foreign", "all", "talks to a process line by line"},
	{"internal/watchdog", "all", "ends a run whose code does not come back in real time; it changes no result"},
	{"internal/sample", "all", "reads whether the tests are to be long, and sets how they collect garbage"},
	{"sim/realnode", "all", "runs released runtimes in host programs"},
	{"memprovider/live", "all", "serves ordinary programs: mutex, wall clock, fetches that wait"},
	{"properties/oracle/overlap", "all", "calls providers at the same time, in real time, and gives up on those that do not answer"},
	{"properties/conformance", "all", "waits in real time for providers that have no other, and asks them concurrently"},
	{"test.go", "os time.Now time.Since time.Time", "reads the environment, and says how many seeds the time of `go test` is for"},
	{"kept.go", "os sync sync/atomic", "keeps the last failure in a file, while other tests run"},
	{"properties/oracle/search/draws.go", "math/rand/v2", "makes a generator with the seed of one sequence"},
	{"properties/oracle/log.go", "sync", "records providers that are called concurrently"},
	{"engine/replay/coroutine.go", "go iter.Pull", "holds coroutines, and the one helper that awaits a throw-away goroutine"},
	{"sim/workload/misbehaving.go", "iter.Pull", "has code that uses its Context on a goroutine that is not its own, as users' code may"},
	{"engine/replay/foreign.go", "sync/atomic", "refuses calls from goroutines that a handler has started, which run at the same time"},
	{"engine/node/registry.go", "go time.Time", "has a context.Context, which has no deadline and is never done"},
	{"engine/machine/record.go", "log/slog", "makes log records as data, at a time that it is given; whoever drives the node handles them"},
}

// permitted reports whether a file is exempt from a ban.
func permitted(s *source, what string) bool {
	return slices.ContainsFunc(exempt, func(e exemption) bool {
		return (s.dir == e.where || s.name == e.where) && (e.permits == "all" || slices.Contains(strings.Fields(e.permits), what))
	})
}

func TestBans(t *testing.T) { report(t, checkBans(loadModule(t))) }

func TestTexts(t *testing.T) { report(t, checkTexts(loadModule(t))) }

// The patterns are written so that they do not match their own source.
var (
	machinePath = regexp.MustCompile(`(^|[^A-Za-z0-9_.}])/(w[o]rk|f[a]rm|r[o]ot|h[o]me)(/|$|[\s"'` + "`" + `)])`)
	registry    = regexp.MustCompile(`(?i)(proxy|sum)\.go[l]ang\.org|registry\.n[p]mjs\.|npmj[s]\.com|pyp[i]\.org|pythonhost[e]d\.org|crates\.i[o]|maven\.or[g]|maven\.apach[e]\.org|deb\.debia[n]\.org`)
)

// checkTexts reports text that must not occur in any file.
func checkTexts(m *module) []finding {
	var out []finding
	for _, t := range m.texts {
		for i, line := range bytes.Split(t.data, []byte("\n")) {
			switch {
			case bytes.IndexByte(line, '/') >= 0 && machinePath.Match(line):
				out = append(out, finding{t.name, i + 1, "the path of a machine: write it relative to the module's root"})
			case bytes.IndexByte(line, '.') >= 0 && registry.Match(line) && path.Base(t.name) != "Cargo.lock": // cargo puts the registry's name here
				out = append(out, finding{t.name, i + 1, "the host of a package registry: name the package only"})
			}
		}
	}
	return out
}
