package scenario

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/plan"
)

func TestMain(m *testing.M) { sample.Main(m) }

// compareKeys compares keys by hash and rendering, not by address.
var compareKeys = cmp.Comparer(func(a, b sim.Key) bool { return a.Hash() == b.Hash() && a.String() == b.String() })

func entryRoundTrip(t *testing.T, e *Entry) {
	t.Helper()
	text := e.Format()
	back, err := ParseEntry("e.txt", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	ignoreLines := cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "Expect.Line" }, cmp.Ignore())
	if diff := cmp.Diff(e, back, compareKeys, ignoreLines); diff != "" {
		t.Fatalf("formatted and parsed again, it is another (-was +is):\n%s\n%s", diff, text)
	}
	if again := back.Format(); string(again) != string(text) || back.Name() != e.Name() {
		t.Fatalf("formatted twice, as %s and %s:\n%s\n%s", e.Name(), back.Name(), text, again)
	}
}

func testEntry(t *testing.T) *Entry {
	t.Helper()
	s := sample.Must(Lookup(Default))(t)
	p := sample.Must(s.Expand(7, Overrides{Instances: 3}))(t)
	node := sim.NewLabel("node")
	call := sim.NewLabel("call")
	k := sim.RootKey(true).Name(node, "A B").Num(call, 7)
	return &Entry{
		Plan: p, Expect: s.Expect[:2], Seed: 1<<64 - 1, Found: "S04 provider/filter-after-decode",
		Verdict: Violates("S04", "S01", "S04"), Digest: sim.Digest{1, 2}.String(), Note: "two lines\nand a # sign", Mode: ModeRecorded,
		Recording: &sim.Recording{
			Seed: 7, SeededOrder: true,
			Choices:    []sim.RecordedChoice{{Key: k, N: 2, Value: 1}, {Key: sim.RootKey(false).Num(call, 9), N: 1 << 63, Value: 12}},
			Priorities: []sim.RecordedChoice{{Key: k, Value: 1<<64 - 1}},
		},
	}
}

func TestEntryRoundTrip(t *testing.T) {
	e := testEntry(t)
	if e.Verdict != "violates S01 S04" {
		t.Errorf("verdict is %q", e.Verdict)
	}
	entryRoundTrip(t, e)
	e.Recording.Complete, e.Recording.SeededOrder = true, false
	entryRoundTrip(t, e)
	e.Recording, e.Mode, e.Expect, e.Digest, e.Note, e.Found, e.Verdict = nil, ModeSeeded, nil, "", "", "", Violates()
	e.Plan = &plan.Plan{Strategy: plan.StrategyFilter, Profile: plan.ProfileContract}
	entryRoundTrip(t, e)
}

// TestEntryName checks that the name depends only on what determines the run.
func TestEntryName(t *testing.T) {
	e := testEntry(t)
	name := e.Name()
	if len(name) != len("0123456789abcdef.txt") || !strings.HasSuffix(name, ".txt") {
		t.Errorf("name is %q", name)
	}
	for i, change := range []func(e *Entry){
		func(e *Entry) { e.Seed++ },
		func(e *Entry) { e.Mode = ModeSeeded },
		func(e *Entry) { e.Plan.Nodes[0].Build = "1.6.0" },
		func(e *Entry) { e.Recording.Choices[0].Value = 0 },
	} {
		other := testEntry(t)
		if change(other); other.Name() == name {
			t.Errorf("change %d leaves the name as it is", i)
		}
	}
	e.Verdict, e.Digest, e.Note, e.Found = VerdictHolds, "", "", ""
	if e.Name() != name {
		t.Error("verdict, digest, note and finding change the name")
	}
}

func TestEntryErrors(t *testing.T) {
	const head = "durosim corpus 1\nverdict holds\nseed 1\nmode seeded\n"
	for _, c := range []struct{ text, want string }{
		{"", `e.txt: a line is missing: expected durosim corpus 1`},
		{"scenario x", `e.txt:1: expected "durosim corpus" on the first line of a corpus entry, found "scenario"`},
		{"durosim corpus 2\n", `e.txt:1: this entry is written in corpus format 2, and this durosim reads format 1: replay it with a durosim that reads that format`},
		{"durosim corpus one\n", `e.txt:1: "one": expected the version of the format, as in: durosim corpus 1`},
		{"durosim corpus 1\nseed 1\nmode seeded\n", `e.txt: a line is missing: expected verdict holds | verdict violates PROPERTY...`},
		{"durosim corpus 1\nverdict broken", `e.txt:2: expected "holds" or "violates", found "broken", as in: verdict holds | verdict violates PROPERTY...`},
		{"durosim corpus 1\nverdict violates", `e.txt:2: the line ends too early: expected a property, as in: verdict holds | verdict violates PROPERTY...`},
		{"durosim corpus 1\nseed 0xg", `e.txt:2: "0xg": expected a seed, decimal or 0x-hex, of at most 64 bits`},
		{"durosim corpus 1\ndigest md5:1", `e.txt:2: sim: digest "md5:1": want sha256: and 64 lower-case hex digits`},
		{"durosim corpus 1\nverdict holds\nseed 1\nmode seeded\nrecording seed 1", `e.txt:4: mode seeded with a recording: expected mode recorded`},
		{"durosim corpus 1\nverdict holds\nseed 1\nmode recorded", `e.txt:4: mode recorded without a recording: expected recording seed NUMBER [unordered] [complete]`},
		{head + "choice a 2 1", `e.txt:5: expected this line after: recording seed NUMBER [unordered] [complete]`},
		{head + "recording seed 1\nchoice a 2 2", `e.txt:6: "2": expected a value from 0 to 1`},
		{head + "recording seed 1\nchoice a/ 2 1", `e.txt:6: sim: key "a/": a segment without a label`},
		{head + "load 3 instances", `e.txt:5: "load" belongs in a scenario: a corpus entry holds a concrete plan, in which nothing is left to draw`},
		{head + "node A runs 1.5.0\nat 1s..2s crash A", `e.txt:6: "1s..2s": expected one time, not a range: a corpus entry holds a concrete plan, in which nothing is left to draw`},
		{head + "node A runs 1.5.1", `e.txt:5: unknown build "1.5.1"; did you mean 1.5.0?`},
	} {
		_, err := ParseEntry("e.txt", []byte(c.text))
		if err == nil || err.Error() != c.want {
			t.Errorf("%q\n got: %v\nwant: %s", c.text, err, c.want)
		}
	}
	// A program with builds of its own has its own handlers: those of the entry need not be missing.
	_, err := ParseEntry("e.txt", []byte(head+"needs Order@1.0.0\nnode A runs 1.5.0+1.0.0"), &engine.Build{Version: engine.V(1, 5, 0), Application: "1.1.0"})
	if err == nil || err.Error() != `e.txt:6: unknown build "1.5.0+1.0.0"; did you mean 1.5.0+1.1.0?` {
		t.Error(err)
	}
}
