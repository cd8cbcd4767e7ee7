package main

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/sim/realnode"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"simdev": main}) }

func TestVerbs(t *testing.T) {
	testscript.Run(t, testscript.Params{Files: []string{"testdata/verbs.txtar"}, RequireExplicitExec: true})
}

// TestReleases needs the hosts that `simrun hosts build` builds, in the directory that realnode.Environment names.
func TestReleases(t *testing.T) {
	scripts(t, hostsOf(t), "testdata/releases.txtar", "testdata/facts.txtar")
}

// TestReleasesPatched builds a host of 0.1.32 with two of our patches, one for turns and one for activities: it differs from
// 0.1.32 in what they mend and in nothing else.
func TestReleasesPatched(t *testing.T) {
	dir := hostsOf(t)
	if !sample.All() {
		t.Skip(sample.Env + " is not set: cargo takes a minute")
	}
	var metadata struct {
		Packages []struct {
			Name string
			Path string `json:"manifest_path"`
		}
	}
	out, err := exec.Command("cargo", "metadata", "--locked", "--format-version", "1", "--manifest-path",
		filepath.Join(dir, "src/sim/realnode/host/duroxide-0.1.32/Cargo.toml")).Output()
	if err == nil {
		err = json.Unmarshal(out, &metadata)
	}
	if err != nil {
		t.Fatal(err)
	}
	crate := t.TempDir()
	for _, p := range metadata.Packages {
		if p.Name == "duroxide" {
			err = os.CopyFS(crate, os.DirFS(filepath.Dir(p.Path)))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"dropped-child-is-cancelled-unstarted", "renewal-error-loses-activity"} {
		patch, err := os.Open("../../../docs/reports/patches/" + name + ".patch")
		if err != nil {
			t.Fatal(err)
		}
		defer patch.Close()
		apply := exec.Command("patch", "--strip", "1", "--directory", crate)
		apply.Stdin = patch
		if out, err := apply.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
	}
	if err := realnode.New(dir).BuildCrate(t.Context(), engine.ReleasedBuild("0.1.32-patched"), crate, io.Discard); err != nil {
		t.Fatal(err)
	}
	scripts(t, dir, "testdata/patched.txtar")
}

// hostsOf returns the directory of the host programs. Without them, the test is skipped.
func hostsOf(t *testing.T) string {
	dir := os.Getenv(realnode.Environment)
	if dir == "" {
		t.Skip(realnode.Environment + " is not set: no host programs; .ci/run all builds them")
	}
	return dir
}

func scripts(t *testing.T, hosts string, files ...string) {
	testscript.Run(t, testscript.Params{Files: files, RequireExplicitExec: true, Setup: func(env *testscript.Env) error {
		env.Setenv(realnode.Environment, hosts)
		return nil
	}})
}
