package conformance

import (
	"strings"
	"testing"
)

// TestMakeProbe: a factory without a provider is told so, before the first case.
func TestMakeProbe(t *testing.T) {
	for want, f := range map[string]Factory{
		"Factory.New is not set": {},
		"gave no Instance":       {New: func(testing.TB) *Instance { return nil }},
		"with a Provider":        {New: func(testing.TB) *Instance { return &Instance{} }},
	} {
		if in, wrong := makeProbe(t, f); in != nil || !strings.Contains(wrong, want) {
			t.Errorf("want %q, got %q", want, wrong)
		}
	}
}
