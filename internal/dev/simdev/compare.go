package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/engine/orchhost"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/sim/plan"
)

// difference describes the first committed event at which an instance's histories differ between two runs. If one
// history is shorter, the text of its event is empty.
type difference struct {
	Instance  string
	Execution uint64
	// Event is the event's position in its execution, starting at 1.
	Event int
	// One and Other are the two runs' events as JSON, without times and versions.
	One, Other string
	// Arrival reports whether either event is missing or records an input from outside the execution. Because all
	// earlier events are equal, the runs then differ only in which inputs had arrived. If Arrival is false, the code
	// made different decisions.
	Arrival bool
}

// histories is the part of a store that compareHistories reads. memprovider.View implements it.
type histories interface {
	// InstanceName returns the name of instance no, starting at 1, or "" if there is none.
	InstanceName(no observe.InstanceNo) string
	// PeekHistory returns an execution's events, or none if the execution does not exist.
	PeekHistory(instance string, execution uint64, codec engine.Codec) ([]engine.Event, error)
}

// compareHistories compares the committed histories of two runs of a plan. It returns the first differing event of each
// instance, in the order of the first run, and the number of equal events. It ignores details that may differ between
// two correct runs: times, runtime versions, and the results of the runtime's own activities. Released runtimes record
// a redundant request to cancel a completed activity if the completion arrived in the same batch
// (docs/real-nodes.md#exempt). compareHistories ignores such requests, too, and the resulting shift in event numbers.
func compareHistories(one, other histories) (differ []difference, alike int, err error) {
	seen := map[string]bool{}
	for _, store := range []histories{one, other} {
		for no := observe.InstanceNo(1); ; no++ {
			name := store.InstanceName(no)
			if name == "" {
				break
			}
			if seen[name] {
				continue
			}
			seen[name] = true
			d, n, err := compareInstance(name, one, other)
			if err != nil {
				return nil, 0, err
			}
			alike += n
			if d != nil {
				differ = append(differ, *d)
			}
		}
	}
	return differ, alike, nil
}

// comparable is an event in a form suitable for comparison.
type comparable struct {
	text    string
	arrival bool
}

func compareInstance(name string, one, other histories) (d *difference, alike int, err error) {
	for execution := uint64(1); ; execution++ {
		a, err := eventTexts(one, name, execution)
		if err != nil {
			return nil, 0, err
		}
		b, err := eventTexts(other, name, execution)
		if err != nil {
			return nil, 0, err
		}
		if len(a)+len(b) == 0 {
			return nil, alike, nil
		}
		at := func(list []comparable, i int) comparable {
			if i < len(list) {
				return list[i]
			}
			return comparable{arrival: true}
		}
		for i := range max(len(a), len(b)) {
			x, y := at(a, i), at(b, i)
			if x.text != y.text {
				return &difference{name, execution, i + 1, x.text, y.text, x.arrival || y.arrival}, alike, nil
			}
			alike++
		}
	}
}

// codec decodes the events and messages of both released and modelled builds.
var codec = engine.NewJSONCodec("compare", engine.Kinds1x(), engine.WorkItemKinds1x())

// eventTexts returns an execution's events in comparable form, or none if the execution does not exist. It omits
// redundant cancel requests and renumbers the other events.
func eventTexts(v histories, instance string, execution uint64) ([]comparable, error) {
	events, err := v.PeekHistory(instance, execution, codec)
	if err != nil {
		return nil, err
	}
	var out []comparable
	number := map[uint64]uint64{}  // new numbers; never iterated over
	own := map[uint64]bool{}       // the schedules of the runtime's own activities
	completed := map[uint64]bool{} // activities that have completed
	for _, e := range events {
		switch data := e.Data.(type) {
		case eventdata.ActivityScheduled:
			own[e.EventID] = strings.HasPrefix(data.Name, orchhost.SystemActivityPrefix)
		case eventdata.ActivityCompleted:
			completed[e.SourceEventID] = true
			if own[e.SourceEventID] {
				data.Result = "..."
				e.Data = data
			}
		case eventdata.ActivityFailed:
			completed[e.SourceEventID] = true
		case eventdata.ActivityCancelRequested:
			if completed[e.SourceEventID] {
				continue // spent
			}
		}
		number[e.EventID] = uint64(len(out) + 1)
		e.EventID, e.SourceEventID = number[e.EventID], number[e.SourceEventID]
		text, err := eventText(e)
		if err != nil {
			return nil, fmt.Errorf("%s, execution %d: %w", instance, execution, err)
		}
		out = append(out, comparable{text, arrives(e.Kind())})
	}
	return out, nil
}

// arrives reports whether events of kind k record an input from outside the execution.
func arrives(k engine.EventKind) bool {
	switch k {
	case eventdata.KindActivityCompleted, eventdata.KindActivityFailed, eventdata.KindTimerFired, eventdata.KindSubOrchestrationCompleted,
		eventdata.KindSubOrchestrationFailed, eventdata.KindExternalEvent, eventdata.KindQueueEventDelivered, eventdata.KindOrchestrationCancelRequested,
		eventdata.KindOrchestrationStarted:
		return true
	}
	return false
}

// untold lists the event fields that may differ between two runs.
var untold = []string{"timestamp_ms", "duroxide_version", "fire_at_ms", "last_updated_at_ms", "instance_id", "execution_id", "parent_id"}

func eventText(e engine.Event) (string, error) {
	text, err := codec.AppendEvent(nil, e)
	if err != nil {
		return "", err
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		return "", err
	}
	for _, name := range untold {
		delete(fields, name)
	}
	if id, ok := fields["instance"].(string); ok && strings.HasPrefix(id, "sub::") {
		delete(fields, "instance") // an automatic id contains its event's number
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(fields); err != nil {
		return "", err
	}
	return strings.TrimSpace(out.String()), nil
}

// modelled returns the plan with each released build replaced by a modelled one with the release's version. All of them
// behave like the newest of these releases that has a profile. The store is still durosim's own. Unchanged parts are
// shared with p.
func modelled(p *plan.Plan) *plan.Plan {
	out := *p
	out.Nodes, out.Schedule, out.Builds = slices.Clone(p.Nodes), slices.Clone(p.Schedule), slices.Clone(p.Builds)
	for _, b := range p.Releases() {
		version := b.Version.String()
		if out.Declared(version) == nil {
			out.Builds = append(out.Builds, plan.Build{Name: version, Like: "1.5.0", Range: &b.DefaultRange})
		}
		for i := range out.Nodes {
			if out.Nodes[i].Build == b.Release {
				out.Nodes[i].Build = version
			}
		}
		for i := range out.Schedule {
			if out.Schedule[i].Build == b.Release {
				out.Schedule[i].Build = version
			}
		}
		if bugs := runtimeSwitches(b.Release); len(bugs) > 0 {
			out.Bugs = append(slices.Clone(p.Bugs), bugs...)
		}
	}
	return &out
}

// runtimeSwitches returns the switches in a release's profile that affect its runtime, or none if it has no profile. It
// omits switches that affect only work that a correct provider never delivers.
func runtimeSwitches(release string) []faults.BugID {
	var out []faults.BugID
	for _, b := range faults.Profile(release) {
		if len(b.With) == 0 && b.Mended == "" && b.Since == "" && !strings.HasPrefix(b.Place, "src/providers/") {
			out = append(out, b.ID)
		}
	}
	return out
}
