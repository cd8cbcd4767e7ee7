package oracle

import (
	"reflect"
	"testing"

	"github.com/durosim/durosim/engine/call"
)

func TestEveryCallHasARule(t *testing.T) {
	for _, c := range call.All() {
		if rules[reflect.TypeOf(c)].apply == nil {
			t.Errorf("no rule for %s", call.Method(c))
		}
	}
	if len(rules) != len(call.All()) {
		t.Errorf("%d rules for %d calls", len(rules), len(call.All()))
	}
}
