package coded_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/asked"
	"github.com/durosim/durosim/internal/orchhost"
	"github.com/durosim/durosim/properties/internal/coded"
	"github.com/durosim/durosim/properties/internal/leaf"
	"github.com/durosim/durosim/properties/internal/script"
	"github.com/durosim/durosim/properties/oracle/turn"
)

// TestStories checks turns that are written line by line, and prints the checker's objections to each:
//
//	turn [eager] [own-child-ids]
//	h KIND [of=EVENT] [FIELD=VALUE ...]            an event of the history; ids count from 1
//	d KIND [of=EVENT] [FIELD=VALUE ...]            an event that the turn appends
//	d failed|cancelled|panicked|disagrees TEXT     the failure of the turn (see package script)
//	m Start|ContinueAsNew [FIELD=VALUE ...]        a message that it sends
//	k KEY VALUE MS                                 a key before the turn
//	c CALL [FIELD=VALUE ...]                       a call of the code; a request names the action: c asks activity ...
//
// If a line starts with `*`, the story is retold with each of the line's values changed in turn. The test then prints
// the objections that occur for the first time, and how many changes lead to nothing new.
func TestStories(t *testing.T) {
	c := new(coded.Checker) // shared by all turns, because it reuses its memory
	datadriven.RunTest(t, "testdata/stories.txt", func(t *testing.T, d *datadriven.TestData) string {
		lines := strings.Split(strings.TrimSpace(d.Input), "\n")
		s := storyOf(t, d, lines)
		out := s.check(c)
		if len(out) == 0 {
			out = []string{"nothing"}
		}
		said := slices.Clone(out)
		for i, line := range lines {
			if !strings.HasPrefix(line, "*") {
				continue
			}
			out = append(out, line)
			free := 0
			leaf.Change(s.places[i], func(path string) {
				if strings.HasSuffix(path, "Seldom gone") || strings.HasSuffix(path, "Action gone") || path == "Kind" {
					return // a call always has the parts that belong to its kind
				}
				for _, text := range s.check(c) {
					if !slices.Contains(said, text) {
						out = append(out, "  "+path+"\n    "+text)
						return
					}
				}
				free++
			})
			out = append(out, fmt.Sprintf("  nothing new of %d", free))
		}
		return strings.Join(out, "\n")
	})
}

// story is a turn with the calls of its code. places points to what each line describes.
type story struct {
	t      *testing.T
	turn   turn.Turn
	calls  []asked.Call
	places []any
}

func (s *story) check(c *coded.Checker) []string {
	var said []string
	for _, text := range c.Check(&s.turn, s.calls) {
		said = append(said, strings.ToValidUTF8(text, `\xff`))
	}
	if left := c.Left(); len(left) > 0 {
		said = append(said, fmt.Sprintf("left %d", left))
	}
	return said
}

func storyOf(t *testing.T, d *datadriven.TestData, lines []string) *story {
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
		s.turn.History = append(s.turn.History, script.Event(s.t, len(s.turn.History)+1, kind, words))
		return &s.turn.History[len(s.turn.History)-1]
	case "d":
		ack.HistoryDelta = append(ack.HistoryDelta, script.Event(s.t, len(s.turn.History)+len(ack.HistoryDelta)+1, kind, words))
		return &ack.HistoryDelta[len(ack.HistoryDelta)-1]
	case "m":
		ack.OrchestratorItems = append(ack.OrchestratorItems, script.Item(s.t, kind, words))
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
	c := asked.Call{Kind: callKinds[kind], Seldom: &asked.Seldom{Info: orchhost.Info{Instance: "i", ExecutionID: 2, Name: "H", Version: "1.0.0"}}}
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
			script.Set(s.t, c.Seldom, []string{w})
		case "Ms":
			script.Set(s.t, c.Seldom, []string{w})
		case "Token", "By", "Failed", "N", "Text":
			script.Set(s.t, &c, []string{w})
		default:
			script.Set(s.t, c.Action, []string{w})
		}
	}
	return c
}
