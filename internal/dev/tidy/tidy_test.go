package tidy

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// permits lists bans that do not apply to a file.
type permits struct {
	everything bool
	// goroutines permits go statements and channels.
	goroutines bool
	// imports and names are permitted even though they are in bannedImports or bannedNames.
	imports, names []string
}

// exemption lifts bans for a package or file.
type exemption struct {
	// where is a file or a directory. A trailing /... includes everything below the directory.
	where string
	permits
	// reason says why.
	reason string
}

func (e exemption) covers(s *source) bool {
	if below, ok := strings.CutSuffix(e.where, "/..."); ok {
		return strings.HasPrefix(s.dir, below+"/")
	}
	return s.dir == e.where || s.name == e.where
}

// exempt lists the exemptions.
var exempt = []exemption{
	{"cmd/simrun/command", permits{everything: true}, "reads arguments and files, prints, looks at the clock, talks to other processes"},
	{"cmd/simrun/internal/wire", permits{everything: true}, "serves other processes, whose calls may overlap"},
	{"cmd/simrun/internal/wire", permits{everything: true}, "talks to other processes"},
	{"sim/campaign", permits{everything: true}, "runs seeds on every core"},
	{"internal/commandline", permits{everything: true}, "finds out how the program was started"},
	{"internal/foreign", permits{everything: true}, "talks to a process line by line"},
	{"internal/watchdog", permits{everything: true}, "ends a run whose code does not come back in real time; it changes no result"},
	{"internal/sample", permits{everything: true}, "reads whether the tests are to be long, and sets how they collect garbage"},
	{"sim/realnode", permits{everything: true}, "runs released runtimes in host programs"},
	{"memprovider/live", permits{everything: true}, "serves ordinary programs: mutex, wall clock, fetches that wait"},
	{"properties/oracle/overlap", permits{everything: true}, "calls providers at the same time, in real time, and gives up on those that do not answer"},
	{"properties/conformance", permits{everything: true}, "waits in real time for providers that have no other, and asks them concurrently"},
	{"test.go", permits{imports: []string{"os"}, names: []string{"time.Now", "time.Since", "time.Time"}}, "reads the environment, and says how many seeds the time of `go test` is for"},
	{"kept.go", permits{imports: []string{"os"}}, "keeps the last failure in a file"},
	{"properties/oracle/search/draws.go", permits{imports: []string{"math/rand/v2"}}, "makes a generator with the seed of one sequence"},
	{"properties/oracle/log.go", permits{imports: []string{"sync"}}, "records providers that are called concurrently"},
	{"engine/replay/coroutine.go", permits{goroutines: true, names: []string{"iter.Pull"}}, "holds coroutines, and the one helper that awaits a throw-away goroutine"},
	{"sim/workload/misbehaving.go", permits{names: []string{"iter.Pull"}}, "has code that uses its Context on a goroutine that is not its own, as users' code may"},
	{"engine/replay/foreign.go", permits{imports: []string{"sync/atomic"}}, "refuses calls from goroutines that a handler has started, which run at the same time"},
	{"engine/node/registry.go", permits{goroutines: true, names: []string{"time.Time"}}, "has a context.Context, which has no deadline and is never done"},
	{"engine/machine/record.go", permits{imports: []string{"log/slog"}}, "makes log records as data, at a time that it is given; whoever drives the node handles them"},
}

// permitted returns what a file is permitted to do.
func permitted(s *source) permits {
	for _, e := range exempt {
		if e.covers(s) {
			return e.permits
		}
	}
	return permits{}
}

// root is the module's root.
const root = "../../.."

// theModule reads the module that contains the tests. It does so only once.
var theModule = sync.OnceValues(func() (*module, error) { return load(os.DirFS(root)) })

func loadModule(t *testing.T) *module {
	t.Helper()
	m, err := theModule()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func report(t *testing.T, found []finding) {
	t.Helper()
	for _, f := range found {
		t.Error(f)
	}
}

func TestBans(t *testing.T) { report(t, bans(loadModule(t), permitted)) }

func TestPackageShares(t *testing.T) { report(t, checkShares(loadModule(t), 1, 8)) }

func TestTexts(t *testing.T) { report(t, checkTexts(loadModule(t))) }

// checkShares reports packages that have more than num/den of all non-test lines.
func checkShares(m *module, num, den int) []finding {
	lines, all := map[string]int{}, 0 // lines is never iterated over
	for _, s := range m.sources {
		if !s.test {
			lines[s.dir] += s.lines
			all += s.lines
		}
	}
	var out []finding
	for _, dir := range m.dirs() {
		if n := lines[dir]; n*den > all*num {
			out = append(out, finding{dir, 0, fmt.Sprintf("%d of %d lines, more than %d in %d: split the package by subject", n, all, num, den)})
		}
	}
	return out
}

// The patterns are written so that they do not match their own source.
var (
	machinePath = regexp.MustCompile(`(^|[^A-Za-z0-9_.}])/(w[o]rk|f[a]rm|r[o]ot|h[o]me)(/|$|[\s"'` + "`" + `)])`)
	registry    = regexp.MustCompile(`(?i)(proxy|sum)\.go[l]ang\.org|registry\.n[p]mjs\.|npmj[s]\.com|pyp[i]\.org|pythonhost[e]d\.org|crates\.i[o]|maven\.or[g]|maven\.apach[e]\.org|deb\.debia[n]\.org`)
)

// checkTexts reports text that must not occur in any file, and line endings that a diff would show.
func checkTexts(m *module) []finding {
	var out []finding
	for _, t := range m.texts {
		for i, line := range bytes.Split(t.data, []byte("\n")) {
			switch {
			case bytes.IndexByte(line, '/') >= 0 && machinePath.Match(line):
				out = append(out, finding{t.name, i + 1, "the path of a machine: write it relative to the module's root"})
			case bytes.IndexByte(line, '.') >= 0 && registry.Match(line) && path.Base(t.name) != "Cargo.lock": // cargo puts the registry's name here
				out = append(out, finding{t.name, i + 1, "the host of a package registry: name the package only"})
			case bytes.HasSuffix(line, []byte("\r")):
				out = append(out, finding{t.name, i + 1, "a carriage return: end lines with a line feed alone"})
			}
		}
	}
	return out
}
