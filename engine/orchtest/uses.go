package orchtest

import (
	"maps"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
)

// Unawaited lets the test pass although no code waits for the events or queues with these names.
func (e *Env) Unawaited(names ...string) { e.unawaited = append(e.unawaited, names...) }

// checkUses fails the test for what it has set up in vain: mocks, events and messages. They are often misspelt.
func (e *Env) checkUses() {
	e.t.Helper()
	if t, ok := e.t.(interface{ Failed() bool }); ok && t.Failed() || !e.started {
		return
	}
	var activities, children []string
	for _, event := range slices.Concat(e.Executions()...) {
		switch d := event.Data.(type) {
		case eventdata.ActivityScheduled:
			activities = append(activities, d.Name)
		case eventdata.SubOrchestrationScheduled:
			children = append(children, d.Name)
		}
	}
	e.checkMocks("activity", "calls", e.activities, activities, "awaiting it withdraws it")
	e.checkMocks("child", "starts", e.children, children, "awaiting it withdraws it, or its id is that of another instance")
	waits := e.waitedFor()
	told := slices.Clone(e.unawaited)
	for _, item := range e.sent {
		var name, what string
		switch i := item.(type) {
		case engine.ExternalRaisedItem:
			name, what = i.Name, "event "+i.Name
		case engine.ExternalRaised2Item:
			name, what = i.Name, "event "+i.Name+" on "+i.Topic
		case engine.QueueMessageItem:
			name, what = i.Name, "message of "+i.Name
		default:
			continue
		}
		if slices.Contains(waits, what) || slices.Contains(told, name) {
			continue
		}
		told = append(told, name)
		e.t.Errorf("orchtest: the test sends the %s, and the code never waits for that; %s. Env.Unawaited(%q) says that this is meant", what, list("it waits for the ", waits, "it waits for nothing"), name)
	}
}

// checkMocks checks the mocks of one kind. scheduled are the names that the code has scheduled; withdrawn says why such a
// call does not begin.
func (e *Env) checkMocks(what, does string, mocks map[string]*Mock, scheduled []string, withdrawn string) {
	e.t.Helper()
	var called []string
	names := slices.Sorted(maps.Keys(mocks))
	for _, name := range names {
		if len(mocks[name].inputs) > 0 {
			called = append(called, name)
		}
	}
	for _, name := range names {
		switch m := mocks[name]; {
		case len(m.inputs) > 0 || m.optional:
		case slices.Contains(scheduled, name):
			e.t.Errorf("orchtest: the %s %s is mocked and scheduled, and never begins: to go on or to return without %s. Mock.Optional says that this is meant", what, name, withdrawn)
		default:
			e.t.Errorf("orchtest: the %s %s is mocked, and never called; %s. Mock.Optional says that this is meant", what, name, list("the code "+does+" ", called, "the code "+does+" none"))
		}
	}
}

func list(before string, names []string, none string) string {
	if len(names) == 0 {
		return none
	}
	return before + strings.Join(names, ", ")
}

// waitedFor lists what the code has waited for, in any execution.
func (e *Env) waitedFor() (waits []string) {
	for _, event := range slices.Concat(e.Executions()...) {
		if _, what := waitOf(event); what != "" && !slices.Contains(waits, what) {
			waits = append(waits, what)
		}
	}
	return waits
}

// waitOf returns what an event says that the code waits for, with its article, or "".
func waitOf(event engine.Event) (article, what string) {
	switch d := event.Data.(type) {
	case eventdata.ExternalSubscribed:
		return "the", "event " + d.Name
	case eventdata.ExternalSubscribed2:
		return "the", "event " + d.Name + " on " + d.Topic
	case eventdata.QueueSubscribed:
		return "a", "message of " + d.Name
	}
	return "", ""
}
