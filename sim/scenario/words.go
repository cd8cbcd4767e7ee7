package scenario

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/sim/plan"
)

// Bounds on values in a text. Anything beyond them is a typing error.
const (
	maxTime   = 10 * 366 * 24 * time.Hour
	maxSeeds  = 1_000_000_000
	maxBudget = 1 << 62
	maxLoad   = 100_000
	maxWeight = 1_000_000
	maxTimes  = 1_000_000
	maxCycles = 1000
	maxOdds   = 1 << 62
)

// failf records an error unless there already is one.
func (p *parser) failf(format string, args ...any) {
	if p.err == nil {
		p.err = &Error{File: p.file, Line: p.line, Msg: fmt.Sprintf(format, args...)}
	}
}

func (p *parser) more() bool { return p.err == nil && len(p.words) > 0 }

// next consumes the next word. If there is none, it reports what was expected.
func (p *parser) next(what string) token {
	if p.err != nil {
		return token{}
	}
	if len(p.words) == 0 {
		p.failf("the line ends too early: expected %s, as in: %s", what, p.form)
		return token{}
	}
	t := p.words[0]
	p.words = p.words[1:]
	return t
}

// accept consumes the next word if it is the given keyword.
func (p *parser) accept(keyword string) bool {
	if p.more() && p.words[0].is(keyword) {
		p.words = p.words[1:]
		return true
	}
	return false
}

func (p *parser) keyword(keywords ...string) string {
	what := strings.Join(pretty.Texts(keywords, strconv.Quote), " or ")
	t := p.next(what)
	if slices.ContainsFunc(keywords, t.is) {
		return t.text
	}
	p.failf("expected %s, found %q, as in: %s", what, t.text, p.form)
	return ""
}

// clause consumes the next word, which must be one of the keywords and must not be in seen.
func (p *parser) clause(seen map[string]bool, keywords ...string) string {
	t := p.next("a clause")
	if slices.ContainsFunc(keywords, t.is) {
		if seen[t.text] {
			p.failf("%q is given twice; the form is: %s", t.text, p.form)
		}
		seen[t.text] = true
		return t.text
	}
	p.failf("unexpected %q: expected %s%s", t.text, orList(keywords), pretty.Hint(t.text, keywords))
	return ""
}

// name consumes a nonempty word.
func (p *parser) name(what string) string {
	t := p.next(what)
	if p.err == nil && t.text == "" {
		p.failf("an empty name: expected %s, as in: %s", what, p.form)
	}
	return t.text
}

// rest consumes all words up to the end of the line. There must be at least one.
func (p *parser) rest(what string) string {
	parts := []string{p.next(what).text}
	for p.more() {
		parts = append(parts, p.next(what).text)
	}
	return strings.Join(parts, " ")
}

func (p *parser) oneOf(what string, known []string) string {
	t := p.next("a " + what)
	if slices.Contains(known, t.text) {
		return t.text
	}
	p.failf("unknown %s %q: expected %s%s", what, t.text, orList(known), pretty.Hint(t.text, known))
	return ""
}

func orList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// known is like oneOf but for long or open-ended lists. Its error suggests a similar name, and lists all names only if
// there are few and none is similar.
func (p *parser) known(what, have string, all []string) {
	if p.err != nil || slices.Contains(all, have) {
		return
	}
	const many = 48 // too many names to list in an error
	hint := pretty.Hint(have, all)
	if hint == "" && len(all) > 0 && len(all) <= many {
		hint = ": expected " + orList(all)
	}
	p.failf("unknown %s %q%s", what, have, hint)
}

func (p *parser) build() string {
	if p.accept("duroxide") {
		return p.released()
	}
	name := p.name("a build")
	if at := p.declared(name); at > p.line && !slices.Contains(p.builds, name) {
		p.failf("build %q is declared in line %d, and must be declared above this line", name, at)
	}
	if runtime, _, apart := strings.Cut(name, "+"); apart && !slices.Contains(p.builds, name) && slices.Contains(p.builds, runtime) {
		p.failf("unknown build %q: there are no applications here; those of a test are in Config.Applications or Run.Applications, those of your own program in Program.Applications, and \"build %s like %s\" declares the build without its code", name, name, runtime)
	}
	if !slices.Contains(p.builds, name) {
		models := slices.DeleteFunc(plan.ReleaseNames(), func(r string) bool { _, ok := plan.Release(r, p.builds); return !ok || r == name })
		p.known("build", name, append(models, p.builds...))
	}
	return name
}

// declared returns the line that declares a build, or 0.
func (p *parser) declared(name string) int {
	line := 0
	for text := range bytes.Lines(p.text) {
		line++
		if words := strings.Fields(string(text)); len(words) > 1 && words[0] == "build" && words[1] == name {
			return line
		}
	}
	return 0
}

// declareReleases declares the models of releases of duroxide that the text names and does not declare.
func (p *parser) declareReleases() {
	for text := range bytes.Lines(p.text) {
		words := strings.Fields(string(text))
		for i := 1; i < len(words); i++ {
			name := words[i]
			if !slices.Contains([]string{"run", "runs", "to", "like", "reads", "activate"}, words[i-1]) || slices.Contains(p.builds, name) || p.declared(name) > 0 {
				continue
			}
			if b, ok := plan.Release(name, p.builds); ok {
				p.s.Template.Builds = append(p.s.Template.Builds, b)
				p.builds = append(p.builds, name)
			}
		}
	}
}

// released parses a released runtime's version and returns the name of its build.
func (p *parser) released() string {
	version := p.name("a version")
	if engine.ReleasedBuild(version) != nil {
		return engine.ReleasePrefix + version
	}
	p.known("release of duroxide", version, plan.ReleaseNames())
	return engine.ReleasePrefix + version
}

func (p *parser) version() engine.Version {
	v, err := engine.ParseVersion(p.name("a version"))
	if err != nil {
		p.failf("%v", err)
	}
	return v
}

func (p *parser) handler() (name, version string) {
	t := p.next("an orchestration")
	if p.err != nil {
		return "", ""
	}
	name = t.text
	if i := strings.LastIndexByte(name, '@'); i >= 0 && !t.quoted {
		name, version = name[:i], name[i+1:]
		if version == "" {
			p.failf("orchestration %q: expected a version after the @", t.text)
		}
	}
	if p.accept("version") {
		if version != "" {
			p.failf("orchestration %q has two versions", t.text)
		}
		version = p.name("a version")
	}
	if p.err == nil && name == "" {
		p.failf("an empty name: expected an orchestration, as in: %s", p.form)
	}
	if version != "" {
		if _, err := engine.ParseVersion(version); err != nil {
			p.failf("orchestration %s: %v", name, err)
		}
	}
	return name, version
}

func (p *parser) number(what string, least, most uint64) uint64 {
	t := p.next(what)
	n, err := strconv.ParseUint(t.text, 10, 64)
	if p.err == nil && (err != nil || n < least || n > most) {
		p.failf("%q: expected %s from %d to %d", t.text, what, least, most)
	}
	if p.err != nil {
		return least
	}
	return n
}

func (p *parser) duration(what string) time.Duration {
	t := p.next(what)
	if lo, _, isRange := strings.Cut(t.text, ".."); isRange {
		p.failf("%q: expected one %s here, not a range, such as %s", t.text, strings.TrimPrefix(what, "a "), lo)
	}
	return p.parseTime(t.text, t.text)
}

// span consumes a time, or a range of times such as "10s..15s".
func (p *parser) span(what string) (lo, hi time.Duration) {
	t := p.next(what)
	from, to, isRange := strings.Cut(t.text, "..")
	if !isRange {
		d := p.parseTime(t.text, t.text)
		return d, d
	}
	lo, hi = p.parseTime(from, t.text), p.parseTime(to, t.text)
	switch {
	case p.err != nil:
		return 0, 0
	case hi < lo:
		p.failf("%q: the range ends before it begins", t.text)
	case lo%time.Millisecond != 0 || hi%time.Millisecond != 0:
		p.failf("%q: expected whole milliseconds in a range", t.text)
	case lo != hi && p.entry != nil:
		p.failf("%q: expected one time, not a range: a corpus entry holds a concrete plan, in which nothing is left to draw", t.text)
	}
	return lo, hi
}

func (p *parser) parseTime(s, all string) time.Duration {
	if p.err != nil {
		return 0
	}
	d, err := time.ParseDuration(s)
	switch {
	case err != nil || strings.HasPrefix(s, "+"):
		p.failf("%q: expected a time such as 250ms, 10s or 1m30s, or, where times are drawn, a range such as 10s..15s", all)
	case d < 0:
		p.failf("%q: expected a time at or after the start", all)
	case d > maxTime:
		p.failf("%q: expected at most %v", all, maxTime)
	case d%time.Microsecond != 0:
		p.failf("%q: expected whole microseconds", all)
	}
	if p.err != nil {
		return 0
	}
	return d
}

// single reports an error if the text already has the statement.
func (p *parser) single(statement string) {
	if before, twice := p.once[statement]; twice {
		p.failf("duplicate %q: line %d has it", statement, before)
	}
	p.once[statement] = p.line
}

// unique reports an error if two things of the same kind have the same name.
func (p *parser) unique(kind, name string) {
	if p.err != nil {
		return
	}
	key := kind + " " + name
	if before, twice := p.named[key]; twice {
		p.failf("duplicate %s %q: line %d has it", kind, name, before)
		return
	}
	p.named[key] = p.line
}

// texts converts values of a named string type to strings.
func texts[T ~string](list []T) []string {
	return pretty.Texts(list, func(x T) string { return string(x) })
}
