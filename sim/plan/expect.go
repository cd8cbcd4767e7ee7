package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
)

// Expectation is what a scenario expects of its runs, besides the properties that always hold: that a fact never
// happens, that each such fact has certain attributes, or that some seed of the campaign shows it.
//
//	never turn in rollback where build=1.x pin=2.0.0
//	always turn in pinned where pin=1.5.0 has build=1.5.0|1.6.0
//	sometimes fetch where attempt=2
//
// A fact has an event name and attributes; Events lists them.
type Expectation struct {
	// Line and Text are the expectation's line in the scenario and its text there.
	Line int
	Text string
	Mode Mode
	// In is the part of the story that the expectation is about (Step.Mark), empty for the whole run.
	In    string
	Event string
	// Where are the attributes that select facts; all must match.
	Where []Attr
	// Has are the attributes that ModeAlways requires of each selected fact.
	Has []Attr
}

// Mode is how often a run must show the facts that an expectation selects.
type Mode string

// The modes of an expectation.
const (
	// ModeAlways: each fact that Where selects has the attributes in Has. It holds if there is no such fact; use
	// ModeSometimes to require one.
	ModeAlways Mode = "always"
	// ModeNever: no fact is selected.
	ModeNever Mode = "never"
	// ModeSometimes: over the campaign, at least one fact is selected.
	ModeSometimes Mode = "sometimes"
)

// Attr is an attribute of a fact and the value that it must have. A value is exact, or a version prefix such as "1.x"
// (a handler may end in one, too: "Name@1.x"), or several of these, separated by "|".
type Attr struct{ Name, Value string }

// String returns the attribute as name=value.
func (a Attr) String() string { return a.Name + "=" + a.Value }

// Match reports whether the attribute allows the value of a fact.
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

// PointName returns the name of the coverage point that ModeSometimes reports when a run shows such a fact.
func (e Expectation) PointName() string { return fmt.Sprintf("expect:%d:%s", e.Line, e.Text) }

// EventInfo describes an event that expectations can name.
type EventInfo struct {
	Name    string
	Summary string
	Attrs   []AttrInfo
}

// AttrInfo describes an attribute of an event. Values, if not nil, lists every value that it can have.
type AttrInfo struct {
	Name    string
	Summary string
	Values  []string
}

// The events that expectations can name.
const (
	EventTurn    = "turn"
	EventFetch   = "fetch"
	EventSkip    = "skip"
	EventPoison  = "poison"
	EventAbandon = "abandon"
	EventWait    = "wait"
	EventEvent   = "event"
	EventEnd     = "end"
	EventUp      = "up"
	EventNode    = "node"
	EventLock    = "lock"
	EventDecode  = "decode"
)

// Events returns the events that expectations can name, with their attributes. The event "up" also has an attribute for
// each build, named by its version, and the event "node" one for each orchestration, named NAME@VERSION.
func Events() []EventInfo {
	node := AttrInfo{"node", "the node, by its name in the plan", nil}
	build := AttrInfo{"build", "the node's build", nil}
	pin := AttrInfo{"pin", "the execution's pin, or none", nil}
	instance := AttrInfo{"instance", "the instance", nil}
	phase := AttrInfo{"phase", "the phase of the run", []string{"turbulence", "unaided", "calm", "relief"}}
	attempt := AttrInfo{"attempt", "the attempt count that the node was told", nil}
	execution := AttrInfo{"execution", "the number of the execution, from 1", nil}
	yesNo := []string{"yes", "no"}
	queue := AttrInfo{"queue", "the queue", []string{"orchestrator", "worker"}}
	return []EventInfo{
		{EventTurn, "a turn was committed", []AttrInfo{node, build,
			{"pin", "the execution's pin after the turn, or none", nil}, instance,
			{"first", "whether it is the execution's first turn", yesNo},
			{"start", "what the turn began with: a start, a continue-as-new, or neither", []string{"start", "can", "none"}},
			{"handler", "the orchestration's code, as name@version", nil},
			{"result", "how the turn ended", []string{"Continue", "Completed", "Failed", "ContinueAsNew", "Cancelled"}}, execution, phase}},
		{EventFetch, "a node was handed an instance, whether the answer reached it or not", []AttrInfo{node, build, pin, instance,
			attempt, {"readable", "whether history and messages could be decoded", yesNo}, phase}},
		{EventLock, "a fetch of a node locked an instance", []AttrInfo{node, build, pin, instance, phase}},
		{EventDecode, "a fetch of a node decoded a stored event", []AttrInfo{node, build, pin, instance,
			{"kind", "the event's kind", nil},
			{"readable", "whether it could be decoded", yesNo}, phase}},
		{EventSkip, "a fetch passed over an instance with visible work and no lock, for its filter", []AttrInfo{node, build, pin, instance, phase}},
		{EventPoison, "a node declared work poisonous", []AttrInfo{node, build, pin, instance, queue,
			{"cause", "what kept it from ending", []string{"crash", "unreadable", "incompatible", "no-handler", "other"}}, attempt, phase}},
		{EventAbandon, "a node handed work back", []AttrInfo{node, build, pin, instance, queue,
			{"reason", "why", []string{"history-error", "incompatible", "wait-for-start", "no-handler", "ack-failed", "drained", "lost", "other"}},
			{"delay", "for how long it is held back, such as 1s", nil},
			attempt, phase}},
		{EventWait, "visible work began to wait that no live node admits", []AttrInfo{pin, instance, phase}},
		{EventEvent, "an event was committed", []AttrInfo{{"kind", "the event's kind", nil}, node, build, pin, instance,
			{"handler", "the orchestration's code that made it, as name@version, or none", nil}, phase}},
		{EventEnd, "an instance reached its end", []AttrInfo{{"status", "its status", []string{"Completed", "Failed"}}, pin, instance,
			{"output", "its output, or the text of its failure", nil}, execution, phase}},
		{EventUp, "a part of the story began; for each build, how many nodes run it (absent is 0)", []AttrInfo{
			{"MAJOR.MINOR.PATCH", "how many nodes run that build", nil}, {"total", "how many nodes are up", nil}}},
		{EventNode, "a part of the story began; of each node that is up", []AttrInfo{node, build,
			{"filter", "the filter that it declares, such as \">=0.0.0, <=1.5.0\"", nil},
			{"NAME@VERSION", "whether it has that orchestration (yes, no)", nil}}},
	}
}

// Validate returns an error if the expectation does not fit its mode or Events, and says what was expected.
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
	for _, info := range Events() {
		if info.Name == e.Event {
			for _, list := range [][]Attr{e.Where, e.Has} {
				for _, a := range list {
					if err := info.check(a); err != nil {
						return err
					}
				}
			}
			return nil
		}
	}
	var names []string
	for _, info := range Events() {
		names = append(names, info.Name)
	}
	return fmt.Errorf("event %q: expected one of %s", e.Event, strings.Join(names, ", "))
}

func (info EventInfo) check(a Attr) error {
	var names []string
	for _, known := range info.Attrs {
		if known.Name == a.Name {
			return known.check(info.Name, a)
		}
		names = append(names, known.Name)
	}
	if info.Name == EventUp {
		if _, err := engine.ParseVersion(a.Name); err == nil {
			return AttrInfo{Name: a.Name}.check(info.Name, a)
		}
	}
	if _, _, err := ParseHandler(a.Name); err == nil && info.Name == EventNode {
		return AttrInfo{Name: a.Name, Values: []string{"yes", "no"}}.check(info.Name, a)
	}
	return fmt.Errorf("%s has no attribute %q: expected one of %s", info.Name, a.Name, strings.Join(names, ", "))
}

func (known AttrInfo) check(event string, a Attr) error {
	for _, v := range strings.Split(a.Value, "|") {
		if v == "" {
			return fmt.Errorf("%s %s: a value is missing", event, a)
		}
		if want := neverMatches(a.Name, v); want != "" {
			return fmt.Errorf("%s %s: %q never is the %s: expected %s", event, a, v, a.Name, want)
		}
		if known.Values != nil && !slices.Contains(known.Values, v) {
			return fmt.Errorf("%s %s: %s has no value %q: expected one of %s", event, a, a.Name, v, strings.Join(known.Values, ", "))
		}
	}
	return nil
}

// neverMatches returns the form that an attribute requires if the value has another form, which no fact ever has. It
// returns "" if the value has the right form.
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
