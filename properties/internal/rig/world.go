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
}

func (w *World) Plan() *plan.Plan                         { return &w.ThePlan }
func (w *World) Store() memprovider.View                  { return w.RealStore.View() }
func (w *World) Nodes() []cluster.NodeInfo                { return w.Infos }
func (w *World) Node(number uint32) *cluster.NodeInfo     { return &w.Infos[number-1] }
func (w *World) NowMs() int64                             { return w.Now }
func (w *World) StartMs() int64                           { return StartMs }
func (w *World) Why(string) *cluster.Explanation          { return nil }
func (w *World) Help() []cluster.Help                     { return nil }
func (w *World) Foreign() bool                            { return false }
func (w *World) Counters(uint32) (cluster.Counters, bool) { return cluster.Counters{}, false }
func (w *World) Step() uint64                             { return 0 }
func (w *World) Phase() cluster.Phase                     { return w.ThePhase }
func (w *World) Builds() []*engine.Build                  { return w.AllBuilds }
func (*World) Kept() *any                                 { return nil }
