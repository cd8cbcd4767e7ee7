package plan

import (
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/memprovider"
)

// Contents is what a store contains when a run begins: instances started by another cluster, with their queues. simrun
// reads one from an export. A run does not modify it, so many plans may share it.
type Contents struct {
	// Instances is sorted by name. An instance that is to continue must also be one of the plan's instances, with
	// Existing set.
	Instances []memprovider.PreloadedInstance
	// Messages are enqueued at the start of the run, in this order.
	Messages []Message
	// Incomplete lists the instances whose histories wait for what no message brings, so that they may never end.
	Incomplete []string
}

// Message is a row in a queue: the worker queue if it is an activity, otherwise the orchestrator queue.
type Message struct {
	Item engine.WorkItem
	// Delay is how long after the start of the run the message stays invisible.
	Delay time.Duration
}

// Instance returns the stored instance with the given name, or nil.
func (s *Contents) Instance(id string) *memprovider.PreloadedInstance {
	if s == nil {
		return nil
	}
	for i := range s.Instances {
		if s.Instances[i].Instance == id {
			return &s.Instances[i]
		}
	}
	return nil
}

func (v *validation) store() {
	held := map[string]bool{}
	if s := v.plan.Contents; s != nil {
		for i := range s.Instances {
			if id := s.Instances[i].Instance; held[id] {
				v.fail("the store holds instance %s twice", id)
			} else {
				held[id] = true
			}
		}
		for i, m := range s.Messages {
			if m.Item == nil || m.Delay < 0 {
				v.fail("message %d of the store: want an item and a delay that is not negative", i+1)
				continue
			}
			held[m.Item.Target()] = true
		}
	}
	for i := range v.plan.Instances {
		switch in := &v.plan.Instances[i]; {
		case in.Existing && !held[in.ID]:
			v.fail("instance %s: the plan says that it exists, but the store does not hold it", in.ID)
		case in.Existing && in.StartAt != 0:
			v.fail("instance %s: it already exists, but the plan starts it at %v", in.ID, in.StartAt)
		case !in.Existing && held[in.ID]:
			v.fail("instance %s: the store already holds an instance with that name", in.ID)
		}
	}
	for i := range v.plan.Histories {
		if held[v.plan.Histories[i].Instance] {
			v.fail("history %s: the store already holds an instance with that name", v.plan.Histories[i].Instance)
		}
	}
}
