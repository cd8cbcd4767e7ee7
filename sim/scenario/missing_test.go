package scenario

import (
	"strings"
	"testing"

	"github.com/durosim/durosim/internal/sample"
)

// TestCheckHandlers checks that an unknown orchestration is rejected, unless the scenario says that it is missing.
func TestCheckHandlers(t *testing.T) {
	known := []string{"Leaf@1.0.0", "Order@1.0.0", "Order@2.0.0"}
	for _, c := range []struct{ text, want string }{
		{"instance a runs Leaf\ninstance b runs Order@2.0.0", ""},
		{"instance a runs Leef", `x.txt:2: instance a: no node has the orchestration "Leef"; did you mean Leaf?; if it is missing on purpose`},
		{"instance a runs Leef expect failed", "x.txt:2: instance a: "},
		{"instance a runs Leef expect poison\ninstance b runs Gone expect any", ""},
		{"instance a runs Order@3.0.0", `x.txt:2: instance a: no node has the orchestration "Order@3.0.0"; if`},
		{"load 3 instances\n  mix 1 Leaf\n  mix 2 Oder", `x.txt:4: mix: no node has the orchestration "Oder"; did you mean Order?`},
		{"load 3 instances\n  mix 1 generated programs", ""},
		{"program P\n  input\nend\ninstance a runs P\ninstance b runs P@1.0.0", ""},
		{"expect never turn where handler=Oder@1.x|none", `x.txt:2: handler=Oder@1.x|none: no node has the orchestration "Oder"; did you mean Order?`},
		{"expect never turn where handler=Order@1.x|none", ""},
		{"expect never turn where handler=Order@1.0.0|Order@3.x", `x.txt:2: handler=Order@1.0.0|Order@3.x: no node has the orchestration "Order@3.x"`},
		{"expect never node where Order@2.0.0=yes", ""},
		{"expect never node where Order@2.1.0=yes", `x.txt:2: Order@2.1.0=yes: no node has the orchestration "Order@2.1.0"`},
		{"expect never node where Oder@1.0.0=yes", `x.txt:2: Oder@1.0.0=yes: no node has the orchestration "Oder"; did you mean Order?`},
		{"program P\n  input\nend\ninstance b runs P@2.0.0", `x.txt:5: instance b: no node has the orchestration "P@2.0.0"`},
	} {
		s, err := Parse("x.txt", []byte("nodes A B run 1.5.0\n"+c.text))
		if err != nil {
			t.Fatalf("%s: %v", c.text, err)
		}
		switch err := s.CheckHandlers(known, nil); {
		case c.want == "" && err != nil:
			t.Errorf("%s: refused: %v", c.text, err)
		case c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)):
			t.Errorf("%s: got %v, want %s…", c.text, err, c.want)
		}
	}
}

// TestByteOrderMark checks that a byte order mark, which some editors write, is not part of the text.
func TestByteOrderMark(t *testing.T) {
	sample.Must(Parse("x.txt", []byte("\ufeffnodes A B run 1.5.0\r\n")))(t)
}
