package oracle

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/rig"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/memprovider"
)

// rowsOf makes calls on a store and returns the specification's view of it, and what the store has.
func rowsOf(t *testing.T) (*Oracle, *Change) {
	t.Helper()
	store := memprovider.New(memprovider.Options{StartMs: 1000})
	o, ctx := New(Options{}), t.Context()
	p := Watch(store.Handle(engine.ShippedBuilds()[4].Codec, observe.Caller{}), "", store.Now, func(e Exchange) {
		if r := o.Apply(e); r != nil {
			t.Fatal(r)
		}
	})
	at := time.Second
	fetch := func() string {
		got, err := p.FetchOrchestrationItem(ctx, at, 0, nil)
		if err != nil || got == nil {
			t.Fatal(got, err)
		}
		return got.LockToken
	}
	pin, status, output := engine.V(1, 5, 0), "half way", "done"
	turn := func(instance string, m engine.ExecutionMetadata, work []engine.WorkItem, data ...engine.EventData) {
		ack := engine.OrchestrationAck{LockToken: fetch(), ExecutionID: 1, Metadata: m, WorkerItems: work}
		for i, d := range data {
			ack.HistoryDelta = append(ack.HistoryDelta, engine.Event{EventID: uint64(i + 1), InstanceID: instance, ExecutionID: 1, Data: d})
		}
		sample.OK(t, p.AckOrchestrationItem(ctx, ack))
	}
	start := func(instance string) {
		_ = p.EnqueueForOrchestrator(ctx, engine.StartItem{Instance: instance, Orchestration: "H", Version: "1.0.0", ExecutionID: 1}, 0)
	}
	start("A")
	turn("A", engine.ExecutionMetadata{OrchestrationName: "H", OrchestrationVersion: "1.0.0", PinnedVersion: &pin, ParentInstanceID: "root", ParentExecutionID: 2, ParentEventID: 3},
		[]engine.WorkItem{engine.ActivityExecuteItem{Instance: "A", ExecutionID: 1, ID: 4, Name: "W", SessionID: "s"}, engine.ActivityExecuteItem{Instance: "A", ExecutionID: 1, ID: 5, Name: "W"}},
		eventdata.OrchestrationStarted{Name: "H", Version: "1.0.0"}, eventdata.KeyValueSet{Key: "k", Value: "v", LastUpdatedAtMs: 7}, eventdata.KeyValueCleared{Key: "gone"},
		eventdata.ActivityScheduled{Name: "W"}, eventdata.ActivityScheduled{Name: "W"}, eventdata.CustomStatusUpdated{Status: &status})
	start("B")
	turn("B", engine.ExecutionMetadata{OrchestrationName: "H", OrchestrationVersion: "1.0.0", Status: engine.StatusCompleted, Output: &output}, nil,
		eventdata.OrchestrationStarted{Name: "H", Version: "1.0.0"}, eventdata.KeyValueSet{Key: "k", Value: "v", LastUpdatedAtMs: 8}, eventdata.OrchestrationCompleted{Output: output})
	if got, err := p.FetchWorkItem(ctx, at, 0, &engine.SessionFetchConfig{OwnerID: "owner", LockTimeout: 5 * at}, engine.TagFilter{Mode: engine.TagAny}); err != nil || got == nil {
		t.Fatal(got, err)
	}
	for _, name := range []string{"A", "C"} {
		_ = p.EnqueueForOrchestrator(ctx, engine.ExternalRaisedItem{Instance: name, Name: "go"}, 0)
		if name == "A" {
			fetch()
		}
		_ = p.EnqueueForOrchestrator(ctx, engine.ExternalRaisedItem{Instance: name, Name: "later"}, at)
	}
	value := "v"
	return o, &Change{
		Whole: true,
		Instances: []InstanceRow{
			{Instance: "A", Created: true, Orchestration: "H", Version: "1.0.0", Current: 1, Parent: engine.ParentLink{Instance: "root", ExecutionID: 2, EventID: 3}, LockToken: "o4", LockUntilMs: 2000,
				CustomStatus: &status, CustomVersion: 1, Delta: []KeyRow{{Key: "gone"}, {"k", &value, 7}}, Executions: 1, Events: 6},
			{Instance: "B", Created: true, Orchestration: "H", Version: "1.0.0", Current: 1, Stored: []KeyRow{{"k", &value, 8}}, Executions: 1, Events: 3},
			{Instance: "C"},
		},
		Executions: []ExecutionRow{
			{Instance: "A", ID: 1, Created: true, Status: engine.StatusRunning, Pin: &pin, Events: 6, EventIDs: []uint64{1, 2, 3, 4, 5, 6}},
			{Instance: "B", ID: 1, Created: true, Status: engine.StatusCompleted, Output: output, Events: 3, EventIDs: []uint64{1, 2, 3}},
		},
		Queue: []QueueRow{
			{Number: 2, Present: true, Instance: "A", Kind: engine.ItemExternalRaised, VisibleMs: 1000, Count: 1, Token: "o4"},
			{Number: 3, Present: true, Instance: "A", Kind: engine.ItemExternalRaised, VisibleMs: 2000},
			{Number: 4, Present: true, Instance: "C", Kind: engine.ItemExternalRaised, VisibleMs: 1000},
			{Number: 5, Present: true, Instance: "C", Kind: engine.ItemExternalRaised, VisibleMs: 2000},
		},
		Work: []QueueRow{
			{Number: 3, Present: true, Instance: "A", Kind: engine.ItemActivityExecute, VisibleMs: 1000, Count: 1, Token: "w3", UntilMs: 2000},
			{Number: 6, Present: true, Instance: "A", Kind: engine.ItemActivityExecute, VisibleMs: 1000},
		},
		Sessions: []SessionRow{{ID: "s", Owner: "owner", UntilMs: 6000, ActivityMs: 1000}},
	}
}

// TestEachDifference changes what a store has, one place at a time, and prints the difference that it makes at first and,
// if it is another one, where all rows have been compared before.
func TestEachDifference(t *testing.T) {
	brackets, values, told := regexp.MustCompile(`\[\d+\]`), regexp.MustCompile(`[0-9~]|none|\{.*|"[^"]*"|\b[ABC]\b`), map[string]bool{}
	datadriven.RunTest(t, "testdata/differences.txt", func(t *testing.T, d *datadriven.TestData) string {
		o, c := rowsOf(t)
		if diff := copied(o).Compare(c); diff != nil {
			t.Fatalf("without a change: %+v", diff)
		}
		if d.Cmd == "again" {
			o.Compare(c)
			c.Whole = false
			c.Queue = slices.Insert(c.Queue, 1, QueueRow{Number: 9, Instance: "B"})
		}
		if d.Cmd == "more-sessions" {
			c.Sessions = append(c.Sessions, SessionRow{ID: "t", Owner: "other"})
			return o.Compare(c).Text
		}
		var lines []string
		rig.Change(c, func(path string) {
			if path == "Sessions with the last twice" {
				return // their ids are a key of the table
			}
			text := "free"
			if diff := copied(o).Compare(c); diff != nil {
				text = diff.Column + " " + diff.Instance
				if diff.Row != 0 {
					text += fmt.Sprintf(" row %d %s", diff.Row, diff.Kind)
				}
				if diff.Surplus || diff.Lacks {
					text += fmt.Sprintf(" surplus %t lacks %t", diff.Surplus, diff.Lacks)
				}
				text += ": " + diff.Text
			}
			// Of a place and what is like it, only what is told in other words.
			if like := brackets.ReplaceAllString(path, "") + " " + values.ReplaceAllString(text, ""); !told[like] {
				lines, told[like] = append(lines, path+": "+text), true
			}
		})
		return strings.Join(lines, "\n")
	})
}
