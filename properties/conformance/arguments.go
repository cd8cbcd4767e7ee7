package conformance

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
)

// arguments holds the words that follow the operation on a script line.
type arguments struct {
	w     *caseRun
	line  string
	plain []string
	named map[string]string
}

func (a *arguments) word(i int) string {
	if i >= len(a.plain) {
		mistaken("%s: word %d is missing", a.line, i)
	}
	return a.plain[i]
}

func (a *arguments) has(word string) bool { return slices.Contains(a.plain, word) }

// name returns the name that the operation assigns: the first plain word that is not a switch.
func (a *arguments) name() string {
	if len(a.plain) > 0 && !strings.HasPrefix(a.plain[0], "+") {
		return a.plain[0]
	}
	return ""
}

func (a *arguments) number(text string) uint64 {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		mistaken("%s: %v", a.line, err)
	}
	return n
}

// ms returns the duration given as key=MS, scaled to the store's time. If the key is missing, it returns otherwise,
// unscaled.
func (a *arguments) ms(key string, otherwise time.Duration) time.Duration {
	if text, ok := a.named[key]; ok {
		return a.time(text)
	}
	return otherwise
}

// wait returns the duration that the i-th plain word gives in milliseconds, scaled to the store's time.
func (a *arguments) wait(i int) time.Duration { return a.time(a.word(i)) }

// time parses `MS`, and `most` for the longest duration there is.
func (a *arguments) time(text string) time.Duration {
	if text == "most" {
		return math.MaxInt64
	}
	return a.w.ms(int(a.number(text)))
}

func (a *arguments) list(key string) []string {
	if a.named[key] == "" {
		return nil
	}
	return strings.Split(a.named[key], ",")
}

// optional returns the number given for key, or nil if the key is missing.
func (a *arguments) optional(key string) *uint64 {
	text, ok := a.named[key]
	if !ok {
		return nil
	}
	n := a.number(text)
	return &n
}

// moment returns the time of the mark given for key, or nil if the key is missing.
func (a *arguments) moment(key string) *uint64 {
	text, ok := a.named[key]
	if !ok {
		return nil
	}
	at, ok := a.w.marks[text]
	if !ok {
		mistaken("%s: no mark %s", a.line, text)
	}
	return &at
}

// filter parses `filter=A..B,C..D`. An empty `filter=` is a filter without ranges.
func (a *arguments) filter() *engine.CapabilityFilter {
	if _, ok := a.named["filter"]; !ok {
		return nil
	}
	f := &engine.CapabilityFilter{}
	for _, r := range a.list("filter") {
		lo, hi, _ := strings.Cut(r, "..")
		f.SupportedVersions = append(f.SupportedVersions,
			engine.VersionRange{Min: engine.MustParseVersion(lo), Max: engine.MustParseVersion(hi)})
	}
	return f
}

// tags parses `tags=any`, `tags=none`, `tags=a,b` (only these tags) and `tags=+a,b` (these tags and untagged work).
func (a *arguments) tags() engine.TagFilter {
	mode, ok := a.named["tags"]
	switch {
	case mode == "any":
		return engine.TagFilter{Mode: engine.TagAny}
	case mode == "none":
		return engine.TagFilter{Mode: engine.TagNone}
	case strings.HasPrefix(mode, "+"):
		return engine.TagFilter{Mode: engine.TagDefaultAnd, Tags: strings.Split(mode[1:], ",")}
	case ok && mode == "":
		return engine.TagFilter{Mode: engine.TagTags}
	case ok:
		return engine.TagFilter{Mode: engine.TagTags, Tags: strings.Split(mode, ",")}
	}
	return engine.TagFilter{}
}

// session parses `owner=W slock=MS`.
func (a *arguments) session() *engine.SessionFetchConfig {
	owner, ok := a.named["owner"]
	if !ok {
		return nil
	}
	return &engine.SessionFetchConfig{OwnerID: owner, LockTimeout: a.ms("slock", longLock)}
}

// longLock is a lock timeout that never expires within a case.
const longLock = 30 * time.Second

// target parses `INSTANCE` or `INSTANCE#EXECUTION`.
func (a *arguments) target(text string) (string, uint64) {
	in, execution, ok := strings.Cut(text, "#")
	if !ok {
		return in, engine.InitialExecutionID
	}
	return in, a.number(execution)
}

// item parses `KIND:INSTANCE[#EXECUTION][:ARGUMENT]`. A timer's argument is when it fires; `+MS` counts from now.
func (a *arguments) item(text string) engine.WorkItem {
	part := append(strings.SplitN(text, ":", 3), "", "")
	in, execution := a.target(part[1])
	n := func() uint64 { return a.number(part[2]) }
	switch part[0] {
	case "start": // `start:INSTANCE[:NAME[@VERSION]]`; `start:INSTANCE:NAME@` has no version
		name, version := "TestOrch", "1.0.0"
		if part[2] != "" {
			var ok bool
			if name, version, ok = strings.Cut(part[2], "@"); !ok {
				version = "1.0.0"
			}
		}
		return engine.StartItem{Instance: in, Orchestration: name, Input: "{}", Version: version, ExecutionID: execution}
	case "child": // `child:INSTANCE:PARENT` starts a child, without a version
		return engine.StartItem{Instance: in, Orchestration: "ChildOrch", Input: "{}", ParentInstance: part[2], ParentID: 1, ExecutionID: 1}
	case "can":
		return engine.ContinueAsNewItem{Instance: in, Orchestration: "TestOrch", Version: "1.0.0", Input: "new-input"}
	case "ext":
		return engine.ExternalRaisedItem{Instance: in, Name: part[2], Data: "{}"}
	case "queue":
		return engine.QueueMessageItem{Instance: in, Name: part[2], Data: "{}"}
	case "stop":
		return engine.CancelInstanceItem{Instance: in, Reason: "no more"}
	case "done":
		return engine.ActivityCompletedItem{Instance: in, ExecutionID: execution, ID: n(), Result: "ok"}
	case "timer":
		at := part[2]
		if d, ok := strings.CutPrefix(at, "+"); ok {
			return engine.TimerFiredItem{Instance: in, ExecutionID: execution, ID: 5, FireAtMs: a.w.now() + uint64(a.w.ms(int(a.number(d))).Milliseconds())}
		}
		return engine.TimerFiredItem{Instance: in, ExecutionID: execution, ID: 5, FireAtMs: a.number(at)}
	case "childdone":
		return engine.SubOrchCompletedItem{ParentInstance: in, ParentExecutionID: execution, ParentID: n(), Result: "ok"}
	case "childfailed":
		details := engine.ErrorDetails{Application: &eventdata.ApplicationError{Kind: eventdata.AppOrchestrationFailed, Message: "no"}}
		return engine.SubOrchFailedItem{ParentInstance: in, ParentExecutionID: execution, ParentID: n(), Details: details}
	case "act":
		return a.activity(text[len("act:"):])
	}
	mistaken("%s: no item %q", a.line, text)
	return nil
}

// activity parses `INSTANCE[#EXECUTION]:ID[@SESSION][/TAG]`. The tag "" is written as `/empty`.
func (a *arguments) activity(text string) engine.ActivityExecuteItem {
	text, tag, _ := strings.Cut(text, "/")
	text, session, _ := strings.Cut(text, "@")
	where, id, _ := strings.Cut(text, ":")
	in, execution := a.target(where)
	return engine.ActivityExecuteItem{Instance: in, ExecutionID: execution, ID: a.number(id), Name: "Act", Input: "{}", SessionID: session, Tag: tag}
}

func (a *arguments) items(key string) []engine.WorkItem {
	var items []engine.WorkItem
	for _, text := range a.list(key) {
		items = append(items, a.item(text))
	}
	return items
}

// event parses an event of the execution that an ack names. The forms are `OSn` (OrchestrationStarted with id n;
// `OSn+3` carries three events), `n` (ActivityScheduled) and `n:KIND[:ARGUMENTS]`. A `~` stands for a comma.
func (a *arguments) event(text string, in string, execution uint64) engine.Event {
	e := engine.Event{InstanceID: in, ExecutionID: execution, TimestampMs: 1, DuroxideVersion: "1.0.0"}
	if rest, ok := strings.CutPrefix(text, "OS"); ok {
		id, carried, _ := strings.Cut(rest, "+")
		started := eventdata.OrchestrationStarted{Name: "TestOrch", Version: "1.0.0", Input: "{}"}
		if carried != "" {
			for i := range a.number(carried) {
				started.CarryForwardEvents = append(started.CarryForwardEvents, engine.CarriedEvent{Name: "q", Data: fmt.Sprint(i)})
			}
		}
		e.EventID, e.Data = a.number(id), started
		return e
	}
	part := append(strings.Split(text, ":"), "", "", "")
	e.EventID = a.number(part[0])
	switch part[1] {
	case "":
		e.Data = eventdata.ActivityScheduled{Name: "Activity-" + part[0], Input: "{}"}
	case "act":
		e.Data = eventdata.ActivityScheduled{Name: part[2], Input: "{}"}
	case "timer":
		e.Data = eventdata.TimerCreated{FireAtMs: 1}
	case "done":
		e.Data = eventdata.OrchestrationCompleted{Output: part[2]}
	case "failed":
		e.Data = eventdata.OrchestrationFailed{Details: engine.ErrorDetails{Application: &eventdata.ApplicationError{Kind: eventdata.AppOrchestrationFailed, Message: part[2]}}}
	case "status":
		e.Data = eventdata.CustomStatusUpdated{Status: &part[2]}
	case "nostatus":
		e.Data = eventdata.CustomStatusUpdated{}
	case "set": // set:KEY:VALUE[:TIMESTAMP]
		at := uint64(1)
		if len(part) > 7 {
			at = a.number(part[4])
		}
		e.Data = eventdata.KeyValueSet{Key: part[2], Value: part[3], LastUpdatedAtMs: at}
	case "clear":
		e.Data = eventdata.KeyValueCleared{Key: part[2]}
	case "clearall":
		e.Data = eventdata.KeyValuesCleared{}
	default:
		mistaken("%s: no event %q", a.line, text)
	}
	return e
}
