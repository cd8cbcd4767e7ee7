package scenario

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// quotations are the passages of document 000 that scenarios tell, sentence by sentence, in their order and without the
// document's typography; a row of a table and an item of a list count as a sentence. The scenario has the sentences, and
// here are their number and the digest of their lines, so that none is left out, added or reworded by the way.
var quotations = []struct {
	file      string
	sentences int
	sha256    string
	passage   string
}{
	{"rolling-upgrade", 21, "b2751864aaab87d66183a02ddb05b75dd72656839cbd3aec3bc1cc49de405be8",
		`"Worked example: rolling upgrade with new event types", from "Before upgrade" to step 3`},
	{"rolling-upgrade-risk", 3, "8de425af4b8c072d6cfe04548ad9059a1c270caea356d5c9facc510184a185bf", "the risk paragraph of its step 1"},
	{"without-filtering", 31, "2992b37cf7b41ea0e8d089e5de27a69b249ebd04e13cab2ad36d54536b98b2da",
		`"Edge case: what if v1.x nodes can't replay v2.x history?", without its notes to do`},
	{"versioned-handlers", 56, "823b5facc1ec264d3a23236ff46f478d8826875c403be1351c1acc83eaf40237",
		`"Worked example: versioned orchestration with new event types"`},
	{"post-upgrade-cleanup", 12, "c06ea4eeae17ad0a70268b808bfcd5a61f0717e36d42cf0f19d317ff13cca430",
		`"Post-upgrade cleanup (if needed)", and the last point of "Rolling upgrades (desired behavior)"`},
	{"draining-by-widening", 20, "678a14a8903b83501730a962268e2afeb4527ed1d60483cc23d3f756a77d58de",
		`"Poison / cancellation / stuck items", "Rolling upgrades (desired behavior)" but for its last point, the comment on supported_replay_versions, and test 29`},
	{"version-gone-and-back", 3, "4b8948df62366e344d06690af5f1c322ca4fc09c4f6f55c82a9317ea15c0c568", `one sentence each of "Goals" and "Filtering semantics"`},
	{"self-stranded", 2, "9fd6243150c63eb6314c6296631345a54b895a540eb9433e494cbbe2116048a3",
		`one sentence each of "Capability filter" and the comment on supported_replay_versions`},
}

// TestQuotations: a scenario about a passage of the document quotes every sentence of it, in its order, and nothing else.
// What it asserts, in lines that begin with "#>", is followed by an expectation. What it does not, in lines that begin with
// "#~" and go on after three spaces, is followed by the reason, "#~ why: ...".
func TestQuotations(t *testing.T) {
	about := map[string]bool{}
	for _, c := range quotations {
		about[c.file] = true
	}
	for _, n := range Builtin() {
		if !about[n.Name] && strings.Contains(string(n.Text), "\n#>") {
			t.Errorf("%s quotes the document, and no list of sentences says what it must quote", n.Name)
		}
	}
	for _, c := range quotations {
		for _, n := range Builtin() {
			if n.Name != c.file {
				continue
			}
			quoted, problems := readQuotations(string(n.Text))
			for _, p := range problems {
				t.Errorf("%s: %s", c.file, p)
			}
			if sum := fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(quoted, "\n")))); sum != c.sha256 || len(quoted) != c.sentences {
				t.Errorf("%s quotes %d sentences with digest %s, want the %d of %s", c.file, len(quoted), sum, c.sentences, c.passage)
			}
		}
	}
}

// readQuotations returns the quotations of a scenario's text, and the mistakes in them.
func readQuotations(text string) (quoted, problems []string) {
	const told, untold = "#> ", "#~ "
	open := "" // the rest that the last quotation still lacks
	need := func(what string) {
		if open != "" {
			problems = append(problems, open+" follows "+quoted[len(quoted)-1])
		}
		open = what
	}
	before := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, told) && before == told, strings.HasPrefix(line, untold+"  "):
			quoted[len(quoted)-1] += " " + strings.TrimSpace(line[len(told):])
			continue
		case strings.HasPrefix(line, told):
			need("no expectation")
			quoted, before = append(quoted, line[len(told):]), told
			continue
		case strings.HasPrefix(line, untold+"why: "):
			if before != untold {
				problems = append(problems, "nothing stands before the reason "+line)
			}
			open = ""
		case strings.HasPrefix(line, untold):
			if before != untold {
				need("no reason")
			}
			quoted, before = append(quoted, line[len(untold):]), untold
			continue
		case strings.HasPrefix(line, "expect ") && open == "no expectation":
			open = ""
		}
		before = ""
	}
	need("")
	return quoted, problems
}

// TestQuotationsAreRead checks the errors of the reader of quotations.
func TestQuotationsAreRead(t *testing.T) {
	for _, c := range []struct {
		text     string
		quoted   []string
		problems []string
	}{
		{"#> It\n#> works.\nexpect never poison\n", []string{"It works."}, nil},
		{"#> It works.\n# A word.\n\nexpect never poison\n#> And so on.\nexpect never skip\n", []string{"It works.", "And so on."}, nil},
		{"#> It works.\n\n#> And so on.\nexpect never skip\n", []string{"It works.", "And so on."}, []string{"no expectation follows It works."}},
		{"expect never skip\n#> It works.\n", []string{"It works."}, []string{"no expectation follows It works."}},
		{"#~ It will\n#~   work.\n#~ Perhaps.\n#~ why: future\n", []string{"It will work.", "Perhaps."}, nil},
		{"#~ It will work.\nexpect never skip\n", []string{"It will work."}, []string{"no reason follows It will work."}},
		{"#~ why: future\n", nil, []string{"nothing stands before the reason #~ why: future"}},
	} {
		quoted, problems := readQuotations(c.text)
		if diff := cmp.Diff(c.quoted, quoted); diff != "" {
			t.Errorf("%q: quotations (-want +have):\n%s", c.text, diff)
		}
		if diff := cmp.Diff(c.problems, problems); diff != "" {
			t.Errorf("%q: problems (-want +have):\n%s", c.text, diff)
		}
	}
}
