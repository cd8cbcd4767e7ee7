package rig

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/watchdog"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// StartMs is the store time at which stories begin. As in real runs, it is not zero.
const StartMs = 1_000_000

// FakeWorld is a cluster world that a test controls completely.
type FakeWorld struct {
	ThePlan   plan.Plan
	RealStore *memprovider.Store
	Infos     []cluster.NodeInfo
	Now       int64
	ThePhase  cluster.Phase
	AllBuilds []*engine.Build
	Whys      []Reason
	Helps     []cluster.Help
	Steps     uint64 // the commands executed so far
}

// Reason says what an instance is waiting for.
type Reason struct {
	Instance string
	cluster.Explanation
}

func (w *FakeWorld) Plan() *plan.Plan                     { return &w.ThePlan }
func (w *FakeWorld) Store() memprovider.View              { return w.RealStore.View() }
func (w *FakeWorld) Nodes() []cluster.NodeInfo            { return w.Infos }
func (w *FakeWorld) Node(number uint32) *cluster.NodeInfo { return &w.Infos[number-1] }
func (w *FakeWorld) NowMs() int64                         { return w.Now }
func (w *FakeWorld) StartMs() int64                       { return StartMs }
func (w *FakeWorld) Help() []cluster.Help                 { return w.Helps }
func (w *FakeWorld) TooLong() bool                        { return false }
func (w *FakeWorld) Foreign() bool                        { return false }
func (w *FakeWorld) Preloaded() []memprovider.PreloadedInstance {
	if w.ThePlan.Contents == nil {
		return nil
	}
	return w.ThePlan.Contents.Instances
}
func (w *FakeWorld) Counters(uint32) (cluster.Counters, bool) { return cluster.Counters{}, false }
func (w *FakeWorld) Seed() uint64                             { return 0 }
func (w *FakeWorld) Step() uint64                             { return w.Steps }
func (w *FakeWorld) Phase() cluster.Phase                     { return w.ThePhase }
func (w *FakeWorld) Builds() []*engine.Build                  { return w.AllBuilds }
func (*FakeWorld) MonitorArena() *any                         { return nil }
func (*FakeWorld) Watch() *watchdog.Watch                     { return nil }

// Why returns the story's latest explanation for the instance, or nil if there is none.
func (w *FakeWorld) Why(instance string) *cluster.Explanation {
	for i := len(w.Whys) - 1; i >= 0; i-- {
		if w.Whys[i].Instance == instance {
			return &w.Whys[i].Explanation
		}
	}
	return nil
}
