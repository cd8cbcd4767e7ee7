package safety

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/properties/internal/spec/turn"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/record"
)

// turnChecker judges what each node computes and commits against the specification of a turn. It takes the delivery as
// given, so it judges a damaged history or a forged message as the node saw it. Clients and probes are not judged, since
// they may ack whatever they like.
type turnChecker struct {
	check.Base
	own    bool              // whether durosim's own nodes are judged
	handed map[string]handed // keyed by lock token
	spec   turn.Checker
	turn   turn.Turn // the turn being judged; reused
}

// OwnTurns is wanted of runs in which the turns of durosim's own nodes are judged. No handler and no provider can be
// guilty of a wrong turn: it follows from what the node was handed, and from the calls of the code.
const OwnTurns = "own turns"

// breaks names the properties that the clauses of the specification belong to.
var breaks = [...]string{turn.Other: "S24", turn.Completions: "S13", turn.Queue: "S17", turn.Work: "S21", turn.Deeds: "S11"}

// handed is a delivery to a node, and what the node says about its turn.
type handed struct {
	item *engine.OrchestrationItem
	// turned reports whether a turn was computed. left lists what its code had not asked for by the time it ended, and
	// dropped what it dropped.
	turned  bool
	left    []uint64
	dropped []machine.DroppedMessage
}

func newTurnChecker(m *check.Run) check.Checker {
	return &turnChecker{Base: check.Base{Run: m}, own: m.Wants(OwnTurns), handed: map[string]handed{}}
}

func isReleased(b *engine.Build) bool {
	// On released nodes, S24 turn-allowed: not judged; of the specification of a turn, the clauses of S11, S13, S17 and S21 are.
	// Their metadata lack the parent's execution and event, which are durosim's extension of the contract, and a release
	// requests the cancellation of an activity whose completion came in the same batch, which durosim does not.
	return b.Release != ""
}

func (k *turnChecker) Ends() check.Ends {
	if !k.own && !slices.ContainsFunc(k.Run.World.Builds(), isReleased) {
		return check.Ends{}
	}
	return check.Ends{OK: check.SetOf(observe.CallFetchOrchestrationItem, observe.CallAbandonOrchestrationItem, observe.CallAckOrchestrationItem)}
}

func (k *turnChecker) Records() check.Set[record.Kind] {
	if !k.own {
		return 0
	}
	return check.SetOf(record.Note)
}

// Record judges how a turn treats its code at the time that the turn is computed.
func (k *turnChecker) Record(r *cluster.Record) {
	n := r.Note
	if n.Turn == nil || n.Turn.Ack == nil || n.Turn.Asked == nil || !k.own || !k.Run.Wants("S24") {
		return
	}
	caller := observe.Caller{Node: r.Node, Incarnation: r.Incarnation}
	h, inc := k.handed[n.Token], k.Run.Model.Incarnation(caller)
	if h.item == nil || inc == nil || inc.Build == nil {
		return
	}
	t := k.of((*engine.OrchestrationAck)(n.Turn.Ack), h.item, inc.Build)
	h.turned, h.left, h.dropped = true, nil, n.Dropped
	for _, wrong := range k.spec.CheckCode(t, n.Turn.Asked) {
		k.Run.Safety("S24", r.Node, k.Run.Model.Number(n.Instance), "a turn by %s of execution %d of %s, after %d events, for %d messages: %s",
			k.Run.Who(caller), n.ExecutionID, n.Instance, len(t.History), len(t.Batch), wrong.Text)
	}
	if wrong := place(n.Turn, t.Ack.HistoryDelta); wrong != "" {
		k.Run.Safety("S24", r.Node, k.Run.Model.Number(n.Instance), "a turn by %s of execution %d of %s %s", k.Run.Who(caller), n.ExecutionID, n.Instance, wrong)
	}
	if left := k.spec.Left(); len(left) > 0 {
		h.left = slices.Clone(left)
	}
	k.handed[n.Token] = h
}

// engines lists the packages that run code, or that it calls: a panic in one of them has its place in the code.
var engines = []string{"runtime.", "replay.", "orch.", "orchhost.", "asked.", "iter."}

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
			panicked = a.Message != "orchestration code called runtime.Goexit"
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

func (k *turnChecker) Ended(c *model.Call, o *observe.Observation) {
	if c.Caller.Node == 0 {
		return
	}
	switch c.Kind {
	case observe.CallFetchOrchestrationItem:
		if f := o.Fetched; f != nil {
			k.handed[f.LockToken] = handed{item: &f.Item}
		}
	case observe.CallAbandonOrchestrationItem:
		delete(k.handed, c.Request.Token)
	case observe.CallAckOrchestrationItem:
		if c.Request.Ack == nil {
			return
		}
		h := k.handed[c.Request.Ack.LockToken]
		if inc := k.Run.Model.Incarnation(c.Caller); h.item != nil && inc != nil && (k.own || isReleased(inc.Build)) {
			k.judge(c, o, &h, inc.Build)
		}
		delete(k.handed, c.Request.Ack.LockToken)
	}
}

func (k *turnChecker) judge(c *model.Call, o *observe.Observation, h *handed, build *engine.Build) {
	item, ack := h.item, c.Request.Ack
	if item.HistoryError != "" || len(item.Messages) == 0 {
		return // S18 judges history errors, and no provider delivers an empty batch
	}
	t := k.of(ack, item, build)
	t.Unclaimed = h.left
	t.ClausesOnly = isReleased(build)
	wrong := k.spec.CheckAck(t)
	if len(wrong) == 0 && h.turned {
		if text := drops(h.dropped, k.spec.Drops()); text != "" {
			wrong = []turn.Wrong{{Text: text}}
		}
	}
	for _, wrong := range wrong {
		delivery := ""
		if in := model.HeldBy(c); in != nil && wrong.Clause != turn.Other && in.BatchToken == ack.LockToken {
			delivery = "; the delivery was: " + k.Run.BatchText(in.Batch)
		}
		k.Run.Safety(breaks[wrong.Clause], o.Caller.Node, o.Instance, "an ack by %s with token %s of execution %d of %s, after %d events, for %d messages: %s%s",
			k.Run.Who(o.Caller), ack.LockToken, ack.ExecutionID, item.Instance, len(item.History), len(item.Messages), wrong.Text, delivery)
	}
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
func (k *turnChecker) of(ack *engine.OrchestrationAck, item *engine.OrchestrationItem, build *engine.Build) *turn.Turn {
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
	t.Semantics = build.SemanticsOf(stamp)
	t.WaitGeneration, t.EventGeneration = generation(build, eventdata.KindExternalSubscribed2, stamp), generation(build, eventdata.KindExternalEvent2, stamp)
	return t
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
