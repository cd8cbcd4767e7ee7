package realnode

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/properties/oracle/rust"
)

// sources contains the sources of the host programs. There is a package for each release, built around one shared
// source.
//
//go:embed host/src/*.rs host/duroxide-*/Cargo.toml host/duroxide-*/Cargo.lock
var sources embed.FS

// sourceDigest returns an abbreviated digest of the host programs' sources.
var sourceDigest = sync.OnceValue(func() string {
	h := sha256.New()
	err := eachSource(func(name string, data []byte) error {
		fmt.Fprintf(h, "%s %d\n", name, len(data))
		h.Write(data)
		return nil
	})
	if err != nil {
		panic(fmt.Sprintf("realnode: embedded files: %v", err))
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
})

// eachSource calls f for each source file of the hosts and of the crate that they depend on, always in the same order.
// name is the file's path in the repository, by which a manifest finds its crate. eachSource stops at f's first error and
// returns it.
func eachSource(f func(name string, data []byte) error) error {
	in := func(dir string, files embed.FS) error {
		return fs.WalkDir(files, ".", func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := files.ReadFile(file)
			if err != nil {
				return err
			}
			return f(path.Join(dir, file), data)
		})
	}
	if err := in("sim/realnode", sources); err != nil {
		return err
	}
	return in("properties/oracle/rust", rust.Sources)
}

// Build builds the host program for released build b with cargo, which may download crates from its registry. It
// installs the program where Start looks for it, and writes cargo's output to progress. If Build fails, any existing
// program is left in place, and the error names the missing tool or quotes the end of cargo's output.
func (h *Hosts) Build(ctx context.Context, b *engine.Build, progress io.Writer) error {
	return h.build(ctx, b, progress, "--locked")
}

// BuildCrate is Build for the crate of duroxide in a directory, whose version b must have (engine.ReleasedBuild).
func (h *Hosts) BuildCrate(ctx context.Context, b *engine.Build, directory string, progress io.Writer) error {
	crate, err := filepath.Abs(directory)
	if err != nil {
		return err
	}
	like := engine.ReleasedBuilds()[0]
	for _, r := range engine.ReleasedBuilds() {
		if r.Version.Compare(b.Version) <= 0 {
			like = r
		}
	}
	to := filepath.Join(h.dir, "src/sim/realnode/host", b.Release)
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"Cargo.toml", "Cargo.lock"} {
		data, err := sources.ReadFile(path.Join("host", like.Release, name))
		if err != nil {
			return err
		}
		text := strings.ReplaceAll(string(data), programName(like), programName(b))
		if name == "Cargo.toml" {
			text = strings.Replace(text, fmt.Sprintf(`version = "=%s"`, like.Version), fmt.Sprintf(`version = "=%s", path = %q`, b.Version, crate), 1) +
				fmt.Sprintf("\n[patch.crates-io]\nduroxide = { path = %q }\n", crate)
		} else { // everything that depends on duroxide depends on this one
			text = published.ReplaceAllString(text, fmt.Sprintf("${1}version = %q\n", b.Version))
		}
		if err := os.WriteFile(filepath.Join(to, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return h.build(ctx, b, progress)
}

// published matches the version, source and checksum of duroxide in a lock file.
var published = regexp.MustCompile(`(name = "duroxide"\n)version = .*\nsource = .*\nchecksum = .*\n`)

// build is Build with more flags for cargo.
func (h *Hosts) build(ctx context.Context, b *engine.Build, progress io.Writer, flags ...string) error {
	if h.err != nil {
		return h.err
	}
	cargo, err := exec.LookPath("cargo")
	if err != nil {
		return fmt.Errorf("host programs are built with cargo, which is not installed or not in PATH (Rust: https://rustup.rs): %w", err)
	}
	src := filepath.Join(h.dir, "src")
	if err := writeSources(src); err != nil {
		return err
	}
	target := filepath.Join(h.dir, "target")
	manifest := filepath.Join(src, "sim/realnode/host", b.Release, "Cargo.toml")
	command := exec.CommandContext(ctx, cargo, slices.Concat([]string{"build", "--release"}, flags, []string{"--target-dir", target, "--manifest-path", manifest})...)
	var said bytes.Buffer
	command.Stdout = io.MultiWriter(&said, progress)
	command.Stderr = command.Stdout
	if err := command.Run(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		lines := strings.Split(strings.TrimSpace(said.String()), "\n")
		last := strings.Join(lines[max(len(lines)-12, 0):], "\n")
		return fmt.Errorf("cargo build of %s: %w\n%s", strings.Replace(b.Release, "-", " ", 1), err, last)
	}
	return install(filepath.Join(target, "release", programName(b)), h.Program(b))
}

// writeSources writes the sources to dir. It does not rewrite unchanged files, because cargo would otherwise recompile
// them.
func writeSources(dir string) error {
	return eachSource(func(name string, data []byte) error {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if old, err := os.ReadFile(file); err == nil && bytes.Equal(old, data) {
			return nil
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		return os.WriteFile(file, data, 0o644)
	})
}

// install atomically renames a program into place. A process that starts at the same time runs either the old program
// or the new one.
func install(from, to string) error {
	part := to + ".part"
	if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Link(from, part); err != nil {
		return err
	}
	return os.Rename(part, to)
}
