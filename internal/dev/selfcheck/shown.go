package selfcheck

import (
	"reflect"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/memprovider"
)

// shown checks that a store shows the same in each of the ways in which it is read beside its calls: by its snapshot, and by
// instance.
func (k *account) shown() {
	store := k.run.world.Store()
	if store == nil { // in a test's story
		return
	}
	builds := engine.ShippedBuilds()
	codec := builds[len(builds)-1].Codec
	shot := store.Snapshot()
	there := map[string]bool{} // lookups only
	for i := range shot.Instances {
		in := &shot.Instances[i]
		there[in.Name] = true
		if name := store.InstanceName(in.Number); name != in.Name || i > 0 && in.Number <= shot.Instances[i-1].Number {
			k.wrong(0, "shows instance %d, %q, as %q", in.Number, name, in.Name)
		}
		k.same(in, "history", historiesAgree(store, in, codec), true)
		rows, state := rowsOf(shot, in, codec)
		peeked := store.PeekRows(in.Name)
		for n := range min(len(peeked), len(rows)) {
			if peeked[n].LockedUntilMs == 0 { // it may have expired
				rows[n].LockedUntilMs = 0
			}
			if rows[n].Queue == observe.QueueOrchestrator { // the snapshot has only text
				rows[n].Kind = peeked[n].Kind
			}
			state.Starts = state.Starts || rows[n].Kind == engine.ItemStartOrchestration || rows[n].Kind == engine.ItemContinueAsNew
		}
		k.same(in, "rows", peeked, rows)
		k.same(in, "keys", store.PeekKeys(in.Name), keysOf(in))
		was, _ := store.Peek(in.Name)
		if was.LockedUntilMs == 0 {
			state.LockedUntilMs = 0
		}
		if was.Output == nil {
			was.Output = new(string)
		}
		if state.Output == nil {
			state.Output = new(string)
		}
		k.same(in, "state", was, state)
	}
	for _, in := range k.run.world.Plan().Instances {
		if _, ok := store.Peek(in.ID); ok != there[in.ID] {
			k.wrong(0, "shows %s by name: %t, in its snapshot: %t", in.ID, ok, there[in.ID])
		}
	}
}

func (k *account) same(in *memprovider.SnapshotInstance, what string, peeked, shot any) {
	if !reflect.DeepEqual(peeked, shot) {
		k.wrong(0, "shows the %s of %s as %v by name, and as %v in its snapshot", what, in.Name, peeked, shot)
	}
}

// rowsOf returns an instance's rows and its state as the snapshot has them.
func rowsOf(shot *memprovider.Snapshot, in *memprovider.SnapshotInstance, codec engine.Codec) (rows []memprovider.RowState, state memprovider.InstanceState) {
	state = memprovider.InstanceState{Created: in.Created, Execution: engine.InitialExecutionID, Parent: in.Parent.Instance, VisibleMs: memprovider.Never, LockedUntilMs: in.LockUntilMs}
	for _, x := range in.Executions {
		if x.Created && !in.Created {
			state.Execution = x.ID
		}
	}
	if in.Created {
		state.Execution = in.Current
	}
	if i := slices.IndexFunc(in.Executions, func(x memprovider.SnapshotExecution) bool { return x.ID == state.Execution }); i >= 0 {
		state.Status, state.Output, state.Pin = in.Executions[i].Status, &in.Executions[i].Output, in.Executions[i].Pin
	}
	for _, m := range shot.Messages {
		if m.Instance == in.Number {
			state.Messages, state.VisibleMs = state.Messages+1, min(state.VisibleMs, m.VisibleMs)
			rows = append(rows, memprovider.RowState{Number: m.Number, Queue: observe.QueueOrchestrator, VisibleMs: m.VisibleMs, Count: m.Count})
		}
	}
	for _, w := range shot.Work {
		if w.Instance == in.Number {
			state.Activities++
			row := memprovider.RowState{Number: w.Number, Queue: observe.QueueWorker, Kind: engine.ItemActivityExecute, Activity: w.Activity, VisibleMs: w.VisibleMs, Count: w.Count, LockedUntilMs: w.LockUntilMs}
			if item, err := codec.DecodeWorkItem(w.Data); err == nil {
				a, _ := item.(engine.ActivityExecuteItem)
				row.Session, row.Tag = a.SessionID, a.Tag
			}
			rows = append(rows, row)
		}
	}
	return rows, state
}

// historiesAgree reports whether each history is what its events in the snapshot say, as far as the codec reads them.
func historiesAgree(store memprovider.View, in *memprovider.SnapshotInstance, codec engine.Codec) bool {
	for _, x := range in.Executions {
		history, err := store.PeekHistory(in.Name, x.ID, codec)
		if err != nil {
			continue
		}
		if len(history) != len(x.Events) {
			return false
		}
		for i := range history {
			if e, err := codec.DecodeEvent(x.Events[i].Data); err == nil && (e.EventID != x.Events[i].ID || !reflect.DeepEqual(e, history[i])) {
				return false
			}
		}
	}
	return true
}

// keysOf returns an instance's keys and values: what its delta table has, and of its store table what the delta lacks.
func keysOf(in *memprovider.SnapshotInstance) (pairs []engine.KVPair) {
	rows := slices.Clone(in.KVDelta)
	for _, r := range in.KVStore {
		if !slices.ContainsFunc(in.KVDelta, func(d memprovider.SnapshotKV) bool { return d.Key == r.Key }) {
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, func(a, b memprovider.SnapshotKV) int { return strings.Compare(a.Key, b.Key) })
	for _, r := range rows {
		if r.Value != nil {
			pairs = append(pairs, engine.KVPair{Key: r.Key, Value: *r.Value})
		}
	}
	return pairs
}
