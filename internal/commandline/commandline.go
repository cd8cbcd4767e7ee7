package commandline

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
)

// Join returns a command line of these words, each quoted for a POSIX shell where necessary.
func Join(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = Quote(w)
	}
	return strings.Join(quoted, " ")
}

// Quote quotes a word for a POSIX shell where necessary.
func Quote(word string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_./:@%+=,", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Self returns the words that start this program again from the current directory: the word by which it was called, or
// "go run" and its package if the go command built it for one run.
func Self() []string {
	exe, err := os.Executable()
	if err != nil {
		exe = os.Args[0]
	}
	info, _ := debug.ReadBuildInfo() // nil means that the package is unknown
	dir, err := os.Getwd()
	if err != nil {
		dir = ""
	}
	return self(os.Args[0], exe, info, dir)
}

// throwaway matches the places where "go run" and "go tool" leave an executable: a build directory, or the build cache.
var throwaway = regexp.MustCompile(`[/\\]go-build[0-9]+[/\\]b[0-9]+[/\\]exe[/\\]|[/\\][0-9a-f]{2}[/\\][0-9a-f]{64}-d[/\\]`)

func self(called, exe string, info *debug.BuildInfo, dir string) []string {
	if !throwaway.MatchString(exe) {
		return []string{called}
	}
	if info == nil || info.Path == "" || info.Path == "command-line-arguments" {
		return []string{"go", "run", "."} // "go run" was given files, usually those of the directory
	}
	if root, module, ok := Module(dir); ok && module == info.Main.Path {
		inModule := filepath.Join(root, filepath.FromSlash(strings.TrimPrefix(info.Path, module)))
		if rel, err := filepath.Rel(dir, inModule); err == nil {
			return []string{"go", "run", Local(rel)}
		}
	}
	return []string{"go", "run", info.Path}
}

// Local returns a relative directory in the form that the go command takes: with a dot in front.
func Local(rel string) string {
	rel = filepath.ToSlash(rel)
	if rel == "." || strings.HasPrefix(rel, "../") || rel == ".." {
		return rel
	}
	return "./" + rel
}

// PackageIn returns the import path of the package in a directory, which the go command takes anywhere in the module, or a
// dot if the directory is in no module.
func PackageIn(dir string) string {
	root, module, ok := Module(dir)
	if !ok {
		return "."
	}
	rel, err := filepath.Rel(root, dir)
	if err != nil {
		return "."
	}
	return path.Join(module, filepath.ToSlash(rel))
}

var moduleLine = regexp.MustCompile(`(?m)^module[ \t]+"?([^\s"]+)`)

// Module returns the nearest directory, from dir upward, that has a go.mod, and the module's path.
func Module(dir string) (root, module string, ok bool) {
	for {
		if data, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil {
			m := moduleLine.FindSubmatch(data)
			if m == nil {
				return "", "", false
			}
			return dir, string(m[1]), true
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", "", false
		}
		dir = up
	}
}
