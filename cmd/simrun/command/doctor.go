package command

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"text/tabwriter"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/sim/realnode"
)

// doctorCmd implements `simrun doctor`, which reports which optional tools are installed and what each is for.
type doctorCmd struct {
	JSON bool `name:"json" help:"Print one JSON object on standard output and nothing else."`
}

// Help returns the text printed below the flags.
func (doctorCmd) Help() string {
	return `Shows which programs that simrun or its tests can use are installed, and what each is for. To simulate you need only simrun itself. Exit status: 0; 2 if a program that the environment names is missing.`
}

// need is a tool that simrun can use if it is installed.
type need struct {
	ID    string `json:"id"`
	Found string `json:"found,omitempty"`
	For   string `json:"for"`
	// How explains how to install the tool.
	How string `json:"how,omitempty"`
	// Wrong is set if an environment variable names the tool but the file does not exist.
	Wrong bool `json:"wrong,omitempty"`
}

func (c *doctorCmd) run(a *app) (int, error) {
	needs := examine(os.Getenv, exec.LookPath, realnode.Releases())
	status := exitOK
	for _, n := range needs {
		if n.Wrong {
			status = exitUsage
		}
	}
	if c.JSON {
		return status, a.writeJSON(struct {
			Schema int    `json:"schema"`
			Verb   string `json:"verb"`
			Items  []need `json:"items"`
		}{schema, "doctor", needs})
	}
	t := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	for _, n := range needs {
		mark, found := "ok", n.Found
		if found == "" {
			mark, found = "-", "not found"
		}
		if n.Wrong {
			mark = "!!"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\tfor %s\n", mark, n.ID, found, n.For)
	}
	flushTable(t)
	for _, n := range needs {
		if n.Found == "" && n.How != "" {
			a.printf("\n%s: %s\n", n.ID, n.How)
		}
	}
	return status, nil
}

// examine looks for each tool. getenv reads environment variables, find locates programs, and at holds the host
// programs.
func examine(getenv func(string) string, find func(string) (string, error), at *realnode.Hosts) []need {
	first := func(names ...string) string {
		for _, name := range names {
			if path, err := find(name); err == nil {
				return path
			}
		}
		return ""
	}
	needs := []need{
		{ID: "cores", Found: fmt.Sprint(runtime.NumCPU()), For: "campaigns: each runs seeds in parallel"},
		{ID: "go", Found: first("go"), For: "go test with your handlers, and programs of your own", How: "https://go.dev/dl, 1.25 or newer"},
		{ID: "cargo", Found: first("cargo"), For: "building the hosts of released runtimes, and providers in Rust", How: "https://rustup.rs"},
		{ID: "browser", Found: first("chromium", "chromium-browser", "google-chrome", "firefox"), For: "looking at pages (--html)", How: "any browser does; the tests of the pages take Debian's package chromium"},
		{ID: "python3", Found: first("python3"), For: "the example of a provider in Python", How: "the package python3"},
		{ID: "duroxide-export", Found: first("duroxide-export"), For: "plan --store: what an SQLite database of duroxide holds", How: "go install github.com/durosim/durosim/cmd/simrun/duroxide-export@latest"},
	}
	hosts := need{ID: "hosts", For: "nodes that run released runtimes (node N runs duroxide VERSION)", How: "simrun hosts build builds them, with cargo; docs/real-nodes.md"}
	var built []string
	for _, b := range engine.ReleasedBuilds() {
		if at.Built(b) {
			built = append(built, b.Version.String())
		}
	}
	hosts.Found = strings.Join(built, ", ")
	if dir := getenv(realnode.Environment); dir != "" && len(built) == 0 {
		hosts.Wrong, hosts.How = true, fmt.Sprintf("%s=%s contains none; simrun hosts build builds them there", realnode.Environment, dir)
	}
	return append(needs, hosts)
}
