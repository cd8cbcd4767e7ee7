package model

import (
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/arena"
)

// Changes lists what may have become eligible or ineligible for a fetch, in the order of the changes: the instances and
// the activities that a call has touched, or that have changed outside a call. A change is usually listed once for each
// call that makes it.
type Changes struct {
	Instances []*Instance
	Work      []*Row
	// Sessions counts the changes of sessions, and Forgotten how often the lists were emptied because they were long.
	// Readers that have not kept up must then look at everything. All counts every change.
	Sessions, Forgotten, All uint64
	call                     uint64 // the call that made the last change of an instance
}

// changesMax limits how many changes are kept.
const changesMax = 1024

func newChanges(set *arena.Set) Changes {
	return Changes{Instances: arena.From[*Instance](set).Make(changesMax), Work: arena.From[*Row](set).Make(changesMax)}
}

// instance adds an instance, unless the same call has just added it.
func (c *Changes) instance(in *Instance, call uint64) {
	if n := len(c.Instances); n > 0 && c.Instances[n-1] == in && c.call == call {
		return
	}
	c.more(len(c.Instances))
	c.Instances, c.call = append(c.Instances, in), call
}

// row adds an activity, or the instance of a message.
func (c *Changes) row(r *Row, call uint64) {
	if r.Queue != observe.QueueWorker {
		c.instance(r.Instance, call)
		return
	}
	c.more(len(c.Work))
	c.Work = append(c.Work, r)
}

// session counts a change of a session.
func (c *Changes) session() {
	c.All++
	c.Sessions++
}

// more counts a change and empties the lists if the one that it belongs to is full.
func (c *Changes) more(length int) {
	if c.All++; length == changesMax {
		c.Instances, c.Work = c.Instances[:0], c.Work[:0]
		c.Forgotten++
	}
}
