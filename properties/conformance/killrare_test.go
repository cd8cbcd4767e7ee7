package conformance_test

import (
	"cmp"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/properties/conformance"
)

// rareKillers make mistakes that show only in some states, or at one instant.
var rareKillers = []killer{
	asks("delays end a millisecond late", "EnqueueForOrchestrator AbandonWorkItem", func(c *call) {
		if c.delay > 0 {
			c.delay += time.Millisecond
		}
	}),
	answers("events are sorted as texts", "Read FetchOrchestrationItem", func(c *call) {
		list := c.events
		if c.fetched != nil {
			list = c.fetched.Item.History
		}
		list = slices.Clone(list)
		slices.SortFunc(list, func(a, b engine.Event) int {
			return strings.Compare(strconv.FormatUint(a.EventID, 10), strconv.FormatUint(b.EventID, 10))
		})
		if c.events = list; c.fetched != nil {
			c.fetched.Item.History = list
		}
	}),
	answers("executions are sorted as texts", "ListExecutions", func(c *call) {
		slices.SortFunc(c.ids, func(a, b uint64) int { return strings.Compare(strconv.FormatUint(a, 10), strconv.FormatUint(b, 10)) })
	}),
	remembers("an output outlives its status", "GetExecutionInfo", func(c *call, last **string) {
		if c.do(); c.about != nil {
			*last = cmp.Or(c.about.Output, *last)
			c.about.Output = *last
		}
	}),
	snapshotsOf("continuing revives keys", engine.StatusContinuedAsNew),
	remembers("later acks take the parent", "", func(c *call, taken *bool) {
		if m := c.ack.Metadata; m.OrchestrationName != "" {
			*taken = m.ParentInstanceID == ""
		}
		if c.do(); c.info != nil && *taken {
			c.info.ParentInstanceID = ""
		}
	}),
	remembers("an equal message that waits is not sent again", "", func(c *call, waiting *[]engine.WorkItem) {
		if c.is("EnqueueForOrchestrator") {
			if slices.ContainsFunc(*waiting, func(w engine.WorkItem) bool { return reflect.DeepEqual(w, c.item) }) {
				return
			}
			*waiting = append(*waiting, c.item)
		}
		if c.do(); c.fetched != nil {
			*waiting = nil
		}
	}),
	spoil("bulk takes two levels", "DeleteInstanceBulk", func(c *call) {
		ids, _ := c.inner.Admin().ListInstances(c.ctx)
		deepest := 0
		for _, in := range ids {
			tree, _ := c.inner.Admin().GetInstanceTree(c.ctx, in)
			deepest = max(deepest, len(tree.AllIDs))
		}
		if c.do(); c.deleted != nil && deepest > 2 {
			c.deleted.InstancesDeleted = 2
		}
	}),
}

// snapshotsOf delivers each key that was ever delivered, once an execution has ended with the status.
func snapshotsOf(name string, status engine.Status) killer {
	return spoilWith(name, func(*conformance.Store) func(c *call) {
		var seen []engine.KVEntry
		ended := false
		return func(c *call) {
			ended = ended || c.ack.Metadata.Status == status
			if c.do(); c.fetched == nil {
				return
			}
			for _, e := range c.fetched.Item.KVSnapshot {
				if !slices.ContainsFunc(seen, func(s engine.KVEntry) bool { return s.Key == e.Key }) {
					seen = append(seen, e)
				}
			}
			if ended {
				c.fetched.Item.KVSnapshot = slices.Clone(seen)
			}
		}
	})
}
