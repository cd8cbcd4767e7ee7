package plan

import (
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/memprovider"
)

// Contents is the content of a store when a run begins: instances that another cluster has started, with their queues.
// simrun reads one from an export. A run does not change it, so many plans may share one.
type Contents struct {
	// Instances are in order of name. An instance that is to continue is also an instance of the plan, with Existing
	// set.
	Instances []memprovider.PreloadedInstance
	// Messages are enqueued at the start of the run, in this order.
	Messages []Message
}

// Message is a row of a queue. It goes into the worker queue if it is an activity.
type Message struct {
	Item engine.WorkItem
	// Delay is how long the message stays invisible, from the start of the run.
	Delay time.Duration
}

// Instance returns the stored instance of that name, or nil.
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

// store validates the plan's Contents.
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
