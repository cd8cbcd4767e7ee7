package shrink

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// number is a number in a concrete plan. Zero is the simplest.
type number struct {
	field reflect.Value
	// least is the simplest value that makes sense.
	least int64
	// roomy marks a time with which a failure is surer if it is longer.
	roomy bool
}

// numbers returns the numbers of a concrete plan, by their tags, and the choices that have more than two values. Zero,
// which means no choice, is left to the passes that remove choices.
func numbers(c *Concrete) []number {
	out := numbersIn(reflect.ValueOf(c.Plan).Elem())
	for i := range c.Choices.Choices {
		if choice := &c.Choices.Choices[i]; choice.N > 2 {
			out = append(out, number{reflect.ValueOf(&choice.Value).Elem(), 1, false})
		}
	}
	return out
}

func numbersIn(v reflect.Value) (out []number) {
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			out = append(out, numbersIn(v.Index(i))...)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if least, tagged := strings.CutPrefix(f.Tag.Get("shrink"), "number "); tagged {
				least, roomy := strings.CutSuffix(least, " roomy")
				n, err := strconv.ParseInt(least, 10, 64)
				if err != nil {
					d, _ := time.ParseDuration(least)
					n = int64(d)
				}
				out = append(out, number{v.Field(i), n, roomy})
				if last := &out[len(out)-1]; last.field.Kind() == reflect.String && last.isTime() {
					last.least = int64(time.Second) // of what code is to do with it, nothing is known
				}
			} else if f.IsExported() {
				out = append(out, numbersIn(v.Field(i))...)
			}
		}
	}
	return out
}

// isTime reports whether it is a time: a duration, or a text such as 10s.
func (n *number) isTime() bool {
	if n.field.Kind() != reflect.String {
		return n.field.Type() == reflect.TypeFor[time.Duration]()
	}
	_, notTime := time.ParseDuration(n.field.String())
	_, notNumber := strconv.ParseInt(n.field.String(), 10, 64)
	return notTime == nil && notNumber != nil
}

// get returns the value, which is 0 for a text that is neither a number nor a time.
func (n *number) get() int64 {
	switch {
	case n.field.CanInt():
		return n.field.Int()
	case n.field.CanUint():
		return int64(n.field.Uint())
	}
	if n.isTime() {
		text, _ := time.ParseDuration(n.field.String())
		return int64(text)
	}
	text, _ := strconv.ParseInt(n.field.String(), 10, 64)
	return text
}

func (n *number) set(to int64) {
	switch {
	case n.field.CanInt():
		n.field.SetInt(to)
	case n.field.CanUint():
		n.field.SetUint(uint64(to))
	case n.isTime():
		n.field.SetString(time.Duration(to).String())
	default:
		n.field.SetString(strconv.FormatInt(to, 10))
	}
}

var (
	timeUnits = []int64{
		int64(time.Minute), int64(10 * time.Second), int64(time.Second), int64(100 * time.Millisecond), int64(10 * time.Millisecond), int64(time.Millisecond),
	}
	countUnits = []int64{100_000, 10_000, 1000, 100, 10, 1}
)

// simpler returns the values to try instead of the current one, the simplest first.
func (n *number) simpler() []int64 {
	units, now := countUnits, n.get()
	if n.isTime() {
		units = timeUnits
	}
	out := []int64{n.least}
	for i, u := range units {
		switch smaller := now / u / 2 * u; {
		case now%u != 0 || now == n.least:
		case smaller > 0: // already a multiple: try a smaller one
			return append(out, smaller)
		case !n.isTime():
			return append(out, now/2)
		case u > int64(time.Second) && !n.roomy: // half of it would be rounded up again
			return append(out, units[i+1])
		default:
			return out
		}
		out = append(out, now/u*u)
	}
	return out
}

// rounder returns the later and rounder times to try instead of the current one, the roundest first. None is more than
// twice as late.
func (n *number) rounder() (out []int64) {
	now := n.get()
	for _, u := range timeUnits {
		if !n.isTime() || now%u == 0 || now == n.least {
			return out
		}
		if to := (now/u + 1) * u; to <= 2*now {
			out = append(out, to)
		}
	}
	return out
}

// simplerValues simplifies every number that it can, and reports whether it changed anything. This ends: one that gets no
// rounder gets smaller, and none that gets less round is rounded to the same again.
func (s *search) simplerValues() (changed bool) {
	for i := range numbers(&s.best) {
		changed = s.simplerValue(i) || changed
	}
	return changed
}

func (s *search) simplerValue(i int) bool {
	n := numbers(&s.best)[i]
	now := n.get()
	last := now
	earlier := slices.DeleteFunc(n.simpler(), func(to int64) bool { return to >= now || to < n.least })
	for _, to := range append(earlier, n.rounder()...) {
		if to == last {
			continue
		}
		last = to
		c := s.best.clone()
		numbers(&c)[i].set(to)
		if s.o.Ends {
			c.Plan.MoveMessages(s.best.Plan)
		}
		if s.keepsMessages(c) && s.try(c) {
			return true
		}
	}
	return false
}
