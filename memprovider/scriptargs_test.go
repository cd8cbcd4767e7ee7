package memprovider_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
)

// arguments are the words of a script's line after its operation.
type arguments struct {
	t     *testing.T
	line  string
	plain []string
	named map[string]string
}

func (a arguments) word(i int) string {
	a.t.Helper()
	if i >= len(a.plain) {
		a.t.Fatalf("%s: word %d is missing", a.line, i)
	}
	return a.plain[i]
}

func (a arguments) has(word string) bool {
	for _, p := range a.plain {
		if p == word {
			return true
		}
	}
	return false
}

func (a arguments) number(text string) int {
	a.t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		a.t.Fatalf("%s: %v", a.line, err)
	}
	return n
}

func (a arguments) ms(key string, otherwise int) time.Duration {
	if text, ok := a.named[key]; ok {
		otherwise = a.number(text)
	}
	return time.Duration(otherwise) * time.Millisecond
}

func (a arguments) list(key string) []string {
	if a.named[key] == "" {
		return nil
	}
	return strings.Split(a.named[key], ",")
}

func (a arguments) filter() *engine.CapabilityFilter {
	text, ok := a.named["filter"]
	if !ok {
		return nil
	}
	f := &engine.CapabilityFilter{}
	for _, r := range a.list("filter") {
		lo, hi, _ := strings.Cut(r, "..")
		f.SupportedVersions = append(f.SupportedVersions,
			engine.VersionRange{Min: engine.MustParseVersion(lo), Max: engine.MustParseVersion(hi)})
	}
	if text != "" && len(f.SupportedVersions) == 0 {
		a.t.Fatalf("%s: wrong filter", a.line)
	}
	return f
}

func (a arguments) tags() engine.TagFilter {
	mode := a.named["tags"]
	switch {
	case mode == "any":
		return engine.TagFilter{Mode: engine.TagAny}
	case mode == "none":
		return engine.TagFilter{Mode: engine.TagNone}
	case strings.HasPrefix(mode, "+"):
		return engine.TagFilter{Mode: engine.TagDefaultAnd, Tags: strings.Split(mode[1:], ",")}
	case mode != "":
		return engine.TagFilter{Mode: engine.TagTags, Tags: strings.Split(mode, ",")}
	}
	return engine.TagFilter{}
}

// item reads KIND:INSTANCE[:ARGUMENT].
func (a arguments) item(text string) engine.WorkItem {
	part := append(strings.Split(text, ":"), "", "")
	n := func() uint64 { return uint64(a.number(part[2])) }
	switch part[0] {
	case "start":
		return engine.StartItem{Instance: part[1], Orchestration: "TestOrch", Input: "{}", Version: "1.0.0", ExecutionID: 1}
	case "startunversioned":
		return engine.StartItem{Instance: part[1], Orchestration: "TestOrch", ExecutionID: 1}
	case "can":
		return engine.ContinueAsNewItem{Instance: part[1], Orchestration: "TestOrch", Version: "1.0.0"}
	case "ext":
		return engine.ExternalRaisedItem{Instance: part[1], Name: part[2]}
	case "ext2":
		return engine.ExternalRaised2Item{Instance: part[1], Name: part[2]}
	case "queue":
		return engine.QueueMessageItem{Instance: part[1], Name: part[2]}
	case "stop":
		return engine.CancelInstanceItem{Instance: part[1]}
	case "done":
		return engine.ActivityCompletedItem{Instance: part[1], ExecutionID: 1, ID: n()}
	case "timer":
		return engine.TimerFiredItem{Instance: part[1], ExecutionID: 1, FireAtMs: n()}
	case "child":
		return engine.SubOrchCompletedItem{ParentInstance: part[1], ParentID: n()}
	case "childfailed":
		details := engine.ErrorDetails{Application: &eventdata.ApplicationError{Kind: eventdata.AppOrchestrationFailed, Message: "no"}}
		return engine.SubOrchFailedItem{ParentInstance: part[1], ParentID: n(), Details: details}
	case "act2": // of execution 2
		return engine.ActivityExecuteItem{Instance: part[1], ExecutionID: 2, ID: n(), Name: "Act"}
	case "act":
		return engine.ActivityExecuteItem{Instance: part[1], ExecutionID: 1, ID: n(), Name: "Act", Tag: a.named["tag"], SessionID: a.named["session"]}
	}
	a.t.Fatalf("%s: no item %q", a.line, text)
	return nil
}

func (a arguments) items(key string) []engine.WorkItem {
	var items []engine.WorkItem
	for _, text := range a.list(key) {
		items = append(items, a.item(text))
	}
	return items
}

// show formats an item as in the scripts, without its instance.
func show(w engine.WorkItem) string {
	switch w := w.(type) {
	case engine.StartItem:
		return "start"
	case engine.ContinueAsNewItem:
		return "can"
	case engine.ExternalRaisedItem:
		return "ext:" + w.Name
	case engine.QueueMessageItem:
		return "queue:" + w.Name
	case engine.CancelInstanceItem:
		return "stop"
	case engine.ActivityCompletedItem:
		return fmt.Sprintf("done:%d", w.ID)
	case engine.TimerFiredItem:
		return "timer"
	case engine.ActivityExecuteItem:
		return fmt.Sprintf("%s:%d%s", w.Instance, w.ID, w.Tag)
	}
	return string(w.Kind())
}
