package check_test

import (
	"slices"
	"testing"

	"github.com/durosim/durosim/properties/internal/check"
)

// dueOnly inspects the state only after steps that have set its flag.
type dueOnly struct {
	log
	due bool
}

func (d *dueOnly) StepDue() *bool { return &d.due }
func (d *dueOnly) AfterStep()     { d.tell("steps"); d.due = false }

// TestStepDue checks that a checker with a flag inspects the state after the steps that have set it, and others after
// every step.
func TestStepDue(t *testing.T) {
	m := check.New(newWorld(clocks(0, false)), everything)
	var told []string
	now := &dueOnly{log: log{name: "due", told: &told}}
	m.Add(now, &some{log{name: "each", told: &told}})
	m.AfterStep()
	now.due = true
	m.AfterStep()
	m.AfterStep()
	if want := []string{"each steps", "due steps", "each steps", "each steps"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}
