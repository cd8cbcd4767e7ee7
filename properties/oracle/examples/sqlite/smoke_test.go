package sqlite_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/properties/oracle/examples/sqlite"
)

func TestSmoke(t *testing.T) {
	p, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "db"), engine.NewJSONCodec("x", engine.Kinds2x(), engine.WorkItemKinds2x()), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(p.EnqueueForOrchestrator(t.Context(), engine.StartItem{Instance: "a", Orchestration: "O", ExecutionID: 1}, 0))
	f, err := p.FetchOrchestrationItem(t.Context(), time.Second, 0, engine.FilterFor(engine.VersionRange{Min: engine.V(1, 0, 0), Max: engine.V(2, 0, 0)}))
	t.Log(f, err)
	t.Log(p.GetSystemMetrics(t.Context()))
	t.Log(p.GetQueueDepths(t.Context()))
	p.Close()
}
