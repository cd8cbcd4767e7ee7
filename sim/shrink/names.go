package shrink

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/durosim/durosim/sim"
)

// plainNames renumbers what is left: nodes that have a letter become A, B and so on, and of Chain-7 and Chain-23 become
// Chain-1 and Chain-2. It leaves alone plans with expectations or a store's contents, which name things, too.
func (s *search) plainNames() bool {
	plain := plainOf(s.best)
	if len(plain) == 0 || len(s.best.Expect) > 0 || s.best.Plan.Contents != nil {
		return false
	}
	c := s.best.clone()
	rename(reflect.ValueOf(c.Plan).Elem(), plain)
	for _, list := range [][]sim.RecordedChoice{c.Choices.Choices, c.Choices.Priorities} {
		for i := range list {
			list[i].Key = renamedKey(list[i].Key, plain)
		}
	}
	return s.try(c)
}

// plainOf returns the new name of each node, program, instance and history that gets one. The map is never iterated
// over, so its order does not matter.
func plainOf(c Concrete) map[string]string {
	plain, seen, count := map[string]string{}, map[string]bool{}, map[string]int{}
	letters := 0
	for _, n := range c.Plan.Nodes {
		if len(n.Name) != 1 || n.Name[0] < 'A' || n.Name[0] > 'Z' {
			continue
		}
		if to := string(rune('A' + letters)); to != n.Name {
			plain[n.Name] = to
		}
		letters++
	}
	number := func(name string) {
		dash := strings.LastIndex(name, "-")
		if _, err := strconv.Atoi(name[dash+1:]); err != nil || dash < 1 || seen[name] {
			return
		}
		seen[name] = true
		count[name[:dash]]++
		if to := name[:dash+1] + strconv.Itoa(count[name[:dash]]); to != name {
			plain[name] = to
		}
	}
	for i := range c.Plan.Programs {
		number(c.Plan.Programs[i].Name)
	}
	for i := range c.Plan.Instances {
		number(c.Plan.Instances[i].ID)
	}
	for i := range c.Plan.Histories {
		number(c.Plan.Histories[i].Instance)
	}
	return plain
}

// rename replaces every text that is one of the names.
func rename(v reflect.Value, plain map[string]string) {
	switch v.Kind() {
	case reflect.String:
		pieces := strings.Split(v.String(), "@") // a handler's version or a planted bug's node follows
		for i, piece := range pieces {
			if to, ok := plain[piece]; ok {
				pieces[i] = to
				v.SetString(strings.Join(pieces, "@"))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			rename(v.Index(i), plain)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			rename(v.Field(i), plain)
		}
	}
}

// renamedKey returns a choice's key with the new names. A key that is then no key stays as it is.
func renamedKey(k sim.Key, plain map[string]string) sim.Key {
	segments := strings.Split(k.String(), "/")
	for i, segment := range segments {
		label, name, _ := strings.Cut(segment, ":")
		if to, ok := plain[name]; ok {
			segments[i] = label + ":" + to
		}
	}
	if renamed, err := sim.ParseKey(strings.Join(segments, "/")); err == nil {
		return renamed
	}
	return k
}
