package rig_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/durosim/durosim/internal/rig"
)

type inner struct{ Name string }

type outer struct {
	N      uint32
	Yes    bool
	Text   *string
	None   *inner
	List   []inner
	Bytes  []byte
	Any    any
	hidden int
}

// TestChange lists the changes made to a value, each of which is undone.
func TestChange(t *testing.T) {
	text := "t"
	v := outer{N: 1, Text: &text, List: []inner{{"a"}, {"b"}}, Bytes: []byte("x"), Any: inner{"c"}, hidden: 1}
	show := func() string {
		shown := "none"
		if v.Text != nil {
			shown = *v.Text
		}
		return fmt.Sprintf("%v %v %v %v %v %s %v %v", v.N, v.Yes, shown, v.None, v.List, v.Bytes, v.Any, v.hidden)
	}
	before := show()
	var got []string
	rig.Change(&v, func(path string) { got = append(got, path+": "+show()) })
	want := []string{
		"N: 2 false t <nil> [{a} {b}] x {c} 1", "Yes: 1 true t <nil> [{a} {b}] x {c} 1", "Text gone: 1 false none <nil> [{a} {b}] x {c} 1",
		"Text: 1 false t~ <nil> [{a} {b}] x {c} 1", "None there: 1 false t &{} [{a} {b}] x {c} 1", "List without the first: 1 false t <nil> [{b}] x {c} 1",
		"List without the last: 1 false t <nil> [{a}] x {c} 1", "List with the last twice: 1 false t <nil> [{a} {b} {b}] x {c} 1",
		"List[0].Name: 1 false t <nil> [{a~} {b}] x {c} 1", "List[1].Name: 1 false t <nil> [{a} {b~}] x {c} 1",
		"Bytes longer: 1 false t <nil> [{a} {b}] x  {c} 1", "Bytes shorter: 1 false t <nil> [{a} {b}]  {c} 1", "Any.Name: 1 false t <nil> [{a} {b}] x {c~} 1",
	}
	if a, b := strings.Join(got, "\n"), strings.Join(want, "\n"); a != b {
		t.Errorf("got\n%s\nwant\n%s", a, b)
	}
	if show() != before || text != "t" {
		t.Errorf("left as %s, was %s", show(), before)
	}
}
