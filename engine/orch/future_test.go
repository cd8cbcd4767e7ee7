package orch_test

import (
	"testing"

	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/internal/sample"
)

func TestSelectOfNothingPanics(t *testing.T) {
	sample.Panics(t, "orch: Select of no futures", func() { orch.Select() })
}

func TestJoinOfNothingIsEmpty(t *testing.T) {
	if got := orch.Join(); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}
