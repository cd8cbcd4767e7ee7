package cluster

import (
	"fmt"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/eventdata"
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/internal/planterm"
	"github.com/durosim/durosim/memprovider"
)

// raiseAgainMs is the time after which a client raises an event again. raiseMost bounds the events that it raises for
// one instance, so that it does not keep a hopeless instance busy.
const (
	raiseAgainMs = 5000
	raiseMost    = 12
)

// raiseWhatWaits sends each instance that can make no other progress the event that it waits for, and repeats it after
// raiseAgainMs at the earliest. If a timer, an activity or a child of the instance may still end, calm sends nothing,
// so that it decides no race. raiseWhatWaits returns the store time until which it will send nothing more unless
// something happens; if the store has work that can be done, that is now.
func (c *clients) raiseWhatWaits() int64 {
	quiet := int64(never)
	for _, no := range c.unfinished() { // the messages sent below go to instances in this list
		id := c.store.InstanceName(no)
		p, ok := c.store.Peek(id)
		if finished(p, ok) {
			c.open.Aside(no)
			continue
		}
		if p.VisibleMs <= c.nowMs() || p.LockedUntilMs > 0 || p.Activities > 0 {
			quiet = c.nowMs()
		}
		if ended(p.Status) || p.Messages > 0 || p.Activities > 0 {
			continue
		}
		r := c.raisedFor(no)
		if r.times == raiseMost {
			continue
		}
		if r.atMs != 0 && c.nowMs() < r.atMs+raiseAgainMs {
			quiet = min(quiet, r.atMs+raiseAgainMs)
			continue
		}
		open := c.openWaits(id)
		if len(open) == 0 || c.hasChild(id) || c.unaided(id) {
			continue
		}
		r.atMs = c.nowMs()
		r.times++
		quiet = c.nowMs()
		item := c.itemFor(id, &open[0])
		c.phases.helpedBy(item)
		c.send(item, c.instanceKey(id).At(labelPhase))
	}
	return quiet
}

// unfinished returns all instances that may still make progress on their own, and possibly others.
func (c *clients) unfinished() []observe.InstanceNo {
	for c.store.InstanceName(c.known+1) != "" {
		c.known++
	}
	return c.open.Upto(c.known)
}

// finished reports whether an instance makes no more progress unless it is sent a message: it does not exist, or it has
// ended and has nothing queued or locked.
func finished(p memprovider.InstanceState, ok bool) bool {
	return !ok || ended(p.Status) && p.Messages == 0 && p.Activities == 0 && p.LockedUntilMs == 0
}

// hasChild reports whether a child of the instance's current execution has not reported its end.
func (c *clients) hasChild(id string) bool {
	history, _ := c.history(id) // it can be decoded: its waits have been read from it
	open := 0
	for i := range history {
		switch history[i].Data.(type) {
		case eventdata.SubOrchestrationScheduled:
			open++
		case eventdata.SubOrchestrationCompleted, eventdata.SubOrchestrationFailed:
			open--
		}
	}
	return open > 0
}

// unaided reports whether the plan marks an instance, or the root that it descends from, as unaided: only the plan
// sends it messages.
func (c *clients) unaided(id string) bool {
	for depth := 0; id != "" && depth <= maxDepth; depth++ {
		if i, ok := c.planned[id]; ok {
			return c.plan.Instances[i].Unaided
		}
		history, err := c.history(id)
		if err != nil || len(history) == 0 {
			return false
		}
		started, _ := history[0].Data.(eventdata.OrchestrationStarted)
		id = started.ParentInstance
	}
	return false
}

// maxDepth bounds how far up unaided looks for the plan's instance.
const maxDepth = 64

func (c *clients) raisedFor(no observe.InstanceNo) *calmRaises {
	for len(c.raised) <= int(no) {
		c.raised = append(c.raised, calmRaises{})
	}
	return &c.raised[no]
}

// itemFor returns the message that satisfies an open wait.
func (c *clients) itemFor(id string, wait *engine.Event) engine.WorkItem {
	switch d := wait.Data.(type) {
	case eventdata.ExternalSubscribed:
		return c.raiseItem(id, d.Name, planterm.CalmData)
	case eventdata.ExternalSubscribed2:
		return c.raiseItem(id, d.Name, planterm.CalmData)
	case eventdata.QueueSubscribed:
		return engine.QueueMessageItem{Instance: id, Name: d.Name, Data: planterm.CalmData}
	}
	panic(fmt.Sprintf("cluster: %s is not a wait", wait.Kind()))
}
