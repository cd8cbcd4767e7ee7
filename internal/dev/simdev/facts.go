package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/program"
	"github.com/durosim/durosim/sim/realnode"
	"github.com/durosim/durosim/sim/scenario"
)

// fact is something that durosim has written down about a release, and what the release shows of it.
type fact struct{ name, written, shown string }

// facts implements `simdev facts duroxide`: it derives the facts of the released builds (engine.ReleasedBuilds) from what
// their nodes do, and compares them with those that are written down. The exit status is 4 if some differ.
//
// It cannot derive automatic ids of children in later executions, where programs give their own; defaults of options, all
// of which a node is given; fields that no form of durosim has, which a machine leaves out; and what a contract says of
// stores, since no host has one.
func facts(args []string) error {
	f := flag.NewFlagSet("simdev facts duroxide", flag.ContinueOnError)
	seeds := f.Uint64("seeds", 4, "how `MANY` seeds, each of ten programs, show what is written")
	brief := f.Bool("brief", false, "print only the facts that differ")
	if len(args) == 0 || args[0] != "duroxide" {
		return errors.New("expected duroxide, then flags, then releases; all releases if none is named")
	}
	if err := f.Parse(args[1:]); err != nil {
		return err
	}
	builds := engine.ReleasedBuilds()
	if f.NArg() > 0 {
		builds = nil
	}
	for _, name := range f.Args() {
		b, err := releasedBuild(name)
		if err != nil {
			return err
		}
		builds = append(builds, b)
	}
	all, equal := 0, 0
	for _, b := range builds {
		list, err := factsOf(b, *seeds)
		if err != nil {
			return fmt.Errorf("%s: %w", b.Name(), err)
		}
		for _, x := range list {
			verdict := "DIFFERS"
			if x.written == x.shown {
				verdict = "equal"
				equal++
			}
			if all++; x.written != x.shown || !*brief {
				fmt.Printf("%s | %s | %s | %s | %s\n", strings.TrimPrefix(b.Release, engine.ReleasePrefix), x.name, x.written, x.shown, verdict)
			}
		}
	}
	fmt.Printf("%d facts: %d equal (%.1f %%)\n", all, equal, 100*float64(equal)/float64(max(all, 1)))
	if equal < all {
		return errFound
	}
	return nil
}

// factsOf returns the facts of a release.
func factsOf(b *engine.Build, seeds uint64) ([]fact, error) {
	hosts := realnode.Releases()
	if err := hosts.Check(b); err != nil {
		return nil, err
	}
	p := &probe{Runtimes: hosts, build: b, written: map[string]int{}}
	var out []fact
	for _, derive := range []func(*probe) ([]fact, error){identity, limits, rules, lacks, readEvents, readItems, everything(seeds), writes} {
		list, err := derive(p)
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return out, nil
}

// The messages and events of scenes. None of them waits for "other".
var (
	poke  = engine.ExternalRaisedItem{Instance: "x", Name: "other"}
	start = engine.StartItem{Instance: "x", Orchestration: programName, ExecutionID: 1}
	child = engine.StartItem{Instance: "x", Orchestration: programName, ExecutionID: 1, ParentInstance: "p", ParentID: 5, ParentExecutionID: 7}
)

// started is the first event of an execution that a version began.
func (p *probe) started(stamp string) engine.Event {
	return event(1, stamp, eventdata.OrchestrationStarted{Name: programName, Version: "1.0.0"})
}

// begun is the history of an execution that the release began, and continued that of one that continued as new.
func (p *probe) begun() []engine.Event { return []engine.Event{p.started(p.build.Version.String())} }
func (p *probe) continued() []engine.Event {
	return append(p.begun(), event(2, p.build.Version.String(), eventdata.OrchestrationContinuedAsNew{}))
}

func event(id uint64, stamp string, data engine.EventData) engine.Event {
	return engine.Event{EventID: id, InstanceID: "x", ExecutionID: 1, TimestampMs: 1, DuroxideVersion: stamp, Data: data}
}

// first returns the first event of a type in what the turns appended.
func first[T engine.EventData](turns []turn) (data T, found bool) {
	for _, t := range turns {
		if t.ack == nil {
			continue
		}
		for _, e := range t.ack.HistoryDelta {
			if d, ok := e.Data.(T); ok {
				return d, true
			}
		}
	}
	return data, false
}

// identity derives the version that a release stamps, and the range of versions that its nodes fetch.
func identity(p *probe) ([]fact, error) {
	turns, err := p.play(scene{program: "wait go", batches: [][]engine.WorkItem{{start}}})
	if err != nil {
		return nil, err
	}
	stamp := turns[0].ack.HistoryDelta[0].DuroxideVersion
	filter, err := p.filter()
	return []fact{{"version", p.build.Version.String(), stamp}, {"range", engine.FilterFor(p.build.DefaultRange).String(), filter}}, err
}

// limits derives the limits of a release: the greatest number that does not fail the orchestration.
func limits(p *probe) ([]fact, error) {
	most := func(fits func(n int) (bool, error)) (string, error) {
		low, high := 0, 1
		for {
			ok, err := fits(high)
			if err != nil {
				return "", err
			}
			if !ok {
				break
			}
			if low, high = high, high*2; high > 1<<21 {
				return "none", nil
			}
		}
		for high-low > 1 {
			middle := (low + high) / 2
			ok, err := fits(middle)
			if err != nil {
				return "", err
			}
			if ok {
				low = middle
			} else {
				high = middle
			}
		}
		return strconv.Itoa(low), nil
	}
	fits := func(program string) func(n int) (bool, error) {
		return func(n int) (bool, error) {
			s := scene{program: program + "\nwait go", size: n, batches: [][]engine.WorkItem{{start}}}
			if program == "" {
				s.program, s.size = "call a tag "+strings.Repeat("t", n)+s.program, 0
			}
			turns, err := p.play(s)
			_, failed := first[eventdata.OrchestrationFailed](turns)
			return !failed, err
		}
	}
	bounds := p.build.Bounds()
	out := []fact{{name: "limit keys", written: strconv.Itoa(bounds.Keys)}, {name: "limit value-bytes", written: strconv.Itoa(bounds.ValueBytes)},
		{name: "limit custom-status-bytes", written: strconv.Itoa(engine.MaxCustomStatusBytes)}, {name: "limit tag-bytes", written: strconv.Itoa(engine.MaxTagNameBytes)}}
	for i, program := range []string{"set-many 1", "set k v", "status s", ""} { // the last is the tag
		var err error
		if out[i].shown, err = most(fits(program)); err != nil {
			return nil, err
		}
	}
	many := make([]engine.WorkItem, 1000)
	for i := range many {
		many[i] = engine.QueueMessageItem{Instance: "x", Name: "q", Data: "d"}
	}
	turns, err := p.play(scene{program: "wait go\nagain 1", batches: [][]engine.WorkItem{{start}, many, {engine.ExternalRaisedItem{Instance: "x", Name: "go"}}}})
	if err != nil {
		return nil, err
	}
	carried := "does not continue"
	for _, w := range turns[2].ack.OrchestratorItems {
		if c, ok := w.(engine.ContinueAsNewItem); ok {
			carried = strconv.Itoa(len(c.CarryForwardEvents))
		}
	}
	return append(out, fact{"limit carried-events", strconv.Itoa(bounds.CarriedEvents), carried}), nil
}

// rules derives the rules that differ between releases.
func rules(p *probe) ([]fact, error) {
	// What happens to the event that a lost wait has received, by the version that began the execution.
	shown := func(stamp *engine.Version) (string, error) {
		raise := func(data string) engine.WorkItem {
			return engine.ExternalRaisedItem{Instance: "x", Name: "go", Data: data}
		}
		turns, err := p.play(scene{program: "select\ncall a\nwait go\nend\njoin\nwait go\ncall b\nend", history: []engine.Event{p.started(stamp.String())}, batches: [][]engine.WorkItem{
			{poke}, {engine.ActivityCompletedItem{Instance: "x", ExecutionID: 1, ID: 3, Result: "a"}, raise("one")},
			{engine.ActivityCompletedItem{Instance: "x", ExecutionID: 1, ID: 8, Result: "b"}}, {raise("two")},
		}})
		done, _ := first[eventdata.OrchestrationCompleted](turns)
		switch {
		case err != nil:
			return "", err
		case strings.HasSuffix(done.Output, "(one|b|);"):
			return engine.SemanticsStandard.String(), nil
		case strings.HasSuffix(done.Output, "(two|b|);"):
			return engine.SemanticsDiscard.String(), nil
		}
		return fmt.Sprintf("another: %q", done.Output), nil
	}
	var stamps []engine.Version
	for patch := uint32(20); patch < 40; patch++ {
		stamps = append(stamps, engine.V(0, 1, patch))
	}
	stamps = append(stamps, engine.V(0, 2, 0), engine.V(1, 0, 0), engine.V(998, 0, 0))
	semantics := func(of func(*engine.Version) (string, error)) (string, error) {
		text, last := "", ""
		for i := range stamps {
			now, err := of(&stamps[i])
			if err != nil {
				return "", err
			}
			if i == 0 {
				text = now
			} else if now != last {
				text += fmt.Sprintf(", since %s %s", stamps[i], now)
			}
			last = now
		}
		return text, nil
	}
	written, _ := semantics(func(v *engine.Version) (string, error) { return p.build.SemanticsOf(v).String(), nil })
	derived, err := semantics(shown)
	if err != nil {
		return nil, err
	}
	// Whether the code may ask for a child of an id that begins as automatic ids do.
	const own = "sub::9"
	turns, err := p.play(scene{program: "child Kid t as kid", instance: own, history: p.begun(), batches: [][]engine.WorkItem{{engine.ExternalRaisedItem{Instance: own, Name: "other"}}}})
	if err != nil {
		return nil, err
	}
	_, free := first[eventdata.SubOrchestrationScheduled](turns)
	// Whether input that arrives before the start of the next execution counts an attempt.
	turns, err = p.play(scene{program: "wait go", history: p.continued(), batches: [][]engine.WorkItem{{poke}}})
	if err != nil {
		return nil, err
	}
	waits := turns[0].abandon
	return []fact{{"semantics", written, derived}, {"own-child-ids", strconv.FormatBool(p.build.OwnChildIDs), strconv.FormatBool(!free)},
		{"counts-waiting", strconv.FormatBool(p.build.CountsWaiting), strconv.FormatBool(waits != nil && !waits.IgnoreAttempt)}}, nil
}

// lacks derives which of the fields that builds may lack a release reads and writes.
func lacks(p *probe) ([]fact, error) {
	status := "s"
	next := engine.ContinueAsNewItem{Instance: "x", Orchestration: programName, ParentInstance: "p", ParentID: 5, ParentExecutionID: 7, InitialCustomStatus: &status}
	shown := map[engine.Field]bool{}
	for _, s := range []scene{
		{program: "wait go", batches: [][]engine.WorkItem{{child}}},
		{program: "wait go", history: p.continued(), batches: [][]engine.WorkItem{{next}}},
		{program: "call a session s tag t", batches: [][]engine.WorkItem{{start}}},
	} {
		turns, err := p.play(s)
		if err != nil {
			return nil, err
		}
		began, _ := first[eventdata.OrchestrationStarted](turns)
		call, _ := first[eventdata.ActivityScheduled](turns)
		shown["parent-execution"] = shown["parent-execution"] || len(s.history) == 0 && began.ParentExecutionID == 7
		shown["continued-parent"] = shown["continued-parent"] || len(s.history) > 0 && began.ParentInstance == "p"
		shown["initial-custom-status"] = shown["initial-custom-status"] || began.InitialCustomStatus != nil
		shown["tag"], shown["session"] = shown["tag"] || call.Tag == "t", shown["session"] || call.SessionID == "s"
	}
	var missing []engine.Field
	if c, ok := p.build.Codec.(engine.ForgetfulCodec); ok {
		missing = c.Lacks()
	}
	var out []fact
	for _, f := range engine.Fields() {
		out = append(out, fact{"lacks " + string(f), strconv.FormatBool(slices.Contains(missing, f)), strconv.FormatBool(!shown[f])})
	}
	return out, nil
}

// example returns the fields of a form with a value each, and for an event those that all events have.
func example(form *eventdata.Form, event bool) map[string]any {
	fields := map[string]any{}
	if event {
		fields = map[string]any{"type": form.Kind, "event_id": 2, "source_event_id": 1, "instance_id": "x", "execution_id": 1, "timestamp_ms": 1, "duroxide_version": "0.1.26"}
	}
	for _, f := range form.Fields() {
		switch f.Type {
		case reflect.TypeFor[uint64]():
			fields[f.Name] = 1
		case reflect.TypeFor[[]engine.CarriedEvent]():
			fields[f.Name] = [][]string{{"q", "d"}}
		case reflect.TypeFor[engine.ErrorDetails]():
			fields[f.Name] = map[string]any{"Application": map[string]any{"kind": "ActivityFailed", "message": "m", "retryable": false}}
		default:
			fields[f.Name] = "x"
		}
	}
	if form.Kind == string(engine.ItemActivityExecute) {
		fields["name"] = program.Activities()[0].Name
	}
	return fields
}

// textOf returns the JSON of fields, without one of them.
func textOf(fields map[string]any, without string) string {
	fields = maps.Clone(fields)
	delete(fields, without)
	text, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func answer(holds bool) string {
	if holds {
		return "yes"
	}
	return "no"
}

// readEvents derives which kinds of events a release reads, and which of their fields need not be there.
func readEvents(p *probe) ([]fact, error) {
	reads := func(kind, text string) (string, error) {
		e := engine.Event{EventID: 2, Data: eventdata.Opaque{Data: eventdata.Unknown(engine.EventKind(kind)), Text: text}}
		turns, err := p.play(scene{program: "wait go", history: append(p.begun(), e), batches: [][]engine.WorkItem{{poke}}, attempt: poisoned})
		if err != nil {
			return "", err
		}
		return answer(!undecoded(turns)), nil
	}
	var out []fact
	for _, form := range eventdata.Forms() {
		fields := example(form, true)
		var names []string
		for _, f := range form.Fields() {
			names = append(names, f.Name)
		}
		try := func(name, without string) error {
			text := textOf(fields, without)
			_, err := p.build.Codec.DecodeEvent([]byte(text))
			shown, failed := reads(form.Kind, text)
			out = append(out, fact{name, answer(err == nil), shown})
			return failed
		}
		if err := try("reads "+form.Kind, ""); err != nil {
			return nil, err
		}
		if out[len(out)-1].shown == "no" {
			continue
		}
		if form.Kind == string(eventdata.KindTimerFired) {
			names = append(names, "source_event_id", "event_id", "instance_id", "execution_id", "timestamp_ms", "duroxide_version")
		}
		for _, name := range names {
			if err := try("reads "+form.Kind+" without "+name, name); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// poisoned is how often a batch has been delivered that ends as poison, whose event says whether it could be decoded.
const poisoned = 11

// undecoded reports whether a node could not decode what has been delivered to it too often.
func undecoded(turns []turn) bool {
	failed, _ := first[eventdata.OrchestrationFailed](turns)
	return failed.Details.Poison != nil && failed.Details.Poison.MessageType.Kind == eventdata.PoisonFailedDeserialization
}

// readItems derives which kinds of work items a release reads, and which of their fields need not be there.
func readItems(p *probe) ([]fact, error) {
	var out []fact
	for _, form := range engine.ItemForms() {
		fields := example(form, false)
		try := func(name, without string) error {
			text := fmt.Sprintf("{%q:%s}", form.Kind, textOf(fields, without))
			_, err := p.build.Codec.DecodeWorkItem([]byte(text))
			item, failed := engine.Opaque(allKinds).DecodeWorkItem([]byte(text))
			if failed != nil { // durosim itself requires the field
				item = engine.OpaqueItem{WorkItem: poke, Text: text}
			}
			s := scene{program: "wait go", history: p.begun(), batches: [][]engine.WorkItem{{item}}, attempt: poisoned}
			if form.Kind == string(engine.ItemActivityExecute) {
				s.batches, s.work = nil, item
			}
			turns, failed := p.play(s)
			if failed != nil && !(s.work != nil && errors.Is(failed, errNoCall)) {
				return failed
			}
			out = append(out, fact{name, answer(err == nil), answer(failed == nil && !undecoded(turns))})
			return nil
		}
		if err := try("reads item "+form.Kind, ""); err != nil {
			return nil, err
		}
		if out[len(out)-1].shown == "no" {
			continue
		}
		for _, f := range form.Fields() {
			if err := try("reads item "+form.Kind+" without "+f.Name, f.Name); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// everything returns a step that derives nothing: it runs generated programs, and scenes of what they do not have, so that
// the release writes all that it can.
func everything(seeds uint64) func(p *probe) ([]fact, error) {
	return func(p *probe) ([]fact, error) {
		next := engine.ContinueAsNewItem{Instance: "x", Orchestration: programName, CarryForwardEvents: []engine.CarriedEvent{{Name: "q", Data: "d"}}}
		for _, s := range []scene{
			{program: "status s\nagain 1 version 1.0.0", batches: [][]engine.WorkItem{{child}}},
			{program: "detach Kid t", batches: [][]engine.WorkItem{{start}}},
			{program: "set k v\nclear-all", batches: [][]engine.WorkItem{{start}}},
			{program: "drop\ndequeue q\nend\nwait go", batches: [][]engine.WorkItem{{start}}},
			{program: "wait go", history: p.continued(), batches: [][]engine.WorkItem{{next}}},
		} {
			if _, err := p.play(s); err != nil {
				return nil, err
			}
		}
		spelled := "duroxide " + strings.TrimPrefix(p.build.Release, engine.ReleasePrefix)
		s, err := scenario.Parse("generated.txt", fmt.Appendf(nil, generated, spelled, spelled))
		if err != nil {
			return nil, err
		}
		for seed := range seeds {
			plan, err := s.Expand(seed+1, scenario.Overrides{})
			if err != nil {
				return nil, err
			}
			_, err = cluster.Run(cluster.Config{Plan: plan, Releases: p, Chooser: sim.Replay(&sim.Recording{}), Monitor: func(w *cluster.World) cluster.Monitor {
				return properties.New(w, properties.Options{})
			}})
			if err != nil {
				return nil, fmt.Errorf("seed %d: %w", seed+1, err)
			}
		}
		return nil, nil
	}
}

// writes derives which kinds of events and work items a release writes, and with which fields.
func writes(p *probe) ([]fact, error) {
	var out []fact
	add := func(kind string, emits bool, has map[string]any, fields []eventdata.FormField) {
		out = append(out, fact{"writes " + kind, answer(emits), answer(p.written[kind] > 0)})
		for _, f := range fields {
			_, writes := has[f.Name]
			out = append(out, fact{"writes " + kind + "." + f.Name, answer(emits && writes), answer(p.written[kind+"."+f.Name] > 0)})
		}
	}
	for _, form := range eventdata.Forms() {
		e, err := allKinds.DecodeEvent([]byte(textOf(example(form, true), "")))
		if err != nil {
			return nil, err
		}
		add(form.Kind, p.build.Emits.Has(engine.EventKind(form.Kind)), fieldsOf(p.build.Codec.AppendEvent(nil, e)), form.Fields())
	}
	for _, form := range engine.ItemForms() {
		w, err := allKinds.DecodeWorkItem(fmt.Appendf(nil, "{%q:%s}", form.Kind, textOf(example(form, false), "")))
		if err != nil {
			return nil, err
		}
		if k := w.Kind(); k == engine.ItemExternalRaised || k == engine.ItemExternalRaised2 || k == engine.ItemQueueMessage {
			continue // clients alone write them
		}
		text, err := p.build.Codec.AppendWorkItem(nil, w)
		var tagged map[string]json.RawMessage
		if err == nil {
			err = json.Unmarshal(text, &tagged)
		}
		add("item "+form.Kind, err == nil, fieldsOf(tagged[form.Kind], err), form.Fields())
	}
	for _, what := range slices.Sorted(maps.Keys(p.written)) { // kinds that durosim does not know
		if !strings.Contains(what, ".") && !slices.ContainsFunc(out, func(f fact) bool { return f.name == "writes "+what }) {
			out = append(out, fact{"writes " + what, "no", "yes"})
		}
	}
	return out, nil
}
