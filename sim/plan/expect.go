package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/pretty"
)

// Expectation is a requirement that a scenario places on its runs in addition to the properties: that a fact never
// occurs, that every such fact has certain attributes, or that the fact occurs in at least one seed of the campaign.
//
//	never turn in rollback where build=1.x pin=2.0.0
//	always turn in pinned where pin=1.5.0 has build=1.5.0|1.6.0
//	sometimes fetch where attempt=2
//
// A fact has a name, which is in Event, and attributes. Package sim/plan lists them.
type Expectation struct {
	// Line and Text give the expectation's line number and text in the scenario.
	Line int
	Text string
	Mode Mode
	// In names the part of the story to which the expectation applies (Step.Mark). If it is empty, the expectation
	// applies to the whole run.
	In    string
	Event string
	// Where holds the attributes that a fact must have to be selected.
	Where []Attr `shrink:"keep"`
	// Has holds the attributes that "always" requires of each selected fact.
	Has []Attr `shrink:"keep"`
}

// Attr is an attribute of a fact and its required value. The value is an exact text, a version prefix such as "1.x"
// (also at the end of a handler: "Name@1.x"), or several alternatives separated by "|".
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

// PointName returns the name of the coverage point that is reached when a fact selected by "sometimes" or "always" occurs.
func (e Expectation) PointName() string { return fmt.Sprintf("expect:%d:%s", e.Line, e.Text) }

// Validate returns an error if the expectation does not fit its mode or does not name a fact. The error says what was
// expected.
func (e Expectation) Validate() error {
	switch e.Mode {
	case ModeAlways:
		if len(e.Has) == 0 {
			return fmt.Errorf("always %s: expected \"has\" and what each such %s must have, or never", e.Event, e.Event)
		}
	case ModeNever, ModeSometimes:
		if len(e.Has) > 0 {
			return fmt.Errorf("%s %s: \"has\" goes with always; expected %q among the attributes after \"where\"", e.Mode, e.Event, e.Has[0])
		}
	default:
		return fmt.Errorf("expectation %q: expected always, never or sometimes", e.Mode)
	}
	i := slices.IndexFunc(facts, func(info FactInfo) bool { return info.Name == e.Event })
	if i < 0 {
		names := pretty.Texts(facts, func(info FactInfo) string { return info.Name })
		return fmt.Errorf("event %q: expected one of %s", e.Event, strings.Join(names, ", "))
	}
	for _, list := range [...][]Attr{e.Where, e.Has} {
		for k, a := range list {
			if err := checkEvent(facts[i], a); err != nil {
				return err
			}
			if before := slices.IndexFunc(list[:k], func(b Attr) bool { return b.Name == a.Name }); before >= 0 {
				return fmt.Errorf("%s %s: %q is given twice, and must then match both: expected one with alternatives, as in %s|%s", e.Event, a, a.Name, list[before], a.Value)
			}
		}
	}
	return nil
}

func checkEvent(info FactInfo, a Attr) error {
	if i := slices.IndexFunc(info.Attrs, func(known FactAttr) bool { return known.Name == a.Name }); i >= 0 {
		return checkAttr(info.Attrs[i], info.Name, a)
	}
	if info.Name == FactUp {
		if _, err := engine.ParseVersion(a.Name); err == nil {
			return checkAttr(FactAttr{Name: a.Name}, info.Name, a)
		}
	}
	if _, _, err := ParseHandler(a.Name); err == nil && info.Name == FactNode {
		return checkAttr(FactAttr{Name: a.Name, Values: []string{"yes", "no"}}, info.Name, a)
	}
	names := pretty.Texts(info.Attrs, func(known FactAttr) string { return known.Name })
	return fmt.Errorf("%s has no attribute %q: expected one of %s", info.Name, a.Name, strings.Join(names, ", "))
}

func checkAttr(known FactAttr, event string, a Attr) error {
	for _, v := range strings.Split(a.Value, "|") {
		if v == "" {
			return fmt.Errorf("%s %s: a value is missing", event, a)
		}
		if kinds := engine.Kinds2x(); event == FactEvent && a.Name == "kind" && !kinds.Has(engine.EventKind(v)) {
			return fmt.Errorf("%s %s: there is no such kind of event%s", event, a, pretty.Hint(v, pretty.Texts(kinds.List(), func(k engine.EventKind) string { return string(k) })))
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

// neverMatches returns the form that attr's values have, such as "a version", if value has a different form and
// therefore can never match. Otherwise it returns "".
func neverMatches(attr, value string) (want string) {
	if _, err := engine.ParseVersion(attr); err == nil {
		attr = "total" // how many nodes run that build
	}
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
	case "filter":
		if f, err := ParseFilter(value); err != nil || f.String() != value {
			return "a filter as nodes declare it, such as \">=0.0.0, <=1.5.0\", or any or none"
		}
	case "attempt", "execution", "total":
		n, err := strconv.ParseUint(value, 10, 64)
		if err != nil || strconv.FormatUint(n, 10) != value {
			return "a number such as 1"
		}
		if n == 0 && attr == "execution" {
			return "a number from 1 on"
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
