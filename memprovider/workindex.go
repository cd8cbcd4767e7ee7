package memprovider

import (
	"github.com/durosim/durosim/engine"
)

// workIndex finds the activity that a fetch would take. Rows with the same tag and session form a group, and groups
// that are open to the same fetches form a class, ordered by their oldest ready row. When a session changes, only its
// groups move, not their rows, so the cost of a lookup depends on the number of distinct tags, not on the number of
// rows, sessions or owners.
type workIndex struct {
	buckets []*tagBucket // in order of first use
	// due holds the groups with a row that becomes ready as time passes, ordered by that time.
	due heap[*group]
}

// tagBucket holds the groups with one tag.
type tagBucket struct {
	no  int
	tag string
	// plain is the class of activities without a session, and rest is its only group. free is the class of sessions
	// without an owner. Groups of an owned session are in one of the owner's classes.
	plain, free class
	rest        group
	// blocked holds the groups of owned sessions, ordered by when another owner may take their rows.
	blocked heap[*group]
}

// class is a set of groups that are open to the same fetches. ready is ordered by the oldest ready row, later by the
// time at which a row becomes ready.
type class struct{ ready, later heap[*group] }

// group holds the rows with one tag and session. ready is ordered by row number, later by the time at which rows become
// ready.
type group struct {
	bucket       *tagBucket
	session      *session // nil for activities without a session
	ready, later heap[*row]
	// The group's positions.
	class                                      *class
	readySlot, laterSlot, blockedSlot, dueSlot int
}

// taker is the caller of a fetch. owner is nil if the caller owns no session. sessions reports whether it takes
// activities with sessions at all.
type taker struct {
	owner    *owner
	sessions bool
}

// enter adds a row to its group. If the row has no session, of is nil.
func (x *workIndex) enter(r *row, of *session) {
	b := x.bucket(r.tag)
	if of == nil {
		r.group = &b.rest
	} else {
		r.group = of.group(b)
	}
}

// leave removes a row from its group.
func (x *workIndex) leave(r *row) {
	g := r.group
	g.ready.drop(&r.readySlot)
	g.later.drop(&r.laterSlot)
}

// update updates the row's position in its group and the group's position in its class.
func (x *workIndex) update(r *row, now int64, rules *Rules) {
	g := r.group
	at, unseen := r.visibleMs, false
	if r.lock.live(now) {
		if unseen = !rules.SeesLock(r.lock.takenMs, now); !unseen {
			at = max(at, r.lock.untilMs)
		}
	}
	if at > now {
		g.ready.drop(&r.readySlot)
		g.later.put(&r.laterSlot, at, uint64(r.no), r)
	} else {
		g.ready.put(&r.readySlot, int64(r.no), 0, r)
		if unseen { // check again in the next millisecond
			g.later.put(&r.laterSlot, now+1, uint64(r.no), r)
		} else {
			g.later.drop(&r.laterSlot)
		}
	}
	x.place(g, now, rules)
}

// place moves g to the class determined by its session, and to the heaps determined by its rows.
func (x *workIndex) place(g *group, now int64, rules *Rules) {
	b, c := g.bucket, &g.bucket.plain
	owned := g.session != nil && rules.SessionOwned(g.session.exists, g.session.untilMs, now)
	switch {
	case owned:
		c = g.session.owner.class(b)
	case g.session != nil:
		c = &b.free
	}
	if g.class != c && g.class != nil {
		g.class.ready.drop(&g.readySlot)
		g.class.later.drop(&g.laterSlot)
	}
	g.class = c
	ready, later := g.ready.head(), g.later.head()
	if ready != nil {
		c.ready.put(&g.readySlot, ready.key, 0, g)
	} else {
		c.ready.drop(&g.readySlot)
	}
	if later != nil {
		c.later.put(&g.laterSlot, later.key, later.tie, g)
		x.due.put(&g.dueSlot, later.key, later.tie, g)
	} else {
		c.later.drop(&g.laterSlot)
		x.due.drop(&g.dueSlot)
	}
	switch {
	case owned && ready != nil:
		b.blocked.put(&g.blockedSlot, g.session.untilMs, g.session.no, g)
	case owned && later != nil:
		b.blocked.put(&g.blockedSlot, max(g.session.untilMs, later.key), g.session.no, g)
	default:
		b.blocked.drop(&g.blockedSlot)
	}
}

func (x *workIndex) bucket(tag string) *tagBucket {
	for _, b := range x.buckets {
		if b.tag == tag {
			return b
		}
	}
	b := &tagBucket{no: len(x.buckets), tag: tag}
	b.rest.bucket = b
	x.buckets = append(x.buckets, b)
	return b
}

// nothing is a class that stays empty.
var nothing class

// open returns the bucket's classes from which the taker may take rows.
func (b *tagBucket) open(t taker) [3]*class {
	classes := [3]*class{&b.plain, &nothing, &nothing}
	if t.sessions {
		classes[1] = &b.free
		if t.owner != nil {
			classes[2] = t.owner.class(b)
		}
	}
	return classes
}

// pick returns the oldest row that both the taker and the filter accept, or nil.
func (x *workIndex) pick(t taker, tags engine.TagFilter, rules *Rules) *row {
	var best *entry[*group]
	for _, b := range x.buckets {
		if !rules.TakesTag(tags, b.tag) {
			continue
		}
		for _, c := range b.open(t) {
			if e := c.ready.head(); e != nil && (best == nil || e.less(best)) {
				best = e
			}
		}
	}
	if best == nil {
		return nil
	}
	return best.item.ready.head().item
}

// changesAt returns the earliest time at which pick's result may change without a call: when an acceptable row becomes
// ready, or when another owner's session with such a row expires.
func (x *workIndex) changesAt(t taker, tags engine.TagFilter, rules *Rules) int64 {
	at := Never
	for _, b := range x.buckets {
		if !rules.TakesTag(tags, b.tag) {
			continue
		}
		for _, c := range b.open(t) {
			if e := c.later.head(); e != nil {
				at = min(at, e.key)
			}
		}
		if e := b.blocked.head(); e != nil && t.sessions {
			at = min(at, e.key)
		}
	}
	return at
}

// all appends every row that the taker and the filter accept now, in arbitrary order.
func (x *workIndex) all(t taker, tags engine.TagFilter, rules *Rules, rows []*row) []*row {
	for _, b := range x.buckets {
		if !rules.TakesTag(tags, b.tag) {
			continue
		}
		for _, c := range b.open(t) {
			for i := range c.ready.entries {
				g := c.ready.entries[i].item
				for j := range g.ready.entries {
					rows = append(rows, g.ready.entries[j].item)
				}
			}
		}
	}
	return rows
}

// dueRow returns a row that has become ready, or nil.
func (x *workIndex) dueRow(now int64) *row {
	if e := x.due.head(); e != nil && e.key <= now {
		return e.item.later.head().item
	}
	return nil
}
