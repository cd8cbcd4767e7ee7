package selfcheck

import (
	"encoding/json"
	"reflect"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/internal/pretty"
)

// judgePoison checks the error of poisoned work. The error must name the work, its attempts and the cause, and contain
// the work's messages.
func (k *nodes) judgePoison(n *nodeState, h *held, details engine.ErrorDetails) {
	p := details.Poison
	if p == nil {
		k.wrong(n, h.instance, "ends %s as poison with an error of category %q", h.instance, details.Category())
		return
	}
	want := eventdata.PoisonType{Kind: eventdata.PoisonOrchestration, Instance: h.instance, ExecutionID: h.want.execution, Cause: h.want.cause}
	switch {
	case h.work.Name != "":
		want.Kind, want.ActivityName, want.ActivityID = eventdata.PoisonActivity, h.work.Name, h.work.ID
	case h.undecoded != "":
		want.Kind, want.Cause, want.Error = eventdata.PoisonFailedDeserialization, "", h.undecoded
		if h.want.cause != "undecodable history" {
			want.Error = h.want.cause + ": " + h.undecoded
		}
	}
	if p.AttemptCount != h.count || p.MaxAttempts != k.options(n).Options.MaxAttempts || p.MessageType != want {
		k.wrong(n, h.instance, "ends %s as poison with %+v: expected attempt %d of %d and %+v", h.instance, *p, h.count, k.options(n).Options.MaxAttempts, want)
		return
	}
	switch {
	case h.undecoded != "" && p.Message != want.Error:
		k.wrong(n, h.instance, "ends %s as poison with the text %q: expected %q", h.instance, p.Message, want.Error)
	case h.undecoded == "" && h.work.Name == "":
		var shown []json.RawMessage
		if err := json.Unmarshal([]byte(p.Message), &shown); err != nil || len(shown) != h.messages {
			k.wrong(n, h.instance, "ends %s as poison and shows %s: expected its %d messages", h.instance, p.Message, h.messages)
		}
	case h.work.Name != "" && !json.Valid([]byte(p.Message)):
		k.wrong(n, h.instance, "ends an activity as poison and shows %s: expected it as JSON", p.Message)
	}
}

// judgeEnd checks that an ack that ends an execution without a turn names that execution. If the execution has not
// begun, the ack must fail it and write its first event, with the values from the batch's start message.
func (k *nodes) judgeEnd(n *nodeState, h *held, f *engine.FetchedOrchestration, a *call.AckOrchestrationItem, output string) {
	m := &a.Metadata
	if m.Status != engine.StatusFailed || m.Output == nil || *m.Output != output {
		k.wrong(n, h.instance, "ends %s with status %q and an output other than the text of its error", h.instance, m.Status)
	}
	for i := range a.HistoryDelta {
		if e := &a.HistoryDelta[i]; e.InstanceID != h.instance || e.ExecutionID != a.ExecutionID || e.DuroxideVersion != k.options(n).Build.Version.String() {
			k.wrong(n, h.instance, "ends %s with event %s of execution %d of %s, written by build %q: expected execution %d, build %q", h.instance, e.Kind(), e.ExecutionID, e.InstanceID, e.DuroxideVersion, a.ExecutionID, k.options(n).Build.Version)
		}
	}
	if f == nil || h.undecoded != "" && a.ExecutionID == f.Item.ExecutionID {
		if f != nil && (m.OrchestrationName != orUnknown(f.Item.OrchestrationName) || m.OrchestrationVersion != orUnknown(f.Item.Version)) {
			k.wrong(n, h.instance, "ends %s as %s@%s: expected %s@%s", h.instance, m.OrchestrationName, m.OrchestrationVersion, orUnknown(f.Item.OrchestrationName), orUnknown(f.Item.Version))
		}
		return
	}
	got, begins := a.HistoryDelta[0].Data.(eventdata.OrchestrationStarted)
	b := readBatch(&f.Item)
	if begins != (b.continuing || len(f.Item.History) == 0) {
		k.wrong(n, h.instance, "ends %s and begins it: %t, expected the opposite", h.instance, begins)
	}
	if !begins {
		return
	}
	want := eventdata.OrchestrationStarted{Name: orUnknown(f.Item.OrchestrationName), Version: orUnknown(f.Item.Version)}
	named := func(name, version, input string) {
		want.Name, want.Input = name, input
		if version != "" {
			want.Version = version
		}
	}
	if b.begins {
		switch s := b.start.(type) {
		case engine.StartItem:
			named(s.Orchestration, s.Version, s.Input)
		case engine.ContinueAsNewItem:
			named(s.Orchestration, s.Version, s.Input)
			want.CarryForwardEvents, want.InitialCustomStatus = s.CarryForwardEvents, s.InitialCustomStatus
		}
	}
	p := b.parent()
	want.ParentInstance, want.ParentExecutionID, want.ParentID = p.Instance, p.ExecutionID, p.EventID
	switch {
	case !reflect.DeepEqual(got, want):
		k.wrong(n, h.instance, "begins %s only to end it, with %s: expected %s", h.instance, pretty.Value(got), pretty.Value(want))
	case m.OrchestrationName != want.Name || m.OrchestrationVersion != want.Version || m.PinnedVersion == nil || *m.PinnedVersion != k.options(n).Build.Version:
		k.wrong(n, h.instance, "begins %s as %s@%s, pin %v: expected %s@%s, pin %s", h.instance, m.OrchestrationName, m.OrchestrationVersion, m.PinnedVersion, want.Name, want.Version, k.options(n).Build.Version)
	case m.ParentInstanceID != p.Instance || m.ParentExecutionID != p.ExecutionID || m.ParentEventID != p.EventID:
		k.wrong(n, h.instance, "begins %s as the child of event %d of execution %d of %s: expected the parent %+v", h.instance, m.ParentEventID, m.ParentExecutionID, m.ParentInstanceID, p)
	}
}

// parent returns the link to the parent of the execution that a batch begins. The link comes from the execution's
// start, or else from the history or the store.
func (b *batch) parent() engine.ParentLink {
	told := b.item.Parent
	link := func(instance string, execution, event uint64) engine.ParentLink {
		switch {
		case instance == "":
			return engine.ParentLink{}
		case execution != 0:
		case told != nil && told.Instance == instance && told.EventID == event:
			execution = told.ExecutionID
		default:
			execution = 1
		}
		return engine.ParentLink{Instance: instance, ExecutionID: execution, EventID: event}
	}
	switch s := b.start.(type) {
	case engine.StartItem:
		return link(s.ParentInstance, s.ParentExecutionID, s.ParentID)
	case engine.ContinueAsNewItem:
		if s.ParentInstance != "" {
			return link(s.ParentInstance, s.ParentExecutionID, s.ParentID)
		}
	}
	for i := range b.item.History {
		if s, ok := b.item.History[i].Data.(eventdata.OrchestrationStarted); ok && s.ParentInstance != "" {
			return link(s.ParentInstance, s.ParentExecutionID, s.ParentID)
		}
	}
	if told != nil {
		return *told
	}
	return engine.ParentLink{}
}

func orUnknown(name string) string {
	if name == "" {
		return "unknown"
	}
	return name
}
