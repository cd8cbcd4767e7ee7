package command_test

import (
	"os"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

var (
	stepBlock = regexp.MustCompile(`^( *)(?:- )?run: \|$`)
	stepLine  = regexp.MustCompile(`^ *(?:- )?run: (.+)$`)
	stepList  = regexp.MustCompile(`^( *)script:$`)
	stepShell = regexp.MustCompile(`command: \[sh, -c, "(.*)"\]`)
)

// cmdSteps extracts the steps of the workflows in a page's section and writes them, unchanged, as a shell script.
func cmdSteps(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: steps PAGE SECTION SCRIPT")
	}
	_, section, found := strings.Cut(ts.ReadFile(args[0]), "\n## "+args[1]+"\n")
	if !found {
		ts.Fatalf("%s has no section %q", args[0], args[1])
	}
	section, _, _ = strings.Cut(section, "\n## ")
	script := []string{`go() { shift; "$@"; }`}
	for i, block := range strings.Split(section, "\n```") {
		if language, code, _ := strings.Cut(block, "\n"); i%2 == 1 && language == "sh" {
			script = append(script, code)
		} else if i%2 == 1 && language == "yaml" {
			script = append(script, yamlSteps(strings.Split(code, "\n"))...)
		}
	}
	if len(script) == 1 {
		ts.Fatalf("section %q of %s has no step", args[1], args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(strings.Join(script, "\n")+"\n"), 0o666))
}

// yamlSteps returns the commands run by a workflow's steps.
func yamlSteps(lines []string) (steps []string) {
	below := func(i int, indent string) (deeper []string) {
		for _, l := range lines[i+1:] {
			if strings.TrimSpace(l) != "" && !strings.HasPrefix(l, indent+" ") {
				break
			}
			deeper = append(deeper, strings.TrimSpace(l))
		}
		return deeper
	}
	for i, l := range lines {
		switch {
		case stepBlock.MatchString(l):
			steps = append(steps, below(i, stepBlock.FindStringSubmatch(l)[1])...)
		case stepLine.MatchString(l):
			steps = append(steps, stepLine.FindStringSubmatch(l)[1])
		case stepList.MatchString(l):
			for _, item := range below(i, stepList.FindStringSubmatch(l)[1]) {
				steps = append(steps, strings.TrimPrefix(item, "- "))
			}
		case stepShell.MatchString(l):
			steps = append(steps, stepShell.FindStringSubmatch(l)[1])
		}
	}
	return steps
}
