package program

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/sample"
)

func drawSet(t *rapid.T) Set {
	return Generate("P", func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "choice") })
}

// seeded returns a fast chooser with a seed, for use in counting.
func seeded(seed uint64) func(n int) int {
	return func(n int) int {
		seed = seed*6364136223846793005 + 1442695040888963407
		return int(seed >> 33 % uint64(n))
	}
}

func parse(text string) (Set, error) {
	var set Set
	var p *Parser
	for line := range strings.Lines(text) {
		var words []string
		for _, w := range strings.Fields(line) {
			if u, err := strconv.Unquote(w); err == nil {
				w = u
			}
			words = append(words, w)
		}
		switch {
		case len(words) == 0:
		case p == nil:
			p = NewParser(words[1], strings.Join(words[min(3, len(words)):], ""))
		default:
			done, err := p.Line(words)
			if err != nil {
				return nil, fmt.Errorf("%q: %w", strings.TrimSpace(line), err)
			}
			if done {
				set, p = append(set, p.Program()), nil
			}
		}
	}
	return set, set.Validate()
}

// oneWord quotes a text so that it contains no spaces, as parse requires.
func oneWord(s string) string { return strings.ReplaceAll(strconv.Quote(s), " ", `\x20`) }

// TestGeneratedAreValid checks that generated programs are valid, and that parsing their text gives the same programs.
func TestGeneratedAreValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := drawSet(t)
		sample.OK(t, set.Validate())
		var text bytes.Buffer
		for i := range set {
			set[i].Format(&text, oneWord)
		}
		back, err := parse(text.String())
		if err != nil {
			t.Fatalf("%v\n%s", err, &text)
		}
		if !reflect.DeepEqual(back, set) {
			t.Fatalf("another program came back:\n%s\n%v\n%v", &text, set, back)
		}
	})
}

// TestEveryOpIsDrawn checks that the generator uses every operation.
func TestEveryOpIsDrawn(t *testing.T) {
	drawn := map[Op]int{}
	const sets = 500
	for seed := range uint64(sets) {
		for _, p := range Generate("P", seeded(seed)) {
			Walk(p.Body, func(n *Node) { drawn[n.Op]++ })
		}
	}
	for _, info := range Ops() {
		if drawn[info.Op] < sets/50 {
			t.Errorf("%s is drawn %d times in %d sets", info.Op, drawn[info.Op], sets)
		}
	}
}

// TestInterpreterAllowsWhatHandlersDo checks that the two readings of a tree agree, whichever branches win and
// whichever activities fail. Outcomes that no branch can have produced must be rejected.
func TestInterpreterAllowsWhatHandlersDo(t *testing.T) {
	completed, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		set := drawSet(t)
		calls := 0
		var started []start
		h := &oracleHost{
			set: set, instance: "i", data: []string{"one", "two", "recovery"}, started: &started, calls: &calls, ids: map[string]bool{},
			choose: func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "winner") },
		}
		if rapid.Bool().Draw(t, "panics") {
			h.panics = "activity panicked"
		}
		c := Circumstances{
			Input: "in", ActivityPanic: h.panics, Anyone: []string{"recovery"}, Events: func(string) []string { return []string{"one", "two"} },
			Messages: func(string) []string { return slices.Repeat([]string{"one", "two", "recovery"}, maxWaits) },
		}
		o, executions := h.outcome("P", "in")
		if !set.Allows("P", "", c, o) {
			t.Fatalf("refused: %+v, expected such as %q", o, set.Explain("P", "", c))
		}
		if executions > set.Executions("P") {
			t.Fatalf("%d executions, at most %d allowed", executions, set.Executions("P"))
		}
		for _, s := range started {
			child := *h
			child.data, child.instance, child.version, child.state, child.ids = []string{"recovery"}, s.instance, s.version, nil, map[string]bool{}
			o, _ := child.outcome(s.name, s.input)
			if !set.Allows(s.name, s.version, Circumstances{Input: s.input, ActivityPanic: h.panics, Anyone: c.Anyone}, o) {
				t.Fatalf("%s, started detached, is refused: %+v", s.name, o)
			}
		}
		if !o.Completed {
			return
		}
		completed++
		if len(set.Versions("P", "")) > 1 {
			return // another version may produce values that this one cannot
		}
		for _, wrong := range []string{o.Text + "x", "x" + o.Text, strings.Replace(o.Text, "call(t", "call(u", 1), strings.Replace(o.Text, ";", "", 1)} {
			if wrong != o.Text && set.Allows("P", "", c, Outcome{Completed: true, Text: wrong}) {
				t.Fatalf("allowed: %q instead of %q", wrong, o.Text)
			}
		}
		if set.Allows("P", "", c, Outcome{Text: "nondeterministic: x"}) || set.Allows("P", "", c, Outcome{Text: "canceled: x"}) {
			t.Fatal("a failure is allowed that nothing can give")
		}
		refused++
	})
	if completed == 0 || refused == 0 {
		t.Errorf("%d programs completed: none was judged", completed)
	}
}

func TestAllows(t *testing.T) {
	// A program a line, whose own lines end at the semicolons.
	const text = `
		program leaf; call a; input; end
		program bad; call-fails b; end
		program stuck; panic p; end
		program main; child leaf x; again 2; end
		program pairs; join; call l; call-fails r; timer 1s; end; end
		program first; select; wait go; call-fails late; end; end
		program kept; try; child bad; call never; catch; say rest; end; end
		program twice; repeat 2; call a; end; drop; wait go; end; detach leaf; end
		program parent; try; child stuck; catch; say told; end; end
		program keeps; set k a; set k b padded 3; get k; keys; clear k; get k; set k c; again 1; prune; keys; end
		program races; join; set k a; clear k; get k; end; get k; end
		program undone; set k a; try; set k b; call-fails x; catch; get k; end; end
		program reads; dequeue jobs; status s; status-get; guid; now; remote k; end
		program pair; dequeue jobs; dequeue jobs; end
		program long; set k v padded 16385; end
		program huge; try; set k v padded 16385; catch; say never; end; end
		program many; set-many 100; set k v; end
		program twins; join; child leaf x as kin; child leaf y as kin; end; end
		program aliased; select; child leaf x as kin; seq; select; status-get; child leaf y as kin; end; call a; end; end; end
		program single; child leaf x as kin; end
		program keeps2; set a v; set b v; end
		program renewed; call t2; end
		program renewed version 1.1.0; again 1 version 1.0.0; call-fails t4; end
		program renewer; child renewed version 1.1.0; call-fails t7; end
		program aged; call old; end
		program aged version 1.1.0; call new; end
		program asks; child aged version 1.0.0; end`
	set := sample.Must(parse(strings.ReplaceAll(text, ";", "\n")))(t)
	events := func(name string) []string {
		if name == "go" {
			return []string{"yes"}
		}
		return nil
	}
	for _, tc := range []struct {
		program, text           string
		completed, panics, want bool
	}{
		{"main", "call(a);x;;call(a);x;;call(a);x;;", true, false, true},
		{"main", "call(a);x;;call(a);x;;", true, false, false}, // an execution is missing
		{"main", "call(a);y;;call(a);x;;call(a);x;;", true, false, false},
		{"main", "activity panicked", false, true, true},
		{"main", "activity panicked", false, false, false},
		{"main", `task 24 panicked with message "activity panicked"`, false, true, true}, // as released runtimes report it
		{"main", `task 24 panicked with message "activity panicked"`, false, false, false},
		{"main", `task 24 panicked with message "another"`, false, true, false},
		{"pairs", "(call(l)|!failed(r)||);", true, false, true},
		{"pairs", "(!failed(r)|call(l)||);", true, false, false}, // results for the wrong awaits
		{"pairs", "failed(r)", false, false, false},              // a join never fails
		{"pairs", "(!activity panicked|!activity panicked||);", true, true, true},
		{"first", "0:yes;", true, false, true},
		{"first", "0:recovery;", true, false, true},
		{"first", "0:no;", true, false, false},
		{"first", "1:failed(late);", true, false, false}, // a failure mistaken for a result
		{"first", "failed(late)", false, false, true},
		{"kept", "~failed(b)>{rest;};", true, false, true},
		{"kept", "{failed(b);;call(never);};", true, false, false},
		{"kept", "failed(b)", false, false, false},
		{"twice", "{call(a);call(a);};;;", true, false, true},
		{"twice", "{call(a);};;;", true, false, false},
		{"parent", "~orchestration panicked: p>{told;};", true, false, true},
		{"parent", "orchestration panicked: p", false, false, false},
		{"stuck", "orchestration panicked: p", false, false, true},
		{"stuck", "", true, false, false},
		{"stuck", "poison: whatever", false, false, true}, // judged by other checkers
		{"stuck", "canceled: x", false, false, false},
		{"keeps", ";;b..;k=b..,;;-;;;;b..;k=b..,;;-;;1;;", true, false, true},
		{"keeps", ";;b..;k=b..,;;b..;;;;b..;k=b..,;;-;;1;;", true, false, false}, // a key that was cleared
		{"keeps", ";;a;k=a,;;-;;;;b..;k=b..,;;-;;1;;", true, false, false},       // an outdated value
		{"keeps", ";;b..;k=b..,;;-;;;;b..;k=b..,;;-;;0;;", true, false, false},   // keys forgotten
		{"races", "(||a|);-;", true, false, true},
		{"races", "(||-|);a;", true, false, true},
		{"races", "(||b|);a;", true, false, false},
		{"undone", ";~failed(x)>{b;};", true, false, true},
		{"undone", ";~failed(x)>{c;};", true, false, false},
		{"reads", "m;;s;guid;now;-;", true, false, true},
		{"reads", "recovery;;s;guid;now;-;", true, false, true},
		{"reads", "yes;;s;guid;now;-;", true, false, false}, // an event is not a message
		{"reads", "m;;-;guid;now;-;", true, false, false},
		{"reads", "m;;s;guid;now;v;", true, false, false},
		{"reads", "m;;s;0;now;-;", true, false, false},
		{"pair", "m;recovery;", true, false, true},
		{"pair", "m;m;", true, false, false}, // one message, taken twice
		{"huge", "KV value for key 'k' (16385 bytes) exceeds limit (16384 bytes)", false, false, true},
		{"huge", "KV value for key 'k' (16386 bytes) exceeds limit (16384 bytes)", false, false, false},
		{"huge", "{;};", true, false, false}, // the limit was not enforced
		{"many", "KV key count (101) exceeds limit (100)", false, false, true},
		{"many", "KV key count (102) exceeds limit (100)", false, false, false},
		{"twins", "(call(a);x;|!instance already exists: i/kin|);", true, false, true},
		{"twins", "(call(a);x;|!instance already exists: i/other|);", true, false, false},
		{"aliased", "canceled: parent dropped sub-orchestration future", false, false, true}, // dropping one cancels both
		{"aliased", "canceled: x", false, false, false},
		{"twins", "canceled: x", false, false, false},
		{"renewer", "failed(t7)", false, false, true}, // its child fails in no execution
		{"aged", "call(old);", true, false, true},
		{"aged", "call(new);", true, false, true},
		{"asks", "call(old);;", true, false, true},
		{"asks", "call(new);;", true, false, false},
		{"unknown", "anything", true, false, true},
	} {
		c := Circumstances{Events: events, Messages: func(string) []string { return []string{"m", "recovery"} }, Anyone: []string{"recovery"}}
		if tc.panics {
			c.ActivityPanic = "activity panicked"
		}
		if got := set.Allows(tc.program, "", c, Outcome{Completed: tc.completed, Text: tc.text}); got != tc.want {
			t.Errorf("%s, completed %v with %q: allowed is %v, want %v", tc.program, tc.completed, tc.text, got, tc.want)
		}
	}
	if !set.Allows("stuck", "", Circumstances{Cancelled: true}, Outcome{Text: "canceled: x"}) {
		t.Error("a cancelled instance may not be cancelled")
	}
	for taken, want := range map[string]bool{"i/kin": true, "i/other": false} {
		refused := Outcome{Text: "instance already exists: i/kin"}
		if got := set.Allows("single", "", Circumstances{Taken: []string{taken}}, refused); got != want {
			t.Errorf("a child whose parent has it alone is refused with %s taken: allowed is %v, want %v", taken, got, want)
		}
	}
	few := []engine.Limits{{Keys: 1, ValueBytes: 10}}
	if !set.Allows("keeps2", "", Circumstances{Limits: few}, Outcome{Text: "KV key count (2) exceeds limit (1)"}) {
		t.Error("keys that are set one by one may not exceed a build's limit")
	}
	if n := set.Executions("main"); n != 3 {
		t.Errorf("main may have %d executions, want 3", n)
	}
	for name, want := range map[string]string{
		"main": "call(a);$input;;call(a);$input;;call(a);$input;;", "pairs": "(call(l)|!failed(r)||);", "first": "<0:_|1:(fails)>;", "bad": "nothing", "long": "nothing",
		"kept": "<{nothing;call(never);}|~failure>{rest;}>;", "unknown": "anything",
	} {
		if got := set.Explain(name, "", Circumstances{}); got != want {
			t.Errorf("%s is explained as %q, want %q", name, got, want)
		}
	}
	two := Set{{Name: "P", Body: []Node{{Op: OpInput}}}, {Name: "P", Version: "2.0.0", Body: []Node{{Op: OpCall}}}}
	for version, want := range map[string]string{"": "<$input;|call();>", "2.0.0": "call();"} {
		if got := two.Explain("P", version, Circumstances{}); got != want {
			t.Errorf("version %q is explained as %q, want %q", version, got, want)
		}
	}
}

func TestValidate(t *testing.T) {
	for _, tc := range []struct {
		set  Set
		want string
	}{
		{Set{{Name: "P"}}, "no statements"},
		{Set{{Body: []Node{{Op: OpInput}}}}, "without a name"},
		{Set{{Name: "P", Body: []Node{{Op: OpInput}}}, {Name: "P", Body: []Node{{Op: OpInput}}}}, "duplicate name"},
		{Set{{Name: "P", Version: "x", Body: []Node{{Op: OpInput}}}}, "version"},
		{Set{{Name: "P", Version: "2.0.0", Body: []Node{{Op: OpInput}}}, {Name: "P", Body: []Node{{Op: OpInput}}}}, "ascending order"},
		{Set{{Name: "P", Version: "2.0.0-rc.10", Body: []Node{{Op: OpInput}}}, {Name: "P", Version: "2.0.0-rc.9", Body: []Node{{Op: OpInput}}}}, "ascending order"},
		{Set{{Name: "P", Body: []Node{{Op: OpInput}}}, {Name: "Q", Body: []Node{{Op: OpInput}}}, {Name: "P", Version: "2.0.0", Body: []Node{{Op: OpInput}}}}, "comes between"},
		{Set{{Name: "P", Body: []Node{{Op: OpAgain, Count: 1, Version: "2.0.0"}}}}, "no version 2.0.0"},
		{Set{{Name: "Q", Body: []Node{{Op: OpInput}}}, {Name: "P", Body: []Node{{Op: OpChild, Name: "Q", Version: "2.0.0"}}}}, "no version 2.0.0"},
		{Set{{Name: "P", Body: []Node{{Op: OpSetMany, Size: 111}}}}, "keys from 1 to 110"},
		{Set{{Name: "P", Body: []Node{{Op: "jump"}}}}, `unknown statement "jump"`},
		{Set{{Name: "P", Body: []Node{{Op: OpCall}}}}, "expected call TEXT"},
		{Set{{Name: "P", Body: []Node{{Op: OpCall, Text: "\xff"}}}}, "not valid UTF-8"},
		{Set{{Name: "P", Body: []Node{{Op: OpTimer, Delay: time.Microsecond}}}}, "whole milliseconds"},
		{Set{{Name: "P", Body: []Node{{Op: OpRepeat, Count: 99, Kids: []Node{{Op: OpInput}}}}}}, "from 1 to 10"},
		{Set{{Name: "P", Body: []Node{{Op: OpSeq}}}}, "without statements"},
		{Set{{Name: "P", Body: []Node{{Op: OpTry, Kids: []Node{{Op: OpInput}}}}}}, "without statements"},
		{Set{{Name: "P", Body: []Node{{Op: OpSeq, Kids: []Node{{Op: OpAgain, Count: 1}}}}}}, "again is inside a block"},
		{Set{{Name: "P", Body: []Node{{Op: OpChild, Name: "P"}}}}, "an earlier program"},
		{Set{{Name: "Q", Body: []Node{{Op: OpInput}}}, {Name: "P", Body: []Node{{Op: OpChild, Name: "Q", Text: "again:1"}}}}, `begins with "again:"`},
		{Set{{Name: "P", Body: []Node{{Op: OpWait, Name: "go"}, {Op: OpAgain, Count: 10}}}}, "waits for 11 events"},
		{Set{{Name: "P", Body: []Node{{Op: OpRepeat, Count: 10, Kids: []Node{{Op: OpRepeat, Count: 10, Kids: []Node{{Op: OpCall, Text: "a"}}}}}, {Op: OpAgain, Count: 10}}}}, "schedules 1100 operations"},
	} {
		if err := tc.set.Validate(); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: got %v, want %q", tc.set, err, tc.want)
		}
	}
	deep := []Node{{Op: OpInput}}
	for range maxDepth + 2 {
		deep = []Node{{Op: OpSeq, Kids: deep}}
	}
	if err := (Set{{Name: "P", Body: deep}}).Validate(); err == nil || !strings.Contains(err.Error(), "nested deeper") {
		t.Errorf("deep blocks: got %v", err)
	}
}

func TestParserRefuses(t *testing.T) {
	for line, want := range map[string]string{
		"jump":          "unknown statement",
		"call":          "ends too early",
		"call a b":      `unexpected "b"`,
		"wait go x":     `unexpected "x"`,
		"timer soon":    "expected a time",
		"repeat 0":      "from 1 to 10",
		"catch":         "outside a try",
		"again 1000000": "from 1 to 10",
	} {
		if _, err := NewParser("P", "").Line(strings.Fields(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", line, err, want)
		}
	}
	if _, err := parse("program P\ntry\ncall a\nend\nend"); err == nil || !strings.Contains(err.Error(), "without a catch") {
		t.Errorf("a try without catch: got %v", err)
	}
	if _, err := parse("program P\n" + strings.Repeat("seq\n", maxDepth+1)); err == nil || !strings.Contains(err.Error(), "nested deeper") {
		t.Errorf("many blocks: got %v", err)
	}
}

// TestEdits checks that an edit leaves the original unchanged and removes what it should.
func TestEdits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := drawSet(t)
		was, n := set.Clone(), set.Statements()
		drop := rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, "drop")
		at := rapid.IntRange(0, n-1).Draw(t, "at")
		less := set.Without(drop)
		kept := 0
		for _, d := range drop {
			if !d {
				kept++
			}
		}
		if less.Statements() > kept {
			t.Fatalf("%d statements are left of %d, %d were to be kept", less.Statements(), n, kept)
		}
		if !reflect.DeepEqual(set.Without(make([]bool, n)), set) {
			t.Fatal("leaving nothing out changes a program")
		}
		if open, ok := set.Unblock(at); ok && open.Statements() >= n {
			t.Fatal("a block that gave way is still there")
		}
		set.Edit(at, func(n *Node) { n.Op, n.Kids = OpInput, nil })
		if !reflect.DeepEqual(set, was) {
			t.Fatal("an edit has changed the original")
		}
	})
}

func TestCarry(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := carry{rapid.IntRange(1, 9).Draw(t, "n"), rapid.String().Draw(t, "input"), rapid.String().Draw(t, "said")}
		if got := carried(c.String()); got != c {
			t.Fatalf("%q reads back as %+v, want %+v", c, got, c)
		}
		first := rapid.String().Draw(t, "first")
		if IsInput(first) && carried(first) != (carry{input: first}) {
			t.Fatalf("%q is taken for what an execution hands on", first)
		}
	})
}
