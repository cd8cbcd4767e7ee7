package scenario

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/pretty"
)

// item is a piece of a line's pattern. It is bound to a value: it reads words into the value, and writes the value as
// words, which are none if the value is left out.
type item struct {
	form  string
	read  func(p *parser)
	write func() string
}

// place is where a line stands: in a scenario or an entry, and below which line.
type place struct {
	s *Scenario
	e *Entry
	// parent is the statement that the line stands below, and outer the index of its value.
	parent string
	outer  int
	// single is how many of the fault rates are written one by one, and common the name of the fault plan that has the
	// rest.
	single int
	common string
}

// spaced joins texts with spaces, but for empty ones.
func spaced(texts []string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), " ")
}

func formOfItems(items []item) string {
	return spaced(pretty.Texts(items, func(it item) string { return it.form }))
}

func textOf(items []item) string {
	return spaced(pretty.Texts(items, func(it item) string {
		if it.write == nil {
			return ""
		}
		return it.write()
	}))
}

// check is an item without words, which checks or uses what the items before it have read.
func check(f func(p *parser)) item { return item{read: f} }

// word is a keyword. Any of the words may be read; the first is written.
func word(words ...string) item {
	return item{words[0], func(p *parser) { p.keyword(words...) }, func() string { return words[0] }}
}

// named is a nonempty word.
func named(x *string, form, what string) item {
	return item{form, func(p *parser) { *x = p.name(what) }, func() string { return quote(*x) }}
}

// unique is a name that nothing else of its kind may have.
func unique(x *string, form, what, kind string) item {
	it := named(x, form, what)
	return item{form, func(p *parser) { it.read(p); p.unique(kind, *x) }, it.write}
}

// value is a word that may be empty.
func value(x *string, form, what string) item {
	return item{form, func(p *parser) { *x = p.next(what).text }, func() string { return quote(*x) }}
}

// restOf is all text up to the end of the line.
func restOf(x *string, form, what string) item {
	return item{form, func(p *parser) { *x = p.rest(what) }, func() string { return quoteText(*x) }}
}

func count[T ~int | ~uint32 | ~uint64](x *T, form, what string, least, most uint64) item {
	return item{form, func(p *parser) { *x = T(p.number(what, least, most)) }, func() string { return strconv.FormatUint(uint64(*x), 10) }}
}

// period is one time. If it is less than least, it is rejected with the message wrong, which shows it.
func period(x *time.Duration, form, what string, least time.Duration, wrong string) item {
	return item{form, func(p *parser) {
		if *x = p.duration(what); p.err == nil && *x < least {
			p.failf(wrong, *x)
		}
	}, func() string { return x.String() }}
}

// opened is a time that may be drawn.
func (at place) opened(x *time.Duration, of openOf, index int) item {
	return item{"TIME", func(p *parser) {
		lo, hi := p.span("a time")
		*x = lo
		p.draw(openTime{Of: of, Index: index, Lo: lo, Hi: hi})
	}, func() string { return at.s.time(of, index, 0, *x) }}
}

// oneOf is one of several words.
func oneOf[T ~string](x *T, form, what string, known []string) item {
	return item{form, func(p *parser) { *x = T(p.oneOf(what, known)) }, func() string { return string(*x) }}
}

// someOf is one or more known words, separated by "|".
func someOf[T ~string](x *[]T, form, what string, known []string) item {
	return item{form, func(p *parser) {
		for word := range strings.SplitSeq(p.name(orList(known)), "|") {
			if p.err == nil && !slices.Contains(known, word) {
				p.failf("unknown %s %q: expected one or more of %s, separated by |%s", what, word, orList(known), pretty.Hint(word, known))
			}
			*x = append(*x, T(word))
		}
	}, func() string { return strings.Join(texts(*x), "|") }}
}

// several is one or more names, of which none may be given twice. check, if not nil, checks each name, and until lists
// the keywords that end them.
func several[T ~string](x *[]T, form, what, kind string, check func(p *parser, name string), until ...string) item {
	return item{form, func(p *parser) {
		for first := true; p.err == nil && (first || p.more() && !slices.ContainsFunc(until, p.words[0].is)); first = false {
			name := p.name(what)
			if check != nil {
				check(p, name)
			}
			if slices.Contains(*x, T(name)) {
				p.failf("%s %s is given twice", kind, name)
			}
			*x = append(*x, T(name))
		}
	}, func() string {
		return strings.Join(pretty.Texts(*x, func(name T) string { return quoteName(string(name), "with", "without", "none") }), " ")
	}}
}

func buildOf(x *string) item {
	return item{"BUILD", func(p *parser) { *x = p.build() }, func() string { return formatBuild(*x) }}
}

func handlerOf(name, version *string) item {
	return item{"NAME[@VERSION]", func(p *parser) { *name, *version = p.handler() }, func() string { return formatHandler(*name, *version) }}
}

func versionOf(x **engine.Version) item {
	return item{"VERSION", func(p *parser) { v := p.version(); *x = &v }, func() string { return (*x).String() }}
}

func rangeOf(x **engine.VersionRange) item {
	return item{"RANGE", func(p *parser) { *x = p.versionRange() }, func() string { return formatRange(*x) }}
}

// stepRange is a range that a step gives a node, or the word for that of the node's build.
func stepRange(x **engine.VersionRange) item {
	const own = "default"
	return item{"RANGE|" + own, func(p *parser) {
		if !p.accept(own) {
			*x = p.versionRange()
		}
	}, func() string {
		if *x == nil {
			return own
		}
		return formatRange(*x)
	}}
}

// clause is a keyword and what follows it. It is written if set is true.
type clause struct {
	word  string
	set   bool
	items []item
	// kept clauses are not optional, but for what a check says; or clauses are the alternative to the clause before.
	kept, or bool
}

func with(word string, set bool, items ...item) clause {
	return clause{word: word, set: set, items: items}
}

// flag is a clause that consists of its keyword only.
func flag(word string, x *bool) clause {
	return with(word, *x, check(func(*parser) { *x = true }))
}

func (c clause) required() clause { c.kept = true; return c }

func (c clause) instead() clause { c.kept, c.or = true, true; return c }

func (c clause) form() string {
	form := strings.TrimSpace(c.word + " " + formOfItems(c.items))
	switch {
	case c.or:
		return "| " + form
	case c.kept:
		return form
	}
	return "[" + form + "]"
}

func (c clause) read(p *parser) {
	for _, it := range c.items {
		it.read(p)
	}
}

func clauseItem(list []clause, read func(p *parser)) item {
	return item{strings.Join(pretty.Texts(list, clause.form), " "), read, func() string {
		return spaced(pretty.Texts(list, func(c clause) string {
			if !c.set {
				return ""
			}
			return spaced([]string{c.word, textOf(c.items)})
		}))
	}}
}

// clauses are clauses in any order, each at most once, up to the end of the line.
func clauses(list ...clause) item { return someClauses(0, list) }

func anyClauses(list ...clause) item { return someClauses(1, list) }

func someClauses(least int, list []clause) item {
	return clauseItem(list, func(p *parser) {
		for seen := map[string]bool{}; p.more() || p.err == nil && len(seen) < least; {
			given := p.clause(seen, clauseWords(list)...)
			for _, c := range list {
				if c.word == given && p.err == nil {
					c.read(p)
				}
			}
		}
	})
}

// oneClause is exactly one of several clauses.
func oneClause(list ...clause) item {
	for i := range list {
		list[i].kept, list[i].or = true, i > 0
	}
	return clauseItem(list, func(p *parser) {
		given := p.keyword(clauseWords(list)...)
		for _, c := range list {
			if c.word == given {
				c.read(p)
			}
		}
	})
}

func clauseWords(list []clause) []string {
	return pretty.Texts(list, func(c clause) string { return c.word })
}
