package wire_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties/oracle"
)

// protocolPage is the page that describes the protocol for readers who do not know Go.
const protocolPage = "../../../../docs/oracle-protocol.md"

// TestProtocolExamples checks that the page's examples are what simrun serve answers. Each block starts with a new
// store.
func TestProtocolExamples(t *testing.T) {
	blocks := fenced(t, "rpc")
	if len(blocks) < 4 {
		t.Fatalf("%d blocks of examples", len(blocks))
	}
	for _, block := range blocks {
		var requests, want []string
		for _, line := range block {
			switch {
			case strings.HasPrefix(line, "> "):
				requests = append(requests, line[2:])
			case strings.HasPrefix(line, "< "):
				want = append(want, line[2:])
			default:
				t.Errorf("a line of an example begins with neither > nor <: %s", line)
			}
		}
		var out output
		sample.OK(t, inMemory.Serve(t.Context(), strings.NewReader(strings.Join(requests, "\n")), &out))
		if diff := cmp.Diff(want, strings.Split(strings.TrimSpace(out.String()), "\n")); diff != "" {
			t.Errorf("%s: -page +simrun serve:\n%s", protocolPage, diff)
		}
	}
}

func TestProtocolNamesEveryMethod(t *testing.T) {
	page := string(sample.Must(os.ReadFile(protocolPage))(t))
	for _, args := range call.All() {
		switch args.(type) {
		case call.CorruptMessage, call.Plant: // only tests in this process make these changes to a store
			continue
		}
		if !strings.Contains(page, "\n| `"+call.Method(args)+"` |") {
			t.Errorf("%s: no row for %s", protocolPage, call.Method(args))
		}
	}
}

func TestProtocolLog(t *testing.T) {
	for _, block := range fenced(t, "json") {
		if _, err := oracle.CheckLog(strings.NewReader(strings.Join(block, "\n")), oracle.Options{}); err != nil {
			t.Errorf("%s: the log: %v", protocolPage, err)
		}
	}
}

// fenced returns the page's code blocks in the given language, each as a list of lines.
func fenced(t *testing.T, language string) (blocks [][]string) {
	t.Helper()
	parts := strings.Split(string(sample.Must(os.ReadFile(protocolPage))(t)), "```"+language+"\n")
	for _, part := range parts[1:] {
		text, _, ok := strings.Cut(part, "\n```")
		if !ok {
			t.Fatalf("%s: a block without an end", protocolPage)
		}
		blocks = append(blocks, strings.Split(text, "\n"))
	}
	return blocks
}
