package observe

import "slices"

// Open lists the instances that a caller still looks at, so that the caller spends no time on instances with nothing
// open. An instance that the caller puts aside returns to the list when it is touched. The zero value lists no
// instances and has no cost until the first call to Upto.
type Open struct {
	// Invariant: list is ascending, and contains each number up to its last one that is not aside.
	list  []InstanceNo
	aside []bool // by number
}

// Upto returns the numbers from 1 to last that are not aside, in ascending order. The slice is valid until the next
// call. Aside and Touch do not change it for a number that is in it.
func (o *Open) Upto(last InstanceNo) []InstanceNo {
	o.list = slices.DeleteFunc(o.list, func(no InstanceNo) bool { return o.aside[no] })
	for no := InstanceNo(max(len(o.aside), 1)); no <= last; no++ {
		o.list = append(o.list, no)
	}
	o.aside = append(o.aside, make([]bool, max(int(last)+1-len(o.aside), 0))...)
	return o.list
}

// Aside removes a number from the list, beginning with the next call to Upto, until Touch returns it.
func (o *Open) Aside(no InstanceNo) { o.aside[no] = true }

// Touch returns a number to the list because its instance has changed.
func (o *Open) Touch(no InstanceNo) {
	if int(no) >= len(o.aside) || !o.aside[no] {
		return
	}
	o.aside[no] = false
	if i, has := slices.BinarySearch(o.list, no); !has {
		o.list = slices.Insert(o.list, i, no)
	}
}
