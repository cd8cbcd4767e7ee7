package program

import (
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/exp/ebnf"

	"github.com/durosim/durosim/internal/sample"
)

// tokens gives examples of the words that a scanner distinguishes, by production. Some of the words also occur in the
// syntax.
var tokens = map[string][]string{
	"word": {"leaf", "as", "version", "topic", "tag", "session", "padded", "end", "7"}, "duration": {"250ms", "10s", "0s"},
	"count": {"1", "10"}, "size": {"1", "900"}, "nl": {"\n"},
}

func isToken(production, word string) bool {
	n, notNumber := strconv.Atoi(word)
	switch production {
	case "nl":
		return word == "\n"
	case "count":
		return notNumber == nil && 1 <= n && n <= maxCount
	case "size":
		return notNumber == nil && 1 <= n && n <= maxSize
	case "duration":
		d, err := time.ParseDuration(word)
		return err == nil && d >= 0
	}
	return word != "\n"
}

// grammar is the grammar in grammar.ebnf.
type grammar struct {
	ebnf.Grammar
	draw *rand.Rand
}

// sentence returns the words of a text derived from the expression. Beyond a certain depth it always takes the first
// alternative, which terminates.
func (g grammar) sentence(e ebnf.Expression, depth int) (words []string) {
	switch e := e.(type) {
	case ebnf.Alternative:
		i := g.draw.IntN(len(e))
		if depth > 20 {
			i = 0
		}
		return g.sentence(e[i], depth+1)
	case ebnf.Sequence:
		for _, part := range e {
			words = append(words, g.sentence(part, depth+1)...)
		}
	case *ebnf.Group:
		return g.sentence(e.Body, depth+1)
	case *ebnf.Option:
		if g.draw.IntN(2) == 0 {
			return g.sentence(e.Body, depth+1)
		}
	case *ebnf.Repetition:
		for range g.draw.IntN(4) {
			words = append(words, g.sentence(e.Body, depth+1)...)
		}
	case *ebnf.Token:
		return []string{e.String}
	case *ebnf.Name:
		if examples, ok := tokens[e.String]; ok {
			return []string{examples[g.draw.IntN(len(examples))]}
		}
		return g.sentence(g.Grammar[e.String].Expr, depth+1)
	}
	return words
}

// ends returns the positions at which a text derived from the expression can end if it starts at one of the given
// positions.
func (g grammar) ends(e ebnf.Expression, words []string, places []int) (out []int) {
	switch e := e.(type) {
	case ebnf.Alternative:
		for _, part := range e {
			out = append(out, g.ends(part, words, places)...)
		}
	case ebnf.Sequence:
		out = places
		for _, part := range e {
			out = g.ends(part, words, out)
		}
	case *ebnf.Group:
		return g.ends(e.Body, words, places)
	case *ebnf.Option:
		out = append(g.ends(e.Body, words, places), places...)
	case *ebnf.Repetition:
		for out = places; len(places) > 0; {
			places = g.ends(e.Body, words, places)
			out = slices.Concat(out, places)
		}
	case *ebnf.Token:
		for _, at := range places {
			if at < len(words) && words[at] == e.String {
				out = append(out, at+1)
			}
		}
	case *ebnf.Name:
		if tokens[e.String] == nil {
			return g.ends(g.Grammar[e.String].Expr, words, places)
		}
		for _, at := range places {
			if at < len(words) && isToken(e.String, words[at]) {
				out = append(out, at+1)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// accepts reports whether the parser accepts the words of a program, starting at its second line.
func accepts(words []string) bool {
	p := NewParser("P", "")
	for len(words) > 0 {
		end := slices.Index(words, "\n")
		if end < 1 {
			return false
		}
		done, err := p.Line(words[:end])
		if words = words[end+1:]; err != nil || done {
			return err == nil && len(words) == 0
		}
	}
	return false
}

// TestGrammar checks that the parser accepts exactly what grammar.ebnf derives. It tries derived texts, and variants in
// which a word is missing, duplicated or replaced.
func TestGrammar(t *testing.T) {
	file := sample.Must(os.Open("grammar.ebnf"))(t)
	defer file.Close()
	productions := sample.Must(ebnf.Parse("grammar.ebnf", file))(t)
	sample.OK(t, ebnf.Verify(productions, "Program"))
	g := grammar{productions, rand.New(rand.NewPCG(1, 0))}
	program := productions["Program"].Expr
	begun := map[string]bool{}
	right, wrong := 0, 0
	for range 500 {
		words := g.sentence(program, 0)
		header := slices.Index(words, "\n") + 1
		for i := header; i < len(words); i++ {
			begun[words[i]] = begun[words[i]] || words[i-1] == "\n"
		}
		at := header + g.draw.IntN(len(words)-header)
		other := words[g.draw.IntN(len(words))]
		for _, text := range [][]string{words, slices.Delete(slices.Clone(words), at, at+1), slices.Insert(slices.Clone(words), at, words[at]), slices.Replace(slices.Clone(words), at, at+1, other)} {
			derived := slices.Contains(g.ends(program, text, []int{0}), len(text))
			if derived {
				right++
			} else {
				wrong++
			}
			if read := accepts(text[header:]); read != derived {
				t.Fatalf("the grammar derives it: %t, the parser reads it: %t\n%s", derived, read, strings.Join(text, " "))
			}
		}
	}
	for _, op := range Ops() {
		if !begun[string(op.Op)] {
			t.Errorf("no text has a statement %q", op.Op)
		}
	}
	if right < 500 || wrong < 500 {
		t.Errorf("%d texts are derived and %d are not: too few to tell", right, wrong)
	}
}
