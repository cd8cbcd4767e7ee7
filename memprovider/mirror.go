package memprovider

import "github.com/durosim/durosim/engine"

// Found is what a fetch of another store has found. A store that mirrors it shows in its observations what the other
// store must have done: its fetch takes the same work even if the store's rules forbid it, and the observations then
// show the violation. The zero value is a fetch that found nothing.
type Found struct {
	// Instance is the instance that an orchestration fetch delivers, with all its visible messages.
	Instance string
	// Work is the activity that a work fetch delivers. If it has several rows, the fetch takes the oldest, preferably
	// one that is not locked.
	Work *engine.ActivityExecuteItem
}

// Mirror makes the next fetch find the same. If it cannot, because there is no such activity or no such instance with a
// visible message, it finds nothing.
func (s *Store) Mirror(f Found) { s.mirror = &f }

// mirrored returns the instance that the next fetch must find.
func (s *Store) mirrored(list []*instance) []*instance {
	if in := s.known(s.mirror.Instance); in != nil && len(in.visible) > 0 {
		list = append(list, in)
	}
	return list
}

// mirroredRow returns the row that the next fetch must find, or nil.
func (s *Store) mirroredRow() *row {
	want := s.mirror.Work
	if want == nil {
		return nil
	}
	in := s.known(want.Instance)
	if in == nil {
		return nil
	}
	var found *row
	for _, r := range in.work {
		if r.execution != want.ExecutionID || r.activity != want.ID {
			continue
		}
		if r.visibleMs <= s.now && !r.lock.live(s.now) {
			return r
		}
		if found == nil {
			found = r
		}
	}
	return found
}
