package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/durosim/durosim/sim/realnode"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"simdev": main}) }

func TestVerbs(t *testing.T) {
	testscript.Run(t, testscript.Params{Files: []string{"testdata/verbs.txtar"}, RequireExplicitExec: true})
}

// TestReleases needs the hosts that `simrun hosts build` builds, in the directory that realnode.Environment names.
func TestReleases(t *testing.T) {
	dir := os.Getenv(realnode.Environment)
	if dir == "" {
		t.Skip(realnode.Environment + " is not set: no host programs; .ci/run all builds them")
	}
	testscript.Run(t, testscript.Params{Files: []string{"testdata/releases.txtar", "testdata/facts.txtar"}, RequireExplicitExec: true, Setup: func(env *testscript.Env) error {
		env.Setenv(realnode.Environment, dir)
		return nil
	}})
}
