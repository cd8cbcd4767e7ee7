package selfcheck

import (
	"reflect"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/memprovider"
)

// shown checks that a store shows what its observations say, and the same in each of the ways in which it is read beside
// its calls: by its snapshot, and by instance. What has expired at the store's time has no lock. A story in a test has no
// store.
func (k *account) shown(nowMs int64) {
	store := k.run.world.Store()
	if store == nil {
		return
	}
	shot, there := store.Snapshot(), map[string]bool{} // lookups only
	if told := k.shadow.Snapshot(); !reflect.DeepEqual(told, shot) {
		k.wrong(0, "is not what its observations say: -observed +stored\n%s", cmp.Diff(told, shot))
	}
	lock := func(untilMs int64) int64 {
		if untilMs > nowMs {
			return untilMs
		}
		return 0
	}
	same := slices.IsSortedFunc(shot.Sessions, func(a, b memprovider.SnapshotSession) int { return strings.Compare(a.ID, b.ID) })
	for i := range shot.Instances {
		in := &shot.Instances[i]
		there[in.Name] = true
		peeked, ok := store.Peek(in.Name)
		state := peeked
		state.Created, state.Parent, state.VisibleMs, state.LockedUntilMs = in.Created, in.Parent.Instance, memprovider.Never, lock(in.LockUntilMs)
		if in.Created {
			state.Execution = in.Current
		}
		for _, x := range in.Executions {
			if x.ID == peeked.Execution {
				state.Status, state.Pin = x.Status, x.Pin
				same = same && x.Created && (peeked.Output == nil && x.Output == "" || peeked.Output != nil && *peeked.Output == x.Output)
			}
		}
		var rows []memprovider.RowState
		for _, m := range shot.Messages {
			if m.Instance == in.Number {
				rows = append(rows, memprovider.RowState{Number: m.Number, Queue: observe.QueueOrchestrator, VisibleMs: m.VisibleMs, Count: m.Count})
				state.VisibleMs = min(state.VisibleMs, m.VisibleMs)
			}
		}
		state.Messages = len(rows)
		for _, w := range shot.Work {
			if w.Instance == in.Number {
				rows = append(rows, memprovider.RowState{Number: w.Number, Queue: observe.QueueWorker, Activity: w.Activity, VisibleMs: w.VisibleMs, Count: w.Count, LockedUntilMs: lock(w.LockUntilMs)})
			}
		}
		state.Activities = len(rows) - state.Messages
		same = same && slices.EqualFunc(store.PeekRows(in.Name), rows, func(a, b memprovider.RowState) bool {
			b.Kind, b.Session, b.Tag = a.Kind, a.Session, a.Tag
			for _, x := range shot.Sessions {
				if x.ID == a.Session && a.Session != "" && x.UntilMs > nowMs {
					b.SessionOwner, b.SessionUntilMs = x.Owner, x.UntilMs
				}
			}
			item, _ := engine.Known(k.shadow.Item(b.Number)).(engine.ActivityExecuteItem)
			return a == b && (b.Queue == observe.QueueOrchestrator || a.Session == item.SessionID && a.Tag == item.Tag)
		})
		keys := map[string]string{} // lookups only
		for _, r := range slices.Concat(in.KVStore, in.KVDelta) {
			if delete(keys, r.Key); r.Value != nil {
				keys[r.Key] = *r.Value
			}
		}
		pairs := store.PeekKeys(in.Name)
		same = same && len(pairs) == len(keys) && !slices.ContainsFunc(pairs, func(p engine.KVPair) bool { return keys[p.Key] != p.Value })
		if !ok || !same || peeked != state || store.InstanceName(in.Number) != in.Name {
			k.wrong(0, "shows %s as %v, with %v and the keys %v, by name, and as %v, with %v and %v, in its snapshot", in.Name, peeked, store.PeekRows(in.Name), pairs, state, rows, keys)
		}
	}
	for _, in := range k.run.world.Plan().Instances {
		if _, ok := store.Peek(in.ID); ok != there[in.ID] {
			k.wrong(0, "shows %s by name: %t, in its snapshot: %t", in.ID, ok, there[in.ID])
		}
	}
}
