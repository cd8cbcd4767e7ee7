package model

import (
	"bytes"
	"strings"
	"testing"
)

// TestSumOfSeesEachByte checks that texts have different sums if they differ in a single byte or only in length.
func TestSumOfSeesEachByte(t *testing.T) {
	seen := map[uint64][]byte{}
	for n := range 40 {
		data := make([]byte, n)
		for i := -1; i < n; i++ {
			if i >= 0 {
				data[i] = 1
			}
			if have, ok := seen[sumOf(data)]; ok {
				t.Errorf("%v and %v have one sum", have, data)
			}
			seen[sumOf(data)] = bytes.Clone(data)
			clear(data)
		}
	}
}

func TestFindTypeKey(t *testing.T) {
	for _, s := range []string{
		"", `ype":"`, `"type":"`, `"type":"A"}`, `{"event_id":1,"type":"A","data":{"type":"B"}}`, `{"subtype":"X","type":"A"}`,
		`{"instance_id":"a\"type\":\"","type":"A"}`, `{"kype":"X"}`, `{"type": "A"}`,
	} {
		if got, want := findTypeKey([]byte(s)), strings.Index(s, typeKey); got != want {
			t.Errorf("findTypeKey(%s) = %d, want %d", s, got, want)
		}
	}
}
