package memprovider

import (
	"cmp"
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
)

// row is one message in either queue. Its bytes are never modified.
type row struct {
	no    MessageNo
	queue observe.Queue
	in    *instance
	// kind and the activity's fields are separate columns, so they stay correct even if the bytes are damaged.
	kind      engine.WorkItemKind
	execution uint64
	activity  uint64
	tag       string
	sessionID string

	data      []byte
	visibleMs int64
	count     uint32
	// lock is the row's lock in the worker queue. In the orchestrator queue only its token is used: it marks the fetch
	// that last took the message, and is kept after that fetch's lock ends.
	lock lock

	isVisible bool // in its instance's visible list, not in delayed
	// own is the message as decoded by the codec that stored it or read it first; more holds other codecs' results.
	own  decodedItem
	more []decodedItem
	// holder is the owner that last fetched this activity, if the activity has a session.
	holder *owner
	// The row's position in the worker queue's index. group is nil while the row is in neither queue.
	group                *group
	readySlot, laterSlot int
}

// decodedItem is the result of decoding a message with one codec: an item or an error.
type decodedItem struct {
	codec int // codec number + 1
	item  engine.WorkItem
	err   error
}

func byNumber(a, b *row) int { return cmp.Compare(a.no, b.no) }

func byTime(a, b *row) int {
	return cmp.Or(cmp.Compare(a.visibleMs, b.visibleMs), cmp.Compare(a.no, b.no))
}

// insertRow inserts a row into a sorted slice, usually at the end.
func (a *Arena) insertRow(rows []*row, r *row, order func(a, b *row) int) []*row {
	if n := len(rows); n == 0 || order(rows[n-1], r) < 0 {
		return a.queues.Append(rows, r)
	}
	i, _ := slices.BinarySearchFunc(rows, r, order)
	return a.queues.Insert(rows, i, r)
}

// deleteRow deletes a row from a sorted slice, usually at the start.
func deleteRow(rows []*row, r *row, order func(a, b *row) int) []*row {
	i, ok := slices.BinarySearchFunc(rows, r, order)
	if !ok {
		panic("memprovider: a row is not where its time and number say")
	}
	if i == 0 && len(rows) > 1 {
		rows[0] = nil
		return rows[1:]
	}
	return slices.Delete(rows, i, i+1)
}

// decodedBy returns the result of decoding the message with the codec, and whether that result was cached.
func (s *Store) decodedBy(r *row, codec int) (d *decodedItem, cached bool) {
	if r.own.codec == codec+1 {
		s.recheckItem(r.data, &r.own)
		return &r.own, true
	}
	for i := range r.more {
		if r.more[i].codec == codec+1 {
			s.recheckItem(r.data, &r.more[i])
			return &r.more[i], true
		}
	}
	n := decodedItem{codec: codec + 1}
	c, own := s.codecs[codec], r.own
	if re, ok := c.(engine.Rereader); ok && own.codec != 0 && own.err == nil && re.RereadsWorkItem(s.codecs[own.codec-1], own.item) {
		n.item = own.item
	} else {
		n.item, n.err = c.DecodeWorkItem(r.data)
	}
	if r.own.codec == 0 {
		r.own = n
		return &r.own, false
	}
	r.more = s.arena.read.Append(r.more, n)
	return &r.more[len(r.more)-1], false
}
