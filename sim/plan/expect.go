package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/facts"
	"github.com/durosim/durosim/internal/planterm"
)

// Expectation is a requirement of a scenario on its runs in addition to the properties: that a fact never happens, that
// each such fact has certain attributes, or that some seed of the campaign shows it.
//
//	never turn in rollback where build=1.x pin=2.0.0
//	always turn in pinned where pin=1.5.0 has build=1.5.0|1.6.0
//	sometimes fetch where attempt=2
//
// A fact has a name, in Event, and attributes; package internal/facts lists them.
type Expectation struct {
	// Line and Text are the expectation's line in the scenario and its text there.
	Line int
	Text string
	Mode Mode
	// In is the part of the story to which the expectation applies (Step.Mark), empty for the whole run.
	In    string
	Event string
	// Where are the attributes that select facts; all must match.
	Where []Attr
	// Has are the attributes that "always" requires of each selected fact.
	Has []Attr
}

// Mode is what an expectation requires of the facts that it selects: "always" (each has the attributes in Has), "never"
// (there are none) or "sometimes" (some seed of the campaign shows one).
type Mode = planterm.Mode

// Attr is an attribute of a fact and the value that it must have. A value is an exact text, a version prefix such as
// "1.x" (also at the end of a handler: "Name@1.x"), or several of these, separated by "|".
type Attr struct{ Name, Value string }

// String returns the attribute as name=value.
func (a Attr) String() string { return a.Name + "=" + a.Value }

// Match reports whether the attribute accepts a fact's value.
func (a Attr) Match(value string) bool {
	for rest, more := a.Value, true; more; {
		var pattern string
		pattern, rest, more = strings.Cut(rest, "|")
		if pattern == value {
			return true
		}
		if stem, ok := strings.CutSuffix(pattern, ".x"); ok && len(value) > len(stem) && value[len(stem)] == '.' && value[:len(stem)] == stem {
			return true
		}
	}
	return false
}

// PointName returns the name of the coverage point that is reached when a run shows a fact that "sometimes" selects.
func (e Expectation) PointName() string { return fmt.Sprintf("expect:%d:%s", e.Line, e.Text) }

// Validate returns an error that says what was expected if the expectation does not fit its mode or does not name a
// fact.
func (e Expectation) Validate() error {
	switch e.Mode {
	case planterm.ModeAlways:
		if len(e.Has) == 0 {
			return fmt.Errorf("always %s: expected \"has\" and what each such %s must have, or never", e.Event, e.Event)
		}
	case planterm.ModeNever, planterm.ModeSometimes:
		if len(e.Has) > 0 {
			return fmt.Errorf("%s %s: \"has\" goes with always; expected %q among the attributes after \"where\"", e.Mode, e.Event, e.Has[0])
		}
	default:
		return fmt.Errorf("expectation %q: expected always, never or sometimes", e.Mode)
	}
	for _, info := range facts.All() {
		if info.Name == e.Event {
			for _, list := range [][]Attr{e.Where, e.Has} {
				for _, a := range list {
					if err := checkEvent(info, a); err != nil {
						return err
					}
				}
			}
			return nil
		}
	}
	var names []string
	for _, info := range facts.All() {
		names = append(names, info.Name)
	}
	return fmt.Errorf("event %q: expected one of %s", e.Event, strings.Join(names, ", "))
}

// checkEvent checks an attribute that an expectation requires of a fact.
func checkEvent(info facts.Info, a Attr) error {
	var names []string
	for _, known := range info.Attrs {
		if known.Name == a.Name {
			return checkAttr(known, info.Name, a)
		}
		names = append(names, known.Name)
	}
	if info.Name == facts.Up {
		if _, err := engine.ParseVersion(a.Name); err == nil {
			return checkAttr(facts.Attr{Name: a.Name}, info.Name, a)
		}
	}
	if _, _, err := planterm.ParseHandler(a.Name); err == nil && info.Name == facts.Node {
		return checkAttr(facts.Attr{Name: a.Name, Values: []string{"yes", "no"}}, info.Name, a)
	}
	return fmt.Errorf("%s has no attribute %q: expected one of %s", info.Name, a.Name, strings.Join(names, ", "))
}

func checkAttr(known facts.Attr, event string, a Attr) error {
	for _, v := range strings.Split(a.Value, "|") {
		if v == "" {
			return fmt.Errorf("%s %s: a value is missing", event, a)
		}
		if want := neverMatches(a.Name, v); want != "" {
			return fmt.Errorf("%s %s: %q is never the %s: expected %s", event, a, v, a.Name, want)
		}
		if known.Values != nil && !slices.Contains(known.Values, v) {
			return fmt.Errorf("%s %s: %s has no value %q: expected one of %s", event, a, a.Name, v, strings.Join(known.Values, ", "))
		}
	}
	return nil
}

// neverMatches returns the required form of the attribute's values if the given value has another form and can never
// match. It returns "" if the value has the right form.
func neverMatches(attr, value string) (want string) {
	switch attr {
	case "build":
		if !isVersion(value) {
			return "a version such as 1.5.0, or 1.x"
		}
	case "pin":
		if value != "none" && !isVersion(value) {
			return "a version such as 1.5.0, or 1.x, or none"
		}
	case "handler":
		name, version, ok := strings.Cut(value, "@")
		if value != "none" && (!ok || name == "" || !isVersion(version)) {
			return "NAME@VERSION, as in ProcessOrder@1.0.0 or ProcessOrder@1.x"
		}
	case "attempt", "execution":
		if _, err := strconv.ParseUint(value, 10, 64); err != nil {
			return "a number"
		}
	case "delay":
		if d, err := time.ParseDuration(value); err != nil || d.String() != value {
			return "a duration such as 1s"
		}
	}
	return ""
}

// isVersion reports whether a value is a version, or a version prefix that ends in ".x".
func isVersion(value string) bool {
	text := value
	if stem, ok := strings.CutSuffix(value, ".x"); ok {
		text = stem + strings.Repeat(".0", max(2-strings.Count(stem, "."), 0))
	}
	_, err := engine.ParseVersion(text)
	return err == nil
}
