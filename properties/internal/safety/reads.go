package safety

import (
	"slices"
	"strings"

	"github.com/durosim/durosim/internal/call"
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/internal/record"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/sim/cluster"
)

// readsChecker checks rule S26: reads through the management surface are true. Lists name the instances that exist, and
// totals count them. A history is complete or an error, since a history that omits a damaged event would look healthy.
// Statistics count every stored event and key or are an error. Keys all belong to the same instant. Descriptions and
// custom statuses are those of the rows (described.go). The checker judges the reads that probes make.
type readsChecker struct{ check.Base }

func newReadsChecker(m *check.Run) check.Checker { return &readsChecker{check.Base{Run: m}} }

func (*readsChecker) Records() check.Set[record.Kind] { return check.SetOf(record.Looked) }

func (k *readsChecker) Record(r *cluster.Record) {
	judge, instance := k.history, ""
	switch q := r.Request.(type) {
	case call.ListInstances:
		k.list(r, "the instances", func(*model.Instance) bool { return true })
		return
	case call.ListInstancesByStatus:
		k.list(r, "the instances with status "+string(q.Status), func(in *model.Instance) bool { return statusOf(in) == q.Status })
		return
	case call.ListChildren:
		k.list(r, "the children of "+q.Instance, func(in *model.Instance) bool { return in.Parent.Instance == q.Instance })
		return
	case call.GetSystemMetrics:
		k.totals(r)
		return
	case call.GetInstanceInfo:
		judge, instance = k.info, q.Instance
	case call.GetCustomStatus:
		judge, instance = k.status, q.Instance
	case call.ReadHistory:
		instance = q.Instance
	case call.GetInstanceStats:
		judge, instance = k.stats, q.Instance
	case call.GetKVAllValues:
		judge, instance = k.keys, q.Instance
	}
	if no := k.Run.Model.Number(instance); no != 0 { // the store has never told of others
		judge(r, no)
	}
}

// list judges a list of the instances that match.
func (k *readsChecker) list(r *cluster.Record, what string, match func(*model.Instance) bool) {
	var want []string
	for no := 1; no <= k.Run.Model.InstanceCount(); no++ {
		if in := k.Run.Model.Instance(observe.InstanceNo(no)); in.Created && match(in) {
			want = append(want, in.Name)
		}
	}
	got := slices.Sorted(slices.Values(r.Looked.IDs))
	if slices.Sort(want); r.Err != nil || !slices.Equal(got, want) {
		k.report(r, 0, "lists %s %s (error: %v): expected %s", what, namesText(got), r.Err, namesText(want))
	}
}

func (k *readsChecker) history(r *cluster.Record, no observe.InstanceNo) {
	ex := latest(k.Run.Model.Instance(no))
	if ex == nil || r.Err != nil && k.unreadable(r, ex) {
		return
	}
	if r.Err != nil || len(r.Looked.Events) != len(ex.Events) {
		k.report(r, no, "reads %d events of execution %d, whose history has %d (error: %v; damaged: %v): expected all of them, or an error if any is damaged",
			len(r.Looked.Events), ex.ID, len(ex.Events), r.Err, damagedIn(ex))
	}
}

func (k *readsChecker) stats(r *cluster.Record, no observe.InstanceNo) {
	in := k.Run.Model.Instance(no)
	i := slices.IndexFunc(in.Executions, func(ex *model.Execution) bool { return ex.ID == in.CurrentID })
	if i < 0 || r.Looked.Stats == nil && r.Err == nil || r.Err != nil && k.unreadable(r, in.Executions[i]) {
		return
	}
	ex, counted := in.Executions[i], uint64(0)
	if r.Looked.Stats != nil {
		counted = r.Looked.Stats.HistoryEventCount
	}
	if counted != uint64(len(ex.Events)) {
		k.report(r, no, "counts %d events of execution %d, whose history has %d (error: %v; damaged: %v): expected it to count all of them, or an error if any is damaged",
			counted, ex.ID, len(ex.Events), r.Err, damagedIn(ex))
	}
	if s := r.Looked.Stats; s != nil {
		keys, bytes := 0, 0
		for _, row := range stored(&in.Values) {
			keys, bytes = keys+1, bytes+len(*row.Value)
		}
		if s.KVUserKeyCount != uint64(keys) || s.KVTotalValueBytes != uint64(bytes) {
			k.report(r, no, "counts %d keys with values of %d bytes: expected %d keys and %d bytes", s.KVUserKeyCount, s.KVTotalValueBytes, keys, bytes)
		}
	}
}

// keys compares a read with the stored keys, overlaid with the delta.
func (k *readsChecker) keys(r *cluster.Record, no observe.InstanceNo) {
	var want, got []string
	for _, row := range stored(&k.Run.Model.Instance(no).Values) {
		want = append(want, row.Key+"="+*row.Value)
	}
	for _, pair := range r.Looked.Pairs {
		got = append(got, pair.Key+"="+pair.Value)
	}
	slices.Sort(want)
	if slices.Sort(got); r.Err != nil || !slices.Equal(got, want) {
		k.report(r, no, "reads %s (error: %v): expected %s, which are stored all the time", keysText(got), r.Err, keysText(want))
	}
}

// stored returns the keys that a client sees: those in the store, overlaid with the delta.
func stored(v *model.Values) (rows []model.KeyValue) {
	for _, row := range v.Store {
		if !slices.ContainsFunc(v.Delta, func(d model.KeyValue) bool { return d.Key == row.Key }) {
			rows = append(rows, row)
		}
	}
	for _, row := range v.Delta {
		if row.Value != nil {
			rows = append(rows, row)
		}
	}
	return rows
}

func keysText(pairs []string) string {
	if len(pairs) == 0 {
		return "no keys"
	}
	return "the keys " + strings.Join(pairs, ", ")
}

func (k *readsChecker) report(r *cluster.Record, no observe.InstanceNo, format string, args ...any) {
	who := k.Run.Who(observe.Caller{Node: r.Node, Incarnation: r.Incarnation})
	k.Run.Safety("S26", r.Node, no, who+" "+format, args...)
}

// latest returns the execution with the largest id that has a row, or nil if there is none.
func latest(in *model.Instance) *model.Execution {
	for i := len(in.Executions) - 1; i >= 0; i-- {
		if in.Executions[i].Created {
			return in.Executions[i]
		}
	}
	return nil
}

// unreadable reports whether the reader cannot decode the execution, because an event is damaged or because the probe's
// build does not read the event's kind.
func (k *readsChecker) unreadable(r *cluster.Record, ex *model.Execution) bool {
	if damagedIn(ex) {
		return true
	}
	probes := k.Run.World.Plan().Probes
	if r.Incarnation == 0 || int(r.Incarnation) > len(probes) {
		return false
	}
	for _, b := range k.Run.World.Builds() {
		if b.Name() == probes[r.Incarnation-1].Build {
			return ex.Kinds&^k.Run.Model.Kinds.ReadBy(b) != 0
		}
	}
	return false
}

// damagedIn reports whether a fault has damaged any of the execution's events.
func damagedIn(ex *model.Execution) bool {
	return slices.ContainsFunc(ex.Events, func(e model.Event) bool { return e.Damaged })
}
