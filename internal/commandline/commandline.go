package commandline

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"unicode"
)

// Join returns the command line that consists of words, each quoted for a POSIX shell if necessary.
func Join(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = Quote(w)
	}
	return strings.Join(quoted, " ")
}

// Quote quotes a word for a POSIX shell if necessary.
func Quote(word string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_./:@%+=,", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	if quoted := strconv.Quote(word); strings.ContainsFunc(word, unicode.IsControl) { // in a form that a terminal can show
		return "$'" + strings.ReplaceAll(quoted[1:len(quoted)-1], "'", `\'`) + "'"
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Self returns the words of a command that restarts this program from the current directory. This is normally the name
// by which the program was called. If the go command built it for a single run, it is "go run" and the package.
func Self() []string {
	exe, err := os.Executable()
	if err != nil {
		exe = os.Args[0]
	}
	info, _ := debug.ReadBuildInfo() // nil if the package is unknown
	dir, err := os.Getwd()
	if err != nil {
		dir = ""
	}
	return self(os.Args[0], exe, info, dir)
}

// throwaway matches the paths where "go run" and "go tool" leave executables: build directories and the build cache.
var throwaway = regexp.MustCompile(`[/\\]go-build[0-9]+[/\\]b[0-9]+[/\\]exe[/\\]|[/\\][0-9a-f]{2}[/\\][0-9a-f]{64}-d[/\\]`)

func self(called, exe string, info *debug.BuildInfo, dir string) []string {
	if !throwaway.MatchString(exe) {
		return []string{called}
	}
	if info == nil || info.Path == "" || info.Path == "command-line-arguments" {
		return []string{"go", "run", "."} // "go run" was given files, usually those in the current directory
	}
	if root, module, ok := Module(dir); ok && module == info.Main.Path {
		inModule := filepath.Join(root, filepath.FromSlash(strings.TrimPrefix(info.Path, module)))
		if rel, err := filepath.Rel(dir, inModule); err == nil {
			return []string{"go", "run", Local(rel)}
		}
	}
	return []string{"go", "run", info.Path}
}

// Local returns relative directory rel in the form required by the go command, with a leading dot.
func Local(rel string) string {
	rel = filepath.ToSlash(rel)
	if rel == "." || strings.HasPrefix(rel, "../") || rel == ".." {
		return rel
	}
	return "./" + rel
}

// PackageIn returns the import path of the package in dir. The go command accepts this path anywhere in the module.
// PackageIn returns "." if dir is not in a module.
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

// Module finds the nearest go.mod file in dir or its ancestors. It returns that file's directory and the module's path.
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
