package selfcheck

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/dev/turn"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/record"
)

// turns judges against S24 what each of durosim's nodes computes and commits. It takes the delivery as given, so it judges
// a damaged history or a forged message as the node saw it. Clients and probes are not judged, since they may ack whatever
// they like, nor are released nodes: the specification is that of durosim's turns.
type turns struct {
	run    *run
	builds map[observe.Caller]*engine.Build
	handed map[string]handed // keyed by lock token
	spec   turn.Checker
	turn   turn.Turn // the turn being judged; reused
	call   uint64    // the store's last call of an ack or an abandon
	token  string    // what that call is about
	ack    engine.OrchestrationAck
	// alters and alteredTurns count what altered has altered.
	alters, alteredTurns int
}

// handed is a delivery to a node, and what the node says about its turn.
type handed struct {
	item *engine.OrchestrationItem
	// turned reports whether a turn was computed. left lists what its code had not asked for by the time it ended, and
	// dropped what it dropped.
	turned  bool
	left    []uint64
	dropped []machine.DroppedMessage
}

func newTurns(r *run) *turns {
	return &turns{run: r, builds: map[observe.Caller]*engine.Build{}, handed: map[string]handed{}}
}

// Record judges how a turn treats its code at the time that the turn is computed.
func (k *turns) Record(r *cluster.Record) {
	caller := observe.Caller{Node: r.Node, Incarnation: r.Incarnation}
	if r.Kind == record.NodeStarted {
		k.builds[caller] = k.run.world.Node(r.Node).Build
	}
	n, build := r.Note, k.builds[caller]
	if r.Kind != record.Note || n.Turn == nil || n.Turn.Ack == nil || n.Turn.Asked == nil || build == nil {
		return
	}
	h := k.handed[n.Token]
	if h.item == nil {
		return
	}
	t := k.of((*engine.OrchestrationAck)(n.Turn.Ack), h.item, build)
	h.turned, h.left, h.dropped = true, nil, n.Dropped
	wrong := k.spec.CheckCode(t, n.Turn.Asked)
	if text := place(n.Turn, t.Ack.HistoryDelta); text != "" {
		wrong = append(wrong, text)
	}
	for _, text := range wrong {
		k.wrong(caller, n.Instance, "a turn by %s of execution %d of %s, after %d events, for %d messages: %s",
			k.run.who(r.Node, r.Incarnation), n.ExecutionID, n.Instance, len(t.History), len(t.Batch), text)
	}
	k.altered(r, n.Turn, h.item, build)
	if left := k.spec.Left(); len(left) > 0 {
		h.left = slices.Clone(left)
	}
	k.handed[n.Token] = h
}

// Observe judges what a turn commits when it is committed, or refused.
func (k *turns) Observe(o *observe.Observation) {
	if o.Caller.Node == 0 && (o.Kind == observe.CallBegin || o.Kind == observe.CallEnd) {
		return
	}
	switch {
	case o.Kind == observe.CallBegin && o.CallKind == observe.CallAbandonOrchestrationItem:
		k.call, k.token = o.Call, o.Request.Token
	case o.Kind == observe.CallBegin && o.CallKind == observe.CallAckOrchestrationItem && o.Request.Ack != nil:
		k.call, k.token, k.ack = o.Call, o.Request.Ack.LockToken, *o.Request.Ack
	case o.Kind != observe.CallEnd || o.Outcome != observe.OutcomeOK && o.CallKind != observe.CallAckOrchestrationItem:
	case o.CallKind == observe.CallFetchOrchestrationItem:
		if f := o.Fetched; f != nil {
			k.handed[f.LockToken] = handed{item: &f.Item}
		}
	case o.CallKind == observe.CallAbandonOrchestrationItem && o.Call == k.call:
		delete(k.handed, k.token)
	case o.CallKind == observe.CallAckOrchestrationItem && o.Call == k.call:
		h, build := k.handed[k.token], k.builds[o.Caller]
		if h.item != nil && build != nil && build.Release == "" {
			k.judge(o.Caller, &h, build)
		}
		if o.Outcome == observe.OutcomeOK {
			delete(k.handed, k.token)
		}
	}
}

func (k *turns) judge(caller observe.Caller, h *handed, build *engine.Build) {
	item := h.item
	if item.HistoryError != "" || len(item.Messages) == 0 {
		return // S18 judges history errors, and no provider delivers an empty batch
	}
	t := k.of(&k.ack, item, build)
	t.Unclaimed = h.left
	wrong := k.spec.CheckAck(t)
	if len(wrong) == 0 && h.turned {
		if text := drops(h.dropped, k.spec.Drops()); text != "" {
			wrong = []string{text}
		}
	}
	for _, text := range wrong {
		k.wrong(caller, item.Instance, "an ack by %s with token %s of execution %d of %s, after %d events, for %d messages: %s",
			k.run.who(caller.Node, caller.Incarnation), k.ack.LockToken, k.ack.ExecutionID, item.Instance, len(item.History), len(item.Messages), text)
	}
}

func (k *turns) wrong(caller observe.Caller, instance, format string, args ...any) {
	k.run.violate(TurnAllowed, cluster.ClassSafety, caller.Node, instance, fmt.Sprintf(format, args...))
}

// engines lists the packages that run code, or that it calls: a panic in one of them has its place in the code.
var engines = []string{"runtime.", "replay.", "orch.", "orchhost.", "asked.", "iter.", "testing."}

// place checks the place where a turn says that its code panicked, which must be a function of the code with its file and
// line; that of a Context used from another goroutine need not be known. It describes what is wrong with it.
func place(t *machine.TurnNote, delta []engine.Event) string {
	panicked := false
	for i := range delta {
		f, ok := delta[i].Data.(eventdata.OrchestrationFailed)
		if a := f.Details.Application; ok && a != nil && a.Kind == eventdata.AppPanicked {
			if strings.HasPrefix(a.Message, "orch: a Context was used from another goroutine") {
				return ""
			}
			panicked = true
		}
	}
	switch {
	case panicked:
	case t.PanickedAt != "":
		return fmt.Sprintf("says that its code panicked at %q: expected no place, since it did not", t.PanickedAt)
	default:
		return ""
	}
	if t.PanickedAt == "" {
		return "does not say where its code panicked: expected a function of the code, its file and its line"
	}
	function, rest, _ := strings.Cut(t.PanickedAt, " (")
	file, line, _ := strings.Cut(rest, ".go:")
	_, err := strconv.Atoi(strings.TrimSuffix(line, ")"))
	named := strings.Contains(function, ".") && !strings.HasSuffix(function, ".go") && file != "" && err == nil
	for _, own := range engines {
		named = named && !strings.HasPrefix(function, own)
	}
	if !named {
		return fmt.Sprintf("says that its code panicked at %q: expected a function of the code, its file and its line", t.PanickedAt)
	}
	return ""
}

// drops checks that a turn says of exactly the messages which leave no event that it drops them, and why. It describes
// what is wrong with that.
func drops(says []machine.DroppedMessage, want []turn.Drop) string {
	if slices.EqualFunc(says, want, func(a machine.DroppedMessage, b turn.Drop) bool { return a.Index == b.Message && a.Rule == b.Rule }) {
		return ""
	}
	return fmt.Sprintf("the turn says that it drops %+v: expected %+v", says, want)
}

// of returns the turn that an ack and its delivery describe.
func (k *turns) of(ack *engine.OrchestrationAck, item *engine.OrchestrationItem, build *engine.Build) *turn.Turn {
	t := &k.turn // filled in field by field, because assigning a whole Turn writes all of it twice
	t.Instance, t.Execution, t.Build, t.History, t.Batch = item.Instance, ack.ExecutionID, build.Version, item.History, item.Messages
	t.Parent, t.Status, t.Keys, t.Ack, t.Limits = item.Parent, item.CurrentStatus, item.KVSnapshot, *ack, build.Limits
	t.OwnChildIDs, t.Previous, t.Unclaimed = build.OwnChildIDs, nil, nil
	if ack.ExecutionID != item.ExecutionID { // a continue-as-new start in the batch begins the next execution
		t.History, t.Status = nil, ""
		if len(item.History) > 0 {
			t.Previous = &item.History[0]
		}
	}
	stamp := &build.Version
	if len(t.History) > 0 {
		stamp = nil
		if v, err := engine.ParseVersion(t.History[0].DuroxideVersion); err == nil {
			stamp = &v
		}
	}
	t.Semantics = semanticsOf(build, stamp)
	t.WaitGeneration, t.EventGeneration = generation(build, eventdata.KindExternalSubscribed2, stamp), generation(build, eventdata.KindExternalEvent2, stamp)
	return t
}

// semanticsOf returns the semantics for an execution whose first event has that stamp, or one that is no version
// (docs/contract/runtime.md#r15.2).
func semanticsOf(b *engine.Build, stamp *engine.Version) engine.Semantics {
	of := b.Semantics
	for _, c := range b.Changes {
		if stamp != nil && !whole(*stamp).LessThan(whole(c.Since)) {
			of = c.Semantics
		}
	}
	return of
}

func whole(v engine.Version) *semver.Version {
	return semver.New(uint64(v.Major), uint64(v.Minor), uint64(v.Patch), v.Pre, "")
}

// generation returns 2 if a build writes the kind second, and 1 if it writes its older form, into an execution that the
// version stamp began: that version must read what the build writes (S23).
func generation(b *engine.Build, second engine.EventKind, stamp *engine.Version) int {
	for i := range b.Introduced {
		if in := &b.Introduced[i]; in.Kind == second && (stamp == nil || stamp.Compare(in.Since) < 0) {
			return 1
		}
	}
	if !b.Emits.Has(second) {
		return 1
	}
	return 2
}
