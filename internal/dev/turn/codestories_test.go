package turn_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/asked"
	"github.com/durosim/durosim/engine/orchhost"
	"github.com/durosim/durosim/internal/dev/turn"
	"github.com/durosim/durosim/internal/rig"
)

// TestCodeStories is like TestStories, for turns with the calls of their code:
//
//	turn [eager] [own-child-ids]
//	h KIND [of=EVENT] [FIELD=VALUE ...]            an event of the history; ids count from 1
//	d KIND [of=EVENT] [FIELD=VALUE ...]            an event that the turn appends
//	d failed|cancelled|panicked|disagrees TEXT     the failure of the turn (see package script)
//	m Start|ContinueAsNew [FIELD=VALUE ...]        a message that it sends
//	k KEY VALUE MS                                 a key before the turn
//	c CALL [FIELD=VALUE ...]                       a call of the code; a request names the action: c asks activity ...
func TestCodeStories(t *testing.T) {
	c := new(turn.Checker) // shared by all turns, because it reuses its memory
	brief := rig.Brief{}
	datadriven.RunTest(t, "testdata/code.txt", func(t *testing.T, d *datadriven.TestData) string {
		lines := strings.Split(strings.TrimSpace(d.Input), "\n")
		s := codeStoryOf(t, d, lines)
		return brief.Of(retell(lines, s.places, func() []string { return s.check(c) }))
	})
}

// story is a turn with the calls of its code. places points to what each line describes.
type story struct {
	t      *testing.T
	turn   turn.Turn
	calls  []asked.Call
	places []any
}

func (s *story) check(c *turn.Checker) []string {
	said := told(c.CheckCode(&s.turn, s.calls))
	if left := c.Left(); len(left) > 0 {
		said = append(said, fmt.Sprintf("left %d", left))
	}
	return said
}

func codeStoryOf(t *testing.T, d *datadriven.TestData, lines []string) *story {
	// places points into these lists, which must not grow.
	s := &story{t: t, calls: make([]asked.Call, 0, len(lines)), turn: turn.Turn{
		Instance: "i", Execution: 2, OwnChildIDs: d.HasArg("own-child-ids"),
		History: make([]engine.Event, 0, len(lines)), Keys: make([]engine.KVEntry, 0, len(lines)),
		Ack: engine.OrchestrationAck{HistoryDelta: make([]engine.Event, 0, len(lines)), OrchestratorItems: make([]engine.WorkItem, 0, len(lines))},
	}}
	if d.HasArg("eager") {
		s.turn.Semantics = engine.SemanticsEagerTimers
	}
	if d.HasArg("discard") {
		s.turn.Semantics = engine.SemanticsDiscard
	}
	for _, line := range lines {
		words := strings.Fields(strings.TrimPrefix(line, "*"))
		if len(words) < 2 {
			t.Fatalf("%q: too few words", line)
		}
		s.places = append(s.places, s.line(words[0], words[1], words[2:]))
	}
	return s
}

func (s *story) line(what, kind string, words []string) any {
	ack := &s.turn.Ack
	switch what {
	case "h":
		s.turn.History = append(s.turn.History, rig.Event(s.t, len(s.turn.History)+1, kind, words))
		return &s.turn.History[len(s.turn.History)-1]
	case "d":
		ack.HistoryDelta = append(ack.HistoryDelta, rig.Event(s.t, len(s.turn.History)+len(ack.HistoryDelta)+1, kind, words))
		return &ack.HistoryDelta[len(ack.HistoryDelta)-1]
	case "m":
		ack.OrchestratorItems = append(ack.OrchestratorItems, rig.Item(s.t, kind, words))
		return &ack.OrchestratorItems[len(ack.OrchestratorItems)-1]
	case "k":
		ms, _ := strconv.ParseUint(words[1], 10, 64)
		s.turn.Keys = append(s.turn.Keys, engine.KVEntry{Key: kind, Value: words[0], LastUpdatedAtMs: ms})
		return &s.turn.Keys[len(s.turn.Keys)-1]
	case "c":
		s.calls = append(s.calls, s.call(kind, words))
		return &s.calls[len(s.calls)-1]
	}
	s.t.Fatalf("%q begins no line", what)
	return nil
}

var callKinds = map[string]asked.Kind{
	"began": asked.Began, "asks": asked.Scheduled, "updates": asked.Updated, "pruned": asked.Pruned, "spawned": asked.Spawned,
	"awaited": asked.Awaited, "selected": asked.Selected, "dropped": asked.Dropped, "continued": asked.Continued, "info": asked.ReadInfo,
	"status": asked.ReadStatus, "keys": asked.ReadKeys, "returned": asked.Returned, "panicked": asked.Panicked,
}

var actionKinds = map[string]orchhost.ActionKind{
	"activity": orchhost.ActionActivity, "timer": orchhost.ActionTimer, "wait": orchhost.ActionWait, "wait2": orchhost.ActionWait2,
	"child": orchhost.ActionSubOrchestration, "detached": orchhost.ActionDetached, "again": orchhost.ActionContinueAsNew,
	"dequeue": orchhost.ActionDequeue, "status": orchhost.ActionSetCustomStatus, "reset": orchhost.ActionResetCustomStatus,
	"set": orchhost.ActionSetKV, "clear": orchhost.ActionClearKV, "clearall": orchhost.ActionClearAllKV,
}

func (s *story) call(kind string, words []string) asked.Call {
	c := asked.Call{Kind: callKinds[kind], Details: &asked.Details{Info: orchhost.Info{Instance: "i", ExecutionID: 2, Name: "H", Version: "1.0.0"}}}
	if c.Kind == 0 {
		s.t.Fatalf("no call %q", kind)
	}
	if kind == "asks" || kind == "updates" || kind == "continued" {
		c.Action = &orchhost.Action{Kind: actionKinds[words[0]]}
		words = words[1:]
	}
	for _, w := range words {
		key, value, _ := strings.Cut(w, "=")
		switch key {
		case "Tokens":
			for text := range strings.SplitSeq(value, ",") {
				n, _ := strconv.Atoi(text)
				c.Tokens = append(c.Tokens, orchhost.Token(n))
			}
		case "Keys":
			for text := range strings.SplitSeq(value, ",") {
				k, v, _ := strings.Cut(text, ":")
				c.Keys = append(c.Keys, engine.KVEntry{Key: k, Value: v})
			}
		case "Status":
			rig.Set(s.t, c.Details, []string{w})
		case "Ms":
			rig.Set(s.t, c.Details, []string{w})
		case "Token", "By", "Failed", "N", "Text":
			rig.Set(s.t, &c, []string{w})
		default:
			rig.Set(s.t, c.Action, []string{w})
		}
	}
	return c
}
