package replay

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/internal/wording"
)

// TestStories plays the stories in testdata/*.txt. Each file covers one situation, with one execution at a time, whose
// history grows.
func TestStories(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := newStory()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return s.run(t, d) })
	})
}

type story struct {
	threshold *engine.Version // nil if there is no threshold
	in        Input
	rules     Rules
	// bugs lists the planted bugs that are turned on. without is a bug that stays off.
	bugs    []string
	without string
}

func newStory() *story {
	return &story{rules: DefaultRules(), in: Input{Build: build("1.5.0"), Instance: "p", ExecutionID: 1, NowMs: 1000, DoubleCheck: true}}
}

// run executes a directive and returns its output.
func (s *story) run(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	name := func() string {
		if len(d.CmdArgs) != 1 {
			d.Fatalf(t, "%s: expected one argument", d.Cmd)
		}
		return d.CmdArgs[0].Key
	}
	switch d.Cmd {
	case "build":
		// build 2.0.0: sets the build for the following turns
		s.in.Build = s.beyond(build(name()))
	case "emulate":
		// emulate 1.5.0: the build of the following turns writes only what that build writes
		emulating := *s.in.Build
		emulating.Emits = build(name()).Emits
		s.in.Build = &emulating
	case "threshold":
		// threshold 2.0.0: builds of that version or newer that are named below discard what a dropped wait was given, in what
		// such builds began
		v := engine.MustParseVersion(name())
		s.threshold = &v
	case "contract":
		// contract 0.1.32: makes the build of the following turns follow that contract
		contract, err := engine.ContractOf(name())
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		s.in.Build = contract.Build(s.in.Build)
	case "bug":
		// bug engine/cancel-ignored: turns a planted bug on
		if !slices.Contains(PlantedBugs, name()) {
			d.Fatalf(t, "no bug %s", name())
		}
		if name() != s.without {
			s.bugs = append(s.bugs, name())
			s.rules = RulesWith(s.bugs...)
		}
	case "code":
		// code activity: sets the handler for the following turns, from handlers_test.go
		if s.in.Handler = handlers[name()]; s.in.Handler == nil {
			d.Fatalf(t, "no handler %s", name())
		}
	case "history":
		// history, above lines with ids and events (package wording): replaces the history
		s.in.History = nil
		for _, line := range inputLines(d) {
			w := splitWords(line)
			e := wording.Event(t, int(number(w[0])), w[1], w[2:])
			e.InstanceID, e.ExecutionID = "p", 1
			s.in.History = append(s.in.History, e)
		}
	case "keys":
		// keys [KEY=VALUE@MS]...: sets the key-value state with which the following executions start
		s.in.KVSnapshot = nil
		for _, a := range d.CmdArgs {
			value, ms, _ := strings.Cut(a.Vals[0], "@")
			s.in.KVSnapshot = append(s.in.KVSnapshot, engine.KVEntry{Key: a.Key, Value: value, LastUpdatedAtMs: number(ms)})
		}
	case "start":
		// start [in=TEXT] [parent=INSTANCE/EXECUTION/EVENT] [execution=N] [status=TEXT] [carry=NAME:DATA]..., above lines of
		// messages (message): begins a new execution and runs its first turn
		s.start(t, d)
		return s.turn(t, d)
	case "turn":
		// turn, above lines of messages: runs a turn
		return s.turn(t, d)
	default:
		d.Fatalf(t, "unknown directive %s", d.Cmd)
	}
	return ""
}

// beyond returns the build. If the build is at or beyond the story's threshold, it has the semantics that begin there.
func (s *story) beyond(b *engine.Build) *engine.Build {
	if s.threshold == nil || b.Version.Compare(*s.threshold) < 0 {
		return b
	}
	newer := *b
	newer.Changes = []engine.SemanticsChange{{Since: *s.threshold, Semantics: engine.SemanticsDiscard}}
	return &newer
}

func (s *story) start(t *testing.T, d *datadriven.TestData) {
	t.Helper()
	s.in.History, s.in.ExecutionID = nil, 1
	s.in.Start = &Start{Name: "P", Version: "1.0.0"}
	for _, a := range d.CmdArgs {
		value := a.Vals[0]
		switch a.Key {
		case "in":
			s.in.Start.Input = value
		case "execution":
			s.in.ExecutionID = number(value)
		case "status":
			s.in.Start.InitialCustomStatus = &value
		case "carry":
			name, data, _ := strings.Cut(value, ":")
			s.in.Start.CarryForwardEvents = append(s.in.Start.CarryForwardEvents, engine.CarriedEvent{Name: name, Data: data})
		case "parent":
			p := strings.Split(value, "/")
			s.in.Start.Parent = &engine.ParentLink{Instance: p[0], ExecutionID: number(p[1]), EventID: number(p[2])}
		default:
			d.Fatalf(t, "unknown argument %s", a.Key)
		}
	}
}

// inputLines returns the lines; one that ends in " *98" is 98 lines.
func inputLines(d *datadriven.TestData) (lines []string) {
	for _, line := range strings.FieldsFunc(d.Input, func(r rune) bool { return r == '\n' }) {
		line, times, _ := strings.Cut(line, " *")
		lines = append(lines, slices.Repeat([]string{line}, int(max(1, number("0"+times))))...)
	}
	return lines
}

func (s *story) turn(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	s.in.Messages = nil
	for _, line := range inputLines(d) {
		s.in.Messages = append(s.in.Messages, s.message(t, line))
	}
	s.in.Rules = &s.rules
	out, err := Turn(s.in)
	if err != nil {
		return "error: " + err.Error()
	}
	s.in.History = append(s.in.History[:len(s.in.History):len(s.in.History)], out.Delta...)
	s.in.NowMs += 1000
	return printOutput(&out, s.in.Instance)
}

func build(version string) *engine.Build {
	for _, b := range engine.ShippedBuilds() {
		if b.Name() == version {
			return b
		}
	}
	panic("no build " + version)
}

func number(s string) uint64 {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

// splitWords splits a line at blanks. A quoted word may contain blanks.
func splitWords(line string) []string {
	var words []string
	for line = strings.TrimLeft(line, " "); line != ""; line = strings.TrimLeft(line, " ") {
		if q, err := strconv.QuotedPrefix(line); err == nil {
			w, _ := strconv.Unquote(q)
			words, line = append(words, w), line[len(q):]
			continue
		}
		w, rest, _ := strings.Cut(line, " ")
		words, line = append(words, w), rest
	}
	return words
}

// storyTexts returns the text of all stories.
func storyTexts(t *testing.T) string {
	files := sample.Must(filepath.Glob("testdata/*.txt"))(t)
	var b strings.Builder
	for _, file := range files {
		text := sample.Must(os.ReadFile(file))(t)
		b.Write(text)
	}
	return b.String()
}

// TestBugsChangeOutcomes plays the stories of planted bugs with the bugs turned off. Each must then have a different
// result.
func TestBugsChangeOutcomes(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		text := sample.Must(os.ReadFile(path))(t)
		for _, id := range PlantedBugs {
			if !bytes.Contains(text, []byte("bug "+id+"\n")) {
				continue
			}
			s, differs := newStory(), false
			s.without = id
			datadriven.RunTestFromString(t, string(text), func(t *testing.T, d *datadriven.TestData) string {
				got := s.run(t, d)
				differs = differs || strings.TrimSuffix(got, "\n") != strings.TrimSuffix(d.Expected, "\n")
				return d.Expected
			})
			if !differs {
				t.Errorf("%s changes nothing", id)
			}
		}
	})
}
