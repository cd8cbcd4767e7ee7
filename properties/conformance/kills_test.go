package conformance_test

import (
	_ "embed"
	"strings"
	"testing"

	"github.com/durosim/durosim/properties/conformance"
)

// kills names a wrong provider for each case, on which the case must fail. The provider is a planted bug of memprovider
// or a killer in this package's tests. Each line has a case and the name of a killer.
//
//go:embed testdata/kills.txt
var kills string

// TestEveryCaseCanFail runs each case alone against its wrong provider. The case must fail because of an answer, not
// because the wrong provider broke down.
func TestEveryCaseCanFail(t *testing.T) {
	byName := map[string]conformance.Factory{}
	for _, k := range killers() {
		if _, twice := byName[k.name]; twice {
			t.Errorf("two killers are named %q", k.name)
		}
		byName[k.name] = k.factory
	}
	killed, used := map[string]bool{}, map[string]bool{}
	for _, line := range strings.Split(strings.TrimSpace(kills), "\n") {
		id, name, _ := strings.Cut(line, " ")
		name = strings.TrimSpace(name)
		used[name] = true
		factory, ok := byName[name]
		if !ok {
			t.Errorf("%s: no killer is named %q", id, name)
			continue
		}
		switch r := conformance.Ask(factory, id)[0]; {
		case r.Skipped != "":
			t.Errorf("%s was not asked of %q: %s", id, name, r.Skipped)
		case r.Failure == "":
			t.Errorf("%s passes although the provider is wrong: %s", id, name)
		case strings.Contains(r.Failure, "the provider panicked") && name != "panics when there is nothing":
			t.Errorf("%s fails on %q by a panic:\n%s", id, name, r.Failure)
		default:
			killed[id] = true
		}
	}
	for _, id := range conformance.IDs() {
		if !killed[id] {
			t.Errorf("%s: nothing is known that it fails on", id)
		}
	}
	for _, k := range killers() {
		if planted := strings.Contains(k.name, "/"); !planted && !used[k.name] {
			t.Errorf("no case needs the killer %q", k.name)
		}
	}
}
