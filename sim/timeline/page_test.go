package timeline_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/sim/timeline"
)

// pages returns pages for a rolling upgrade, a poisoned instance, and a plan's rollback map.
func pages() map[string]timeline.Page {
	upgrade := &timeline.Timeline{Scenario: "rolling", Seed: "7", EndMs: 20_000, Builds: []string{"1.5.0", "2.0.0"},
		Nodes: []timeline.Node{
			{Name: "A", Spans: []timeline.Span{{FromMs: 0, ToMs: 9000, State: timeline.Up}, {FromMs: 9000, ToMs: 20_000, Build: 1, State: timeline.Up, Step: 40}}},
			{Name: "B", Spans: []timeline.Span{{FromMs: 0, ToMs: 20_000, State: timeline.Up}}}},
		Marks: []timeline.Mark{{Ms: 9000, Step: 40, Kind: "step", Node: 0, Text: "upgrade A to 2.0.0"}},
		Instances: []timeline.Instance{{ID: "order-1", Orchestration: "Order", End: "completed", Expected: true, FromMs: 1000, ToMs: 12_000,
			Bars:    []timeline.Bar{{Kind: "turn", FromMs: 1000, ToMs: 1000, Step: 3}, {Kind: "activity", FromMs: 1100, ToMs: 3000, Step: 5, Text: "Ship"}},
			History: []timeline.Event{{Ms: 1000, Step: 3, Execution: 1, ID: 1, Kind: "OrchestrationStarted"}}}},
		Story: []timeline.Line{{Ms: 1000, Step: 3, Who: "A 1.5.0", Text: "commits a turn of order-1 </script><b>", About: []int{0}}}}
	poison := *upgrade
	poison.Instances = []timeline.Instance{{ID: "order-1", Orchestration: "Order", End: "poisoned", Cause: "build 1.5.0 cannot read it", FromMs: 1000, ToMs: 12_000,
		Bars: []timeline.Bar{{Kind: "wait", FromMs: 2000, ToMs: 8000, Node: -1, Build: -1}, {Kind: "back", FromMs: 9000, ToMs: 9000}, {Kind: "poison", FromMs: 12_000, ToMs: 12_000}}}}
	poison.Marks = append(slices.Clone(poison.Marks), timeline.Mark{Ms: 12_000, Step: 60, Kind: "violation", Node: 1, Instance: "order-1", Text: "L05", Evidence: "it was healthy"})
	back := timeline.Map{Summary: "point of no return: step 1", NoReturn: 1, Steps: []timeline.MapStep{
		{Name: "as it is", Stop: cells("-", "-", "-", "-"), Back: cells("-", "-", "-")},
		{Name: "1 upgrade A", Stop: cells("1", "2s", "-", "-"), Back: []timeline.Cell{{Text: "3", Weight: 2, Title: "such as order-1"}, {Text: "2", Weight: 3}, {Text: "-"}}}}}
	return map[string]timeline.Page{
		"upgrade": {Title: "rolling, seed 7", Verdict: "contract: held", Command: "simrun replay --seed 7 rolling", At: "simrun replay --step", Run: upgrade},
		"poison":  {Title: "poison", Verdict: "contract: broken", Bad: true, Run: &poison},
		"map":     {Title: "plan", Map: &back, Tables: []timeline.Table{{Title: "orders", Open: true, Head: []string{"order"}, Rows: []timeline.Row{{Cells: []string{"A & B"}, Bad: true}}}}, Run: upgrade},
	}
}

func cells(texts ...string) []timeline.Cell {
	var out []timeline.Cell
	for _, t := range texts {
		out = append(out, timeline.Cell{Text: t})
	}
	return out
}

func written(t *testing.T, p timeline.Page) string {
	t.Helper()
	var b bytes.Buffer
	sample.OK(t, p.Write(&b))
	return b.String()
}

// TestSelfContained checks that a page refers to no other file, and that no text in a run can terminate its script.
func TestSelfContained(t *testing.T) {
	for name, p := range pages() {
		text := written(t, p)
		if found := regexp.MustCompile(`(src|href)\s*=|@import|url\(|https?:`).FindString(text); found != "" {
			t.Errorf("%s: %q: a page needs nothing else", name, found)
		}
		if strings.Contains(text, "</script><b>") || strings.Count(text, "</script>") != 2 {
			t.Errorf("%s: text of the run ends a script", name)
		}
	}
}

// TestInABrowser checks that a browser shows the pages without errors and with the expected structure.
func TestInABrowser(t *testing.T) {
	browser := os.Getenv("DUROSIM_BROWSER")
	if browser == "" {
		t.Skip("DUROSIM_BROWSER names no browser: .ci/run all sets it")
	}
	for name, p := range pages() {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "page.html")
			sample.OK(t, os.WriteFile(file, []byte(written(t, p)), 0o644))
			dom := opened(t, browser, file, "")
			got := structure(dom)
			golden := "testdata/" + name + ".txt"
			if *update {
				sample.OK(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			want := sample.Must(os.ReadFile(golden))(t)
			if d := cmp.Diff(string(want), got); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestManyInstances checks that 100,000 instances, of which 5,000 have 100,000 events, are shown, one screenful at a time.
func TestManyInstances(t *testing.T) {
	browser := os.Getenv("DUROSIM_BROWSER")
	if browser == "" {
		t.Skip("DUROSIM_BROWSER names no browser: .ci/run all sets it")
	}
	run := &timeline.Timeline{EndMs: 1_000_000, Builds: []string{"1.5.0"}, Nodes: []timeline.Node{{Name: "A", Spans: []timeline.Span{{ToMs: 1_000_000, State: timeline.Up}}}}}
	for i := range 100_000 {
		in := timeline.Instance{ID: fmt.Sprintf("order-%d", i), End: "completed", Expected: true, FromMs: int64(i) * 100, ToMs: int64(i)*100 + 90_000}
		for e := range 20 {
			if i >= 5000 {
				break
			}
			in.History = append(in.History, timeline.Event{Ms: in.FromMs + int64(e)*1000, Execution: 1, ID: uint64(e + 1), Kind: "ActivityCompleted"})
			in.Bars = append(in.Bars, timeline.Bar{Kind: "turn", FromMs: in.FromMs + int64(e)*1000, ToMs: in.FromMs + int64(e)*1000})
		}
		run.Instances = append(run.Instances, in)
	}
	file := filepath.Join(t.TempDir(), "page.html")
	text := written(t, timeline.Page{Title: "many", Run: run})
	sample.OK(t, os.WriteFile(file, []byte(text), 0o644))
	if len(text) > 4<<20 {
		t.Errorf("%d bytes; want a file that can be mailed", len(text))
	}
	dom := opened(t, browser, file, "")
	if rows := strings.Count(dom, `data-instance="`); rows < 10 || rows > 60 || !strings.Contains(dom, "100000 of 100000 instances") {
		t.Errorf("%d rows are drawn of 100,000", rows)
	}
}

// opened returns the document as the browser has it once the page is drawn. It fails for anything on the console.
func opened(t *testing.T, browser, file, fragment string, flags ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	flags = append(flags, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--window-size=1400,900",
		"--user-data-dir="+t.TempDir(), "--virtual-time-budget=20000", "--dump-dom", "file://"+file+fragment)
	cmd := exec.CommandContext(ctx, browser, flags...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &errs)
	}
	for line := range strings.Lines(errs.String()) {
		if strings.Contains(line, "CONSOLE") {
			t.Errorf("console: %s", line)
		}
	}
	if !strings.Contains(string(out), `data-ready="yes"`) {
		t.Errorf("the page is not drawn to the end")
	}
	return string(out)
}

// structure returns what a reader can see: the important elements by class, with their text, in order.
func structure(dom string) string {
	var b strings.Builder
	parts := regexp.MustCompile(`<(?:p|h2|div|td|th|summary|tr)[^>]*?(?:class|id|data-[a-z]+)="([^"]*)"[^>]*>([^<]*)`).FindAllStringSubmatch(dom, -1)
	for _, p := range parts {
		fmt.Fprintf(&b, "%s: %s\n", p[1], strings.TrimSpace(p[2]))
	}
	return b.String()
}
