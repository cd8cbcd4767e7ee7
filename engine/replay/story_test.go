package replay

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/engine"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the expected parts of testdata/*.txt")

// TestStories plays testdata/*.txt: one situation a file. A file is commands, each followed by "----" and what it
// prints, up to an empty line. All commands of a file are about one execution at a time, whose history grows.
//
//	build 2.0.0           the build of the following turns
//	bug engine/x          switch a seeded bug on
//	code NAME             the handler of the following turns, from handlers_test.go
//	start [key=value]     begin a new execution and run its first turn; in= parent=INSTANCE/EXECUTION/EVENT execution=
//	                      status= carry=NAME:DATA (may be repeated)
//	keys [KEY=VALUE@MS]   the key-value state at the start of the executions that follow
//	turn                  run a turn
//	history               replace the history by the lines below
//
// The lines below start and turn are messages (see message), those below history are events (see parseEvent).
func TestStories(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(err, "no stories")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := playStory(t, file, want)
			if *rewrite {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); d != "" {
				t.Errorf("%s differs (-want +got); go test ./engine/replay -rewrite writes what is got:\n%s", file, d)
			}
		})
	}
}

type story struct {
	in    Input
	rules Rules
	out   bytes.Buffer
}

func playStory(t *testing.T, file string, text []byte) []byte {
	s := &story{rules: DefaultRules(), in: Input{Instance: "p", ExecutionID: 1, NowMs: 1000, DoubleCheck: true}}
	s.in.Build = build("1.5.0")
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		s.out.WriteString(line + "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		at := fmt.Sprintf("%s:%d", file, i+1)
		var body []string
		for i++; i < len(lines) && lines[i] != "----" && lines[i] != ""; i++ {
			body = append(body, lines[i])
			s.out.WriteString(lines[i] + "\n")
		}
		speaks, err := s.run(line, body)
		if err != nil {
			t.Fatalf("%s: %v", at, err)
		}
		if speaks != "" {
			s.out.WriteString("----\n" + speaks)
		}
		for ; i < len(lines) && lines[i] != ""; i++ {
		}
		if i < len(lines) {
			s.out.WriteString("\n")
		}
	}
	return s.out.Bytes()
}

// run carries one command out and returns what it prints.
func (s *story) run(line string, body []string) (string, error) {
	words := splitWords(line)
	switch words[0] {
	case "build":
		s.in.Build = build(words[1])
	case "bug":
		for _, b := range Bugs() {
			if string(b.ID) == words[1] {
				b.Apply(&s.rules)
				return "", nil
			}
		}
		return "", fmt.Errorf("no bug %s", words[1])
	case "code":
		s.in.Handler = handlers[words[1]]
		if s.in.Handler == nil {
			return "", fmt.Errorf("no handler %s", words[1])
		}
	case "history":
		s.in.History = nil
		for _, b := range body {
			e, err := parseEvent(b)
			if err != nil {
				return "", err
			}
			s.in.History = append(s.in.History, e)
		}
	case "start":
		s.in.History, s.in.ExecutionID = nil, 1
		s.in.Start = &Start{Name: "P", Version: "1.0.0"}
		for _, w := range words[1:] {
			key, value, _ := strings.Cut(w, "=")
			switch key {
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
				return "", fmt.Errorf("unknown argument %s", w)
			}
		}
		return s.turn(body)
	case "keys":
		s.in.KVSnapshot = nil
		for _, w := range words[1:] {
			key, rest, _ := strings.Cut(w, "=")
			value, ms, _ := strings.Cut(rest, "@")
			s.in.KVSnapshot = append(s.in.KVSnapshot, engine.KVEntry{Key: key, Value: value, LastUpdatedAtMs: number(ms)})
		}
	case "turn":
		return s.turn(body)
	default:
		return "", fmt.Errorf("unknown command %q", words[0])
	}
	return "", nil
}

func (s *story) turn(messages []string) (string, error) {
	s.in.Messages = nil
	for _, m := range messages {
		item, err := s.message(m)
		if err != nil {
			return "", err
		}
		s.in.Messages = append(s.in.Messages, item)
	}
	s.in.Rules = &s.rules
	out, err := Turn(s.in)
	if err != nil {
		return "error: " + err.Error() + "\n", nil
	}
	s.in.History = append(s.in.History[:len(s.in.History):len(s.in.History)], out.Delta...)
	s.in.NowMs += 1000
	return printOutput(&out, s.in.Instance), nil
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

// splitWords splits at blanks; a quoted word may hold blanks.
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

// storyTexts is the text of all stories.
func storyTexts(t *testing.T) string {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(text)
	}
	return b.String()
}

// TestBugsChangeOutcomes plays the stories of seeded bugs without them: each must come out differently.
func TestBugsChangeOutcomes(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.txt")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range Bugs() {
			line := "bug " + string(b.ID) + "\n"
			if !bytes.Contains(text, []byte(line)) {
				continue
			}
			without := bytes.ReplaceAll(text, []byte(line), []byte("#\n"))
			if got := playStory(t, file, without); bytes.Equal(got, without) {
				t.Errorf("%s: %s changes nothing", file, b.ID)
			}
		}
	}
}
