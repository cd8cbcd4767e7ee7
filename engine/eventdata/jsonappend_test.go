package eventdata_test

import (
	"strings"
	"testing"

	"github.com/durosim/durosim/engine/eventdata"
)

// TestAppendString puts each byte at each position of a string, and expects it to be encoded as it would be on its own.
func TestAppendString(t *testing.T) {
	const length = 19
	for b := range 256 {
		alone := string(eventdata.AppendString(nil, string([]byte{byte(b)})))
		for at := range length {
			text := []byte(strings.Repeat("~", length))
			text[at] = byte(b)
			want := `"` + strings.Repeat("~", at) + alone[1:len(alone)-1] + strings.Repeat("~", length-at-1) + `"`
			if got := string(eventdata.AppendString(nil, string(text))); got != want {
				t.Fatalf("%q is written as %s, want %s", text, got, want)
			}
		}
	}
}
