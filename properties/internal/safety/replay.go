package safety

import (
	"fmt"
	"path"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/engine/replay"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/record"
)

// replayChecker checks rules S11, a history agrees with its code, and S29, the code of another build ends as it did. At
// the end of a run, it replays each ended execution under the right rules, on every build in the run that runs the
// execution (admits it, reads it, and has its handler) and that some node ran while the execution did. During the run, it
// checks that an ack cancels no child that never began, and that no node calls an execution nondeterministic. That an ack
// does what it records is a clause of the specification of a turn.
//
// An execution that was ended from outside (by poison, or by a failure that is not the application's) must agree only
// up to its end. Executions with a damaged event are exempt. If an instance that has keys was pruned, its later
// executions are exempt, too.
//
// If the code of another build than the one that ended an execution agrees but for the output or the error at the end,
// and the code of the build that ended it gives the same output there, then the codes differ, and not the engines: that
// is S29.
type replayChecker struct {
	check.Base
	runs   []replayBuild
	nodes  map[uint32]int    // the index in runs of what each node runs; lookups only
	acks   []lastAck         // index 0 is unused
	last   []int             // indexed by instance number: the index of the instance's newest ack in acks, or 0
	panics map[string]string // where each instance's code panicked last; never iterated over, so map order does not matter
	arena  *replay.Arena     // reused for all replays
	failed model.KindSet     // the kind of an execution's failure
}

// replayBuild is a build in the run, with the pins that any incarnation of its nodes replayed, and the handlers that
// the last incarnation had.
type replayBuild struct {
	build    *engine.Build
	reads    model.KindSet
	registry *node.Registry
	ranges   []engine.VersionRange
	spans    []span // when any of its nodes were up
	up       int    // how many are
}

// span is from one step to another, which is 0 as long as it goes on.
type span struct{ from, to uint64 }

// ran reports whether a node of the build was up between two steps.
func (b *replayBuild) ran(from, to uint64) bool {
	return slices.ContainsFunc(b.spans, func(s span) bool { return s.from <= to && (s.to == 0 || s.to >= from) })
}

func newReplayChecker(m *check.Run) check.Checker {
	return &replayChecker{
		Base: check.Base{Run: m, OnRecord: check.SetOf(record.NodeStarted, record.NodeStopped, record.NodeCrashed, record.Note), OnEnd: check.Ends{OK: check.SetOf(observe.CallAckOrchestrationItem)}},
		acks: make([]lastAck, 1), nodes: make(map[uint32]int), panics: make(map[string]string), failed: m.Model.Kinds.SetOf(eventdata.KindOrchestrationFailed),
	}
}

func (k *replayChecker) Record(r *cluster.Record) {
	if r.Kind == record.Note {
		if turn := r.Note.Turn; turn != nil && turn.PanickedAt != "" {
			k.panics[r.Note.Instance] = turn.PanickedAt
		}
		return
	}
	step := k.Run.World.Step()
	if i, ok := k.nodes[r.Node]; ok && r.Kind != record.NodeStarted {
		run := &k.runs[i]
		if run.up--; run.up == 0 {
			run.spans[len(run.spans)-1].to = step
		}
		delete(k.nodes, r.Node)
	}
	info := k.Run.World.Node(r.Node)
	// On released nodes, S11 replay-deterministic: an ack must do what it records, and no execution may be called
	// nondeterministic; there is no replay at the end of the run, and so no S29. That replay follows the rules of
	// modelled builds, and a released node replays its own history at each turn and reports a failure.
	if r.Kind != record.NodeStarted || info.Registry == nil || info.Build.Release != "" {
		return
	}
	i := slices.IndexFunc(k.runs, func(run replayBuild) bool { return run.build == info.Build })
	if i < 0 {
		i = len(k.runs)
		k.runs = append(k.runs, replayBuild{build: info.Build, reads: k.Run.Model.Kinds.ReadBy(info.Build)})
	}
	run := &k.runs[i]
	run.registry, run.ranges = info.Registry, append(run.ranges, model.RangeOf(&info.Options, info.Build)) // under bounce, its fetches have no filter
	if k.nodes[r.Node] = i; run.up == 0 {
		run.spans = append(run.spans, span{from: step})
	}
	run.up++
}

func (k *replayChecker) Ended(c *model.Call, o *observe.Observation) {
	if c.Request.Ack == nil || c.Caller.Node == 0 {
		return
	}
	ack := c.Request.Ack
	in := model.HeldBy(c)
	if in != nil {
		if last := k.lastOf(in.No, ack.ExecutionID); len(ack.HistoryDelta) > 0 || last.by.Node == 0 {
			if last.first != 0 {
				last = k.newAck(in.No, ack.ExecutionID)
			}
			last.by, last.at = c.Caller, k.Run.World.Step()
			if delta := ack.HistoryDelta; len(delta) > 0 {
				last.first, last.to = delta[0].EventID, delta[len(delta)-1].EventID
			}
		}
	}
	k.checkCancels(c)
	if c.Delta&k.failed == 0 {
		return
	}
	for i := range ack.HistoryDelta {
		e := &ack.HistoryDelta[i]
		// An answer to a deleted instance may reach another instance of the same name.
		if d, ok := e.Data.(eventdata.OrchestrationFailed); ok && d.Details.Configuration != nil && !k.hadNamesake(c) {
			k.report(c, e, "which says: "+d.Details.Display())
			return
		}
	}
}

// checkCancels checks that an ack cancels only instances that were started, either by this ack or earlier. A turn that
// ends the execution does not start the children that it schedules.
func (k *replayChecker) checkCancels(c *model.Call) {
	for _, r := range c.Rows {
		if r.InsertedBy != c.ID || r.Kind != engine.ItemCancelInstance || !r.Present || r.Instance.Created || model.StartQueued(r.Instance) {
			continue
		}
		if was := r.Instance.Execution(engine.InitialExecutionID); was != nil && was.Deleted {
			continue // deleted since
		}
		k.Run.Safety("S11", c.Caller.Node, r.Instance.No, "an ack by %s with token %s%s, cancels %s, which no call has started: expected it to cancel only started instances",
			k.Run.Who(c.Caller), c.Request.Token, k.about(c), r.Instance.Name)
		return
	}
}

// hadNamesake reports whether the acknowledged execution was deleted before and now belongs to a new instance of the
// same name.
func (k *replayChecker) hadNamesake(c *model.Call) bool {
	if in := model.HeldBy(c); in != nil {
		if ex := in.Execution(c.Request.Ack.ExecutionID); ex != nil {
			return ex.Deleted
		}
	}
	return false
}

func (k *replayChecker) report(c *model.Call, e *engine.Event, what string) {
	no, cause := observe.InstanceNo(0), check.Alike("", what)
	if in := model.HeldBy(c); in != nil {
		no = in.No
		cause = check.Alike(in.Name, handlerOf(in)+" records an end "+what) // without who wrote the history, which differs from run to run
		if ex := in.Execution(c.Request.Ack.ExecutionID); ex != nil {
			if history := k.anyHistory(in, ex); len(history) > 0 {
				what += k.place(c.Caller, in, ex) + " (the history of " + handlerOf(in) + " was written by " + k.writers(in, ex, history) + ")"
			}
		}
	}
	k.Run.Violate(check.Breach{Property: "S11", Class: cluster.ClassSafety, Node: c.Caller.Node, Instance: no, Cause: cause, Message: fmt.Sprintf(
		"an ack by %s with token %s%s, records event %d (%s), %s: expected a turn to do what it records, and to record what its code does%s",
		k.Run.Who(c.Caller), c.Request.Token, k.about(c), e.EventID, e.Kind(), what, k.advice(what))})
}

// handlerOf names the code of an instance.
func handlerOf(in *model.Instance) string {
	return strings.TrimSuffix(in.Orchestration+"@"+in.Version, "@")
}

// advice says why code may disagree with a history: a build lacks a field that one of them has, or code was changed.
func (k *replayChecker) advice(differs string) string {
	if k.Run.Planted() {
		return ""
	}
	for i := range k.runs {
		codec, forgetful := k.runs[i].build.Codec.(engine.ForgetfulCodec)
		if !forgetful {
			continue
		}
		for _, f := range codec.Lacks() {
			if strings.Count(differs, " "+string(f)+`="`)+strings.Count(differs, " "+string(f)+`_id="`) == 1 {
				return fmt.Sprintf("; the fields of the builds differ: %s lacks %s", k.runs[i].build.Name(), f)
			}
		}
	}
	return "; code that was changed needs a new version"
}

// place says where the code of a node disagrees with an execution's history, or returns "" if that is unknown.
func (k *replayChecker) place(by observe.Caller, in *model.Instance, ex *model.Execution) string {
	inc := k.Run.Model.Incarnation(by)
	i := slices.IndexFunc(k.runs, func(r replayBuild) bool { return inc != nil && r.build == inc.Build })
	if i < 0 {
		return ""
	}
	history, err := k.Run.World.Store().PeekHistory(in.Name, ex.ID, inc.Build.Codec)
	if err != nil || len(history) == 0 {
		return ""
	}
	started, _ := history[0].Data.(eventdata.OrchestrationStarted)
	handler, ok := k.runs[i].registry.ResolveStarted(started.Name, started.Version)
	if !ok {
		return ""
	}
	return at(replay.DiffersAt(replay.Input{Build: inc.Build, Instance: in.Name, ExecutionID: ex.ID, History: history, Handler: handler.Handler}))
}

// at introduces the location of a call.
func at(place string) string {
	if place == "" {
		return ""
	}
	return ", at " + place
}

// about describes the execution that an ack is about, and the delivery that it ends.
func (k *replayChecker) about(c *model.Call) string {
	text := fmt.Sprintf(", for execution %d", c.Request.Ack.ExecutionID)
	in := model.HeldBy(c)
	if in == nil {
		return text
	}
	text += " of " + in.Name
	if in.BatchToken == c.Request.Token {
		text += " after the delivery of " + k.Run.BatchText(in.Batch)
	}
	return text
}

// Finish replays the ended executions.
func (k *replayChecker) Finish() {
	k.arena = replay.NewArena()
	k.arena.Watch(k.Run.World.Watch())
	defer k.arena.Close()
	for _, in := range k.Run.Model.Instances[1:] {
		var keys []engine.KVEntry // the keys at the start of the next execution
		for _, ex := range in.Executions {
			if ex.Deleted && !ex.Created && in.Values.Had {
				break // the keys of later executions are unknown
			}
			if ex.Created && ex.Status.Terminal() && ex.Kinds.Has(k.Run.Model.Kinds.Started) && !ex.Kinds.Has(model.KindDamaged) {
				k.replay(in, ex, keys)
			}
			if ex.Kinds&k.Run.Model.Kinds.Keys != 0 {
				keys = keysAfter(keys, k.anyHistory(in, ex))
			}
		}
	}
}

// anyHistory returns an execution's history, decoded by some build in the run.
func (k *replayChecker) anyHistory(in *model.Instance, ex *model.Execution) []engine.Event {
	for i := range k.runs {
		if history, err := k.Run.World.Store().PeekHistory(in.Name, ex.ID, k.runs[i].build.Codec); err == nil {
			return history
		}
	}
	return nil
}

// replay replays an execution on every build in the run that runs it. It uses the store's own decoded events, so it
// costs little more than running the code.
func (k *replayChecker) replay(in *model.Instance, ex *model.Execution, keys []engine.KVEntry) {
	last := k.lastOf(in.No, ex.ID)
	var wrote *replayBuild // the build that ended the execution
	if inc := k.Run.Model.Incarnation(last.by); inc != nil {
		if i := slices.IndexFunc(k.runs, func(r replayBuild) bool { return r.build == inc.Build }); i >= 0 {
			wrote = &k.runs[i]
		}
	}
	pin := ex.Pin
	if pin == nil {
		pin = k.Run.Model.Stamp(ex) // as nodes test it
	}
	output, outputCause := "", "" // what is said of a build whose code gives another output
	for i := range k.runs {
		run := &k.runs[i]
		if !run.admits(pin) || ex.Kinds&^run.reads != 0 || last.by.Node != 0 && !run.ran(k.began(in.No, ex.ID), last.at) {
			continue
		}
		history, err := k.Run.World.Store().PeekHistory(in.Name, ex.ID, run.build.Codec)
		if err != nil || len(history) == 0 {
			continue // the stored history differs from the model's, which other checkers report
		}
		started, ok := history[0].Data.(eventdata.OrchestrationStarted)
		if !ok {
			continue
		}
		handler, ok := run.registry.ResolveStarted(started.Name, started.Version)
		if !ok {
			continue
		}
		input := replay.Input{
			Build: run.build, Instance: in.Name, ExecutionID: ex.ID, History: history, KVSnapshot: keys, Handler: handler.Handler,
			Arena: k.arena,
		}
		verify := func(code orch.Handler) string {
			input := input
			input.Handler = code
			differs, err := replay.Verify(input)
			if err != nil {
				return err.Error()
			}
			return differs
		}
		differs := verify(handler.Handler)
		if differs == "" {
			continue
		}
		by := k.writers(in, ex, history)
		if last.by.Node != 0 {
			by += ", the last by " + k.Run.Who(last.by) + last.events()
		}
		if wrote != nil && wrote != run && differsInOutput(differs, history) {
			if own, ok := wrote.registry.ResolveStarted(started.Name, started.Version); !ok || verify(own.Handler) == "" {
				output = fmt.Sprintf("execution %d of %s (%s, pin %s): build %s gives another output: %s. It was written by %s. No runtime replays what has ended, so nothing fails; but what the same version gives depends on the node: register a new version if that matters",
					ex.ID, in.Name, handler, model.PinText(ex.Pin), run.build.Name(), differs, by)
				outputCause = check.Alike(in.Name, fmt.Sprintf("%s gives another output", handler))
				continue
			}
		}
		if place := k.panics[in.Name]; place != "" && ex.Status == engine.StatusFailed {
			by += ", whose code panicked at " + place
		}
		advice := k.advice(differs)
		if wrote != nil && wrote.build.Bounds() != run.build.Bounds() {
			like, within := *run.build, input
			like.Limits, within.Build = wrote.build.Bounds(), &like
			if differs, err := replay.Verify(within); err == nil && differs == "" {
				advice = "; the limits of the builds differ: " + strings.Join(wrote.build.LimitsUnlike(run.build), "; ")
			}
		}
		if wrote != nil && wrote.build.SemanticsOf(pin) != run.build.SemanticsOf(pin) {
			like, as := *run.build, input
			like.Semantics, like.Changes, as.Build = wrote.build.Semantics, wrote.build.Changes, &like
			if differs, err := replay.Verify(as); err == nil && differs == "" {
				advice = fmt.Sprintf("; the semantics of the builds differ: %s on %s, %s on %s", wrote.build.SemanticsOf(pin), wrote.build.Name(), run.build.SemanticsOf(pin), run.build.Name())
			}
		}
		k.Run.Violate(check.Breach{Property: "S11", Class: cluster.ClassSafety, Node: last.by.Node, Instance: in.No,
			Cause: check.Alike(in.Name, fmt.Sprintf("%s does not replay: %s", handler, differs)), Message: fmt.Sprintf(
				"execution %d of %s (%s, pin %s, %d events, %s) does not replay on build %s: %s. It was written by %s%s",
				ex.ID, in.Name, handler, model.PinText(ex.Pin), len(history), ex.Status, run.build.Name(), differs+at(replay.DiffersAt(input)), by, advice)})
		return
	}
	if output != "" {
		k.Run.Violate(check.Breach{Property: "S29", Class: cluster.ClassPlan, Node: last.by.Node, Instance: in.No, Cause: outputCause, Message: output})
	}
}

// lastAck describes an ack of an execution that appended events, or its first if none has: who made it, in which step, and
// the first and the last event that it appended.
type lastAck struct {
	execution uint64
	by        observe.Caller // the caller; zero as long as no node has acked
	at        uint64
	first, to uint64
	before    int // the index of the ack of the same instance before it, or 0
}

// lastOf returns the entry for an execution's last ack. Usually, this is the instance's newest entry.
func (k *replayChecker) lastOf(no observe.InstanceNo, execution uint64) *lastAck {
	for len(k.last) <= int(no) {
		k.last = append(k.last, 0)
	}
	for i := k.last[no]; i != 0; i = k.acks[i].before {
		if k.acks[i].execution == execution {
			return &k.acks[i]
		}
	}
	return k.newAck(no, execution)
}

// began returns the step of an execution's first ack.
func (k *replayChecker) began(no observe.InstanceNo, execution uint64) (step uint64) {
	for i := k.last[no]; i != 0; i = k.acks[i].before {
		if k.acks[i].execution == execution {
			step = k.acks[i].at
		}
	}
	return step
}

func (k *replayChecker) newAck(no observe.InstanceNo, execution uint64) *lastAck {
	k.acks = append(k.acks, lastAck{execution: execution, before: k.last[no]})
	k.last[no] = len(k.acks) - 1
	return &k.acks[k.last[no]]
}

// events describes which events the ack appended.
func (a lastAck) events() string {
	switch {
	case a.first == 0:
		return ", which appended nothing"
	case a.first == a.to:
		return fmt.Sprintf(", which appended event %d", a.first)
	}
	return fmt.Sprintf(", which appended events %d to %d", a.first, a.to)
}

// writers names the builds that wrote a history: those of the nodes that did or, for what was stored before the run,
// the versions in its events.
func (k *replayChecker) writers(in *model.Instance, ex *model.Execution, history []engine.Event) string {
	k.lastOf(in.No, ex.ID)
	by := func(e *engine.Event) string {
		for i := k.last[in.No]; i != 0; i = k.acks[i].before {
			if a := &k.acks[i]; a.execution == ex.ID && a.first <= e.EventID && e.EventID <= a.to {
				if inc := k.Run.Model.Incarnation(a.by); inc != nil {
					return inc.Build.Name()
				}
			}
		}
		return e.DuroxideVersion
	}
	var parts []string
	codes := k.codes(history)
	for from := 0; from < len(history); {
		to, build := from, by(&history[from])
		for to+1 < len(history) && by(&history[to+1]) == build {
			to++
		}
		which := fmt.Sprintf("event %d", history[from].EventID)
		if to > from {
			which = fmt.Sprintf("events %d to %d", history[from].EventID, history[to].EventID)
		}
		parts = append(parts, fmt.Sprintf("build %s (%s%s)", build, which, codes[build]))
		from = to + 1
	}
	return strings.Join(parts, ", ")
}

// codes says where the code of an execution begins, by build. It is empty unless builds have other code, and that is
// known: of what orch.JSON wraps it is not.
func (k *replayChecker) codes(history []engine.Event) map[string]string {
	started, _ := history[0].Data.(eventdata.OrchestrationStarted)
	codes, differ, before := map[string]string{}, false, ""
	for i := range k.runs {
		handler, ok := k.runs[i].registry.ResolveStarted(started.Name, started.Version)
		if !ok {
			continue
		}
		code := runtime.FuncForPC(reflect.ValueOf(handler.Handler).Pointer())
		file, line := code.FileLine(code.Entry())
		if strings.HasSuffix(file, "engine/orch/json.go") {
			return nil
		}
		text := fmt.Sprintf(" at %s (%s:%d)", path.Base(code.Name()), path.Base(file), line)
		codes[k.runs[i].build.Name()] = text
		differ = differ || before != "" && text != before
		before = text
	}
	if !differ {
		return nil
	}
	return codes
}

func (b *replayBuild) admits(pin *engine.Version) bool {
	return pin == nil || slices.ContainsFunc(b.ranges, func(r engine.VersionRange) bool { return model.Within(&r, pin) })
}

func endsExecution(d engine.EventData) bool {
	switch d.(type) {
	case eventdata.OrchestrationCompleted, eventdata.OrchestrationFailed, eventdata.OrchestrationContinuedAsNew:
		return true
	}
	return false
}

// differsInOutput reports whether a replay agrees with a history up to its end, and then gives another output or error
// of the code's own.
func differsInOutput(differs string, history []engine.Event) bool {
	end := slices.IndexFunc(history, func(e engine.Event) bool { return endsExecution(e.Data) })
	if end < 0 {
		return false
	}
	switch d := history[end].Data.(type) {
	case eventdata.OrchestrationCompleted:
		return strings.HasPrefix(differs, "the code returns ")
	case eventdata.OrchestrationFailed:
		a := d.Details.Application
		return a != nil && a.Kind == eventdata.AppOrchestrationFailed && strings.HasPrefix(differs, "the code fails with ")
	}
	return false
}
