package commandline

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/internal/sample"
)

func TestJoin(t *testing.T) {
	got := Join("go", "run", "./cmd/simrun", "a/b.txt", "", "my plan", "it's", "$x", "*", "~", "#1", "a'\x1b\n", "DUROSIM_SEED=7")
	want := `go run ./cmd/simrun a/b.txt '' 'my plan' 'it'\''s' '$x' '*' '~' '#1' $'a\'\x1b\n' DUROSIM_SEED=7`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestSelf(t *testing.T) {
	root := t.TempDir()
	below := filepath.Join(root, "cmd", "orders", "plans")
	sample.OK(t, os.MkdirAll(below, 0o777))
	sample.OK(t, os.WriteFile(filepath.Join(root, "go.mod"), []byte("// Orders.\nmodule example.com/shop // v1\n\ngo 1.25\n"), 0o666))
	const (
		built  = "/tmp/go-build3128/b001/exe/orders"
		cached = "/cache/go-build/0a/" + "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef" + "-d/orders"
	)
	orders := &debug.BuildInfo{Path: "example.com/shop/cmd/orders", Main: debug.Module{Path: "example.com/shop"}}
	tool := &debug.BuildInfo{Path: "example.com/tools/cmd/simrun", Main: debug.Module{Path: "example.com/tools"}}
	files := &debug.BuildInfo{Path: "command-line-arguments"}
	for _, c := range []struct {
		name, called, exe string
		info              *debug.BuildInfo
		dir, want         string
	}{
		{"installed", "simrun", "/usr/bin/simrun", tool, root, "simrun"},
		{"by its path", "../bin/simrun", "/usr/bin/simrun", tool, root, "../bin/simrun"},
		{"go run in the module's root", built, built, orders, root, "go run ./cmd/orders"},
		{"go run from the cache", cached, cached, orders, root, "go run ./cmd/orders"},
		{"go run in the package", built, built, orders, filepath.Join(root, "cmd", "orders"), "go run ."},
		{"go run below the package", built, built, orders, below, "go run .."},
		{"go run beside the package", built, built, orders, filepath.Join(root, "cmd"), "go run ./orders"},
		{"go run of another module's command", built, built, tool, root, "go run example.com/tools/cmd/simrun"},
		{"go run of files", built, built, files, root, "go run ."},
		{"go run without build information", built, built, nil, root, "go run ."},
	} {
		if got := strings.Join(self(c.called, c.exe, c.info, c.dir), " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestPackageIn(t *testing.T) {
	dir := sample.Must(os.Getwd())(t)
	got := []string{PackageIn(dir), PackageIn(filepath.Dir(filepath.Dir(dir))), PackageIn(t.TempDir())}
	want := []string{"github.com/durosim/durosim/internal/commandline", "github.com/durosim/durosim", "."}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
