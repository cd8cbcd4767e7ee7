package compare_test

import (
	"flag"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/durosim/durosim/cmd/simrun/internal/compare"
	"github.com/durosim/durosim/cmd/simrun/internal/upgrade"
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/sim/scenario"
)

func TestMain(m *testing.M) { sample.Main(m) }

var update = flag.Bool("update", false, "write the tables of docs/strategies.md")

const docs = "../../../../docs/strategies.md"

// TestTablesOfTheDocs checks that the tables in docs/strategies.md show the current results; -update rewrites them. By
// default it only checks the tables of small scenarios.
func TestTablesOfTheDocs(t *testing.T) {
	data := sample.Must(os.ReadFile(docs))(t)
	old := string(data)
	var text strings.Builder
	tables := 0
	for {
		before, rest, found := strings.Cut(old, "<!-- compare ")
		text.WriteString(before)
		if !found {
			break
		}
		name, rest, _ := strings.Cut(rest, " ")
		count, rest, _ := strings.Cut(rest, " -->\n")
		was, rest, ok := strings.Cut(rest, "<!-- end compare -->")
		seeds, err := strconv.ParseUint(count, 10, 64)
		if err != nil || !ok {
			t.Fatalf("the table of %s is not closed, or has no number of seeds", name)
		}
		now := was
		if *update || sample.All() || name == "sweeper" {
			now = "\n" + table(t, name, seeds) + "\n"
			tables++
		}
		if now != was && !*update {
			t.Errorf("the table of %s is out of date: go test ./cmd/simrun/internal/compare -run TestTablesOfTheDocs -update\n%s", name, now)
		}
		text.WriteString("<!-- compare " + name + " " + count + " -->\n" + now + "<!-- end compare -->")
		old = rest
	}
	if tables == 0 {
		t.Error("no table was tried")
	}
	if *update {
		sample.OK(t, os.WriteFile(docs, []byte(text.String()), 0o600))
	}
}

func table(t *testing.T, name string, seeds uint64) string {
	t.Helper()
	s, _, err := scenario.Source{}.Open(name)
	sample.OK(t, err)
	r := sample.Must(compare.Run(upgrade.Config{Scenario: s, Builds: engine.ShippedBuilds(), First: 1, Seeds: seeds}))(t)
	rows := r.Table()
	return rows.Markdown()
}
