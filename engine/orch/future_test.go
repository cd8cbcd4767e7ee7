package orch_test

import (
	"testing"

	"github.com/durosim/durosim/engine/orch"
)

func TestSelectOfNothingPanics(t *testing.T) {
	defer func() {
		if r := recover(); r != "orch: Select of no futures" {
			t.Errorf("panic %v", r)
		}
	}()
	orch.Select()
}

func TestJoinOfNothingIsEmpty(t *testing.T) {
	if got := orch.Join(); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}
