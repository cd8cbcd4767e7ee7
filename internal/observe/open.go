package observe

import "slices"

// Open lists the instances that somebody still looks at, so that a look costs nothing for those of which nothing is open.
// An instance that is put aside comes back when it is touched. The zero value lists none; until the first call of Upto
// nothing costs anything.
type Open struct {
	// Invariant: list is ascending, and has each number up to the last one listed that is not aside.
	list  []InstanceNo
	aside []bool // by number
}

// Upto returns the numbers from 1 to last that are not put aside, ascending. The slice is good until the next call; Aside
// and Touch leave it as it is for a number that was in it.
func (o *Open) Upto(last InstanceNo) []InstanceNo {
	o.list = slices.DeleteFunc(o.list, func(no InstanceNo) bool { return o.aside[no] })
	for no := InstanceNo(max(len(o.aside), 1)); no <= last; no++ {
		o.list = append(o.list, no)
	}
	o.aside = append(o.aside, make([]bool, max(int(last)+1-len(o.aside), 0))...)
	return o.list
}

// Aside leaves a number of the list out from the next one on, until it is touched.
func (o *Open) Aside(no InstanceNo) { o.aside[no] = true }

// Touch takes a number that was put aside into the next list: something of the instance has changed.
func (o *Open) Touch(no InstanceNo) {
	if int(no) >= len(o.aside) || !o.aside[no] {
		return
	}
	o.aside[no] = false
	if i, has := slices.BinarySearch(o.list, no); !has {
		o.list = slices.Insert(o.list, i, no)
	}
}
