package sim_test

import (
	"encoding/json"
	"math"
	"testing"
	"testing/quick"

	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/sim"
)

func TestKeyRendering(t *testing.T) {
	root := sim.RootKey(true)
	for _, c := range []struct {
		key  sim.Key
		want string
		why  string
	}{
		{root, "/", "the root has no segment"},
		{root.At(labelNode), "node", "a label alone"},
		{root.Num(labelNode, 2).Num(labelCall, 7).At(labelTimer), "node:2/call:7/timer", "segments are joined"},
		{root.Num(labelCall, math.MaxUint64), "call:18446744073709551615", "all of 64 bits"},
		{root.Name(labelNode, "order-1"), "node:order-1", "a plain name"},
		{root.Name(labelNode, ""), "node:", "an empty name is not the label alone"},
		{root.Name(labelNode, "7"), "node:%37", "a name that is a number is not the number"},
		{root.Name(labelNode, "18446744073709551615"), "node:%318446744073709551615", "the largest such name"},
		{root.Name(labelNode, "18446744073709551616"), "node:18446744073709551616", "too large to be a number"},
		{root.Name(labelNode, "07"), "node:07", "Num writes no leading zero"},
		{root.Name(labelNode, "7a"), "node:7a", "not a number"},
		{root.Name(labelNode, "a/b:c%d#e f"), "node:a%2Fb%3Ac%25d%23e%20f", "what has a meaning here is escaped"},
		{root.Name(labelNode, "\x00\t\n\x7f\u0085\u00a0\u2003"), "node:%00%09%0A%7F%C2%85%C2%A0%E2%80%83",
			"white space and control characters, all of Unicode's"},
		{root.Name(labelNode, "Übung 注文"), "node:Übung%20注文", "letters stay readable"},
		{root.Name(labelNode, "a\xff\xc3b\ufffd"), "node:a%FF%C3b\ufffd", "invalid UTF-8 is kept by its bytes"},
		{root.At(sim.NewLabel("a/b#1")), "a%2Fb%231", "labels are escaped too"},
		{sim.RootKey(false), "#0000000000000000", "nothing recorded: the hash"},
		{sim.RootKey(false).Num(labelNode, 2), "#f89a3e13b47cffa3", "nothing recorded: the hash"},
	} {
		if got := c.key.String(); got != c.want {
			t.Errorf("%s: rendered %q, want %q", c.why, got, c.want)
		}
		checkRoundTrip(t, c.key)
	}
}

func checkRoundTrip(t *testing.T, k sim.Key) bool {
	t.Helper()
	back, err := sim.ParseKey(k.String())
	if err != nil || back.Hash() != k.Hash() || back.String() != k.String() {
		t.Errorf("%v came back as %v, hash %x as %x, error %v", k, back, k.Hash(), back.Hash(), err)
		return false
	}
	return true
}

func TestKeyRoundTrip(t *testing.T) {
	property := func(label1, label2 string, name []byte, n uint64) bool {
		l1, l2 := sim.NewLabel("x"+label1), sim.NewLabel(label2+"\x01")
		k := sim.RootKey(true).Name(l1, string(name)).Num(l2, n).At(l1)
		bare := sim.RootKey(false).Name(l1, string(name)).Num(l2, n).At(l1)
		return checkRoundTrip(t, k) && checkRoundTrip(t, bare) && bare.Hash() == k.Hash()
	}
	sample.OK(t, quick.Check(property, nil))
}

func FuzzParseKey(f *testing.F) {
	for _, s := range []string{"", "/", "a", "a:1/b:%37", "a:%zz", "#0123456789abcdef", "#1", "a//b", ":1", "a:%2f"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if k, err := sim.ParseKey(s); err == nil && k.String() != s {
			t.Errorf("%q was read and is rendered %q", s, k)
		}
	})
}

func TestParseKeyRejects(t *testing.T) {
	for _, c := range []struct{ text, why string }{
		{"", "the root is /"},
		{"a//b", "an empty segment"},
		{"/a", "a leading separator"}, {":1", "no label"}, {"a b", "an unescaped space"}, {"a:b:c", "an unescaped colon"},
		{"a:%2f", "lower-case hex"}, {"a:%41", "a needless escape"}, {"a:%4", "a cut-off escape"}, {"a:%+1", "not hex"},
		{"#12", "too short a hash"}, {"#0123456789ABCDEF", "upper-case hash"}, {"#0123456789abcdef0", "too long a hash"},
	} {
		if k, err := sim.ParseKey(c.text); err == nil {
			t.Errorf("%s: %q was read as %v", c.why, c.text, k)
		}
	}
}

func TestKeysDiffer(t *testing.T) {
	root := sim.RootKey(false)
	seen := map[uint64]sim.Key{}
	add := func(k sim.Key) {
		if other, ok := seen[k.Hash()]; ok {
			t.Errorf("%v and %v collide", other, k)
		}
		seen[k.Hash()] = k
	}
	for _, l := range []sim.Label{labelNode, labelCall, labelTimer} {
		add(root.At(l))
		add(root.Name(l, ""))
		for n := range uint64(300) {
			add(root.Num(l, n))
			for m := range uint64(30) {
				add(root.Num(l, n).Num(labelNode, m))
			}
		}
		for _, name := range []string{"0", "1", "a", "b", "aa"} {
			add(root.Name(l, name))
			add(root.At(labelTimer).Name(l, name))
		}
	}
	add(root.At(labelNode).At(labelCall))
	add(root.At(labelCall).At(labelNode))
}

func TestKeyAsText(t *testing.T) {
	in := []sim.Key{sim.RootKey(true).Name(labelNode, "a b"), sim.RootKey(false).At(labelCall)}
	text := sample.Must(json.Marshal(in))(t)
	var out []sim.Key
	if err := json.Unmarshal(text, &out); err != nil || len(out) != 2 || out[0].Hash() != in[0].Hash() ||
		out[1].Hash() != in[1].Hash() {
		t.Errorf("%s came back as %v, error %v", text, out, err)
	}
	if err := json.Unmarshal([]byte(`["a b"]`), &out); err == nil {
		t.Error("a key with a space was read")
	}
}

func TestLabelsNeedAName(t *testing.T) {
	sample.Panics(t, "empty name", func() { sim.NewLabel("") })
	sample.Panics(t, "zero Label", func() { sim.RootKey(true).At(sim.Label{}) })
	if labelNode.String() != "node" {
		t.Error(labelNode.String())
	}
}

// A Segment is what Name adds.
func TestSegmentIsName(t *testing.T) {
	l := sim.NewLabel("fault")
	for _, s := range []string{"", "crash", "7", "a/b"} {
		segment := sim.NewSegment(l, s)
		for _, root := range []sim.Key{sim.RootKey(false), sim.RootKey(true)} {
			name, text := root.Name(l, s), root.Then(&segment)
			if name.Hash() != text.Hash() || name.String() != text.String() {
				t.Errorf("%q: Then gives %s, Name gives %s", s, text, name)
			}
		}
	}
}
