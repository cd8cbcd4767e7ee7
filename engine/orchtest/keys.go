package orchtest

import (
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/orchhost"
)

// keyReads is a replay.Watcher that notes whether the code reads keys.
type keyReads struct {
	orchhost.Host
	any bool
}

func (k *keyReads) Watch(h orchhost.Host) orchhost.Host {
	k.Host = h
	return k
}

func (k *keyReads) Over() {}

func (k *keyReads) KV() []engine.KVEntry {
	k.any = true
	return k.Host.KV()
}

func (k *keyReads) PruneKV(beforeMs uint64) int {
	k.any = true
	return k.Host.PruneKV(beforeMs)
}

// keysAfter returns the keys that an instance with the keys before has after an execution, sorted, as a provider stores
// them.
func keysAfter(before []engine.KVEntry, history []engine.Event) []engine.KVEntry {
	after := slices.Clone(before)
	remove := func(key string) {
		after = slices.DeleteFunc(after, func(e engine.KVEntry) bool { return e.Key == key })
	}
	for i := range history {
		switch d := history[i].Data.(type) {
		case eventdata.KeyValueSet:
			remove(d.Key)
			after = append(after, engine.KVEntry(d))
		case eventdata.KeyValueCleared:
			remove(d.Key)
		case eventdata.KeyValuesCleared:
			after = nil
		}
	}
	slices.SortFunc(after, func(a, b engine.KVEntry) int { return strings.Compare(a.Key, b.Key) })
	return after
}
