package program

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// known is the interpreter's knowledge of an instance's state: the possible values of each key and of the custom
// status. A key that is not listed does not exist. A known is immutable; its methods return modified copies.
type known struct {
	keys   map[string][]value
	status []value // nil means no status
	// taken counts the messages taken by dequeues, keyed by queue and data.
	taken map[message]int
	// shared is set while statements run concurrently. Their changes may happen in any order, so the state includes all
	// of these changes from the start.
	shared bool
}

// message identifies a queue's messages that have the same data.
type message struct{ queue, data string }

// takes reports whether s begins with the data of a message that the queue may still hold.
func (i *interpreter) takes(queue, s string, k then) bool {
	if i.c.Messages == nil {
		return i.sent(nil, queue, s, k)
	}
	came := map[string]int{}
	var order []string
	for _, data := range i.c.Messages(queue) {
		if came[data]++; came[data] == 1 {
			order = append(order, data)
		}
	}
	return slices.ContainsFunc(order, func(data string) bool {
		m := message{queue, data}
		if i.state.taken[m] >= came[data] {
			return false
		}
		return literal(data, s, func(rest string) bool {
			next := i.state
			next.taken = cloned(next.taken)
			next.taken[m]++
			return i.in(next, rest, k)
		})
	})
}

// value is a possible value of a key or the custom status. The field is reports whether the key or status exists.
type value struct {
	text string
	is   bool
}

func (k known) of(key string) []value {
	if list := k.keys[key]; list != nil {
		return list
	}
	return []value{{}}
}

func (k known) statuses() []value {
	if k.status != nil {
		return k.status
	}
	return []value{{}}
}

func with(list []value, v value) []value {
	if slices.Contains(list, v) {
		return list
	}
	return append(slices.Clip(list), v)
}

// cloned returns a copy of a map, which may be nil.
func cloned[K comparable, V any](m map[K]V) map[K]V {
	c := make(map[K]V, len(m)+1)
	maps.Copy(c, m)
	return c
}

// does returns the state after statement n has run. n must be certain to run, and must not be a block.
func (k known) does(n *Node) known {
	if k.shared {
		return k
	}
	k.keys = cloned(k.keys)
	set := func(key string, v value) { k.keys[key] = []value{v} }
	switch n.Op {
	case OpSet:
		set(n.Name, value{n.value(), true})
	case OpSetMany:
		for i := range n.Size {
			set(manyKey(i), value{manyValue, true})
		}
	case OpClear:
		delete(k.keys, n.Name)
	case OpClearAll, OpPrune:
		k.keys = nil
	case OpStatus:
		k.status = []value{{n.value(), true}}
	case OpStatusReset:
		k.status = nil
	}
	return k
}

// after returns the state after any of the statements in list have run, in any order.
func (k known) after(list []Node) known {
	k.keys = cloned(k.keys)
	add := func(key string, v value) { k.keys[key] = with(k.of(key), v) }
	removes := false
	Walk(list, func(n *Node) {
		switch n.Op {
		case OpSet:
			add(n.Name, value{n.value(), true})
		case OpSetMany:
			for i := range n.Size {
				add(manyKey(i), value{manyValue, true})
			}
		case OpClear:
			add(n.Name, value{})
		case OpClearAll, OpPrune:
			removes = true
		case OpStatus:
			k.status = with(k.statuses(), value{n.value(), true})
		case OpStatusReset:
			k.status = with(k.statuses(), value{})
		}
	})
	if removes {
		for _, key := range slices.Sorted(maps.Keys(k.keys)) {
			add(key, value{})
		}
	}
	return k
}

// in calls k with rest while the state is temporarily replaced by state.
func (i *interpreter) in(state known, rest string, k then) bool {
	was := i.state
	i.state = state
	ok := k(rest)
	i.state = was
	return ok
}

// concurrently calls read for a block's branches, and then calls k with a state that the branches may leave behind.
func (i *interpreter) concurrently(branches []Node, s string, k then, read func(s string, k then) bool) bool {
	was := i.state.shared
	inside := i.state.after(branches)
	inside.shared = true
	return i.in(inside, s, func(s string) bool {
		return read(s, func(rest string) bool {
			outside := i.state
			outside.shared = was
			return i.in(outside, rest, k)
		})
	})
}

// givesState is like gives, for statements that use the instance's state or query the runtime.
func (i *interpreter) givesState(n *Node, s string, k then) bool {
	switch n.Op {
	case OpSet, OpSetMany, OpClear, OpClearAll, OpStatus, OpStatusReset:
		return !i.tooLong(n) && i.in(i.state.does(n), s, k)
	case OpGet:
		return anyValue(i.state.of(n.Name), s, k)
	case OpStatusGet:
		return anyValue(i.state.statuses(), s, k)
	case OpKeys:
		return i.givesKeys(slices.Sorted(maps.Keys(i.state.keys)), s, k)
	case OpPrune:
		least, most := i.state.count()
		for c := least; c <= most; c++ {
			if literal(strconv.Itoa(c), s, func(rest string) bool { return i.in(i.state.does(n), rest, k) }) {
				return true
			}
		}
		return false
	case OpRemote:
		return anyValue(i.ever(n.Name), s, k)
	case OpGUID:
		return literal(saidGUID, s, k)
	case OpNow:
		return literal(saidNow, s, k)
	}
	panic(fmt.Sprintf("program: a statement %q", n.Op)) // rejected by Validate
}

func anyValue(list []value, s string, k then) bool {
	return slices.ContainsFunc(list, func(v value) bool { return literal(orNone(v.text, v.is), s, k) })
}

// givesKeys reports whether s begins with a listing of keys and their values.
func (i *interpreter) givesKeys(keys []string, s string, k then) bool {
	if len(keys) == 0 {
		return k(s)
	}
	next := func(rest string) bool { return i.givesKeys(keys[1:], rest, k) }
	return slices.ContainsFunc(i.state.of(keys[0]), func(v value) bool {
		if !v.is {
			return next(s)
		}
		return literal(keys[0]+"="+v.text+",", s, next)
	})
}

// count returns the minimum and maximum number of keys that the instance may have.
func (k known) count() (least, most int) {
	//tidy:ordered counts only
	for _, list := range k.keys {
		if !slices.Contains(list, value{}) {
			least++
		}
		if slices.ContainsFunc(list, func(v value) bool { return v.is }) {
			most++
		}
	}
	return least, most
}

// ever returns every value that the program may assign to key at any time, because a worker may read the key at any
// time.
func (i *interpreter) ever(key string) []value {
	var state known
	for _, p := range i.set.Versions(i.name, "") {
		state = state.after(p.Body)
	}
	return with(state.of(key), value{})
}
