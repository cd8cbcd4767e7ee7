package observe

import (
	"iter"
	"slices"
)

// Open lists the instances that a caller still has to inspect, so that the caller spends no time on the others. The
// caller sets an instance aside when it has nothing left to inspect; Touch puts the instance back on the list. The zero
// value lists no instances and costs nothing until the first call to Upto.
type Open struct {
	// Invariant: list is in ascending order, and contains every number up to its last one except some that are aside.
	list  []InstanceNo
	aside []bool // by number
	gone  int    // how many have been set aside since they were last taken out of list
}

// Upto returns the numbers from 1 to last that are not aside, in ascending order. SetAside and Touch may be called for
// those that it has returned.
func (o *Open) Upto(last InstanceNo) iter.Seq[InstanceNo] {
	for no := InstanceNo(max(len(o.aside), 1)); no <= last; no++ {
		o.list = append(o.list, no)
	}
	o.aside = append(o.aside, make([]bool, max(int(last)+1-len(o.aside), 0))...)
	for len(o.list) > 0 && o.aside[o.list[0]] { // most end in the order in which they begin
		o.list = o.list[1:]
	}
	if 4*o.gone > len(o.list) { // not each time, since a caller may look at the first alone
		o.list = slices.DeleteFunc(o.list, func(no InstanceNo) bool { return o.aside[no] })
		o.gone = 0
	}
	return func(yield func(InstanceNo) bool) {
		for _, no := range o.list {
			if !o.aside[no] && !yield(no) {
				return
			}
		}
	}
}

// SetAside removes instance no from the list until Touch puts it back. It takes effect at once.
func (o *Open) SetAside(no InstanceNo) {
	o.aside[no] = true
	o.gone++
}

// Touch puts instance no back on the list, because the instance has changed.
func (o *Open) Touch(no InstanceNo) {
	if int(no) >= len(o.aside) || !o.aside[no] {
		return
	}
	o.aside[no] = false
	if i, has := slices.BinarySearch(o.list, no); !has {
		o.list = slices.Insert(o.list, i, no)
	}
}
