package durosim_test

import (
	"fmt"
	"testing"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/record"
)

// afterCrash is a monitor of one's own: it wants a node that has crashed to be up again, before the run ends.
type afterCrash struct {
	down  map[uint32]bool // lookups only, so map order does not matter
	locks int
	found []cluster.Violation
}

func (m *afterCrash) Observe(o *observe.Observation) {
	if o.Kind == observe.LockTaken && !o.Undo {
		m.locks++
	}
}

func (m *afterCrash) Record(r *cluster.Record) {
	switch r.Kind {
	case record.NodeCrashed:
		m.down[r.Node] = true
	case record.NodeStarted:
		delete(m.down, r.Node)
	}
}

func (m *afterCrash) AfterStep()               {}
func (m *afterCrash) Open(int64) (bool, int64) { return false, 0 }

func (m *afterCrash) Finish() {
	if len(m.down) > 0 {
		m.found = append(m.found, cluster.Violation{
			Property: "nodes-return", Class: cluster.ClassPlan, Message: fmt.Sprintf("%d nodes have crashed and are down", len(m.down)),
		})
	}
}

func (m *afterCrash) Violations() []cluster.Violation { return m.found }
func (m *afterCrash) Coverage() []cluster.Point       { return nil }

// A monitor of one's own receives what durosim's monitors receive: each observation of the store (package
// engine/observe) and each record of the world (package sim/record has their kinds).
func ExampleRun_monitor() {
	_ = func(t *testing.T) {
		durosim.Test(t, durosim.Config{EachRun: func() durosim.Run {
			return durosim.Run{Monitor: func(*cluster.World) cluster.Monitor { return &afterCrash{down: map[uint32]bool{}} }}
		}})
	}
}

func TestNodesReturn(t *testing.T) {
	durosim.Test(t, durosim.Config{Seeds: 3, EachRun: func() durosim.Run {
		return durosim.Run{Monitor: func(*cluster.World) cluster.Monitor { return &afterCrash{down: map[uint32]bool{}} }}
	}})
}
