package turn_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/dev/turn"
	"github.com/durosim/durosim/internal/rig"
)

// TestStories checks turns that are written line by line, and prints the checker's objections to each:
//
//	turn [exec=1] [build=3.0.0] [eager] [discard] [own-child-ids] [carried=N] [keys=N] [value=N] [status=S] [unclaimed=ID,...]
//	h EVENT / d EVENT / p EVENT        an event of the history, of the delta, the first of the previous execution (see package
//	                                   script); @at=MS, @by=BUILD and @id=N come last, if at all
//	b ITEM / w ITEM / m ITEM           a message of the batch; work and a message that the turn sends
//	x ID                               an activity that it withdraws
//	k KEY                              a key before the execution
//	parent INSTANCE EXECUTION EVENT    the parent, as the provider knows it
//	meta FIELD=VALUE ...               metadata
//
// "events" instead of "turn" starts a turn for which only the events are known. If a line starts with `*`, the story is
// retold with each of the line's values changed in turn. The test then prints the objections that occur for the first
// time, and how many changes lead to nothing new.
func TestStories(t *testing.T) {
	c := new(turn.Checker) // shared by all turns, because it reuses its memory
	brief := rig.Brief{}
	datadriven.RunTest(t, "testdata/stories.txt", func(t *testing.T, d *datadriven.TestData) string {
		lines := strings.Split(strings.TrimSpace(d.Input), "\n")
		tn, places := storyOf(t, d, lines)
		return brief.Of(retell(lines, places, func() []string {
			wrong := told(c.CheckAck(tn))
			switch {
			case d.Cmd == "events":
				return ofEvents(wrong)
			case len(wrong) > 0:
				return wrong
			}
			for _, drop := range c.Drops() {
				wrong = append(wrong, fmt.Sprintf("drops message %d: %s", drop.Message+1, drop.Rule))
			}
			return wrong
		}))
	})
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
		out = append(out, line)
		free := 0
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
			free++
		})
		out = append(out, fmt.Sprintf("  nothing new of %d", free))
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

// storyOf returns the turn that the lines describe, and a pointer to what each line describes.
func storyOf(t *testing.T, d *datadriven.TestData, lines []string) (*turn.Turn, []any) {
	most := len(lines) // the result points into these lists, which must not grow
	tn := &turn.Turn{
		Instance: "i", Execution: 1, Build: engine.MustParseVersion("3.0.0"), OwnChildIDs: d.HasArg("own-child-ids"),
		History: make([]engine.Event, 0, most), Batch: make([]engine.WorkItem, 0, most),
		Ack: engine.OrchestrationAck{HistoryDelta: make([]engine.Event, 0, most), WorkerItems: make([]engine.WorkItem, 0, most),
			OrchestratorItems: make([]engine.WorkItem, 0, most), CancelledActivities: make([]engine.ScheduledActivityIdentifier, 0, most)},
	}
	n := func(text string) uint64 {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
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
	var places []any
	for _, line := range lines {
		words := strings.Fields(strings.TrimPrefix(line, "*"))
		places = append(places, lineOf(t, tn, n, words))
	}
	return tn, places
}

func lineOf(t *testing.T, tn *turn.Turn, n func(string) uint64, words []string) any {
	ack := &tn.Ack
	add := func(to *[]engine.WorkItem) any {
		*to = append(*to, rig.Item(t, words[1], words[2:]))
		return &(*to)[len(*to)-1]
	}
	event := func(to *[]engine.Event, id int) any {
		*to = append(*to, eventOf(t, tn, n, id, words[1], words[2:]))
		return &(*to)[len(*to)-1]
	}
	switch words[0] {
	case "h":
		return event(&tn.History, len(tn.History)+1)
	case "d":
		return event(&ack.HistoryDelta, len(tn.History)+len(ack.HistoryDelta)+1)
	case "p":
		e := eventOf(t, tn, n, 1, words[1], words[2:])
		tn.Previous = &e
		return tn.Previous
	case "b":
		return add(&tn.Batch)
	case "w":
		return add(&ack.WorkerItems)
	case "m":
		return add(&ack.OrchestratorItems)
	case "x":
		x := engine.ScheduledActivityIdentifier{Instance: tn.Instance, ExecutionID: tn.Execution, ActivityID: n(words[1])}
		ack.CancelledActivities = append(ack.CancelledActivities, x)
		return &ack.CancelledActivities[len(ack.CancelledActivities)-1]
	case "k":
		tn.Keys = append(tn.Keys, engine.KVEntry{Key: words[1]})
		return &tn.Keys[len(tn.Keys)-1]
	case "parent":
		tn.Parent = &engine.ParentLink{Instance: words[1], ExecutionID: n(words[2]), EventID: n(words[3])}
		return tn.Parent
	case "meta":
		rig.Set(t, &ack.Metadata, words[1:])
		return &ack.Metadata
	}
	t.Fatalf("%q begins no line", words[0])
	return nil
}

// eventOf returns an event with the stamps that the turn's node would give it.
func eventOf(t *testing.T, tn *turn.Turn, n func(string) uint64, id int, kind string, words []string) engine.Event {
	stamp := engine.Event{EventID: uint64(id), InstanceID: tn.Instance, ExecutionID: tn.Execution, TimestampMs: 1000, DuroxideVersion: tn.Build.String()}
	for len(words) > 0 {
		last := len(words) - 1
		key, value, _ := strings.Cut(words[last], "=")
		switch key {
		case "@at":
			stamp.TimestampMs = n(value)
		case "@id":
			stamp.EventID = n(value)
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
	e := rig.Event(t, id, kind, words)
	stamp.SourceEventID, stamp.Data = e.SourceEventID, e.Data
	return stamp
}
