package sqlite

import (
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/sim/cluster"
)

// anyBuild stores what nodes write, byte for byte, no matter which build they run.
var anyBuild = engine.Opaque(engine.NewJSONCodec("any", engine.Kinds2x().With(eventdata.KindLegacyNote), engine.WorkItemKinds2x()))

// TestCluster upgrades a cluster whose nodes share a store of this provider, with crashes and lost answers.
func TestCluster(t *testing.T) {
	durosim.Test(t, durosim.Config{Seeds: 3, Store: func(startMs int64) (*cluster.ForeignStore, error) {
		var clock atomic.Int64
		clock.Store(startMs)
		p := open(t, filepath.Join(t.TempDir(), "store.db"), clock.Load)
		p.codec = anyBuild
		return &cluster.ForeignStore{
			Provider:       p,
			SetNow:         func(ms int64) error { clock.Store(ms); return nil },
			CorruptEvent:   p.corruptHistory,
			CorruptMessage: p.corruptMessage,
			FailAckStep:    func(step int) { p.failing = step },
			Close:          func() { shut(t, p) },
		}, nil
	}})
}
