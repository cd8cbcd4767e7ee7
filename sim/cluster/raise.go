package cluster

import (
	"iter"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/sim/plan"
)

// raiseAgainMs is the minimum interval between two events that a client raises for the same instance.
const raiseAgainMs = 5000

// MaxRaises is how many events clients raise for an instance that waits in recovery, so that they do not keep a hopeless
// one busy.
const MaxRaises = 12

// raiseWhatWaits sends each instance that cannot otherwise make progress the event it is waiting for, at intervals of
// at least raiseAgainMs. It sends nothing to an instance while one of its timers, activities or children may still
// finish, because recovery must not decide a race. raiseWhatWaits returns the store time before which it will send
// nothing more unless something else happens. If the store has work that can be done, it returns the current time.
func (c *clients) raiseWhatWaits() int64 {
	quiet := int64(never)
	c.learn()
	for no := range c.idle.Upto(c.known) { // every message sent below goes to an instance in this list
		id := c.store.InstanceName(no)
		p, ok := c.store.Peek(id)
		r := c.raisedFor(no)
		if r.busy {
			r.busy = false
			c.busy--
		}
		if finished(p, ok) {
			c.idle.SetAside(no)
			continue
		}
		if p.VisibleMs <= c.nowMs() || p.LockedUntilMs > 0 || p.Activities > 0 {
			quiet = c.nowMs()
			if p.VisibleMs <= c.nowMs() && p.Messages > 0 || p.Activities > 0 { // something has to consume that first, and puts it back on the list
				r.busy = true
				c.busy++
				c.idle.SetAside(no)
			}
		}
		if ended(p.Status) || p.Messages > 0 || p.Activities > 0 {
			continue
		}
		if r.times == MaxRaises {
			continue
		}
		if r.atMs != 0 && c.nowMs() < r.atMs+raiseAgainMs {
			quiet = min(quiet, r.atMs+raiseAgainMs)
			continue
		}
		open := c.openWaits(id)
		if len(open) == 0 || len(c.children(id)) > 0 || c.unaided(id) || c.raced(id) {
			continue
		}
		r.atMs = c.nowMs()
		r.times++
		quiet = c.nowMs()
		c.send(c.help(id, &open[0]), c.instanceKey(id).At(labelPhase))
	}
	if c.busy > 0 {
		quiet = c.nowMs()
	}
	return quiet
}

// unfinished returns all instances that may still make progress on their own. It may also return others.
func (c *clients) unfinished() iter.Seq[observe.InstanceNo] {
	c.learn()
	return c.open.Upto(c.known)
}

func (c *clients) learn() {
	for c.store.InstanceName(c.known+1) != "" {
		c.known++
	}
}

// finished reports whether an instance will make no more progress unless it is sent a message: either it does not
// exist, or it has ended and has nothing queued or locked.
func finished(p memprovider.InstanceState, ok bool) bool {
	return !ok || ended(p.Status) && p.Messages == 0 && p.Activities == 0 && p.LockedUntilMs == 0
}

// children returns the children of the instance's current execution that have not yet reported their end.
func (c *clients) children(id string) (open map[uint64]string) {
	history, _ := c.history(id) // if it cannot be decoded, nothing goes on
	for i := range history {
		switch d := history[i].Data.(type) {
		case eventdata.SubOrchestrationScheduled:
			if open == nil { // most have none
				open = map[uint64]string{}
			}
			open[history[i].EventID] = d.Child(id)
		case eventdata.SubOrchestrationCompleted, eventdata.SubOrchestrationFailed:
			delete(open, history[i].SourceEventID)
		}
	}
	return open
}

// raced reports whether a parent of the instance, or another child of one, has a timer or an activity that may finish
// before the instance does: the parent may have set a time for it.
func (c *clients) raced(id string) bool {
	goesOn := func(p memprovider.InstanceState) bool { return !ended(p.Status) && p.Messages+p.Activities > 0 }
	for range maxDepth {
		p, _ := c.store.Peek(id)
		child := id
		id = p.Parent
		switch p, ok := c.store.Peek(id); {
		case !ok || ended(p.Status):
			return false
		case goesOn(p):
			return true
		}
		for _, other := range c.children(id) { //tidy:ordered any of them is enough
			if beside, ok := c.store.Peek(other); ok && other != child && goesOn(beside) {
				return true
			}
		}
	}
	return false
}

// unaided reports whether the plan marks an instance, or the root it descends from, as unaided, so that only the plan
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

// maxDepth limits how far up unaided looks for one of the plan's instances.
const maxDepth = 64

func (c *clients) raisedFor(no observe.InstanceNo) *recoveryRaises {
	for len(c.raised) <= int(no) {
		c.raised = append(c.raised, recoveryRaises{})
	}
	return &c.raised[no]
}

// help returns the message that satisfies an open wait, and records that recovery sends it.
func (c *clients) help(id string, wait *engine.Event) engine.WorkItem {
	name := eventName(wait.Data)
	if _, queue := wait.Data.(eventdata.QueueSubscribed); queue {
		c.helped(HelpEnqueue, id, name)
		return engine.QueueMessageItem{Instance: id, Name: name, Data: plan.RecoveryData}
	}
	c.helped(HelpRaise, id, name)
	return c.raiseItem(id, name, plan.RecoveryData, c.codec.Kinds())
}
