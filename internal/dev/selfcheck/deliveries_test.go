package selfcheck_test

import (
	"cmp"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/asked"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/internal/wording"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// up starts a node. Options on the line override its own. `released` makes it run a released runtime.
func (l *teller) up(name string, words []string, value map[string]string) {
	info := l.w.Node(l.node(name))
	info.Incarnation++
	info.Options, info.Registry, info.Clock = node.DefaultOptions(), node.NewRegistry(), plan.Clock{}
	info.Options.OrchestrationConcurrency, info.Options.WorkerConcurrency = 1, 0
	build := "2.0.0"
	for key, v := range value {
		switch key {
		case "build":
			build = v
		case "clock":
			info.Clock.Offset = l.duration(v)
		case "range":
			low, high, _ := strings.Cut(v, "..")
			info.Options.SupportedReplayVersions = &engine.VersionRange{Min: engine.MustParseVersion(low), Max: engine.MustParseVersion(high)}
		default:
			if err := info.Options.Set(key, v); err != nil {
				l.t.Fatal(err)
			}
		}
	}
	i := slices.IndexFunc(l.w.AllBuilds, func(b *engine.Build) bool { return b.Name() == build })
	copied := *l.w.AllBuilds[i]
	if slices.Contains(words, "counts-waiting") {
		copied.CountsWaiting = true
	}
	if slices.Contains(words, "released") {
		copied.Release = "duroxide-0.1.32"
	}
	info.Build = &copied
	for _, v := range []engine.Version{engine.V(1, 0, 0), engine.V(1, 2, 0)} {
		if err := info.Registry.Register("H", v, func(*orch.Context, string) (string, error) { return "", nil }); err != nil {
			l.t.Fatal(err)
		}
	}
	if err := info.Registry.RegisterActivity("W", func(node.ActivityContext, string) (string, error) { return "", nil }); err != nil {
		l.t.Fatal(err)
	}
	info.Filter = engine.FilterFor(info.Options.Range(info.Build))
}

// batch returns a delivered batch. Package script has the form of its messages and of the events in its history.
func (l *teller) batch(words []string, value map[string]string) *engine.FetchedOrchestration {
	item := engine.OrchestrationItem{
		Instance: words[0], ExecutionID: l.uint(value["exec"], 1), OrchestrationName: value["name"], Version: value["version"],
		CurrentStatus: engine.Status(value["status"]), HistoryError: value["error"],
	}
	if v, err := engine.ParseVersion(value["pin"]); err == nil {
		item.Pin = &v
	}
	if f := strings.Split(value["parent"], ":"); len(f) == 3 {
		item.Parent = &engine.ParentLink{Instance: f[0], ExecutionID: l.uint(f[1], 0), EventID: l.uint(f[2], 0)}
	}
	item.History = l.events(value["history"])
	for _, word := range words[1:] {
		item.Messages = append(item.Messages, wording.ItemOf(l.t, word, "Instance="+item.Instance))
	}
	return &engine.FetchedOrchestration{Item: item, AttemptCount: uint32(l.uint(value["n"], 1))}
}

// events parses a history, whose events are separated by semicolons.
func (l *teller) events(text string) (list []engine.Event) {
	for i, word := range strings.FieldsFunc(text, func(c rune) bool { return c == ';' }) {
		list = append(list, l.event(i+1, word))
	}
	return list
}

// event parses an event, which build 2.0.0 wrote if the event does not say otherwise.
func (l *teller) event(id int, word string) engine.Event {
	e := wording.EventOf(l.t, id, word)
	e.DuroxideVersion = cmp.Or(e.DuroxideVersion, "2.0.0")
	return e
}

func (l *teller) noteOf(r *cluster.Record, h *delivery, words []string, value map[string]string) *cluster.Note {
	n := &cluster.Note{Slot: r.Slot, Instance: h.instance, AttemptCount: h.count, ExecutionID: l.uint(value["exec"], h.execution), Cause: strings.Join(words[1:], " ")}
	for d := machine.DecideNone; d <= machine.DecideSwept; d++ {
		if d.String() == words[0] {
			n.Decision = d
		}
	}
	for i, rule := range strings.FieldsFunc(value["drops"], func(c rune) bool { return c == ',' }) {
		n.Dropped = append(n.Dropped, machine.DroppedMessage{Index: i, Rule: rule})
	}
	if value["at"] != "" {
		n.Dropped[0].Index = int(l.uint(value["at"], 0)) - 1
	}
	if value["handler"] != "" {
		n.Turn = &machine.TurnNote{Handler: value["handler"], First: value["first"] != "", Events: int(l.uint(value["events"], 0))}
	}
	for _, text := range strings.FieldsFunc(value["traced"], func(c rune) bool { return c == ',' }) {
		n.Turn.Asked = append(n.Turn.Asked, asked.Call{Kind: asked.Traced, Text: text}, asked.Call{Kind: asked.Began, Text: "in"})
	}
	if value["turn"] != "" {
		n.Turn.Ack = &call.AckOrchestrationItem{HistoryDelta: l.events(value["turn"])}
	}
	return n
}

// poison returns the error details for poisoned work.
func (l *teller) poison(h *delivery, kind eventdata.PoisonKind, value map[string]string) engine.ErrorDetails {
	p := eventdata.PoisonError{AttemptCount: h.count, MaxAttempts: 10, Message: value["message"], MessageType: eventdata.PoisonType{
		Kind: kind, Instance: h.instance, ExecutionID: l.uint(value["exec"], h.execution), Cause: value["cause"], Error: value["error"],
	}}
	if h.id != 0 {
		p.MessageType.ActivityName, p.MessageType.ActivityID = value["name"], h.id
	}
	return engine.ErrorDetails{Poison: &p}
}

func (l *teller) completion(h *delivery, words []string, value map[string]string) engine.WorkItem {
	switch words[0] {
	case "done":
		return engine.ActivityCompletedItem{Instance: h.instance, ExecutionID: h.execution, ID: h.id, Result: strings.Join(words[1:], " ")}
	case "failed":
		return engine.ActivityFailedItem{Instance: h.instance, ExecutionID: h.execution, ID: h.id, Details: engine.ErrorDetails{Application: &eventdata.ApplicationError{Kind: eventdata.AppActivityFailed, Message: "broken"}}}
	case "poison":
		return engine.ActivityFailedItem{Instance: h.instance, ExecutionID: h.execution, ID: h.id, Details: l.poison(h, eventdata.PoisonActivity, value)}
	}
	return nil
}

// ackOf returns the ack of a turn or of a poisoned batch. The latter is written as `poison` or `undecoded`, after an
// OrchestrationStarted if the ack begins the execution.
func (l *teller) ackOf(h *delivery, token string, words []string, value map[string]string) call.Call {
	a := call.AckOrchestrationItem{LockToken: token, ExecutionID: l.uint(value["exec"], h.execution), Metadata: engine.ExecutionMetadata{Status: engine.Status(value["status"])}}
	for i, text := range words {
		kind := map[string]eventdata.PoisonKind{"poison": eventdata.PoisonOrchestration, "undecoded": eventdata.PoisonFailedDeserialization}[text]
		if kind == "" {
			a.HistoryDelta = append(a.HistoryDelta, l.event(i+1, text))
			continue
		}
		d := l.poison(h, kind, value)
		a.HistoryDelta = append(a.HistoryDelta, engine.Event{EventID: uint64(i + 1), Data: eventdata.OrchestrationFailed{Details: d}})
		output := d.Display()
		a.Metadata.Output, a.Metadata.Status = &output, engine.StatusFailed
	}
	if f := strings.Split(value["child"], ":"); len(f) == 3 {
		a.Metadata.ParentInstanceID, a.Metadata.ParentExecutionID, a.Metadata.ParentEventID = f[0], l.uint(f[1], 0), l.uint(f[2], 0)
	}
	a.Metadata.OrchestrationName, a.Metadata.OrchestrationVersion, _ = strings.Cut(value["as"], "@")
	build := l.w.Infos[0].Build.Version
	for i := range a.HistoryDelta {
		e := &a.HistoryDelta[i]
		e.InstanceID, e.ExecutionID, e.DuroxideVersion = h.instance, a.ExecutionID, build.String()
	}
	if len(words) > 0 && strings.HasPrefix(words[0], "OrchestrationStarted") {
		a.Metadata.PinnedVersion = &build
	}
	return a
}
