package observe

import "slices"

// Open lists the instances that a caller still has to inspect, so that the caller spends no time on the others. The
// caller sets an instance aside when it has nothing left to inspect; Touch puts the instance back on the list. The zero
// value lists no instances and costs nothing until the first call to Upto.
type Open struct {
	// Invariant: list is in ascending order, and contains every number up to its last one except those that are aside.
	list  []InstanceNo
	aside []bool // by number
}

// Upto returns the numbers from 1 to last that are not aside, in ascending order. The slice is valid until the next
// call to Upto; calls to SetAside and Touch for its elements do not change it.
func (o *Open) Upto(last InstanceNo) []InstanceNo {
	o.list = slices.DeleteFunc(o.list, func(no InstanceNo) bool { return o.aside[no] })
	for no := InstanceNo(max(len(o.aside), 1)); no <= last; no++ {
		o.list = append(o.list, no)
	}
	o.aside = append(o.aside, make([]bool, max(int(last)+1-len(o.aside), 0))...)
	return o.list
}

// SetAside removes instance no from the list until Touch puts it back. It takes effect at the next call to Upto.
func (o *Open) SetAside(no InstanceNo) { o.aside[no] = true }

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
