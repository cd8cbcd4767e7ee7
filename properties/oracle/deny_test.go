package oracle_test

import (
	"testing"

	"github.com/durosim/durosim/properties/oracle"
)

func TestUnknownFreedom(t *testing.T) {
	defer func() {
		if got, want := recover(), `oracle: Options.Deny: there is no freedom "F99"`; got != want {
			t.Errorf("panics with %v, want %s", got, want)
		}
	}()
	oracle.New(oracle.Options{Deny: []oracle.Freedom{"F9", "F99"}})
}
