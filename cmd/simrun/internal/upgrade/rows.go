package upgrade

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/memprovider"
)

// The tables that a line can belong to.
const (
	tableStore        = "store"
	tableInstances    = "instances"
	tableExecutions   = "executions"
	tableHistory      = "history"
	tableOrchestrator = "orchestrator_queue"
	tableWorker       = "worker_queue"
	tableEnd          = "end"
)

var tables = []string{tableStore, tableInstances, tableExecutions, tableHistory, tableOrchestrator, tableWorker, tableEnd}

// line is one line of an export. It has a field for every column of every table.
type line struct {
	Table string `json:"table"`

	TakenAtMs *int64 `json:"taken_at_ms"`
	HasEnd    bool   `json:"has_end"`

	Lines   int      `json:"lines"`   // for the end table: the number of lines before this one
	Missing []string `json:"missing"` // for the end table: tables that the database does not have

	InstanceID           string  `json:"instance_id"`
	OrchestrationName    string  `json:"orchestration_name"`
	OrchestrationVersion string  `json:"orchestration_version"`
	CurrentExecutionID   uint64  `json:"current_execution_id"`
	ParentInstanceID     *string `json:"parent_instance_id"`

	ExecutionID   uint64  `json:"execution_id"`
	Status        string  `json:"status"`
	Output        *string `json:"output"`
	PinnedVersion *string `json:"pinned_version"`

	EventData json.RawMessage `json:"event_data"`
	EventID   uint64          `json:"event_id"`
	Type      string          `json:"type"` // for a line that consists of a bare event

	WorkItem     json.RawMessage `json:"work_item"`
	VisibleAtMs  int64           `json:"visible_at_ms"`
	AttemptCount uint32          `json:"attempt_count"`
}

// place is the position of a row in the export.
type place struct {
	file string
	line int
}

type instanceRow struct {
	place
	line
	hasRow bool
}

type executionKey struct {
	instance string
	id       uint64
}

type executionRow struct {
	place
	status engine.Status
	output *string
	pin    *engine.Version
	hasRow bool
	events []eventRow
}

// eventRow is an event. data is nil if no build can decode the event.
type eventRow struct {
	place
	stored memprovider.PreloadedEvent
	event  *engine.Event
}

type messageRow struct {
	place
	item      engine.WorkItem
	visibleMs int64
	attempts  uint32
}

// reader collects the lines of an export. It reads them twice: first to see which instances are alike (survey), and then
// what it knows of those that are to be run.
type reader struct {
	survey     *survey
	surveyed   bool       // this is the second reading
	owners     [][]uint32 // the instance of each line of each file, as in survey.at
	codecs     []engine.Codec
	problems   []Problem
	leftOut    []LeftOut
	at         place
	takenMs    int64
	ending     place // the line that promises an end line for this file, or zero
	ended      bool  // the end line has been seen
	hasQueues  bool  // some line is from a queue, or says that the export has all lines of the store
	instances  map[string]*instanceRow
	executions map[executionKey]*executionRow
	messages   []messageRow
}

func (r *reader) fail(at place, field, format string, args ...any) {
	r.problems = append(r.problems, Problem{File: at.file, Line: at.line, Field: field, Text: fmt.Sprintf(format, args...)})
}

// leave counts what a run leaves out, by reason, of instance and those like it.
func (r *reader) leave(at place, instance, reason, what string) {
	first := LeftOut{Reason: reason, Example: Problem{File: at.file, Line: at.line, Text: what}}
	l := entry(&r.leftOut, func(l LeftOut) bool { return l.Reason == reason }, first)
	l.Count += r.survey.run[instance].instances
	l.Instances = append(l.Instances, instance)
}

// entry returns the element of a list that is the one wanted. If there is none, it adds one.
func entry[T any](list *[]T, wanted func(T) bool, fresh T) *T {
	i := slices.IndexFunc(*list, wanted)
	if i < 0 {
		i = len(*list)
		*list = append(*list, fresh)
	}
	return &(*list)[i]
}

// file reads a file for the first time.
func (r *reader) file(name string, in io.Reader) error {
	number, rows := 0, 0
	var owners []uint32
	r.ending, r.ended = place{}, false
	err := eachLine(in, func(text string) {
		number++
		if r.survey.at = 0; text != "" {
			r.at = place{name, number}
			r.line(text, rows)
			rows++
		}
		owners = append(owners, r.survey.at)
	})
	r.owners = append(r.owners, owners)
	if r.ending != (place{}) && !r.ended {
		r.fail(place{name, number}, "", "the export is cut off: its last line, {\"table\":\"end\", ...}, is missing; what it says of instances and queues is incomplete")
	}
	return err
}

// again reads what the lines of a file say of the instances that are run.
func (r *reader) again(name string, in io.Reader, owners []uint32) error {
	number := 0
	return eachLine(in, func(text string) {
		if number++; number <= len(owners) && owners[number-1] > 0 && r.survey.run[r.survey.all[owners[number-1]-1].id].instances > 0 {
			r.at = place{name, number}
			r.line(text, 0)
		}
	})
}

// eachLine calls do with each line, without the space around it.
func eachLine(in io.Reader, do func(text string)) error {
	lines := bufio.NewReaderSize(in, 1<<16)
	for first := true; ; first = false {
		text, err := lines.ReadString('\n')
		if first {
			text = strings.TrimPrefix(text, "\ufeff")
		}
		if text != "" {
			do(strings.TrimSpace(text))
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// line parses one line. before is the number of preceding lines in the file.
func (r *reader) line(text string, before int) {
	l, ok := historyLine(text)
	if !ok {
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			r.failJSON(err)
			return
		}
	}
	bare := l.Table == ""
	if bare {
		switch {
		case l.Type != "":
			l.Table, l.EventData = tableHistory, json.RawMessage(text)
		case l.InstanceID == "":
			l.Table, l.WorkItem = tableOrchestrator, json.RawMessage(text)
			if strings.HasPrefix(text, `{"`+string(engine.ItemActivityExecute)+`"`) {
				l.Table = tableWorker
			}
		}
	}
	if (l.Table == tableInstances || l.Table == tableExecutions) && l.InstanceID == "" {
		r.fail(r.at, "instance_id", "missing: expected the instance that this row of %s belongs to", l.Table)
		return
	}
	switch l.Table {
	case tableStore:
		if l.TakenAtMs == nil {
			r.fail(r.at, "taken_at_ms", "missing: expected when the export was taken, in milliseconds since 1970")
			return
		}
		r.takenMs = max(r.takenMs, *l.TakenAtMs)
		if l.HasEnd {
			r.ending, r.hasQueues = r.at, true
		}
	case tableEnd:
		if r.ended, r.hasQueues = true, true; l.Lines != before {
			r.fail(r.at, "lines", "the export had %d lines before this one, and %d are here: what it says of instances and queues is incomplete", l.Lines, before)
		}
		for _, table := range l.Missing {
			r.fail(r.at, "missing", "the database has no table %q: what the export says of its rows is incomplete", table)
		}
	case tableInstances:
		r.instance(&l)
	case tableExecutions:
		r.execution(&l)
	case tableHistory:
		r.event(&l)
	case tableOrchestrator, tableWorker:
		r.hasQueues = true
		r.message(&l, bare)
	case "":
		r.fail(r.at, "", "%s", notALine)
	default:
		r.fail(r.at, "table", "%q: expected one of %s", l.Table, strings.Join(tables, ", "))
	}
}

var notALine = fmt.Sprintf("not a line of an export: expected a row with a \"table\" (one of %s), an event with a \"type\", or a message such as {\"%s\": ...}", strings.Join(tables, ", "), engine.ItemExternalRaised)

// historyLine reads a line of the table history, which most lines are, faster than package json does.
func historyLine(text string) (l line, ok bool) {
	var o eventdata.Object
	if o.Scan(text); o.Err != nil || o.Get("table", false) != `"history"` {
		return line{}, false
	}
	l = line{Table: tableHistory, InstanceID: o.OptText("instance_id"), ExecutionID: o.OptNumber("execution_id"), EventID: o.OptNumber("event_id")}
	l.EventData = json.RawMessage(o.Get("event_data", false))
	return l, o.Err == nil
}

// failJSON reports a line that is not an object, or a field of the wrong type.
func (r *reader) failJSON(err error) {
	var wrong *json.UnmarshalTypeError
	switch {
	case !errors.As(err, &wrong):
		r.fail(r.at, "", "expected a JSON object: %v", err)
	case wrong.Field == "":
		r.fail(r.at, "", "expected a JSON object, found a %s", wrong.Value)
	default:
		want := wrong.Type.Kind().String()
		if strings.Contains(want, "int") {
			want = "number"
		}
		r.fail(r.at, wrong.Field, "expected a %s, found a %s", want, wrong.Value)
	}
}

func (r *reader) instanceOf(id string) *instanceRow {
	in := r.instances[id]
	if in == nil {
		in = &instanceRow{place: r.at}
		in.InstanceID = id
		r.instances[id] = in
	}
	return in
}

func (r *reader) instance(l *line) {
	if l.OrchestrationName == "" {
		r.fail(r.at, "orchestration_name", "missing: expected what %s runs", l.InstanceID)
		return
	}
	if !r.surveyed {
		r.survey.instance(l)
		return
	}
	in := r.instanceOf(l.InstanceID)
	if in.hasRow {
		r.fail(r.at, "instance_id", "%s has a row already, at %s:%d", l.InstanceID, in.file, in.place.line)
		return
	}
	in.line, in.hasRow, in.place = *l, true, r.at
}

func (r *reader) executionOf(instance string, id uint64) *executionRow {
	r.instanceOf(instance)
	key := executionKey{instance, id}
	x := r.executions[key]
	if x == nil {
		x = &executionRow{place: r.at}
		r.executions[key] = x
	}
	return x
}

func (r *reader) execution(l *line) {
	if l.ExecutionID == 0 {
		r.fail(r.at, "execution_id", "missing: expected the number of the execution, from 1")
		return
	}
	pin, ok := r.version(l.PinnedVersion)
	if !ok {
		return
	}
	switch s := engine.Status(l.Status); s {
	case "", engine.StatusRunning, engine.StatusCompleted, engine.StatusFailed, engine.StatusContinuedAsNew:
	default:
		r.fail(r.at, "status", "%q: expected Running, Completed, Failed or ContinuedAsNew", l.Status)
		return
	}
	if !r.surveyed {
		r.survey.execution(l, pin)
		return
	}
	x := r.executionOf(l.InstanceID, l.ExecutionID)
	if x.hasRow {
		r.fail(r.at, "execution_id", "execution %d of %s has a row already, at %s:%d", l.ExecutionID, l.InstanceID, x.file, x.line)
		return
	}
	x.place, x.status, x.output, x.pin, x.hasRow = r.at, engine.Status(l.Status), l.Output, pin, true
}

func (r *reader) version(text *string) (*engine.Version, bool) {
	if text == nil || *text == "" {
		return nil, true
	}
	v, err := engine.ParseVersion(*text)
	if err != nil {
		r.fail(r.at, "pinned_version", "%v", err)
		return nil, false
	}
	v = v.Triple()
	return &v, true
}

// unreadable is the reason for leaving out what an event says.
const unreadable = "contents of events that no build reads; nodes fail on them"

// event records an event. If no build can decode the event, it is kept unchanged, and nodes will fail to decode it.
func (r *reader) event(l *line) {
	data := []byte(l.EventData)
	var text string
	if len(data) > 0 && data[0] == '"' && json.Unmarshal(data, &text) == nil {
		data = []byte(text) // a string holds stored bytes that are not valid JSON
	}
	var envelope struct {
		EventID     uint64 `json:"event_id"`
		InstanceID  string `json:"instance_id"`
		ExecutionID uint64 `json:"execution_id"`
		Type        string `json:"type"`
	}
	e, err := decode(r.codecs, engine.Codec.DecodeEvent, data)
	var known *engine.Event
	if err == nil {
		known = &e
		envelope.EventID, envelope.InstanceID, envelope.ExecutionID, envelope.Type = e.EventID, e.InstanceID, e.ExecutionID, string(e.Kind())
	} else if envelopeErr := json.Unmarshal(data, &envelope); envelopeErr != nil {
		err = envelopeErr
	}
	instance, execution, id := cmp.Or(l.InstanceID, envelope.InstanceID), cmp.Or(l.ExecutionID, envelope.ExecutionID), cmp.Or(l.EventID, envelope.EventID)
	switch {
	case len(data) == 0:
		r.fail(r.at, "event_data", "missing: expected the event")
		return
	case instance == "":
		r.fail(r.at, "instance_id", "missing: expected the instance that the event belongs to")
		return
	case execution == 0:
		r.fail(r.at, "execution_id", "missing: expected the execution that the event belongs to")
		return
	case id == 0:
		r.fail(r.at, "event_id", "missing: expected the number of the event, from 1")
		return
	}
	kind := engine.EventKind(envelope.Type)
	if !r.surveyed {
		r.survey.event(instance, execution, id, kind, known)
		return
	}
	damaged := err != nil && !errors.Is(err, engine.ErrUnknownKind)
	if damaged {
		r.leave(r.at, instance, unreadable, fmt.Sprintf("event %d of %s: %v", id, instance, err))
	}
	x := r.executionOf(instance, execution)
	x.events = append(x.events, eventRow{place: r.at, stored: memprovider.PreloadedEvent{ID: id, Kind: kind, Data: data, Damaged: damaged}, event: known})
}

// decode decodes an event or a message with the first codec that can.
func decode[T any](codecs []engine.Codec, how func(c engine.Codec, data []byte) (T, error), data []byte) (out T, err error) {
	for _, c := range codecs {
		if out, err = how(c, data); err == nil {
			break
		}
	}
	return out, err
}

// message records a message. bare says that the line is nothing else.
func (r *reader) message(l *line, bare bool) {
	if len(l.WorkItem) == 0 {
		r.fail(r.at, "work_item", "missing: expected the message")
		return
	}
	item, err := decode(r.codecs, engine.Codec.DecodeWorkItem, l.WorkItem)
	var fields map[string]json.RawMessage
	switch {
	case err == nil:
	case bare && (errors.Is(err, engine.ErrUnknownKind) || json.Unmarshal(l.WorkItem, &fields) == nil && len(fields) != 1):
		r.fail(r.at, "", "%s", notALine)
		return
	default:
		r.fail(r.at, "work_item", "%v", err)
		return
	}
	m := messageRow{place: r.at, item: item, visibleMs: l.VisibleAtMs, attempts: l.AttemptCount}
	if !r.surveyed {
		r.survey.message(&m, r.takenMs)
		return
	}
	r.messages = append(r.messages, m)
}
