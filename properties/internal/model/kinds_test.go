package model

import (
	"strings"
	"testing"
)

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
