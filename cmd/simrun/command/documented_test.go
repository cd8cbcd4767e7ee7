package command_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/durosim/durosim/internal/sample"
)

// documentedLine matches a line of an indented block of commands; documentedWord a command within a sentence.
var (
	documentedLine = regexp.MustCompile(`^ {4,}((?:go run \./cmd/simrun|simrun)(?: .*)?)$`)
	documentedWord = regexp.MustCompile("`((?:go run \\./cmd/simrun|simrun) [^`]+)`")
)

// smaller shortens what takes long, and replaces names that stand for something.
var smaller = []struct{ pattern, by string }{
	{`^go run \./cmd/simrun`, "simrun"},
	{` {2,}.*$`, ""}, // what the command is for
	{`^simrun (run --shard \S+ --results \S+) .*`, "simrun $1"},
	{`--seeds (\d+\.\.)?\d+`, "--seeds 4"},
	{`--for \S+`, "--for 100ms"},
	{`--runs \d+`, "--runs 4"},
	{`^simrun$`, "simrun run"},
	{`^(simrun fuzz \S+)$`, "$1 --for 100ms"},
	{`^(simrun init .*my-upgrade.txt)`, "rm my-upgrade.txt; $1"},
	{`^(simrun (run|plan|compare)\b)((?: [^-]\S*| --[^s]\S*| --store \S+)*)$`, "$1 --seeds 2$3"},
	{`^(simrun fuzz --exhaustive\b)`, "$1 --runs 4"}, {`^(simrun shrink\b)`, "$1 --runs 200"}, // a plan cut off earlier takes longer to explain
	{`^(simrun oracle)((?: --keep-going| --deny \S+| --known \S+)* --(?: .*)?)$`, "$1 --seeds 2$2"},
	{`^(simrun conformance\b)`, "$1 --run CF-01"},
	{`--step STEP`, "--step 100"},
	{`failures/FILE`, "finds/0123456789abcdef.txt"},
}

// notHere matches commands that need a host or a peer, and those with a word that stands for something.
var notHere = regexp.MustCompile(`\breal-|hosts build|--listen|--connect|--overlap|sim/realnode|\b(FILE|DIR|ID|NAME|VERB|PATH|N|A|B)\b|\$`)

// documentedFiles makes the files that documented commands name.
const documentedFiles = `set -e
simrun init my-upgrade.txt
cp my-upgrade.txt my.txt
cp my-upgrade.txt upgrade.txt
printf 'nodes A B run 1.5.0\ninstance one runs Chain with 1\nat 1s upgrade A to 2.0.0\n' > small.txt
simrun run --seeds 3 --bug provider/filter-ignored --out found my-upgrade.txt > log || true
mkdir -p finds testdata/seeds .config/fish/completions orders
cp "$(grep -l '^verdict .*S01' found/* | head -n 1)" finds/0123456789abcdef.txt
cp finds/0123456789abcdef.txt testdata/seeds
simrun export finds/0123456789abcdef.txt --calls calls.jsonl
for part in 1 2 3 4; do simrun run --seeds 4 --shard $part/4 --results $part.jsonl my-upgrade.txt > log; done
cp "$EXPORT" orders.jsonl
cp "$EXPORT" export.jsonl
cp properties/oracle/examples/python/*.py .
printf '#!/bin/sh\nexec simrun serve\n' > provider
chmod +x provider
: > known.toml
`

// TestDocumentedCommands runs the commands of README.md, docs/ and the help texts as they stand there, with fewer seeds,
// in a directory with the files that they name. Each must be understood, find what it names, and warn of nothing; what
// verdict it comes to is another matter. The lines of one block run in their order. It runs only
// with DUROSIM_LONG.
func TestDocumentedCommands(t *testing.T) {
	if !sample.All() {
		return
	}
	top := sample.Must(filepath.Abs("../../.."))(t)
	t.Setenv("EXPORT", filepath.Join(top, "cmd/simrun/duroxide-export/testdata/orders.jsonl"))
	base := t.TempDir()
	for _, name := range []string{"docs", "properties"} {
		sample.OK(t, os.Symlink(filepath.Join(top, name), filepath.Join(base, name)))
	}
	if out, err := shell(base, documentedFiles).CombinedOutput(); err != nil {
		t.Fatalf("the files that commands name: %v\n%s", err, out)
	}
	var blocks [][]string
	for _, pattern := range []string{"README.md", "docs/*.md", "cmd/simrun/command/*.go"} {
		files, err := filepath.Glob(filepath.Join(top, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			blocks = append(blocks, documented(t, file)...)
		}
	}
	if len(blocks) < 60 {
		t.Errorf("only %d blocks of commands are found", len(blocks))
	}
	for _, block := range blocks {
		t.Run(block[0], func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			sample.OK(t, os.CopyFS(dir, os.DirFS(base)))
			for _, line := range block {
				out, err := shell(dir, line).CombinedOutput()
				var exit *exec.ExitError
				if err != nil && (!errors.As(err, &exit) || !slices.Contains([]int{1, 3, 5, 6, 7}, exit.ExitCode())) || strings.Contains(string(out), "warning:") {
					t.Errorf("%s: %v\n%s", line, err, out)
				}
			}
		})
	}
}

func shell(dir, script string) *exec.Cmd {
	c := exec.Command("sh", "-c", script)
	c.Dir, c.Env = dir, append(os.Environ(), "HOME="+dir)
	return c
}

// documented returns the commands of a file, made smaller, block by block.
func documented(t *testing.T, file string) (blocks [][]string) {
	text := sample.Must(os.ReadFile(file))(t)
	within := false
	for _, line := range strings.Split(string(text), "\n") {
		m := documentedLine.FindStringSubmatch(strings.TrimSuffix(line, "`"))
		if m == nil {
			within = false
			for _, m := range documentedWord.FindAllStringSubmatch(line, -1) {
				if !notHere.MatchString(m[1]) {
					named := regexp.MustCompile(`^simrun ([a-z-]+)( --[a-z-]+)?$`) // the name of a verb, or of a flag
					blocks = append(blocks, []string{made(named.ReplaceAllString(m[1], "simrun $1 --help | grep -e '$2'"))})
				}
			}
			continue
		}
		command := made(m[1])
		switch {
		case notHere.MatchString(command):
		case within:
			blocks[len(blocks)-1] = append(blocks[len(blocks)-1], command)
		default:
			blocks, within = append(blocks, []string{command}), true
		}
	}
	return blocks
}

func made(command string) string {
	for _, s := range smaller {
		command = regexp.MustCompile(s.pattern).ReplaceAllString(command, s.by)
	}
	return command
}
