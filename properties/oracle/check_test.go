package oracle

import (
	"strings"
	"testing"
)

// TestProbe: a factory that lacks what every sequence needs is told so, before the first sequence.
func TestProbe(t *testing.T) {
	whole := inMemory(nil)
	for want, change := range map[string]func(*Instance) *Instance{
		"":             func(in *Instance) *Instance { return in },
		"no instance":  func(*Instance) *Instance { return nil },
		"Provider":     func(in *Instance) *Instance { in.Provider = nil; return in },
		"NowMs is not": func(in *Instance) *Instance { in.NowMs = nil; return in },
	} {
		closed := 0
		_, wrong := Factory{New: func(t testing.TB) *Instance {
			in := whole.New(t)
			in.Close = func() { closed++ }
			return change(in)
		}}.probe(t)
		if !strings.Contains(wrong, want) || (want == "") != (wrong == "") {
			t.Errorf("want %q, got %q", want, wrong)
		}
		if kept := want == "" || want == "no instance"; kept == (closed == 1) {
			t.Errorf("%q: closed %d times", want, closed)
		}
	}
	if _, wrong := (Factory{}).probe(t); !strings.Contains(wrong, "Factory.New is not set") {
		t.Errorf("without New: %q", wrong)
	}
}
