package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"simdev": main}) }

func TestVerbs(t *testing.T) {
	testscript.Run(t, testscript.Params{Files: []string{"testdata/verbs.txtar"}, RequireExplicitExec: true})
}

// TestReleases needs the hosts that `simrun hosts build` builds, in the directory that DUROSIM_HOSTS names.
func TestReleases(t *testing.T) {
	dir := os.Getenv("DUROSIM_HOSTS")
	if dir == "" {
		t.Skip("DUROSIM_HOSTS is not set")
	}
	testscript.Run(t, testscript.Params{Files: []string{"testdata/releases.txtar"}, RequireExplicitExec: true, Setup: func(env *testscript.Env) error {
		env.Setenv("DUROSIM_HOSTS", dir)
		return nil
	}})
}
