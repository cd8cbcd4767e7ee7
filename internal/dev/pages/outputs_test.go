package pages

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// outputPattern matches a block in a document that shows a command's output:
var outputPattern = regexp.MustCompile("(?s)(<!-- (slow )?output of: go run ./cmd/simrun ([^\n|]*?) ?(?:\\| (head|tail) (\\d+) )?-->\n)(.*?)(<!-- end output -->\n)")

// timings matches numbers that differ from run to run.
var timings = regexp.MustCompile(`(?m)[0-9.,]+ +[a-z]+/s|^wall time +\S+|runs in [0-9.]+s`)

// TestOutputs checks that the output shown in the documents is what the commands print.
func TestOutputs(t *testing.T) {
	simrun := ""
	for _, name := range documents(t) {
		have := readDocument(t, name)
		want := outputPattern.ReplaceAllStringFunc(have, func(block string) string {
			m := outputPattern.FindStringSubmatch(block)
			if m[2] != "" && !*update {
				return block
			}
			if simrun == "" {
				simrun = buildSimrun(t)
			}
			text := m[1] + "\n```text\n" + printed(t, simrun, m[3], m[4], m[5]) + "```\n\n" + m[7]
			if timings.ReplaceAllString(text, "") == timings.ReplaceAllString(block, "") {
				return block
			}
			return text
		})
		if want == have {
			continue
		}
		if !*update {
			t.Errorf("%s shows what the command no longer prints: go -C internal/dev test -count=1 ./pages -update, and read the diff and the text around it", name)
			continue
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// called is the name under which the program is run.
const called = "simrun-called-by-tidy"

func buildSimrun(t *testing.T) string {
	t.Helper()
	simrun := filepath.Join(t.TempDir(), "simrun")
	build := exec.Command("go", "build", "-o", simrun, "./cmd/simrun")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", build, err, out)
	}
	return simrun
}

// printed returns what simrun prints on standard output, or only its first or last lines. Command lines to paste are shown as
// in the documents, starting with go run.
func printed(t *testing.T, simrun, arguments, end, count string) string {
	t.Helper()
	run := exec.Command(simrun, strings.Fields(arguments)...)
	run.Args[0] = called
	run.Dir = root
	out, err := run.Output()
	if failed, ran := err.(*exec.ExitError); err != nil && !ran {
		t.Fatalf("%v: %v", run, err)
	} else if ran && failed.ExitCode() != 1 && failed.ExitCode() != 3 {
		t.Fatalf("%v: %v\n%s", run, err, failed.Stderr)
	}
	out = bytes.ReplaceAll(out, []byte(called), []byte("go run ./cmd/simrun"))
	lines := bytes.SplitAfter(out, []byte("\n"))
	if n, err := strconv.Atoi(count); err == nil && n < len(lines) {
		if end == "tail" {
			lines = lines[len(lines)-n:]
		} else {
			lines = lines[:n]
		}
	}
	for i, l := range lines {
		lines[i] = append(bytes.TrimRight(l, " \n"), '\n')
	}
	return strings.TrimRight(string(bytes.Join(lines, nil)), "\n") + "\n"
}

// TestPhase2 checks that the figures of docs/phase-2.md are those of its plans.
func TestPhase2(t *testing.T) {
	simrun, page := buildSimrun(t), readDocument(t, "docs/phase-2.md")
	for _, name := range []string{"handlers", "activities", "ranges"} {
		run := exec.Command(simrun, "run", "docs/phase-2/"+name+".txt", "--seeds", "20")
		run.Dir = root
		out, _ := run.Output() // it fails: the page says how often
		m := regexp.MustCompile(`plan: (\d+) of 1200`).FindSubmatch(out)
		if m == nil || !strings.Contains(page, string(m[1])+" of 1,200") {
			t.Errorf("%s: the page does not say %q of 1,200:\n%s", name, m, out)
		}
	}
}
