package safety

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/eventdata"
	"github.com/durosim/durosim/internal/machine"
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/internal/record"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/coded"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/properties/oracle/turn"
	"github.com/durosim/durosim/sim/cluster"
)

// turnChecker checks rule S24: it judges what each node computes and commits against the specification of a turn. It
// takes the delivery as given, so it judges a damaged history or a forged message as the node saw it. Clients and
// probes are not judged, since they may ack whatever they like.
type turnChecker struct {
	check.Base
	handed map[string]*engine.FetchedOrchestration // keyed by lock token
	left   map[string][]uint64                     // keyed by lock token: what a turn's code had not asked for by the time it ended
	spec   turn.Checker
	code   coded.Checker
	turn   turn.Turn // the turn being judged; reused
}

func newTurnChecker(m *check.Run) check.Checker {
	return &turnChecker{Base: check.Base{Run: m}, handed: map[string]*engine.FetchedOrchestration{}, left: map[string][]uint64{}}
}

func (*turnChecker) Ends() check.Ends {
	return check.Ends{OK: check.SetOf(observe.CallFetchOrchestrationItem, observe.CallAbandonOrchestrationItem, observe.CallAckOrchestrationItem)}
}

func (*turnChecker) Records() check.Set[record.Kind] { return check.SetOf(record.Note) }

// Record judges how a turn treats its code at the time that the turn is computed.
func (k *turnChecker) Record(r *cluster.Record) {
	n := r.Note
	if n.Turn == nil || n.Turn.Ack == nil || n.Turn.Asked == nil {
		return
	}
	caller := observe.Caller{Node: r.Node, Incarnation: r.Incarnation}
	f, inc := k.handed[n.Token], k.Run.Model.Incarnation(caller)
	if f == nil || inc == nil || inc.Build == nil {
		return
	}
	t := k.of((*engine.OrchestrationAck)(n.Turn.Ack), &f.Item, inc.Build)
	delete(k.left, n.Token)
	for _, wrong := range k.code.Check(t, n.Turn.Asked) {
		k.Run.Safety("S24", r.Node, k.Run.Model.Number(n.Instance), "a turn by %s of execution %d of %s, after %d events, for %d messages: %s",
			k.Run.Who(caller), n.ExecutionID, n.Instance, len(t.History), len(t.Batch), wrong)
	}
	if wrong := place(n.Turn, t.Ack.HistoryDelta); wrong != "" {
		k.Run.Safety("S24", r.Node, k.Run.Model.Number(n.Instance), "a turn by %s of execution %d of %s %s", k.Run.Who(caller), n.ExecutionID, n.Instance, wrong)
	}
	if left := k.code.Left(); len(left) > 0 {
		k.left[n.Token] = slices.Clone(left)
	}
}

// place checks the place where a turn says that its code panicked, which must be a function with its file and line. It
// describes what is wrong with it.
func place(t *machine.TurnNote, delta []engine.Event) string {
	panicked := false
	for i := range delta {
		f, ok := delta[i].Data.(eventdata.OrchestrationFailed)
		if a := f.Details.Application; ok && a != nil && a.Kind == eventdata.AppPanicked {
			panicked = a.Message != "orchestration code called runtime.Goexit" && !strings.HasPrefix(a.Message, "orch: a Context was used from another goroutine")
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
		return "does not say where its code panicked: expected a function, its file and its line"
	}
	function, rest, _ := strings.Cut(t.PanickedAt, " (")
	file, line, _ := strings.Cut(rest, ".go:")
	_, err := strconv.Atoi(strings.TrimSuffix(line, ")"))
	named := strings.Contains(function, ".") && !strings.HasSuffix(function, ".go") && file != "" && err == nil
	if !named {
		return fmt.Sprintf("says that its code panicked at %q: expected a function, its file and its line", t.PanickedAt)
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
			k.handed[f.LockToken] = f
		}
	case observe.CallAbandonOrchestrationItem:
		delete(k.handed, c.Request.Token)
	case observe.CallAckOrchestrationItem:
		if c.Request.Ack == nil {
			return
		}
		f := k.handed[c.Request.Ack.LockToken]
		// On released nodes, S24 turn-allowed: not judged. Their metadata lack the parent's execution and event, which are
		// durosim's extension of the contract, and a release requests the cancellation of an activity whose completion came
		// in the same batch, which durosim does not.
		if inc := k.Run.Model.Incarnation(c.Caller); f != nil && inc != nil && inc.Build.Release == "" {
			k.judge(o, c.Request.Ack, &f.Item, inc.Build)
		}
		delete(k.handed, c.Request.Ack.LockToken)
	}
}

func (k *turnChecker) judge(o *observe.Observation, ack *engine.OrchestrationAck, item *engine.OrchestrationItem, build *engine.Build) {
	if item.HistoryError != "" || len(item.Messages) == 0 {
		return // S18 judges history errors, and no provider delivers an empty batch
	}
	t := k.of(ack, item, build)
	t.Unclaimed = k.left[ack.LockToken]
	for _, wrong := range k.spec.Check(t) {
		k.Run.Safety("S24", o.Caller.Node, o.Instance, "an ack by %s with token %s of execution %d of %s, after %d events, for %d messages: %s",
			k.Run.Who(o.Caller), ack.LockToken, ack.ExecutionID, item.Instance, len(item.History), len(item.Messages), wrong)
	}
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
	if t.Semantics = build.Semantics; len(build.Changes) == 0 {
		return t // all executions have the same semantics
	}
	stamp := &build.Version
	if len(t.History) > 0 {
		stamp = nil
		if v, err := engine.ParseVersion(t.History[0].DuroxideVersion); err == nil {
			stamp = &v
		}
	}
	t.Semantics = build.SemanticsOf(stamp)
	return t
}
