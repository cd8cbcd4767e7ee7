package rig

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// World is a world that a test controls completely.
type World struct {
	ThePlan   plan.Plan
	RealStore *memprovider.Store
	Infos     []cluster.NodeInfo
	Now       int64
	ThePhase  cluster.Phase
	AllBuilds []*engine.Build
	Whys      []Reason
	Helps     []cluster.Help
	Steps     uint64 // the commands so far
}

// Reason is what an instance waits for.
type Reason struct {
	Instance string
	cluster.Explanation
}

func (w *World) Plan() *plan.Plan                         { return &w.ThePlan }
func (w *World) Store() memprovider.View                  { return w.RealStore.View() }
func (w *World) Nodes() []cluster.NodeInfo                { return w.Infos }
func (w *World) Node(number uint32) *cluster.NodeInfo     { return &w.Infos[number-1] }
func (w *World) NowMs() int64                             { return w.Now }
func (w *World) StartMs() int64                           { return StartMs }
func (w *World) Help() []cluster.Help                     { return w.Helps }
func (w *World) Foreign() bool                            { return false }
func (w *World) Counters(uint32) (cluster.Counters, bool) { return cluster.Counters{}, false }
func (w *World) Step() uint64                             { return w.Steps }
func (w *World) Phase() cluster.Phase                     { return w.ThePhase }
func (w *World) Builds() []*engine.Build                  { return w.AllBuilds }
func (*World) Kept() *any                                 { return nil }

// Why returns what a story has said last, nil if nothing.
func (w *World) Why(instance string) *cluster.Explanation {
	for i := len(w.Whys) - 1; i >= 0; i-- {
		if w.Whys[i].Instance == instance {
			return &w.Whys[i].Explanation
		}
	}
	return nil
}
