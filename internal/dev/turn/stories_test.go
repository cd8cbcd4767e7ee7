package turn_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/asked"
	"github.com/durosim/durosim/engine/orchhost"
	"github.com/durosim/durosim/internal/dev/turn"
	"github.com/durosim/durosim/internal/rig"
	"github.com/durosim/durosim/internal/wording"
)

// TestStories checks turns that are written line by line, and prints the checker's objections to each:
//
//	turn [exec=1] [build=3.0.0] [eager] [discard] [own-child-ids] [carried=N] [keys=N] [value=N] [status=S] [unclaimed=ID,...]
//	h EVENT / d EVENT / p EVENT        an event of the history, of the delta, the first of the previous execution (see package
//	                                   wording); @at=MS, @by=BUILD and @id=N come last, if at all
//	b ITEM / w ITEM / m ITEM           a message of the batch; work and a message that the turn sends
//	x ID                               an activity that it withdraws
//	k KEY [VALUE MS]                   a key before the execution
//	parent INSTANCE EXECUTION EVENT    the parent, as the provider knows it
//	meta FIELD=VALUE ...               metadata
//	c CALL [FIELD=VALUE ...]           a call of the code; a request names the action: c asks activity ...
//
// "events" instead of "turn" starts a turn for which only the events are known, and "code" one whose events are compared
// with the calls of its code, while the rest of its ack does not count. If a line starts with `*`, the story is
// retold with each of the line's values changed in turn. The test then prints the objections that occur for the first
// time.
func TestStories(t *testing.T) {
	c := new(turn.Checker) // shared by all turns, because it reuses its memory
	for _, file := range []string{"testdata/stories.txt", "testdata/code.txt"} {
		brief := rig.Brief{}
		datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
			lines := strings.Split(strings.TrimSpace(d.Input), "\n")
			s := storyOf(t, d, lines)
			return brief.Of(retell(lines, s.places, func() []string { return s.check(c, d.Cmd) }))
		})
	}
}

// story is a turn, with the calls of its code if they are known. places points to what each line describes.
type story struct {
	t      *testing.T
	turn   turn.Turn
	calls  []asked.Call
	places []any
}

func (s *story) check(c *turn.Checker, what string) []string {
	if what == "code" {
		wrong := told(c.CheckCode(&s.turn, s.calls))
		if left := c.Left(); len(left) > 0 {
			wrong = append(wrong, fmt.Sprintf("left %d", left))
		}
		return wrong
	}
	wrong := told(c.CheckAck(&s.turn))
	switch {
	case what == "events":
		return ofEvents(wrong)
	case len(wrong) > 0:
		return wrong
	}
	for _, drop := range c.Drops() {
		wrong = append(wrong, fmt.Sprintf("drops message %d: %s", drop.Message+1, drop.Rule))
	}
	return wrong
}

// retell returns what is said of a story as it is, and then what else is said if a value in a line with a star is changed.
func retell(lines []string, places []any, check func() []string) string {
	said := check()
	out := slices.Clone(said)
	if len(out) == 0 || strings.HasPrefix(out[0], "drops message") {
		out = append([]string{"nothing"}, out...)
	}
	for i, line := range lines {
		if !strings.HasPrefix(line, "*") {
			continue
		}
		had := len(out)
		rig.Change(places[i], func(path string) {
			if strings.HasSuffix(path, "Details gone") || strings.HasSuffix(path, "Action gone") || path == "Kind" {
				return // a call always has the parts that belong to its kind
			}
			for _, text := range check() {
				if !slices.Contains(said, text) && !strings.HasPrefix(text, "drops message") {
					out = append(out, "  "+path+"\n    "+text)
					return
				}
			}
		})
		if len(out) > had {
			out = slices.Insert(out, had, line)
		}
	}
	return strings.Join(out, "\n")
}

// told returns what is said of a turn.
func told(wrong []string) (said []string) {
	for _, w := range wrong {
		said = append(said, strings.ToValidUTF8(w, `\xff`))
	}
	return said
}

// ofEvents leaves out what is said of the ack but for its events.
func ofEvents(said []string) []string {
	return slices.DeleteFunc(said, func(text string) bool {
		for _, other := range []string{"work ", "message ", "the metadata ", "the activities "} {
			if strings.HasPrefix(text, other) {
				return true
			}
		}
		return false
	})
}

func storyOf(t *testing.T, d *datadriven.TestData, lines []string) *story {
	most := len(lines) // places points into these lists, which must not grow
	s := &story{t: t, calls: make([]asked.Call, 0, most), turn: turn.Turn{
		Instance: "i", Execution: 1, Build: engine.MustParseVersion("3.0.0"), OwnChildIDs: d.HasArg("own-child-ids"),
		History: make([]engine.Event, 0, most), Batch: make([]engine.WorkItem, 0, most), Keys: make([]engine.KVEntry, 0, most),
		Ack: engine.OrchestrationAck{HistoryDelta: make([]engine.Event, 0, most), WorkerItems: make([]engine.WorkItem, 0, most),
			OrchestratorItems: make([]engine.WorkItem, 0, most), CancelledActivities: make([]engine.ScheduledActivityIdentifier, 0, most)},
	}}
	tn, n := &s.turn, s.number
	for _, a := range d.CmdArgs {
		switch a.Key {
		case "exec":
			tn.Execution = n(a.Vals[0])
		case "build":
			tn.Build = engine.Version{}
			if a.Vals[0] != "none" {
				tn.Build = engine.MustParseVersion(a.Vals[0])
			}
		case "eager":
			tn.Semantics = engine.SemanticsEagerTimers
		case "discard":
			tn.Semantics = engine.SemanticsDiscard
		case "carried":
			tn.Limits.CarriedEvents = int(n(a.Vals[0]))
		case "keys":
			tn.Limits.Keys = int(n(a.Vals[0]))
		case "value":
			tn.Limits.ValueBytes = int(n(a.Vals[0]))
		case "status":
			tn.Status = engine.Status(a.Vals[0])
		case "unclaimed":
			for _, v := range a.Vals {
				tn.Unclaimed = append(tn.Unclaimed, n(v))
			}
		}
	}
	for _, line := range lines {
		s.places = append(s.places, s.line(strings.Fields(strings.TrimPrefix(line, "*"))))
	}
	return s
}

func (s *story) number(text string) uint64 {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

// last adds something to a list, and returns a pointer to it.
func last[E any](to *[]E, e E) any {
	*to = append(*to, e)
	return &(*to)[len(*to)-1]
}

func (s *story) line(words []string) any {
	t, tn, ack, n := s.t, &s.turn, &s.turn.Ack, s.number
	add := func(to *[]engine.WorkItem) any { return last(to, wording.Item(t, words[1], words[2:])) }
	event := func(to *[]engine.Event, id int) any { return last(to, s.event(id, words[1], words[2:])) }
	switch words[0] {
	case "h":
		return event(&tn.History, len(tn.History)+1)
	case "d":
		return event(&ack.HistoryDelta, len(tn.History)+len(ack.HistoryDelta)+1)
	case "p":
		e := s.event(1, words[1], words[2:])
		tn.Previous = &e
		return tn.Previous
	case "b":
		return add(&tn.Batch)
	case "w":
		return add(&ack.WorkerItems)
	case "m":
		return add(&ack.OrchestratorItems)
	case "x":
		return last(&ack.CancelledActivities, engine.ScheduledActivityIdentifier{Instance: tn.Instance, ExecutionID: tn.Execution, ActivityID: n(words[1])})
	case "k":
		key := engine.KVEntry{Key: words[1]}
		if len(words) > 2 {
			key.Value, key.LastUpdatedAtMs = words[2], n(words[3])
		}
		return last(&tn.Keys, key)
	case "c":
		return last(&s.calls, s.call(words[1], words[2:]))
	case "parent":
		tn.Parent = &engine.ParentLink{Instance: words[1], ExecutionID: n(words[2]), EventID: n(words[3])}
		return tn.Parent
	case "meta":
		wording.Set(t, &ack.Metadata, words[1:])
		return &ack.Metadata
	}
	t.Fatalf("%q begins no line", words[0])
	return nil
}

// event returns an event with the stamps that the turn's node would give it.
func (s *story) event(id int, kind string, words []string) engine.Event {
	stamp := engine.Event{EventID: uint64(id), InstanceID: s.turn.Instance, ExecutionID: s.turn.Execution, TimestampMs: 1000, DuroxideVersion: s.turn.Build.String()}
	for len(words) > 0 {
		last := len(words) - 1
		key, value, _ := strings.Cut(words[last], "=")
		switch key {
		case "@at":
			stamp.TimestampMs = s.number(value)
		case "@id":
			stamp.EventID = s.number(value)
		case "@by":
			stamp.DuroxideVersion = value
		default:
			last = len(words)
		}
		if last == len(words) {
			break
		}
		words = words[:last]
	}
	e := wording.Event(s.t, id, kind, words)
	stamp.SourceEventID, stamp.Data = e.SourceEventID, e.Data
	return stamp
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
	c := asked.Call{Kind: callKinds[kind], Details: &asked.Details{Info: orchhost.Info{Instance: s.turn.Instance, ExecutionID: s.turn.Execution, Name: "H", Version: "1.0.0"}}}
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
		case "Status", "Ms":
			wording.Set(s.t, c.Details, []string{w})
		case "Token", "By", "Failed", "N", "Text":
			wording.Set(s.t, &c, []string{w})
		default:
			wording.Set(s.t, c.Action, []string{w})
		}
	}
	return c
}
