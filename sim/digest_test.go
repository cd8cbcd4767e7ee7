package sim_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/durosim/durosim/sim"
)

func TestFoldKeepsOrder(t *testing.T) {
	a, b := sim.Digest{1}, sim.Digest{2}
	seen := map[sim.Digest]int{}
	for i, list := range [][]sim.Digest{nil, {a}, {b}, {a, b}, {b, a}, {a, a}, {a, b, b}, {a, sim.Fold([]sim.Digest{a, b})}} {
		d := sim.Fold(list)
		if other, ok := seen[d]; ok {
			t.Errorf("lists %d and %d fold alike", other, i)
		}
		seen[d] = i
	}
}

func TestDigestAsText(t *testing.T) {
	d := sim.Digest{0xab, 31: 0x01}
	const text = "sha256:ab00000000000000000000000000000000000000000000000000000000000001"
	if d.String() != text {
		t.Errorf("rendered %s", d)
	}
	if back, err := sim.ParseDigest(text); err != nil || back != d {
		t.Errorf("read back as %v, %v", back, err)
	}
	for _, bad := range []string{"", text[7:], text[:70], text + "0", strings.ToUpper(text), "sha256:" +
		strings.ToUpper(text[7:]), strings.Replace(text, "a", "g", 2)} {
		if got, err := sim.ParseDigest(bad); err == nil {
			t.Errorf("%q was read as %v", bad, got)
		}
	}
	var back sim.Digest
	if j, err := json.Marshal(d); err != nil || json.Unmarshal(j, &back) != nil || back != d {
		t.Errorf("JSON %s, back %v, error %v", j, back, err)
	}
}
