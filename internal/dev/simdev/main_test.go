package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"simdev": main}) }

func TestVerbs(t *testing.T) {
	testscript.Run(t, testscript.Params{Files: []string{"testdata/verbs.txtar"}, RequireExplicitExec: true})
}
